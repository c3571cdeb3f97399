# SPDX-License-Identifier: Apache-2.0
# dawn plan: sums, widths, no files needed and none left behind, wrong use.
set -eu

. "$ROOT/test/status.sh"
number() { sed -n "s/^ *\"$1\": \([0-9.e+]*\),*$/\1/p" out | head -n 1; }

# Without the data set it plans with the published counts.
[ "$(status "$DAWN" plan cifar10 --no-measure)" = 0 ]
[ ! -s err ]
grep -q '50,000 + 10,000 images of 32 x 32 x 3, 10 classes' out
grep -q 'not on this machine' out
grep -q '^Schedule: ' out
grep -q '^Memory: ' out
grep -q '^One step at 32 x 32 (train):$' out
grep -q 'Roofline: unknown' out
awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' out >&2
[ "$(sed -n '/^One step/,/^$/p' out | wc -l)" -le 30 ]
few=$(wc -l <out)
[ "$(status "$DAWN" plan cifar10 --no-measure --nodes)" = 0 ]
[ "$(wc -l <out)" -gt "$((few + 50))" ]
awk 'length > 80 { exit 1 }' out

# JSON: the classes of memory sum to the total, the variants to the steps, the operators to the step.
for batch in 1000 500; do
    [ "$(status "$DAWN" plan cifar10 --data synthetic --no-measure --json --batch $batch)" = 0 ]
    total=$(number total_bytes)
    sum=$(sed -n '/"classes"/,/}/p' out | awk -F': ' 'NF == 2 && $2 + 0 == $2 - 0 { s += $2 } END { printf "%.0f", s }')
    [ "$total" -gt 1000000 ]
    [ "$total" = "$sum" ]
    steps=$(number steps)
    met=$(sed -n '/"variants"/,/]/p' out | awk -F': ' '/"steps"/ { s += $2 } END { print s }')
    [ "$steps" = "$met" ]
    sed -n '/"operators"/,/]/p' out | awk -F': ' '/"flops"/ { s += $2 } END { printf "%.0f\n", s / 1e6 }' >"parts"
    sed -n '/"step": {/,/"operators"/p' out | awk -F': ' '/"flops"/ { printf "%.0f\n", $2 / 1e6 }' >"whole"
    cmp "parts" "whole"
    eval "total_$batch=$total"
done
[ "$total_500" -lt "$total_1000" ] # smaller batches need less

# Measured peaks bound the step and the schedule.
expect 0 'Roofline, from peaks measured just now' "$DAWN" plan cifar10 --data synthetic --precision f32
grep -Eq '^  training .*, evaluation .*, in all .*(s|min)$' out # minutes or hours where the machine is busy
grep -Eq '^  conv \(7\) .*(arithmetic|memory) .*%$' out
awk 'length > 80 { exit 1 }' out

# Any network, any device.
expect 0 'resnet56' "$DAWN" plan cifar10 --model resnet56 --device null --batch 100 --no-measure

# A GPU that is not here: its peaks, its memory; several of them; a host that is too slow for it.
seconds() { sed -n '/"'$1'"/,$p' out | sed -n 's/^ *"'$2'": \([0-9.e+-]*\),*$/\1/p' | head -n 1; }
predict="plan imagenet --recipe imagenet-224 --data pictures --batch 400 --on h200"
[ "$(status "$DAWN" $predict --json)" = 0 ]
one=$(seconds total roofline_s)
grep -q '"precision": "bf16"' out
[ "$(status "$DAWN" plan imagenet --recipe imagenet-224 --data pictures --batch 400 --on V100 --json)" = 0 ]
grep -q '"precision": "f16"' out # this GPU multiplies no bf16
[ "$(status "$DAWN" $predict --json)" = 0 ]
[ "$(status "$DAWN" $predict --json --gpus 2)" = 0 ]
two=$(seconds on seconds)
[ "$(status "$DAWN" $predict --json --decode 50)" = 0 ]
slow=$(seconds total roofline_s)
python3 -c "one, two, slow = $one, $two, $slow; assert one / 2 < two < one and slow > 100 * one, (one, two, slow)"
expect 0 '^Roofline of NVIDIA H200, a prediction (' "$DAWN" $predict --gpus 2
awk 'length > 80 { exit 1 }' out
grep -q 'on 2 of them, each with its share of every batch: ' out
grep -q '^  no step waits for [0-9,]* images/s, on all of them for [0-9,]*$' out
[ "$(status "$DAWN" $predict --json --set resolution=1024)" = 0 ]
grep -Eq '"largest_batch": [1-3][0-9]{2}$' out
says 2 'did you mean "h200"' "$DAWN" plan cifar10 --on h20
[ "$(status "$DAWN" plan cifar10 --gpus 2)" = 2 ]
says 2 'a batch of [0-9]* is not 7 equal parts' "$DAWN" $predict --gpus 7

says 2 'did you mean "cifar10"' "$DAWN" plan cifar11
[ "$(status "$DAWN" plan)" = 2 ]
[ "$(status "$DAWN" plan cifar10 --batch 0)" = 2 ]
[ "$(status "$DAWN" plan cifar10 --batch 50001)" = 2 ]
[ "$(status "$DAWN" plan cifar10 --data ./nowhere)" = 2 ]
[ "$(status "$DAWN" plan cifar10 --device gpu)" = 2 ]
[ "$(ls -A | tr '\n' ' ')" = 'err out parts whole ' ] # nothing was left behind
