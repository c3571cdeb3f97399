#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dawn-scoreboard import, board and export with a small archive made here, with the historic one's oddities: import, every
# board in every format, export, import again into a new record, identical boards. Then wrong folders.
set -eu

. "$ROOT/test/status.sh"

python3 - <<'PYTHON'
import json, os
def entry(path, log=None, mark="", end="\n", **values):
    fields = {"version": "v1.0", "author": "Ann", "authorEmail": "ann@example.org, bob@example.org", "framework": "Loops 1",
              "codeURL": "https://example.org/code", "model": "Net", "hardware": "8 * V100", "timestamp": "2019-03-04", "misc": {}}
    fields.update(values)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path + ".json", "w", newline="").write(mark + json.dumps({k: v for k, v in fields.items() if v != "absent"}, indent=4) + end)
    if log is not None:
        open(path + ".tsv", "w", newline="").write(log)
entry("old/CIFAR10/train/plain", "epoch\thours\ttop1Accuracy\n1\t0.5\t93.99\n2\t0.7000000001\t94\n3\t1\t93\n", costPerHour=3.3)
entry("old/CIFAR10/train/quick", "\ufeffhours\tepoch\ttop1Accuracy\r\n0.0\t0\t10\r\n0.1\t1.0009\t 95.01 \r\n\r\n", mark="\ufeff",
      author="Zo\u00eb,\tand  Bob <bob@example.org>", timestamp="2019-3-5", costPerHour=None, hardware="1 P4 / 8 GB")
entry("old/CIFAR10/train/missed", "epoch\thours\ttop1Accuracy\n1\t0.5\t93.99\n", codeURL="absent", misc="bob@example.org knows")
entry("old/CIFAR10/inference/plain", latency=0.3, cost=1e-7, top1Accuracy=94.0)
entry("old/CIFAR10/inference/low", latency=0.1, cost=1e-8, top1Accuracy=93.99, usedBlacklist=True)
entry("old/CIFAR10/inference/unscored", latency=0.2, cost=1e-8)
entry("old/ImageNet/train/net", "epoch\thours\ttop1Accuracy\ttop5Accuracy\n1\t2\t94\t92\n2\t3\t70\t93", costPerHour=1)
entry("old/SQuAD/train/net", "epoch\tf1Score\thours\n1\t0.74\t1\n1\t75\t2\n".replace("0.74", "74"))
entry("old/SQuAD/inference/net", latency=7.5, cost=None, f1Score=82.52)
open("old/CIFAR10/inference/broken.json", "w").write("{\"author\": \"Ann\",}")
entry("old/CIFAR10/train/alone")
PYTHON
ln -s plain.json old/CIFAR10/train/link.json

# A dry run prints its findings and changes nothing.
[ "$(status "$BOARD" import dawnbench old --db a.db --dry-run)" = 0 ]
[ ! -e a.db ]
grep -q '^CIFAR10/train/quick.tsv: begins with a byte order mark$' out
grep -q '^CIFAR10/train/quick.json: timestamp has no leading zeros$' out
grep -q '^CIFAR10/inference/broken.json: not JSON .*(refused)$' out
grep -q '^CIFAR10/train/alone.tsv: cannot be read.*(refused)$' out
grep -q '^CIFAR10/train/link.json: is a symbolic link (refused)$' out
grep -q '^SQuAD/inference/net.json: f1Score is given in points of 100' out
grep -q '^accepted: 9 (7 with irregularities); refused: 3$' out

expect 0 'a.db: 9 (9 new)$' "$BOARD" import dawnbench old --db a.db
boards() { # DATABASE FORMAT
    local task board
    for task in cifar10 ImageNet SQuAD; do
        for board in training-time training-cost inference-latency inference-cost; do
            "$BOARD" board $task $board --trust imported --db "$1" --format "$2"
        done
    done
}
boards a.db tsv >first.tsv
expect 0 'a.db: 9 (0 new)$' "$BOARD" import dawnbench old --db a.db
boards a.db tsv >again.tsv
cmp first.tsv again.tsv

"$BOARD" board CIFAR10 training-time --db a.db --trust imported --format tsv >out
printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' rank author model hardware framework date value unit source \
    1 'Zoë, and Bob' Net '1 P4 / 8 GB' 'Loops 1' 2019-03-05 360 s CIFAR10/train/quick \
    2 Ann Net '8 * V100' 'Loops 1' 2019-03-04 2520.00000036 s CIFAR10/train/plain >wanted
cmp wanted out
"$BOARD" board squad training-time --db a.db --trust imported --target 0.73 --format tsv | grep -q '	3600	s	SQuAD/train/net$'
"$BOARD" board squad training-time --db a.db --trust imported --format tsv | grep -q '	7200	s	SQuAD/train/net$'
[ "$("$BOARD" board cifar10 inference-latency --db a.db --trust imported --format tsv | cut -f7)" = "value
0.3" ] # an entry that misses the target, or has no score, has no place
[ "$("$BOARD" board cifar10 training-time --db a.db --trust imported --format tsv --since 2019-03-05 | wc -l)" = 2 ]
[ "$("$BOARD" board cifar10 training-time --db a.db --trust imported --format tsv --hardware '~v100' | cut -f9)" = "source
CIFAR10/train/plain" ]
[ "$("$BOARD" board cifar10 training-time --db a.db --trust imported --format tsv --limit 1 | wc -l)" = 2 ]
[ "$("$BOARD" board cifar10 training-time --db a.db --trust imported --format tsv --rank group | wc -l)" = 1 ]
boards a.db csv >out
python3 - <<'PYTHON'
import csv
rows = list(csv.reader(open("out", encoding="utf-8")))
lines = [line.rstrip("\n").split("\t") for line in open("first.tsv", encoding="utf-8")]
assert rows == lines and len(rows) > 16, (len(rows), len(lines))
PYTHON
"$BOARD" board cifar10 training-cost --db a.db --trust imported -f json >out
holds out '[(e["value"], e["unit"], e["trust"]) for e in o["entries"]] == [(0.7000000001 * 3.3, "USD", "imported")]'
"$BOARD" board cifar10 training-time --db a.db --trust imported >out
grep -q '^1 *6 min 00 s  Zoë, and Bob .*imported  2019-03-05$' out
"$BOARD" board demo training-time --db a.db | grep -q 'No entries'

# Out and in again: the same files, the same boards, and no address of a person.
expect 0 '^exported: 9 imported entries and 0 rows of own runs, 14 files$' "$BOARD" export dawnbench new --db a.db
cmp old/CIFAR10/train/plain.tsv new/CIFAR10/train/plain.tsv
cmp old/CIFAR10/train/quick.tsv new/CIFAR10/train/quick.tsv
sed 's/"ann@example.org, bob@example.org"/""/' old/CIFAR10/train/plain.json | cmp - new/CIFAR10/train/plain.json
if grep -r '[a-z]@[a-z]' new; then exit 1; fi
[ "$(find new -type f | wc -l)" = 14 ]
expect 0 'refused: 0$' "$BOARD" import dawnbench new --db b.db
boards b.db tsv >back.tsv
cmp first.tsv back.tsv
[ "$(status "$BOARD" export dawnbench newer --db b.db)" = 0 ]
diff -r new newer

# A record that the import makes has the given name for good.
[ "$(status "$BOARD" import dawnbench new --db named.db --origin board.example)" = 0 ]
says 1 'the board "board.example", not of "other"' "$BOARD" import dawnbench new --db named.db --origin other

# Wrong words and wrong folders: a sentence each.
refused() { # STATUS PATTERN COMMAND...
    local wanted=$1 pattern=$2
    shift 2
    [ "$(status "$@")" = "$wanted" ] && grep -q "$pattern" err || { echo "\"$*\" does not say $pattern:" && cat err && exit 1; }
}
refused 1 'old/CIFAR10 is the folder of a single task' "$BOARD" import dawnbench old/CIFAR10 --db c.db
refused 1 'holds no folder CIFAR10, ImageNet or SQuAD: it is not an archive of DAWNBench' "$BOARD" import dawnbench old/CIFAR10/train --db c.db
refused 1 'cannot read the folder nowhere' "$BOARD" import dawnbench nowhere --db c.db
mkdir -p empty/CIFAR10/train
refused 1 'holds no entry' "$BOARD" import dawnbench empty --db c.db
refused 2 'import dawnbench DIR, or import records FILE' "$BOARD" import old
refused 2 'export dawnbench DIR' "$BOARD" export new
refused 2 'did you mean "cifar10"' "$BOARD" board cifar training-time --db a.db
refused 2 'there is no task "zzzzzzzz"' "$BOARD" board zzzzzzzz training-time --db a.db
refused 2 'did you mean "training-time"' "$BOARD" board cifar10 training-tim --db a.db --trust imported
refused 2 'since' "$BOARD" board cifar10 training-time --db a.db --trust imported --since yesterday
refused 2 'the format is' "$BOARD" board cifar10 training-time --db a.db --trust imported --format xml
refused 1 'c.db' "$BOARD" board cifar10 training-time --db c.db
[ ! -e c.db ]
