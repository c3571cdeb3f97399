#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dawn results: lists, pages, exports and the check of a record made here by another program, and what it says to wrong input.
set -eu
. "$ROOT/test/status.sh"

python3 -B - "$ROOT" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1] + "/test/cli")
from bind_record import add, bind, canonical, digest, new
db = new(sys.argv[1], "results.db")
add(db, "machines", id=1, digest="m", cpu="Some CPU", cpu_flags="avx2", sockets=1, cores_online=2, cores_usable=2,
    memory_bytes=2**34, product="", governor="", virtualised="", gpu="", driver="", os="Debian", kernel="Linux")
add(db, "software", id=1, digest="s", commit_name="", dirty=0, compiler="gcc", flags="-O2", binary_digest="b" * 64, libraries="")
task = digest(canonical({"items": 10000, "metric": "top1", "target_micro": 940000, "task": "cifar10"}))
for run, synthetic in ((1, 0), (2, 1)):
    add(db, "runs", id=run, nonce="%032x" % run, status="done" if run == 1 else "running", owner="gone/1/1", task="cifar10",
        task_digest=task, target_micro=940000, model="airbench", parameters=1000, flops_per_sample=10, recipe="default",
        recipe_json="{}", recipe_digest=digest(b"{}"), recipe_published=0, precision="f32", device="cpu", threads=2, batch=2000,
        seed=run, views=1, input_size=32, stop_at_target=1, synthetic=synthetic, official=1 - synthetic, machine=1, software=1,
        started_ms=1700000000000, ended_ms=1700000061000, resumed=0, chain_root="", reached_step=2, reached_epoch_micro=2 * 10**6,
        reached_ns=60 * 10**9, reached_classic_ns=36 * 10**9, reached_warm_ns=30 * 10**9,
        reached_warm_with_evaluation_ns=50 * 10**9, reached_samples=100000)
    add(db, "metrics", run=run, number=0, name="top1", unit="%", lower_is_better=0, items=10000)
    for epoch, k in ((1, 9000), (2, 9417)):
        add(db, "points", run=run, step=epoch, epoch_micro=epoch * 10**6, t_ns=30 * epoch * 10**9, classic_ns=18 * epoch * 10**9,
            warm_ns=15 * epoch * 10**9, warm_with_evaluation_ns=25 * epoch * 10**9, samples=50000 * epoch, stall_ns=0,
            loss_micro=1000000, hash="")
        add(db, "scores", run=run, step=epoch, metric=0, score=k)
    bind(db, run)
db.commit()
PYTHON

cp results.db before.db
[ "$(status "$DAWN" results)" = 0 ]
[ "$(wc -l <out)" = 4 ]
grep -q '  1  *1  2023-11-14  cifar10  done *94.17%  1 min 00 s  airbench$' out
grep -qx '[*] SYNTHETIC data: only the board "demo" lists such a run.' out
grep -q '2 .* interrupted .* airbench [*]$' out # its process is not there any more
awk 'length > 80 { exit 1 }' out
[ "$(status "$DAWN" results list)" = 0 ]
for filter in '--status done' '--seed 1' '--task cifar10 --model airbench --seed 1'; do
    [ "$(status "$DAWN" results list $filter --json)" = 0 ]
    holds out 'len(o) == 1' '[o[0][k] for k in ("id", "last_score", "items", "metric", "broken")] == [1, 9417, 10000, "top1", False]'
done
[ "$(status "$DAWN" results list --format csv)" = 0 ]
[ "$(wc -l <out)" = 3 ]
head -n 1 out | grep -q '^id,group_id,group_index,seed,task,'
expect 0 'No run in results.db matches these options' "$DAWN" results list --task squad
says 2 'there is no task "cifar1"; did you mean "cifar10"\?' "$DAWN" results list --task cifar1
says 2 'there is no status "dnoe"; did you mean "done"\?' "$DAWN" results list --status dnoe
says 2 '--db must not be empty' "$DAWN" results --db ''
says 1 'there is no record at results.db/x' "$DAWN" results --db results.db/x
mkdir folder
says 1 'cannot open the record: folder is a folder$' "$DAWN" results --db folder
echo text >text.db
says 1 'text.db is not a database' "$DAWN" results --db text.db
says 1 'cannot open the record: there is no folder nowhere for nowhere/r.db$' "$DAWN" record --db nowhere/r.db -- true
says 2 'must be text, json or csv; got "md"' "$DAWN" results list --format md
[ "$(status "$DAWN" results show --seed 1)" = 2 ]

expect 0 '94.17% top-1 accuracy: 9,417 of 10,000 correct' "$DAWN" results show 1
grep -q '^training loss, 2 points$' out
grep -q '^  *0  .*2 epoch$' out
grep -q '^  classic (DAWNBench) .*36.0 s' out
lacks out SYNTHETIC
cp out shown
[ "$(status "$DAWN" results 1)" = 0 ] # a run alone is shown
cmp out shown
says 2 'there is no run 9 in results.db; the last is 2' "$DAWN" results 9
[ "$(status "$DAWN" results 1 2)" = 2 ]
LC_ALL=C awk '/[^ -~]/ || length > 80 { exit 1 }' out # not a terminal: plain characters
expect 0 'SYNTHETIC DATA' "$DAWN" results show last

[ "$(status "$DAWN" results export)" = 0 ]
holds out 'o["runs"][0]["reached_ns"] == 60000000000 and len(o["runs"]) == 2'
[ "$(status "$DAWN" results export 1 --to one.json)" = 0 ]
holds one.json '"broken" not in (r := o["runs"][0]) and r["last_score"] == 9417' \
    '[p["scores"] for p in r["points"]] == [[{"metric": "top1", "score": k}] for k in (9000, 9417)]' \
    '[(p["step"], p["epoch_micro"]) for p in r["points"]] == [(1, 10**6), (2, 2 * 10**6)]' \
    'r["metrics"] == [{"name": "top1", "unit": "%", "lower_is_better": 0, "items": 10000}]'
[ "$(status "$DAWN" results export --format csv)" = 0 ]
[ "$(wc -l <out)" = 3 ]
[ "$(status "$DAWN" results export --format csv --to runs.csv)" = 0 ]
[ "$(wc -l <runs.csv)" = 3 ]
[ "$(status "$DAWN" results export --format csv --to tables)" = 0 ] # the same with and without a slash
cp -r tables before
expect 0 '^tables/points.csv$' "$DAWN" results export --format csv --to tables/
diff -r before tables
python3 -c '
import csv
rows = list(csv.DictReader(open("tables/points.csv")))
assert len(rows) == 4 and rows[1]["t_ns"] == "60000000000"
rows = list(csv.DictReader(open("tables/scores.csv")))
assert len(rows) == 4 and rows[1] == {"run": "1", "step": "2", "metric": "0", "score": "9417"}'
# ---- a name, a remark and tags from the beginning
named() { "$DAWN" record --db named.db --task cifar10 --target 0.9 "$@" -- echo '{"dawn":"epoch","epoch":1,"correct":9400,"items":10000}'; }
named --name wide --note 'with a "remark"' --tag lr --tag b >out 2>err
named --name a-name-of-many-letters --tag lr2 >out 2>err
named --name wide >out 2>err
[ "$(status "$DAWN" results list --db named.db)" = 0 ]
grep -Eq '^  1 wide ' out && grep -Eq '^  2 a-name-of-\.\. ' out
awk 'length > 80 { exit 1 }' out
[ "$(status "$DAWN" results list --db named.db --tag lr --json)" = 0 ]
python3 -c 'import json; r, = json.load(open("out")); assert (r["id"], r["name"], r["tags"]) == (1, "wide", "lr b"), r'
expect 0 'No run in named.db matches' "$DAWN" results list --db named.db --tag l
expect 0 'note  *with a "remark"' "$DAWN" results show 1 --db named.db
expect 0 '^Run 3 ' "$DAWN" results show wide --db named.db
grep -qx '2 runs are named "wide"; run 3 is the newest of them' err
for command in 'infer --run wide' 'train --resume wide'; do # which one is told, and then why it does not do
    [ "$(status "$DAWN" $command --db named.db)" != 0 ]
    grep -qx '2 runs are named "wide"; run 3 is the newest of them' err
    grep -q 'run 3 ' err
done
expect 0 'tags.*lr b' "$DAWN" results export 1 --format md --db named.db
expect 2 'no run "wdie"; did you mean "wide"? (a run has a number' "$DAWN" results show wdie --db named.db
for word in 3 g1 last all; do
    expect 2 "cannot be named \"$word\"" named --name $word
done
expect 2 'the name may hold' named --name 'a b'
expect 2 'reads as an option' named --name=-x
expect 2 'the tag "lr" is given twice' named --tag lr --tag lr
expect 2 'the tag must not be empty' named --tag ''
expect 2 'the note must have 0 to 500' "$DAWN" train cifar10 --note "$(printf %501d 0)"
expect 2 'resume takes only' "$DAWN" train --resume last --name x
[ "$("$DAWN" results list --db named.db --format csv | wc -l)" = 4 ]
expect 0 '^3  *done  *94.00%' "$DAWN" results compare 1 2 wide --db named.db
grep -q '^  seed .*' out && exit 1 # all have seed 1
expect 2 'compare takes at most 8; got 9' "$DAWN" results compare 1 2 3 1 2 3 1 2 9 --db named.db

# ---- two runs compared; one run as a document; a run that has ended is followed to its end
[ "$(status "$DAWN" results compare 1 2)" = 0 ]
awk 'length > 80 { exit 1 }' out
grep -q '^  to target, classic  *36.0 s  *36.0 s  *1.000$' out
grep -q '^  seed  *1 -> 2$' out
grep -q '^training loss: A is run 1, B is run 2$' out
[ "$(status "$DAWN" results compare 1 2 --json)" = 0 ]
holds out 'o["compares"] == "runs" and o["first"]["id"] == 1 and o["second"]["status"] == "interrupted"' \
    'o["first"]["reached_classic_ns"] == 36 * 10**9 and o["first"]["scores"]["top1"] == {"k": 9417, "items": 10000}' \
    'o["first"]["broken"] is False and o["second"]["last_loss_micro"] == 1000000' \
    '{"of": "settings", "name": "seed", "first": 1, "second": 2} in o["differences"]'
[ "$(status "$DAWN" results compare 1)" = 2 ]
[ "$(status "$DAWN" results compare 1 g1)" = 2 ]
[ "$(status "$DAWN" results compare g1 g2)" = 2 ]
says 2 'no group g1' "$DAWN" results compare g1 g2 --json
for format in html svg md; do [ "$(status "$DAWN" results export 1 --format $format --to run.$format)" = 0 ]; done
python3 -c '
import html.parser, xml.dom.minidom
svg = open("run.svg").read()
xml.dom.minidom.parseString(svg)
page = open("run.html").read()
html.parser.HTMLParser().feed(page)
assert svg.strip() in page and "94.17%" in page and "http-equiv" not in page and "<script" not in page
row = "".join("<td class=\"number value\">%s</td>" % cell for cell in ("2", "1.0000", "94.17%", "1 min 00 s"))
assert row in page, page
text = open("run.md").read()
assert text.startswith("# Run 1\n") and "| 2 | 1.0000 | 94.17% | 1 min 00 s |" in text, text'
[ "$(status "$DAWN" results export 1 --to named.html)" = 0 ] # the name says what it is
cmp named.html run.html
[ "$(status "$DAWN" results show 1 --follow)" = 0 ]
[ "$(tail -n 1 out)" = 'run 1: done' ]
grep -q '^epoch 2  loss 1.0000  score 94.17%  1 min 00 s$' out
[ "$(status "$DAWN" results export 1 --format dawnbench --to board --author me)" = 0 ]
printf 'epoch\thours\ttop1Accuracy\n1\t0.0050000000\t90.0000\n2\t0.0100000000\t94.1700\n' >expected
cmp expected board/CIFAR10/train/me_airbench-run1_cpu_dawn.tsv
says 1 'synthetic' "$DAWN" results export last --format dawnbench --to board2
[ ! -e board2 ]
cmp results.db before.db # reading changed nothing

[ "$(wc -l <tables/receipts.csv)" = 1 ]
python3 -B - "$ROOT" <<'PYTHON'
import shutil, sqlite3, sys
sys.path.insert(0, sys.argv[1] + "/test/cli")
from bind_record import bind
shutil.copy("results.db", "second.db")
db = sqlite3.connect("second.db")
db.execute("UPDATE runs SET device = 'outside' WHERE id = 2")
db.execute("INSERT INTO outside VALUES (2, 'python3 train.py', 'PyTorch 2.4', 8)")
bind(db, 2)
db.execute("INSERT INTO receipts VALUES (1, 1, 'run', 'board', 'https://board.example', ?, NULL, 12, 5, 'SHA256:k', '{}', 's')", ("d" * 64,))
db.execute("INSERT INTO receipts VALUES (2, 1, 'withdraw', 'board', 'https://board.example', ?, NULL, 13, 6, 'SHA256:k', '{}', 's')", ("e" * 64,))
db.commit()
PYTHON
cp second.db before.db
expect 0 '^  submitted: *#12 on board$' "$DAWN" results show 1 --db second.db
grep -q '^  withdrawn: *#13 on board$' out
lacks out self-evaluated
expect 0 'PyTorch 2.4 on 8 devices: python3 train.py' "$DAWN" results show 2 --db second.db
grep -q self-evaluated out
[ "$(status "$DAWN" results export --db second.db)" = 0 ]
holds out 'o["format"] == 1 and o["runs"][0]["receipts"][0]["sequence"] == 12 and o["runs"][1]["outside"]["devices"] == 8' \
    '"outside" not in o["runs"][0] and o["runs"][1]["receipts"] == []'
[ "$(status "$DAWN" results export --db second.db --format csv --to tables/)" = 0 ]
[ "$(wc -l <tables/receipts.csv)" = 3 ]
cmp second.db before.db

# ---- every reader of a record checks its chain
[ "$(status "$DAWN" results verify)" = 0 ]
good='good: root and 2 points; all that is submitted is bound'
printf 'run 1  %s\nrun 2  %s\n' "$good" "$good" | cmp - out
cp results.db changed.db
sql changed.db 'UPDATE scores SET score = 12012 WHERE run = 1 AND step = 2'
[ "$(status "$DAWN" results verify --db changed.db)" = 1 ]
grep -q '^run 1  BROKEN: point 1, epoch 2: its hash is' out
grep -q '^run 2  good' out
grep -q '1 run was changed since the training wrote it' err
[ "$(status "$DAWN" results verify 2 --db changed.db)" = 0 ]
[ "$(wc -l <out)" = 1 ]
[ "$(status "$DAWN" results verify 9 --db changed.db)" = 2 ]
[ "$(status "$DAWN" results verify 1 2 --db changed.db)" = 2 ]
python3 - <<'PYTHON'
import shutil, sqlite3
for name, words in {"first": "DELETE FROM runs WHERE id = 1", "last": "DELETE FROM runs WHERE id = 2",
                    "group": "INSERT INTO groups (nonce, status, owner, task, model, recipe, target_micro, planned, announced_ms) "
                             "VALUES ('0123456789abcdef0123456789abcdef', 'done', '', 'cifar10', 'm', 'r', 1, 3, 1)"}.items():
    shutil.copy("results.db", name + ".db")
    db = sqlite3.connect(name + ".db")
    db.execute(words)
    db.commit()
PYTHON
[ "$(status "$DAWN" results verify --db first.db)" = 1 ]
grep -q '^run 1  MISSING: no run has this number$' out
grep -q '^run 2  good' out
grep -q '1 run is missing' err
[ "$(status "$DAWN" results verify 2 --db first.db)" = 0 ]
[ "$(status "$DAWN" results verify --db last.db)" = 1 ]
grep -q '^run 2  MISSING' out
[ "$(status "$DAWN" results verify --db group.db)" = 1 ]
grep -q '^group 1  MISSING: 3 of its 3 runs are not in the record$' out
expect 0 '120.12% .* BROKEN$' "$DAWN" results --db changed.db
cp changed.db both.db
python3 -c 'import sqlite3; d = sqlite3.connect("both.db"); d.execute("UPDATE scores SET score = 1 WHERE run = 2"); d.commit()'
"$DAWN" results --db both.db | grep -q ' airben[ch]* [*] BROKEN$' # the name is cut to keep 80 columns
"$DAWN" results --db both.db | awk '/^ / && length > 80 { exit 1 }'
grep -q 'dawn results verify' out
expect 0 'BROKEN  *the record has been changed: point 1, epoch 2' "$DAWN" results show 1 --db changed.db
expect 0 '"broken": "point 1, epoch 2' "$DAWN" results export 1 --db changed.db
grep -q 'run 1 was changed since the training wrote it' err
[ "$(status "$DAWN" results export --format csv --db changed.db)" = 0 ]
grep -q 'run 1 was changed' err
[ "$(sed 's/.*,//' out | tr '\n' ' ')" = 'broken 1 0 ' ]
for format in md html svg; do
    [ "$(status "$DAWN" results export 1 --format $format --db changed.db)" = 0 ]
    grep -q 'BROKEN.*the record has been changed' out || grep -A1 BROKEN out | grep -q 'the record has been changed'
    [ "$(status "$DAWN" results export 2 --format $format --db changed.db)" = 0 ]
    lacks out BROKEN
done
expect 0 '^  record  *BROKEN  *good$' "$DAWN" results compare 1 2 --db changed.db
grep -q 'BROKEN  *run 1 has been changed: point 1, epoch 2' out
grep -q 'run 1 was changed since the training wrote it' err
for format in md html; do
    expect 0 'done BROKEN' "$DAWN" report changed.db -o - --format $format
    [ "$(grep -c 'BROKEN: run [0-9]* was changed since the training wrote it: point 1, epoch 2' out)" = 1 ]
    grep -q 'run 1 was changed since the training wrote it' err
done
says 1 'changed since it was recorded' "$DAWN" results export 1 --format dawnbench --to board3 --db changed.db
[ ! -e board3 ]
expect 0 'verify' "$DAWN" results verify -h

mkdir elsewhere
cp results.db elsewhere/other.db
rm results.db
says 1 'no record at results.db' "$DAWN" results
[ ! -e results.db ]
[ "$(status "$DAWN" results --db elsewhere/other.db)" = 0 ]
[ "$(DAWN_RESULTS=elsewhere/other.db status "$DAWN" results show 1)" = 0 ]
export DAWN_RESULTS=elsewhere/other.db

says 2 'no results command "shwo"; did you mean "show"' "$DAWN" results shwo
says 2 'no run 9' "$DAWN" results show 9
[ "$(status "$DAWN" results show x)" = 2 ]
[ "$(status "$DAWN" results list 1)" = 2 ]
says 2 'json, csv, html, svg, md, dawnbench, mllog or reference' "$DAWN" results export --format xml
[ "$(status "$DAWN" results export --to nowhere/at/all.json)" = 1 ]

python3 -c '
import sqlite3
db = sqlite3.connect("elsewhere/other.db")
db.execute("PRAGMA user_version = 99")'
says 1 'of format 99' "$DAWN" results
echo 'This is not a database, but a text that is long enough to be read as one.' >letter
says 1 'not a database' "$DAWN" results --db letter
