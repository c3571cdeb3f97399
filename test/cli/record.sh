#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dawn record as a competitor meets it: a real trainer in another language, MLPerf's lines, groups; then programs that
# crash, hang, lie, print nothing or too much. In every case the record opens and says how the program ended.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/status.sh"
trap 'kill -9 $(cat pid 2>/dev/null) 2>/dev/null || true' EXIT

# said STATUS PATTERN COMMAND...: exits so, and stderr matches
said() {
    local want=$1 pattern=$2 got=0
    shift 2
    "$@" >out 2>err || got=$?
    if [ "$got" != "$want" ] || ! grep -qE -- "$pattern" err; then
        echo "wanted status $want and a line like \"$pattern\", got $got from: $*"
        cat out err
        exit 1
    fi
}
record() { # STATUS PATTERN SCRIPT [OPTIONS]: a script of the shell as the program
    local want=$1 pattern=$2 script=$3
    shift 3
    said "$want" "$pattern" "$DAWN" record "$@" -- sh -c "$script"
}
facts() { # EXPRESSION of the last run as `r`
    "$DAWN" results export --format json >all.json
    python3 -c 'import json, sys
d = json.load(open("all.json")); r = d["runs"][-1]
p = r["points"]; ok = eval(sys.argv[1]); ok or sys.exit("%s\n%s" % (sys.argv[1], json.dumps(r, indent=1)))' "$1"
}
epoch() { # NUMBER CORRECT
    echo "echo '{\"dawn\":\"epoch\",\"epoch\":$1,\"correct\":$2,\"items\":10000}';"
}

# ---- a real trainer: its output comes through, its run is whole
said 0 '^dawn record: run 1 in results.db: done, 4 epochs in .*; 60.00% met in epoch [12] after .*; self-evaluated$' \
    "$DAWN" record -t 0.6 --seed 7 --cost-per-hour 3 -- python3 "$ROOT/test/cli/record_trainer.py" '{seed}'
[ "$(grep -c '"dawn": "epoch"' out)" = 4 ]
[ "$(grep -c '^epoch . for people$' err)" = 4 ]
[ "$(wc -l <err)" = 5 ]
"$DAWN" results show 1 >shown
grep -q 'self-evaluated' shown
grep -q 'perceptron' shown
facts 'r["model"] == "perceptron" and r["parameters"] == 8 and r["flops_per_sample"] == 16 and r["precision"] == "f64"'
facts 'r["outside"] == {"command": r["outside"]["command"], "framework": "Python", "devices": 1} and r["device"] == "outside"'
facts 'r["seed"] == 7 and r["recipe"] == "outside" and json.loads(r["recipe_json"])["command"][-1] == "{seed}"'
facts '[(x["step"], x["epoch_micro"]) for x in p] == [(n, n * 10**6) for n in (1, 2, 3, 4)] and [x["samples"] for x in p] == [400, 800, 1200, 1600]'
facts 'r["status"] == "done" and r["official"] == 0 and r["synthetic"] == 0 and r["data_sets"] == []'
facts 'r["weights_digest"] == "ab" * 32'
facts 'all(a["end_ns"] == b["start_ns"] for a, b in zip(r["segments"], r["segments"][1:])) and r["segments"][0]["start_ns"] == 0'
facts '{s["segment"] for s in r["segments"]} == {"init", "train", "evaluate"}'
facts 'p[3]["warm_ns"] < p[3]["classic_ns"] < p[3]["t_ns"]'
facts 'r["peak_memory_bytes"] > 4 << 20 and r["price_source"] == "user" and r["reached_ns"] == p[r["reached_step"] - 1]["t_ns"]'

# ---- a group: a seed each; the target of the mean
said 0 'group 1: 3 of 3 runs; mean ' \
    "$DAWN" record -t 0.6 -n 3 -s 20 --gpu "8 x Accelerator" --devices 8 -- python3 "$ROOT/test/cli/record_trainer.py" '{seed}'
facts '[x["seed"] for x in d["runs"][1:]] == [20, 21, 22] and [x["group_index"] for x in d["runs"][1:]] == [1, 2, 3]'
facts 'r["machine_facts"]["gpu"] == "8 x Accelerator" and r["outside"]["devices"] == 8'
facts 'len({x["recipe_digest"] for x in d["runs"]}) == 1'
record 3 'the mean score of 50.00% is below the target of 94.00%' "$(epoch 1 5000)" -n 2
record 1 'exit status 5' "$(epoch 1 9999) exit 5" -n 2
facts 'r["status"] == "failed" and d["groups"][-1]["status"] == "interrupted"'
"$DAWN" results list >list
reads list 'group 1: 3 of 3 runs \(2 to 4\); an official group has at least 5 runs; self-evaluated '
grep -q '^ *2 *g1 .* +$' list
"$DAWN" results list --tag nope >list2
lacks list2 'group'
grep -q '^+ self-evaluated: ' list
"$DAWN" results compare g1 g2 | grep -q '^ *evaluated  *self-evaluated  *self-evaluated$'
grep -q '^group 3: 0 of 2 runs (run 7); ' list

# ---- MLPerf's lines, counted from 0, with a rank in front and words in between; the times are ours
cat >mlperf.sh <<'SH'
echo ':::MLLOG {"namespace": "", "time_ms": 1, "key": "run_start", "value": null, "metadata": {}}'
sleep 0.1
for e in 0 1; do
    echo "step 1 of 2"
    echo '0: :::MLLOG {"time_ms": 1, "key": "eval_start", "value": null, "metadata": {"epoch_num": '$e'}}'
    sleep 0.1
    echo '0: :::MLLOG {"key": "eval_accuracy", "value": 0.93'$e'9, "metadata": {"epoch_num": '$e', "samples_count": 50000}}' >&2
    sleep 0.1
    echo ':::MLLOG {"key": "eval_acc' # torn
done
echo ':::MLLOG {"time_ms": 1, "key": "run_stop", "value": null, "metadata": {"status": "success"}}'
SH
said 3 'the score of 93.19% is below the target of 94.00%' "$DAWN" record --model "a b" --framework TF -q -- sh mlperf.sh
"$DAWN" results show >shown
grep -Eq '^  how +outside - (batch|seed) ' shown # no "unknown" for what the trainer did not say
[ "$(grep -c dawn err)" = 1 ] # --quiet: only why it failed
facts '[(x["step"], x["scores"][0]["score"]) for x in p] == [(1, 9309), (2, 9319)] and r["status"] == "missed" and r["model"] == "a b"'
facts '{"init", "train", "evaluate"} <= {s["segment"] for s in r["segments"]} and r["outside"]["framework"] == "TF"'

# ---- a program that counts its steps may evaluate anywhere
step() { # STEP EPOCH CORRECT
    echo "echo '{\"dawn\":\"epoch\",\"step\":$1,\"epoch\":$2,\"correct\":$3,\"items\":10000}'; sleep 0.05;"
}
record 0 'run .* done, 3 epochs in' "$(step 120 0.25 5000) $(step 240 0.5 9000) $(step 480 1 9500)"
facts '[(x["step"], x["epoch_micro"]) for x in p] == [(120, 250000), (240, 500000), (480, 1000000)] and r["reached_step"] == 480'
"$DAWN" results show last | grep -q 'reached  *at epoch 1, step 480'
"$DAWN" results verify last

# ---- without a segment all is training: no clock leaves anything out
record 3 'run .* missed, 1 epoch in' "$(epoch 1 9399)"
facts 'p[0]["t_ns"] == p[0]["classic_ns"] == p[0]["warm_ns"] and {s["segment"] for s in r["segments"]} == {"train"}'
record 0 'met in epoch 1' "$(epoch 1 9400) $(epoch 2 9400)" # exactly at the target; two lines in one read
facts 'p[1]["t_ns"] > p[0]["t_ns"] and r["status"] == "done" and r["reached_step"] == 1'
record 3 'missed' "$(epoch 1 9400) $(epoch 2 9399)" # the last evaluation decides
facts 'r["reached_step"] == 1 and r["status"] == "missed"'
record 3 'no evaluation' "echo '{\"dawn\":\"epoch\",\"epoch\":1}'"
record 0 'done' "printf '{\"dawn\":\"epoch\",\"epoch\":1,\"score\":0.95}'" # no end of line
record 0 'F1 0.7500; 0.7500 met in epoch 1' "echo '{\"dawn\":\"epoch\",\"epoch\":1,\"score\":0.75}'" --task squad

# ---- --stop ends it, gently
record 0 '^told to stop$' "trap 'echo told to stop >&2; exit 9' TERM; $(epoch 1 9400) sleep 60 & wait" --stop
facts 'r["status"] == "done" and r["stop_at_target"] == 1 and len(p) == 1'

# ---- what it gets
record 0 'done' "[ \"\$PYTHONUNBUFFERED\$DAWN_SEED\" = 15 ] && $(epoch 1 9400)" -s 5
echo given >input
"$DAWN" record -q -- sh -c "cat; $(epoch 1 9400)" <input >out
grep -qx given out
PYTHONUNBUFFERED=0 DAWN_SEED=9 record 0 'done' \
    "[ \$(env | grep -c -e ^DAWN_SEED= -e ^PYTHONUNBUFFERED=) = 2 ] && [ \$DAWN_SEED = 1 ] && $(epoch 1 9400)"

# ---- bytes of any kind, and lines of any length, pass through unchanged
python3 -c '
import random
noise = random.Random(1).randbytes(300000)
open("noise", "wb").write(noise)
open("long", "wb").write(noise.replace(b"\n", b"").replace(b"\r", b""))'
epoch 1 9400 >say.sh
echo 'cat noise; echo; cat long; echo; . ./say.sh; cat noise >&2; printf {; cat long' >noisy.sh
"$DAWN" record -q -- sh -c '. ./noisy.sh' >out 2>err
sh noisy.sh >out2 2>err2
cmp out out2
cmp err err2
facts 'r["status"] == "done" and len(p) == 1'
said 0 'done' "$DAWN" record -- sh -c "exec 2>&1; $(epoch 1 9400) cat long" # a reader that goes away is no error
"$DAWN" record -- sh -c "yes | head -c 200000; $(epoch 1 9400) $(epoch 2 9500)" 2>err | head -c 1 >out
facts 'len(p) == 2 and r["status"] == "done"'
record 0 'done' "yes | head -n 1; $(epoch 1 9400)" # our being deaf to SIGPIPE is not inherited
lacks err Broken
if [ -c /dev/full ]; then
    rc=0
    "$DAWN" record -- sh -c "$(epoch 1 9400)" >/dev/full 2>err || rc=$?
    [ "$rc" = 1 ]
    grep -q "cannot pass on all of the command's output: No space left" err
    facts 'len(p) == 1 and r["status"] == "done"'
fi

# ---- lines that claim the impossible end the run, and name themselves
wrong() { # PATTERN LINE...
    local pattern=$1
    shift
    printf '%s\n' "$@" >lines
    record 1 "^dawn record: line [0-9]+ of the command's standard output: .*$pattern" "cat lines; exec sleep 60"
    facts 'r["status"] == "failed" and "line " in r["message"]'
}
one='{"dawn":"epoch","epoch":1,"correct":9000,"items":10000,"samples":50000}'
wrong 'epoch 1 comes after epoch 1' "$one" "$one"
facts 'len(p) == 1' # earlier facts stay
wrong 'epoch 2 comes after epoch 3' '{"dawn":"epoch","epoch":3}' '{"dawn":"epoch","epoch":2}'
wrong 'at most 10000, the number of items; got 10001' '{"dawn":"epoch","epoch":1,"correct":10001,"items":10000}'
wrong 'must be 10000, as many as the contest has; got 100' '{"dawn":"epoch","epoch":1,"correct":90,"items":100}'
wrong 'divide a percentage by 100' words '{"dawn":"epoch","epoch":1,"score":94.1}'
wrong '40000 samples come after 50000' "$one" '{"dawn":"epoch","epoch":2,"samples":40000}'
wrong 'not valid JSON' '{"dawn":"epoch","epoch":1,"loss":NaN}'
wrong 'must be 1, the seed of this run .*; got 3' '{"dawn":"about","seed":3}'
wrong 'after its first epoch' "$one" '{"dawn":"about","model":"larger"}'
# A name that is cut off within a letter, and control characters: the record must stay valid.
word=$(printf 'a%.0s' $(seq 79))
wrong "no member \"$word" "{\"dawn\":\"epoch\",\"${word}é\":1}"
wrong 'no member ".*31m' '{"dawn":"epoch","\u001b[31m":1}'
facts '"\x1b" not in r["message"]'
wrong 'no segment "pause"' '{"dawn":"segment","segment":"pause"}'
record 1 "line 2 of the command's standard error: .*not valid" "echo a >&2; echo '{\"dawn\"' >&2"

# ---- it says nothing, crashes, cannot be started
record 1 'the command reported no epoch; docs/record.md' 'echo 94%'
facts 'r["status"] == "failed" and p == []'
record 1 'ended with exit status 7' "$(epoch 1 9500) exit 7"
facts 'r["status"] == "failed" and r["reached_step"] == 1 and r["message"] == "the command ended with exit status 7"'
record 1 'ended by signal 9 \(Killed\)' 'kill -9 $$'
facts 'r["status"] == "failed"'
runs=$("$DAWN" results list | wc -l)
said 1 '^dawn record: there is no command "nosuch"$' "$DAWN" record -- nosuch
said 1 '^dawn record: there is no command "nosuch"$' "$DAWN" record --db none.db --runs 3 -- nosuch
said 2 '"cifar10" is a task, not a command: write "dawn record --task cifar10 -- COMMAND"$' \
    "$DAWN" record --db none.db cifar10 --runs 2 -- python3 tr.py
[ "$(wc -l <err)" = 1 ] && [ ! -e none.db ] # and no group without a run stays behind
said 1 "^dawn record: cannot start \"./noise\": Permission denied$" "$DAWN" record -- ./noise
[ "$("$DAWN" results list | wc -l)" = "$runs" ]

# ---- it leaves a process behind that holds its output: dawn does not wait for that
record 0 'done' "$(epoch 1 9400) sleep 600 & echo \$! >pid"
if grep -q '^State:.*Z' "/proc/$(cat pid)/status"; then exit 1; fi # it is still there
kill "$(cat pid)"
rm pid

# ---- signals go to all of it; a second one is not asked about
start() { # ARGUMENTS of dawn record: in the background; no line of an earlier one is read
    : >out
    "$DAWN" record "$@" >out 2>err &
    dawn=$!
}
await() { wait_line $dawn out "^$1\$" || { cat err; exit 1; }; }
gone() { # the process in pid has ended
    wait_for ended "$(cat pid)"
    rm pid
}
end_of() { rc=0; wait "$1" || rc=$?; }
start -- sh -c "$(epoch 1 9400) (trap 'echo worker stops; exit' TERM; echo ready; sleep 60 & wait) & wait"
await ready
kill -TERM $dawn
end_of $dawn
[ "$rc" = 130 ]
grep -q 'stopped by a signal after 1 epoch;' err
grep -q '^worker stops$' out
facts 'r["status"] == "interrupted" and len(p) == 1 and r["message"].startswith("stopped by a signal")'
start -- sh -c "trap 'echo no' TERM INT; echo ready; while :; do sleep 0.1; done"
await ready
kill -TERM $dawn
await no
kill -INT $dawn
end_of $dawn
[ "$rc" = 130 ]
facts 'r["status"] == "interrupted" and p == []'

start -- sh -c "(trap '' TERM; until [ -s pid ]; do sleep 0.01; done; echo ready; exec sleep 60 >/dev/null 2>&1) & echo \$! >pid; wait"
await ready
kill -TERM $dawn
end_of $dawn
[ "$rc" = 130 ]
gone # a process that ignores signals is killed in the end

# ---- TensorBoard's event files, written by hand: scalars of both forms, a record in two parts, a file of before
mkdir -p runs/a
cat >events.py <<'PYTHON'
import os, struct, sys, time
def crc(data):
    c = 0xffffffff
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    c ^= 0xffffffff
    return struct.pack("<I", ((c >> 15 | c << 17) + 0xa282ead8) & 0xffffffff)
assert crc(b"123456789") == struct.pack("<I", ((0xe3069283 >> 15 | 0xe3069283 << 17) + 0xa282ead8) & 0xffffffff)
def varint(n): return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
def text(number, data): return varint(number << 3 | 2) + varint(len(data)) + data
def event(step, tag, value, tensor):
    held = text(8, b"\x08\x01" + text(4, struct.pack("<f", value))) if tensor else b"\x15" + struct.pack("<f", value)
    data = b"\x09" + struct.pack("<d", time.time()) + b"\x10" + varint(step) + text(5, text(1, text(1, tag) + held))
    head = struct.pack("<Q", len(data))
    return head + crc(head) + data + crc(data)
path = sys.argv[1]
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "ab", 0) as f:
    for step, score in enumerate((.5, .9412)):
        time.sleep(0.3)
        f.write(event(step, b"train/loss", 2 - step, False))
        data = event(step, b"val/acc", score, step == 1)
        f.write(data[:20]); time.sleep(0.3); f.write(data[20:])
    if len(sys.argv) > 2: f.write(b"no record at all")
PYTHON
python3 events.py runs/a/events.out.tfevents.0.old
tensorboard="--tensorboard runs --score val/acc --loss train/loss"
said 0 'run .* done, 2 epochs' "$DAWN" record $tensorboard -- python3 events.py runs/b/c/events.out.tfevents.1.new
facts '[x["scores"][0]["score"] for x in p] == [5000, 9412] and [x["loss_micro"] for x in p] == [2000000, 1000000]'
facts '[x["step"] for x in p] == [1, 2] and p[1]["t_ns"] - p[0]["t_ns"] > 3e8'
said 1 'run .* failed' "$DAWN" record $tensorboard -- python3 events.py runs/b/events.out.tfevents.2.bad more
grep -q 'events.out.tfevents.2.bad: a record.s length does not have its checksum' err
echo text >a.txt
expect 2 'tensorboard needs a folder; a.txt is a file' "$DAWN" record --tensorboard a.txt --score val/acc -- true
said 1 'no event file with a scalar "val/acc" was written below nowhere' "$DAWN" record --tensorboard nowhere --score val/acc -- true
said 2 'needs --score TAG' "$DAWN" record --tensorboard runs -- true

# ---- dawn itself is killed: the run left its trace, and the program has gone with it
start -- sh -c "echo \$\$ >pid; $(epoch 1 9400) echo ready; exec sleep 60"
await ready
has_point() { "$DAWN" results show last | grep ' 9,400 of'; }
wait_for has_point # words come through first
kill -9 $dawn
end_of $dawn 2>err
gone
facts 'r["status"] == "interrupted" and len(p) == 1 and r["outside"]["devices"] == 1'
facts 'r["segments"][-1]["end_ns"] == p[0]["t_ns"]'

# ---- any command can be submitted: the record holds it in plain ASCII
said 0 'run .* done, 1 epoch' "$DAWN" record -- env LAB="Café $(printf '\342\200\256')" sh -c "$(epoch 1 9400)"
facts 'r["recipe_json"].isascii() and json.loads(r["recipe_json"])["command"][1] == "LAB=Caf\u00e9 \u202e"'

# ---- the manual's lines are valid, and its program runs
grep -E '^\{"dawn":"about"' "$ROOT/docs/record.md" >lines # before the first epoch, as it says
grep -E '^(\{"dawn":"[^a]|:::MLLOG)' "$ROOT/docs/record.md" >>lines
record 0 'run .* done, 4 epochs' 'cat lines'
facts '[x.get("scores", [{}])[0].get("score") for x in p] == [7312, None, 9412, 9437] and r["model"] == "ResNet-9" and r["views"] == 2'
sed -n '/^```python$/,/^```$/p' "$ROOT/docs/record.md" | grep -v '^```' >example.py
python3 -m py_compile example.py

# ---- wrong usage
said 2 'expected a command after --' "$DAWN" record
said 2 'expected a command after --' "$DAWN" record --
said 2 'no task "cifar1"; did you mean "cifar10"' "$DAWN" record --task cifar1 -- true
said 2 'no task "go" ."dawn models" lists them' "$DAWN" record --task go -- true
said 2 'board "demo" is for synthetic data' "$DAWN" record --task demo -- true
said 2 'write 94 as 0.94' "$DAWN" record -t 94 -- true
said 2 '--stop is for a single run' "$DAWN" record --stop -n 5 -- true
said 2 '--model must have 1 to 96 bytes; got 0' "$DAWN" record --model '' -- true
said 2 '--framework cannot be shown' "$DAWN" record --framework $'a\tb' -- true
said 2 'not valid UTF-8' "$DAWN" record -- echo $'\xff'
said 2 'exclude each other' "$DAWN" record --instance c7i.large --cost-per-hour 1 -- true
said 1 'noise' "$DAWN" record --db noise -- true
