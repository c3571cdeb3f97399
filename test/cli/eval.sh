# SPDX-License-Identifier: Apache-2.0
# `dawn eval squad`: scores as the published evaluation prints them, and wrong use and files. `dawn data show` of questions.
set -eu

. "$ROOT/test/status.sh"

cat >dev.json <<'EOF'
{"version": "1.1", "data": [{"title": "Towns", "paragraphs": [{"context": "Café Nora is in Málaga, not in Oslo.", "qas": [
 {"id": "a", "question": "Where is it?", "answers": [{"text": "Málaga", "answer_start": 16}, {"text": "in Málaga", "answer_start": 13}]},
 {"id": "b", "question": "Where is it not?", "answers": [{"text": "Oslo", "answer_start": 31}]},
 {"id": "c", "question": "What is it?", "answers": [{"text": "Café Nora", "answer_start": 0}]}]}]}]}
EOF
echo '{"a": "the Málaga!", "b": "not in Oslo", "d": "x"}' >p.json
expect 0 '^F1           50.0000%$' "$DAWN" eval squad dev.json p.json
grep -qx 'exact match  33.3333%  (1 of 3 questions)' out
grep -qx '1 have no prediction and score 0' out
grep -qx '1 prediction belongs to no question of the file' out
[ ! -s err ]
[ "$(status "$DAWN" eval squad dev.json p.json --json)" = 0 ]
[ "$(cat out)" = '{"exact_match": 33.333333333333336, "f1": 50.0}' ]
echo '{"a": "Málaga", "b": "Oslo", "c": "Café Nora"}' >p.json
[ "$(status "$DAWN" eval squad dev.json p.json -j)" = 0 ]
[ "$(cat out)" = '{"exact_match": 100.0, "f1": 100.0}' ]

[ "$(status "$DAWN" eval)" = 2 ]
says 2 '^dawn eval: there is no evaluation "squid"; did you mean "squad"\?$' "$DAWN" eval squid dev.json p.json
[ "$(status "$DAWN" eval squad dev.json)" = 2 ]
says 2 '^dawn eval: eval does not take "more"$' "$DAWN" eval squad dev.json p.json more
says 1 'none.json' "$DAWN" eval squad none.json p.json
[ "$(status "$DAWN" eval squad p.json p.json)" = 1 ]
grep -qx "dawn eval: p.json: there is no list \"data\" of articles: this is not SQuAD's JSON" err
[ "$(status "$DAWN" eval squad dev.json dev.json)" = 1 ]
reads err '^dawn eval: dev.json: the prediction of (version|data) '
sed 's/"answers": \[{"text": "Oslo", "answer_start": 31}\]/"answers": [], "is_impossible": true/' dev.json >two.json
[ "$(status "$DAWN" eval squad two.json p.json)" = 1 ]
grep -q 'two.json: article 1: "Towns", paragraph 1: question 2: id b has no answer: such questions are of SQuAD 2.0' err
sed 's/"answer_start": 31/"answer_start": 30/' dev.json >lost.json
expect 0 '^1 answer is not in its context.*question b: "Oslo" is not in its context' "$DAWN" eval squad lost.json p.json

# Questions of data sets.
expect 0 '^generated stories, train question 1 of 3000$' "$DAWN" data show stories 1
grep -q '>>>.*<<<' out
awk 'length > 90 { exit 1 }' out
[ "$(status "$DAWN" data show stories 600 --test)" = 0 ]
says 2 'stories has the test questions 1 to 600; "601" is none of these numbers' "$DAWN" data show stories 601 --test
says 2 'needs the number of a question' "$DAWN" data show stories
[ "$(status "$DAWN" data show stories 1 2)" = 2 ]
[ "$(status "$DAWN" data show synthetic 1)" = 2 ]
expect 0 '^generated stories: synthetic$' "$DAWN" data verify stories
says 2 'nothing to fetch' "$DAWN" data fetch stories
says 2 'dawn data fetch squad' "$DAWN" data fetch squad-split
mkdir squad
cp lost.json squad/train-v1.1.json
cp dev.json squad/dev-v1.1.json
[ "$(status "$DAWN" data verify squad --data .)" = 1 ]
grep -q '^1 train answers are not in their context; the first: question b' out
grep -q 'differ from SQuAD 1.1 as published' err
expect 0 'not in >>>Oslo<<<' "$DAWN" data show squad 2 --data . --test
says 1 'too few articles' "$DAWN" data verify squad-split --data .

# ---- translations
printf 'ein Hund läuft im Gras\nzwei Kinder\n' >r.txt
printf 'ein Hund läuft im Gras\nzwei Kinder' >h.txt # the last line needs no end
expect 0 '^BLEU     100.00$' "$DAWN" eval bleu r.txt h.txt
grep -qx 'length   7 words, the references have 7 (brevity penalty 1.000)' out
[ "$(status "$DAWN" eval bleu r.txt h.txt --tokenize none -l --json)" = 0 ]
holds out 'o["found"] == [7, 5, 3, 2] and o["lowercase"] is True'
printf 'a\xe2\x80\xa8b\r\n\n' >h.txt # U+2028 ends no line
expect 0 '^BLEU     0.00$' "$DAWN" eval bleu r.txt h.txt
: >h.txt
[ "$(status "$DAWN" eval bleu r.txt h.txt)" = 1 ]
grep -qx 'dawn eval: h.txt has 0 lines and r.txt has more: each reference needs one translation, on the same line' err
expect 0 '^BLEU     0.00$' "$DAWN" eval bleu h.txt h.txt
printf 'ein Hund\nzw\xffei\n' >h.txt
says 1 '^dawn eval: h.txt:2: byte 3 of the line is not UTF-8$' "$DAWN" eval bleu r.txt h.txt
says 2 '"13b"; did you mean "13a"' "$DAWN" eval bleu r.txt h.txt --tokenize 13b
[ "$(status "$DAWN" eval bleu r.txt)" = 2 ]
[ "$(status "$DAWN" eval bleu r.txt nowhere.txt)" = 1 ]

# ---- detections
cat >truth.json <<'EOT'
{"images": [{"id": 1, "height": 60, "width": 80}, {"id": 2, "height": 60, "width": 80}], "categories": [{"id": 3, "name": "cat"}],
 "annotations": [
  {"id": 1, "image_id": 1, "category_id": 3, "bbox": [10, 10, 20, 20], "area": 400, "iscrowd": 0,
   "segmentation": [[10, 10, 10, 30, 30, 30, 30, 10]]},
  {"id": 2, "image_id": 2, "category_id": 3, "bbox": [0, 0, 40, 40], "area": 1600, "iscrowd": 0,
   "segmentation": {"size": [60, 80], "counts": [0, 40, 20, 40, 4700]}}]}
EOT
echo '[{"image_id": 1, "category_id": 3, "bbox": [10, 10, 20, 20], "score": 0.9}]' >found.json
[ "$(status "$DAWN" eval coco truth.json found.json)" = 0 ]
grep -qx 'AP         0.5050   IoU 0.50 to 0.95' out
grep -qx 'AP small   1.0000   areas up to 32 x 32' out
grep -qx 'AP large   -        no truth: areas from 96 x 96 on' out
grep -qx 'AR 100     0.5000   recall with 100' out
grep -qx 'boxes of 2 truths and 1 detections in 2 images' out
[ ! -s err ]
[ "$(status "$DAWN" eval coco truth.json found.json --json)" = 0 ]
python3 -c 'import json; d = json.load(open("out")); assert d["AR1"] == 0.5 and d["APl"] == -1 and d["compared"] == "bbox"'
[ "$(status "$DAWN" eval coco truth.json found.json --segm)" = 1 ]
grep -qx 'dawn eval: found.json: result 1: it has no "segmentation"' err
echo '[{"image_id": 2, "category_id": 3, "segmentation": {"size": [60, 80], "counts": "0X1d0<"}, "score": 0.9}]' >masks.json
[ "$(status "$DAWN" eval coco truth.json masks.json -s -j)" = 1 ]
grep -q '^dawn eval: masks.json: result 1: ' err
sed 's/"image_id": 1/"image_id": 7/' found.json >strange.json
[ "$(status "$DAWN" eval coco truth.json strange.json)" = 1 ]
grep -qx 'dawn eval: strange.json: result 1: the truth has no image 7' err
sed 's/0\.9/NaN/' found.json >nan.json
[ "$(status "$DAWN" eval coco truth.json nan.json)" = 1 ]
grep -q "^dawn eval: nan.json: result 1: line 1, byte [0-9]*: invalid token near 'NaN'$" err
[ "$(status "$DAWN" eval coco truth.json)" = 2 ]
[ "$(status "$DAWN" eval coco truth.json found.json more)" = 2 ]
[ "$(status "$DAWN" eval coco -h)" = 0 ]
grep -q -- '--segm' out
[ "$(status "$DAWN" eval coca truth.json found.json)" = 2 ]
grep -qx 'dawn eval: there is no evaluation "coca"; did you mean "coco"?' err

# Transcripts: rates and counts, lines that do not fit together, lines that are too long.
printf 'GO ON NOW\nYES\n' >r.txt
printf 'GO IN NOW\nYES NO\n' >h.txt
expect 0 '^WER   50.00%  2 of 4 words: 1 substituted, 1 inserted, 0 deleted$' "$DAWN" eval wer r.txt h.txt
grep -qx 'CER   30.00%  3 of 10 characters: 1 substituted, 2 inserted, 0 deleted' out
[ "$(status "$DAWN" eval wer r.txt h.txt --spaces --json)" = 0 ]
python3 -c 'import json; o = json.load(open("out")); assert o["wer"] == 0.5 and o["cer"] == 4 / 12 and o["utterances"] == 2 and \
    o["characters"] == {"reference": 12, "hits": 11, "substitutions": 1, "insertions": 3, "deletions": 0}, o'
printf 'GO IN NOW\n' >h.txt
says 1 '^dawn eval: h.txt has 1 line and r.txt has more: each reference needs one hypothesis, on the same line$' "$DAWN" eval wer r.txt h.txt
printf 'GO ON NOW\n\n' >h.txt
expect 0 '^WER   25.00%  1 of 4 words: 0 substituted, 0 inserted, 1 deleted$' "$DAWN" eval wer r.txt h.txt
printf 'a-1 GO ON NOW\na-2 YES\n' >named.txt
printf 'a-1 GO IN NOW\na-2\n' >h.txt
expect 0 '^WER   50.00%  2 of 4 words: 1 substituted, 0 inserted, 1 deleted$' "$DAWN" eval wer named.txt h.txt --names
printf 'a-1 GO ON NOW\na-3 YES\n' >h.txt
says 1 '^dawn eval: h.txt:2: the line begins with "a-3" and that of named.txt with "a-2": the names must agree$' \
    "$DAWN" eval wer named.txt h.txt --names
head -c 9000 /dev/zero | tr '\0' a >h.txt
says 1 '^dawn eval: h.txt:1: the line has 9000 bytes; at most 8192 are compared$' "$DAWN" eval wer r.txt h.txt
says 2 'expected a file of references and a file of hypotheses' "$DAWN" eval wer r.txt
says 2 'eval wer does not take "more"' "$DAWN" eval wer r.txt h.txt more
expect 0 'as jiwer 4.0 does' "$DAWN" eval wer -h

# Utterances of data sets.
expect 0 'chords-7.png shows drawn chords, train utterance 7 of 480$' "$DAWN" data show chords 7
reads out '^  text       [A-Z ]+$'
reads out '^  8 kHz '
awk 'length > 80 { exit 1 }' out
[ "$(head -c 4 chords-7.png | tail -c 3)" = PNG ]
expect 0 '^drawn chords: synthetic$' "$DAWN" data verify chords
says 1 'etc/an4_train.fileids is missing; "dawn data fetch an4" gets it' "$DAWN" data verify an4 --data .
says 2 'made of files of an4' "$DAWN" data fetch an4-val
mkdir -p an4/etc
echo an4_clstk/fash/a-fash >an4/etc/an4_train.fileids
echo 'YES (a-fash)' >an4/etc/an4_train.transcription
cp an4/etc/an4_train.fileids an4/etc/an4_test.fileids
cp an4/etc/an4_train.transcription an4/etc/an4_test.transcription
says 1 'the utterance "YES" has no sound: cannot open .*/wav/an4_clstk/fash/a-fash.sph' "$DAWN" data verify an4 --data .
says 2 '/an4 exists already, but it is not AN4 as published' "$DAWN" data fetch an4 --to . --from nowhere
echo 'YES 2 (a-fash)' >an4/etc/an4_train.transcription
says 1 'etc/an4_train.transcription:1: character 5 is "2"' "$DAWN" data verify an4 --data .

# Pictures of one size: a sheet of all, and one in characters.
expect 0 '^drawn digits, train picture 7 of 4000$' "$DAWN" data show mnist-drawn 7
grep -qE '^  label      [0-9]$' out
grep -q '@@' out
awk 'length > 80 { exit 1 }' out
expect 0 'shows, from top to bottom: 0, 1, 2' "$DAWN" data show mnist-drawn --to digits.png
[ "$(head -c 4 digits.png | tail -c 3)" = PNG ]
says 2 'mnist-drawn has the train pictures 1 to 4000; "4001" is none of these numbers' "$DAWN" data show mnist-drawn 4001
expect 0 '^drawn digits: synthetic$' "$DAWN" data verify mnist-drawn
says 1 'train-images-idx3-ubyte is missing; "dawn data fetch mnist" gets it' "$DAWN" data verify mnist --data .
mkdir mnist
python3 - <<'PY'
import gzip, struct
for name, count in ("train", 6), ("t10k", 4):
    with gzip.open("mnist/%s-images-idx3-ubyte.gz" % name, "wb") as f: f.write(struct.pack(">4I", 0x803, count, 28, 28) + bytes(784 * count))
    with open("mnist/%s-labels-idx1-ubyte" % name, "wb") as f: f.write(struct.pack(">2I", 0x801, count) + bytes(range(count)))
PY
says 1 'its samples differ from MNIST as published' "$DAWN" data verify mnist --data .
grep -q '^train  6 samples$' out
expect 0 'test picture 3 of 4$' "$DAWN" data show mnist 3 --test --data mnist
printf 'x' >>mnist/t10k-labels-idx1-ubyte
says 1 'mnist/t10k-labels-idx1-ubyte has 13 bytes, and its 4 labels need 12: it is too long' "$DAWN" data verify mnist --data .
says 1 'cannot open nowhere/train-images-idx3-ubyte.gz' "$DAWN" data fetch mnist --to . --from nowhere

# Features of samples: the distance, and arrays that have none.
python3 - <<'PY'
import struct
def save(name, rows, kind="<f4", order=False):
    flat = [x for column in zip(*rows) for x in column] if order else [x for row in rows for x in row]
    head = ("{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }" % (kind, order, len(rows), len(rows[0]))).ljust(117) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(flat), "fd"[kind == "<f8"]), *flat))
rows = [[1, 0], [-1, 0], [0, 2], [0, -2]]
save("a.npy", rows)
save("b.npy", [[x + 1, y] for x, y in rows], "<f8", True)
save("three.npy", [[1, 2, 3], [4, 5, 7], [1, 1, 1]])
save("few.npy", [[1, 2, 3], [4, 5, 7]])
save("nan.npy", rows + [[float("nan"), 1]])
PY
expect 0 '^distance  1.000000$' "$DAWN" eval frechet a.npy b.npy
grep -qx '4 samples and 4, 2 features of each' out
[ "$(status "$DAWN" eval frechet a.npy b.npy --json)" = 0 ]
holds out 'abs(o["frechet"] - 1) < 1e-12 and abs(o["spread"]) < 1e-12' 'o["means"] == 1 and o["features"] == 2 and o["samples"] == [4, 4]'
says 1 '^dawn eval: a.npy has 2 features per sample and three.npy has 3$' "$DAWN" eval frechet a.npy three.npy
says 1 '^dawn eval: few.npy has 2 samples of 3 features: their covariance needs at least as many samples' "$DAWN" eval frechet three.npy few.npy
says 1 '^dawn eval: nan.npy: feature 1 of sample 5 is not a number$' "$DAWN" eval frechet a.npy nan.npy
head -c 140 a.npy >cut.npy
says 1 '^dawn eval: cut.npy has 12 bytes of numbers, and 4 x 2 of them need 32: it was cut$' "$DAWN" eval frechet cut.npy a.npy
says 1 '^dawn eval: dev.json is not an array that NumPy saved' "$DAWN" eval frechet dev.json a.npy
says 2 'expected two files with features of samples' "$DAWN" eval frechet a.npy
says 2 'eval frechet does not take "more"' "$DAWN" eval frechet a.npy b.npy more
expect 0 'Inception' "$DAWN" eval frechet -h
