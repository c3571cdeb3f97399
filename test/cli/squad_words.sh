#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Narrow models of words learn to answer questions about generated stories, with and without vectors of a file; their weights
# answer again. Then files that they do not take, and weights of other words.
set -eu

says() {
    local want=$1 pattern=$2 got=0
    shift 2
    "$@" >out.txt 2>err.txt || got=$?
    if [ "$got" != "$want" ] || ! grep -qE -- "$pattern" err.txt || [ "$(wc -l <err.txt)" != 1 ]; then
        echo "wanted status $want and one line like \"$pattern\", got $got from: $*"
        cat out.txt err.txt
        exit 1
    fi
}

narrow="--set data.length=96 --set data.stride=48 --set vocabulary=512 --set vectors=32 --set hidden=16 --set precision=f32
        --set word_dropout=0 --set model.dropout=0 --set filters.lr=2e-2 --set head.lr=2e-2 --set bias.lr=2e-2 --threads 1"
train="train squad-split --data stories"

# ---- FastFusionNet, vectors learned
"$DAWN" $train --recipe fastfusionnet $narrow --set epochs=2 --json >log.txt || [ $? = 3 ]
"$DAWN" results show 1 >show.txt
grep -q 'SYNTHETIC' show.txt
"$DAWN" infer squad-split --threads 1 --predictions answers.json >infer.txt
python3 - <<'PY'
import json
answers = json.load(open("answers.json"))
assert len(answers) == 600 and all(answers.values())
shown = float(open("infer.txt").read().split(" F1 of ")[0].split()[-1])
assert shown >= 0.3, shown
PY
"$DAWN" infer squad-split --threads 1 --latency --items 10 --warmup 2 >latency.txt
grep -q 'of 10 test questions' latency.txt
story="Anna comes from Oslo. Every evening Anna plays the harp. At home Otto keeps a donkey."
answer=$(echo "$story" | "$DAWN" infer squad-split --threads 1 --ask 'Which animal does Otto keep?')
[ -n "$answer" ]
[[ $story == *"$answer"* ]]

# ---- DrQA, on vectors of a file
python3 - <<'PY' >vectors.txt
import random
for word in ", . the of Anna Otto Oslo keeps plays harp donkey born In works".split():
    print(word, *("%.3f" % random.Random(word + str(i)).uniform(-1, 1) for i in range(32)))
PY
touch -d '1 minute ago' vectors.txt # a digest of a file that has just changed is not remembered
"$DAWN" $train --recipe drqa $narrow --set tuned=4 --set epochs=0.2 --vectors vectors.txt >drqa.txt || [ $? = 3 ]
"$DAWN" results show last >read.txt
"$DAWN" infer squad-split --threads 1 --vectors vectors.txt >infer.txt
grep -q " F1 of " infer.txt
"$DAWN" $train --recipe drqa $narrow --set tuned=4 --set epochs=0.02 --vectors vectors.txt >drqa.txt || [ $? = 3 ]
"$DAWN" results show last | grep -q 'vectors.txt (.*, digest remembered)'
if grep 'remembered' read.txt; then exit 1; fi

# ---- what does not fit together
says 2 'trained with vectors.txt: name that file with --vectors' "$DAWN" infer squad-split --threads 1
says 2 'takes no --vocab' "$DAWN" $train --recipe drqa --vocab vectors.txt
says 2 'have no --vectors' "$DAWN" $train --vectors vectors.txt
says 1 'vectors.txt' "$DAWN" $train --recipe drqa --vectors vectors.txt
says 2 'has no recurrent layers' "$DAWN" $train --set hidden=4
