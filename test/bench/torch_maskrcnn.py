# SPDX-License-Identifier: Apache-2.0
# Golden figures of test_maskrcnn.c: torchvision's two-stage network on the backbone of torch_detectors.py, in double, with the
# weights of the test. It draws so many boxes that all of them count. Prints the losses, and of the gradients g of each layer the
# sum of g[i] cos(i), of one training step.
#
#   torch_maskrcnn.py [OUTPUTS]    OUTPUTS: the program of "make bench-maskrcnn". Instead saves a state dict of maskrcnn_resnet50_fpn
#                                  in the current folder, and compares what both compute with it, PyTorch in double
import subprocess
import sys
from collections import OrderedDict

import numpy
import torch
from safetensors.torch import save_file
from torch_detectors import PYRAMID, Retina, cos_sum, put_waves
from torchvision.models.detection import MaskRCNN, maskrcnn_resnet50_fpn
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
    def __init__(self, widths=(4, 5, 6, 7, 8), pyramid=PYRAMID):
        super().__init__(CLASSES, widths, pyramid)
        self.out_channels = pyramid
        del self.classes, self.boxes

    def forward(self, x):
        return OrderedDict(zip(LEVELS, self.levels(x)))


def cut(bins):
    return MultiScaleRoIAlign(LEVELS, bins, 2, canonical_scale=64, canonical_level=4)


def network(backbone, classes, hidden, counts):  # best cells per level, proposals, drawn cells, drawn boxes
    first, kept, cells, boxes = counts
    c, anchors = backbone.out_channels, AnchorGenerator(((32,), (64,), (128,)), ((1.0, 2.0, 3.0),) * 3)
    return MaskRCNN(backbone, rpn_anchor_generator=anchors, rpn_head=RPNHead(c, 3), rpn_pre_nms_top_n_train=first,
                    rpn_post_nms_top_n_train=kept, rpn_batch_size_per_image=cells, box_roi_pool=cut(7),
                    box_head=TwoMLPHead(c * 49, hidden), box_predictor=FastRCNNPredictor(hidden, classes),
                    box_batch_size_per_image=boxes, mask_roi_pool=cut(14), mask_head=MaskRCNNHeads(c, (c,) * 4, 1),
                    mask_predictor=MaskRCNNPredictor(c, c, classes))


def losses_of(net, images, sizes, targets):  # and the proposals
    levels = net.backbone(images)
    proposals, first = net.rpn(ImageList(images, sizes), levels, targets)
    _, second = net.roi_heads(levels, proposals, sizes, targets)
    return [first["loss_objectness"], first["loss_rpn_box_reg"], second["loss_classifier"], second["loss_box_reg"],
            second["loss_mask"]], proposals


def views(net):  # parameters by DAWN's names, the matrix after the flattened [C,7,7] as filters
    for name, p in net.named_parameters():
        p = p.view(HIDDEN, PYRAMID, 7, 7) if name.endswith("fc6.weight") else p
        yield name.removeprefix("backbone."), p


# ---- the published network

@torch.no_grad()
def random_whole(x):
    """Norms with the statistics of x, changed at random; heads whose scores and boxes differ much."""
    torch.manual_seed(1)
    net = maskrcnn_resnet50_fpn(weights=None, weights_backbone=None)
    norms = [m for m in net.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    for norm in norms: norm.momentum = 1
    net.backbone.train()(x)
    for norm in norms:
        norm.running_mean += 0.2 * torch.randn_like(norm.bias) * norm.running_var.sqrt()
        norm.running_var *= 0.5 + 1.5 * torch.rand_like(norm.bias)
        norm.weight.copy_(0.5 + torch.rand_like(norm.bias)), norm.bias.copy_(0.2 * torch.randn_like(norm.bias))
    last, masks = net.roi_heads.box_predictor, net.roi_heads.mask_predictor.mask_fcn_logits
    for layer, factor in ((net.rpn.head.bbox_pred, 0.2), (last.cls_score, 2), (last.bbox_pred, 0.5), (masks, 0.1)):
        layer.weight *= factor
    return net.eval()


def apart(what, ours, theirs):
    ours, theirs = ours.double().reshape(-1), theirs.reshape(-1)
    far, most = (ours - theirs).abs().max().item(), theirs.abs().max().item()
    print(f"{what}: {len(ours)} numbers up to {most:.4g}, at most {far / most:.1e} of that apart")


@torch.no_grad()
def compare(outputs, rows=256, columns=320):
    torch.manual_seed(2)
    x = torch.nn.functional.interpolate(torch.randn(1, 3, rows // 8, columns // 8), (rows, columns), mode="bicubic")
    net, sizes = random_whole(x), [(rows, columns)]
    save_file(net.state_dict(), "maskrcnn.safetensors")
    x.permute(0, 2, 3, 1).contiguous().numpy().tofile("picture")
    print(subprocess.run([outputs, "maskrcnn.safetensors", "picture", str(rows), str(columns)], check=True, capture_output=True,
                         text=True).stdout, end="")
    ours = {name: torch.from_numpy(numpy.fromfile(f"picture.{name}", "i4" if name in ("classes", "count") else "f4"))
            for name in ("boxes", "scores", "classes", "masks", "count", "anchor_logits", "anchor_codes", "proposals",
                         "class_logits", "class_codes")}
    net, x = net.double(), x.double()
    levels = net.backbone(x)
    logits, codes = net.rpn.head(list(levels.values()))
    apart("logits of the anchors", ours["anchor_logits"], torch.cat([z.permute(0, 2, 3, 1).reshape(-1) for z in logits]))
    apart("codes of the anchors", ours["anchor_codes"], torch.cat(
        [c.view(3, 4, *c.shape[2:]).permute(2, 3, 0, 1).reshape(-1) for c in codes]))
    proposals = net.rpn(ImageList(x, sizes), levels)[0][0]
    given = ours["proposals"].view(-1, 4).double()
    full = (given[:, 2:] - given[:, :2]).prod(1) > 0
    far = (given[full][:, None] - proposals).abs().amax(2).amin(1).max().item()  # equal scores change places
    print(f"{full.sum().item()} proposals, PyTorch {len(proposals)}; each is at most {far:.1e} pixels from one of PyTorch's")
    heads = net.roi_heads
    logits, codes = heads.box_predictor(heads.box_head(heads.box_roi_pool(levels, [given[full]], sizes)))
    apart("logits of the classes of these boxes", ours["class_logits"].view(len(given), -1)[full], logits)
    apart("codes of these boxes", ours["class_codes"].view(len(given), -1)[full], codes)
    count, theirs = ours["count"].item(), heads(levels, [proposals], sizes)[0][0]
    boxes, classes = ours["boxes"].view(-1, 4)[:count].double(), ours["classes"][:count].long()
    masks = heads.mask_predictor(heads.mask_head(heads.mask_roi_pool(levels, [boxes], sizes)))
    inside = ours["masks"].view(-1, 28, 28)[:count].double()
    apart("logits of the masks of the boxes found", inside.logit(), masks[torch.arange(count), classes])
    print(f"{count} boxes found, PyTorch {len(theirs['boxes'])}")
    if count == len(theirs["boxes"]) and torch.equal(classes, theirs["labels"]):
        apart("boxes found", boxes, theirs["boxes"])
        apart("scores", ours["scores"][:count], theirs["scores"])


def golden():
    net = network(Backbone(), CLASSES, HIDDEN, (60, 50, 800, DRAWN)).double()
    with torch.no_grad():
        put_waves(views(net))
    i = torch.arange(N * H * W * 3, dtype=torch.float64)
    x = torch.sin(0.11 * i + 0.3 * torch.sin(0.013 * i)).float().double().reshape(N, H, W, 3).permute(0, 3, 1, 2)
    masks = (torch.arange(N * 3 * H * W) % 97 < 50).to(torch.uint8).reshape(N, 3, H, W)
    targets = [{"boxes": torch.tensor(b, dtype=torch.float64), "labels": torch.tensor(c), "masks": masks[n, : len(b)]}
               for n, (b, c) in enumerate(zip(BOXES, CLASS))]
    losses, proposals = losses_of(net, x, SIZES, targets)
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


if __name__ == "__main__":
    compare(sys.argv[1]) if sys.argv[1:] else golden()
