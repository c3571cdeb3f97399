#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The scoreboard's pages as people meet them: empty, with three runs, with a long board of an archive full of odd names.
# Every page that can be reached by links is well-formed and leads nowhere wrong; then a real browser looks at them.
set -eu
. "$ROOT/test/board.sh"

# ---- an archive with 300 entries, some of them with names that no page was made for
python3 - <<'PYTHON'
import json, os
os.makedirs("old/CIFAR10/train"), os.makedirs("old/CIFAR10/inference")
odd = ["Net_" + "with_a_name_that_never_ends_" * 4, "\u0646\u0645\u0648\u0630\u062c (12)", "<b>bold</b> & \"co\"", "\u7f51\u7edc" * 20, "a" * 140]
for i in range(300):
    stem, hours = "e%03d" % i, 0.01 * (1 + i * 7919 % 300)
    entry = {"version": "v1.0", "author": "\u05e7\u05d1\u05d5\u05e6\u05d4" if i % 50 == 7 else "Team %d" % (i % 23), "authorEmail": "",
             "framework": "Loops %d" % (i % 4), "codeURL": "https://example.org/%d?a=1&b=2" % i, "model": odd[i // 50 % 5] if i % 50 == 9 else "Net %d" % (i % 31),
             "hardware": "%d * V100, a machine with quite a long description of itself" % (1 + i % 8), "costPerHour": None if i % 5 == 0 else 1 + i % 9,
             "timestamp": "20%02d-%02d-%02d" % (17 + i // 100, 1 + i % 12, 1 + i % 28), "misc": {}}
    json.dump(entry, open("old/CIFAR10/train/%s.json" % stem, "w"))
    rows = ["epoch\thours\ttop1Accuracy"] + ["%d\t%.6f\t%.2f" % (e, hours * e / 10, min(95, 40 + 6 * e)) for e in range(1, 11)]
    open("old/CIFAR10/train/%s.tsv" % stem, "w").write("\n".join(rows) + "\n")
for i in range(5):
    entry = dict(entry, latency=0.5 + i, cost=1e-6, top1Accuracy=94.5)
    json.dump(entry, open("old/CIFAR10/inference/i%d.json" % i, "w"))
PYTHON
"$BOARD" import dawnbench old --db many.db >/dev/null
# The archive knows no energy, and this machine may have no counter. So that a board with that column is looked at, rows get one.
sql many.db 'UPDATE entries SET energy = 1000.0 * id WHERE id % 3 = 0 AND board < 2'

# ---- four signed runs on drawn data: a group, a run with a latency, a run with a ticket; measurements; a competition with an entry
quick="--data synthetic --set widths=16,16,16 --batch 100 --set epochs=2 --set views=1 --set evaluate_every=1 --cost-per-hour 3"
"$DAWN" train cifar10 $quick --runs 2 --save "" >/dev/null
"$DAWN" train cifar10 $quick --seed 5 >/dev/null
"$DAWN" infer cifar10 --latency --items 50 --warmup 5 >/dev/null
"$DAWN" keys new >/dev/null
start_board many --work-milliseconds 0
"$DAWN" submit --server "$url" --yes --handle ada --team "<i>Engines</i>" --note 'a "note"' --code-url https://example.org/x >/dev/null
many=$url
cat >winter.json <<END
{"name": "winter", "title": "<i>Winter</i>", "rules": "One \"machine\".", "task": "cifar10", "ranked_by": "training-time",
 "rank": "classic", "division": "open", "begins": "$(date -u -d yesterday +%FT00:00:00Z)",
 "commits_until": "$(date -u -d tomorrow +%FT00:00:00Z)", "reveals_until": "$(date -u -d '2 days' +%FT00:00:00Z)"}
END
"$BOARD" competition add winter.json --db many.db >/dev/null
export DAWN_HANDLE=ada
"$DAWN" train cifar10 $quick --ticket "$url" --db ticket.db >/dev/null
"$DAWN" submit ticket.db --server "$url" --yes >/dev/null
"$DAWN" bench cifar10 --data synthetic --set widths=8,8,8 --threads 1 --no-measure --seconds 0.05 --repeats 2 --batch 20,40 >/dev/null
scaling results.db 1 4000000
scaling results.db 2 5000000
scaling results.db 4 9000000
"$DAWN" submit --bench all --scaling all --server "$url" --yes >/dev/null
python3 "$ROOT/test/cli/submit_record.py" "$ROOT" real.db
"$DAWN" submit real.db --server "$url" --competition winter --run 1 --yes >/dev/null
start_board none --work-milliseconds 0
none=$url

# A short board begins with its rows, a long one with its charts.
first_of() { curl -fsS "$many/boards/$1/training-time?rank=classic&trust=imported" | grep -o 'id="board"\|class="pictures"' | head -n 1; }
[ "$(first_of demo)" = 'id="board"' ] && [ "$(first_of cifar10)" = 'class="pictures"' ]
python3 "$ROOT/test/cli/pages_check.py" "$many" 2000 all
python3 "$ROOT/test/cli/pages_check.py" "$none" 100

for program in chromium chromedriver; do
    command -v $program >/dev/null || { echo "$program is not installed: no browser looked at the pages"; exit 77; }
done
# How pages look is a matter of their bytes, which are those of a build without sanitizers; how a browser asks for them is not.
brief=
if ldd "$BOARD" | grep -q 'lib[a-z]*san\.so'; then brief=brief; fi
python3 "$ROOT/test/cli/pages_browser.py" "$many" "$none" $brief
