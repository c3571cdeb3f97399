# SPDX-License-Identifier: Apache-2.0
# The convolutions of CIFAR-10's airbench and of ResNet-50 on a GPU by PyTorch: forward, both gradients, fp16, channels
# last, median of 30 by events, after 10 that choose the algorithm. To compare with the nodes of "dawn profile cifar10 --device
# cuda --fake --recipe fulcrum-e1 --precision f16" and "dawn profile imagenet --device cuda --fake --batch 256 --precision f16",
# which have the same batches ("dawn bench ops" has 100 images).
import torch
import torch.nn.functional as F

SHAPES = [  # images, channels in, channels out, side, kernel, stride, pad
    (1536, 24, 64, 31, 3, 1, 1), (1536, 64, 64, 15, 3, 1, 1), (1536, 64, 256, 15, 3, 1, 1), (1536, 256, 256, 7, 3, 1, 1),
    (1536, 256, 256, 3, 3, 1, 1), (256, 3, 64, 224, 7, 2, 3), (256, 64, 64, 56, 3, 1, 1), (256, 64, 256, 56, 1, 1, 0),
    (256, 128, 128, 28, 3, 1, 1), (256, 256, 256, 14, 3, 1, 1), (256, 512, 512, 7, 3, 1, 1), (256, 512, 2048, 7, 1, 1, 0),
]


def median_us(run):
    times = []
    for i in range(40):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(1e3 * begin.elapsed_time(end))
    return sorted(times[10:])[15]


torch.backends.cudnn.benchmark = True
print(torch.__version__, torch.cuda.get_device_name(), "cuDNN", torch.backends.cudnn.version())
print("images  in -> out  side  kernel stride     forward       dgrad       wgrad   us (TFLOP/s)")
for n, c, k, side, kernel, stride, pad in SHAPES:
    x = torch.randn(n, c, side, side, device="cuda", dtype=torch.half).contiguous(memory_format=torch.channels_last)
    w = torch.randn(k, c, kernel, kernel, device="cuda", dtype=torch.half).contiguous(memory_format=torch.channels_last)
    y = F.conv2d(x, w, None, stride, pad)
    dy = torch.randn_like(y)
    backward = lambda mask: torch.ops.aten.convolution_backward(  # noqa: E731
        dy, x, w, None, [stride, stride], [pad, pad], [1, 1], False, [0, 0], 1, mask)
    flops = 2 * y.numel() * c * kernel * kernel
    us = [median_us(lambda: F.conv2d(x, w, None, stride, pad)), median_us(lambda: backward([True, False, False])),
          median_us(lambda: backward([False, True, False]))]
    print(f"{n:6} {c:4} -> {k:4} {side:4}  {kernel}x{kernel}   {stride}  " +
          "".join(f"  {u:6.0f} ({flops / u * 1e-6:4.0f})" for u in us), flush=True)
