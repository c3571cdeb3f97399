#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A competition on a real scoreboard, from the operator's file to the last place: a commitment before the deadline shows no figures,
# the same command sends the run after it, and nothing else enters. The deadline is some seconds away; on a machine that is too slow
# for it, the next one is further away.
set -eu
. "$ROOT/test/board.sh"
moment() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }
write() { # NAME DEADLINE [TASK]: its file
    cat >"$1.json" <<END
{"name": "$1", "title": "Winter", "rules": "One machine.", "task": "${3:-cifar10}", "ranked_by": "training-time", "rank": "classic",
 "division": "open", "trust": "signed", "begins": "$(moment $((now - 60)))", "commits_until": "$(moment "$2")",
 "reveals_until": "$(moment $((now + 3600)))"}
END
}
shows() { # ADDRESS PATTERN: a page has it
    curl -sS "$url$1" >page
    grep -q -- "$2" page && return 0
    echo "no \"$2\" at $1"
    return 1
}
operator() { "$BOARD" competition "$@" --db board.db; }

start_board board --origin example
export DAWN_SERVER=$url
python3 "$ROOT/test/cli/submit_record.py" "$ROOT" results.db
"$DAWN" keys new first >out
"$DAWN" keys new other >out
export DAWN_KEY=first
now=$(date +%s)

# ---- the operator
expect 2 'needs a sub-command: add FILE' operator
expect 2 'no sub-command "ad"' operator ad x
expect 2 'takes one file' operator add
expect 2 'are for cancel' operator add x --by Ann
expect 2 'competition cancel needs --by NAME and --reason TEXT' operator cancel x
expect 0 'There is no competition' operator list
echo '{"name": "x"}' >bad.json
expect 1 'bad.json: the competition has no "title"' operator add bad.json
write wrong $((now + 3000))
sed -i 's/"cifar10"/"cifar1"/' wrong.json
expect 1 'wrong.json: there is no task "cifar1"; did you mean "cifar10"?' operator add wrong.json
write late $((now - 5))
expect 1 'over already' operator add late.json
write far $((now + 3000))
expect 0 'statement 1: the competition far is open' operator add far.json
expect 1 'names are not given twice' operator add far.json
expect 0 'far .*takes commitments, 0 committed, 0 entered$' operator list
awk 'length > 80 { exit 1 }' out
operator list --json | python3 -c 'import json, sys
one, = json.load(sys.stdin)
assert (one["name"], one["phase"], one["task"], one["contenders"]) == ("far", "takes commitments", "cifar10", 0), one
assert one["begins_ms"] < one["commits_until_ms"] < one["reveals_until_ms"], one'
expect 2 '--json is for competition list' operator add far.json --json

# ---- refusals before anything leaves the machine
expect 2 'name the one that enters it with --run RUN' "$DAWN" submit --competition far --handle ada --yes
expect 1 'has no competition "none"' "$DAWN" submit --competition none --handle ada --run 1 --yes
expect 2 "competition's name" "$DAWN" submit --competition ../x --handle ada --run 1 --yes
expect 2 'takes no files' "$DAWN" submit --competition far --handle ada --run 1 --out signed
expect 0 'takes commitments until' "$DAWN" submit --competition far --handle ada --run 1 --dry-run
expect 1 'is one run; the commitment has 2' "$DAWN" submit --competition far --handle ada --group 1 --yes
expect 0 'accepted as #2' "$DAWN" submit --handle ada --run 3 --yes
reads out 'the competition far takes commitments now. This publishes the runs at once'
cp results.db only.db
sql only.db 'DELETE FROM runs WHERE id <> 1'
expect 0 'takes commitments until' "$DAWN" submit only.db --competition far --handle ada --dry-run
expect 2 'has been submitted to example' "$DAWN" submit --competition far --run 3 --yes

# ---- commit
cp results.db other.db
# A run on drawn images enters a competition of the demonstration alone.
cp results.db demo.db
python3 -B - "$ROOT" <<'PYTHON'
import sqlite3, sys
sys.path.insert(0, sys.argv[1] + "/test/cli")
from bind_record import bind
d = sqlite3.connect("demo.db")
d.execute("DELETE FROM runs WHERE id <> 4")
d.execute("UPDATE runs SET synthetic = 1, official = 0")
d.execute("UPDATE data_sets SET name = 'synthetic', synthetic = 1, official = 0")
bind(d, 4)
d.commit()
PYTHON
for window in 3 12 40; do
    name=within-$window deadline=$(($(date +%s) + window))
    write "$name" "$deadline"
    expect 0 'is open' operator add "$name.json"
    write "demo-$window" "$deadline" demo
    expect 0 'is open' operator add "demo-$window.json"
    if "$DAWN" submit --competition "$name" --run 1 --yes --json >answer 2>out &&
        "$DAWN" submit demo.db --competition "demo-$window" --run 4 --yes >demo 2>>out; then break; fi
    cp out err
    grep -q 'took commitments until' err
done
grep -q "committed to $name as #" out
python3 -c 'import json; o = json.load(open("answer")); assert o["sent"]["commitment"]["state"] == "accepted", o'
shows /competitions "/competitions/$name"
shows "/competitions/$name" 'not revealed'
lacks page 'Some CPU'
shows "/competitions/demo-$window" 'Demonstration, no results'
grep -q 'Open for commitments.</strong> Time left: 0 h 0 min' page || grep -q 'Runs are being published' page # on a slow machine
lacks page '<dt>1[.]'
while [ "$(date +%s)" -lt "$deadline" ]; do sleep 0.2; done

# ---- reveal: these bytes, once
expect 1 'took commitments until' "$DAWN" submit other.db --competition "$name" --run 2 --yes
expect 0 'run 1: accepted as #' "$DAWN" submit --competition "$name" --yes
expect 0 'Nothing is new' "$DAWN" submit --competition "$name" --yes
curl -sS "$url/api/v1/competitions/$name" >entries
holds entries '[(e["place"], e["handle"], e["value"] > 0, e["mark"]) for e in o["entries"]] == [(1, "ada", True, "")]'
number=$(python3 -c 'import json; print(json.load(open("entries"))["entries"][0]["run"])')
shows "/competitions/$name" 'Some CPU'
shows "/runs/$number" "/competitions/$name"
expect 0 'receipt *good' "$DAWN" verify "$url/runs/$number"

# ---- the podium of a demonstration
expect 0 'run 4: accepted as #' "$DAWN" submit demo.db --competition "demo-$window" --yes
shows "/competitions/demo-$window" '<dt>1[.] <a href="/people/ada"><bdi>ada</bdi></a><small><bdi>airbench</bdi>'
grep -q 'Runs are being published.</strong> Time left: 0 h [0-9]* min' page

# ---- an objection, and the decision
decide() { "$BOARD" audit "$objection" --by 'Ann Lee' --reason 'looked at the photographs' --db board.db "$@"; }
objecting() { "$DAWN" object "$url/runs/$number" --reason 'that machine has 8 cores' --yes "$@"; }
expect 1 'is your own' objecting
export DAWN_KEY=other
expect 1 'has not submitted anything here' objecting
expect 0 'committed to far as #' "$DAWN" submit other.db --competition far --handle bob --run 2 --yes
expect 1 'takes runs from' "$DAWN" submit other.db --competition far --handle bob --yes # its deadline is far away
"$DAWN" submit other.db --handle bob --dry-run >out 2>err || true
reads out "run 2 is committed to the competition far and is left out"
expect 2 'give --reason TEXT' "$DAWN" object "$url/runs/$number"
expect 2 'leave out --server' objecting --server "$url"
expect 1 'is not a run' "$DAWN" object 1 --reason x --yes
expect 1 'has no run or measurement here' objecting # a commitment is none
"$DAWN" bench cifar10 --data synthetic --set widths=8,8,8 --threads 1 --no-measure --seconds 0.05 --repeats 2 --db bob.db >out
expect 0 'accepted as #' "$DAWN" submit bob.db --bench 1 --handle bob --yes
expect 0 'objection: accepted as #' objecting --url https://x.example/proof
objection=$(sed -n 's/.*accepted as #\([0-9]*\) .*/\1/p' out)
expect 1 'has objected to this run' objecting
shows "/runs/$number" 'Not decided yet'
shows "/competitions/$name" '1 objection not decided'
expect 2 'exclude each other' decide --uphold --dismiss
expect 0 "objection $objection is upheld" decide --uphold
expect 1 'was decided by statement' decide --dismiss
shows "/runs/$number" 'looked at the photographs'
shows "/competitions/$name" 'objection upheld'
statement "$number" >one
holds one '[(x["verdict"], x["handle"], x["why"]) for x in o["state"]["objections"]] == [("upheld", "bob", "looked at the photographs")]' \
    '"objection" in [f["code"] for f in o["state"]["findings"]]'
expect 0 "objection: #$objection of bob was upheld with #[0-9]*, the board says: that machine has 8 cores" \
    "$DAWN" verify "$url/runs/$number"
export DAWN_KEY=first

# ---- the parts that remain visible
expect 0 'withdraw: accepted' "$DAWN" withdraw 1 --reason 'a shared machine' --yes
shows "/competitions/$name" withdrawn
expect 0 'is cancelled' operator cancel far --by 'Ann Lee' --reason 'nobody came'
shows "/competitions/far" 'nobody came'
expect 1 'was cancelled by statement' "$DAWN" submit --competition far --handle ada --run 2 --yes
"$BOARD" check --db board.db >out
"$BOARD" export site copy --db board.db >out
grep -q 'withdrawn' "copy/competitions/$name/index.html"
[ -s "copy/api/v1/competitions/$name.json" ]
expect 0 "objection: #$objection of bob was upheld" "$DAWN" verify "copy/runs/$number"
grep -q 'An objection was upheld' "copy/runs/$number/index.html"
