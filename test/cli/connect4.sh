#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A narrow network plays Connect Four against itself and makes fewer mistakes from evaluation to evaluation. Killed and resumed, with
# half-searched games, the training ends with the same bytes. Two processes with two slices agree with one. Wrong settings: one
# sentence each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

train="train connect4 --data connect4-drawn --threads 1 --no-stop --target 0.99"
mkdir straight
"$DAWN" $train --db straight/results.db >log.txt
reads log.txt SYNTHETIC
"$DAWN" results export 1 --db straight/results.db --format json --to run.json
python3 - <<'PY'
import json
points = json.load(open("run.json"))["runs"][0]["points"]
scores = [p["scores"][0]["score"] for p in points if p.get("scores")]
losses = [{l["name"] for l in p["losses"]} for p in points]
assert all(l == {"policy", "value"} for l in losses), losses
assert len(scores) == 4 and scores[-1] < scores[0] and scores[-1] < 580000, scores  # a random move: 67%, the centre-most: 55%
PY
resumes "0" 10 $train
"$DAWN" plan connect4 --threads 1 >plan.txt
reads plan.txt 'alphazero, 76,986 parameters, 6.26 MFLOP'
reads plan.txt 'batch 64, play  *401 M'
reads plan.txt '^  in all, at most  *[0-9.]+ T$'
"$DAWN" profile connect4 --data connect4-drawn --threads 1 --no-measure --seconds 0.1 --json >profile.json
holds profile.json '[p["name"] for p in o["between"]] == ["play"]' '1 < o["between"][0]["runs"] < 10 < o["between"][0]["flops"]'

# ---- leaves in flight by virtual losses; a tree of its own for each of two games
"$DAWN" $train --set search.leaves=4 --set games.parallel=2 --set games.first=30 --set epochs=0.2 --db few.db >few.txt

says 2 '"games.parallel" must be even' "$DAWN" $train --set games.parallel=3
says 2 'games have no "loss.label_smoothing"' "$DAWN" $train --set label_smoothing=0.1
