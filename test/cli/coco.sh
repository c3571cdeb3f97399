#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# COCO's tasks on a small drawn folder of COCO's form (SYNTHETIC): Mask R-CNN on ResNet-50's blocks and a pyramid learns a subset,
# with upright pictures, polygons and a crowd; its predictions have the scores of the run by COCO's own annotations; a picture gets
# its boxes and masks drawn. Wrong annotations: one sentence each.
set -eu
. "$ROOT/test/status.sh"

mkdir -p coco/annotations coco/train2017 coco/val2017
python3 - <<'PY'
import json, math, random, struct, zlib

def png(path, width, height, pixels):
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes(pixels[y * width * 3:(y + 1) * width * 3]) for y in range(height))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

def inside(x, y, polygon):
    odd = False
    for (a, b), (c, d) in zip(polygon, polygon[1:] + polygon[:1]):
        if (b > y) != (d > y) and x < (c - a) * (y - b) / (d - b) + a: odd = not odd
    return odd

random.seed(5)
for split, count, first in (("train2017", 24, 100), ("val2017", 12, 500)):
    images, annotations = [], []
    for i in range(count):
        width, height = (64, 48) if i % 3 else (48, 64)
        pixels = bytearray([120 + random.randrange(16) for _ in range(width * height)] * 3)
        for k in range(2):
            half, x, y = random.uniform(9, 12), random.uniform(12, width - 12), height * (0.28 if k else 0.72)
            round_ = random.random() < 0.5
            corners = [(x + half * math.cos(t * math.pi / 8), y + half * math.sin(t * math.pi / 8)) for t in range(16)]
            if not round_: corners = [(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)]
            corners = [(round(a, 2), round(b, 2)) for a, b in corners]
            for py in range(height):
                for px in range(width):
                    if inside(px + .5, py + .5, corners):
                        at = (py * width + px) * 3
                        pixels[at:at + 3] = bytes((230, 40, 40) if round_ else (30, 60, 230))
            xs, ys = [c[0] for c in corners], [c[1] for c in corners]
            box = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
            annotations.append({"id": len(annotations) + 1, "image_id": first + i, "category_id": 1 if round_ else 90,
                                "bbox": [round(b, 2) for b in box], "area": round(box[2] * box[3] * (0.78 if round_ else 1), 2),
                                "iscrowd": 0, "segmentation": [[v for c in corners for v in c]]})
        if i == 1:
            annotations.append({"id": len(annotations) + 1, "image_id": first + i, "category_id": 1, "bbox": [0, 0, 4, 48],
                                "area": 192, "iscrowd": 1, "segmentation": {"size": [48, 64], "counts": [0, 192, 64 * 48 - 192]}})
        images.append({"id": first + i, "file_name": "%d.png" % i, "width": width, "height": height})
        png("coco/%s/%d.png" % (split, i), width, height, pixels)
    json.dump({"images": images, "annotations": annotations, "categories": [{"id": 1}, {"id": 90}]},
              open("coco/annotations/instances_%s.json" % split, "w"))
PY
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
