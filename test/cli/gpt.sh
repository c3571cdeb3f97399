#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small GPT of each kind learns drawn lines to a target and writes such lines on; the first is scored again, block by block.
# Killed and resumed it ends with the same bytes. A narrow GPT-2 trains on drawn shards in the form of FineWeb's. Wrong prompts,
# options, texts and shards: one sentence each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

# ---- to a target
train="train gpt-char --data lines --threads 1 --no-stop"
"$DAWN" $train --target 0.5 --json >log.txt
"$DAWN" results show 1 >show.txt
reads show.txt SYNTHETIC
reads show.txt 'nat'
"$DAWN" results export 1 --format json --to run.json
"$DAWN" infer gpt-char --threads 1 --precision f32 --latency --warmup 2 --predictions singles.txt --json >latency.json
"$DAWN" infer gpt-char --threads 1 --precision f32 --predictions batches.txt --json >batches.json
python3 - <<'PY'
import json
points = json.load(open("run.json"))["runs"][0]["points"]
scores = [p["scores"][0]["score"] for p in points if p.get("scores")]
assert len(scores) == 5 and scores[-1] < 500000 < scores[0], scores
assert all(p["loss_micro"] > 0 for p in points), points
one, all_ = json.load(open("latency.json")), json.load(open("batches.json"))
assert one["items"] == 94 and one["model_ns"]["p50"] > 0, one
assert abs(one["scores"]["nats"] - all_["scores"]["nats"]) <= 2, (one, all_)  # the same sums in another order
assert abs(all_["scores"]["nats"] - scores[-1]) < 5000, (all_, scores)
rows = [line.split("\t") for line in open("batches.txt")]
assert [int(r[0]) for r in rows] == list(range(1, 95)) and [int(r[1]) for r in rows] == 93 * [64] + [48], rows
mean = sum(float(r[2]) for r in rows) / 6000
assert abs(mean - all_["scores"]["nats"] * 1e-6) < 2e-6, (mean, all_)
PY

# ---- a text written on: the same for the same seed, longer than a block, with characters of the text alone
write="infer gpt-char --threads 1 --precision f32"
"$DAWN" $write --prompt 'ANNA:' --length 300 --seed 3 >one.txt
"$DAWN" $write --prompt 'ANNA:' --length 300 --seed 3 >two.txt
"$DAWN" $write --prompt 'ANNA:' --length 300 --seed 4 >three.txt
cmp one.txt two.txt
if cmp -s one.txt three.txt; then echo "another seed writes the same"; exit 1; fi
[ "$(wc -c <one.txt)" = 306 ]
reads one.txt '^The (old|young|quiet|green|tired|golden|small|clever) (king|river|garden|horse|baker|tower|song|winter|bird|letter)'
"$DAWN" $write --prompt 'ANNA:' --length 40 --temperature 0 >greedy.txt
"$DAWN" $write --prompt 'ANNA:' --length 40 --top-k 1 --seed 9 >top.txt
cmp greedy.txt top.txt
[ -z "${EMULATED:-}" ] ||
    "$EMULATED" infer gpt-char --device cuda --precision f32 --prompt 'ANNA:' --length 40 --temperature 0 | cmp - greedy.txt
"$DAWN" $write --prompt '' --length 20 --json >told.json
holds told.json 'o["prompt"] == "" and len(o["text"]) == 21 and o["seed"] == 0'
"$DAWN" $write --prompt "$(head -c 150 one.txt)" --length 30 >long.txt # a prompt longer than a block
head -c 150 one.txt | cmp -n 149 - long.txt
says 2 'byte 5 \(0x3f\) is none of the 43 characters' "$DAWN" $write --prompt 'ANNA?'
says 2 'byte 1 \(0x1b\) is none' "$DAWN" $write --prompt $'\x1b[31m'
says 2 'say how --prompt is written on' "$DAWN" $write --seed 3
says 2 '--prompt writes alone' "$DAWN" $write --prompt A --latency
says 2 '0.*100' "$DAWN" $write --prompt A --temperature -1
says 2 'task gpt-char answers no questions' "$DAWN" infer gpt-char --threads 1 --ask 'Who?'
says 2 'task cifar10 writes no texts' "$DAWN" infer cifar10 --weights run-1.safetensors --prompt A

# ---- what counting scores
"$DAWN" eval baselines gpt-char --data lines --json >counts.json
"$DAWN" eval baselines gpt-char --data lines >counts.txt
reads counts.txt 'nat validation loss: counts of up to 5 characters in a row'
python3 - <<'PY'
import json, math
scores = [row["score"] for row in json.load(open("counts.json"))]
assert len(scores) == 7 and abs(scores[0] - math.log(43)) < 1e-9, scores
assert 0.3 < min(scores) < scores[1] < scores[0], scores
PY
says 2 'nothing is counted for cifar10; .*gpt-char.* have baselines' "$DAWN" eval baselines cifar10
says 2 'expected one task' "$DAWN" eval baselines

# ---- the network of the speedruns, with Muon
modern="$train --recipe gpt-modern --set layers=2 --set width=64 --set heads=2 --set feed_forward=64 --set dropout=0 --db modern.db"
"$DAWN" $modern --set epochs=1 --set activation=swiglu --target 1.5 >modern.txt
"$DAWN" infer gpt-char --threads 1 --db modern.db --prompt 'ANNA:' --length 100 >written.txt # longer than a block
[ "$(wc -c <written.txt)" = 106 ]
says 2 'gpt has no rotary positions' "$DAWN" $train --set activation=swiglu

# ---- texts
mkdir play
for n in $(seq 400); do echo "A dog $n sees the cat, and so on."; done >play/input.txt
says 1 'results on it count as custom' "$DAWN" data verify shakespeare --data play
"$DAWN" data show shakespeare 2 --data play >shown.txt
reads shown.txt 'training|train block 2 of'
reads shown.txt 'A dog 9 sees the cat, and so on.'
"$DAWN" train gpt-char --data play --recipe lines --threads 1 --set epochs=1 --set batch=4 --db play.db >play.txt || [ $? = 3 ]
expect 1 'characters-of-training-text' "$DAWN" infer gpt-char --threads 1 --data play --weights run-1.safetensors
head -c 2000 play/input.txt >cut && mv cut play/input.txt
says 1 'input.txt: the validation text has 200 tokens; one block needs 257' "$DAWN" train gpt-char --data play
printf 'caf\xc3\xa9' >play/input.txt
says 1 'input.txt: byte 4 is 0xc3' "$DAWN" train gpt-char --data play
rm play/input.txt
says 1 'input.txt is missing' "$DAWN" train gpt-char --data play

# ---- shards
mkdir shards
python3 - <<'PY'
import array
def shard(name, count, start, head=(20240520, 1)):
    words, tokens = array.array("i", [*head, count] + [0] * 253), array.array("H", ((start + i * i) % 97 for i in range(count)))
    open("shards/" + name, "wb").write(words.tobytes() + tokens.tobytes())
shard("fineweb_train_000001.bin", 5000, 0)
shard("fineweb_train_000002.bin", 3300, 5)
shard("fineweb_val_000000.bin", 2500, 1)
PY
"$DAWN" plan fineweb-gpt --on h200 >plan.txt
reads plan.txt '124,439,808 parameters'
small="train fineweb-gpt --data shards --threads 1 --set layers=1 --set width=16 --set heads=2 --set feed_forward=32 --set batch=2
    --set accumulate=1"
"$DAWN" $small --set epochs=1 --set warmup_epochs=0 --set evaluation.every=1 --db shards.db --json >small.txt || [ $? = 3 ]
"$DAWN" infer fineweb-gpt --threads 1 --data shards --db shards.db --json >small.json
holds small.json 'o["items"] == 3 and 1e6 < o["scores"]["nats"] < 11.5e6'
says 1 'no tokenizer of it is here' "$DAWN" infer fineweb-gpt --threads 1 --data shards --db shards.db --prompt A
mv shards/fineweb_train_000001.bin .
says 2 'dawn data fetch|docs/language.md' "$DAWN" data fetch fineweb
mv fineweb_train_000001.bin shards/fineweb_train_000001.bin
mv shards/fineweb_train_000002.bin shards/fineweb_train_000003.bin
says 1 'fineweb_train_000002.bin is missing' "$DAWN" $small
head -c 3000 shards/fineweb_train_000003.bin >shards/fineweb_train_000002.bin
says 1 'fineweb_train_000002.bin has 3000 bytes, and its 3300 tokens need 7624' "$DAWN" $small
cp run-1.safetensors shards/fineweb_train_000002.bin
says 1 'fineweb_train_000002.bin is no shard of tokens' "$DAWN" $small
rm shards/fineweb_train_00000[23].bin
printf '\377\377' | dd of=shards/fineweb_train_000001.bin bs=1 seek=2000 conv=notrunc status=none
says 1 'fineweb_train_000001.bin: token 489 is 65535; GPT-2 has 50257' "$DAWN" $small

# ---- killed and resumed
train="$train --set epochs=2 --set dropout=0.1"
mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt || [ $? = 3 ]
resumes "0 3" 5 $train
