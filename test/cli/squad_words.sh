#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Narrow models of words learn to answer questions about generated stories, with and without vectors of a file; their weights
# answer again. Killed and resumed, one ends with the same bytes. Then files that they do not take, and weights of other words.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

narrow="--set data.length=96 --set data.stride=48 --set vocabulary=512 --set vectors=32 --set hidden=16 --set precision=f32
        --set word_dropout=0 --set model.dropout=0 --set filters.lr=2e-2 --set head.lr=2e-2 --set bias.lr=2e-2 --threads 1"
train="train squad-split --data stories"

# ---- FastFusionNet, vectors learned
"$DAWN" $train --recipe fastfusionnet $narrow --set epochs=2 --json >log.txt || [ $? = 3 ]
grep -q '"note": *"vectors of words are learned from the training texts; --vectors takes published ones"' log.txt
"$DAWN" results show 1 >show.txt
grep -q 'SYNTHETIC' show.txt
"$DAWN" infer squad-split --threads 1 --predictions answers.json >infer.txt
holds answers.json 'len(o) == 600 and all(o.values())' 'float(open("infer.txt").read().split(" F1 of ")[0].split()[-1]) >= 0.3'
"$DAWN" infer squad-split --threads 1 --latency --items 10 --warmup 2 >latency.txt
grep -q 'of 10 test questions' latency.txt
story="Anna comes from Oslo. Every evening Anna plays the harp. At home Otto keeps a donkey."
answer=$(echo "$story" | "$DAWN" infer squad-split --threads 1 --ask 'Which animal does Otto keep?')
[ -n "$answer" ]
[[ $story == *"$answer"* ]]

# ---- DrQA, on vectors of a file as GloVe's are: 300 numbers, a word twice, words with blanks; and a head line as word2vec has it
python3 - <<'PY' >vectors.txt
import random
words = ", . the of Anna Otto Oslo keeps plays harp donkey born In works".split()
lines = words + ["New Haven", "at name@domain.com", "harp", "nowhere"]
print(len(lines), 300)
for i, word in enumerate(lines):
    print(word, *("%.5g" % random.Random(f"{i} {j}").uniform(-1, 1) for j in range(300)))
PY
touch -d '1 minute ago' vectors.txt # a digest of a file that has just changed is not remembered
drqa="$train --recipe drqa $narrow --set vectors=300 --set tuned=4 --set epochs=0.2 --set dropout=0.1 --no-stop --vectors vectors.txt"
mkdir straight cache
export XDG_CACHE_HOME=$PWD/cache
"$DAWN" $drqa --db straight/results.db >drqa.txt || [ $? = 3 ]
grep -q '15 words of the training texts have a vector in vectors.txt' drqa.txt # "The" by its lower case
find cache -name 'vectors-*.pack' | grep -q . # packed: the next training reads no line of the text
"$DAWN" infer squad-split --threads 1 --db straight/results.db --vectors vectors.txt >infer.txt
grep -q " F1 of " infer.txt
"$DAWN" results show last --db straight/results.db >read.txt
"$DAWN" $drqa --set epochs=0.02 >drqa.txt || [ $? = 3 ]
"$DAWN" results show last | grep -q 'vectors.txt (.*, digest remembered)'
lacks read.txt remembered

# ---- killed and resumed, to the same bytes
resumes "0 3" 3 $drqa

# ---- options and files that do not fit together
says 2 'trained with vectors.txt: name that file with --vectors' "$DAWN" infer squad-split --threads 1 --db straight/results.db
says 2 'vocab does not apply' "$DAWN" $train --recipe drqa --vocab vectors.txt
says 2 'have no --vectors' "$DAWN" $train --vectors vectors.txt
says 1 'dimension 300, .* 200' "$DAWN" $train --recipe drqa --set vectors=200 \
    --vectors vectors.txt
says 2 'has no recurrent layers' "$DAWN" $train --set hidden=4
