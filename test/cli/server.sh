# SPDX-License-Identifier: Apache-2.0
# dawn-scoreboard as its operator meets it: start, every address of the table with GET, HEAD and 304, problems, signals.
set -eu
. "$ROOT/test/board.sh"

start() { # ARGUMENTS...: leaves $pid and $url
    : >said # so that no line of an earlier server is read
    "$BOARD" --db board.db --listen 127.0.0.1:0 --work-milliseconds 0 "$@" >said 2>said_wrong &
    pid=$!
    wait_line $pid said Ctrl-C || { cat said_wrong; exit 1; }
    url=$(sed -n 's|^Serving .* at \(http://[^ ]*\)/ (key SHA256:.*), Ctrl-C stops$|\1|p' said)
    [ -n "$url" ] || { cat said said_wrong; exit 1; }
}
stop() { # SIGNAL: ends with 0
    kill "-$1" "$pid"
    wait "$pid" || { echo "exit status $? after SIG$1"; exit 1; }
}
trap 'kill "$pid" 2>/dev/null || true' EXIT
pid=

"$BOARD" -h | grep -q '^Usage: dawn-scoreboard'
"$BOARD" --version | grep -q '^dawn-scoreboard [0-9]'
"$BOARD" help serve | grep -q -- '--listen'
says 2 'did you mean "serve"' "$BOARD" srve
says 2 '--listen' "$BOARD" --lissten x
says 2 'does not take "twice"' "$BOARD" serve twice
says 1 'nowhere/board.db' "$BOARD" --db nowhere/board.db --listen 127.0.0.1:0

# An import, so that there is something under every kind of address that does not need a signature.
mkdir -p archive/CIFAR10/train
cat >archive/CIFAR10/train/one.json <<'END'
{"version": "v1.0", "author": "Ada", "authorEmail": "ada@example.org", "framework": "PyTorch 1.0", "codeURL": "https://example.org/code",
 "model": "ResNet 18", "hardware": "1 V100", "costPerHour": 3.0, "timestamp": "2019-01-02", "misc": {}}
END
printf 'epoch\thours\ttop1Accuracy\n1\t0.01\t50.0\n2\t0.02\t94.1\n' >archive/CIFAR10/train/one.tsv
start --origin example
"$BOARD" import dawnbench archive --db board.db >imported # while it serves
grep -q '^Serving example at ' said
[ "$(stat -c %a board.db.key)" = 600 ]
says 1 'cannot listen at' "$BOARD" --db fresh.db --listen "${url#http://}"
[ -z "$(find . -name 'fresh.db*')" ] # an address in use is known before a record is made

# Every GET address. Those that need a statement, a group, a person or a key are missing here, and say so.
header() { sed -n "s/^$1: *\([^\r]*\)\r*$/\1/Ip" "$2"; }
fetch() { # PATH STATUS
    local status tag
    status=$(curl -s -o body -D head -w '%{http_code}' "$url$1")
    [ "$status" = "$2" ] || { echo "GET $1: $status, not $2"; cat body; exit 1; }
    grep -qi '^content-security-policy: ' head
    grep -qi '^x-content-type-options: nosniff' head
    [ "$(curl -s -I -o head2 -w '%{http_code}' "$url$1")" = "$2" ]
    [ "$(header content-length head2)" = "$(stat -c %s body)" ] || { echo "HEAD $1: other length"; exit 1; }
    [ "$2" = 200 ] || { ! grep -qi '^etag:' head; return; }
    case $1 in /api/v1/health | /log/checkpoint) # they depend on more than the record
        [ "$(header cache-control head)" = no-store ]
        return ;;
    esac
    tag=$(header etag head)
    [ -n "$tag" ] && [ "$tag" = "$(header etag head2)" ] || { echo "GET $1: no ETag"; exit 1; }
    [ "$(curl -s -o body2 -w '%{http_code}' -H "If-None-Match: $tag" "$url$1")" = 304 ] || { echo "GET $1: no 304"; exit 1; }
    [ ! -s body2 ]
}
patterns=$(sed -n 's/^ *ROUTE("GET", "\([^"]*\)".*/\1/p' "$ROOT/scoreboard/pages/pages.h" "$ROOT/scoreboard/api/api.h")
[ "$(wc -w <<<"$patterns")" -gt 30 ]
for pattern in $patterns; do
    path=$(sed 's|{task}|cifar10|; s|{board}|training-time|; s|{kind}|train|; s|{stem}|one|
                s|{nonce}|0123456789abcdef0123456789abcdef|; s|{handle}|nobody|; s|{id}|1|' <<<"$pattern")
    case $pattern in
    /log/tile/*) fetch /log/tile/0/000 404 ;;
    /runs/* | /groups/* | /people/* | */machines/* | */competitions/* | */statements/* | */groups/* | */people/* | */keys/*) fetch "$path" 404 ;;
    /archive/*) fetch /archive/CIFAR10/train/one 200 ;;
    *) fetch "$path" 200 ;;
    esac
done
for board in training-time training-cost inference-latency inference-cost; do
    fetch "/boards/cifar10/$board?rank=group&sort=date&order=desc" 200
    fetch "/api/v1/boards/squad/$board?limit=5&target=0.73" 200
done
fetch /api/v1/boards/cifar10/training-time 200
grep -q '"total":0' body # nothing of the archive is checked
fetch "/api/v1/boards/cifar10/training-time?trust=imported" 200
grep -q '"total":1' body
grep -q '"value":72' body
curl -s "$url/api/v1/openapi.json" | python3 -m json.tool >openapi.json # an address of every handler, and some shapes
[ "$(grep -c '"operationId": "api_' openapi.json)" = "$(grep -c '^ *ROUTE("' "$ROOT/scoreboard/api/api.h")" ]
fetch /boards/nothing/training-time 404
fetch /boards/cifar10/nothing 404

# A refusal has the form of its address: a page or a problem document.
answer() { curl -s -o body -w '%{http_code} %{content_type}' "$@"; }
[ "$(answer -X DELETE "$url/")" = '405 text/html; charset=utf-8' ]
[ "$(answer -H 'Content-Type: application/json' -d '{}' "$url/api/v1/statements")" = '400 application/problem+json' ]
[ "$(answer -d '{}' "$url/api/v1/statements")" = '415 application/problem+json' ]
head -c 1048577 /dev/zero >large
[ "$(answer -H 'Content-Type: application/json' -H 'Expect:' --data-binary @large "$url/api/v1/statements")" = '413 application/problem+json' ]
grep -q '"code":"too-large"' body
[ "$(answer "$url/api/v1/boards/cifar10/training-time?sort=colour")" = '400 application/problem+json' ]
[ "$(curl -s -o /dev/null -w '%{http_code}' -X OPTIONS "$url/api/v1/statements")" = 204 ]

# A second server at the same address says why it cannot.
says 1 "cannot listen at ${url#http://}" "$BOARD" --db other.db --listen "${url#http://}"

# SIGHUP is nothing to it; SIGTERM and SIGINT end it with 0, and the record is whole and served again.
kill -HUP "$pid"
fetch /api/v1/health 200
stop TERM
start
grep -q '^Serving example at ' said # the name is kept in the record
fetch /api/v1/boards/cifar10/training-time 200
stop INT
[ ! -s said_wrong ] || { cat said_wrong; exit 1; }
"$BOARD" check --db board.db
says 1 'the board "example", not of "another"' "$BOARD" --db board.db --origin another --listen 127.0.0.1:0
