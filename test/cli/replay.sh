#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dawn replay: a run of the record, of a file and of a scoreboard is trained once more, to the same bytes; the replay names its
# original on the board. Then runs that differ, runs that cannot be repeated, and claims that do not hold.
set -eu
. "$ROOT/test/board.sh"

quick="train cifar10 --data synthetic --set widths=8,8,16 --batch 250 --set epochs=0.1 --set views=1 --threads 1"
"$DAWN" $quick --seed 5 --target 0.001 --db ada.db --quiet --name first
[ "$(sql ada.db 'SELECT count(*) FROM replays')" = 0 ]

# ---- the same program, threads and device: bit for bit
expect 0 'held to the same figures, bit for bit' "$DAWN" replay 1 --db ada.db
reads out 'verdict agrees: every loss and score equals the original.s, bit for bit'
[ "$(sql ada.db 'SELECT replays.run, head = hash FROM replays JOIN points ON points.run = 1')" = '2 1' ]
cmp ada-run-1.safetensors ada-run-2.safetensors
"$DAWN" results show 2 --db ada.db | grep -q "^ *replay of *$(sql ada.db 'SELECT head FROM replays')"
"$DAWN" results verify all --db ada.db >out
[ "$(grep -c good out)" = 2 ]
cp ada.db edited.db
sql edited.db "UPDATE replays SET head = CASE substr(head, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(head, 2) WHERE run = 2"
expect 1 'root' "$DAWN" results verify 2 --db edited.db

# ---- a run is named by its name, too, as everywhere; a file of that name comes first
expect 0 'held to the same figures, bit for bit' "$DAWN" replay first --db ada.db --save ""
expect 2 'no run "frist"; did you mean "first"?' "$DAWN" replay frist --db ada.db
echo text >first
expect 1 'first' "$DAWN" replay first --db ada.db
rm first

# ---- other threads: an interval, and every difference has a line
if [ "$(nproc)" -gt 1 ]; then
    rc=0
    "$DAWN" replay 1 --db ada.db --threads 2 --save "" >out 2>err || rc=$?
    [ "$rc" = 0 ] || [ "$rc" = 3 ]
    reads out 'differs threads: 1, in the replay 2'
    reads out 'held to the interval of one evaluation'
fi

# ---- on a scoreboard: both pages name the other
start_board board --origin example
export DAWN_SERVER=$url
"$DAWN" keys new first >out
"$DAWN" keys new second >out
expect 0 'run 1: accepted as #1' "$DAWN" submit ada.db --run 1 --handle ada --key first --yes
expect 0 'verdict agrees' "$DAWN" replay "$url/runs/1" --db bob.db --save ""
reads out '"dawn submit bob.db --run 1" publishes it'
expect 0 'run 1: accepted as #2' "$DAWN" submit bob.db --handle bob --key second --yes
expect 0 'chain good' "$DAWN" verify "$url/runs/2"
curl -fsS "$url/runs/1" >page
grep -q '<a href="/runs/2">Run 2</a>' page
grep -q 'bit for bit' page
curl -fsS "$url/runs/2" >page
grep -q 'repeats <a href="/runs/1">run 1</a>' page
"$BOARD" check --db board.db >out
kill "$pid"

# ---- in a static copy of the board
"$BOARD" export site copy --base https://board.example --db board.db >out
expect 0 '"of":"run 1 of ./copy"' "$DAWN" replay copy/runs/1 --db copied.db --save "" --json
expect 0 'chain good' "$DAWN" verify copy/runs/2/index.html

# ---- a file, and runs that cannot be repeated
"$DAWN" submit ada.db --run 1 --handle ada --key first --out signed --board example >out 2>err
expect 0 '"verdict":"exact"' "$DAWN" replay signed/run-1.json --db file.db --save "" --json
sed 's/"seed":5/"seed":6/' signed/run-1.json >signed/forged.json
expect 1 'chain-broken' "$DAWN" replay signed/forged.json --db file.db
printf '{}' >signed/none.json
expect 1 'cannot be repeated' "$DAWN" replay signed/none.json
expect 1 'No such file' "$DAWN" replay nothing.json
expect 2 'one run, address or file' "$DAWN" replay
expect 2 'is not the address' "$DAWN" replay https://board.example/
expect 2 'null device computes nothing' "$DAWN" replay 1 --db ada.db --device null
expect 2 'there is no run 99' "$DAWN" replay 99 --db ada.db
expect 2 'does not use such a file' "$DAWN" replay 1 --db ada.db --vectors nothing.txt
"$DAWN" record -t 0.6 --seed 7 --db ada.db -- python3 "$ROOT/test/cli/record_trainer.py" '{seed}' >out 2>err
expect 2 'another program' "$DAWN" replay last --db ada.db

# ---- an original that was never trained so: its figures are refuted
sql ada.db 'UPDATE points SET loss_micro = loss_micro + 1 WHERE run = 1'
expect 1 'cannot be repeated' "$DAWN" replay 1 --db ada.db
