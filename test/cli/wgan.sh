#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small generator learns drawn digits against its critic: the three losses are recorded, a picture of each evaluation is kept and in
# the report, and an inference draws the digits again, the same for every seed's noise. A critic that is clamped stays within its
# bounds. Killed and resumed the training ends with the same bytes and the same pictures. Wrong settings: one sentence each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

train="train wgan-mnist --data mnist-drawn --threads 1"
"$DAWN" $train --no-stop --target 1000000 >log.txt
reads log.txt SYNTHETIC
"$DAWN" results export 1 --format json --to run.json
"$DAWN" infer wgan-mnist --threads 1 --precision f32 -o grid.png --json >batches.json
"$DAWN" infer wgan-mnist --threads 1 --precision f32 -o again.png --latency --warmup 2 --json >singles.json
"$DAWN" report >said.txt
python3 - <<'PY'
import glob, json, re
run = json.load(open("run.json"))["runs"][0]
points = run["points"]
losses = [{l["name"]: l["mean"] if "mean" in l else l["loss"] for l in p["losses"]} for p in points]
assert all(set(l) == {"critic", "penalty", "generator"} and l["penalty"] > 0 for l in losses), losses
scores = [{s["metric"]: s["score"] for s in p["scores"]} for p in points if p.get("scores")]
assert all(set(s) == {"fd-random84", "copies"} for s in scores), scores
assert scores[-1]["fd-random84"] < 0.9 * scores[0]["fd-random84"], scores
kept = sorted(glob.glob("run-1.pictures/*.png"))
assert len(kept) == len(scores) and all(open(k, "rb").read(8) == b"\x89PNG\r\n\x1a\n" for k in kept), kept
page = open("report.html").read()
shown = re.findall(r"in the training, after step (\d+)", page)
assert {int(s) for s in shown} <= {int(k[-12:-4]) for k in kept} and len(set(shown)) == min(6, len(kept)), shown
one, all_ = json.load(open("singles.json")), json.load(open("batches.json"))
# One picture at a time or many: each processor has its own order of sums, which may move a pixel by one of 255.
assert abs(one["scores"]["fd-random84"] / all_["scores"]["fd-random84"] - 1) < 1e-3, (one, all_)
assert abs(one["scores"]["copies"] - all_["scores"]["copies"]) <= 2000 and one["model_ns"]["p50"] > 0, (one, all_)
grids = [open(name, "rb").read()[:24] for name in ("grid.png", "again.png")]
assert grids[0] == grids[1], "the sizes of both grids"
PY

# ---- no picture can be kept, or none is wanted; a new run with an old one's number
mkdir kept none
touch kept/run-1.pictures
brief="$train --no-stop --target 1000000 --set epochs=0.1"
"$DAWN" $brief --db kept/results.db >kept.txt 2>kept.err
reads kept.err 'no pictures of run 1 are kept: .*run-1.pictures'
[ "$(grep -c 'no pictures' kept.err)" = 1 ]
rm kept/run-1.pictures kept/results.db*
mkdir kept/run-1.pictures
touch kept/run-1.pictures/99999999.png
"$DAWN" $brief --db kept/results.db >kept.txt
[ ! -e kept/run-1.pictures/99999999.png ] && [ -n "$(ls kept/run-1.pictures)" ]
"$DAWN" $brief --db none/results.db --save '' >none.txt
[ ! -e none/run-1.pictures ]

# ---- the first WGAN: the critic's parameters stay within bounds
mkdir clip
"$DAWN" $train --set optimiser.rule=rmsprop --set critic.penalty=0 --set critic.clip=0.02 --set epochs=0.5 --no-stop \
    --target 1000000 --db clip/results.db >clip.txt
python3 - <<'PY'
import json, struct
bytes_ = open("clip/run-1.safetensors", "rb").read()
size = struct.unpack("<Q", bytes_[:8])[0]
names = {n: t for n, t in json.loads(bytes_[8:8 + size]).items() if n.startswith("critic.")}
assert len(names) == 8, names
for n, t in names.items():
    at, end = (8 + size + o for o in t["data_offsets"])
    most = max(map(abs, struct.unpack("<%df" % ((end - at) // 4), bytes_[at:end])))
    assert most <= 0.02 + 1e-8 and (most > 0.0199 or n == "critic.dense.bias"), (n, most)
PY

# ---- faults
says 2 'critic.clip' "$DAWN" $train --set critic.penalty=0
says 2 'label_smoothing": it must be 0' "$DAWN" $train --set label_smoothing=0.1
says 2 'task wgan-mnist answers no questions' "$DAWN" infer wgan-mnist --ask words --threads 1
says 2 'task wgan-mnist takes no photograph' "$DAWN" infer wgan-mnist photo.jpg --threads 1
says 1 'no/such' "$DAWN" infer wgan-mnist --threads 1 -o no/such/grid.png

# What an evaluation lacks is said before the first step: no run began.
python3 - <<'PY'
import os, struct
os.mkdir("mnist")
for split, count in (("train", 640), ("t10k", 100)):
    with open("mnist/%s-images-idx3-ubyte" % split, "wb") as f: f.write(struct.pack(">4I", 2051, count, 28, 28) + bytes(784 * count))
    with open("mnist/%s-labels-idx1-ubyte" % split, "wb") as f: f.write(struct.pack(">2I", 2049, count) + bytes(count))
PY
says 1 'lenet.pth is missing' "$DAWN" train wgan-mnist --data ./mnist --threads 1 --set epochs=1 --db lacking.db
lacks out 'epoch'
lacks err 'epoch 1'

# The LeNet of drawn digits has random weights, and their distance a name of its own.
reads log.txt fd-random84
lacks log.txt '[lL]e[nN]et84'
"$DAWN" eval baselines wgan-mnist --data mnist-drawn >baselines.txt
reads baselines.txt fd-random84

# ---- planned without data; killed and resumed
"$DAWN" plan wgan-mnist --on h200 >plan.txt
reads plan.txt 'H200|h200'
reads plan.txt '782,306'
train="$train --no-stop --set epochs=1 --set evaluation.every=0.5 --target 0.001"
mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt || [ $? = 3 ]
resumes "0 3" 7 $train
diff -r straight/run-1.pictures killed/run-1.pictures
