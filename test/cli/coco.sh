#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# COCO's tasks on a small drawn folder of COCO's form (SYNTHETIC): Mask R-CNN on ResNet-50's blocks and a pyramid learns a subset,
# with upright pictures, polygons and a crowd; its predictions have the scores of the run by COCO's own annotations; a picture gets
# its boxes and masks drawn. Wrong annotations: one sentence each.
set -eu
. "$ROOT/test/status.sh"

python3 "$ROOT/test/cli/coco_drawn.py" 24 12
cat >small.json <<'JSON'
{
    "name": "coco-small",
    "about": "Mask R-CNN's blocks in small, on a drawn set of COCO's form",
    "data": {"batch": 4, "height": 96, "width": 128, "fit": "keep", "flip": "horizontal"},
    "model": {"name": "maskrcnn-r50-fpn", "widths": [8, 8, 16, 16], "pyramid": 24},
    "optimiser": {
        "rule": "adamw",
        "weight_decay": 0,
        "clip": 10,
        "filters": {"lr": 3e-3, "decay": 1e-4},
        "head": {"lr": 3e-3},
        "bias": {"lr": 3e-3}
    },
    "schedule": {"epochs": 12, "warmup_epochs": 1, "shape": "cosine"},
    "evaluation": {"every": 12},
    "precision": "auto"
}
JSON

# ---- the subset is learned: the loss falls, boxes and masks are found
"$DAWN" train coco-maskrcnn --data . --recipe small.json --threads 1 --no-stop --target 0.2 >log.txt
"$DAWN" results export 1 --format json --to run.json
"$DAWN" infer coco-maskrcnn --data . --threads 1 --precision f32 --predictions found.json --json >infer.json
"$DAWN" infer coco-maskrcnn --data . --threads 1 --precision f32 --latency --warmup 1 --predictions singles.json --json >single.json
for from in found singles; do
    "$DAWN" eval coco coco/annotations/instances_val2017.json $from.json --json >$from.boxes
    "$DAWN" eval coco coco/annotations/instances_val2017.json $from.json --segm --json >$from.masks
done
python3 - <<'PY'
import json
points = json.load(open("run.json"))["runs"][0]["points"]
last = {s["metric"]: s["score"] for s in points[-1]["scores"]}
loss = [sum(l["loss"] for l in p["losses"]) for p in points]
assert loss[-1] < loss[0] / 2, loss
assert last["ap"] > 0.2e6 and last["box_ap50"] > 0.5e6, last
for said, name in (("infer.json", "found"), ("single.json", "singles")):
    one, boxes, masks = (json.load(open(f)) for f in (said, name + ".boxes", name + ".masks"))
    want = {"ap": min(boxes["AP"], masks["AP"] * 0.377 / 0.339), "box_ap50": boxes["AP50"], "mask_ap": masks["AP"],
            "box_ap": boxes["AP"]}
    assert one["scores"] == {k: round(v * 1e6) for k, v in want.items()}, (one, want)
assert {b["category_id"] for b in json.load(open("found.json"))} <= {1, 90}
PY

# ---- a picture with its boxes and masks, an upright one too
for photo in 1 0; do
    "$DAWN" infer coco-maskrcnn coco/val2017/$photo.png -o masks.png --threads 1 >told.txt 2>where.txt
    grep -Eq '^(person|toothbrush) +[01][.][0-9]{3}  [0-9]+,[0-9]+ to [0-9]+,[0-9]+$' told.txt
    reads where.txt 'boxes in masks.png'
done

# ---- what is wrong
cp coco/annotations/instances_train2017.json kept.json
wrong() { # SEGMENTATION SENTENCE
    python3 - "$1" <<'PY'
import json, sys
all = json.load(open("kept.json"))
all["annotations"][3]["segmentation"] = json.loads(sys.argv[1])
json.dump(all, open("coco/annotations/instances_train2017.json", "w"))
PY
    says 1 "instances_train2017.json: annotation 4: $2" "$DAWN" train coco-maskrcnn --data . --recipe small.json --threads 1
}
wrong '[[1, 2, 3, 4]]' 'polygon 1 of its "segmentation": it is no list of x and y of three or more corners'
wrong '[[1, 2, 3, 4, 900, 6]]' 'polygon 1 of its "segmentation": number 5, 900, is far outside of the 64 x 48 pixels'
wrong '[[1, 2, 3, "4", 5, 6]]' 'polygon 1 of its "segmentation": number 4 is none'
wrong '{"counts": [5, 4000]}' 'count 2 of its mask is no whole number up to 3067'
wrong '{"counts": [5, 40]}' 'the counts of its mask end 3027 pixels before the image'
wrong '{"counts": "abc"}' 'its "segmentation" is no list of polygons, and has no list "counts"'
cp kept.json coco/annotations/instances_train2017.json
says 2 '"data.fit" of ssd must be stretch' "$DAWN" train coco-ssd --data . --set data.fit=keep
sed 's/"segmentation"/"forgotten"/' kept.json >coco/annotations/instances_train2017.json
says 1 'train2017/.*png: object 1: it has no "segmentation"' "$DAWN" train coco-maskrcnn --data . --recipe small.json --threads 1
