#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A training that is killed at random moments and resumed ends with the weights, byte for byte, of one that was never stopped;
# its record is one run with one chain. Then everything that cannot be resumed: one sentence, and the record as it was.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/status.sh"

# 60 steps in an epoch and a half; one thread, so that a busy machine is slow but not slower than that.
train="train cifar10 --data synthetic --set widths=8,8,16 --batch 250 --set epochs=1.5 --set views=1 --threads 1 --seed 5
    --target 0.001 --no-stop"

# The state was written again, or the training is over. The file is put in place by a rename: its inode changes.
moved() { [ "$(stat -c %i.%Y run-1.state 2>/dev/null)" != "$1" ] || ended "$2"; }

mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt

# ---- killed at random moments, in the middle of steps, states and evaluations, until it is done
touch run-1.state.0123.part # as a process killed while it wrote would leave it
"$DAWN" $train --checkpoint-every 3 --db results.db >log.txt 2>&1 &
pid=$! killed=0 again=0
while :; do
    wait_for moved "$(stat -c %i.%Y run-1.state 2>/dev/null || true)" "$pid"
    sleep "$(printf 0.%02d $((RANDOM % 15)))"
    [ "$killed" = 3 ] || kill -KILL "$pid" 2>/dev/null || true
    rc=0
    wait "$pid" 2>/dev/null || rc=$?
    if [ "$rc" = 0 ] && [ "$killed" = 0 ] && [ "$again" -lt 5 ]; then # this shell slept for as long as it trained
        again=$((again + 1))
        rm -f results.db run-1.*
        "$DAWN" $train --checkpoint-every 3 --db results.db >log.txt 2>&1 &
        pid=$!
        continue
    fi
    [ "$rc" = 137 ] || break
    # Killed between its last row and its exit, it is done, and its state may be left.
    if "$DAWN" results list --db results.db | grep -q ' done '; then rm -f run-1.state; rc=0; break; fi
    killed=$((killed + 1))
    "$DAWN" train --resume 1 --db results.db >log.txt 2>&1 &
    pid=$!
done
[ "$rc" = 0 ] || { cat log.txt; exit 1; }
[ "$killed" -ge 1 ] || { echo "nothing was killed"; exit 1; }
cmp run-1.safetensors straight/run-1.safetensors
if ls run-1.state.*.part 2>/dev/null; then echo "a half-written state is still there"; exit 1; fi
if [ -e run-1.state ]; then echo "the state of a run that has ended is still there"; exit 1; fi
"$DAWN" results show 1 --db results.db >show.txt
grep -q "resumed  *$killed time" show.txt
grep -q "away" show.txt
"$DAWN" results export --db results.db --format json --to run.json
"$DAWN" results export --db straight/results.db --format json --to straight.json
python3 - <<'PY'
import json
run, straight = (json.load(open(name))["runs"][0] for name in ("run.json", "straight.json"))
points = [[(p["step"], p["samples"], p["loss_micro"]) for p in r["points"]] for r in (run, straight)]
assert points[0] == points[1] and len(points[0]) == 2, points
at = 0
for s in run["segments"]:
    assert s["start_ns"] == at, s
    at = s["end_ns"]
assert run["points"][-1]["t_ns"] <= at
PY

# ---- a signal leaves a state as well; the wait in between counts in the end-to-end clock alone
# A shell that gets no processor for as long as the training takes signals too late: then it is tried again.
cp results.db start.db
for try in 1 2 3 4 5; do
    "$DAWN" $train --checkpoint-every 10min --db ./results.db --json >log.txt 2>err.txt &
    pid=$!
    wait_line "$pid" log.txt '"event": *"start"'
    kill -INT "$pid" 2>/dev/null || true
    rc=0
    wait "$pid" || rc=$?
    [ "$rc" = 0 ] || break
    cp start.db results.db
    rm -f run-2.*
done
[ "$rc" = 130 ] || { cat log.txt err.txt; exit 1; }
grep -q "dawn train --resume 2 --db ./results.db\" continues it" err.txt
[ -e run-2.state ]
cp results.db before.db

# ---- runs that cannot be resumed
says 1 "there is no none.db" "$DAWN" train --resume 1 --db none.db
if [ -e none.db ]; then echo "a record was made"; exit 1; fi
says 2 "run 1 is done: only an interrupted or failed one" "$DAWN" train --resume 1 --db results.db
says 2 "no run 9" "$DAWN" train --resume 9 --db results.db
says 2 "a resumed run keeps its task" "$DAWN" train --resume 2 --threads 2 --db results.db
says 2 "do not name one" "$DAWN" train cifar10 --resume 2 --db results.db
says 2 'got "10 min"' "$DAWN" $train --checkpoint-every "10 min" --db results.db
says 2 'got "0"' "$DAWN" $train --checkpoint-every 0 --db results.db
says 2 "is for one run" "$DAWN" $train --checkpoint-every 5 --runs 2 --db results.db
mv run-2.state kept.state
says 1 "there is no .*run-2.state" "$DAWN" train --resume 2 --db results.db
head -c 3000 kept.state >run-2.state
says 1 "cut short" "$DAWN" train --resume 2 --db results.db
# edited FROM TO: the state with another text in its header, and a digest that fits
edited() {
    python3 - "$1" "$2" <<'PY'
import hashlib, struct, sys
old, new = (a.encode() for a in sys.argv[1:])
b = open("kept.state", "rb").read()
n = struct.unpack("<Q", b[16:24])[0]
head = b[24:24 + n]
assert old in head, head
head = head.replace(old, new)
b = b[:16] + struct.pack("<Q", len(head)) + head + b[24 + n:-32]
open("run-2.state", "wb").write(b + hashlib.sha256(b).digest())
PY
}
edited '"program":"' '"program":"9'
says 1 "was written by dawn 9.*the bytes may differ" "$DAWN" train --resume 2 --db results.db
edited '"task":"cifar10"' '"task":"chess"'
says 1 "the state of another training" "$DAWN" train --resume 2 --db results.db
edited '"seed":5' '"seed":6'
says 1 "the state of another training" "$DAWN" train --resume 2 --db results.db
cmp results.db before.db # up to here nothing was changed
edited '"data":"synthetic"' '"data":"cifar10"' # refused while it is made ready, and by the state itself
DAWN_DATA=$PWD/none says 1 "none" "$DAWN" train --resume 2 --db results.db
"$DAWN" results show 2 --db results.db | grep -q interrupted
edited '"train_digest":"' '"train_digest":"0'
says 1 "is of other data: the train split" "$DAWN" train --resume 2 --db results.db --json
"$DAWN" results show 2 --db results.db | grep -q "failed"
cp kept.state straight/run-1.state
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("straight/results.db")
db.execute("UPDATE runs SET status = 'interrupted'")
db.commit()
PY
says 1 "is the state of another run" "$DAWN" train --resume 1 --db straight/results.db

# ---- and it goes on after all that, to the same bytes
mv kept.state run-2.state
sleep 1.1
"$DAWN" results show 2 --db results.db | grep -q "failed" # as after a full disk
"$DAWN" train --resume last --db results.db >log.txt
grep -Eq "^run 2( continues after step [0-9]+ of 60)?$" log.txt
cmp run-2.safetensors straight/run-1.safetensors
"$DAWN" results export --db results.db --format json --to run.json
python3 - <<'PY'
import json
run = json.load(open("run.json"))["runs"][1]
assert run["resumed"] == 3 and run["status"] == "done", run
away = sum(s["end_ns"] - s["start_ns"] for s in run["segments"] if s["segment"] == "away")
assert away > 1e9, run["segments"]
last = run["points"][-1]
assert last["t_ns"] - last["classic_ns"] >= away, last
PY
