# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_detection.c: the one-stage detectors of PyTorch's layers, in double, with the weights of the test. Prints the
# losses, some answers, and of the gradients g of each layer the sum of g[i] cos(i), of one training step; the parameters of the
# whole networks with COCO's 80 classes; and SSD's anchors with their truths. With "jitter" colours. Arguments: names, else all.
import math
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

N, CLASSES, PYRAMID = 2, 2, 6


# ---- retina

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
    def __init__(self, i, pyramid):
        super().__init__()
        self.add_module("in", Unit(i, pyramid, 1))
        self.out = Unit(pyramid, pyramid)


def rows_of(x, columns):
    return x.permute(0, 2, 3, 1).reshape(len(x), -1, columns)


class Retina(nn.Module):
    def __init__(self, classes=CLASSES, widths=(4, 5, 6, 7, 8), pyramid=PYRAMID):
        super().__init__()
        self.sizes = (classes, 4)
        self.stem = Unit(3, widths[0], 3, 2)
        for s in range(4):
            self.add_module(f"stage{s + 1}", Stage(widths[s], widths[s + 1], s > 0))
        for l in range(3):
            self.add_module(f"pyramid{l + 1}", Level(widths[l + 2], pyramid))
        for name, each in (("classes", classes), ("boxes", 4)):
            layers = [nn.Conv2d(pyramid, pyramid, 3, 1, 1), nn.Conv2d(pyramid, pyramid, 3, 1, 1),
                      nn.Conv2d(pyramid, 3 * each, 3, 1, 1)]
            self.add_module(name, nn.ModuleDict({str(i + 1): layer for i, layer in enumerate(layers)}))

    def head(self, layers, x, each):
        return rows_of(layers["3"](F.relu(layers["2"](F.relu(layers["1"](x))))), each)

    def levels(self, x):
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
        return made

    def forward(self, x):
        made = self.levels(x)
        return (torch.cat([self.head(self.classes, p, self.sizes[0]) for p in made], 1),
                torch.cat([self.head(self.boxes, p, 4) for p in made], 1))


# ---- SSD

class Basic(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.downsample = None
        if stride > 1 or i != o:
            self.downsample = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if self.downsample else x))


class Ssd(nn.Module):
    BOXES = (4, 6, 6, 6, 4, 4)

    def __init__(self, classes, widths):
        super().__init__()
        a, b, c, wide, narrow = widths
        self.columns = classes + 1
        self.conv1, self.bn1 = nn.Conv2d(3, a, 7, 2, 3, bias=False), nn.BatchNorm2d(a)
        for s, (i, o, stride, blocks) in enumerate(((a, a, 1, 3), (a, b, 2, 4), (b, c, 1, 6))):
            self.add_module(f"layer{s + 1}", nn.Sequential(*[Basic(i if k == 0 else o, o, stride if k == 0 else 1)
                                                             for k in range(blocks)]))
        channels = (c, wide, wide, narrow, narrow, narrow)
        for l in range(1, 6):
            i, o = channels[l - 1], channels[l]
            self.add_module(f"extra{l}", nn.ModuleDict({
                "1": nn.Conv2d(i, o // 2, 1), "2": nn.Conv2d(o // 2, o, 3, 2 if l < 4 else 1, 1 if l < 4 else 0)}))
        self.classes = nn.ModuleList([nn.Conv2d(i, k * self.columns, 3, 1, 1) for i, k in zip(channels, self.BOXES)])
        self.boxes = nn.ModuleList([nn.Conv2d(i, k * 4, 3, 1, 1) for i, k in zip(channels, self.BOXES)])

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        levels = [self.layer3(self.layer2(self.layer1(x)))]
        for l in range(1, 6):
            extra = getattr(self, f"extra{l}")
            levels.append(F.relu(extra["2"](F.relu(extra["1"](levels[-1])))))
        return (torch.cat([rows_of(h(p), self.columns) for h, p in zip(self.classes, levels)], 1),
                torch.cat([rows_of(h(p), 4) for h, p in zip(self.boxes, levels)], 1))


def ssd_anchors():  # x, y, width, height in shares of the image, cut at 1
    made = []
    scales = (21, 45, 99, 153, 207, 261, 315)
    for l, (cells, step, ratios) in enumerate(zip((38, 19, 10, 5, 3, 1), (8, 16, 32, 64, 100, 300),
                                                  ((2,), (2, 3), (2, 3), (2, 3), (2,), (2,)))):
        a, b = scales[l] / 300, scales[l + 1] / 300
        sizes = [(a, a), (math.sqrt(a * b),) * 2]
        for r in ratios:
            sizes += [(a * math.sqrt(r), a / math.sqrt(r)), (a / math.sqrt(r), a * math.sqrt(r))]
        made += [((j + 0.5) * step / 300, (i + 0.5) * step / 300, w, h) for i in range(cells) for j in range(cells) for w, h in sizes]
    return torch.tensor(made, dtype=torch.float32).clamp(0, 1)


def corners(xywh):
    return torch.cat([xywh[:, :2] - xywh[:, 2:] / 2, xywh[:, :2] + xywh[:, 2:] / 2], 1)


def overlaps(a, b):
    sides = (torch.minimum(a[:, None, 2:], b[None, :, 2:]) - torch.maximum(a[:, None, :2], b[None, :, :2])).clamp(min=0)
    both = sides[..., 0] * sides[..., 1]
    area = [(c[:, 2] - c[:, 0]) * (c[:, 3] - c[:, 1]) for c in (a, b)]
    return both / (area[0][:, None] + area[1][None, :] - both)


def ssd_match(truth, classes):  # labels (0: none) and deltas
    anchors = ssd_anchors()
    overlap = overlaps(truth, corners(anchors))
    most, which = overlap.max(0)
    best = overlap.argmax(1)
    for k, i in enumerate(best):
        most[i], which[i] = 2, k
    taken = most > 0.5
    labels = torch.where(taken, classes[which] + 1, 0)
    middle, side = (truth[which, :2] + truth[which, 2:]) / 2, truth[which, 2:] - truth[which, :2]
    deltas = torch.cat([(middle - anchors[:, :2]) / anchors[:, 2:] / 0.1, (side / anchors[:, 2:]).log() / 0.2], 1)
    return labels, deltas * taken[:, None]


def mined_losses(logits, deltas, labels, wanted, beta):
    each = F.cross_entropy(logits.permute(0, 2, 1), labels, reduction="none")
    taken = labels > 0
    count = taken.sum(1)
    rank = torch.where(taken, 0, each).sort(1, descending=True).indices.sort(1).indices
    use = taken.double() + (rank < 3 * count[:, None]).double()
    boxes = (F.smooth_l1_loss(deltas, wanted, beta=beta, reduction="none").sum(2) * taken).sum(1)
    return ((each * use).sum(1) / count).sum(), (boxes / count).sum(), torch.tensor(float(len(logits)))


# ---- EfficientDet

def same(x, side, stride, value=0.0):  # TensorFlow's padding
    pads = []
    for size in (x.shape[3], x.shape[2]):
        p = max((-(-size // stride) - 1) * stride + side - size, 0)
        pads += [p // 2, p - p // 2]
    return F.pad(x, pads, value=value)


class Same(nn.Module):
    def __init__(self, i, o, side=1, stride=1, depthwise=False):
        super().__init__()
        self.side, self.stride = side, stride
        self.conv = nn.Conv2d(i, o, side, stride, groups=i if depthwise else 1, bias=False)
        self.bn = nn.BatchNorm2d(o, eps=1e-3)

    def forward(self, x):
        return self.bn(self.conv(same(x, self.side, self.stride)))


class Squeeze(nn.Module):
    def __init__(self, c, k):
        super().__init__()
        self.reduce, self.expand = nn.Conv2d(c, k, 1), nn.Conv2d(k, c, 1)

    def forward(self, x):
        return x * self.expand(F.silu(self.reduce(x.mean((2, 3), keepdim=True)))).sigmoid()


class Block(nn.Module):
    def __init__(self, i, o, expand, side, stride):
        super().__init__()
        self.shortcut = stride == 1 and i == o
        if expand > 1:
            self.expand = Same(i, expand * i)
        self.depthwise = Same(expand * i, expand * i, side, stride, True)
        self.squeeze, self.project = Squeeze(expand * i, max(i // 4, 1)), Same(expand * i, o)

    def forward(self, x):
        y = F.silu(self.expand(x)) if hasattr(self, "expand") else x
        y = self.project(self.squeeze(F.silu(self.depthwise(y))))
        return y + x if self.shortcut else y


class Separable(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.depthwise, self.pointwise = nn.Conv2d(i, i, 3, 1, 1, groups=i, bias=False), nn.Conv2d(i, o, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Fit(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(i, o, 1), nn.BatchNorm2d(o, eps=1e-3)

    def forward(self, x):
        return self.bn(self.conv(x))


def halved(x):
    return F.max_pool2d(same(x, 3, 2, -math.inf), 3, 2)


class Node(Separable):
    def __init__(self, inputs, o):
        super().__init__(o, o)
        self.weights, self.bn = nn.Parameter(torch.ones(len(inputs))), nn.BatchNorm2d(o, eps=1e-3)
        self.fits = [k for k, i in enumerate(inputs) if i != o]
        for k in self.fits:
            self.add_module(f"fit{k + 1}", Fit(inputs[k], o))

    def forward(self, *xs):
        part = self.weights.relu()
        part, size, total = part / (part.sum() + 1e-4), xs[0].shape[2:], 0
        for k, x in enumerate(xs):
            if k in self.fits:
                x = getattr(self, f"fit{k + 1}")(x)
            if x.shape[2] > size[0] or x.shape[3] > size[1]:
                x = halved(x)
            elif x.shape[2:] != size:
                x = F.interpolate(x, scale_factor=2)[:, :, : size[0], : size[1]]
            total = total + x * part[k]
        return self.bn(super().forward(F.silu(total)))


class Cell(nn.Module):
    def __init__(self, channels, o):
        super().__init__()
        for i in (3, 2, 1, 0):
            self.add_module(f"down{i + 1}", Node((channels[i], o), o))
        for i in range(1, 5):
            self.add_module(f"up{i + 1}", Node((channels[i], o, o) if i < 4 else (channels[i], o), o))

    def forward(self, levels):
        down = [None] * 4 + [levels[4]]
        for i in (3, 2, 1, 0):
            down[i] = getattr(self, f"down{i + 1}")(levels[i], down[i + 1])
        made = [down[0]]
        for i in range(1, 5):
            made.append(getattr(self, f"up{i + 1}")(*([levels[i], down[i], made[-1]] if i < 4 else [levels[i], made[-1]])))
        return made


class Head(nn.Module):
    def __init__(self, pyramid, columns):
        super().__init__()
        self.columns = columns
        for i in range(1, 4):
            layer = Separable(pyramid, pyramid)
            for l in range(1, 6):
                layer.add_module(f"bn{l}", nn.BatchNorm2d(pyramid, eps=1e-3))
            self.add_module(str(i), layer)
        self.last = Separable(pyramid, 9 * columns)

    def forward(self, levels):
        made = []
        for l, x in enumerate(levels):
            for i in range(1, 4):
                layer = getattr(self, str(i))
                x = F.silu(getattr(layer, f"bn{l + 1}")(layer(x)))
            made.append(rows_of(self.last(x), self.columns))
        return torch.cat(made, 1)


class EfficientDet(nn.Module):
    STAGES = ((1, 3, 1, 1), (6, 3, 2, 2), (6, 5, 2, 2), (6, 3, 2, 3), (6, 5, 1, 3), (6, 5, 2, 4), (6, 3, 1, 1))

    def __init__(self, classes, widths, pyramid):
        super().__init__()
        self.stem = Same(3, widths[0], 3, 2)
        for s, (expand, side, stride, blocks) in enumerate(self.STAGES):
            i, o = widths[s], widths[s + 1]
            self.add_module(f"stage{s + 1}", nn.Sequential(*[Block(i if k == 0 else o, o, expand, side, stride if k == 0 else 1)
                                                             for k in range(blocks)]))
        self.level4 = Fit(widths[7], pyramid)
        for c in range(3):
            self.add_module(f"cell{c + 1}", Cell((widths[3], widths[5], widths[7]) + (pyramid,) * 2 if c == 0 else (pyramid,) * 5,
                                                 pyramid))
        self.classes, self.boxes = Head(pyramid, classes), Head(pyramid, 4)

    def forward(self, x):
        x, levels = F.silu(self.stem(x)), []
        for s in range(7):
            x = getattr(self, f"stage{s + 1}")(x)
            if s in (2, 4, 6):
                levels.append(x)
        levels.append(halved(self.level4(x)))
        levels.append(halved(levels[3]))
        for c in range(3):
            levels = getattr(self, f"cell{c + 1}")(levels)
        return self.classes(levels), self.boxes(levels)


# ---- the test

def focal_losses(logits, deltas, labels, wanted, alpha, gamma, beta, more):
    taken = labels >= 0
    t = F.one_hot(labels.clamp(min=0), logits.shape[2]) * taken[:, :, None]
    p = logits.sigmoid()
    right = torch.where(t > 0, p, 1 - p)
    weight = torch.where(t > 0, alpha, 1 - alpha) * (1 - right) ** gamma * (labels > -2)[:, :, None]
    classes = (weight * F.binary_cross_entropy_with_logits(logits, t.double(), reduction="none")).sum()
    boxes = (F.smooth_l1_loss(deltas, wanted, beta=beta, reduction="none") * taken[:, :, None]).sum()
    return classes, boxes, taken.sum() + more


def boxes_of(deltas):  # about the anchor, in its sides
    half = deltas[..., 2:].clamp(max=4).exp() / 2
    return torch.cat([deltas[..., :2] - half, deltas[..., :2] + half], -1)


def areas(low, high):
    return (high - low).clamp(min=0).prod(-1)


def varifocal_losses(logits, deltas, labels, wanted, alpha, gamma):  # with GIoU of the boxes
    taken = labels >= 0
    a, b = boxes_of(deltas), boxes_of(wanted)
    shared = areas(torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:]))
    either = areas(a[..., :2], a[..., 2:]) + areas(b[..., :2], b[..., 2:]) - shared
    hull = areas(torch.minimum(a[..., :2], b[..., :2]), torch.maximum(a[..., 2:], b[..., 2:]))
    iou = shared / either
    boxes = ((1 - iou + (hull - either) / hull) * taken).sum()
    there = F.one_hot(labels.clamp(min=0), logits.shape[2]) * taken[:, :, None]
    t = there * iou.detach()[:, :, None]
    weight = torch.where(there > 0, t, (1 - alpha) * logits.sigmoid() ** gamma) * (labels > -2)[:, :, None]
    classes = (weight * F.binary_cross_entropy_with_logits(logits, t, reduction="none")).sum()
    return classes, boxes, taken.sum()


def rows(t):  # as DAWN orders a filter: [K,R,S,C]
    return t.permute(0, 2, 3, 1) if t.dim() == 4 else t


def put_waves(parameters):
    with torch.no_grad():
        for name, p in parameters:
            shape = rows(p).shape
            k = torch.arange(1, p.numel() + 1, dtype=torch.float64)
            weight = "weight" in name
            norm = weight and ("bn" in name or "downsample.1" in name or name.endswith("weights"))
            amplitude = 0.2 if norm else 0.3 if weight else 0.1
            v = norm + amplitude * torch.sin(0.37 * k * k + sum(map(ord, name)))
            v = v.float().double().reshape(shape)
            p.copy_(v.permute(0, 3, 1, 2) if p.dim() == 4 else v)


def cos_sum(t):
    g = rows(t).reshape(-1)
    return float((g * torch.cos(torch.arange(len(g), dtype=torch.float64))).sum())


def compare(name, net, height, width, losses, none):
    net = net.double()
    put_waves(net.named_parameters())
    i = torch.arange(N * height * width * 3, dtype=torch.float64)
    x = torch.sin(0.11 * i + 0.3 * torch.sin(0.013 * i)).float().double().reshape(N, height, width, 3).permute(0, 3, 1, 2)
    logits, deltas = net(x)
    anchors = logits.shape[1]
    i = torch.arange(N * anchors)
    labels = torch.where(i % 11 == 5, none + 1 + i // 11 % CLASSES, torch.where((i % 7 == 3) & (none < 0), none - 1, none))
    labels = labels.reshape(N, anchors)
    i = torch.arange(N * anchors * 4, dtype=torch.float64)
    wanted = (0.3 * torch.sin(0.7 * i)).float().double().reshape(N, anchors, 4)
    classes, boxes, count = losses(logits, deltas, labels, wanted)
    ((classes + boxes) / count).backward()
    print(f"{name}: {anchors} anchors; losses {classes.item():.9g}, {boxes.item():.9g} of {count.item():g}")
    for what, answer in (("logits", logits), ("deltas", deltas)):
        at = [k * (answer.numel() - 1) // 4 for k in range(1, 5)]
        print(f"  {what} at", ", ".join(map(str, at)), "are", ", ".join(f"{answer.reshape(-1)[k].item():.9g}" for k in at))
    sums = {}
    for parameter, value in net.named_parameters():
        layer = parameter.split(".")[0] + "."
        sums[layer] = sums.get(layer, 0) + cos_sum(value.grad)
    for layer, value in sums.items():
        print(f'    {{"{layer}", {value:.9g}}},')


def count_of(net):
    return sum(p.numel() for p in net.parameters())


# Of test_data_jitter.c: torchvision's changes of colours on f32, in several orders.
def print_jitter():
    import torchvision.transforms.v2.functional as v2
    change = v2.adjust_brightness, v2.adjust_contrast, v2.adjust_saturation, v2.adjust_hue
    x = torch.tensor([[(37 * i + 11 * c * c + 101 * i * c) % 256 for i in range(12)] for c in range(3)]).float().reshape(3, 3, 4)
    x[:, 0, 0], x[:, 0, 1] = 200, 0
    for by, order in [((1.2, 1, 1, 0), (0, 1, 2, 3)), ((1, .5, 1, 0), (0, 1, 2, 3)), ((1, 1, 1.5, 0), (0, 1, 2, 3)),
                      ((1, 1, 1, .05), (0, 1, 2, 3)), ((1, 1, 1, -.5), (0, 1, 2, 3)), ((.9, 1.4, .6, -.03), (2, 0, 3, 1)),
                      ((1.1, .7, 1.3, .3), (3, 1, 0, 2))]:
        y = x / 255
        for k in order:
            y = change[k](y, by[k])
        values = ", ".join(f"{v:.2f}f" for v in (y.permute(1, 2, 0).reshape(-1) * 255).tolist())
        print(f"    {{{{{{{', '.join(f'{float(b)}f' for b in by)}}}, {{{', '.join(map(str, order))}}}}}, {{{values}}}}},")


def main():
    wanted = sys.argv[1:] or ["retina", "ssd", "efficientdet-d0", "jitter"]
    torch.manual_seed(0)
    if "retina" in wanted:
        print(count_of(Retina(80, (16, 32, 64, 96, 128), 64)), "parameters")
        compare("retina", Retina(), 40, 56, lambda *a: focal_losses(*a, 0.25, 2, 0.1, 0), -1)
        compare("retina by overlap", Retina(), 40, 56, lambda *a: varifocal_losses(*a, 0.25, 2), -1)
    if "ssd" in wanted:
        print(count_of(Ssd(80, (64, 128, 256, 512, 256))), "parameters")
        compare("ssd", Ssd(CLASSES, (8, 8, 8, 8, 8)), 300, 300, lambda *a: mined_losses(*a, 1.0), 0)
        truth = torch.tensor([[30, 40, 120, 200], [35, 45, 110, 190], [5, 5, 9, 12], [0, 0, 300, 300], [200, 100, 260, 130]]) / 300
        labels, deltas = ssd_match(truth, torch.tensor([0, 1, 2, 0, 1]))
        i = torch.arange(len(labels), dtype=torch.float64)
        print(f"  anchors {(ssd_anchors().double() * torch.cos(i)[:, None]).sum(0).tolist()}")
        print(f"  {(labels > 0).sum()} taken, labels {(labels * torch.cos(i)).sum():.9g}, "
              f"deltas {(deltas.double().sum(1) * torch.cos(i)).sum():.9g}")
    if "efficientdet-d0" in wanted:
        widths = (32, 16, 24, 40, 80, 112, 192, 320)
        print(count_of(EfficientDet(80, widths, 64)), "parameters;", count_of(EfficientDet(90, widths, 64)), "with 90 classes")
        compare("efficientdet-d0", EfficientDet(CLASSES, (4, 3, 4, 5, 4, 6, 5, 7), PYRAMID), 128, 160,
                lambda *a: focal_losses(*a, 0.25, 1.5, 0.1, 1), -1)
    if "jitter" in wanted:
        print_jitter()


if __name__ == "__main__":
    main()
