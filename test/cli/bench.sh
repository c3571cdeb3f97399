# SPDX-License-Identifier: Apache-2.0
# dawn bench: its output, shares that sum to 100%, no data set, and wrong use.
set -eu

. "$ROOT/test/status.sh"

# A small network on one thread, too slow for the whole protocol within its time limit.
small="--set widths=8,8,8 --batch 50 --threads 1 --no-measure"
[ "$(status "$DAWN" bench cifar10 --data synthetic $small --seconds 0.2 --repeats 3 --quiet)" = 0 ]
[ ! -s err ]
grep -Eq '^  timed +[0-9]+ steps ignored, then [1-3] x [0-9]+ step' out
reads out '\(20 ignored, 3 x 100\) does not fit into --seconds 0.2'
grep -Eq '^  windows ' out
grep -Eq '^  images/s +[0-9.]+ +median of [1-3], [0-9.]+ to [0-9.]+$' out
grep -q '^Recorded in results.db as 1: ' out
grep -Eq '^  all \([0-9]+\) .* 100\.0%' out
awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' out >&2

# Without the data set it uses noise of the same shape and says why.
[ "$(status "$DAWN" bench cifar10 --device null --no-measure)" = 0 ]
reads out 'CIFAR-10, its shape filled with noise: there is no CIFAR-10 in'
grep -q '20 steps ignored, then 7 x 100 steps$' out
expect 0 '"noise": true' "$DAWN" bench cifar10 --device null --no-measure --fake --side 24 --json
grep -q '"side": 24' out
grep -q '"whole": true' out

# A folder given by --data must have the data.
mkdir empty
says 1 'there is no CIFAR-10 in ./empty' "$DAWN" bench cifar10 --device null --data ./empty

# Ctrl-C, with its output in a pipe: one sentence.
python3 - "$DAWN" <<'PY'
import re, signal, subprocess, sys, time
p = subprocess.Popen([sys.argv[1], "bench", "imagenette", "--fake", "--device", "cpu", "--threads", "1", "--seconds", "60", "--db", "cut.db"],
                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
caught = lambda: int(re.search(r"SigCgt:\s*(\w+)", open(f"/proc/{p.pid}/status").read())[1], 16)
while not caught() >> signal.SIGINT - 1 & 1:  # until then the signal ends it without a word
    time.sleep(0.02)
p.send_signal(signal.SIGINT)
out, err = p.communicate(timeout=60)
assert p.returncode == -signal.SIGINT and err.startswith(b"dawn bench: stopped by a signal; ") and err.count(b"\n") == 1, (p.returncode, err)
PY

# A sweep: a row each, a line through them, a record of all. It ends where the plan does not fit.
small="imagenette --data pictures --threads 1 --no-measure --seconds 0.05 --repeats 2"
[ "$(status "$DAWN" bench $small --batch 40,20,20 --precision f32 --fusion on,off)" = 0 ]
[ "$(grep -Ec '^ +(20|40) f32  (on |off) ' out)" = 4 ]
[ "$(grep -Ec '^  memory +.* b [+-] .*, by plan$' out)" = 2 ]
grep -Eq '^  largest +batch [0-9,]+, ' out
grep -q '^Recorded in results.db as 2 to 5: ' out
awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' out >&2
[ "$(status "$DAWN" bench --list)" = 0 ]
[ "$(grep -Ec '^ +[1-5]  20..-..-.. ..:..  (cifar10|imagenette) ' out)" = 5 ]
awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' out >&2
expect 0 '^5 measurements: "dawn bench --list" shows them.$' "$DAWN" results
expect 0 '^5 measurements: "dawn bench --list --db ./results.db" shows them.$' "$DAWN" results --db ./results.db
[ "$(status "$DAWN" results export --format csv --to tables/)" = 0 ]
[ "$(wc -l <tables/benches.csv)" = 6 ]
[ "$(status "$DAWN" bench $small --batch 10,20 --no-record --json)" = 0 ]
holds out '[s["batch"] for s in o["settings"]] == [10, 20] and len(o["fits"]) == 1'
[ "$(status "$DAWN" bench --list --db tables/none.db)" = 1 ]
# The second batch needs terabytes by plan: the measured rows stay, and the sweep says where it stopped.
large="imagenet --fake --model resnet18 --set widths=8,8,8,8 --no-measure --threads 1"
[ "$(status "$DAWN" bench $large --seconds 0.1 --repeats 1 --batch 2,1000000)" = 0 ]
grep -q 'sweep stops here: batch 1000000 ' err
[ "$(grep -Ec '^ +2 (f32|bf16|f16) +on ' out)" = 1 ]
says 1 'batch 1000000 needs .* by plan' "$DAWN" bench $large --batch 1000000
# Batches are of similar texts, so large ones have no step of a short length: memory does not end the search for the largest.
stories="squad-split --data stories --recipe stories --threads 1 --no-measure --no-record --seconds 0.05 --repeats 1"
[ "$(status "$DAWN" bench $stories --batch 1,8 --side 64)" = 0 ]
reads out ' largest +batch [0-9,]+, .* free: larger ones have no such step' # the figures decide where the line is broken
[ "$(sed -n 's/^  largest *batch \([0-9,]*\),.*/\1/p' out | tr -d ,)" -gt 100 ]
mv results.db kept.db

# Single operators.
[ "$(status "$DAWN" bench ops --op 'matmul head' --precision f32 --threads 1 --no-measure)" = 0 ]
[ "$(wc -l <out)" = 2 ]
grep -q ' of peak$' out
grep -Eq '^matmul head +f32 +[0-9]+ .*[0-9.]+ +[0-9.]+ +-$' out
[ "$(status "$DAWN" bench ops --op 'matmul head' --precision f32 --threads 1 --no-measure --json)" = 0 ]
grep -Eq '^\{"case":"matmul head","precision":"f32","repeats":[0-9]+,"seconds":[0-9.e-]+,"flops":.*"of_peak":null\}$' out
[ "$(wc -l <out)" = 1 ]
# With peaks: a product of 1,024 has so many FLOPs per byte that any machine computes it, and a sum has too few.
[ "$(status "$DAWN" bench ops --op 'matmul 1024' --precision f32 --threads 1)" = 0 ]
grep -Eq '^matmul 1024 .* [0-9.]+%$' out
grep -q 'of 1 compute-bound ' out
awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' out >&2
[ "$(status "$DAWN" bench ops --op 'add 6M' --precision f32 --threads 1 --json)" = 0 ]
holds out 'o[0]["of_peak"] is None and o[1]["compute_bound"] == 0 and o[1]["below"] == []'

( set -o pipefail; "$DAWN" bench ops --op norm --precision f32 --threads 1 --no-measure 2>err | head -n 1 >out ) # a reader that has seen enough
[ ! -s err ]

# A wrong option of a scaling is one sentence, before a launcher starts.
for wrong in '--batch 1,2' '--batch 0' '--precision f8' '--model no' '--set no=1'; do
    [ "$(status "$DAWN" bench cifar10 --scaling 1,2 --launcher false $wrong)" = 2 ]
    [ "$(wc -l <err)" = 1 ]
done
[ "$(status "$DAWN" bench cifar10 --scaling 1,2 --launcher false)" = 1 ]
grep -q '^dawn bench: 2 processes could not ' err # the largest number comes first

[ "$(status "$DAWN" bench)" = 2 ]
[ "$(status "$DAWN" bench cifar11)" = 2 ]
says 2 'no timed case that this device supports has "quantum" in its name' "$DAWN" bench ops --op quantum
[ ! -s out ]
[ "$(status "$DAWN" bench ops --data synthetic)" = 2 ]
[ "$(status "$DAWN" bench ops --precision u8)" = 2 ]
[ "$(status "$DAWN" bench cifar10 --op conv)" = 2 ]
[ "$(status "$DAWN" bench cifar10 --fake --data ./empty)" = 2 ]
says 2 'has no step of side or length 7' "$DAWN" bench cifar10 --side 7 --device null --no-measure
[ "$(status "$DAWN" bench cifar10 --batch 1,x)" = 2 ]
[ "$(status "$DAWN" bench cifar10 --batch 0)" = 2 ]
[ "$(status "$DAWN" bench cifar10 --fusion maybe)" = 2 ]
[ "$(status "$DAWN" bench $small --no-record --precision f32,f64)" = 2 ]
[ "$(status "$DAWN" bench cifar10 --list)" = 2 ]
[ ! -e results.db ] # device null and wrong use record nothing
