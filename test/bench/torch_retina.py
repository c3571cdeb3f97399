# SPDX-License-Identifier: Apache-2.0
# The training step of recipe bccd in PyTorch, with the network of torch_detectors.py.
#
#   torch_retina.py [bf16|f32 [THREADS [compile]]]
#
# Prints images per second of the step (batch 16, 240 x 320, channels last, AdamW, clipping, the average of the weights), each of
# ten after two, on noise: the best and the median, and the least processor time of a step, which is the better figure on a busy
# machine, with one thread.
import sys
import time

import torch
import torch.nn as nn

import torch_detectors

ALPHA, GAMMA, BOX_FACTOR = 0.25, 2, 2


def retina():
    return torch_detectors.Retina(3, (16, 32, 64, 96, 128), 64)


def losses(logits, deltas, labels, wanted):
    """Of the batch: varifocal of the classes, GIoU of the boxes, with the recipe's factors. Labels: a class, -1 none, -2 ignored."""
    classes, boxes, count = torch_detectors.varifocal_losses(logits, deltas, labels, wanted, ALPHA, GAMMA)
    return (classes + BOX_FACTOR * boxes) / count


def speed(precision="bf16", threads="2", how=""):
    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    batch, height, width, channels_last = 16, 240, 320, torch.channels_last
    net = retina().to(memory_format=channels_last).train()
    average = [p.detach().clone() for p in net.parameters()]
    groups = [{"params": [p for p in net.parameters() if (p.dim() > 1) == big], "weight_decay": 0.05 * big} for big in (True, False)]
    optimiser = torch.optim.AdamW(groups, lr=1e-3, fused=True)
    images = torch.randn(batch, 3, height, width).contiguous(memory_format=channels_last)
    anchors = 3 * sum(-(-height // s) * (width // s) for s in (8, 16, 32))
    labels = torch.where(torch.rand(batch, anchors) < 0.02, torch.randint(3, (batch, anchors)), -1)
    wanted = 0.2 * torch.randn(batch, anchors, 4)

    def loss():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            logits, deltas = net(images)
        return losses(logits.float(), deltas.float(), labels, wanted)

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
    print(f"PyTorch {torch.__version__} {precision} {threads} threads {how}: best {rates[-1]:.1f}, median {rates[5]:.1f} images/s; "
          f"processor {min(spent):.3f} s")


if __name__ == "__main__":
    speed(*sys.argv[1:])
