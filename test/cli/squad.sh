#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A tiny encoder learns to answer questions about generated stories; its weights answer again, one question at a time, and
# from the terminal. Killed and resumed it ends with the same bytes. Then options and files that do not fit together: one sentence each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

# ---- to the target; its record and its weights
train="train squad-split --data stories --threads 1"
"$DAWN" $train --json >log.txt
"$DAWN" results show 1 >show.txt
grep -q 'SYNTHETIC' show.txt
grep -qw 'F1' show.txt
"$DAWN" infer squad-split --threads 1 --predictions answers.json >infer.txt
holds log.txt 'isinstance(o, list)'
holds answers.json 'len(o) == 600 and all(isinstance(a, str) for a in o.values())' 'sum(bool(a) for a in o.values()) > 590' \
    'float(open("infer.txt").read().split(" F1 of ")[0].split()[-1]) >= 0.65'
"$DAWN" infer squad-split --threads 1 --precision f32 --latency --items 20 --warmup 2 >latency.txt
grep -q 'of 20 test questions' latency.txt
grep -q 'with preprocessing' latency.txt

# ---- a question from the terminal
story="Anna comes from Oslo. Every evening Anna plays the harp. At home Otto keeps a donkey."
answer=$(echo "$story" | "$DAWN" infer squad-split --threads 1 --ask 'Which animal does Otto keep?')
[ -n "$answer" ]
[[ $story == *"$answer"* ]]
echo "$story" >story.txt
"$DAWN" infer squad-split --threads 1 --ask 'What does Anna play every evening?' --text story.txt --json >told.json
holds told.json 'o["answer"] in open("story.txt").read() and o["answer"]'
work=$(printf 'Otto works as a night\nnurse. Anna comes from Oslo.' | # an answer over the end of a line is not cut
    "$DAWN" infer squad-split --threads 1 --ask "What is Otto's work?")
[ "$work" = $'night\nnurse' ]
cp results.db ask.db # a newer run of a task that answers nothing is passed over
"$DAWN" train cifar10 --data synthetic --threads 1 --set epochs=0.1 --no-stop --db ask.db >/dev/null || [ $? = 3 ]
"$DAWN" infer --threads 1 --db ask.db --ask 'Which animal does Otto keep?' --text story.txt >told.txt 2>which.txt
[ "$(cat told.txt)" = "$answer" ]
grep -q '^run 1 of ask.db, the newest with weights: squad-split, ' which.txt
says 1 'the text is not text in UTF-8' "$DAWN" infer squad-split --threads 1 --ask Who? --text run-1.safetensors
says 2 'text that --ask asks about' "$DAWN" infer squad-split --text story.txt
says 2 'they exclude --latency' "$DAWN" infer squad-split --ask Who? --latency

# ---- killed and resumed
train="$train --set epochs=1 --set warmup_epochs=0.5 --set dropout=0.1 --no-stop"
mkdir straight
"$DAWN" $train --db straight/results.db >straight.txt || [ $? = 3 ]
resumes "0 3" 5 $train

# ---- files that do not fit together
mkdir six
python3 - <<'PY'
import json
question = {"id": "q", "question": "Where does Anna come from?", "answers": [{"text": "Oslo", "answer_start": 16}]}
articles = [{"title": str(i), "paragraphs": [{"context": "Anna comes from Oslo.", "qas": [question | {"id": f"q{i}"}]}]}
            for i in range(6)]
json.dump({"version": "1.1", "data": articles}, open("six/dev-v1.1.json", "w"))
PY
printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' anna comes >vocab.txt
six="train squad-split --data six --threads 1 --db six.db"
given="--recipe stories --batch 1 --weights run-1.safetensors --vocab vocab.txt"
says 2 'give --weights model.safetensors and --vocab vocab.txt' "$DAWN" $six
says 2 'begins with trained weights' "$DAWN" $six --vocab vocab.txt
says 1 'there is no file nothing' "$DAWN" $six --weights nothing --vocab vocab.txt
says 1 '1 of another shape or type \(embeddings.word_embeddings.weight F32 \[[0-9]*x64\] instead of F32 \[6x64\]\)' "$DAWN" $six $given
says 1 '[0-9]+ that the model does not know \(encoder.layer.1' "$DAWN" $six $given --set layers=1
says 1 '[0-9]+ tensors are missing \(encoder.layer.2' "$DAWN" $six $given --set layers=3
says 2 'cannot be shared by 3 heads' "$DAWN" $six $given --set heads=3
says 2 'there are 96 positions' "$DAWN" $six $given --set data.length=128
printf '[PAD]\n[UNK]\n[CLS]\nanna\n' >short.txt
says 1 '\[SEP\]' "$DAWN" $six --recipe stories --batch 1 --weights run-1.safetensors --vocab short.txt
