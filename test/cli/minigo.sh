#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A narrow network plays Go against itself and against the fixed opponent. Killed and resumed, with half-searched games, the training
# ends with the same bytes. Games against people go through a pipe. Wrong settings: one sentence each.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/resume.sh"
. "$ROOT/test/status.sh"

expect 0 '^openings of 9 x 9 Go: official$' "$DAWN" data verify minigo-9
expect 0 '^  network    white, O$' "$DAWN" data show minigo-9 200

# ---- trainings; status 3: the network lost all games
train="train minigo-9 --data minigo-9-drawn --no-stop --target 0.01 --set games.first=300 --set games.reuse=8"
mkdir straight
"$DAWN" $train --threads 1 --db straight/results.db >log.txt || [ $? = 3 ]
reads log.txt SYNTHETIC
reads log.txt '^  epoch +loss +train +wins bad-resigns +positions/s +time$'
"$DAWN" results export 1 --db straight/results.db --format json --to run.json
holds run.json 'len([p for p in o["runs"][0]["points"] if p.get("scores")]) == 2'
resumes "0 3" 16 $train --threads 1
"$DAWN" plan minigo-9 --threads 1 >plan.txt
reads plan.txt 'minigo, 692,349 parameters, 110 MFLOP'
reads plan.txt '15 epochs of 300 steps'

# A signal ends the games before the first step, which no state could hold.
"$DAWN" $train --threads 1 --db stopped.db --set games.first=1000000 >log.txt 2>err.txt &
wait_line $! log.txt 'minigo'
sleep 1
kill -INT $! # as Control-C does
rc=0
wait $! || rc=$?
[ "$rc" = 130 ]
reads err.txt 'stopped by a signal before step 1; the record so far is kept'

# ---- games
infer="infer minigo-9 --db straight/results.db --threads 1 --precision f32"
"$DAWN" $infer --predictions games.txt --json >score.json
holds score.json 'o["scores"]["wins"] == 250000 * open("games.txt").read().split().count("won")'
printf 'E10\nD4\nD4\nPass\npass\nq\n' >person.txt
"$DAWN" $infer --play <person.txt >game.txt
[ "$(grep -c 'That is no move: type a point such as D4, pass, or q to end.' game.txt)" = 2 ]
reads game.txt 'That is illegal: taken, suicide or ko'
reads game.txt 'The network plays ([A-HJ][1-9]|pass) .[0-9]+ of 16 simulations. and expects [-+][01]'
awk 'length > 80 { exit 1 }' game.txt
yes pass | head -n 400 >passes.txt
"$DAWN" $infer --play <passes.txt >ends.txt
reads ends.txt 'The network wins.|You win.'
"$DAWN" $infer --match 2 --json >match.json
"$DAWN" $infer --match 2 --json >again.json
holds match.json 'o["won"] + o["lost"] == o["games"] == 2' 'o == load("again.json")'
"$DAWN" report straight/results.db >said.txt
reads report.html 'A game against tree search with 1,000 random playouts'

# ---- wrong settings and weights
says 2 '"games.parallel" must be even' "$DAWN" $train --set games.parallel=3
says 2 '"search.first" must be at most "search.simulations"' "$DAWN" $train --set search.first=100
says 2 '"resign.low" must be at most "resign.high"' "$DAWN" $train --set resign.low=-0.5
says 2 'alphazero has no MiniGo.s search: "search.alpha" does not apply' "$DAWN" train connect4 --set search.alpha=0.5
