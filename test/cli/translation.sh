#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small Transformer learns to translate drawn phrases; its weights translate again, one sentence at a time, and from the
# terminal. `dawn eval bleu` finds the score of the predictions. Killed and resumed it ends with the same bytes. Wrong options,
# lines and files: one sentence each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

# ---- to the end of the schedule: a greedy score at each evaluation, and one with a beam at the end
train="train multi30k --data phrases --threads 1 --no-stop"
"$DAWN" $train --json >log.txt
"$DAWN" results show 1 >show.txt
reads show.txt SYNTHETIC
reads show.txt BLEU
"$DAWN" results export 1 --format json --to run.json
"$DAWN" infer multi30k --threads 1 --predictions answers.txt >infer.txt
"$DAWN" infer multi30k --threads 1 --precision f32 --latency --warmup 2 --predictions singles.txt --json >latency.json
"$DAWN" infer multi30k --threads 1 --precision f32 --predictions batches.txt --json >batches.json
cmp singles.txt batches.txt # padding and neighbours change nothing
python3 - <<'PY'
import json
points = json.load(open("run.json"))["runs"][0]["points"]
log = [json.loads(line) for line in open("log.txt")]
scores = [{s["metric"]: s["score"] for s in p["scores"]} for p in points if p.get("scores")]
logged = [{m: round(v * 1e6) for m, v in row["scores"].items()} for row in log if row["event"] == "epoch"]
assert logged == scores and [row["event"] for row in log][-1] == "end", log
assert len(scores) == 6 and all(set(s) == {"bleu", "greedy"} for s in scores), scores
assert all(s["bleu"] == s["greedy"] for s in scores[:-1]), scores
assert scores[-1]["bleu"] > 90e6 and scores[-1]["greedy"] > 90e6, scores
one, all_ = json.load(open("latency.json")), json.load(open("batches.json"))
assert one["scores"]["bleu"] == all_["scores"]["bleu"] and "greedy" not in one["scores"], (one, all_)
assert one["items"] == 500 and one["model_ns"]["p50"] > 0, one
assert len(open("answers.txt").read().splitlines()) == 500
PY

# ---- the search is a choice of decoding, which an inference may change: it says so, and its latency belongs to no run
"$DAWN" infer multi30k --threads 1 --precision f32 --set search.beam=1 --json >beam1.json
holds beam1.json 'o["decoding"] == "search.beam=1" and o["scores"]["bleu"] == o["scores"]["greedy"]'
"$DAWN" infer multi30k --threads 1 --precision f32 --set search.beam=5 --json >beam5.json
holds beam5.json '"decoding" not in o and o["scores"] == load("batches.json")["scores"]'
"$DAWN" infer multi30k --threads 1 --precision f32 --items 20 --latency --warmup 2 --set search.beam=2 --set search.alpha=.5 >beam2.txt
reads beam2.txt 'search.beam=2 search.alpha=0.5'
"$DAWN" results list >list.txt
reads list.txt 'transformer, search.beam=2 search.alpha=0.5'
"$DAWN" results export 1 --format json --to after.json
holds after.json '[row["model"] for row in o["runs"][0]["latencies"]] == ["transformer"]'
says 2 'trained with, and --set width cannot change that' "$DAWN" infer multi30k --set width=32
says 2 'search.beam' "$DAWN" infer multi30k --set search.beam=11

# ---- from the terminal
[ "$("$DAWN" infer multi30k --threads 1 --ask 'The young horse draws a strong bicycle in the snow.')" = \
    'im schnee malt das junge pferd ein starkes fahrrad .' ]
printf 'a red goose sees the quick cat .\r\nTHE CAT HEARS THE DOG .' | "$DAWN" infer multi30k --threads 1 --text - >told.txt
printf 'eine rote gans sieht die schnelle katze .\ndie katze hört den hund .\n' | cmp - told.txt
[ -z "${EMULATED:-}" ] || printf 'a red goose sees the quick cat .\nthe cat hears the dog .' |
    "$EMULATED" infer multi30k --device cuda --precision f32 --text - | cmp - told.txt # the same search on an emulated GPU
"$DAWN" infer multi30k --threads 1 --ask 'a dog' --json >told.json
holds told.json 'o["question"] == "a dog" and o["answer"]'
"$DAWN" infer multi30k --threads 1 --ask 'a dog sees the cat .' --attention map.svg 2>/dev/null >told.txt
python3 - <<'PY'
import xml.etree.ElementTree as xml
svg = "{http://www.w3.org/2000/svg}"
root = xml.parse("map.svg").getroot()
names = [t.text for t in root.iter(svg + "text")]
columns, rows = [names[: names.index("(end)") + 1], names[names.index("(end)") + 1 :]]
assert " ".join(rows) == open("told.txt").read().strip() + " (end)" and columns == "a dog sees the cat . (end)".split(), names
shares = [float(r.get("fill-opacity")) for r in root.iter(svg + "rect") if r.get("fill-opacity")]
assert len(shares) == len(rows) * len(columns), len(shares)
sums = [sum(shares[i * len(columns) : (i + 1) * len(columns)]) for i in range(len(rows))]
assert all(abs(s - 1) < 0.01 for s in sums) and max(shares) > 0.4, (sums, shares)
PY
"$DAWN" report --picture map.svg -o page.html >/dev/null # one file, with the picture as it is
python3 - <<'PY'
import base64, re
page = open("page.html").read()
data = re.findall('<figcaption>map.svg</figcaption>\n<img alt="map.svg" src="data:image/svg.xml;base64,([^"]*)">', page)
assert [base64.b64decode(d, validate=True) for d in data] == [open("map.svg", "rb").read()], data
PY
"$DAWN" report -o page.html >/dev/null # without a picture: the newest weights translate again
python3 - <<'PY'
import base64, re
import xml.etree.ElementTree as xml
page = open("page.html").read()
rows = re.findall("<tr><td>([^<]+)</td><td>([^<]+)</td><td>([^<]+)</td></tr>", page)
assert len(rows) == 8 and sum(row[1] == row[2] for row in rows) >= 6, rows
data = re.findall('<img alt="What each word of the first translation looked at" src="data:image/svg.xml;base64,([^"]*)">', page)
svg = "{http://www.w3.org/2000/svg}"
names = [t.text for t in xml.fromstring(base64.b64decode(data[0], validate=True)).iter(svg + "text")]
assert len(data) == 1 and " ".join(names) == f"{rows[0][0]} (end) {rows[0][2]} (end)", (names, rows[0])
PY
"$DAWN" report --no-answers -o page.html >/dev/null
lacks page.html 'Translations|<img'
says 1 'told.txt is neither SVG, PNG nor JPEG' "$DAWN" report --picture map.svg --picture told.txt
says 1 'none.svg' "$DAWN" report --picture none.svg
says 2 '--picture must not be empty' "$DAWN" report --picture ''
says 2 '--picture is for HTML: md has none' "$DAWN" report --picture map.svg -o page.md
says 2 'draws the answer to --ask' "$DAWN" infer multi30k --attention map.svg
says 2 'name the pairs: give one of them' "$DAWN" infer multi30k --ask dog --text told.txt
says 2 'takes one line' "$DAWN" infer multi30k --ask $'a\nb'
says 2 '--ask needs a sentence' "$DAWN" infer multi30k --ask ' '
printf '\na red goose sees the quick cat .\n \t\n\r\nthe cat hears the dog .\n\n' >blanks.txt
"$DAWN" infer --threads 1 --text blanks.txt >told.txt 2>which.txt # blank lines stay where they are
printf '\neine rote gans sieht die schnelle katze .\n\n\ndie katze hört den hund .\n\n' | cmp - told.txt
printf '\n\n' | "$DAWN" infer multi30k --threads 1 --text - | cmp - <(printf '\n\n')
: >empty.txt
says 1 'the text has no line' "$DAWN" infer multi30k --threads 1 --text empty.txt
cp results.db newer.db # a newer run of a task that translates nothing is passed over
"$DAWN" train cifar10 --data synthetic --threads 1 --set epochs=0.1 --no-stop --db newer.db >/dev/null || [ $? = 3 ]
"$DAWN" infer --threads 1 --db newer.db --text blanks.txt 2>which.txt | cmp - told.txt
reads which.txt '^run 1 of newer.db, the newest with weights: multi30k, '
says 1 'weights of a task that answers questions, as squad does' "$DAWN" infer --db newer.db --ask dog --text told.txt
for n in $(seq 200); do echo 'the cat hears the dog .'; done >many.txt # more than one buffer of answers
if [ -c /dev/full ]; then
    rc=0
    "$DAWN" infer multi30k --threads 1 --text many.txt >/dev/full 2>err || rc=$?
    [ "$rc" = 1 ] && [ "$(wc -l <err)" = 1 ] && reads err 'cannot write the output'
fi
{ "$DAWN" infer multi30k --threads 1 --text many.txt 2>err || echo "$?" >left; } | : # a reader that leaves is no failure
[ ! -e left ] && [ ! -s err ]
says 2 'they exclude --latency' "$DAWN" infer multi30k --ask dog --latency
long=$(printf 'dog %.0s' $(seq 80))
says 1 'the text:1: the line has 81 symbols, and there are 64 positions' "$DAWN" infer multi30k --threads 1 --ask "$long"
printf 'a dog .\n\n%s\n' "$long" >long.txt
says 1 'the text:3: the line has 81 symbols' "$DAWN" infer multi30k --threads 1 --text long.txt

# ---- other symbols are refused: the weights belong to the merges of their training text
mkdir -p other
cd other
for part in train test_2016_flickr val; do
    for n in 1 2 3 4 5 6 7 8 9; do echo "a dog $n sees the cat $n ."; done >"$part.lc.norm.tok.en"
    for n in 1 2 3 4 5 6 7 8 9; do echo "ein hund $n sieht die katze $n ."; done >"$part.lc.norm.tok.de"
done
cd ..
expect 1 'no tensor "merges-of-training-text' "$DAWN" infer multi30k --threads 1 --data other
says 1 'other/test_2016_flickr.lc.norm.tok.en:1: the line has 9 symbols, and there are 8 positions' \
    "$DAWN" train multi30k --data other --set data.length=8 --set positions=8
echo 'one more' >>other/train.lc.norm.tok.de
says 1 'train.lc.norm.tok.en has 9 lines and train.lc.norm.tok.de has 10' "$DAWN" train multi30k --data other
says 2 'cannot be shared by 3 heads' "$DAWN" $train --set heads=3
says 2 '"data.length" is 128, and there are 64 positions' "$DAWN" $train --set data.length=128
says 2 'search.beam' "$DAWN" $train --set search.beam=11
"$DAWN" $train --set epochs=0.1 --set warmup_epochs=0 --set data.length=10 --db short.db >short.txt || [ $? = 3 ]
reads short.txt '3,577 of training are longer than data.length and left out'

# ---- killed and resumed
train="$train --set epochs=1 --set warmup_epochs=0.5 --set dropout=0.1 --set schedule.ema.decay=1 --set schedule.ema.every=9"
mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt || [ $? = 3 ]
resumes "0 3" 5 $train
