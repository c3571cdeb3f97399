#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The record as its operator uses it: made, checked, copied, with a separate key; and the refusals of each command.
set -eu
. "$ROOT/test/status.sh"
. "$ROOT/test/wait.sh"
listen="--listen 127.0.0.1:0"

for command in check backup revoke audit; do
    expect 0 "Usage: dawn-scoreboard $command" "$BOARD" $command --help
    expect 2 "" "$BOARD" $command --no-such-option
done

# Nothing is made by looking.
expect 1 "there is no record at scoreboard.db" "$BOARD" check
expect 1 "there is no record at scoreboard.db" "$BOARD" backup copy.db
expect 1 "there is no record at scoreboard.db" "$BOARD" revoke SHA256:0123456789012345678901234567890123456789012 --reason lost
expect 1 "there is no record at scoreboard.db" "$BOARD" audit 1 --by Ann --reason repeated
expect 2 "audit needs --by NAME and --reason TEXT" "$BOARD" audit 1
expect 2 "audit needs --by NAME, the person who decided" "$BOARD" audit 1 --reason repeated
expect 2 "audit needs --reason TEXT" "$BOARD" audit 1 --by Ann
expect 2 "the name must not be empty" "$BOARD" audit 1 --by '' --reason repeated
expect 2 '"foo" is not a fingerprint' "$BOARD" revoke foo --reason lost
expect 2 "give --reason TEXT" "$BOARD" revoke SHA256:0123456789012345678901234567890123456789012
expect 2 "the reason must not be empty" "$BOARD" revoke SHA256:0123456789012345678901234567890123456789012 --reason ''
[ -z "$(ls -A | grep -vx 'out\|err')" ] || { echo "something was made: $(ls)"; exit 1; }

"$BOARD" serve $listen --origin our-board >said 2>&1 &
server=$!
wait_line $server said Ctrl-C
kill $server
wait $server
[ "$(stat -c %a scoreboard.db.key)" = 600 ] || { echo "others may read the key"; exit 1; }
head -n 1 scoreboard.db.key | grep -q 'BEGIN OPENSSH PRIVATE KEY' || { echo "the key is no OpenSSH key"; exit 1; }
expect 1 'not of "other"' "$BOARD" serve $listen --origin other
expect 0 "scoreboard.db is whole" "$BOARD" check
expect 0 '"good": true' "$BOARD" check --json
[ "$(status "$BOARD" check --json --db missing.db)" = 1 ]
holds out 'o["good"] is False and "missing.db" in o["error"]'

expect 0 "copy.db" "$BOARD" backup copy.db
expect 1 "never overwrites" "$BOARD" backup copy.db
expect 0 "copy.db is whole" "$BOARD" check --db copy.db
[ ! -e copy.db.key ] || { echo "the key was copied"; exit 1; }
expect 1 "put it back" "$BOARD" serve $listen --db copy.db
expect 1 "there is no statement 1" "$BOARD" audit 1 --by Ann --reason repeated
expect 1 "has not submitted anything" "$BOARD" revoke SHA256:0123456789012345678901234567890123456789012 --reason lost
chmod 644 scoreboard.db.key
expect 1 "chmod 600" "$BOARD" serve $listen
chmod 600 scoreboard.db.key

# A key without its record has signed receipts: no new record begins under it unless it is asked for.
cp scoreboard.db.key lost.db.key
expect 1 "with --new" "$BOARD" serve $listen --db lost.db
rm -f lost.db*

# A damaged record (two pages, roots of indexes, are zeros) is neither copied nor written to.
size=$(stat -c %s scoreboard.db)
{ head -c $((size - 8192)) scoreboard.db; head -c 8192 /dev/zero; } >hurt.db
cp scoreboard.db.key hurt.db.key
expect 1 "the record hurt.db is damaged; no copy was kept" "$BOARD" backup hurt_copy.db --db hurt.db
[ -z "$(ls | grep hurt_copy)" ] || { echo "a damaged copy was kept: $(ls)"; exit 1; }
cp hurt.db hurt.before
expect 1 "the record hurt.db is damaged: put a backup in its place" "$BOARD" serve $listen --db hurt.db
cmp hurt.db hurt.before
expect 1 "damaged" "$BOARD" check --db hurt.db

# Files that are not records, and altered ones, are refused with a sentence and not changed.
echo 'not a database, and long enough to be looked at as one: it is read, and found to be none' >none.db
cp none.db none.before
expect 1 "is not a database" "$BOARD" check --db none.db
expect 1 "is not a database" "$BOARD" serve $listen --db none.db
expect 1 ": . is not a regular file" "$BOARD" board cifar10 training-time --db .
cmp none.db none.before
if command -v sqlite3 >/dev/null; then
    sqlite3 other.db 'CREATE TABLE a (b)'
    cp other.db other.before
    expect 1 "is not a scoreboard's record" "$BOARD" serve $listen --db other.db
    cmp other.db other.before
    sqlite3 copy.db 'CREATE TRIGGER t AFTER UPDATE ON meta BEGIN DELETE FROM statements; END'
    expect 1 "has been altered" "$BOARD" check --db copy.db
    sqlite3 copy.db 'DROP TRIGGER t'
    sqlite3 copy.db "INSERT INTO keys (id, line, handle, since) VALUES ('SHA256:x', 'ssh-ed25519 x', 'eve', 1)"
    expect 1 "no statement leads to it" "$BOARD" check --db copy.db
    [ "$(status "$BOARD" check --json --db copy.db)" = 1 ]
    python3 -c 'import json; o = json.load(open("out")); assert not o["good"] and o["count"] == len(o["faults"]) > 0, o'
fi
