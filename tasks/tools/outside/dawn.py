# SPDX-License-Identifier: Apache-2.0
"""Reports a training to `dawn record`: one file without dependencies, for Python 3.8 and later.

    import dawn
    with dawn.run(model="ResNet-9", framework="PyTorch " + torch.__version__, batch=512) as run:
        torch.manual_seed(run.seed)
        for epoch in range(1, 21):
            loss = train()
            run.segment("evaluate")
            run.epoch(epoch, correct=evaluate(), items=10000, loss=loss)

The callbacks of Lightning and Hugging Face do the same: Trainer(callbacks=[dawn.lightning("val_acc")]) and
Trainer(callbacks=[dawn.hugging_face("eval_accuracy")]). The metric is a share of 1.

Without `dawn record`, and in all processes but the first, nothing is printed, so a program can keep these lines. docs/record.md
explains every member. `dawn record --module` prints this file.
"""
import hashlib
import json
import math
import os
import sys

PRECISIONS = {"32": "f32", "64": "f64", "16": "f16", "bf16": "bf16"}


def _plain(value):
    """A figure of NumPy or PyTorch as one of Python; None for one that JSON does not have."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Run:
    """A run that `dawn record` times. Every member may be left out."""

    def __init__(self, **about):
        first = all(os.environ.get(name, "0") == "0" for name in ("RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"))
        self.active = "DAWN_SEED" in os.environ and first
        self.seed = int(os.environ.get("DAWN_SEED", "1"))
        self.current = "init"
        self.about(**about)

    def _say(self, kind, members):
        members = {name: value for name, value in ((n, _plain(v)) for n, v in members.items()) if value is not None}
        if self.active and members:
            sys.stdout.flush()  # one write for a line, which output of other threads cannot tear
            os.write(1, (json.dumps({"dawn": kind, **members}) + "\n").encode())

    def about(self, **members):
        """The model, before the first epoch: model, framework, precision, batch, parameters, flops_per_sample, views, input_size."""
        self._say("about", members)

    def segment(self, name):
        """What the program does from now on: data, init, compile, warmup, train, evaluate, checkpoint or idle."""
        if name != self.current:
            self._say("segment", {"segment": name})
        self.current = name

    def epoch(self, epoch, **members):
        """The end of an evaluation, or of an epoch without one: step, samples, correct and items or score, loss."""
        self._say("epoch", {"epoch": epoch, **members})
        self.current = "train"  # so `dawn record` takes it

    def weights(self, path):
        """The file of the weights: its digest becomes a part of the record."""
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            for piece in iter(lambda: file.read(1 << 20), b""):
                digest.update(piece)
        self._say("about", {"weights": digest.hexdigest()})

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        return False


def run(**about):
    """Begins the report; takes the arguments of about()."""
    return Run(**about)


def _parameters(model):
    return sum(p.numel() for p in model.parameters()) if hasattr(model, "parameters") else None


def lightning(score, loss=None, **about):
    """A callback for Lightning: `score` and `loss` are names of logged metrics, such as "val_acc" and "train_loss"."""
    try:
        import lightning.pytorch as library
    except ImportError:
        import pytorch_lightning as library

    class Callback(library.Callback):
        def __init__(self):
            self.run, self.done = Run(), 0.0

        def on_fit_start(self, trainer, module):
            self.run.active = self.run.active and trainer.is_global_zero
            precision = PRECISIONS.get(str(trainer.precision).split("-")[0])
            self.run.about(**{"model": type(module).__name__, "framework": "Lightning " + library.__version__,
                              "precision": precision, "parameters": _parameters(module), **about})

        def on_train_epoch_start(self, trainer, module):
            self.run.segment("train")

        def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
            self.done = trainer.current_epoch + (batch_idx + 1) / trainer.num_training_batches

        def on_validation_start(self, trainer, module):
            if not trainer.sanity_checking:
                self.run.segment("evaluate")

        def on_validation_end(self, trainer, module):
            metrics = trainer.callback_metrics
            if trainer.sanity_checking:
                return
            if trainer.global_step > 0:
                self.run.epoch(self.done, step=trainer.global_step, score=metrics[score], loss=metrics.get(loss))
            else:
                self.run.segment("train")

    return Callback()


def hugging_face(score, **about):
    """A callback for the Trainer of transformers: `score` is a name of its metrics, such as "eval_accuracy"."""
    import transformers

    class Callback(transformers.TrainerCallback):
        def __init__(self):
            self.run = Run()

        def on_train_begin(self, args, state, control, model=None, **rest):
            self.run.active = self.run.active and state.is_world_process_zero
            precision = "bf16" if args.bf16 else "f16" if args.fp16 else "f32"
            self.run.about(**{"model": type(model).__name__, "framework": "transformers " + transformers.__version__,
                              "precision": precision, "parameters": _parameters(model), **about})
            self.run.segment("train")

        def _begin(self, args, state, control, **rest):
            if control.should_evaluate:
                self.run.segment("evaluate")

        on_step_end = on_epoch_end = _begin

        def on_evaluate(self, args, state, control, metrics=None, **rest):
            losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
            if state.global_step > 0 and score in (metrics or {}):
                self.run.epoch(state.epoch, step=state.global_step, score=metrics[score], loss=losses[-1] if losses else None)
            else:
                self.run.segment("train")

    return Callback()
