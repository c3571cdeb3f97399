# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_inception.c: Inception-v3 of PyTorch's layers, in double, with torchvision's names and the weights of the test.
# Prints logits by running statistics; then, of two training steps with silu in place of relu, the losses and, of the gradients g of
# each block, the sum of g[i] cos(i), and by how much of their length PyTorch's own gradients in f32 are off. Last, some features of
# the network of 2015 that FID reads.
#
#   torch_inception.py [check]    check: compares names, shapes and logits with torchvision's network, too
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CLASSES, SECOND = 10, 0.4


class Unit(nn.Module):
    act = staticmethod(F.relu)

    def __init__(self, i, o, window, stride=1, pad=0):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(i, o, window, stride, pad, bias=False), nn.BatchNorm2d(o, eps=0.001)

    def forward(self, x):
        return self.act(self.bn(self.conv(x)))


class Mixed(nn.Module):
    """Branches of units (names end with their place); a list in a branch is two units side by side."""

    of_2015, last = False, False  # the pools of FID's network

    def __init__(self, i, branches, pool):
        super().__init__()
        self.ways, self.pool = [], pool
        for name, units in branches:
            self.ways.append([])
            size = i
            for place, unit in enumerate(units):
                several = unit if isinstance(unit, list) else [unit]
                names = [f"{name}_{place + 1}{letter}" if len(units) > 1 else name for letter in ("ab" if several is unit else [""])]
                for which, how in zip(names, several):
                    setattr(self, which, Unit(size, *how))
                self.ways[-1].append(names)
                size = sum(how[0] for how in several)
        self.size = sum(self.width(way) for way in self.ways) + (0 if pool else i)

    def width(self, way):
        return sum(getattr(self, name).conv.out_channels for name in way[-1])

    def pooled(self, x):
        if Mixed.of_2015 and self.last:
            return F.max_pool2d(x, 3, 1, 1)
        return F.avg_pool2d(x, 3, 1, 1, count_include_pad=not Mixed.of_2015)

    def forward(self, x):
        made = []
        for way in self.ways:
            y = self.pooled(x) if way[0] == ["branch_pool"] else x
            for names in way:
                y = torch.cat([getattr(self, name)(y) for name in names], 1)
            made.append(y)
        return torch.cat(made if self.pool else made + [F.max_pool2d(x, 3, 2)], 1)


ROW, COLUMN = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
BESIDE = [(384, (1, 3), 1, (0, 1)), (384, (3, 1), 1, (1, 0))]


def mixed_a(i, pool):
    return Mixed(i, [("branch1x1", [(64, 1)]), ("branch5x5", [(48, 1), (64, 5, 1, 2)]),
                     ("branch3x3dbl", [(64, 1), (96, 3, 1, 1), (96, 3, 1, 1)]), ("branch_pool", [(pool, 1)])], True)


def mixed_b(i):
    return Mixed(i, [("branch3x3", [(384, 3, 2)]), ("branch3x3dbl", [(64, 1), (96, 3, 1, 1), (96, 3, 2)])], False)


def mixed_c(i, k):
    return Mixed(i, [("branch1x1", [(192, 1)]), ("branch7x7", [(k, 1), (k, *ROW), (192, *COLUMN)]),
                     ("branch7x7dbl", [(k, 1), (k, *COLUMN), (k, *ROW), (k, *COLUMN), (192, *ROW)]), ("branch_pool", [(192, 1)])], True)


def mixed_d(i):
    return Mixed(i, [("branch3x3", [(192, 1), (320, 3, 2)]),
                     ("branch7x7x3", [(192, 1), (192, *ROW), (192, *COLUMN), (192, 3, 2)])], False)


def mixed_e(i):
    return Mixed(i, [("branch1x1", [(320, 1)]), ("branch3x3", [(384, 1), BESIDE]),
                     ("branch3x3dbl", [(448, 1), (384, 3, 1, 1), BESIDE]), ("branch_pool", [(192, 1)])], True)


class SecondHead(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.conv0, self.conv1, self.fc = Unit(i, 128, 1), Unit(128, 768, 5), nn.Linear(768, CLASSES)

    def forward(self, x):
        return self.fc(self.conv1(self.conv0(F.avg_pool2d(x, 5, 3))).mean((2, 3)))


class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.Conv2d_1a_3x3, self.Conv2d_2a_3x3, self.Conv2d_2b_3x3 = Unit(3, 32, 3, 2), Unit(32, 32, 3), Unit(32, 64, 3, 1, 1)
        self.Conv2d_3b_1x1, self.Conv2d_4a_3x3 = Unit(64, 80, 1), Unit(80, 192, 3)
        self.blocks, size = [], 192
        for name, make, *how in [("5b", mixed_a, 32), ("5c", mixed_a, 64), ("5d", mixed_a, 64), ("6a", mixed_b), ("6b", mixed_c, 128),
                                 ("6c", mixed_c, 160), ("6d", mixed_c, 160), ("6e", mixed_c, 192), ("7a", mixed_d), ("7b", mixed_e),
                                 ("7c", mixed_e)]:
            block = make(size, *how)
            size = block.size
            setattr(self, f"Mixed_{name}", block)
            self.blocks.append(f"Mixed_{name}")
        self.AuxLogits, self.fc = SecondHead(768), nn.Linear(size, CLASSES)

    def forward(self, x, both=False):
        features, second = self.features(x, both)
        return self.fc(features), second

    def features(self, x, both=False):
        x = self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x.to(self.fc.weight.dtype)))
        x = F.max_pool2d(self.Conv2d_2b_3x3(x), 3, 2)
        x = F.max_pool2d(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)), 3, 2)
        second = None
        for name in self.blocks:
            x = getattr(self, name)(x)
            if name == "Mixed_6e" and both:
                second = self.AuxLogits(x)
        return x.mean((2, 3)), second


def noise(name, shape):  # in [-1, 1)
    key = 0
    for letter in name.encode():
        key = (key * 31 + letter) & 0xFFFFFFFF
    with np.errstate(over="ignore"):
        h = np.arange(1, int(np.prod(shape)) + 1, dtype=np.uint32) * np.uint32(2654435761) ^ np.uint32(key)
        for shift, factor in ((15, 2246822519), (13, 3266489917), (16, 1)):
            h = (h ^ (h >> np.uint32(shift))) * np.uint32(factor)
    return (h / 2147483648.0 - 1).reshape(shape)


def values(name, shape):
    if len(shape) == 4:  # rows and columns before channels
        there = (shape[0], shape[2], shape[3], shape[1])
        made = noise(name, there) * np.sqrt(6 / np.prod(there[1:]))
        made = made.astype(np.float32).transpose(0, 3, 1, 2)
    elif len(shape) == 2:
        made = noise(name, shape) * np.sqrt(3 / shape[1])
    elif name.endswith("running_var"):
        made = 1 + 0.5 * noise(name, shape)
    else:
        made = noise(name, shape) * 0.25 + name.endswith("bn.weight")
    return torch.from_numpy(np.ascontiguousarray(made.astype(np.float32))).double()


def images(count, side):
    x = noise("x", (count, side, side, 3)).astype(np.float32)
    return torch.from_numpy(x.transpose(0, 3, 1, 2).copy())


def gradients(model, count, side, second):
    model.train()
    Unit.act = staticmethod(F.silu)  # relu has a kink, on either side of which rounding may put a value
    answers, labels = model(images(count, side), second), torch.arange(count) * 7 % CLASSES
    losses = [F.cross_entropy(answer.double(), labels) for answer in answers if answer is not None]
    model.zero_grad()
    (losses[0] + SECOND * losses[-1] if second else losses[0]).backward()
    found = {}
    for name, p in model.named_parameters():
        if p.grad is not None:
            block = "Conv2d_" if name.startswith("Conv2d_") else name.split(".")[0] + "."
            found.setdefault(block, []).append((p.grad.permute(0, 2, 3, 1) if p.dim() == 4 else p.grad).reshape(-1).double())
    return losses, found


def print_training(state, count, side, second):
    model, single = Inception(), Inception().float()
    model.load_state_dict(state), single.load_state_dict(state)
    losses, found = gradients(model, count, side, second)
    rounded = gradients(single, count, side, second)[1]
    print(f"{count} images of {side}: losses", ", ".join("%.9f" % loss.item() for loss in losses))
    for block, g in found.items():
        along = sum((part * torch.cos(torch.arange(len(part)).double())).sum().item() for part in g)
        g, r = torch.cat(g), torch.cat(rounded[block])
        print('    {"%s", %.9g},  in f32 off by %.1e' % (block, along, (r - g).norm() / g.norm()))


def main():
    torch.set_default_dtype(torch.float64)
    model = Inception()
    state = model.state_dict()
    with torch.no_grad():
        for name, value in state.items():
            if value.dim() > 0:
                value.copy_(values(name, value.shape))
    print("parameters", sum(p.numel() for p in model.parameters()))
    model.eval()
    with torch.no_grad():
        logits = model(images(2, 75))[0]
    print("logits", ", ".join("%.9f" % value for value in logits.flatten()))
    if sys.argv[1:] == ["check"]:
        import torchvision

        theirs = torchvision.models.inception_v3(num_classes=CLASSES, init_weights=False)
        theirs.load_state_dict(state)
        theirs.eval()
        with torch.no_grad():
            print("torchvision differs by", (theirs(images(2, 75).double()) - logits).abs().max().item())
    print_training(state, 4, 107, False)
    print_training(state, 3, 299, True)
    Unit.act, Mixed.of_2015, model.Mixed_7c.last = staticmethod(F.relu), True, True
    model.load_state_dict(state)
    model.eval()
    with torch.no_grad():
        features = model.features(images(2, 107))[0]
    print("of 2015:", ", ".join("%.9f" % x for x in (features * torch.cos(torch.arange(2048.0))).sum(1)), "largest", features.max().item())


main()
