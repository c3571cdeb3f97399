#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dawn submit, verify, withdraw and amend, against a small scoreboard of our own on the loopback that also answers late,
# wrongly, twice and not at all. The records and receipts are made by other programs (Python, ssh-keygen).
set -eu
here=$ROOT/test/cli
. "$ROOT/test/board.sh"
export XDG_CONFIG_HOME=$PWD/config

ssh-keygen -q -t ed25519 -N '' -C '' -f server_key
ssh-keygen -q -t ed25519 -N '' -C '' -f other_key
mkfifo hold
python3 "$here/submit_server.py" log "$PWD/server_key" "$PWD/other_key" <hold >port 2>server_err &
server=$!
exec 9>hold # the server ends when this shell does
wait_line $server port '^[0-9]' || { cat server_err; exit 1; }
base=http://127.0.0.1:$(cat port)
python3 "$here/submit_record.py" "$ROOT" results.db
status "$DAWN" submit --handle ada --server "$base/ok" --run 1 >/dev/null # the first writer brings the file to this format
cp results.db fresh.db

# ---- before anything is sent
expect 2 'no handle is known' "$DAWN" submit --server "$base/ok"
expect 2 'must be 1 to 39 letters without accents.*; got "a b"' "$DAWN" submit --handle 'a b' --server "$base/ok"
expect 2 'no scoreboard is named' "$DAWN" submit --handle ada
expect 1 'no record at missing.db' "$DAWN" submit missing.db --server "$base/ok" --handle ada --yes
[ ! -e missing.db ]
: >empty.db
expect 1 'no run has been recorded in empty.db' "$DAWN" submit empty.db --server "$base/ok" --handle ada --yes
expect 2 'give --board NAME or --server' "$DAWN" submit --handle ada --out signed
expect 2 'only https' "$DAWN" submit --handle ada --server http://board.example
expect 2 'only https' "$DAWN" submit --handle ada --server http://127.0.0.1.board.example
expect 2 'begins with https' "$DAWN" submit --handle ada --server ftp://board.example
expect 2 'no user' "$DAWN" submit --handle ada --server "http://me:word@127.0.0.1:1"
expect 2 'not the address' "$DAWN" submit --handle ada --server board.example
expect 2 'U+202E' "$DAWN" submit --handle ada --server "$base/ok" --note "$(printf 'a\u202eb')"
expect 2 'must begin with https' "$DAWN" submit --handle ada --server "$base/ok" --code-url http://code.example
expect 2 'holds a blank' "$DAWN" submit --handle ada --server "$base/ok" --code-url 'https://x y'
expect 2 'names no host' "$DAWN" amend 1 --server "$base/ok" --code-url https://
expect 2 'the note must have 0 to 500 bytes; got 501' "$DAWN" submit --handle ada --dry-run --note "$(printf %501d 0)"
expect 2 'got "a b", and the note must have 0 to 500 bytes; got 501, and the tag "c d" may hold .*, and the tag "" must' "$DAWN" submit \
    --handle 'a b' --dry-run --note "$(printf %501d 0)" --tag 'c d' --tag '' # all at once
expect 2 'the tag "a b" may hold' "$DAWN" submit --handle ada --dry-run --tag 'a b'
expect 2 'at most 8 tags' "$DAWN" amend 1 --server "$base/ok" --tag 1 --tag 2 --tag 3 --tag 4 --tag 5 --tag 6 --tag 7 --tag 8 --tag 9
expect 2 "the board's name may hold" "$DAWN" submit --handle ada --out signed --board 'a b'
# a server with an illegal name, also when nothing is new
cp fresh.db failed.db
sql failed.db "UPDATE runs SET status = 'failed'"
[ "$(sql failed.db "SELECT count(*) FROM runs WHERE status <> 'failed' AND group_id IS NULL")" = 0 ]
for record in fresh.db failed.db; do
    expect 2 "blank cannot be used: the name of its board may hold a-z" "$DAWN" submit $record --handle ada --server "$base/blank" --yes
    expect 2 "the name of its board may hold" "$DAWN" submit $record --handle ada --server "$base/blank" --dry-run
done
expect 2 "the name of its board may hold" "$DAWN" withdraw 1 --server "$base/blank" --reason x --yes
expect 2 'the reason must not be empty' "$DAWN" withdraw 1 --server "$base/ok" --reason ''
expect 1 'does not answer' "$DAWN" submit --handle ada --server http://127.0.0.1:1
expect 1 'not a scoreboard' "$DAWN" submit --handle ada --server "$base/page"
expect 1 'more than 4 MiB' "$DAWN" submit --handle ada --server "$base/big"
expect 1 'another server, http://127' "$DAWN" submit --handle ada --server "$base/away"
expect 1 'redirects more than 5 times' "$DAWN" submit --handle ada --server "$base/round"
expect 1 'dawn keys new' "$DAWN" submit --handle ada --server "$base/ok"
"$DAWN" keys new >/dev/null
expect 2 'is the board board.example' "$DAWN" submit --handle ada --server "$base/ok" --board other
lacks log POST

# ---- a run whose chain is broken is left out; if it is named, everything stays here, and the others are named
expect 0 'run 4 is left out: a check fails' "$DAWN" submit --handle ada --server "$base/ok" --dry-run
grep -q 'run 4: REJECT chain-broken' out
expect 1 'these pass: --run 1 --run 2 --run 3' "$DAWN" submit --handle ada --server "$base/ok" --yes --run 1 --run 2 --run 3 --run 4
cp fresh.db group.db
sql group.db 'UPDATE points SET loss_micro = 7 WHERE run = 3'
expect 1 'these pass: --run 1)' "$DAWN" submit group.db --handle ada --server "$base/ok" --run 1 --run 2 --run 3 --yes
emulated_machine group.db
sql group.db 'UPDATE runs SET machine = 2 WHERE id = 2'
expect 1 '3 of 4 runs cannot be submitted: .* (these pass: --run 1)' "$DAWN" submit group.db --dry-run --run 1 --run 2 --run 3 --run 4
grep -q '^  run 2: REJECT: run 2 was made on an emulated GPU: ' out # all refusals at once
[ "$(grep -c '^  run [34]: REJECT chain-broken: ' out)" = 2 ]
awk 'length > 80 { exit 1 }' out
expect 2 '^dawn submit: run 2 cannot be submitted: .* emulated GPU' "$DAWN" submit group.db --dry-run --run 2
expect 0 'Nothing was sent' "$DAWN" submit --handle ada --dry-run --run 1 --note 'a remark' --tag b --tag a
reads out '94.17% \(9,417 of 10,000\), target met after 26.1 s, \$0.000723'
grep -q 'a remark' out
grep -q 'oneDNN 2.6.3' out
awk 'length > 80 { exit 1 }' out
expect 0 'board *(not chosen)' "$DAWN" submit --dry-run --run 1
grep -q 'handle *(not chosen)' out
cmp results.db fresh.db
expect 2 'yes agrees without it' "$DAWN" submit --handle ada --server "$base/ok" --run 1
lacks log POST
[ ! -e config/dawn/handle ]

# ---- --json: one object on standard output, the text on standard error
answer() { # EXPRESSION of the object `o` on standard output
    python3 -c 'import json, sys
o = json.load(open("out")); eval(sys.argv[1]) or sys.exit("%s\n%s" % (sys.argv[1], o))' "$1"
}
[ "$(status "$DAWN" submit --dry-run --json)" = 0 ]
answer 'o["dry_run"] and [(p["number"], p["state"]) for p in o["prepared"]][::3] == [(1, "new"), (4, "refused")] and o["sent"] == {}'
answer '[f["check"] for f in o["prepared"][3]["findings"] if f["level"] == "reject"] == ["chain-broken"]'
grep -q 'Nothing was sent' err
[ "$(status "$DAWN" submit missing.db --json)" = 1 ]
answer 'o["error"].startswith("there is no record at missing.db") and o["sent"] == {}'

# ---- files instead of a server: OpenSSH itself checks them
expect 0 'ssh-keygen -Y verify' "$DAWN" submit --handle ada --run 1 --run 2 --out signed --board board.example
[ "$(grep -c '^ssh-keygen' out)" = 2 ]
grep '^ssh-keygen' out | bash | grep -q 'Good "run-v1@dawn" signature for ada'
expect 0 "-s 'my out/run-1.json.sig' < 'my out/run-1.json'" "$DAWN" submit --handle ada --run 1 --out 'my out' --board board.example
grep '^ssh-keygen' out | bash | grep -q 'Good "run-v1@dawn" signature for ada'
expect 0 'chain *good: root and 2 points' "$DAWN" verify signed/run-1.json
grep -q 'checks *good: no check of the figures fails' out
cp signed/run-1.json signed/tail.json
{ cat signed/run-1.json.sig; printf '\0and more'; } >signed/tail.json.sig
expect 1 'signature *WRONG' "$DAWN" verify signed/tail.json
expect 0 'good: it is the one' "$DAWN" verify signed/run-1.json --key dawn
expect 0 'good: it is the one' "$DAWN" verify signed/run-1.json --key config/dawn/keys/dawn.pub
expect 1 'key *WRONG' "$DAWN" verify signed/run-1.json --key server_key.pub
sed 's/"score":9417/"score":9517/' signed/run-1.json >signed/forged.json
cp signed/run-1.json.sig signed/forged.json.sig
expect 1 'signature *WRONG' "$DAWN" verify signed/forged.json
grep -q 'chain *WRONG' out
cp signed/run-2.json.sig signed/forged.json.sig
cp signed/run-1.json signed/forged.json
expect 1 'signature *WRONG' "$DAWN" verify signed/forged.json
printf '\n' >>signed/forged.json
expect 1 'bytes *WRONG' "$DAWN" verify signed/forged.json
rm signed/forged.json.sig
expect 1 'is missing' "$DAWN" verify signed/forged.json
python3 - <<'PYTHON'
import json
e = {"payload": open("signed/run-1.json").read(), "signature": open("signed/run-1.json.sig").read()}
json.dump(e, open("envelope.json", "w"))
json.dump(dict(e, more="x"), open("envelope2.json", "w"))
PYTHON
expect 0 'signature *good' "$DAWN" verify envelope.json
expect 1 'envelope *WRONG' "$DAWN" verify envelope2.json
[ "$(sql results.db 'SELECT count(*) FROM receipts')" = 0 ] # nothing was sent

# ---- sending: cut off after the server took it, again, and again
expect 1 'does not answer' "$DAWN" submit --handle ada --server "$base/cut" --run 1 --yes
[ "$(sql results.db 'SELECT count(*) FROM receipts')" = 0 ]
expect 0 'run 1: already submitted as #1 on board.example' "$DAWN" submit --handle ada --server "$base/ok" --run 1 --yes
[ "$(sql results.db "SELECT sequence, board, type FROM receipts")" = '1 board.example run' ]
[ "$(cat config/dawn/handle)" = ada ]
expect 0 'run 1 *already submitted as #1' "$DAWN" submit --server "$base/ok" --run 1 --yes
expect 0 'submitted: *#1 on board.example' "$DAWN" results show 1
[ "$(grep -c 'POST /api/v1/statements 20' log)" = 1 ]

# ---- a receipt that is not one is not believed, and not kept
for mode in otherkey otherdigest otherboard undated; do
    expect 1 'receipt cannot be trusted' "$DAWN" submit --server "$base/$mode" --run 2 --yes
done
expect 1 'receipt cannot be trusted' "$DAWN" submit --server "$base/noreceipt" --run 2 --yes
[ "$(sql results.db 'SELECT count(*) FROM receipts')" = 1 ]

# ---- a busy server is asked again, unless it says to come back in hours (libcurl 8.14 reads six at most)
expect 0 'run 2: already submitted as #2' "$DAWN" submit --server "$base/limited" --run 2 --yes
grep -q 'is busy (429): asking again in 1 s' err
expect 0 'run 3: accepted as #3' "$DAWN" submit --server "$base/busy" --run 3 --yes
grep -Eq '^[0-9]+ texts become public \(--dry-run shows them\)$' out # --yes implies that they were read
lacks out 'oneDNN 2.6.3'
grep -q 'cannot answer now (503, .*): asking again in' err
expect 1 'no space left (.* 120 s)' "$DAWN" submit --server "$base/full" --run 3 --note other --yes
cp results.db three.db
cp fresh.db results.db # a record that has lost its receipts finds its entries again
expect 0 'run 3: already submitted as #3' "$DAWN" submit --server "$base/moved" --group g1 --yes
grep -q 'run 2: already submitted as #2' out
cp three.db results.db
expect 1 'try again in 18000 s' "$DAWN" submit --server "$base/hours" --run 1 --note other --yes
[ "$(grep -c 'hours POST' log)" = 1 ]
expect 1 'the next one in 3600 s$' "$DAWN" submit --server "$base/hour" --run 1 --note other --yes
expect 1 'try again in [0-9]\{5,\} s' "$DAWN" submit --server "$base/ages" --run 1 --note other --yes # does not overflow
[ "$(grep -c 'ages POST' log)" = 1 ]

# ---- refusals, with the server's words on single checks; none of them steers the terminal
expect 1 'reject cost: too cheap' "$DAWN" submit --server "$base/strict" --run 1 --note other --yes
if cat out err | grep -q "$(printf '\033')"; then exit 1; fi
expect 1 'answers 500' "$DAWN" submit --server "$base/broken" --run 1 --note other --yes
expect 1 'would drop its body' "$DAWN" submit --server "$base/lost" --run 1 --note other --yes
cp fresh.db other.db
expect 1 'run 1: refused: .*conflicts with a statement' "$DAWN" submit other.db --server "$base/mute" --run 1 --run 2 --note other --yes
grep -q '2 of 2 runs were refused' err
expect 1 'run 1: refused: .*belongs to another key: "ada" is taken; this holds for the rest, too, which was not sent' \
    "$DAWN" submit other.db --server "$base/taken" --run 1 --run 2 --note other --yes
[ "$(grep -c 'taken POST' log)" = 1 ]

# ---- another board of the same name has receipts of its own
cp results.db twin.db
python3 -c 'import sqlite3; d = sqlite3.connect("twin.db"); d.execute("INSERT INTO labels VALUES (1, ?, ?, ?)",
    ("wide", "at first", "lr b")); d.commit()'
expect 0 'run 1: accepted as #1' "$DAWN" submit twin.db --server "$base/twin" --run 1 --yes
grep -q "board board.example at $base/[a-z]* has been known by another key, SHA256:" err
expect 0 'run 1 *already submitted as #1' "$DAWN" submit twin.db --server "$base/twin" --run 1 --yes
lacks err 'another key'
expect 1 'run 2 has not been submitted' "$DAWN" withdraw 2 twin.db --server "$base/twin" --reason x --yes

# ---- texts that are not given again stay, amended ones too; an empty text removes one
words() { # NUMBER: team, note, tags and division of a statement
    python3 - "$base/twin/api/v1/statements/$1/payload" <<'PYTHON'
import json, sys, urllib.request
s = json.load(urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers={"User-Agent": "dawn/0"})))
print(s["team"], s.get("note"), s["tags"], s["division"], sep="; ")
PYTHON
}
again() { expect 0 "$1" "$DAWN" submit twin.db --server "$base/twin" --yes --run 1 "${@:2}"; }
[ "$(words 1)" = "; at first; ['b', 'lr']; open" ] # what the training was given; the name stays here
again 'accepted as #2' --note 'a note' --tag b --tag a
again 'already submitted as #2'
expect 0 'amend: accepted as #3 on .*/runs/[12]$' "$DAWN" amend 1 twin.db --server "$base/twin" --yes --team 'The Team'
again 'already submitted as #2'
again 'accepted as #4' --tag q
[ "$(words 4)" = "The Team; a note; ['q']; open" ]
again 'already submitted as #4'
again 'already submitted as #4' --tag q
again 'accepted as #5' --note ''
[ "$(words 5)" = "The Team; None; ['q']; open" ]
again 'already submitted as #5'
curl -sS -A dawn/0 "$base/twin/api/v1/statements/1/payload" >first.json
grep -q '"note":"at first"' first.json
lacks first.json wide

# ---- new latencies replace the entry; amended and withdrawn it stays findable
python3 "$here/submit_record.py" "$ROOT" results.db latency
expect 1 'run 1 has latencies that are newer' "$DAWN" submit --server "$base/ok" --yes # run 4 is still broken: the failure is no success
grep -q 'nothing was sent: no other finished run is new' err
first=$(sql results.db 'SELECT statement FROM receipts WHERE run = 1')
expect 0 'run 1: accepted as #4' "$DAWN" submit --server "$base/ok" --run 1 --yes
grep -q 'in place of #1' out
[ "$(sql results.db 'SELECT supersedes FROM receipts WHERE sequence = 4')" = "$first" ]
expect 0 'run 1 *already submitted as #4' "$DAWN" submit --server "$base/ok" --run 1 --yes
expect 2 'nothing to change' "$DAWN" amend 1 --server "$base/ok" --yes
expect 2 'leave out --server' "$DAWN" amend "$base/ok/runs/1" --server "$base/ok" --team 'The Team' --yes
expect 2 'yes agrees without it' "$DAWN" amend 1 --server "$base/ok" --team 'The Team'
newest=$(sql results.db 'SELECT statement FROM receipts WHERE sequence = 4')
expect 0 'amend: accepted as #5' "$DAWN" amend "$base/ok/api/v1/statements/$newest" --team 'The Team' --yes
grep -q '^The address names a run of [a-z]*: cifar10, 20[0-9-]* [0-9:]* UTC[.]$' out
expect 1 'returns the statement #2' "$DAWN" withdraw "$base/other/runs/1" --reason x --yes # a server that repeats the board
grep -q "is known from $base/.*, and is now at $base/other" err
expect 1 'returns the statement #2' "$DAWN" object "$base/other/runs/1" --reason x --yes
grep -q "is known from $base/.*, and is now at $base/other" err
expect 2 'give --reason TEXT' "$DAWN" withdraw 1 --server "$base/ok" --yes
expect 1 'has not been submitted' "$DAWN" withdraw 4 --server "$base/ok" --reason x --yes
expect 0 'withdraw: accepted as #6 on .*/runs/[1-4]$' "$DAWN" withdraw 1 --server "$base/ok" --reason 'the machine was shared' --yes
expect 0 'withdrawn: *#6 on board.example' "$DAWN" results show 1
grep -q 'amended: *#5' out
expect 0 'run 1 *withdrawn as #6, it cannot come back' "$DAWN" submit --server "$base/ok" --run 1 --note again --yes
grep -q 'already has or had every run that was named' out
mkdir empty
(cd empty && expect 0 'withdraw: accepted as #7' "$DAWN" withdraw "$first" --server "$base/ok" --reason x --yes && [ ! -e results.db ] &&
    grep -q "$base/ok cannot be compared with earlier addresses of the board" err)
expect 1 'no record' "$DAWN" withdraw 1 nowhere.db --server "$base/ok" --reason x --yes
expect 1 'it is not here' "$DAWN" withdraw "${first//[0-9]/0}" --server "$base/ok" --reason x --yes

# ---- the statements of the server, checked from outside
expect 0 'receipt *good: #4 of board.example' "$DAWN" verify "$base/ok/runs/4"
grep -q 'signature *good' out
expect 0 'receipt *good: #1' "$DAWN" verify "$base/ok/api/v1/statements/$first"
expect 0 'withdraw, for the board' "$DAWN" verify "$base/ok/api/v1/statements/6/payload"
lacks out '^ *check'
python3 - "$base/ok/api/v1/statements" <<'PYTHON'
import json, subprocess, sys, time, urllib.request
def sign(data, key):
    return subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "rotate-v1@dawn"], input=data, capture_output=True,
                          check=True).stdout.decode()
line = " ".join(open("other_key.pub").read().split()[:2])
payload = json.dumps({"type": "rotate", "version": 1, "board": "board.example", "handle": "ada", "key": line,
                      "made_ms": int(time.time() * 1000)},
                     sort_keys=True, separators=(",", ":"))
both = {"payload": payload, "signature": sign(payload.encode(), "config/dawn/keys/dawn"),
        "countersignature": sign(payload.encode(), "other_key")}
open("rotate.json", "w").write(payload)
open("rotate.json.sig", "w").write(both["signature"])
urllib.request.urlopen(urllib.request.Request(sys.argv[1], json.dumps(both).encode(),
                                              {"Content-Type": "application/json", "User-Agent": "dawn/0"}))
PYTHON
expect 0 'new key *good' "$DAWN" verify "$base/ok/api/v1/statements/8"
expect 1 'envelope *WRONG' "$DAWN" verify "$base/tampered/api/v1/statements/8"
[ "$(grep -c WRONG out)" = 1 ]
expect 1 'new key *WRONG' "$DAWN" verify rotate.json
expect 1 'signature *WRONG' "$DAWN" verify "$base/tampered/runs/1"
grep -q 'receipt *WRONG' out
expect 1 'answers 404' "$DAWN" verify "$base/ok/runs/999"
expect 1 'receipt *WRONG: it is for #2, and #1 was asked for' "$DAWN" verify "$base/swapped/runs/1"
expect 2 'no /runs/N' "$DAWN" verify "$base/ok/people/ada"
expect 2 'one file or address' "$DAWN" verify

# ---- a receipt that was lost, and other words since: the entry is found, and replaced
cp fresh.db lost.db
expect 1 'does not answer' "$DAWN" submit lost.db --server "$base/cut" --run 3 --note first --yes
expect 0 'run 3: accepted as #10' "$DAWN" submit lost.db --server "$base/ok" --run 3 --note second --yes
grep -q 'run 3: #9 on board.example arrived earlier' out
[ "$(sql lost.db 'SELECT group_concat(sequence), count(supersedes) FROM receipts')" = '3,9,10 2' ]
expect 0 'run 3 *already submitted as #10' "$DAWN" submit lost.db --server "$base/ok" --run 3 --note second --yes

# ---- a board that names a statement which this key never signed gets none of its words signed
cp fresh.db forged.db
expect 1 'run 3: refused: .*has been submitted as statement' "$DAWN" submit forged.db --server "$base/forged" --run 3 --yes
[ "$(grep -c '^forged POST' log)" = 1 ]
[ "$(sql forged.db 'SELECT count(*) FROM receipts WHERE run = 3 AND sequence = 1')" = 0 ]

# ---- a handle that cannot be remembered keeps nothing back
mkdir -p folder/dawn/handle
cp -r config/dawn/keys folder/dawn
cp fresh.db kept.db
XDG_CONFIG_HOME=$PWD/folder expect 0 'run 3: accepted as' "$DAWN" submit kept.db --server "$base/twin" --run 2 --run 3 --handle ada --yes
grep -q 'the handle is not remembered' err

# ---- --json: what the server said
cp fresh.db json.db
[ "$(status "$DAWN" submit json.db --server "$base/twin" --run 2 --yes --json)" = 0 ]
answer 'o["board"] == "board.example" and o["sent"]["run 2"]["state"] == "known" and "error" not in o'
answer 'o["sent"]["run 2"]["statement"] == o["prepared"][0]["statement"]'
[ "$(status "$DAWN" submit json.db --server "$base/twin" --run 3 --note other --yes --json)" = 0 ]
answer 'o["sent"]["run 3"]["state"] == "accepted"'
answer 'o["sent"]["run 3"]["page"].endswith("/twin/runs/%d" % o["sent"]["run 3"]["sequence"])'
[ "$(status "$DAWN" submit json.db --server "$base/strict" --run 1 --yes --json)" = 1 ]
answer 'o["sent"]["run 1"]["state"] == "refused" and o["error"] == "1 of 1 runs were refused by the server"'
grep -q 'run 1: refused: ' err

# ---- asked at a terminal, no is no
if command -v script >/dev/null; then
    "$DAWN" submit fresh.db --server "$base/slow" --run 1 --dry-run >quiet 2>&1 &
    quiet=$!
    TERM=xterm script -qec "'$DAWN' submit fresh.db --server '$base/slow' --run 1 --dry-run" /dev/null >out 2>&1 &
    wait_line $! out 'waiting for' # the server keeps its answers back until "enough" is there
    touch enough
    wait $!
    wait $quiet
    grep -q "waiting for $base/slow \.\.\.$(printf '\033')\[K$(printf '\r\033')\[K" out
    grep -q 'Nothing was sent' quiet
    lacks quiet waiting
    cp fresh.db ask.db
    python3 -B - ask.db "$ROOT" <<'PYTHON'
import sqlite3, sys
sys.path.insert(0, sys.argv[2] + "/test/cli")
from bind_record import bind
d = sqlite3.connect(sys.argv[1])
d.execute("UPDATE software SET flags = '-O2 -g' || replace(printf('%.*c', 60, 'z'), 'z', ' -fxyz') || ' -last'")
bind(d, 3)
d.commit()
PYTHON
    for answer in n y; do
        rc=0
        echo "$answer" | script -qec "'$DAWN' submit ask.db --server '$base/ok' --run 3" /dev/null >out 2>&1 || rc=$?
        grep -q 'Sign this and publish it? \[y/N\]' out
        grep -q '(372 bytes;' out
        lacks out '-last'
        if [ $answer = n ]; then wanted=130 said='nothing was sent'; else wanted=0 said='run 3: accepted as #11'; fi
        [ $rc = $wanted ]
        grep -q "$said" out
    done
fi

[ ! -s server_err ] || { cat server_err >&2; exit 1; }
