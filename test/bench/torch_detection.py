# SPDX-License-Identifier: Apache-2.0
# The training steps of the small detectors in PyTorch: the recipes bccd and bccd-ssd with the networks of torch_detectors.py, and
# pennfudan with torchvision's two stages (its suppression and ROIAlign).
#
#   torch_detection.py bccd|bccd-ssd|pennfudan [bf16|f32 [THREADS [compile]]]
#
# Prints images per second of the step (the recipe's batch and size, channels last, AdamW, clipping, the average of the weights), each
# of ten after two, on noise: the best and the median, and the least processor time of a step, which is the better figure on a busy
# machine, with one thread.
import sys
import time

import torch
import torch.nn as nn

import torch_detectors

ALPHA, GAMMA, BOX_FACTOR = 0.25, 2, 2
WIDTHS, PYRAMID = (16, 32, 64, 96, 128), 64


def retina():
    return torch_detectors.Retina(3, WIDTHS, PYRAMID)


def losses(logits, deltas, labels, wanted):
    """Of the batch: varifocal of the classes, GIoU of the boxes, with the recipe's factors. Labels: a class, -1 none, -2 ignored."""
    classes, boxes, count = torch_detectors.varifocal_losses(logits, deltas, labels, wanted, ALPHA, GAMMA)
    return (classes + BOX_FACTOR * boxes) / count


def drawn(batch, anchors, first, none):  # 2% of the anchors have one of three classes
    labels = torch.where(torch.rand(batch, anchors) < 0.02, torch.randint(first, first + 3, (batch, anchors)), none)
    return labels, 0.2 * torch.randn(batch, anchors, 4)


def bccd(images):
    anchors = 3 * sum(-(-images.shape[2] // s) * (images.shape[3] // s) for s in (8, 16, 32))
    targets = drawn(len(images), anchors, 0, -1)
    return retina(), lambda logits, deltas: losses(logits.float(), deltas.float(), *targets)


def bccd_ssd(images):
    targets = drawn(len(images), len(torch_detectors.ssd_anchors()), 1, 0)

    def loss(logits, deltas):
        classes, boxes, count = torch_detectors.mined_losses(logits.float(), deltas.float(), *targets, 1.0)
        return (classes + boxes) / count

    return torch_detectors.Ssd(3, (16, 32, 64, 128, 64)), loss


class TwoStages(nn.Module):  # four people per picture
    def __init__(self, images):
        import torch_maskrcnn  # which needs torchvision

        super().__init__()
        backbone = torch_maskrcnn.Backbone(WIDTHS, PYRAMID)
        self.losses_of, self.net = torch_maskrcnn.losses_of, torch_maskrcnn.network(backbone, 2, 256, (128, 64, 64, 64))
        n, _, h, w = images.shape
        self.sizes = [(h, w)] * n
        corner = torch.rand(n, 4, 2) * torch.tensor([w - 60.0, h - 90.0])
        boxes = torch.cat([corner, corner + 30 + torch.rand(n, 4, 2) * torch.tensor([30.0, 60.0])], 2)
        self.targets = [{"boxes": b, "labels": torch.ones(4, dtype=torch.int64),
                         "masks": (torch.rand(4, h, w) < 0.5).to(torch.uint8)} for b in boxes]

    def forward(self, images):
        return self.losses_of(self.net, images, self.sizes, self.targets)[0]


def pennfudan(images):
    return TwoStages(images), lambda *each: sum(each)


STEPS = {"bccd": (bccd, 16, 240, 320), "bccd-ssd": (bccd_ssd, 16, 300, 300), "pennfudan": (pennfudan, 8, 192, 256)}


def speed(name, precision="bf16", threads="2", how=""):
    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    make, batch, height, width = STEPS[name]
    images = torch.randn(batch, 3, height, width).contiguous(memory_format=torch.channels_last)
    net, loss_of = make(images)
    net = net.to(memory_format=torch.channels_last).train()
    average = [p.detach().clone() for p in net.parameters()]
    groups = [{"params": [p for p in net.parameters() if (p.dim() > 1) == big], "weight_decay": 0.05 * big} for big in (True, False)]
    optimiser = torch.optim.AdamW(groups, lr=1e-3, fused=True)

    def loss():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            return loss_of(*net(images))

    if how == "compile": loss = torch.compile(loss)
    rates, spent = [], []
    for step in range(12):
        began, used = time.perf_counter(), time.process_time()
        optimiser.zero_grad()
        loss().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 10)
        optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(average, list(net.parameters()), 0.005)
        if step < 2: continue
        rates.append(batch / (time.perf_counter() - began))
        spent.append(time.process_time() - used)
    rates.sort()
    print(f"PyTorch {torch.__version__} {name} {precision} {threads} threads {how}: {sum(p.numel() for p in net.parameters()):,} "
          f"parameters, best {rates[-1]:.1f}, median {rates[5]:.1f} images/s; processor {min(spent):.3f} s")


if __name__ == "__main__":
    speed(*sys.argv[1:])
