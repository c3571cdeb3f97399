#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small Deep Speech learns drawn chords to a target. Its words as Kaldi's texts have the score of the run, one utterance at a time and
# in batches; a recording of a person gets its words printed. Killed and resumed it ends with the same bytes. The run is submitted to a
# board. Wrong options and files: one sentence each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

# ---- to a target
train="train an4 --data chords --threads 1"
"$DAWN" $train --target 0.3 --set evaluation.every=0.25 >log.txt
reads log.txt SYNTHETIC
"$DAWN" results show 1 >show.txt
reads show.txt 'word error rate'
"$DAWN" results export 1 --format json --to run.json
"$DAWN" infer an4 --threads 1 --precision f32 --predictions batches.txt --json >batches.json
"$DAWN" infer an4 --threads 1 --precision f32 --latency --warmup 2 --predictions singles.txt --json >latency.json
cmp singles.txt batches.txt # padding and neighbours change nothing
"$DAWN" infer an4 --threads 1 --precision f32 --set search.beam=10 --predictions beam.txt --json >beam.json
python3 - <<'PY'
import json
run = json.load(open("run.json"))["runs"][0]
scores = [{s["metric"]: s["score"] for s in p["scores"]} for p in run["points"] if p.get("scores")]
assert all(set(s) == {"wer", "cer"} for s in scores) and scores[-1]["wer"] <= 300000 < scores[0]["wer"], scores
one, all_, beam = (json.load(open(f + ".json")) for f in ("latency", "batches", "beam"))
assert one["scores"] == all_["scores"] and one["model_ns"]["p50"] > 0, (one, all_)
assert abs(all_["scores"]["wer"] - scores[-1]["wer"]) < 50000, (all_, scores)  # another precision
assert beam["decoding"] == "search.beam=10" and beam["scores"]["wer"] <= all_["scores"]["wer"] + 20000, (beam, all_)
lines = [line.split() for line in open("batches.txt")]
assert len(lines) == one["items"] and len({l[0] for l in lines}) == len(lines), lines[:3]
assert all(word.isalpha() and word.isupper() for l in lines for word in l[1:]), lines
PY

# ---- the report: the worst utterances first
"$DAWN" report >said.txt
python3 - <<'PY'
import json, re
page = open("report.html").read()
rows = re.findall(r"<tr><td>(worst|typical)</td><td><bdi>([^<]+)</bdi></td><td class=\"number value\">([0-9.]+)</td>"
                  r"<td class=\"number value\">(\d+)</td><td><bdi>([^<]+)</bdi></td><td><bdi>([^<]*)</bdi></td></tr>", page)
assert [r[0] for r in rows] == 5 * ["worst"] + 5 * ["typical"], rows
said = dict((l.split() + [""])[0:1] + [" ".join(l.split()[1:])] for l in open("singles.txt"))
assert all((r[4] == r[5]) == (r[3] == "0") for r in rows), rows
assert len(said) >= len({r[1] for r in rows}) == 10 and {r[1] for r in rows} <= set(said), rows
PY

# ---- a recording of a person
python3 - <<'PY'
import math, struct, wave
with wave.open("hello.wav", "wb") as f:
    f.setnchannels(1), f.setsampwidth(2), f.setframerate(16000)
    f.writeframes(b"".join(struct.pack("<h", int(8000 * math.sin(t * (0.1 + 0.1 * (t // 4000))))) for t in range(16000)))
PY
"$DAWN" infer an4 hello.wav --threads 1 >words.txt
[ "$(wc -l <words.txt)" = 1 ]
"$DAWN" infer an4 hello.wav --threads 1 --json >words.json
python3 -c 'import json; o = json.load(open("words.json"))
assert o["question"] == "hello.wav" and (o["answer"] or "(no answer)") == open("words.txt").read().strip(), o'

# ---- faults
says 1 'none.wav' "$DAWN" infer an4 none.wav --threads 1
head -c 30 hello.wav >cut.wav
says 1 'cut.wav' "$DAWN" infer an4 cut.wav --threads 1
says 2 'task an4 takes a recording: "dawn infer an4 hello.wav"' "$DAWN" infer an4 --ask words --threads 1
says 2 'a photograph or recording is taken alone' "$DAWN" infer an4 hello.wav --latency
says 2 'task an4 draws nothing' "$DAWN" infer an4 hello.wav -o words.png
says 2 'label_smoothing": it must be 0' "$DAWN" $train --set label_smoothing=0.1
says 2 '"model.stride" is 2 or 4, not 3' "$DAWN" $train --set stride=3
says 2 'search.beam' "$DAWN" $train --set search.beam=101

# ---- the large networks are planned without their data
for task in librispeech-100 librispeech; do
    "$DAWN" plan $task --on h200 >plan.txt
    reads plan.txt 'h200|H200'
done
reads plan.txt '217,193,248'

# ---- killed and resumed
train="$train --no-stop --set epochs=3 --set tempo=0.1 --set gain=3 --set bands=1 --set stretches=1 --target 0.001"
mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt || [ $? = 3 ]
resumes "0 3" 3 $train

# ---- a board of synthetic runs, where fewer errors are better
. "$ROOT/test/board.sh"
export XDG_CONFIG_HOME=$PWD/config
"$DAWN" keys new mine >key.txt
start_board board
"$DAWN" submit results.db --run 1 --server "$url" --handle ada --yes >sent.txt
curl -fsS "$url/runs/1" >page.html
reads page.html 'word error rate'
reads page.html 'Other metric.*character error rate'
stop_board
