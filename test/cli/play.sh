#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Connect Four: positions that are part of the program, scores of moves, a network that learns by playing against itself, and games
# against it through a pipe.
set -eu
. "$ROOT/test/status.sh"

# ---- positions and moves
expect 0 '^connect4  *1 + 4,000 samples of board and values, part of this program$' "$DAWN" data list
expect 0 '^solved positions: official$' "$DAWN" data verify connect4
expect 0 '^some solved positions: synthetic$' "$DAWN" data verify connect4-drawn
says 2 'nothing to fetch' "$DAWN" data fetch connect4
expect 0 '^    1 2 3 4 5 6 7$' "$DAWN" data show connect4 7
reads out '^solved positions, test position 7 of 4000$'
awk 'length > 80 { exit 1 }' out
says 2 'connect4 has the test positions 1 to 4000; "4001" is none of these numbers' "$DAWN" data show connect4 4001
"$DAWN" eval baselines connect4 --data connect4-drawn >baselines.txt
reads baselines.txt '% mistakes: tree search with 100 random playouts'

# ---- a training, its report, its moves
"$DAWN" train connect4 --data connect4-drawn --threads 1 --no-stop --target 1 >log.txt
reads log.txt SYNTHETIC
infer="infer connect4 --threads 1 --precision f32"
"$DAWN" $infer --predictions moves.txt --json >score.json
[ "$(grep -cE '^[1-7]$' moves.txt)" = 400 ]
"$DAWN" eval connect4 connect4-drawn moves.txt --json >moves.json
holds score.json 'o["scores"]["mistakes"] == round(1e4 * load("moves.json")["percent"])'
"$DAWN" report >said.txt
reads report.html 'solved positions the network'"'"'s most probable move gives away value'
reads report.html 'A game against tree search with 1,000 random playouts'

# ---- games
printf '9\nfour\n4\nq\n' >person.txt
"$DAWN" $infer --play <person.txt >game.txt
[ "$(grep -c 'That is no column: type a number from 1 to 7, or q to end.' game.txt)" = 2 ]
reads game.txt 'The network plays [1-7] .[0-9]+ of [0-9]+ simulations. and expects [-+][01]'
awk 'length > 80 { exit 1 }' game.txt
yes 1 | head -n 4 >column.txt
"$DAWN" $infer --play <column.txt >ends.txt  # the end of the input ends it, too
seq 1 7 | awk '{ for (i = 0; i < 30; i++) print $1 }' >many.txt
"$DAWN" $infer --play <many.txt >full.txt
reads full.txt 'That column is full: type another one.'
reads full.txt 'The network wins.|You win.|A draw.'
"$DAWN" $infer --match 4 --json >match.json
"$DAWN" $infer --match 4 --json >again.json
holds match.json 'o["won"] + o["drawn"] + o["lost"] == o["games"] == 4' 'o == load("again.json")'
expect 0 'of 2 games against tree search with 1,000 random playouts: won' "$DAWN" $infer --match 2
awk 'length > 80 { exit 1 }' out
yes 4 | timeout 60 "$DAWN" $infer --play | head -n 1 >first.txt
[ "${PIPESTATUS[1]}" -ne 124 ]  # it ends when nobody reads it
says 2 'give one of them' "$DAWN" $infer --match 2 --play
says 2 'connect4 is part of the program' "$DAWN" train connect4 --data .
says 2 'between 0.000001 and 1000000' "$DAWN" train wgan-mnist --data mnist-drawn --target 1e30
"$DAWN" plan minigo-9 --json >plan.json  # 200 games with a search for each move
holds plan.json 'o["schedule"]["evaluation_flops"] > 1e14'
says 2 '--json is for --match' "$DAWN" $infer --play --json
says 2 'play alone' "$DAWN" $infer --play --latency
