#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dawn train as a user meets it: a small run, its record, its files; then every wrong input. Each gives
# one sentence and the right exit status, and does not change the record.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/status.sh"

quick="--data synthetic --set widths=16,16,16 --batch 50 --set epochs=0.05 --set views=1 --set evaluate_every=0"

# ---- a run and its record
"$DAWN" train cifar10 $quick --target 0.001 --seed 5 >plain.txt
grep -q SYNTHETIC plain.txt
grep -q "^done" plain.txt
lacks plain.txt $'\r'
test -f results.db
test -f run-1.safetensors
# The recipe's digest can be checked with the text that a statement publishes, which has no blanks between its words.
"$DAWN" results export --format json --to run.json
python3 - <<'PY'
import hashlib, json
run = json.load(open("run.json"))["runs"][0]
text = run["recipe_json"]
assert "\n" not in text and '": ' not in text, text
assert hashlib.sha256(text.encode()).hexdigest() == run["recipe_digest"]
assert json.loads(text)["schedule"]["epochs"] == 0.05, text
PY
"$DAWN" results show 1 | grep -q SYNTHETIC
"$DAWN" infer cifar10 --latency --items 50 --warmup 5 --target 0.001 >infer.txt
grep -q "with preprocessing" infer.txt
grep -q SYNTHETIC infer.txt
"$DAWN" infer cifar10 --items 50 --warmup 0 --json --threads 1 --precision f32 | python3 -c 'import json,sys; o=json.load(sys.stdin); assert o["items"]==50 and o["eligible"] is False'
"$DAWN" train cifar10 $quick --target 0.001 --seed 5 --json --save "" >json.txt
holds json.txt '[line["event"] for line in o] == ["start", "epoch", "end"]' 'o[0]["synthetic"] is True and o[2]["status"] == "done"'
test ! -f run-2.safetensors

# ---- a long epoch into a file: lines before its end. The seconds that this takes pass while the training is stopped.
"$DAWN" train cifar10 --data synthetic --threads 1 --precision f32 --batch 50 --set widths=64,64,64 --save "" --db long.db >long.txt 2>&1 &
wait_line $! long.txt '^ *target '
kill -STOP $!
sleep 10
kill -CONT $!
WAIT_SECONDS=300 wait_line $! long.txt '^ *0[.][0-9]* .* step [0-9]*/[0-9]*, .* left$'
kill -9 $!

# ---- f16 with a scaled loss that overflows at first
"$DAWN" train cifar10 $quick --precision f16 --set loss_scale=1048576 --target 0.001 --save "" --db f16.db >f16.txt
grep -Eq '^loss scale [0-9]+ at the end; [1-9][0-9]* of 10 steps skipped' f16.txt

# ---- steps before the reset change nothing but the segment that they have
for seconds in 0 0.05; do
    "$DAWN" train cifar10 $quick --target 0.001 --threads 1 --seed 5 --warm-up $seconds --save warm.$seconds --db warm.db --quiet
    "$DAWN" results export last --db warm.db --format json --to warm.$seconds.json
done
cmp warm.0 warm.0.05
python3 - <<'PY2'
import json
plain, warm = (json.load(open(f"warm.{s}.json"))["runs"][0]["segments"] for s in ("0", "0.05"))
spent = lambda of: sum(s["end_ns"] - s["start_ns"] for s in of if s["segment"] == "warmup")
assert spent(plain) == 0 and spent(warm) >= 50e6, (plain, warm)
PY2
says 2 "for tasks whose steps the device computes alone" "$DAWN" train connect4 --data connect4-drawn --warm-up 1 --db warm.db
says 2 "keeps its task" "$DAWN" train --resume 1 --warm-up 1 --db warm.db

# ---- the target is missed: status 3, still recorded
says 3 "below the target" "$DAWN" train cifar10 $quick --target 1 --save ""
"$DAWN" results show 3 | grep -q missed

# ---- a group: all seeds, and no run stops early
says 2 'there is no option --stop' "$DAWN" train cifar10 $quick --runs 2 --stop # runs of a group go to their end
"$DAWN" train cifar10 $quick --target 0.001 --runs 2 --save "" >group.txt
grep -q "group 1: 2 of 2 runs" group.txt
grep -q synthetic group.txt

# ---- output that cannot be written is said, and costs nothing of the training
if [ -c /dev/full ]; then
    cp results.db full.db
    for target in 0.001 1; do
        rc=0
        "$DAWN" train cifar10 $quick --target $target --save "" --db full.db >/dev/full 2>err.txt || rc=$?
        [ $rc = $([ $target = 1 ] && echo 3 || echo 1) ] # missed, or not written
        grep -q '^dawn train: .*cannot write the output.*: No space left on device$' err.txt
        [ "$(wc -l <err.txt)" = 1 ]
    done
    "$DAWN" results list --db full.db --json >full.json
    holds full.json '[r["status"] for r in o][-2:] == ["done", "missed"]'
fi

# ---- a narrow terminal: parts are dropped, no figure is cut, no row wraps
cat >narrow.py <<'PYTHON'
import fcntl, os, re, struct, sys, termios
pid, terminal = os.forkpty()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[2], sys.argv[2:])
said = b""
while True:
    try:
        said += os.read(terminal, 65536)
    except OSError:
        break
assert os.waitpid(pid, 0)[1] == 0
lines = re.split("[\r\n]+", said.decode())
rows = [l for l in lines if re.match(r" *\d+\.\d\d +\d|  epoch ", l)]
assert len(rows) > 2 and all(len(l) <= int(sys.argv[1]) for l in rows), lines
live = [l for l in rows if "left" in l]
assert live and all(re.search(r", ([\d.]+ (us|ms|s)|\d+ min \d\d s) left$", l) for l in live), rows
assert ("[" in live[0]) == (int(sys.argv[1]) >= 80), live
PYTHON
for columns in 40 60 80; do # long enough on a fast machine, too: the live line is drawn four times per second
    python3 narrow.py $columns "$DAWN" train cifar10 $quick --set epochs=0.4 --target 0.001 --save "" --db narrow.db
done

# ---- options that make no sense on this machine
says 2 'instance: p3.2xlarge has 8 vCPU, 61 GiB, 1 x NVIDIA V100, but this machine' "$DAWN" train cifar10 $quick --instance p3.2xlarge --db p3.db
test ! -e p3.db
says 2 '--threads must be at most [0-9]*, the processors .* got 900' "$DAWN" train cifar10 $quick --threads 900
says 2 '--threads must be at most' "$DAWN" bench ops --threads 900
"$DAWN" plan cifar10 --no-measure --threads 900 --oversubscribe >plan.txt
"$DAWN" train cifar10 $quick --target 0.001 --save "" --db quiet.db --quiet >quiet.txt 2>&1
test ! -s quiet.txt

says 2 'one file' "$DAWN" train cifar10 $quick --runs 2 --save w.safetensors
says 2 "does not use such a file" "$DAWN" train cifar10 $quick --weights w.safetensors
mkdir elsewhere
"$DAWN" train cifar10 $quick --target 0.001 --db elsewhere/r.db --save here.safetensors >out.txt
"$DAWN" infer cifar10 --items 10 --warmup 0 --db elsewhere/r.db >out.txt

# One class whose weights are no numbers: 9 of 10 answers would still look like answers.
python3 - <<'PYTHON'
import json, struct
b = bytearray(open("run-1.safetensors", "rb").read())
n = struct.unpack("<Q", b[:8])[0]
head = json.loads(b[8:8 + n])["head.weight"]
begin, end = head["data_offsets"]
row = (end - begin) // head["shape"][0]
b[8 + n + begin + 3 * row:8 + n + begin + 4 * row] = struct.pack("<f", float("nan")) * (row // 4)
open("nan.safetensors", "wb").write(b)
PYTHON
says 1 "the network's output is not a number" "$DAWN" infer cifar10 --items 10 --warmup 0 --weights nan.safetensors --data synthetic
"$DAWN" infer cifar10 --weights run-1.safetensors --data synthetic --items 10 --warmup 0 --db none.db >out.txt # no record needed
test ! -e none.db
says 2 'trained with, and --set evaluation.views cannot' "$DAWN" infer cifar10 --run 1 --set evaluation.views=2
says 2 'and --recipe cannot' "$DAWN" infer cifar10 --weights run-1.safetensors --recipe resnet --data synthetic
cp run-1.safetensors kept.safetensors
cp here.safetensors run-1.safetensors # weights of another run under this one's name
says 1 'digests differ' "$DAWN" infer cifar10 --items 10 --run 1
mv kept.safetensors run-1.safetensors

# ---- paths of output are checked before hours of work; a record is never overwritten
says 1 'is a database' "$DAWN" train cifar10 $quick --save results.db
says 1 'nowhere/w.st' "$DAWN" train cifar10 $quick --save nowhere/w.st
says 1 'is a database' "$DAWN" results export --db results.db --to results.db
"$DAWN" results list | grep -q "group 1: 2 of 2 runs"

# ---- wrong usage
says 2 'null device' "$DAWN" train cifar10 --data synthetic --device null
says 2 'no task "cifar1".*cifar10' "$DAWN" train cifar1
says 2 'expected one task .*cifar10, .* or [a-z0-9-]+\)$' "$DAWN" train
says 2 'did you mean.*--target' "$DAWN" train cifar10 --targte 0.9
says 2 'write 94 as 0.94' "$DAWN" train cifar10 --target 94
says 2 'between 0.000001 and 1;' "$DAWN" train cifar10 --target -0.1
says 2 'between 0.000001 and 1;' "$DAWN" train cifar10 --target 0
says 2 'batch' "$DAWN" train cifar10 --data synthetic --batch 0
says 2 'batch' "$DAWN" train cifar10 --data synthetic --batch -5
says 2 'larger than the data set' "$DAWN" train cifar10 --data synthetic --batch 20000
says 2 'no model "resnet5".*resnet' "$DAWN" train cifar10 --data synthetic --model resnet5
says 2 '^dawn train: --precision: there is no precision "f8"; did you mean "f32"' "$DAWN" train cifar10 --precision f8
says 2 'no recipe key "epoch".*epochs' "$DAWN" train cifar10 --data synthetic --set epoch=3
says 2 'key=value' "$DAWN" train cifar10 --data synthetic --set epochs
says 2 '"schedule.warmup_epochs" must be below 0.05, the epoch at which the decay ends .of 0.05, with a tail of 0.; got 1: add --set warmup_epochs=0.01$' \
    "$DAWN" train cifar10 $quick --set warmup_epochs=1
says 2 '"epochs" must be a number' "$DAWN" train cifar10 --data synthetic --set epochs=many
says 2 'no recipe "airbench"' "$DAWN" train cifar10 --data synthetic --recipe airbench
says 2 'no device.*"gpu"' "$DAWN" train cifar10 --data synthetic --device gpu
says 2 'exclude each other' "$DAWN" train cifar10 --data synthetic --instance c7i.large --cost-per-hour 1
says 2 'c7i.large' "$DAWN" train cifar10 --data synthetic --instance c7i.larg
says 2 'no folder' "$DAWN" train cifar10 --data nowhere
printf '{"schedule": {"epochs": 3}, "model": {"wdths": [1]}}' >bad.json
says 2 'bad.json.*wdths.*widths' "$DAWN" train cifar10 --data synthetic --recipe ./bad.json
printf '{"epochs": ' >bad.json
says 2 'bad.json, line 1' "$DAWN" train cifar10 --data synthetic --recipe ./bad.json

# ---- more memory than there is: said from the plan, before anything is taken
says 1 'plan needs' "$DAWN" train cifar10 --data synthetic --batch 10000 --set widths=4096,4096,4096

# ---- a failure before a run begins leaves no record behind
says 2 'larger than the data set' "$DAWN" train cifar10 --data synthetic --batch 1048576 --db fresh.db
says 1 'dawn data fetch cifar10' "$DAWN" train cifar10 --data /etc --runs 2 --db fresh.db
says 1 'there is no record at fresh.db' "$DAWN" infer cifar10 --latency --db fresh.db
test ! -e fresh.db

# ---- data: missing, short, foreign, a label out of range
mkdir none short
says 1 'dawn data fetch cifar10' "$DAWN" train cifar10 --data none
for i in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
    truncate -s 30730000 short/$i.bin # sparse: black images of class 0
done
truncate -s 30729999 short/data_batch_2.bin
says 1 'data_batch_2.bin is short.*30729999' "$DAWN" train cifar10 --data short
truncate -s 30730000 short/data_batch_2.bin
printf '\310' | dd of=short/data_batch_2.bin bs=1 seek=21511 conv=notrunc status=none # record 7 has label 200
says 1 'data_batch_2.bin.*21511' "$DAWN" train cifar10 --data short --set epochs=0.1

# ---- results.db: another file, one of another format, a read-only one; the file stays as it was
cp results.db before.db
echo "not a database" >text.db
says 1 'text.db' "$DAWN" train cifar10 $quick --db text.db
cp results.db newer.db
sql newer.db 'PRAGMA user_version = 99'
says 1 'of format 99' "$DAWN" train cifar10 $quick --db newer.db
says 1 'nosuch' "$DAWN" train cifar10 $quick --db nosuch/results.db
cmp results.db before.db

# ---- no space for the weights: the record of the run stays readable
( ulimit -f 60; "$DAWN" train cifar10 $quick --target 0.001 --db small.db --save w.safetensors >out.txt 2>err.txt ) && exit 1
test "$(wc -l <err.txt)" = 1
test ! -f w.safetensors
"$DAWN" results list --db results.db >list.txt
test "$(grep -c ' [*]$' list.txt)" -ge 5
grep -q '^[*] SYNTHETIC data' list.txt

# ---- Ctrl-C: marked interrupted, status 130
"$DAWN" train cifar10 --data synthetic --set epochs=50 --set widths=16,16,16 --target 1 --save "" --db int.db >out.txt 2>err.txt &
pid=$!
wait_line $pid out.txt "target  *100"
wait_for "$DAWN" results show last --db int.db
kill -TERM $pid
status=0
wait $pid || status=$?
test $status = 130
grep -q "stopped by a signal" err.txt
"$DAWN" results show last --db int.db | grep -q interrupted

# ---- the record says if the recipe is a published one, in any number format
"$DAWN" train cifar10 --data synthetic --set precision=f32 --target 1 --save "" --db published.db >out.txt 2>err.txt &
pid=$!
wait_for "$DAWN" results show last --db published.db
kill -TERM $pid
wait $pid || true
test "$(sql published.db 'SELECT recipe_published FROM runs')" = 1
test "$(sql int.db 'SELECT recipe_published FROM runs')" = 0
