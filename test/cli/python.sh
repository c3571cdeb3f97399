#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dawn.py: a program that uses it is recorded as one that prints the lines itself, and its callbacks follow stand-ins of Lightning and
# transformers, which call them in the order of the libraries. Without dawn record it prints nothing.
set -eu
. "$ROOT/test/status.sh"
unset RANK LOCAL_RANK

[ "$(status "$DAWN" record --module)" = 0 ]
cp out dawn.py
cmp dawn.py "$ROOT/tasks/tools/outside/dawn.py"
[ "$(status "$DAWN" record --module -- true)" = 2 ]
facts() { # EXPRESSION of the last run as `r`, its points as `p`
    "$DAWN" results show last --json >run.json
    python3 -c 'import json, sys
r = json.load(open("run.json")); p = r["points"]
eval(sys.argv[1]) or sys.exit("%s\n%s" % (sys.argv[1], json.dumps(r, indent=1)))' "$1"
}
# COUNT: evaluations that began, each announced once. (In the record short segments may be one, if their lines arrive together.)
segments() { [ "$(grep -c '^{"dawn": "segment", "segment": "evaluate"}$' out)" = "$1" ]; }
recorded() { [ "$(status "$DAWN" record -- python3 -B "$@")" = 0 ] || { cat out err; exit 1; }; }

# ---- by hand: figures of other types, a loss that is no number, a file of weights
cat >plain.py <<'PY'
import hashlib
import time
import dawn

class Scalar:  # as NumPy's and PyTorch's
    def __init__(self, value):
        self.value = value
    def item(self):
        return self.value

with dawn.run(model="line", framework="Python", precision="f64", batch=Scalar(4), parameters=None) as run:
    assert run.seed == 5, run.seed
    run.segment("train")
    for epoch in (1, 2):
        time.sleep(.02)
        run.segment("evaluate")
        time.sleep(.02)
        run.epoch(epoch, samples=100 * epoch, correct=Scalar(9000 + 450 * (epoch - 1)), items=10000,
                  loss=float("nan") if epoch == 1 else Scalar(.5))
        run.segment("train")
    open("w.bin", "wb").write(b"weights")
    run.weights("w.bin")
PY
[ "$(status "$DAWN" record --seed 5 -- python3 -B plain.py)" = 0 ]
facts 'r["model"] == "line" and r["batch"] == 4 and r["precision"] == "f64" and r["status"] == "done" and r["last_score"] == 9450'
facts '[x["samples"] for x in p] == [100, 200] and p[1]["loss_micro"] == 500000 and p[0]["loss_micro"] > 10**9'
segments 2
facts 'r["weights_digest"] == __import__("hashlib").sha256(b"weights").hexdigest()'
DAWN_SEED=5 RANK=1 python3 -B plain.py >out # not the first process
[ ! -s out ]
sed 's/assert run.seed.*/pass/' plain.py >alone.py
python3 -B alone.py >out # no dawn record
[ ! -s out ]
[ "$(status "$DAWN" record -- python3 -B -c 'import dawn
with dawn.run() as run:
    run.epoch(1, correct=9500, items=10000)
    raise OSError("broke")')" = 1 ] # a failure stays one
facts 'r["status"] == "failed"'

# ---- Lightning: a sanity check, then two validations per epoch
mkdir -p lightning
echo >lightning/__init__.py
cat >lightning/pytorch.py <<'PY'
__version__ = "2"
class callbacks:
    pass
class Callback:
    pass
PY
cat >lit.py <<'PY'
import time
import types
import dawn
back = dawn.lightning("val_acc", loss="train_loss", batch=8)
module = types.SimpleNamespace(parameters=lambda: [types.SimpleNamespace(numel=lambda: 7)])
t = types.SimpleNamespace(is_global_zero=True, precision="bf16-mixed", sanity_checking=True, global_step=0, current_epoch=0,
                          num_training_batches=4, callback_metrics={})
back.on_fit_start(t, module)
back.on_validation_start(t, module), back.on_validation_end(t, module)
t.sanity_checking = False
back.on_validation_start(t, module), back.on_validation_end(t, module)  # before the first step: no epoch
assert back.run.current == "train", back.run.current
for t.current_epoch in range(2):
    back.on_train_epoch_start(t, module)
    for batch in range(4):
        t.global_step += 1
        time.sleep(.01)
        back.on_train_batch_end(t, module, None, None, batch)
        if batch % 2:
            back.on_validation_start(t, module)
            time.sleep(.01)
            t.callback_metrics = {"val_acc": .9 + .01 * t.global_step, "train_loss": 1 / t.global_step}
            back.on_validation_end(t, module)
PY
recorded lit.py
facts 'r["outside"]["framework"] == "Lightning 2" and r["parameters"] == 7 and r["batch"] == 8'
facts 'r["precision"] == "bf16" and [(x["step"], x["epoch_micro"]) for x in p] == [(2, 500000), (4, 10**6), (6, 1500000), (8, 2 * 10**6)]'
facts '[x["scores"][0]["score"] for x in p] == [9200, 9400, 9600, 9800] and p[3]["loss_micro"] == 125000'
segments 5

# ---- Hugging Face: the flags of the control say that an evaluation follows
cat >transformers.py <<'PY'
__version__ = "4"
class TrainerCallback:
    pass
PY
cat >hug.py <<'PY'
import time
import types
import dawn
back = dawn.hugging_face("eval_accuracy", model="tiny")
args = types.SimpleNamespace(bf16=False, fp16=True)
state = types.SimpleNamespace(is_world_process_zero=True, global_step=0, epoch=0, log_history=[])
control = types.SimpleNamespace(should_evaluate=False)
back.on_train_begin(args, state, control, model=None)
for state.global_step in range(1, 7):
    time.sleep(.01)
    state.epoch, control.should_evaluate = state.global_step / 4, state.global_step % 3 == 0
    back.on_step_end(args, state, control)
    if control.should_evaluate:
        state.log_history.append({"loss": 1.5})
        back.on_evaluate(args, state, control, metrics={"eval_accuracy": .9 + .01 * state.global_step})
for metrics in ({"test_accuracy": 1.0}, None):  # of another set: the training goes on after it
    control.should_evaluate = True
    back.on_step_end(args, state, control)
    assert back.run.current == "evaluate"
    back.on_evaluate(args, state, control, metrics=metrics)
    assert back.run.current == "train", back.run.current
PY
recorded hug.py
facts 'r["outside"]["framework"] == "transformers 4" and r["model"] == "tiny" and r["precision"] == "f16"'
facts '[(x["step"], x["epoch_micro"], x["scores"][0]["score"]) for x in p] == [(3, 750000, 9300), (6, 1500000, 9600)]'
facts 'p[1]["loss_micro"] == 1500000'
segments 4
