#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The figures of a group, which every command that shows a group agrees on: mean, sigma, 95% interval, p. Three runs of 94.1, 94.2
# and 94.3%: sigma is 0.1, Student's t at 2 degrees of freedom 4.3027, so the interval is 94.2 +- 0.2484.
set -eu
. "$ROOT/test/status.sh"

cat >trainer.sh <<'SH'
echo "{\"dawn\":\"epoch\",\"epoch\":1,\"correct\":$((9400 + 10 * DAWN_SEED)),\"items\":10000}"
SH
[ "$(status "$DAWN" record --runs 3 --model m -- sh trainer.sh)" = 0 ]
figures='mean 94.20% top-1 accuracy, sigma 0.10%, 95% interval 93.95% to'
for command in 'results show g1' 'results g1' 'results list --groups' 'results list --groups --group g1'; do
    [ "$(status "$DAWN" $command)" = 0 ]
    reads out "$figures 94.44%, p = 0.037"
    grep -q '^  time  *mean ' out
    reads out 'an official group has at least 5 runs'
done
for command in 'results show g1 --json' 'results list --groups --json' 'results export'; do
    [ "$(status "$DAWN" $command)" = 0 ]
    holds out '(g := o["groups"][0] if "groups" in o else o[0] if isinstance(o, list) else o)' \
        '[round(g["score_" + k], 4) for k in ("mean", "sigma", "low", "high")] == [.942, .001, .9395, .9445]' \
        'round(g["p"], 3) == .037 and g["finished"] == g["planned"] == 3 and g["verdict"] == "too-few" and g["official"] is False' \
        'g["seconds_low"] <= g["seconds_mean"] <= g["seconds_high"]' '"runs" not in g or [r["seed"] for r in g["runs"]] == [1, 2, 3]'
done
grep -q '"score_mean": 0.942,' out # and no 0.9420000000000001
"$DAWN" results export --format csv --to tables >/dev/null
"$DAWN" results list --groups --format csv >list.csv
python3 -c '
import csv
for name in ("tables/groups.csv", "list.csv"):
    row, = csv.DictReader(open(name))
    assert row["score_mean"] == "0.942" and row["verdict"] == "too-few" and row["official"] == "0" and row["p"][:5] == "0.037", row'
"$DAWN" report -o report.md >/dev/null
"$DAWN" results export g1 --format md >group.md
for file in report.md group.md; do
    grep -q '^| 1 | cifar10, self-evaluated | m | 3 of 3 | 94.20% | 0.10% | 93.95% to 94.44% | 0.037 | ' $file
done
grep -q '^| 3 | 3 | done | 94.30% | ' group.md
"$DAWN" results export g1 --to group.html >/dev/null
grep -q '93.95% to 94.44%' group.html
lacks group.html '<svg' # each run has one point: no curve

# The page of a group has the curves of its finished runs as one band: scores of 50, 60 and 70%, then 94.1, 94.2 and 94.3%.
cat >two.sh <<'SH'
for correct in $((4000 + 1000 * DAWN_SEED)) $((9400 + 10 * DAWN_SEED)); do
    echo "{\"dawn\":\"epoch\",\"epoch\":$((n += 1)),\"correct\":$correct,\"items\":10000,\"loss\":$DAWN_SEED}"
done
[ $DAWN_SEED != 4 ]
SH
[ "$(status "$DAWN" record --db two.db --runs 4 --model m -- sh two.sh)" = 1 ] # the fourth fails and is left out
"$DAWN" results export g1 --to two.html --db two.db >/dev/null
grep -q 'mean of 3 finished runs. Band: lowest to highest' two.html
python3 - <<'PY'
import re, xml.dom.minidom
svg = xml.dom.minidom.parseString(re.search("<svg.*</svg>", open("two.html").read(), re.S)[0])
words = [t.firstChild.data for t in svg.getElementsByTagName("title") + svg.getElementsByTagName("text") if t.firstChild]
for what in "Score", "Training loss":
    assert f"{what} over end-to-end time: mean, lowest and highest of 3 runs" in words, words
paths = [[float(y) for y in re.findall(r"[ML][0-9.]+ ([0-9.]+)", p.getAttribute("d"))] for p in svg.getElementsByTagName("path")
         if p.getAttribute("class").startswith(("band", "line"))]
(high1, high2, low2, low1), (mean1, mean2) = paths[:2]  # pixels, from above
assert abs((high1 + low1) / 2 - mean1) < 0.11 and abs((low1 - high1) / (mean1 - mean2) - 20 / 34.2) < 0.02, paths
loss = paths[2]
assert loss[0] < loss[2] and abs(loss[0] - loss[1]) < 0.11, paths  # losses of 1 to 3, level
PY

# One run has a mean and no spread.
[ "$(status "$DAWN" record --db one.db --runs 2 -- sh -c '[ $DAWN_SEED = 1 ] && sh trainer.sh')" = 1 ]
[ "$(status "$DAWN" results show g1 --json --db one.db)" = 0 ]
holds out 'o["finished"] == 1 and o["verdict"] == "unfinished" and o["score_mean"] == .941 and "score_sigma" not in o and "p" not in o'

# The order of a list: the best score first, unknown times last; a limit without an order leaves the newest.
"$DAWN" record --model a -- sh -c 'echo "{\"dawn\":\"epoch\",\"epoch\":1,\"correct\":9000,\"items\":10000}"' 2>/dev/null || [ $? = 3 ]
runs() {
    [ "$(status "$DAWN" results list "$@" --json)" = 0 ]
    python3 -c 'import json; print(*[r["id"] for r in json.load(open("out"))])'
}
[ "$(runs)" = '1 2 3 4' ]
[ "$(runs --sort score)" = '3 2 1 4' ]
[ "$(runs --sort score --limit 2)" = '3 2' ]
[ "$(runs --limit 2)" = '3 4' ]
[ "$(runs --sort model)" = '4 1 2 3' ]
[[ "$(runs --sort time)" = *' 4' ]]
says 2 'there is no order "scroe"; did you mean "score"\?' "$DAWN" results list --sort scroe

# A run with everything, and the verdicts on the chains, for programs.
[ "$(status "$DAWN" results show 2 --json)" = 0 ]
holds out 'o["id"] == 2 and o["last_score"] == 9420 and o["broken"] is False'
[ "$(status "$DAWN" results verify --json)" = 0 ]
holds out 'o["good"] is True and o["missing"] == 0 and [r["run"] for r in o["runs"] if r["good"]] == [1, 2, 3, 4]'
sql results.db 'UPDATE scores SET score = 1 WHERE run = 2'
[ "$(status "$DAWN" results verify --json)" = 1 ]
holds out 'o["good"] is False and o["broken"] == 1 and "hash" in o["runs"][1]["broken"]'

# A deletion is agreed to, noted and told; the number is not given again. A part of a group and a submitted run stay.
mkdir delete
cd delete
trainer="sh ../trainer.sh"
for run in 1 2; do "$DAWN" record --model single -- $trainer 2>/dev/null; done
"$DAWN" record --runs 2 -- $trainer 2>/dev/null
says 2 'nothing was deleted: --yes deletes run 2 from results.db' "$DAWN" results delete 2
says 2 'run 3 belongs to group 1' "$DAWN" results delete 3 --yes
[ "$(runs)" = '1 2 3 4' ]
[ "$(status "$DAWN" results delete 2 --yes)" = 0 ]
[ "$(status "$DAWN" results delete g1 --yes)" = 0 ]
[ "$(runs)" = 1 ]
[ "$(status "$DAWN" results verify)" = 0 ]
[ "$(grep -c '^run [234]  deleted on 20' out)" = 3 ]
lacks out MISSING
[ "$(status "$DAWN" results verify --json)" = 0 ]
holds out 'o["good"] and [d["run"] for d in o["deleted"]] == [2, 3, 4]'
"$DAWN" record --model single -- $trainer 2>/dev/null
[ "$(runs)" = '1 5' ] # not 2
for table in points scores metrics outside; do [ "$(sql results.db "SELECT count(*) FROM $table WHERE run = 2")" = 0 ]; done
sql results.db "INSERT INTO receipts VALUES (1, 1, 'run', 'b', 's', 'd', NULL, 1, 1, 'k', '{}', 's')"
says 2 'run 1 was submitted' "$DAWN" results delete 1 --yes
[ "$(status "$DAWN" results delete 9 --yes)" = 2 ]
[ "$(status "$DAWN" results delete --yes)" = 2 ]
[ "$(status "$DAWN" results delete 1 --yes --db none.db)" != 0 ]
[ ! -e none.db ]
cd ..

for wrong in 'show g9' 'show g9 --json' 'export g9 --to g.html' 'export g1' 'export g1 --format svg' 'show --groups' \
    'list --groups --seed 1' 'list --groups --sort score' 'show --limit 2' 'show --follow --json'; do
    [ "$(status "$DAWN" results $wrong)" = 2 ]
done
