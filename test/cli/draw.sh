#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The draw: an honest run and one with made-up losses are submitted, the log draws both, and the operator trains their first epoch
# again. One is equal to the last bit, the other differs and is flagged. Then what a page, the API and dawn verify say.
set -eu
. "$ROOT/test/board.sh"

# The sources of a tree that is being worked on would be a flag, and flagged runs are not drawn.
bind() { # DATABASE SQL: changes the record as a forger does, with good hashes
    python3 -B - "$1" "$ROOT" "$2" <<'PYTHON'
import sqlite3, sys
sys.path.insert(0, sys.argv[2] + "/test/cli")
from bind_record import bind
d = sqlite3.connect(sys.argv[1])
d.execute("UPDATE software SET dirty = 0, commit_name = '0123456789abcdef0123456789abcdef01234567'")
d.execute(sys.argv[3])
bind(d, 1)
d.commit()
PYTHON
}

quick="train cifar10 --data synthetic --set widths=8,32,32 --set epochs=2 --set views=1 --threads 1 --no-stop --quiet --save "
"$DAWN" $quick "" --seed 5 --db ada.db
"$DAWN" $quick "" --seed 6 --db eve.db
bind ada.db "SELECT 1"
bind eve.db "UPDATE points SET loss_micro = loss_micro - 12345"

# ---- a part of a replay
expect 0 'every loss and score equals the original.s' "$DAWN" replay 1 --db ada.db --epochs 1 --save ""
reads out 'ended after 1 epoch|interrupted'
lacks out 'publishes it'
expect 3 'it came to other figures' "$DAWN" replay 1 --db eve.db --epochs 1 --save ""
expect 2 'epochs' "$DAWN" replay 1 --db ada.db --epochs 0

# ---- the rules, and what they draw
start_board board --origin example
export DAWN_SERVER=$url
"$DAWN" keys new first >out
"$DAWN" keys new second >out
expect 0 'There are no rules' "$BOARD" draw --db board.db
expect 0 'Nothing is drawn and open' "$BOARD" audit --drawn --db board.db
says 2 'need --by' "$BOARD" draw --db board.db --share 10
says 2 'is not a fingerprint' "$BOARD" draw --db board.db --by Ann --key ada
says 2 'are for --drawn' "$BOARD" audit 1 --epochs 2 --db board.db
says 2 'takes no run' "$BOARD" audit 1 --drawn --db board.db
expect 0 'statement 1: these rules' "$BOARD" draw --db board.db --by Ann --share 100
expect 0 'share 100% of new runs' "$BOARD" draw --db board.db
expect 0 'run 1: accepted as #2' "$DAWN" submit ada.db --run 1 --handle ada --key first --yes
expect 0 'run 1: accepted as #3' "$DAWN" submit eve.db --run 1 --handle eve --key second --yes
expect 0 'run 3 of eve' "$BOARD" audit --drawn --list --db board.db
reads out 'run 2 of ada: cifar10, recipe synthetic, .* drawn since'
expect 0 'drawn since .* with #2, and not repeated yet' "$DAWN" verify "$url/runs/2"
curl -fsS "$url/boards/demo/training-time?rank=classic" >page
[ "$(grep -o 'drawn, not repeated since' page | wc -l)" = 2 ]

# Anybody computes who was drawn: the lines of docs/statements.md.
sed -n '/^```python$/,/^```$/p' "$ROOT/docs/statements.md" | sed '1d;$d' >draw.py
python3 draw.py "$url" 2 >out
reads out '^[0-9]+ of 1000000$'

# ---- a program that is missing leaves both open
expect 1 '2 drawn runs stay open' "$BOARD" audit --drawn --dawn /bin/false --db board.db
expect 1 'cannot start' "$BOARD" audit --drawn --dawn ./nothing --db board.db
printf '#!/bin/sh\nexec sleep 60\n' >slow && chmod +x slow
expect 1 'run 2 stays open: the time was up after 1 s' "$BOARD" audit --drawn --seconds 1 --dawn ./slow --db board.db
reads out 'run 3 stays open: the time was up'

# ---- the audit, while the server runs
expect 3 'statement 4: run 2 is equal to the last bit: 1 of 1 points are the same in 1 epoch' \
    "$BOARD" audit --drawn --epochs 1 --dawn "$DAWN" --db board.db
reads out 'statement 5: run 3 DIFFERS: 0 of 1 points'
expect 0 'Nothing is drawn and open' "$BOARD" audit --drawn --db board.db

# ---- another machine of the operator trains, here of a whole run
says 2 'needs one run' "$BOARD" audit --replayed again.json --db board.db
expect 0 'exact' "$DAWN" replay "$url/runs/2" --json --db far.db --save ""
mv out again.json
says 1 'again.json is about another run than 3' "$BOARD" audit 3 --replayed again.json --db board.db
expect 0 'statement 6: run 2 is equal to the last bit: 2 of 2 points are the same in 2 epochs' \
    "$BOARD" audit 2 --replayed again.json --db board.db
sed 's/"epoch_micro"/"epochs"/' again.json >none.json
says 1 'repeated.*is missing' "$BOARD" audit 2 --replayed none.json --db board.db
echo 'ready' >none.json
says 1 'is not what "dawn replay --json" writes' "$BOARD" audit 2 --replayed none.json --db board.db
for run in 2 3; do statement $run >$run.json; done
state='(o["state"]["trust"], o["state"]["drawn"]["verdict"], o["state"]["drawn"]["waits"], [f["code"] for f in o["state"]["findings"]])'
holds 2.json "$state == ('reproduced', 'equal', False, [])"
holds 3.json "$state == ('signed', 'differs', False, ['repeated'])"
expect 0 'trained again by the operator for 2 epochs, equal to the last bit (#6)' "$DAWN" verify "$url/runs/2"
expect 0 'repeated: the operator trained it again for 1 epoch with other figures (#5)' "$DAWN" verify "$url/runs/3"
curl -fsS "$url/runs/2" >page
grep -q '<strong>equal to the last bit</strong>, 2 of 2 points' page
curl -fsS "$url/runs/3" >page
grep -q 'Flag: repeated' page
curl -fsS "$url/boards/demo/training-time?rank=classic" >page
grep -q '2 epochs repeated' page
lacks page 'differs when repeated'
curl -fsS "$url/boards/demo/training-time?rank=classic&trust=imported" >page
grep -q 'differs when repeated' page
kill "$pid"

# ---- what a static copy and the check make of it
"$BOARD" export site copy --base https://board.example --db board.db >out
grep -q 'equal to the last bit' copy/runs/2/index.html
expect 0 'trained again by the operator' "$DAWN" verify copy/runs/2/index.html
expect 0 'board.db is whole' "$BOARD" check --db board.db
