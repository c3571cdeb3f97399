# SPDX-License-Identifier: Apache-2.0
# The training steps of convolutional networks by PyTorch on the CPU, channels last: airbench of CIFAR-10 (recipe
# cifar10: whitening 2x2, three groups of 64, 256, 256 channels, Muon), ResNet-18 as in recipe imagenette (widths 64, 128, 256,
# 256, with SGD instead of Muon, which is cheaper), and torchvision's Inception-v3 without its second head as in recipe
# imagenette-inception. Images are noise. Prints the shortest of three steps after one, and the least processor time:
#
#   torch_convnets.py [cifar10|resnet18|inception [BATCH [SIDE [bf16|f32 [THREADS]]]]]
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

STEPS, CLASSES = 4, 10


def conv(i, o, side=3, stride=1):
    return nn.Conv2d(i, o, side, stride, side // 2, bias=False)


class Group(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.a, self.b, self.na, self.nb = conv(i, o), conv(o, o), nn.BatchNorm2d(o), nn.BatchNorm2d(o)
        self.na.weight.requires_grad = self.nb.weight.requires_grad = False

    def forward(self, x):
        x = F.silu(self.na(F.max_pool2d(self.a(x), 2)))
        return F.silu(self.nb(self.b(x)))


class Record(nn.Module):
    def __init__(self):
        super().__init__()
        self.whiten = nn.Conv2d(3, 24, 2)
        self.whiten.weight.requires_grad = False
        self.groups = nn.Sequential(nn.GELU(), Group(24, 64), Group(64, 256), Group(256, 256))
        self.head = nn.Linear(256, CLASSES, bias=False)

    def forward(self, x):
        return self.head(self.groups(self.whiten(x)).amax((2, 3)))


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.body = nn.Sequential(conv(i, o, 3, stride), nn.BatchNorm2d(o), nn.ReLU(), conv(o, o), nn.BatchNorm2d(o))
        self.short = nn.Sequential(conv(i, o, 1, stride), nn.BatchNorm2d(o)) if stride > 1 or i != o else nn.Identity()

    def forward(self, x):
        return F.relu(self.body(x) + self.short(x))


def resnet18(widths=(64, 128, 256, 256)):
    layers, i = [conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for stage, o in enumerate(widths):
        layers += [Block(i, o, 2 if stage else 1), Block(o, o, 1)]
        i = o
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(i, CLASSES))


def inception():
    import torchvision
    net = torchvision.models.inception_v3(num_classes=CLASSES, aux_logits=False, init_weights=False)
    net.dropout = nn.Identity()
    return net


@torch.no_grad()
def muon(filters, momentum):
    for w, m in zip(filters, momentum):
        m.mul_(0.655).add_(w.grad)
        x = (w.grad + 0.655 * m).reshape(len(w), -1)
        x = x / (x.norm() + 1e-7)
        for _ in range(3):
            a = x @ x.T
            x = 3.4576 * x + (-4.7391 * a + 2.0843 * (a @ a)) @ x
        w.add_(x.view_as(w), alpha=-0.01)


def main():
    words = sys.argv[1:] + ["cifar10", "1536", "32", "bf16", "2"][len(sys.argv) - 1:]
    batch, side, threads = int(words[1]), int(words[2]), int(words[4])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    record = words[0] == "cifar10"
    model = {"cifar10": Record, "resnet18": resnet18, "inception": inception}[words[0]]().to(memory_format=torch.channels_last).train()
    params = [p for p in model.parameters() if p.requires_grad]
    filters = [p for p in params if record and p.dim() == 4]
    momentum = [torch.zeros_like(p) for p in filters]
    optimiser = torch.optim.SGD([p for p in params if not record or p.dim() != 4], lr=0.01, momentum=0.9, nesterov=True)
    images = torch.randn(batch, 3, side, side).contiguous(memory_format=torch.channels_last)
    labels = torch.arange(batch) % CLASSES
    least = spent = float("inf")
    for step in range(STEPS):
        began, used = time.perf_counter(), time.process_time()
        model.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=words[3] == "bf16"):
            logits = model(images)
        F.cross_entropy(logits.float(), labels, label_smoothing=0.1).backward()
        optimiser.step()
        muon(filters, momentum)
        if step: least, spent = min(least, time.perf_counter() - began), min(spent, time.process_time() - used)
    print(f"PyTorch {torch.__version__}, {' '.join(words[:4])}, {threads} threads: {least:.3f} s, processor {spent:.3f} s")


if __name__ == "__main__":
    main()
