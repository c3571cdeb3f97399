#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A scoreboard on the loopback for the tests of `dawn submit` and `dawn verify`: it checks signatures and signs receipts
# with ssh-keygen, keeps nothing on disk but a log, and misbehaves in the way that the first part of the path names.
# Prints its port; writes "MODE METHOD PATH STATUS" of every request into LOG; ends when its standard input does.
#   usage: submit_server.py LOG KEYFILE OTHERKEYFILE
import hashlib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

log, key, other_key = sys.argv[1:4]
start = int(time.time() * 1000)
accepted = {}  # digest -> [sequence, payload, signatures, receipt]
twins = {}  # the same of another board of this name, "twin"
forgeries = {}  # what the board "forged" made up
seen = {}
lock = threading.Lock()


def sign(data, with_key, space):
    return subprocess.run(["ssh-keygen", "-q", "-Y", "sign", "-f", with_key, "-n", space], input=data, capture_output=True,
                          check=True).stdout.decode()


def signer(payload, signature, space):
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(signature)
        f.flush()
        said = subprocess.run(["ssh-keygen", "-Y", "check-novalidate", "-n", space, "-s", f.name], input=payload,
                              capture_output=True)
    return said.stdout.decode().split()[-1] if said.returncode == 0 else None


def receipt(sequence, digest, by, mode):
    text = json.dumps({"type": "receipt", "version": 1, "board": "board.example" if mode != "otherboard" else "elsewhere",
                       "sequence": sequence, "accepted_ms": 0 if mode == "undated" else start + sequence,
                       "payload": digest if mode != "otherdigest" else "0" * 64, "signer": by}, sort_keys=True,
                      separators=(",", ":"))
    return {"receipt": text, "signature": sign(text.encode(), other_key if mode in ("otherkey", "twin") else key, "receipt-v1@dawn"),
            "sequence": sequence}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def say(self, code, body=b"", headers=(), kind="application/json"):
        with lock, open(log, "a") as f:
            f.write("%s %s %s %d\n" % (self.mode, self.command, self.rest, code))
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def problem(self, status, title, detail, headers=(), **more):
        self.say(status, dict(type="about:blank", title=title, status=status, detail=detail, **more), headers,
                 "application/problem+json")

    def begin(self):
        parts = self.path.split("/", 2)
        self.mode, self.rest = parts[1], "/" + (parts[2] if len(parts) > 2 else "")
        self.accepted = {"twin": twins, "forged": forgeries}.get(self.mode, accepted)
        if self.rest != "/api/v1/competitions":  # which a submission asks for in addition to its own requests
            seen[self.mode] = seen.get(self.mode, 0) + 1
        if "dawn/" not in self.headers.get("User-Agent", ""):
            self.problem(400, "Who?", "no user agent")
            return False
        if self.mode == "slow":
            while not os.path.exists("enough"):  # the scenario makes it when it has seen what it waits for
                time.sleep(0.05)
        if self.mode == "away":
            self.say(307, headers=[("Location", "http://127.0.0.1:%d/ok%s" % (other.server_address[1], self.rest))])
            return False
        if self.mode == "moved":
            self.say(307, headers=[("Location", "/ok" + self.rest)])
            return False
        if self.mode == "round":
            self.say(307, headers=[("Location", self.path)])
            return False
        if self.mode == "big":
            self.say(200, b" " * (5 << 20))
            return False
        if self.mode == "page":
            self.say(200, b"<p>welcome!</p>", kind="text/html")
            return False
        return True

    def do_GET(self):
        if not self.begin():
            return
        if self.rest == "/api/v1":
            public = open((other_key if self.mode == "twin" else key) + ".pub").read().strip()
            name = "a b" if self.mode == "blank" else "board.example"  # no statement can hold a name with a blank
            return self.say(200, {"board": name, "key_line": public, "limits": {}})
        words = self.rest.split("/")
        if self.mode == "swapped" and words[-1] == "1":  # a good statement, but another
            words[-1] = "2"
        if self.mode == "swapped" and words[-2:] == ["1", "receipt"]:
            words[-2] = "2"
        if self.mode == "other" and words[4:5] == ["1"]:  # another good statement with its true receipt
            words[4] = "2"
        for digest, (sequence, payload, signatures, answer) in list(self.accepted.items()):
            if len(words) in (5, 6) and words[1:4] == ["api", "v1", "statements"] and words[4] in (digest, str(sequence)):
                if self.mode == "tampered":
                    payload = payload.replace(b'"score":9417', b'"score":9517')
                    signatures = dict(signatures, **{k: signatures["signature"] for k in signatures})
                whole = {"sequence": sequence, "envelope": dict(signatures, payload=payload.decode())}
                part = {"": json.dumps(whole).encode(), "payload": payload, "signature": signatures["signature"].encode(),
                        "receipt": json.dumps(answer).encode()}[(words + [""])[5]]
                return self.say(200, part, kind="text/plain")
        self.problem(404, "There is nothing at this address", self.rest)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.begin():
            return
        if self.rest != "/api/v1/statements" or self.headers["Content-Type"] != "application/json":
            return self.problem(404, "There is nothing at this address", self.rest)
        if self.mode == "limited" and seen[self.mode] < 4:
            return self.problem(429, "Too many submissions", "wait", [("Retry-After", "1")])
        if self.mode == "hour":
            return self.problem(429, "Too many submissions", "the next one in 3600 s", [("Retry-After", "3600")])
        if self.mode == "ages":
            return self.problem(429, "Too many submissions", "wait", [("Retry-After", "4294967296")])
        if self.mode == "hours":
            return self.problem(429, "Too many submissions", "wait", [("Retry-After", "18000")])
        if self.mode == "busy" and seen[self.mode] < 3:
            return self.problem(503, "The record cannot be written at the moment", "")
        if self.mode == "full":
            return self.problem(503, "The record cannot be written at the moment", "no space left", [("Retry-After", "120")])
        if self.mode == "strict":
            return self.problem(422, "The statement fails checks", "it is \x1b[2Jodd", code="checks-failed",
                                checks=[{"code": "cost", "level": "reject", "text": "too\ncheap \x1b[31m"}])
        if self.mode == "taken":
            return self.problem(403, "The handle belongs to another key", "\"ada\" is taken", code="handle-taken")
        if self.mode == "lost":
            return self.say(302, headers=[("Location", "/lost/api/v1")])
        if self.mode == "broken":
            return self.say(500, b"\xff\x00 oops", kind="text/html")
        envelope = json.loads(body)
        payload = envelope["payload"].encode()
        statement, digest = json.loads(payload), hashlib.sha256(payload).hexdigest()
        by = signer(payload, envelope["signature"], statement["type"] + "-v1@dawn")
        signatures = {k: v for k, v in envelope.items() if k != "payload"}
        if by is None or set(signatures) - {"countersignature"} != {"signature"}:
            return self.problem(401, "The signature does not fit the statement", "")
        if self.mode == "forged":  # a statement that its owner never signed, said to be there already
            payload = json.dumps(dict(statement, note="what nobody said"), sort_keys=True, separators=(",", ":"),
                                 ensure_ascii=False).encode()
            digest = hashlib.sha256(payload).hexdigest()
            forgeries[digest] = [1, payload, signatures, receipt(1, digest, by, "ok")]
            return self.problem(409, "It conflicts with a statement that is here already",
                                "this run has been submitted as statement %s; name that to replace it" % digest, code="conflict")
        with lock:
            again, conflict = digest in self.accepted, None
            if not again:
                if statement["type"] == "run":
                    same = [d for d, a in self.accepted.items() if json.loads(a[1]).get("nonce") == statement["nonce"]]
                    if same and same[-1] != statement.get("supersedes"):
                        conflict = "this run has been submitted as statement %s; name that to replace it" % same[-1]
                elif statement["type"] != "rotate" and statement["statement"] not in self.accepted:
                    conflict = "it is not here"
                if conflict is None:
                    sequence = len(self.accepted) + 1
                    answer = receipt(sequence, digest, by, self.mode if self.mode == "twin" else "ok")
                    self.accepted[digest] = [sequence, payload, signatures, answer]
        if conflict is not None:
            if self.mode == "mute":
                conflict = "with other words"
            return self.problem(409, "It conflicts with a statement that is here already", conflict, code="conflict")
        if self.mode == "cut":  # taken, and the answer never arrives
            with lock, open(log, "a") as f:
                f.write("cut POST %s 0\n" % self.rest)
            self.close_connection = True
            self.connection.shutdown(2)
            return
        if self.mode == "noreceipt":
            return self.say(201, {"sequence": 1})
        self.say(200 if again else 201, receipt(self.accepted[digest][0], digest, by, self.mode))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):  # a client that hangs up is no news
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, address)


server = Server(("127.0.0.1", 0), Handler)
other = Server(("127.0.0.1", 0), Handler)
for s in (server, other):
    threading.Thread(target=s.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
