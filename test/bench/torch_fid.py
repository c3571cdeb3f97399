# SPDX-License-Identifier: Apache-2.0
# The features that FID is measured in, by torchvision's modules with pytorch-fid's pools, in double, and by DAWN, from one file of drawn
# weights in the published form: torch.save's first one, filters in TensorFlow's order. Pictures are the first test images of CIFAR-10.
#
#   torch_fid.py FID_FEATURES CIFAR FOLDER [COUNT]    make bench-fid makes FID_FEATURES; CIFAR: the folder of test_batch.bin
import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F
import torchvision


class Pools:
    """torch.nn.functional for torchvision's blocks, whose average pools become the published network's."""

    last = False

    def __getattr__(self, name):
        return getattr(F, name)

    def avg_pool2d(self, x, kernel_size, stride=None, padding=0):
        if self.last:
            return F.max_pool2d(x, kernel_size, stride, padding)
        return F.avg_pool2d(x, kernel_size, stride, padding, count_include_pad=False)


def drawn(name, value, draw):
    if name.endswith("running_var") or name.endswith("bn.weight"):
        return torch.from_numpy(draw.uniform(0.6, 1.4, value.shape)).float()
    if value.dim() < 2:
        return torch.from_numpy(draw.normal(0, 0.1, value.shape)).to(value.dtype) if value.dim() else value
    there = torch.from_numpy(draw.normal(0, (2 / np.prod(value.shape[1:])) ** 0.5, value.shape)).float()
    if value.dim() == 4:  # rows, columns, inputs, outputs
        return there.permute(2, 3, 1, 0).contiguous().permute(3, 2, 0, 1)
    return there.t().contiguous().t()


def main():
    program, cifar, folder = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    draw = np.random.default_rng(1)
    model = torchvision.models.inception_v3(num_classes=1008, aux_logits=False, weights=None, init_weights=False)
    state = {name: drawn(name, value, draw) for name, value in sorted(model.state_dict().items())}
    torch.save(state, f"{folder}/drawn.pth", _use_new_zipfile_serialization=False)
    records = np.fromfile(f"{cifar}/test_batch.bin", np.uint8).reshape(-1, 3073)[:count, 1:].reshape(-1, 3, 32, 32)
    records.transpose(0, 2, 3, 1).tofile(f"{folder}/pictures.u8")
    subprocess.run([program, f"{folder}/drawn.pth", f"{folder}/pictures.u8", f"{folder}/features.f32"], check=True)
    ours = np.fromfile(f"{folder}/features.f32", np.float32).reshape(count, 2048).astype(np.float64)
    model.load_state_dict(state)
    model.double().eval()
    torchvision.models.inception.F = pools = Pools()
    model.Mixed_7c.register_forward_pre_hook(lambda *_: setattr(pools, "last", True))
    found = []
    model.avgpool.register_forward_hook(lambda module, x, y: found.append(y.flatten(1).numpy()))
    with torch.no_grad():
        x = F.interpolate(torch.from_numpy(records).double() / 255, (299, 299), mode="bilinear", align_corners=False)
        model(2 * x - 1)
    print("largest feature %.6g, off by at most %.2e of it" % (found[0].max(), abs(found[0] - ours).max() / found[0].max()))


main()
