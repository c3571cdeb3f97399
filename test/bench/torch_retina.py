# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_detection.c: the one-stage detector of PyTorch's layers, in double, with the weights of the test. Prints the
# losses, some answers, and of the gradients g of each layer the sum of g[i] cos(i), of one training step.
#
#   torch_retina.py speed [bf16|f32 [THREADS [compile]]]
#
# Prints images per second of the training step of recipe bccd (batch 16, 240 x 320, channels last, AdamW, clipping, the average of
# the weights), each of ten after two, on noise: the best and the median, and the least processor time of a step, which is the
# better figure on a busy machine, with one thread.
import math
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

N, H, W, CLASSES, SIZES = 2, 40, 56, 2, 3
WIDTHS, PYRAMID = (4, 5, 6, 7, 8), 6
ALPHA, GAMMA, BETA = 0.25, 2, 0.1


class Unit(nn.Module):
    def __init__(self, i, o, side=3, stride=1):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(i, o, side, stride, side // 2, bias=False), nn.BatchNorm2d(o)

    def forward(self, x):
        return self.bn(self.conv(x))


class Stage(nn.Module):
    def __init__(self, i, o, last):
        super().__init__()
        self.down, self.block1, self.block2 = Unit(i, o, 3, 2), Unit(o, o), Unit(o, o)
        self.block3 = Unit(o, o) if last else None

    def forward(self, x):
        x = F.relu(self.down(x))
        x = F.relu(x + self.block2(F.relu(self.block1(x))))
        return F.relu(x + self.block3(x)) if self.block3 else x


class Level(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.add_module("in", Unit(i, o, 1))
        self.out = Unit(o, o)


class Retina(nn.Module):
    def __init__(self, widths=(16, 32, 64, 96, 128), pyramid=64, classes=3, sizes=3):
        super().__init__()
        self.each = classes
        self.stem = Unit(3, widths[0], 3, 2)
        for s in range(4):
            self.add_module(f"stage{s + 1}", Stage(widths[s], widths[s + 1], s > 0))
        for l in range(3):
            self.add_module(f"pyramid{l + 1}", Level(widths[l + 2], pyramid))
        for name, each in (("classes", classes), ("boxes", 4)):
            layers = [nn.Conv2d(pyramid, pyramid, 3, 1, 1), nn.Conv2d(pyramid, pyramid, 3, 1, 1),
                      nn.Conv2d(pyramid, sizes * each, 3, 1, 1)]
            self.add_module(name, nn.ModuleDict({str(i + 1): layer for i, layer in enumerate(layers)}))

    def head(self, layers, x, each):
        x = layers["3"](F.relu(layers["2"](F.relu(layers["1"](x)))))
        return x.permute(0, 2, 3, 1).reshape(len(x), -1, each)

    def forward(self, x):
        x, levels, above, made = F.relu(self.stem(x)), [], None, []
        for s in range(4):
            x = getattr(self, f"stage{s + 1}")(x)
            levels.append(x)
        for l in (2, 1, 0):
            level = getattr(self, f"pyramid{l + 1}")
            y = getattr(level, "in")(levels[l + 1])
            if above is not None:
                y = y + F.interpolate(above, scale_factor=2)[:, :, : y.shape[2], : y.shape[3]]
            above = y
            made.insert(0, F.relu(level.out(y)))
        return (torch.cat([self.head(self.classes, p, self.each) for p in made], 1),
                torch.cat([self.head(self.boxes, p, 4) for p in made], 1))


def rows(t):  # as DAWN orders a filter: [K,R,S,C]
    return t.permute(0, 2, 3, 1) if t.dim() == 4 else t


def put_waves(net):
    with torch.no_grad():
        for name, p in net.named_parameters():
            shape = rows(p).shape
            k = torch.arange(1, p.numel() + 1, dtype=torch.float64)
            norm, weight = "bn" in name and "weight" in name, "weight" in name
            amplitude = 0.2 if norm else 0.3 if weight else 0.1
            v = norm + amplitude * torch.sin(0.37 * k * k + sum(map(ord, name)))
            v = v.float().double().reshape(shape)
            p.copy_(v.permute(0, 3, 1, 2) if p.dim() == 4 else v)


def cos_sum(t):
    g = rows(t).reshape(-1)
    return float((g * torch.cos(torch.arange(len(g), dtype=torch.float64))).sum())


def losses(logits, deltas, signs, wanted, taken):
    """Sums of the focal loss and of smooth L1; signs as in tasks/detection/anchors.h."""
    t, use = (signs < 0).to(logits.dtype), (signs != 0).to(logits.dtype)
    p = logits.sigmoid()
    right = torch.where(t > 0, p, 1 - p)
    weight = torch.where(t > 0, ALPHA, 1 - ALPHA) * (1 - right) ** GAMMA
    classes = (weight * F.binary_cross_entropy_with_logits(logits, t, reduction="none") * use).sum()
    return classes, F.smooth_l1_loss(deltas * taken, wanted * taken, beta=BETA, reduction="sum")


def main():
    net = Retina(WIDTHS, PYRAMID, CLASSES, SIZES).double()
    put_waves(net)
    i = torch.arange(N * H * W * 3, dtype=torch.float64)
    x = torch.sin(0.11 * i + 0.3 * torch.sin(0.013 * i)).float().double().reshape(N, H, W, 3).permute(0, 3, 1, 2)
    logits, deltas = net(x)
    A = logits.shape[1]
    i = torch.arange(N * A * CLASSES)
    signs = torch.where(i * 7 % 5 == 0, -1, torch.where(i * 3 % 7 == 0, 0, 1)).double().reshape(N, A, CLASSES)
    i = torch.arange(N * A * 4)
    wanted = (0.3 * torch.sin(0.7 * i.double())).float().double().reshape(N, A, 4)
    taken = (i // 4 % 11 == 0).double().reshape(N, A, 4)
    classes, boxes = losses(logits, deltas, signs, wanted, taken)
    positive = taken.sum() / 4
    ((classes + boxes) / positive).backward()
    print(f"{A} anchors; losses {classes.item():.9g} {boxes.item():.9g} of {positive.item():g}")
    print("logits", ", ".join(f"{logits.reshape(-1)[k].item():.9g}" for k in (0, 100, 301, 611)))
    print("deltas", ", ".join(f"{deltas.reshape(-1)[k].item():.9g}" for k in (0, 200, 603, 1223)))
    sums = {}
    for name, parameter in net.named_parameters():
        layer = name.split(".")[0] + "."
        sums[layer] = sums.get(layer, 0) + cos_sum(parameter.grad)
    for layer, value in sums.items():
        print(f'    {{"{layer}", {value:.9g}}},')
    print(sum(p.numel() for p in net.parameters()), "parameters")
    assert math.isfinite(classes.item())


def speed(precision="bf16", threads="2", how=""):
    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    batch, height, width, channels_last = 16, 240, 320, torch.channels_last
    net = Retina().to(memory_format=channels_last).train()
    average = [p.detach().clone() for p in net.parameters()]
    groups = [{"params": [p for p in net.parameters() if (p.dim() > 1) == big], "weight_decay": 0.05 * big} for big in (True, False)]
    optimiser = torch.optim.AdamW(groups, lr=1e-3, fused=True)
    images = torch.randn(batch, 3, height, width).contiguous(memory_format=channels_last)
    anchors = 3 * sum(-(-height // s) * (width // s) for s in (8, 16, 32))
    taken = (torch.rand(batch, anchors, 1) < 0.02).float().expand(-1, -1, 4).contiguous()
    signs = torch.where(torch.rand(batch, anchors, 3) < 0.01, -1.0, 1.0)
    wanted = 0.2 * torch.randn(batch, anchors, 4)

    def loss():
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=precision == "bf16"):
            logits, deltas = net(images)
        return sum(losses(logits.float(), deltas.float(), signs, wanted, taken)) / (taken.sum() / 4)

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
    speed(*sys.argv[2:]) if sys.argv[1:2] == ["speed"] else main()
