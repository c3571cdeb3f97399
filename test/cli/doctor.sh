# SPDX-License-Identifier: Apache-2.0
# dawn doctor: parts that work, are missing or are broken, and the exit status of each.
set -eu

. "$ROOT/test/status.sh"

# Next to a program that uses more than a twentieth of the machine, rates are not "ok".
spinners=
for _ in $(seq $(($(nproc) / 4 + 1))); do
    while :; do :; done &
    spinners="$spinners $!"
done
trap 'kill $spinners 2>/dev/null || true' EXIT
[ "$(status "$DAWN" doctor)" = 0 ]
kill $spinners
trap - EXIT
[ ! -s err ]
for section in Program Machine Devices Measured 'Data sets' 'Record of runs'; do grep -qx "$section" out; done
grep -Eq '^  ok +cpu +' out
grep -Eq '^  (missing|ok) +cuda +' out
grep -Eq '^  missing +cifar10 +there is no CIFAR-10' out
reads out 'dawn data fetch cifar10'
grep -Eq '^  ok +synthetic +10,000 training and 2,000 test images' out
grep -Eq '^  busy +matmul f32 +[0-9.]+ [kMGTP]?FLOP/s$' out
grep -Eq '^  busy +copy +[0-9.]+ [kMGTP]?B/s$' out
reads out ' busy disturbed (other programs used|two tries) .*: these peaks (are|may be) too low'
grep -Eq '^  ok +results.db +results.db does not exist yet' out
grep -q "$("$DAWN" --version | sed 's/^dawn \([0-9.]*\).*/\1/')" out
awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' out >&2
[ ! -e results.db ] # it looks, it does not make

# DAWN_DATA may name a data set, which is no folder.
DAWN_DATA=synthetic "$DAWN" doctor --no-measure >named
reads named ' missing cifar10 DAWN_DATA names the data set synthetic, not a folder'
lacks named 'in synthetic:'

[ "$(status "$DAWN" doctor --no-measure --json)" = 0 ]
head -n 1 out | grep -qx '{'
tail -n 1 out | grep -qx '}'
[ "$(grep -c '"verdict": "BROKEN"' out)" = 0 ]
[ "$(grep -c '"measured"' out)" = 0 ]

# A file that is no record is reported as broken, in both output forms, and is not changed.
echo 'not a database, but long enough to have a header of sixteen bytes' >results.db
cp results.db before
[ "$(status "$DAWN" doctor --no-measure)" = 1 ]
grep -Eq '^  BROKEN +results.db +' out
grep -q '1 check failed' err
cmp results.db before
[ "$(status "$DAWN" doctor --no-measure --json)" = 1 ]
[ "$(grep -c '"verdict": "BROKEN"' out)" = 1 ]
[ "$(status "$DAWN" doctor --no-measure --db other.db)" = 0 ]

# The same for a record that opens but has lost a page.
rm results.db
if "$DAWN" record --quiet -- true 2>err; then exit 1; fi # it reports no epoch, and is recorded as failed
"$DAWN" doctor --no-measure | grep -Eq '^  ok +results.db +results.db opens'
page=$(python3 -c 'import sqlite3
[[page]] = sqlite3.connect("results.db").execute("SELECT rootpage FROM sqlite_schema WHERE name = \"runs\"")
print(page)')
dd if=/dev/zero of=results.db bs=4096 seek=$((page - 1)) count=1 conv=notrunc status=none
[ "$(status "$DAWN" results list)" = 1 ]
[ "$(status "$DAWN" doctor --no-measure)" = 1 ]
grep -Eq '^  BROKEN +results.db +cannot check the record: results.db is' out

[ "$(status "$DAWN" doctor --device gpu)" = 2 ]
[ ! -s out ]
[ "$(status "$DAWN" doctor now)" = 2 ]

# A level of instructions that no processor has is no level; an empty name is none at all.
DAWN_ISA='' "$DAWN" plan cifar10 --device cpu >/dev/null
rc=0
DAWN_ISA=avx9 "$DAWN" bench cifar10 --fake 2>err.txt || rc=$?
[ "$rc" = 2 ]
grep -q 'DAWN_ISA=avx9: it is base, avx2 or avx512' err.txt
