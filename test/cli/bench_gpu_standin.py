# SPDX-License-Identifier: Apache-2.0
"""A competitor for the test of cifar10-gpu.sh: the functions that its driver looks for, which only wait. It sleeps 40 ms to
load, 50 to train, 20 for an evaluation that informs and 30 for the one that counts, and would sleep a minute to cool."""
import os
import sys
import time

with open(sys.argv[0]) as f:  # as the real ones do
    assert "only wait" in f.read()
try:
    import torch
except ImportError:
    torch = None
hiverge = "hiverge" in __file__
print("this line is for people, and no answer")


class Model:
    reset = cuda = train = eval = lambda self: self

    def to(self, **named):
        return self

    def compile(self, mode):
        assert mode == "max-autotune"

    def eval_forward(self, x):
        assert x.shape[1:] == (3, 32, 32)
        return x.mean((2, 3)) @ torch.ones(3, 10)


CifarNet = Model


class CifarLoader:
    def __init__(self, path, train=True, batch_size=500):
        time.sleep(0.04)
        if os.path.exists(f"{path}/test.pt") and hasattr(torch, "load"):
            data = torch.load(f"{path}/{'train' if train else 'test'}.pt")
            assert data["images"].shape[1:] == (32, 32, 3) and len(data["classes"]) == 10
            assert data["labels"].tolist()[:3] == [0, 1, 2]
            self.images, self.labels = data["images"].permute(0, 3, 1, 2).float() / 255, data["labels"]
        self.normalize = lambda x: x


def evaluate(model, loader, tta_level=0):
    time.sleep(0.03 if tta_level == 2 else 0.02)
    return 0.9412 if tta_level == 2 else 0.93


def print_training_details(variables, is_final_entry):
    print("|", variables["run"], variables["time_seconds"], "|")


def main(run, model):
    loader = CifarLoader("cifar10")
    if run == int(os.environ.get("STANDIN_FAILS", -1)):
        raise RuntimeError("it fails as it was told to")
    began = time.perf_counter()
    time.sleep(0.05)
    time.sleep(60)
    time_seconds = time.perf_counter() - began
    last = 0 if hiverge else evaluate(model, loader)
    accuracy = evaluate(model, loader, tta_level=2)
    if hiverge:
        last = evaluate(model, loader, tta_level=0)
    print_training_details(locals(), is_final_entry=True)
    return (last, accuracy, time_seconds) if hiverge else accuracy


def setup():  # as E1
    time.sleep(0.02)
    time.sleep(60)
    return Model(), {"steps": 3}


def train(model, extra, ctx):
    time.sleep(0.05)
    ctx.validate(model, step=extra["steps"])
