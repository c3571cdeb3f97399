#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measurements from dawn bench to the page of their machine on a real scoreboard: they are sent, never
# twice, verified from outside, and withdrawn.
set -eu
. "$ROOT/test/board.sh"

start_board board --origin example
"$DAWN" keys new >out
export DAWN_SERVER=$url

# ---- before anything is sent
small="bench cifar10 --data synthetic --set widths=8,8,8 --threads 1 --no-measure --seconds 0.05 --repeats 2"
expect 1 'no record at results.db' "$DAWN" submit --bench all --handle ada --yes
expect 0 'Recorded in results.db as 1 to 2' "$DAWN" $small --batch 20,40 --precision f32
expect 0 'Recorded in results.db as 3' "$DAWN" $small --batch 20 --precision f32
expect 2 'takes the number of a measurement' "$DAWN" submit --bench x --handle ada --yes
expect 2 'there is no measurement 9' "$DAWN" submit --bench 9 --handle ada --yes
expect 2 'they take no --run' "$DAWN" submit --bench 1 --run 1 --handle ada --yes
expect 2 'they take no --run' "$DAWN" submit --bench 1 --note x --handle ada --yes
expect 1 'no run has been recorded' "$DAWN" submit --handle ada --yes
expect 0 'Nothing was sent' "$DAWN" submit --bench all --dry-run
reads out ' bench 1 cifar10, airbench: 2 settings, at most .* images/s \(batch [24]0, f32\) cpu, .*threads: 1 '
grep -q '^  bench 3  *cifar10, airbench: 1 setting, ' out
grep -Eq 'measurements? (1, )?3: flag unknown-peak: setting 0: its step' out
sed '/^Checks:/,$d' out | awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }'
expect 0 'bench-1.json.sig' "$DAWN" submit --bench 2 --handle ada --out signed --board example

# ---- one that cannot be stated does not hide the others
cp results.db emulated.db
emulated_machine emulated.db
sql emulated.db 'UPDATE benches SET machine = 2 WHERE id = 3'
expect 1 '1 of 2 measurements cannot be submitted: .* (these pass: --bench 1)' "$DAWN" submit emulated.db --bench all --dry-run
grep -q 'measurement 3: REJECT: .* emulated GPU' out
expect 2 'measurement 3 cannot be submitted: .* emulated' "$DAWN" submit emulated.db --bench 3 --dry-run
expect 0 'Nothing was sent' "$DAWN" submit emulated.db --bench 1 --dry-run

# ---- sent, once
expect 0 'measurement 3: accepted as #2 on example' "$DAWN" submit --bench all --handle ada --yes
grep -q 'measurement 1: accepted as #1 on example' out
expect 0 'Nothing to submit: example already has ' "$DAWN" submit --bench 2 --bench all --yes
expect 0 'Nothing to submit' "$DAWN" submit --bench 3 --yes
[ "$(sql results.db 'SELECT count(*) FROM bench_receipts')" = 2 ]
cp results.db other.db
sql other.db 'DELETE FROM bench_receipts'
expect 0 'measurement 3: already submitted as #2' "$DAWN" submit other.db --bench 3 --yes # its answer was lost
expect 0 'checks good' "$DAWN" verify "$url/runs/1"
grep -q 'receipt *good: #1' out
curl -fsS "$url/machines" >machines.html
page=$(sed -n 's/.*<a href="\(\/machines\/[^"]*\)"><bdi>.*/\1/p' machines.html | head -n 1)
curl -fsS "$url$page" >machine.html
grep -q '<a href="/runs/1">CIFAR10, <bdi>airbench</bdi></a>' machine.html
grep -q 'Self-measured' machine.html
[ "$(grep -c '<bdi>images</bdi>/s' machine.html)" = 3 ]
curl -fsS "$url/api/v1$page" >machine.json
holds machine.json '[(b["sequence"], len(b["payload"]["settings"])) for b in o["benches"]] == [(2, 1), (1, 2)]'

# ---- a scaling over processes, as dawn bench --scaling records it
expect 2 'no scaling has been recorded yet: "dawn bench TASK --scaling 1,2,4" adds one' "$DAWN" submit --scaling all --yes
scaling results.db 1 4000000
scaling results.db 2 5000000
expect 0 'scaling 1 .*1 to 2 processes, then 8000.0 images/s, efficiency 80.0%' "$DAWN" submit --scaling all --dry-run
expect 0 'scaling 1: accepted as #3 on example' "$DAWN" submit --scaling 1 --yes
expect 0 'Nothing to submit: example already has every measurement' "$DAWN" submit --scaling all --bench all --yes
expect 0 'checks good' "$DAWN" verify "$url/runs/3"
curl -fsS "$url$page" >machine.html
grep -q 'data-label="Efficiency">80.0%' machine.html

# ---- withdrawn, and in a static copy
digest=$(statement 2 | python3 -c 'import json, sys; print(json.load(sys.stdin)["digest"])')
expect 0 'withdraw: accepted as #4' "$DAWN" withdraw "$digest" --reason 'a busy machine' --yes
curl -fsS "$url$page" >machine.html
lacks machine.html '"/runs/2"'
stop_board
"$BOARD" export site copy --db board.db >out
find copy -path '*machines*' -name '*.html' -exec grep -l 'Self-measured' {} + | grep -q .
find copy/api -path '*machines*' -type f -exec grep -l '"settings"' {} + | grep -q .
"$BOARD" check --db board.db >out
