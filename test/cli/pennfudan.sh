#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small two-stage detector learns drawn people to a target. Its boxes and masks as COCO's results have the scores of the run, one
# picture at a time and in batches; a photograph gets its masks drawn. Killed and resumed it ends with the same bytes. Wrong options
# and files: one sentence each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

# ---- to a target
train="train pennfudan --data people --threads 1"
"$DAWN" $train --no-stop --target 0.5 >log.txt
reads log.txt 'SYNTHETIC'
"$DAWN" results show 1 >show.txt
reads show.txt 'AP50 of masks'
"$DAWN" results export 1 --format json --to run.json
"$DAWN" data show people --test --to truth.json >said.txt
reads said.txt 'truth.json has the boxes of 24 pictures, as the truth of "dawn eval coco"'
"$DAWN" infer pennfudan --threads 1 --precision f32 --predictions batches.txt --json >batches.json
"$DAWN" infer pennfudan --threads 1 --precision f32 --latency --warmup 2 --predictions singles.txt --json >latency.json
for from in batches singles; do
    "$DAWN" eval coco truth.json $from.txt --json >$from.boxes
    "$DAWN" eval coco truth.json $from.txt --segm --json >$from.masks
done
python3 - <<'PY'
import json
run = json.load(open("run.json"))["runs"][0]
last = [p for p in run["points"] if p.get("scores")][-1]
scores = {s["metric"]: s["score"] for s in last["scores"]}
assert set(scores) == {"mask_ap50", "box_ap50", "mask_ap", "box_ap"} and scores["mask_ap50"] > 0.5e6, scores
assert scores["mask_ap50"] > scores["mask_ap"] and scores["box_ap50"] > scores["box_ap"], scores
assert {l["name"] for l in last["losses"]} == {"objectness", "proposal", "class", "box", "mask"}, last
for measured, name in (("batches.json", "batches"), ("latency.json", "singles")):
    one, boxes, masks = (json.load(open(f)) for f in (measured, name + ".boxes", name + ".masks"))
    want = {"mask_ap50": masks["AP50"], "box_ap50": boxes["AP50"], "mask_ap": masks["AP"], "box_ap": boxes["AP"]}
    assert one["scores"] == {k: round(v * 1e6) for k, v in want.items()}, (one, want)
    assert boxes["images"] == one["items"] == 24 and boxes["categories"] == 1, boxes
assert json.load(open("latency.json"))["model_ns"]["p50"] > 0
found = json.load(open("batches.txt"))
assert all(b["score"] >= 0.05 and len(b["bbox"]) == 4 and b["segmentation"]["size"] == [128, 160] for b in found)
assert max(sum(b["image_id"] == i for b in found) for i in range(1, 25)) <= 20
PY

# ---- pictures for people
"$DAWN" data show people 2 --to people.png >shown.txt
reads shown.txt 'people.png shows drawn people, train picture 2 of 96'
reads shown.txt 'person +[0-9]+, [0-9]+ to [0-9]+, [0-9]+'
for photo in people.png "$ROOT/test/fuzz/seeds/jpeg/progressive_420.jpg"; do
    "$DAWN" infer pennfudan "$photo" -o masks.png --threads 1 >told.txt 2>where.txt
    grep -Eqx 'nothing found|person +[01][.][0-9]{3}  [0-9]+,[0-9]+ to [0-9]+,[0-9]+' told.txt
    reads where.txt 'boxes in masks.png'
    [ "$(head -c 4 masks.png | tail -c 3)" = PNG ]
    rm masks.png
done
"$DAWN" data verify people >verified.txt
reads verified.txt '^drawn people: synthetic$'

# ---- the report: precision over recall of masks, a row per class, and three pictures next to the truth
"$DAWN" report >said.txt
python3 - <<'PY'
import base64, json, re
page = open("report.html").read()
shown = re.findall(r'<figcaption>(\w+): (\w+), (AP ([0-9.]+), \d+ found|the truth: \d+)</figcaption>\n'
                   r'<img alt="[^"]+" src="data:image/jpeg;base64,([^"]+)"></figure>', page)
assert [s[0] for s in shown] == ["best", "best", "typical", "typical", "worst", "worst"], [s[:4] for s in shown]
assert all(a[1] == b[1] and a[3] and not b[3] for a, b in zip(shown[::2], shown[1::2]))
assert float(shown[0][3]) >= float(shown[2][3]) >= float(shown[4][3]) >= 0, [s[3] for s in shown]
assert all(base64.b64decode(s[4]).startswith(b"\xff\xd8\xff") for s in shown) and len({s[4] for s in shown}) == 6
rows = re.findall(r"<tr><td><bdi>(person|all classes)</bdi></td>" + r'<td class="number value">([^<]+)</td>' * 5, page)
boxes, masks = json.load(open("batches.boxes")), json.load(open("batches.masks"))
assert [r[0] for r in rows] == ["all classes", "person"] and rows[0][1:] == rows[1][1:], rows
assert rows[0][1] == str(masks["truths"]), (rows, masks)
assert abs(float(rows[0][3]) - masks["AP"]) < abs(float(rows[0][3]) - boxes["AP"]), (rows, boxes, masks)
assert abs(float(rows[0][3]) - masks["AP"]) < 0.05, (rows, masks)  # another precision
assert "precision-pennfudan" in page and "24 of the 24 test pictures are ranked" in page
PY

# ---- what is wrong
echo text >text.png
says 1 'text.png' "$DAWN" infer pennfudan text.png --threads 1
printf 'GIF89a\1\0\1\0' >one.gif
says 1 'one.gif is neither a PNG nor a JPEG' "$DAWN" infer pennfudan one.gif --threads 1
says 2 '[-]-out writes a PNG, so masks.gif must end in .png' "$DAWN" infer pennfudan people.png -o masks.gif
says 2 'multiples of 32' "$DAWN" $train --set data.height=100
says 2 'maskrcnn has no focal loss: "loss.alpha" does not apply' "$DAWN" $train --set loss.alpha=0.5
says 2 'label_smoothing": it must be 0' "$DAWN" $train --set label_smoothing=0.1
says 2 'there is no model "retina"' "$DAWN" $train --model retina
says 1 'PNGImages/FudanPed00001.png is missing; "dawn data fetch pennfudan" gets it' "$DAWN" train pennfudan --data .
mkdir -p some/PNGImages without/PNGImages
cp people.png without/PNGImages/FudanPed00001.png
says 1 'each photograph in PNGImages requires its mask in PedMasks: cannot open without/PedMasks/FudanPed00001_mask.png' \
    "$DAWN" train pennfudan --data without
says 1 'some/PNGImages/FudanPed00001.png' "$DAWN" data fetch pennfudan --from some --to here

# ---- killed and resumed
train="$train --no-stop --set epochs=6 --set zoom=0.7,1.4 --set data.cache=64 --set ema.decay=0.9 --target 0.001"
mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt || [ $? = 3 ]
resumes "0 3" 3 $train
