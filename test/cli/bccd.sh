#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small detector learns drawn cells to a target. Its boxes as COCO's results have the score of the run, one picture at a time and in
# batches; a photograph gets its boxes drawn. Killed and resumed it ends with the same bytes. Wrong options and files: one sentence
# each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

# ---- to a target
train="train bccd --data cells --threads 1"
"$DAWN" $train --no-stop --target 0.3 >log.txt
reads log.txt 'SYNTHETIC'
"$DAWN" results show 1 >show.txt
reads show.txt 'average precision'
"$DAWN" results export 1 --format json --to run.json
"$DAWN" data show cells --test --to truth.json >said.txt
reads said.txt 'truth.json has the boxes of 24 pictures, as the truth of "dawn eval coco"'
"$DAWN" infer bccd --threads 1 --precision f32 --predictions batches.txt --json >batches.json
"$DAWN" infer bccd --threads 1 --precision f32 --latency --warmup 2 --predictions singles.txt --json >latency.json
"$DAWN" infer bccd --threads 1 --precision f32 --views 4 --json >views.json
"$DAWN" eval coco truth.json batches.txt --json >eval.json
"$DAWN" eval coco truth.json singles.txt --json >eval1.json
python3 - <<'PY'
import json
run = json.load(open("run.json"))["runs"][0]
last = [p for p in run["points"] if p.get("scores")][-1]
scores = {s["metric"]: s["score"] for s in last["scores"]}
assert set(scores) == {"ap", "ap50"} and scores["ap"] > 0.3e6 and scores["ap50"] > scores["ap"], scores
assert {l["name"] for l in last["losses"]} == {"class", "box"}, last
for measured, scored in (("batches.json", "eval.json"), ("latency.json", "eval1.json")):
    one, coco = json.load(open(measured)), json.load(open(scored))
    assert one["scores"] == {"ap": round(coco["AP"] * 1e6), "ap50": round(coco["AP50"] * 1e6)}, (one, coco)
    assert coco["images"] == one["items"] == 24 and coco["categories"] == 3, coco
views = json.load(open("views.json"))
assert views["views"] == 4 and views["scores"]["ap"] > 0.3e6 and views["scores"] != one["scores"], (views, one)
assert json.load(open("latency.json"))["model_ns"]["p50"] > 0
boxes = json.load(open("batches.txt"))
assert all(b["score"] >= 0.05 and len(b["bbox"]) == 4 and min(b["bbox"]) >= 0 for b in boxes)
assert max(sum(b["image_id"] == i for b in boxes) for i in range(1, 25)) <= 100
PY

# ---- pictures for people
"$DAWN" data show cells 2 --to cells.png >shown.txt
reads shown.txt 'cells.png shows drawn cells, train picture 2 of 96'
reads shown.txt 'RBC +[0-9]+, [0-9]+ to [0-9]+, [0-9]+'
[ "$(head -c 4 cells.png | tail -c 3)" = PNG ]
"$DAWN" data show cells 2 --to cells.png --json >shown.json
python3 -c 'import json; o = json.load(open("shown.json")); assert o["text"] == open("shown.txt").read() and o["file"] == "cells.png", o'
photo=$ROOT/test/fuzz/seeds/jpeg/progressive_420.jpg
"$DAWN" infer bccd "$photo" -o boxes.png --threads 1 >told.txt 2>where.txt
grep -Eqx 'nothing found|(RBC|WBC|Platelets) +[01][.][0-9]{3}  [0-9]+,[0-9]+ to [0-9]+,[0-9]+' told.txt
reads where.txt 'boxes in boxes.png'
[ "$(head -c 4 boxes.png | tail -c 3)" = PNG ]
"$DAWN" data verify cells >verified.txt
reads verified.txt '^drawn cells: synthetic$'

# ---- the report: precision over recall, a row per class, and three pictures next to the truth
"$DAWN" report >said.txt
python3 - <<'PY'
import base64, json, re
page = open("report.html").read()
shown = re.findall(r'<figcaption>(\w+): (cells_\d+), (AP ([0-9.]+), \d+ found|the truth: \d+)</figcaption>\n'
                   r'<img alt="[^"]+" src="data:image/jpeg;base64,([^"]+)"></figure>', page)
assert [s[0] for s in shown] == ["best", "best", "typical", "typical", "worst", "worst"], [s[:4] for s in shown]
assert all(a[1] == b[1] and a[3] and not b[3] for a, b in zip(shown[::2], shown[1::2]))
assert float(shown[0][3]) >= float(shown[2][3]) >= float(shown[4][3]) >= 0, [s[3] for s in shown]
assert all(base64.b64decode(s[4]).startswith(b"\xff\xd8\xff") for s in shown) and len({s[4] for s in shown}) == 6
rows = re.findall(r"<tr><td><bdi>(RBC|WBC|Platelets|all classes)</bdi></td>" + r'<td class="number value">([^<]+)</td>' * 5, page)
score = json.load(open("eval1.json"))
assert [r[0] for r in rows] == ["all classes", "RBC", "WBC", "Platelets"], rows
assert rows[0][1] == str(score["truths"]), (rows, score)
assert all(sum(int(r[k]) for r in rows[1:]) == int(rows[0][k]) for k in (1, 2)), rows
assert all(abs(sum(float(r[k]) for r in rows[1:]) / 3 - float(rows[0][k])) < 2e-4 for k in (3, 4, 5)), rows
assert abs(float(rows[0][3]) - score["AP"]) < 0.05, (rows, score)  # another precision
assert "precision-bccd" in page and "24 of the 24 test pictures are ranked" in page
PY
"$DAWN" report --no-answers -o plain.html >said.txt
lacks plain.html '<img|Answers'
mv run-1.safetensors kept
"$DAWN" report -o plain.html >said.txt
lacks plain.html '<img'
reads plain.html '<p>This part needs the weights and the data of a run of bccd: no run of task bccd in results.db has weights'
echo other >run-1.safetensors
"$DAWN" report -o plain.html >said.txt
reads plain.html 'does not have the weights that run 1 ended with'
mv kept run-1.safetensors

# ---- faults
echo text >text.jpg
says 1 'text.jpg' "$DAWN" infer bccd text.jpg --threads 1
head -c 700 "$photo" >cut.jpg
says 1 '^dawn infer: cut.jpg is damaged: ' "$DAWN" infer bccd cut.jpg --threads 1
says 1 'none.jpg' "$DAWN" infer bccd none.jpg --threads 1
says 2 'task bccd takes a photograph: "dawn infer bccd photo.jpg"' "$DAWN" infer bccd --ask words --threads 1
says 2 'a photograph or recording is taken alone' "$DAWN" infer bccd "$photo" --latency
says 2 '[-]-out draws the boxes of a photograph' "$DAWN" infer bccd -o boxes.png
says 2 'expected a task and one file at most' "$DAWN" infer bccd a.jpg b.jpg
says 2 'a photograph has a line per box' "$DAWN" infer bccd "$photo" --json --threads 1
says 2 '"data.zoom" is two numbers' "$DAWN" $train --set zoom=1
says 2 '"data.zoom" is two numbers' "$DAWN" $train --set zoom=2,1
says 2 '"evaluation.views" must be 1, 2 or 4' "$DAWN" $train --set views=3
says 2 '"data.jitter" is four numbers' "$DAWN" $train --set jitter=0.1,0.1
says 2 '"evaluation.views" of maskrcnn must be 1' "$DAWN" train pennfudan --data people --set views=2
says 2 '"data.crop" of maskrcnn must be zoom' "$DAWN" train pennfudan --data people --set crop=overlap
says 2 'label_smoothing": it must be 0' "$DAWN" $train --set label_smoothing=0.1
says 2 '5 numbers in "model.widths"; got 2' "$DAWN" $train --set widths=4,4
says 1 'ImageSets/Main/trainval.txt is missing; "dawn data fetch bccd" gets it' "$DAWN" train bccd --data .

# Files of a person: photographs with and without objects, and one that is cut off.
mkdir -p own/ImageSets/Main own/JPEGImages own/Annotations
for n in a b c; do
    cp "$photo" own/JPEGImages/$n.jpg
    echo "<annotation><size><width>40</width><height>32</height></size></annotation>" >own/Annotations/$n.xml
done
cat >own/Annotations/a.xml <<'XML'
<annotation><size><width>40</width><height>32</height></size>
<object><name>WBC</name><bndbox><xmin>4</xmin><ymin>5</ymin><xmax>30</xmax><ymax>30</ymax></bndbox></object></annotation>
XML
printf 'a\nb\n' >own/ImageSets/Main/trainval.txt
echo c >own/ImageSets/Main/test.txt
few="train bccd --data own --recipe cells --threads 1 --set epochs=1 --set batch=2 --set warmup_epochs=0 --set height=64 --set width=64"
expect 3 'target' "$DAWN" $few --db own.db # nothing is there to be found: AP 0
"$DAWN" report own.db -o own.html >said.txt
reads own.html '0 of the 1 test pictures are ranked'
mv own elsewhere
"$DAWN" report own.db -o own.html >said.txt
reads own.html 'run 1 was trained with --data .*own, which is gone'
mv elsewhere own
cp cut.jpg own/JPEGImages/b.jpg
for cache in 0 64; do
    says 1 "bccd, train(val)? sample 1.*own/JPEGImages/b.jpg" "$DAWN" $few --db none.db --set data.cache=$cache
done
rm own/JPEGImages/b.jpg
says 1 'own/JPEGImages/b.jpg' "$DAWN" $few --db none.db
mkdir -p some/ImageSets/Main
says 1 'some/ImageSets/Main/trainval.txt' "$DAWN" data fetch bccd --from some --to here
echo a >some/ImageSets/Main/trainval.txt
says 1 'ImageSets/Main/trainval.txt of BCCD has 4964' "$DAWN" data fetch bccd --from some --to here

# ---- killed and resumed
train="$train --no-stop --set epochs=6 --set zoom=0.7,1.4 --set data.cache=64 --set ema.decay=0.9 --target 0.001"
mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt || [ $? = 3 ]
resumes "0 3" 3 $train
