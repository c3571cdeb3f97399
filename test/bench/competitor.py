#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs another project's CIFAR-10 speedrun and times it with DAWN's clocks, for cifar10-gpu.sh.

  competitor.py prepare DATA WORK        writes WORK/cifar10/train.pt and test.pt, which their loaders read, from the binary
                                         files in DATA, so that nothing is downloaded
  competitor.py KIND PATH --work WORK    imports the script PATH as a module, warms it up as its own main part does, then
                                         runs it once per line of standard input

KIND is airbench (airbench94_muon.py of KellerJordan/cifar10-airbench), hiverge (cifar10_speedrun.py of
hiverge/cifar10-speedrun) or e1 (runners/recipes/e1.py of fulcrumresearch/cifar-10-speedrun, or its champion file). Their
code runs unmodified, except that functions are wrapped to measure times, and sleeping for cooling is skipped. Each answer is
one line of JSON. The first lists what was loaded; then one line per run:

  whole_s                     the whole run, from before its first line to after its last, with the GPU idle at both ends
  warm_without_evaluation_s   the same without loading the data and without any evaluation: reset, whitening,
                              augmentation, training. The clock "warm" of docs/rules.md.
  warm_s                      warm_without_evaluation_s plus the one evaluation that gives the accuracy. Informative
                              evaluations (after every epoch; of the training images) are not counted.
  own_s                       their own clock
  end_to_end_s                of the first run: from the start of this process (--began) to the end of the evaluation
                              that counts, including compilation, without waiting for input

airbench and hiverge evaluate by themselves. E1 leaves that to its harness, so its six views are evaluated here, over all
10,000 images. Their output goes to standard error. Invariant: whole_s >= warm_s >= warm_without_evaluation_s.
"""
import argparse
import contextlib
import importlib.util
import json
import os
import sys
import time
import types

CLASSES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
RECORD, SLEEP_MIN = 3073, 1.0
clock, loaded = time.perf_counter, time.time()
try:
    import torch
except ImportError:
    torch = None


def refuse(sentence):
    sys.exit("competitor.py: " + sentence)


# ---- the data


def read_records(path):
    with open(path, "rb") as file:
        raw = bytearray(file.read())
    if not raw or len(raw) % RECORD:
        refuse(f"{path} has {len(raw)} bytes, which is not a multiple of the record size {RECORD}")
    return torch.frombuffer(raw, dtype=torch.uint8).view(-1, RECORD)


def prepare(data, work):
    """Images in the competitors' format: u8, NHWC; labels as 64-bit integers."""
    inside = os.path.join(data, "cifar-10-batches-bin")
    folder = inside if os.path.isdir(inside) else data
    os.makedirs(os.path.join(work, "cifar10"), exist_ok=True)
    if torch is None:
        return
    parts = {"train": [f"data_batch_{i}.bin" for i in range(1, 6)], "test": ["test_batch.bin"]}
    for split, names in parts.items():
        records = torch.cat([read_records(os.path.join(folder, name)) for name in names])
        labels = records[:, 0].long()
        if int(labels.max()) >= len(CLASSES):
            refuse(f"{folder} holds the label {int(labels.max())}; labels must be between 0 and 9")
        images = records[:, 1:].reshape(-1, 3, 32, 32).permute(0, 2, 3, 1).contiguous()
        torch.save({"images": images, "labels": labels, "classes": CLASSES},
                   os.path.join(work, "cifar10", split + ".pt"))


# ---- loading their file


def stand_in_for_torchvision():
    """Replaces a missing torchvision. The competitors use it to download, which is not needed, and to normalise."""

    class Normalize:
        def __init__(self, mean, std):
            self.mean, self.std = mean, std

        def __call__(self, x):
            mean, std = (torch.as_tensor(v, dtype=x.dtype, device=x.device).view(-1, 1, 1) for v in (self.mean, self.std))
            return (x - mean) / std

    whole, part = types.ModuleType("torchvision"), types.ModuleType("torchvision.transforms")
    part.Normalize, whole.transforms, whole.__version__ = Normalize, part, "stand-in"
    sys.modules.update({"torchvision": whole, "torchvision.transforms": part})


def load(path, work):
    path = os.path.abspath(path)
    os.chdir(work)
    os.environ["CIFAR_DATA"] = os.path.join(work, "cifar10")
    if torch is not None and importlib.util.find_spec("torchvision") is None:
        stand_in_for_torchvision()
    sys.argv = [path]  # they read their own source from this path
    spec = importlib.util.spec_from_file_location("competitor", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["competitor"] = module
    spec.loader.exec_module(module)
    return module


class Ruler:
    """Times at which the GPU is idle, and the time spent inside wrapped functions since the last reset."""

    def __init__(self, cuda):
        self.cuda, self.slept = cuda, 0.0
        self.reset()

    def reset(self):
        self.loading, self.evaluations, self.own = 0.0, [], None

    def now(self):
        if self.cuda:
            torch.cuda.synchronize()
        return clock()

    def skip_sleep(self):
        real = time.sleep

        def sleep(seconds):
            if seconds < SLEEP_MIN:  # waiting, not cooling
                return real(seconds)
            self.slept += seconds

        time.sleep = sleep


class Speedrun:
    """airbench and hiverge: main(run, model); the main part of the file creates and compiles the model."""

    def __init__(self, kind, module, ruler):
        self.kind, self.module, self.ruler = kind, module, ruler
        evaluate, init = module.evaluate, module.CifarLoader.__init__

        def timed_evaluate(*given, **named):
            began = ruler.now()
            accuracy = evaluate(*given, **named)
            views = named.get("tta_level", given[2] if len(given) > 2 else 0)
            ended = ruler.now()
            ruler.evaluations.append((views, ended - began, accuracy, ended))
            return accuracy

        def timed_init(*given, **named):
            began = ruler.now()
            init(*given, **named)
            ruler.loading += ruler.now() - began

        def noted_details(variables, *given, **named):
            ruler.own = variables.get("time_seconds", ruler.own)
            return details(variables, *given, **named)

        details = module.print_training_details
        module.evaluate, module.CifarLoader.__init__ = timed_evaluate, timed_init
        module.print_training_details = noted_details

    def warm_up(self):
        self.model = self.module.CifarNet()
        if self.ruler.cuda:
            self.model = self.model.cuda().to(memory_format=torch.channels_last)
            self.model.compile(mode="max-autotune")
        self.module.main("warmup", self.model)

    def before(self):
        if self.ruler.cuda and self.kind == "hiverge":
            torch.cuda.empty_cache()  # as its own main part does before each run

    def run(self, number):
        """Returns the end of the evaluation that counts, and the results of the run."""
        ruler = self.ruler
        began = ruler.now()
        said = self.module.main(number, self.model)
        whole = ruler.now() - began
        accuracy = said[1] if isinstance(said, tuple) else said
        _, final, found, ended = max(ruler.evaluations, key=lambda e: e[0])  # the one with the most views counts
        if found != accuracy:
            refuse(f"{self.kind} says {accuracy}, and its evaluation with the most views found {found}")
        bare = whole - ruler.loading - sum(seconds for _, seconds, _, _ in ruler.evaluations)
        return ended, {"accuracy": accuracy, "whole_s": whole, "warm_s": bare + final, "warm_without_evaluation_s": bare,
                       "own_s": ruler.own}


class E1:
    """setup() builds, compiles and captures once. Later calls reset and draw the whole augmented stream, so they belong to
    the run. train() replays. Both are timed, as in its authors' harness."""

    def __init__(self, kind, module, ruler):
        self.module, self.ruler = module, ruler
        module.DATA_PATH = os.environ["CIFAR_DATA"]

    def warm_up(self):
        self.model, _ = self.module.setup()
        test = self.module.CifarLoader(self.module.DATA_PATH, train=False, batch_size=2000)
        self.images, self.labels = test.normalize(test.images), test.labels
        self.correct()

    def correct(self):
        """Share of correct answers over six views: plain and two diagonal shifts by a pixel, each also mirrored. The
        plain views weigh half, the shifted views the other half."""
        net, right = self.model.eval_forward, 0
        pair = lambda x: (net(x).float() + net(x.flip(-1)).float()) / 2
        self.model.eval()
        with torch.no_grad():
            for x, y in zip(self.images.split(2000), self.labels.split(2000)):
                wide = torch.nn.functional.pad(x, (1, 1, 1, 1), "reflect")
                shifted = (pair(wide[:, :, :-2, :-2]) + pair(wide[:, :, 2:, 2:])) / 2
                right += ((pair(x) + shifted) / 2).argmax(1).eq(y).sum()
        self.model.train()
        return int(right) / len(self.labels)

    def before(self):
        # The number of epochs decides which images start mirrored, and setup() does not reset it.
        cache = getattr(self.module, "_CACHE", {})
        if "train_loader" in cache:
            cache["train_loader"].epoch = 0

    def run(self, number):
        began = self.ruler.now()
        self.model, extra = self.module.setup()
        self.module.train(self.model, extra, types.SimpleNamespace(validate=lambda *given, **named: None))
        trained = self.ruler.now()
        accuracy = self.correct()
        ended = self.ruler.now()
        return ended, {"accuracy": accuracy, "whole_s": ended - began, "warm_s": ended - began,
                       "warm_without_evaluation_s": trained - began, "own_s": trained - began}


KINDS = {"airbench": Speedrun, "hiverge": Speedrun, "e1": E1}


def versions(cuda):
    found = {"python": sys.version.split()[0]}
    if torch is not None:
        found["torch"] = torch.__version__
        found["torchvision"] = getattr(sys.modules.get("torchvision"), "__version__", None)
        with contextlib.suppress(Exception):
            found["triton"] = __import__("triton").__version__
    if cuda:
        found.update(cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version(), gpu=torch.cuda.get_device_name(0))
    return found


def arguments():
    parser = argparse.ArgumentParser(prog="competitor.py", description="another project's speedrun, timed by DAWN's clocks")
    parser.add_argument("kind", choices=["prepare", *KINDS])
    parser.add_argument("path", help="the script; for prepare the folder with CIFAR-10")
    parser.add_argument("folder", nargs="?", help="for prepare: the same as --work")
    parser.add_argument("--work", help="folder with cifar10/train.pt and cifar10/test.pt")
    parser.add_argument("--runs", type=int, default=1 << 30, help="maximum number of runs")
    parser.add_argument("--began", type=float, help="start of the process, in seconds since 1970")
    parser.add_argument("--allow-cpu", action="store_true", help="continue without a GPU: for tests, measures nothing")
    a = parser.parse_args()
    a.work = a.work or a.folder
    if not a.work:
        parser.error("--work is missing")
    a.work = os.path.abspath(a.work)
    return a


def main():
    a = arguments()
    if torch is None and not a.allow_cpu:
        refuse(f"{sys.executable} has no PyTorch")
    if a.kind == "prepare":
        return prepare(a.path, a.work)
    cuda = torch is not None and torch.cuda.is_available()
    if not cuda and not a.allow_cpu:
        refuse("PyTorch finds no GPU")
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)
    ruler = Ruler(cuda)
    ruler.skip_sleep()
    side = KINDS[a.kind](a.kind, load(a.path, a.work), ruler)
    side.warm_up()
    ruler.now()
    began = a.began or loaded
    answers.write(json.dumps({"side": a.kind, "ready_s": time.time() - began, "versions": versions(cuda)}) + "\n")
    for number in range(1, a.runs + 1):
        asked = clock()
        line = sys.stdin.readline().strip()
        if line in ("", "quit"):
            break
        began += clock() - asked  # waiting does not count
        if torch is not None:
            torch.manual_seed(number)
        side.before()
        ruler.reset()
        ended, found = side.run(number)
        said = {"side": a.kind, "run": number, **found}
        if number == 1:
            said["end_to_end_s"] = time.time() - began - (clock() - ended)
        said["slept_s"] = ruler.slept  # requested so far, and skipped
        answers.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    main()
