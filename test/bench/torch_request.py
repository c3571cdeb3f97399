# SPDX-License-Identifier: Apache-2.0
# One image through airbench's network (recipe cifar10) by PyTorch on the CPU: bytes to scores, eager and as frozen TorchScript
# (norms folded into the filters), both in the default layout and channels last. Prints the median of each in ms:
#
#   torch_request.py [THREADS [f32|bf16 [REQUESTS]]]
import sys
import time
from statistics import median

import torch

import torch_convnets

words = sys.argv[1:] + ["1", "f32", "600"][len(sys.argv) - 1:]
threads, kind, requests = int(words[0]), words[1], int(words[2])
torch.set_num_threads(threads)
torch.manual_seed(1)
dtype = torch.bfloat16 if kind == "bf16" else torch.float32
image = torch.randint(0, 256, (1, 3, 32, 32), dtype=torch.uint8)
mean, scale = torch.full((1, 3, 1, 1), 125.0), torch.full((1, 3, 1, 1), 1 / 63.0)


def measure(model, layout):
    times = []
    with torch.inference_mode():
        for _ in range(requests):
            began = time.perf_counter()
            x = ((image.float() - mean) * scale).to(dtype).contiguous(memory_format=layout)
            model(x).float().tolist()
            times.append(time.perf_counter() - began)
    return 1000 * median(times[requests // 5:])


least = float("inf")
for layout in (torch.contiguous_format, torch.channels_last):
    model = torch_convnets.Record().eval().to(dtype).to(memory_format=layout)
    example = torch.zeros(1, 3, 32, 32, dtype=dtype).contiguous(memory_format=layout)
    with torch.no_grad():
        frozen = torch.jit.freeze(torch.jit.trace(model, example))
    for name, form in {"eager": model, "frozen": frozen, "for inference": torch.jit.optimize_for_inference(frozen)}.items():
        ms = measure(form, layout)
        print(f"{layout}, {name}: {ms:.3f} ms", flush=True)
        least = min(least, ms)
print(f"PyTorch {torch.__version__}, {kind}, {threads} threads: {least:.3f} ms")
