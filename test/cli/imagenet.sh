#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ImageNet and Imagenette as a user meets them, on drawn pictures: train, plan, evaluate; killed in the middle of an epoch and
# resumed to the same bytes; and refusals.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/status.sh"

narrow="--set widths=4,4,8,8 --set resolution=32 --set evaluation.side=32 --threads 1"

# ---- both tasks, each with its metric
"$DAWN" train imagenet --data pictures $narrow --set epochs=1 --set warmup_epochs=.2 --target 0.1 >imagenet.txt
grep -q "ImageNet on" imagenet.txt
grep -q SYNTHETIC imagenet.txt
"$DAWN" results export --format json --to run.json
holds run.json '[m["name"] for m in o["runs"][0]["metrics"]] == ["top5", "top1"] and o["runs"][0]["task"] == "imagenet"'
"$DAWN" plan imagenet --data pictures --device null >plan.txt
grep -q "48 x 48" plan.txt
"$DAWN" plan imagenette --data pictures --device null --set data.cache=64 >plan.txt
grep -q "samples kept on the host" plan.txt
"$DAWN" models resnet50 | grep -q "25,557,032 parameters, .* per sample at 288 x 288$"
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

# ---- damaged pictures are reported at the end and recorded, and so are the options of a pack
seeds=$ROOT/test/fuzz/seeds/import
for split in train val; do
    for class in n01440764 n02102040 n02979186 n03000684 n03028079 n03394916 n03417042 n03425413 n03445777 n03888257; do
        mkdir -p real/$split/$class
        tee real/$split/$class/1.JPEG <"$seeds/colour.jpg" >real/$split/$class/2.JPEG
    done
done
head -c 625 "$seeds/colour.jpg" >real/train/n02102040/1.JPEG
head -c 625 "$seeds/colour.jpg" >real/val/n01440764/2.JPEG
small="--recipe pictures $narrow --batch 10 --set epochs=1 --set warmup_epochs=.2 --set data.cache=40 --target 0.001 --no-stop --db real.db"
"$DAWN" train imagenette --data real $small >real.txt
grep -q "^train: 1 of 20 pictures is damaged" real.txt
grep -q "number 2 (" real.txt
grep -q "^validation: 1 of 20 pictures is damaged" real.txt
"$DAWN" results show last --db real.db >real.txt
[ "$(grep -o "1 damaged" real.txt | wc -l)" = 2 ]
"$DAWN" infer imagenette --data real --db real.db --threads 1 >real.txt
grep -q "^  damaged  *validation: 1 of 20 pictures is damaged" real.txt
(cd / && "$DAWN" infer --db "$OLDPWD/real.db" --threads 1) >again.txt # the data of the run, from another folder
grep -q "^  damaged  *validation: 1 of 20 pictures is damaged" again.txt
mv real moved
says 1 "/real, which is gone: " "$DAWN" infer --db real.db
mv moved real
says 1 "damaged pictures so far: 1, allowed: 0" "$DAWN" train imagenette --data real $small --set data.damaged=0
"$DAWN" data pack imagenette real real.dawnpack --short-side 32 --quality 80 >real.txt 2>&1
"$DAWN" train imagenette --data real.dawnpack $small --json >real.txt
grep -q '"damaged": *{"train": *0, *"test": *0}' real.txt
"$DAWN" results show last --db real.db >shown
reads shown 'short side 32, re-encoded at quality 80'
"$DAWN" results export --db real.db --format json --to run.json
holds run.json '([[[d.get(k) for k in ("split", "short_side", "quality", "damaged")] for d in o["runs"][i]["data_sets"]] for i in (0, -1)] ==
    [[["test", 0, 0, 1], ["train", 0, 0, 1]], [["test", 32, 80, 0], ["train", 32, 80, 0]]])'

# ---- a pack of version 1 undoes the order of a training with its own seed (docs/pack-format.md)
"$DAWN" data pack imagenette real old.dawnpack --seed 6 >real.txt 2>&1
"$DAWN" train imagenette --data old.dawnpack $small --seed 6 >real.txt
python3 - <<'PY'
import struct
pack = bytearray(open("old.dawnpack", "rb").read())
pack[8:12], crc = struct.pack("<I", 1), 0xffffffff
for byte in pack[:252]:
    crc ^= byte
    for _ in range(8): crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
pack[252:256] = struct.pack("<I", crc ^ 0xffffffff)
open("old.dawnpack", "wb").write(pack)
PY
old="train imagenette --data old.dawnpack $small"
says 2 "packed by an earlier version with seed 6, .*first epoch class by class: .*data pack.* another --seed" "$DAWN" $old --seed 6
says 2 "packed by an earlier version with seed 6" "$DAWN" $old --seed 5 --runs 2
"$DAWN" $old --seed 7 >real.txt
"$DAWN" $old --seed 6 --set data.cache=0 --set data.window=2 >real.txt # the order of pages has other draws

# ---- refusals
rm -f results.db
says 2 "belongs to task imagenet, not to cifar10" "$DAWN" train cifar10 --recipe pictures
says 2 "belongs to task cifar10, not to imagenette" "$DAWN" train imagenette --recipe cifar10
says 2 'this network has 4 numbers in "model.widths"; got 2' "$DAWN" train imagenette --data pictures --set widths=4,4
says 2 "least_area" "$DAWN" train imagenette --data pictures --set least_area=.1,.2,.3
says 2 "batch of 401 is larger than the data set of 400" "$DAWN" train imagenette --data pictures --batch 401
mkdir -p empty other/train/n01440764 other/val/n01440764
says 1 "there is no Imagenette in empty: " "$DAWN" train imagenette \
    --data empty
touch other/train/n01440764/readme.txt other/val/n01440764/readme.txt
says 1 "other/train has no PNG or JPEG file in folders of classes" "$DAWN" train imagenette --data other
if [ -e results.db ]; then echo "a record was made"; exit 1; fi
