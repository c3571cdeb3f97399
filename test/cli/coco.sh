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

# ---- the weights with torchvision's names and layouts, of today and before 0.13, and files that do not fit
cat >foreign.py <<'PY'
import json, re, struct, sys
kind, into = sys.argv[1:]
data = open("run-1.safetensors", "rb").read()
start = 8 + struct.unpack("<Q", data[:8])[0]
tensors, head, out = json.loads(data[8:start]), {}, bytearray()
tensors.pop("__metadata__")
for name, t in tensors.items():
    first, end = (start + at for at in t["data_offsets"])
    numbers, shape = struct.unpack(f"<{(end - first) // 4}f", data[first:end]), t["shape"]
    if len(shape) == 4:  # [K,R,S,C] to [K,C,R,S], and to [K,C R S] behind a flattened picture
        k, r, s, c = shape
        numbers = [numbers[(i * r * s + at) * c + j] for i in range(k) for j in range(c) for at in range(r * s)]
        shape = [k, c * r * s] if "fc6" in name else [k, c, r, s]
    if kind == "older":
        name = re.sub(r"(_blocks.\d).0|(head.conv).0.0", r"\1\2", name)
        name = re.sub(r"mask_head.(\d).0", lambda m: f"mask_head.mask_fcn{int(m[1]) + 1}", name)
    if kind == "lacks" and name.endswith(("cls_score.bias", "layer3.0.bn2.running_var")): continue
    if kind == "other" and name.endswith("layer4.0.conv2.weight"): shape = [*shape[:2], 1, 9]
    head[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(out), len(out) + end - first]}
    out += struct.pack(f"<{len(numbers)}f", *numbers)
text = json.dumps(head).encode()
open(into, "wb").write(struct.pack("<Q", len(text)) + text + out)
PY
by="--data . --recipe small.json --threads 1 --precision f32"
for kind in today older lacks other; do python3 foreign.py $kind $kind.safetensors; done
for kind in today older; do
    "$DAWN" infer coco-maskrcnn $by --weights $kind.safetensors --predictions $kind.json >said.txt
    cmp found.json $kind.json
done
grep -q 'mask_head.mask_fcn4.weight' older.safetensors
says 1 'lacks.safetensors does not fit the model: 2 tensors are missing \(.*bn2.running_var, .*cls_score.bias\)' \
    "$DAWN" infer coco-maskrcnn $by --weights lacks.safetensors
says 1 'other.safetensors does not fit the model: 1 of another shape or type \(.*conv2.weight F32 \[16x16x1x9\] instead of ' \
    "$DAWN" train coco-maskrcnn $by --weights other.safetensors

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
