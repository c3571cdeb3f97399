# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_maskrcnn.c: torchvision's two-stage network on the backbone of torch_detectors.py, in double, with the
# weights of the test. It draws so many boxes that all of them count. Prints the losses, and of the gradients g of each layer the
# sum of g[i] cos(i), of one training step.
from collections import OrderedDict

import torch
from torch_detectors import PYRAMID, Retina, cos_sum, put_waves
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.rpn import RPNHead
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.models.detection.roi_heads import paste_masks_in_image
from torchvision.ops import MultiScaleRoIAlign

N, H, W, CLASSES, HIDDEN, LEVELS = 2, 64, 96, 3, 12, ("0", "1", "2")
SIZES, DRAWN = [(64, 96), (60, 80)], 240
BOXES = [[[10, 12, 40, 50], [50, 5, 90, 60]], [[20, 8, 60, 44]]]
CLASS = [[1, 2], [2]]


class Backbone(Retina):
    out_channels = PYRAMID

    def __init__(self):
        super().__init__()
        del self.classes, self.boxes

    def forward(self, x):
        return OrderedDict(zip(LEVELS, self.levels(x)))


def cut(bins):
    return MultiScaleRoIAlign(LEVELS, bins, 2, canonical_scale=64, canonical_level=4)


anchors = AnchorGenerator(((32,), (64,), (128,)), ((1.0, 2.0, 3.0),) * 3)
net = MaskRCNN(Backbone(), rpn_anchor_generator=anchors, rpn_head=RPNHead(PYRAMID, 3), rpn_pre_nms_top_n_train=60,
               rpn_post_nms_top_n_train=50, rpn_batch_size_per_image=800, box_roi_pool=cut(7), box_head=TwoMLPHead(PYRAMID * 49, HIDDEN),
               box_predictor=FastRCNNPredictor(HIDDEN, CLASSES), box_batch_size_per_image=DRAWN, mask_roi_pool=cut(14),
               mask_head=MaskRCNNHeads(PYRAMID, (PYRAMID,) * 4, 1),
               mask_predictor=MaskRCNNPredictor(PYRAMID, PYRAMID, CLASSES)).double()


def views():  # parameters by DAWN's names, the matrix after the flattened [C,7,7] as filters
    for name, p in net.named_parameters():
        p = p.view(HIDDEN, PYRAMID, 7, 7) if name.endswith("fc6.weight") else p
        yield name.removeprefix("backbone."), p


with torch.no_grad():
    put_waves(views())
i = torch.arange(N * H * W * 3, dtype=torch.float64)
x = torch.sin(0.11 * i + 0.3 * torch.sin(0.013 * i)).float().double().reshape(N, H, W, 3).permute(0, 3, 1, 2)
masks = (torch.arange(N * 3 * H * W) % 97 < 50).to(torch.uint8).reshape(N, 3, H, W)
targets = [{"boxes": torch.tensor(b, dtype=torch.float64), "labels": torch.tensor(c), "masks": masks[n, : len(b)]}
           for n, (b, c) in enumerate(zip(BOXES, CLASS))]
levels = net.backbone(x)
proposals, first = net.rpn(ImageList(x, SIZES), levels, targets)
_, second = net.roi_heads(levels, proposals, SIZES, targets)
losses = [first["loss_objectness"], first["loss_rpn_box_reg"], second["loss_classifier"], second["loss_box_reg"], second["loss_mask"]]
sum(losses).backward()
print("losses", ", ".join(f"{loss.item():.9g}" for loss in losses), "of", [len(p) for p in proposals], "proposals")
sums = {}
for name, p in net.named_parameters():
    layer = ".".join(name.removeprefix("backbone.").split(".")[: 2 if name[0] == "r" else 1]) + "."
    g = p.grad.view(HIDDEN, PYRAMID, 7, 7) if name.endswith("fc6.weight") else p.grad
    sums[layer] = sums.get(layer, 0) + cos_sum(g)
for layer, value in sums.items():
    print(f'    {{"{layer}", {value:.9g}}},')

# Masks in a picture of 40 x 30 pixels: the pixels inside, and the sum of their numbers, column by column.
i = torch.arange(28 * 28, dtype=torch.float32)
mask = (0.5 + 0.45 * torch.sin(0.05 * i) * torch.cos(0.031 * i)).reshape(1, 1, 28, 28)
for box in ([5.3, 4.2, 25.7, 28.9], [-3.5, -2.25, 12.5, 9.75], [30.1, 20.2, 40.0, 30.0], [7.0, 7.0, 7.5, 20.0]):
    inside = paste_masks_in_image(mask, torch.tensor([box]), (30, 40))[0, 0] > 0.5
    at = inside.T.reshape(-1).nonzero()
    print("mask", box, len(at), int(at.sum()))
