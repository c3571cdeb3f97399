#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tasks that stream their samples, on one process and on two: each takes its slices of every batch and its batches of the
# evaluation. Outputs that the host judges (answers) reach all processes. Weights, losses and scores are the same, byte for byte.
# So are a task's that decides what runs (test/second/driven.c), where its test was built.
set -eu
. "$ROOT/test/mpi.sh"

same() { # NAME TRAINING...; where may_miss is 3, the target may be missed
    local name=$1
    shift
    mkdir "$name"
    "$DAWN" train "$@" --db "$name/1.db" --save "$name/1.safetensors" >"$name/1.txt" || [ $? = "${may_miss:-0}" ]
    mpirun -n 2 "$DAWN" train "$@" --db "$name/2.db" --save "$name/2.safetensors" >"$name/2.txt" || [ $? = "${may_miss:-0}" ]
    cmp "$name/1.safetensors" "$name/2.safetensors"
    for n in 1 2; do "$DAWN" results export --db "$name/$n.db" --format json --to "$name/$n.json"; done
    python3 - "$name" <<'PY'
import json, sys
one, two = (json.load(open(f"{sys.argv[1]}/{n}.json"))["runs"][0] for n in (1, 2))
points = [[(p["step"], p["samples"], p["loss_micro"], p.get("scores")) for p in run["points"]] for run in (one, two)]
assert points[0] == points[1] and points[0][-1][3], points
assert len(two["places"]) == 2 and not one["places"]
PY
}

# One epoch and the beginning of the next, of another order, wherever that is all that a task needs to reach its target.
slices="--threads 1 --no-stop --set data.slices=2"
same pictures imagenette --data pictures $slices --set widths=4,4,8,8 --set resolution=32 --set evaluation.side=32 --set epochs=2 \
    --set warmup_epochs=0.2 --target 0.001
same stories squad --data stories $slices --set epochs=0.1 --set warmup_epochs=0.05 --target 0.0001
same articles wiki-mlm --data articles $slices --set epochs=1.2 --set warmup_epochs=0.2 --set short_epochs=1 --set dropout=0.1 \
    --target 0.001
same phrases multi30k --data phrases $slices --set epochs=1.1 --set warmup_epochs=0.2 --target 0.01
same cells bccd --data cells $slices --set epochs=2 --set zoom=0.7,1.4 --target 0.0001
same people pennfudan --data people $slices --set epochs=2 --set zoom=0.7,1.4 --target 0.0001
same lines gpt-char --data lines $slices --set epochs=1 --set warmup_epochs=0.2 --set dropout=0.1 --target 5
same digits wgan-mnist --data mnist-drawn $slices --set epochs=1 --target 1000
same chords an4 --data chords $slices --set epochs=1.1 --set warmup_epochs=0.5 --set tempo=0.1 --set stretches=1 --target 1
same games connect4 --data connect4-drawn $slices --set epochs=3 --target 0.99
may_miss=3 same stones minigo-9 --data minigo-9-drawn $slices --set epochs=1 --set games.first=200 --target 0.01

driven=$(dirname "$FAULT")/unit/tasks/test_driven
if [ -x "$driven" ]; then
    "$driven" one.bin
    mpirun -n 2 "$driven" two.bin
    [ -s one.bin ] && cmp one.bin two.bin
fi
