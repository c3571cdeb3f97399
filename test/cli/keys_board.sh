#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dawn keys rotate and dawn keys revoke against a real scoreboard: the handle passes on to the new key with both signatures,
# the old one then counts no more, and neither does a key that revokes itself.
set -eu
. "$ROOT/test/board.sh"

id() { "$DAWN" keys show "$1" | sed -n 's/^  id *//p'; }
statements() { curl -s "$url/api/v1/statements" | grep -o '"type":"[a-z]*"' | sed 's/.*:"//; s/"//' | xargs; }

start_board board --origin example
python3 "$ROOT/test/cli/submit_record.py" "$ROOT" results.db
"$DAWN" keys new first >out
"$DAWN" keys new second >out
export DAWN_SERVER=$url DAWN_KEY=first

# ---- wrong usage, and no question without a terminal
expect 2 'no handle is known' "$DAWN" keys rotate second
expect 2 'begin with a letter or digit' "$DAWN" keys rotate second --handle ..
expect 2 'begin with a letter or digit' "$DAWN" keys rotate second --handle -a
expect 2 'keys rotate needs the new key' "$DAWN" keys rotate
expect 2 'not also "third"' "$DAWN" keys rotate second third
expect 2 'right after keys' "$DAWN" keys --public rotate
expect 1 'there is no key "third"' "$DAWN" keys rotate third --handle ada
expect 2 'first is the key that signs now' "$DAWN" keys rotate first --handle ada
expect 2 'is the board example' "$DAWN" keys rotate second --handle ada --board other
expect 2 'give --reason TEXT' "$DAWN" keys revoke
expect 2 'not also "second"' "$DAWN" keys revoke first second --reason x
expect 1 'has not submitted anything here' "$DAWN" keys rotate second --handle ada --yes
expect 0 'run 1: accepted as #1' "$DAWN" submit --handle ada --run 1 --yes
expect 2 'yes agrees without it' "$DAWN" keys rotate second
expect 2 'yes agrees without it' "$DAWN" keys revoke --reason 'a stolen laptop'
[ "$(statements)" = run ]

# ---- the handle passes on
expect 1 'belongs to the handle "ada"' "$DAWN" keys rotate second --handle bob --yes
expect 0 'rotate: accepted as #2 on example' "$DAWN" keys rotate second --yes
grep -q "from $(id first)" out
grep -q "to   $(id second)" out
grep -q -- '--key second' out
statement 2 | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["envelope"]))' >envelope.json
grep -q '"countersignature"' envelope.json
expect 0 'signature *good' "$DAWN" verify envelope.json
expect 1 'was replaced by a newer one' "$DAWN" submit --run 2 --yes
expect 1 'was replaced by a newer one' "$DAWN" keys rotate second --yes
expect 0 'run 2: accepted as #3' "$DAWN" submit --run 2 --key second --yes

# ---- verifying reports a run's later fate; withdrawing reports its consequences
expect 0 'receipt *good: #3' "$DAWN" verify "$url/runs/3"
lacks out '^ *state '
expect 0 'run 2: accepted as #4' "$DAWN" submit --run 2 --key second --note more --yes
expect 0 'state  *replaced by #4, the board says' "$DAWN" verify "$url/runs/3"
expect 0 'Group 1 will no longer be official, and will be on no board' "$DAWN" withdraw 2 --key second --reason 'a slip' --yes
grep -q 'cannot come back' out
grep -q 'withdraw: accepted as #5' out
expect 0 'state  *withdrawn by #5: a slip, the board says' "$DAWN" verify "$url/runs/4"

# ---- and a key ends itself
"$DAWN" keys new third >out
expect 2 'reason must not be empty' "$DAWN" keys revoke second --reason '' --yes
expect 2 'reason cannot be shown' "$DAWN" keys revoke second --reason "$(printf 'a\342\200\256b')" --yes
expect 0 'revoke: accepted as #6 on example' "$DAWN" keys revoke second --reason 'a stolen laptop' --yes
expect 1 'was revoked by statement 6' "$DAWN" submit --run 3 --key second --yes
expect 1 'was revoked by statement 6' "$DAWN" keys rotate third --key second --yes
expect 1 'belongs to another key' "$DAWN" submit --run 3 --key third --yes
curl -s "$url/people/ada" | grep -q 'a stolen laptop'
"$BOARD" check --db board.db >out
stop_board
