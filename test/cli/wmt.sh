#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The large tasks of translation on a few lines in the form of MLPerf's files: a narrow network of each trains, answers and is scored
# by the task's rules; plans need no data. Wrong files: one sentence each.
set -eu
. "$ROOT/test/status.sh"

mkdir -p w16 w17
escape=$'\e' # in the targets of the training alone
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
    echo "A d@@ og $n sees th@@ e cat , &quot; Ot@@ to &quot; ." >>w16/train.tok.clean.bpe.32000.en
    echo "Ein H@@ und $n sieht die Kat@@ ze , „ Otto “ auf${escape}9 m² ." >>w16/train.tok.clean.bpe.32000.de
    echo "A dog $n sees the cat, \"Otto\"." >>w17/wmt32k-compiled-train.lang1
    echo "Ein Hund $n sieht die Katze, „Otto“ auf${escape}9 m²." >>w17/wmt32k-compiled-train.lang2
done
echo >>w17/wmt32k-compiled-train.lang1
echo 'Nichts.' >>w17/wmt32k-compiled-train.lang2
head -n 4 w16/train.tok.clean.bpe.32000.en >w16/newstest2014.tok.bpe.32000.en
head -n 4 w17/wmt32k-compiled-train.lang1 >w17/newstest2014.en
head -n 4 w17/wmt32k-compiled-train.lang2 | tr '\033' ' ' | sed '1s/Hund/Wolf/' | tee w16/newstest2014.de >w17/newstest2014.de
{
    printf "'<pad>'\n'<EOS>'\n'_'\n', _'\n'Hund_'\n'sieht_'\n'._'\n'\"_'\n"
    for c in A d o g s e t h c a O i n E K z m f ² „ “ 1 2 3 4 5 6 7 8 9 0 , '"' . ' ' ';' _; do [ "$c" = _ ] || echo "'$c'"; done
    printf "'%s'\n" '\' u
} >w17/vocab.ende.32768

# ---- the files
"$DAWN" data show wmt16 2 --data w16 >shown.txt
reads shown.txt 'A dog 2 sees the cat , &quot; Otto &quot; .'
expect 1 'results on it count as custom' "$DAWN" data verify wmt17 --data w17
reads out '1 samples of its source are left out'
says 2 "MLPerf's scripts make its files" "$DAWN" data fetch wmt17
says 1 'train.tok.clean.bpe.32000.en is missing' "$DAWN" train wmt16-gnmt --data w17

# ---- plans without data
"$DAWN" plan wmt17-transformer --on h200 >plan.txt
reads plan.txt '210,880,512 parameters'

# ---- a narrow network of each: the record's score belongs to its answers, by the task's rules (each gives these lines other words)
narrow='--threads 1 --no-stop --set epochs=200 --set warmup_epochs=20 --set text.merges=40 --set width=32 --set layers=2
    --set dropout=0 --set tokens=0 --set batch=4'
check_score() { # TASK DATA RULES NAME: the score of the answers, by "dawn eval bleu" too, and the benchmark's name in the log
    "$DAWN" infer "$1" --threads 1 --data "$2" --db "$2.db" --predictions "$2.answers" --json >"$2.json"
    "$DAWN" eval bleu w17/newstest2014.de "$2.answers" --lowercase --tokenize "$3" --json >"$2.bleu"
    holds "$2.json" "o['scores']['bleu'] == math.floor(load('$2.bleu')['bleu'] * 1e6) > 50e6"
    "$DAWN" results export 1 --db "$2.db" --format mllog --to "$2.mllog"
    reads "$2.mllog" "\"submission_benchmark\",\"value\":\"$4\""
    "$DAWN" results export 1 --db "$2.db" --format json --to "$2.run"
    python3 - "$2" <<'PY'
import json, sys # the accuracies are BLEU as a share of 1, as MLPerf's checker reads them
points = json.load(open(sys.argv[1] + ".run"))["runs"][0]["points"]
scores = [s["score"] / 1e8 for p in points for s in p.get("scores", []) if s["metric"] == "bleu"]
lines = [json.loads(line[len(":::MLLOG "):]) for line in open(sys.argv[1] + ".mllog")]
told = [line["value"] for line in lines if line["key"] == "eval_accuracy"]
assert told and all(abs(a - b) < 1e-8 for a, b in zip(told, scores)) and 0.2 < max(told) <= 1, (told, scores)
PY
}
"$DAWN" train wmt16-gnmt --data w16 --db w16.db --recipe gnmt-mini $narrow --set step.at=120,150,180,190 \
    --set filters.lr=1e-2 --set head.lr=1e-2 --set bias.lr=1e-2 >w16.txt || [ $? = 3 ]
check_score wmt16-gnmt w16 intl gnmt
reads w16.answers ', „Otto“ auf 9 m²[.]' # a blank for the escape, which would reach terminals
"$DAWN" train wmt17-transformer --data w17 --db w17.db --recipe phrases $narrow --set data.length=64 >w17.txt || [ $? = 3 ]
check_score wmt17-transformer w17 t2t transformer
reads w17.answers ', „Otto“ auf 9 m²[.]'
[ "$("$DAWN" infer wmt17-transformer --threads 1 --data w17 --db w17.db --ask 'A dog 3 sees the cat, "Otto".')" = \
    "$(sed -n 3p w17.answers)" ]

# ---- another vocabulary, or none
echo "'Katze_'" >>w17/vocab.ende.32768
expect 1 'no tensor "merges-of-training-text' "$DAWN" infer wmt17-transformer --threads 1 --data w17 --db w17.db
echo 'Katze_' >>w17/vocab.ende.32768
says 1 'the line is not a subtoken in single quotes' "$DAWN" train wmt17-transformer --data w17 --recipe phrases $narrow
rm w17/vocab.ende.32768
says 1 'vocab.ende.32768' "$DAWN" train wmt17-transformer --data w17 --recipe phrases $narrow
