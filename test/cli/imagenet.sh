#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ImageNet and Imagenette as a user meets them, on drawn pictures: train, plan, evaluate; killed in the middle of an epoch and
# resumed to the same bytes; and what is refused.
set -eu
. "$ROOT/test/wait.sh"

narrow="--set widths=4,4,8,8 --set resolution=32 --set evaluation.side=32 --threads 1"

# says STATUS PATTERN COMMAND...: exits so, with one line on stderr that matches
says() {
    local want=$1 pattern=$2 got=0
    shift 2
    "$@" >out.txt 2>err.txt || got=$?
    if [ "$got" != "$want" ] || ! grep -qE -- "$pattern" err.txt || [ "$(wc -l <err.txt)" != 1 ]; then
        echo "wanted status $want and one line like \"$pattern\", got $got from: $*"
        cat out.txt err.txt
        exit 1
    fi
}

# ---- both tasks, each with its metric
"$DAWN" train imagenet --data pictures $narrow --set epochs=1 --set warmup_epochs=.2 --target 0.1 >imagenet.txt
grep -q "ImageNet on" imagenet.txt
grep -q SYNTHETIC imagenet.txt
"$DAWN" results export --format json --to run.json
python3 - <<'PY'
import json
run = json.load(open("run.json"))["runs"][0]
names = [m["name"] for m in run["metrics"]]
assert names == ["top5", "top1"] and run["task"] == "imagenet", run
PY
"$DAWN" plan imagenet --data pictures --device null >plan.txt
grep -q "48 x 48" plan.txt
"$DAWN" plan imagenette --data pictures --device null --set data.cache=64 >plan.txt
grep -q "samples kept on the host" plan.txt
"$DAWN" models resnet50 | grep -q "25,557,032 parameters"
"$DAWN" recipe imagenette --keys | grep -q "data.least_area\|least_area"

# ---- killed in the middle of an epoch, and resumed to the same bytes
train="train imagenette --data pictures $narrow --set epochs=3 --set warmup_epochs=1 --set data.cache=48 --batch 16 --seed 5
    --target 0.001 --no-stop"
saved() { [ -e run-1.state ] || ended "$pid"; }
mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt
for try in 1 2 3 4 5; do
    rm -f results.db run-*
    "$DAWN" $train --checkpoint-every 3 --db results.db >log.txt 2>&1 &
    pid=$!
    wait_for saved
    kill -KILL "$pid" 2>/dev/null || true
    rc=0
    wait "$pid" 2>/dev/null || rc=$?
    if [ "$rc" = 137 ] && [ -e run-1.state ]; then break; fi # else it was done before it was killed
    rc=0
done
[ "$rc" = 137 ] || { cat log.txt; exit 1; }
"$DAWN" train --resume 1 --db results.db >log.txt 2>&1
cmp run-1.safetensors straight/run-1.safetensors

# ---- what is refused
rm -f results.db
says 2 "belongs to task imagenet, not to cifar10" "$DAWN" train cifar10 --recipe pictures
says 2 "belongs to task cifar10, not to imagenette" "$DAWN" train imagenette --recipe cifar10
says 2 "resnet18 has|a ResNet has 4 stages" "$DAWN" train imagenette --data pictures --set widths=4,4
says 2 "least_area" "$DAWN" train imagenette --data pictures --set least_area=.1,.2,.3
says 2 "batch of 401 is larger than the data set of 400" "$DAWN" train imagenette --data pictures --batch 401
mkdir -p empty other/train/n01440764 other/val/n01440764
says 1 "there is no Imagenette in empty: neither imagenette.dawnpack nor folders train and val" "$DAWN" train imagenette \
    --data empty
touch other/train/n01440764/readme.txt other/val/n01440764/readme.txt
says 1 "other/train has no PNG or JPEG file in folders of classes" "$DAWN" train imagenette --data other
if [ -e results.db ]; then echo "a record was made"; exit 1; fi
