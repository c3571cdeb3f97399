#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small BERT learns drawn articles to a target; its weights fill in masks again, one sequence at a time, and from the terminal. Killed
# and resumed it ends with the same bytes. The large task runs narrow, from a checkpoint with Hugging Face's names. Wrong options,
# lines and files: one sentence each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

# ---- to a target above guessing
train="train wiki-mlm --data articles --threads 1"
"$DAWN" $train --no-stop --target 0.3 >log.txt
reads log.txt '"the" for each of the'
reads log.txt 'the scored set is'
"$DAWN" results show 1 >show.txt
reads show.txt SYNTHETIC
reads show.txt 'masked-word accuracy'
"$DAWN" results export 1 --format json --to run.json
"$DAWN" infer wiki-mlm --threads 1 --precision f32 --latency --warmup 2 --predictions singles.txt --json >latency.json
"$DAWN" infer wiki-mlm --threads 1 --precision f32 --predictions batches.txt --json >batches.json
cmp singles.txt batches.txt # padding and neighbours change nothing
python3 - <<'PY'
import json
run = json.load(open("run.json"))["runs"][0]
points = [{s["metric"]: s["score"] for s in p["scores"]} for p in run["points"] if p.get("scores")]
assert all(set(p) == {"masked", "next", "loss"} for p in points), points
assert points[-1]["masked"] > 0.35e6 and points[-1]["loss"] < 3.2e6, points[-1]
one, all_ = json.load(open("latency.json")), json.load(open("batches.json"))
assert one["items"] == 1000 and one["model_ns"]["p50"] > 0, one
assert {k: one["scores"][k] for k in ("masked", "next")} == {k: all_["scores"][k] for k in ("masked", "next")}, (one, all_)
rows = [json.loads(line) for line in open("batches.txt")]
hits = sum(a == b for r in rows for a, b in zip(r["answers"], r["labels"]))
tries = sum(len(r["labels"]) for r in rows)
assert len(rows) == 1000 and hits * 1000000 // tries == all_["scores"]["masked"], (hits, tries)
assert all(r["ids"][0] == 2 and len(r["places"]) == len(r["labels"]) for r in rows)
PY

"$DAWN" eval baselines wiki-mlm --data articles >counts.txt
reads counts.txt '^ *0\.[0-9]{4} .*masked-word accuracy: "the" for each masked piece'
[ "$(wc -l <counts.txt)" = 4 ]

# ---- from the terminal
"$DAWN" infer wiki-mlm --threads 1 --ask 'Children feed the geese behind the [MASK].' >told.txt
grep -Eq '^church 0\.[0-9]+, [^ ]+ 0\.[0-9]+, ' told.txt
printf 'The [MASK] of the town shows two [MASK] on a red ground.\r\nalong the elbe there are gardens [MASK] of figs.' |
    "$DAWN" infer wiki-mlm --threads 1 --text - >told.txt
[ "$(wc -l <told.txt)" = 2 ]
[ "$(head -n 1 told.txt | tr -cd ';' | wc -c)" = 1 ]
[ "$(head -n 1 told.txt | cut -d ' ' -f 1) $(tail -n 1 told.txt | cut -d ' ' -f 1)" = 'flag full' ]
"$DAWN" infer wiki-mlm --threads 1 --ask 'a [MASK]' --json >told.json
holds told.json 'o["question"] == "a [MASK]" and o["answer"]'
says 1 'sentence 1 has no .MASK. to fill in' "$DAWN" infer wiki-mlm --threads 1 --ask 'no mask'
says 2 'takes one line' "$DAWN" infer wiki-mlm --ask $'[MASK]\nb'
says 1 'line 1 of the text has no article' "$DAWN" infer wiki-mlm --ask ' '

# ---- files: other pieces, and faults
mkdir -p other
for n in 0 1 2 3; do
    for k in 1 2 3; do printf '<doc id="%s">\nTitle\n\nA dog %s sees. The cat %s sees it! Why?\n</doc>\n' $k $n $k; done >other/wiki_0$n
done
# test/bench/neighbours.py counts the same.
"$DAWN" eval baselines wiki-mlm --data other >counts.txt
reads counts.txt '^ *0\.8062 .*masked-word accuracy: counts of the two pieces on each side'
reads counts.txt '^ *0\.6236 nat loss: counts of the two pieces on each side'
expect 1 'no tensor "pieces-of-training-text' "$DAWN" infer wiki-mlm --threads 1 --data other
"$DAWN" data show wiki-sample 2 --data other >shown.txt
reads shown.txt 'The cat 2 sees it!'
says 1 'results on it count as custom' "$DAWN" data verify wiki-sample --data other
sed -i '$d' other/wiki_02
says 1 'wiki_02:11: the article that begins here has no </doc>' "$DAWN" train wiki-mlm --data other
printf '<doc id="1">\nTitle\n\nOne.\n</doc>\n' >other/wiki_02
printf '<doc id="1">\nTitle\n\nOne.\n</doc>\n' >other/wiki_03
says 1 'the test text is one article' "$DAWN" train wiki-mlm --data other
says 2 'cannot be shared by 3 heads' "$DAWN" $train --set heads=3
says 2 '"data.length" is 256, and there are 128 positions' "$DAWN" $train --set data.length=256
says 2 '"data.short_length" is 128, and later samples have no more' "$DAWN" $train --set short_length=128
says 2 'wiki-mlm is scored on samples of 128 pieces, and there are 64 positions' "$DAWN" $train --set data.length=64 \
    --set positions=64
says 2 'label_smoothing" must be 0' "$DAWN" $train --set label_smoothing=0.1
says 2 'task wiki-mlm does not use such a file' "$DAWN" $train --vocab vocab.txt

# ---- killed in the brief epochs and resumed
train="$train --no-stop --set epochs=1.5 --set warmup_epochs=0.5 --set short_epochs=1 --set dropout=0.1 --target 0.01"
mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt
resumes "0" 5 $train

# ---- the large task: a narrow network from a checkpoint of another program, LAMB, MLPerf's form of the text
mkdir -p results4
for n in 0 1 2 3 4 5 6 7; do
    for k in 1 2 3 4 5; do printf 'the dog %s sees the cat .\nit runs away .\nwhy does it run %s ?\n\n' $n $k; done >results4/part-0000$n-of-00500
done
head -n 12 results4/part-00000-of-00500 >results4/eval.txt
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' the dog sees cat it runs run away why does . '?' 0 1 2 3 4 5 6 7 >vocab.txt
says 2 'reads the published pieces of BERT: give --vocab' "$DAWN" train bert-pretraining --data results4
large="train bert-pretraining --data results4 --vocab vocab.txt --threads 1 --no-stop --target 0.01 --recipe bert-large-512 --set layers=1
    --set width=16 --set heads=2 --set feed_forward=16 --set batch=8 --set epochs=3 --set warmup_epochs=1 --set evaluation.every=1"
python3 - <<'PY'
import json, struct
names = {"embeddings.word_embeddings.weight": (25, 16), "embeddings.position_embeddings.weight": (512, 16),
         "embeddings.token_type_embeddings.weight": (2, 16), "pooler.dense.weight": (16, 16), "pooler.dense.bias": (16,)}
layer = "encoder.layer.0."
for part in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense", "intermediate.dense",
             "output.dense"):
    names[layer + part + ".weight"], names[layer + part + ".bias"] = (16, 16), (16,)
for part in ("embeddings.LayerNorm", layer + "attention.output.LayerNorm", layer + "output.LayerNorm"):
    names[part + ".weight"], names[part + ".bias"] = (16,), (16,)
names = {"bert." + n: s for n, s in names.items()}
names |= {"cls.predictions.bias": (25,), "cls.predictions.transform.dense.weight": (16, 16),
          "cls.predictions.transform.dense.bias": (16,), "cls.predictions.transform.LayerNorm.weight": (16,),
          "cls.predictions.transform.LayerNorm.bias": (16,), "cls.predictions.decoder.weight": (25, 16),
          "cls.seq_relationship.weight": (2, 16), "cls.seq_relationship.bias": (2,)}
header, data = {}, b""
for n, shape in names.items():
    count = 1
    for d in shape:
        count *= d
    bytes_ = struct.pack(f"<{count}f", *((1 if "LayerNorm.weight" in n else 0.02 * ((7 * i) % 5 - 2)) for i in range(count)))
    header[n] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
    data += bytes_
text = json.dumps(header).encode()
open("hf.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
PY
"$DAWN" $large --weights hf.safetensors --db large.db >large.txt
reads large.txt 'masked'
"$DAWN" $large --weights large-run-1.safetensors --db second.db >second.txt # a phase begins with the weights of the one before
reads second.txt 'masked'
"$DAWN" results export 1 --db large.db --format mllog --to large.log
reads large.log '"key":"submission_benchmark","value":"bert"'
reads large.log '"key":"eval_accuracy"'
"$DAWN" infer bert-pretraining --db large.db --threads 1 --vocab vocab.txt --data results4 --ask 'the [MASK] runs away .' >told.txt
[ -s told.txt ]
"$DAWN" plan bert-pretraining --on h200 >plan.txt
reads plan.txt '336,226,108 parameters'
