#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The log of a real scoreboard and dawn verify: a receipt proves its place, the log grows from one look to the next, and a board
# that goes back to an older record is refused by its own program and caught by a reader of the newer one.
set -eu
. "$ROOT/test/board.sh"
start_board board --origin example
python3 "$ROOT/test/cli/submit_record.py" "$ROOT" results.db
"$DAWN" keys new >out

# ---- a place in the log, and growth
expect 0 'accepted as #1' "$DAWN" submit --server "$url" --handle ada --run 1 --yes
expect 0 'log *good: entry 1 of 1, by the receipt.s own proof' "$DAWN" verify "$url/runs/1"
grep -q 'growth *seen for the first time: 1 entries' out
"$BOARD" backup older.db --db board.db >out
cp board.db.checkpoint older.checkpoint
curl -sS "$url/log/checkpoint" >checkpoint.1
expect 0 'accepted as #2' "$DAWN" submit --server "$url" --handle ada --run 2 --yes
expect 0 'growth *good: 2 entries, of which 1 were seen before' "$DAWN" verify "$url/runs/1"
expect 0 'growth *good: 2 entries, of which 2 were seen before' "$DAWN" verify "$url/runs/2"
curl -sS "$url/log/checkpoint" >checkpoint
[ "$(sed -n '1p;2p' checkpoint | xargs)" = 'example/log 2' ]
curl -sS "$url/log" | grep -q 'Key of the log'

# ---- a statement that was accepted this very moment: the first two answers have the checkpoint before it
cat >late.py <<'END'
import http.server, sys, urllib.request
board = urllib.request.build_opener(urllib.request.ProxyHandler({}))
class Late(http.server.BaseHTTPRequestHandler):
    asked = 0
    def do_GET(self):
        body = board.open(sys.argv[1] + self.path).read()
        if self.path == "/log/checkpoint" and Late.asked < 2:
            Late.asked += 1
            body = open("checkpoint.1", "rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", 0), Late)
print("at http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
END
python3 late.py "$url" >lately 2>/dev/null &
boards="$boards $!"
wait_line $! lately at
expect 0 'growth *good: 2 entries, of which 2' "$DAWN" verify "$(sed 's/at //' lately)/runs/2"

# ---- a receipt alone, without a network
curl -sS "$url/api/v1/statements/2/receipt" >receipt.json
expect 0 'receipt *good: #2 of example' "$DAWN" verify receipt.json
grep -q 'log *good: entry 2 of 2' out
sed 's/\\"sequence\\":2/\\"sequence\\":1/' receipt.json >other.json
expect 1 'receipt *WRONG' "$DAWN" verify other.json
expect 1 'key *WRONG: expected SHA256:' "$DAWN" verify receipt.json --key SHA256:0123456789012345678901234567890123456789012
expect 2 'a witness is given as' "$DAWN" verify receipt.json --witness none
witness=$(python3 -c 'import base64, hashlib
key = b"\4" + bytes(range(32))
print("w.example/1+" + hashlib.sha256(b"w.example/1\n" + key).digest()[:4].hex() + "+" + base64.b64encode(key).decode())')
expect 1 'witness *WRONG: the checkpoint is not cosigned by' "$DAWN" verify "$url/runs/1" --witness "$witness"
"$BOARD" cosign --db board.db --witness "$witness" >request
[ "$(sed -n '1p;3p;4p' request | xargs)" = 'old 0 example/log 2' ]
expect 1 'no cosignature of w.example/1' "$BOARD" cosign --db board.db --witness "$witness" request checkpoint
expect 2 'takes a request and its answer' "$BOARD" cosign --db board.db --witness "$witness" request
expect 2 'cosign needs --witness KEY' "$BOARD" cosign --db board.db
expect 1 'witness *WRONG: only the board' "$DAWN" verify receipt.json --witness "$witness"
"$DAWN" submit results.db --run 1 --handle ada --out signed --board example >out 2>err
expect 0 'signature *good' "$DAWN" verify signed/run-1.json
expect 0 '"good": true' "$DAWN" verify signed/run-1.json --json
expect 1 '1 check of this statement failed' "$DAWN" verify receipt.json --key SHA256:0123456789012345678901234567890123456789012 --json
holds out 'o["good"] is False and o["faults"] == 1' \
    '{i["item"]: i["verdict"] for i in o["items"]}["key"] == "WRONG" and "SHA256:0123" in str(o["items"])'
expect 0 '"good": true' "$DAWN" verify "$url/runs/1" --json
holds out '{i["item"]: i["says"] for i in o["items"]}["growth"] == "good: 2 entries, of which 2 were seen before"' \
    'all("  " not in i["says"] for i in o["items"])'
expect 2 'signed/run-1.json shows no log' "$DAWN" verify signed/run-1.json --witness "$witness"
python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["envelope"]))' >envelope.json < <(statement 1)
expect 2 'envelope.json shows no log' "$DAWN" verify envelope.json --witness "$witness"
stop_board

# ---- an older record: its own program refuses it; with an older checkpoint, too, a reader of the newer one notices
cp board.db.checkpoint newer.checkpoint
rm -f board.db*-wal board.db*-shm
cp older.db board.db
expect 1 'older than the last checkpoint that its board signed' "$BOARD" serve --db board.db --listen 127.0.0.1:0
cp older.checkpoint board.db.checkpoint
start_board board --origin example
expect 1 'growth *WRONG: the board shows 1 entries now, but has signed 2' "$DAWN" verify "$url/runs/1"
expect 0 'accepted as #2' "$DAWN" submit --server "$url" --handle ada --run 3 --yes
expect 1 'growth *WRONG: the first 2 of 2 entries differ from the ones that the board' "$DAWN" verify "$url/runs/1"
seen=$(echo data/dawn/logs/*.checkpoint)
cmp "$seen" checkpoint # the seen state stays
rm "$seen"
expect 0 'seen for the first time: 2 entries' "$DAWN" verify "$url/runs/2"
stop_board
"$BOARD" check --db board.db
cp newer.checkpoint board.db.checkpoint
expect 1 'contradicts the last checkpoint' "$BOARD" serve --db board.db --listen 127.0.0.1:0
expect 1 'is not of this record' "$BOARD" check --db board.db

# ---- two servers on one record: both write, one at a time, and sign one log
rm -r data board.db*
start_board board --origin example
other=$pid first=$url
start_board board --origin example
"$DAWN" submit --server "$first" --handle ada --run 1 --yes >out.1 2>&1 &
"$DAWN" submit --server "$url" --handle ada --run 2 --yes >out.2 2>&1
wait $!
expect 0 'accepted as #3' "$DAWN" submit --server "$first" --handle ada --run 3 --yes
for at in "$first" "$url"; do
    expect 0 'growth *.*3 entries' "$DAWN" verify "$at/runs/2"
    expect 0 'receipt *good' "$DAWN" verify "$at/runs/3"
done
stop_board "$other"
stop_board
"$BOARD" check --db board.db
