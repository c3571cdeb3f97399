#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dawn train --ticket and a real scoreboard: the ticket, the beats, the board's word about the clock, what dawn verify makes of
# them, and a board that is down, hangs, or goes away while a run goes on.
set -eu
. "$ROOT/test/board.sh"
export DAWN_HANDLE=ada

quick="train cifar10 --data synthetic --set widths=8,8,16 --batch 250 --set epochs=0.1 --set views=1 --threads 1 --target 0.001 --quiet"

# ---- runs that cannot be announced
expect 1 'no key' "$DAWN" $quick --db none.db --ticket http://127.0.0.1:1
"$DAWN" keys new >out
expect 2 'set DAWN_HANDLE once; it is remembered' env -u DAWN_HANDLE "$DAWN" $quick --db none.db --ticket http://127.0.0.1:1
echo 'a b' >.config/dawn/handle
expect 2 'letters without accents' env -u DAWN_HANDLE "$DAWN" $quick --db none.db --ticket http://127.0.0.1:1
rm .config/dawn/handle
expect 2 'is not the address of a scoreboard\|address' "$DAWN" $quick --db none.db --ticket nowhere
expect 2 'the ticket gives the seed' "$DAWN" $quick --db none.db --seed 3 --ticket http://127.0.0.1:1
expect 1 'there is no ticket ' "$DAWN" $quick --db none.db --ticket http://127.0.0.1:1
[ ! -e none.db ]

# ---- a board that hangs, in the background: it takes the connection and says nothing
cat >hang.py <<'END'
import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
held = []
while True:
    held.append(s.accept())
    print("asked", flush=True)
END
python3 hang.py >hang.port &
boards="$boards $!"
until [ -s hang.port ]; do sleep 0.05; done
"$DAWN" $quick --db hang.db --ticket "http://127.0.0.1:$(head -n 1 hang.port)" >stopped.out 2>&1 </dev/null &
stopping=$!
boards="$boards $stopping"
until grep -q asked hang.port; do kill -0 $stopping; sleep 0.05; done
sleep 1  # by now it waits for the ticket
kill -TERM $stopping
got=0
wait $stopping || got=$?
[ "$got" = 130 ] || { echo "stopped while it waits: $got"; cat stopped.out; exit 1; }
(
    got=0
    "$DAWN" $quick --db hang.db --ticket "http://127.0.0.1:$(head -n 1 hang.port)" >hang.out 2>&1 </dev/null || got=$?
    echo "$got" >hang.got
) &
hanging=$!

# ---- a board that goes away while the run goes on: the run ends as any other, and says so once
start_board gone --origin gone
gone=$pid
"$DAWN" train cifar10 --data synthetic --set widths=8,8,16 --batch 250 --set epochs=1 --set views=1 --threads 1 --target 0.999 \
    --db gone-run.db --ticket "$url" >gone.out 2>gone.err </dev/null &
training=$!
until [ -e gone-run.db ] && [ "$(sql gone.db 'SELECT count(*) FROM beats' 2>gone.sql)" -gt 0 ] 2>/dev/null; do
    kill -0 $training
    sleep 0.05
done
kill -STOP $training
kill -9 "$gone"
kill -CONT $training

# ---- an announced run, and a group: each run of it has a ticket, and a seed of its own. A stamp that comes late, on a busy
# machine, is no fault of the program: then all of it is tried again, on a new board.
for try in 1 2 3; do
    start_board "example$try" --origin "example$try"
    kept=example$try.db
    expect 0 '' "$DAWN" $quick --db ada.db --ticket "$url"
    curl -sS "$url/people/ada" >page
    reads page '>1</b> run: 0 finished, 0 failed, 0 withdrawn, 1 not submitted yet'
    expect 0 'accepted as #2' "$DAWN" submit ada.db --server "$url" --run 1 --yes
    expect 0 '' "$DAWN" $quick --runs 2 --db group.db --ticket "$url"
    expect 0 'run 2: accepted as #' "$DAWN" submit group.db --server "$url" --yes
    vouched=$(sql "$kept" "SELECT count(*) FROM statements WHERE type = 'vouch'")
    if [ "$vouched" = 3 ] || [ "$try" = 3 ]; then break; fi
    kill "$pid"
    rm -f ada.db* group.db*
done
[ "$vouched" = 3 ]
[ "$(sql ada.db 'SELECT count(*) FROM tickets')" = 1 ]
[ "$(sql "$kept" 'SELECT count(*) > 1 FROM beats')" = 1 ]
seed=$(sql ada.db 'SELECT seed FROM runs')
[ "$seed" = "$((16#$(sql ada.db 'SELECT substr(proof, 1, 12) FROM tickets')))" ]
expect 0 'good' "$DAWN" results verify 1 --db ada.db
expect 0 'ticket good: #1, issued .* clock good: the board signed [123] stamps\? (#3), and the clock of the run agrees' \
    "$DAWN" verify "$url/runs/2"
expect 0 'statement vouch' "$DAWN" verify "$url/runs/3"
expect 0 'statement ticket by ada' "$DAWN" verify "$url/runs/1"
curl -sS "$url/runs/2" >page
reads page 'Statement 1</a>, issued .* and its clock agrees within 0[.].* [(]a twentieth of the claimed time, at most 2 s[)]: <a href="/runs/3">'
curl -sS "$url/runs/1" | grep -q 'Its run</dt><dd><a href="/runs/2">'
curl -sS "$url/api/v1/people/ada" >person
holds person 'o["tickets"]["announced"] == o["tickets"]["finished"] == 3'
statement 2 >two
holds two 'o["state"]["vouched_by"] == 3'
# a static copy shows the same
expect 0 '' "$BOARD" export site copy --db "$kept" --base https://ann.github.io/board
expect 0 'ticket good: #1.* clock good' "$DAWN" verify copy/runs/2
expect 0 '' "$BOARD" check --db "$kept"

[ "$(sql group.db 'SELECT count(*), count(DISTINCT seed) FROM tickets JOIN runs ON id = run')" = '2 2' ]
curl -sS "$url/people/ada" >page
reads page '>3</b> runs: 3 finished, 0 failed'

# ---- a replayed beat, a beat without the secret, bytes that are no beat
ticket=$(sql ada.db 'SELECT statement FROM tickets')
root=$(sql ada.db 'SELECT chain_root FROM runs')
beat() { curl -sS -o answer -w '%{http_code}' -H 'Content-Type: application/json' --data-raw "$2" "$url/api/v1/tickets/$1/beats"; }
[ "$(beat "$ticket" "{\"hash\":\"$root\",\"secret\":\"$root\"}")" = 403 ]
[ "$(beat "$root" "{\"hash\":\"$root\",\"secret\":\"$root\"}")" = 404 ]
[ "$(beat "$ticket" "{\"hash\":\"$root\"}")" = 400 ]
[ "$(beat "$ticket" "")" = 400 ] || [ "$(beat "$ticket" "")" = 411 ]

# ---- the two in the background
wait $hanging
[ "$(cat hang.got)" = 1 ]
grep -q 'there is no ticket' hang.out
[ ! -e hang.db ]
got=0
wait $training || got=$?
[ "$got" = 3 ] || { cat gone.out gone.err; exit 1; }
[ "$(grep -c 'cannot become witnessed' gone.err)" = 1 ]
expect 0 'good' "$DAWN" results verify 1 --db gone-run.db
