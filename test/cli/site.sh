#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A static copy of a scoreboard: every link of every page leads to a file, nothing in it needs a server, dawn verify takes its runs
# from the folder and from a host of files, and an earlier copy is replaced whole.
set -eu
. "$ROOT/test/board.sh"
start_board board --origin example
mkdir -p archive/CIFAR10/train
cat >archive/CIFAR10/train/one.json <<'END'
{"version": "v1.0", "author": "Ada & <b>", "authorEmail": "", "framework": "PyTorch 1.0", "codeURL": "https://example.org/code",
 "model": "ResNet 18", "hardware": "1 V100", "costPerHour": 3.0, "timestamp": "2019-01-02", "misc": {}}
END
printf 'epoch\thours\ttop1Accuracy\n1\t0.01\t50.0\n2\t0.02\t94.1\n' >archive/CIFAR10/train/one.tsv
for i in $(seq 60); do  # more than a part of a board's JSON
    cp archive/CIFAR10/train/one.json "archive/CIFAR10/train/more$i.json"
    printf 'epoch\thours\ttop1Accuracy\n1\t0.01\t50.0\n2\t0.0%s\t94.1\n' $((i + 20)) >"archive/CIFAR10/train/more$i.tsv"
done
"$BOARD" import dawnbench archive --db board.db >out
python3 "$ROOT/test/cli/submit_record.py" "$ROOT" results.db
"$DAWN" keys new >out
expect 0 'accepted as #1' "$DAWN" submit --server "$url" --handle ada --run 1 --yes
expect 0 'accepted as #2' "$DAWN" submit --server "$url" --handle ada --run 2 --yes

# ---- refusals
expect 2 'export site DIR' "$BOARD" export site --db board.db
expect 2 'base takes an address' "$BOARD" export site site --base ann.example --db board.db
expect 2 'base is for export site' "$BOARD" export dawnbench site --base https://ann.example --db board.db
mkdir own && echo precious >own/file
expect 1 'own exists already and is not a copy of a board' "$BOARD" export site own --db board.db
[ "$(cat own/file)" = precious ]

# ---- a copy, while the server runs: without a base, then with one over it
expect 0 'with 2 entries of the log' "$BOARD" export site site --db board.db
python3 "$ROOT/test/cli/site_check.py" site
grep -q 'THIS-SITE/runs' site/runs/1/index.html
expect 0 '^exported: ' "$BOARD" export site site --db board.db --base https://ann.example/board/
[ "$(ls -d site*)" = site ] # nothing is left next to it
python3 "$ROOT/test/cli/site_check.py" site
grep -q 'href="https://ann.example/board/runs/' site/feed.atom
grep -q 'dawn verify https://ann.example/board/runs/1' site/runs/1/index.html
grep -q "Search needs the board's server" site/people/index.html
curl -sS "$url/api/v1/statements/1/payload" | cmp - site/api/v1/statements/1/payload.json
curl -sS "$url/boards/cifar10/training-time.csv?trust=imported" | cmp - site/boards/cifar10/training-time,trust=imported.csv
curl -sS "$url/log/checkpoint" | cmp - site/log/checkpoint
[ "$(cat site/api/v1/boards/cifar10/training-time,trust=imported*.json | grep -o '"source":"CIFAR10' | wc -l)" = 61 ]
stop_board

# ---- dawn verify: the folder, and a host of files below a path
expect 0 'log *good: entry 1 of 1' "$DAWN" verify site/runs/1/index.html
grep -q 'growth *seen for the first time: 2 entries' out
expect 0 'growth *good: 2 entries, of which 2' "$DAWN" verify "$PWD/site/runs/2"
mkdir -p served && cp -R site served/board
python3 -u -m http.server --bind 127.0.0.1 --directory served 0 >hosted 2>&1 &
boards="$boards $!"
wait_line $! hosted Serving
at=$(sed -n 's|.*(\(http://[^ ]*\)/).*|\1|p' hosted)/board
expect 0 'receipt *good: #2 of example' "$DAWN" verify "$at/runs/2/index.html"
expect 0 'log *good: entry 1 of 1' "$DAWN" verify "$at/runs/1"
expect 1 'there is no\|answers 404' "$DAWN" verify "$at/runs/9"
# dawn replay reads the same places, and no other statement than the one that was asked for.
no_data='there is no CIFAR-10 in' # which is said after the statement has been read
expect 1 "$no_data" "$DAWN" replay "$at/runs/1" --db none.db
grep -q "repeats  *run 1 of $at: " out
expect 1 "$no_data" "$DAWN" replay "$at/runs/2/" --db none.db
grep -q "repeats  *run 2 of $at: " out
digest() { sha256sum site/api/v1/statements/$1/payload.json | cut -d' ' -f1; }
mixed=${at%board}mixed
cp -R site served/mixed
there=served/mixed/api/v1/statements
cp -R $there/1 "$there/$(digest 1)"
cp -R $there/1 "$there/$(digest 2)"
cp $there/2/* $there/1
expect 1 'the statement does not hold' "$DAWN" replay "$mixed/runs/1" --db none.db
expect 1 "$no_data" "$DAWN" replay "$mixed/runs/$(digest 1)" --db none.db
expect 1 'the statement does not hold' "$DAWN" replay "$mixed/runs/$(digest 2)" --db none.db
# A copy that is older than the board is honest.
start_board board --origin example
expect 0 'accepted as #3' "$DAWN" submit --server "$url" --handle ada --run 3 --yes
expect 0 'growth *good: 3 entries, of which 2' "$DAWN" verify "$url/runs/3"
expect 0 'growth *not proved: the copy has 2 entries' "$DAWN" verify "$at/runs/1"
expect 0 'growth *not proved: the copy has 2 entries' "$DAWN" verify site/runs/2
expect 0 'growth *good: 3 entries, of which 3' "$DAWN" verify "$url/runs/1"
stop_board
# A host that alters a tile, or takes the log away, is noticed.
rm "$XDG_DATA_HOME"/dawn/logs/*
printf xxxxxxxx | dd of=served/board/log/tile/0/000.p/2 bs=1 seek=40 conv=notrunc 2>/dev/null
expect 1 'growth *WRONG' "$DAWN" verify "$at/runs/1"
: >served/board/log/checkpoint
expect 1 'log *WRONG: the board does not show its log' "$DAWN" verify "$at/runs/1"
rm served/board/log/checkpoint
expect 1 'log *WRONG: the board does not show its log' "$DAWN" verify "$at/runs/1"
