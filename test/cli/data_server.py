#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# A small server on the loopback for the tests of `dawn data fetch`: it serves one file, or those of a folder, and misbehaves in
# the way that the first part of the path names. Prints its port; writes "PATH RANGE" of every request into LOG; ends when its
# standard input does, so that no test can leave it behind.
#   usage: data_server.py FILE LOG      FILE may be a number: that many zero bytes, made up as they are sent; or a folder
import http.server
import os
import sys
import threading

what, log = sys.argv[1], sys.argv[2]
seen = {}


def asked_file(path):
    return os.path.join(what, *path.split("/")[2:]) if os.path.isdir(what) else what


def part(name, first, count):
    if name.isdigit():
        while count > 0:
            n = min(count, 1 << 16)
            yield bytes(n)
            count -= n
    else:
        with open(name, "rb") as f:
            f.seek(first)
            yield f.read(count)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def say(self, code, headers=(), length=0):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def send(self, first, count, code, headers=(), cut=None):
        self.say(code, headers, count)
        for piece in part(asked_file(self.path), first, count if cut is None else cut):
            self.wfile.write(piece)

    def do_GET(self):
        asked = self.headers.get("Range")
        with open(log, "a") as f:
            f.write("%s %s\n" % (self.path, asked or "-"))
        mode = self.path.split("/")[1]
        seen[mode] = seen.get(mode, 0) + 1
        first = int(asked.split("=")[1].rstrip("-")) if asked else 0
        name = asked_file(self.path)
        size = int(name) if name.isdigit() else os.path.getsize(name)
        try:
            if mode == "missing":
                self.say(404, length=9)
                self.wfile.write(b"not here\n")
            elif mode == "busy" and seen[mode] < 3:
                self.say(503)
            elif mode == "redirect":
                self.say(302, [("Location", "/whole/archive.tar.gz")])
            elif mode == "elsewhere":
                self.say(302, [("Location", "ftp://127.0.0.1/archive.tar.gz")])
            elif mode == "page":
                self.say(200, length=9)
                self.wfile.write(b"welcome!\n")
            elif mode == "endless":  # no length, and more than there should be
                self.send_response(200)
                self.send_header("Connection", "close")
                self.end_headers()
                self.close_connection = True
                for piece in part(name, 0, size):
                    self.wfile.write(piece)
                self.wfile.write(b"more" * 1000)
            elif mode == "norange":
                self.send(0, size, 200, cut=size // 2 if seen[mode] == 1 else None)
            elif asked and first >= size:
                self.say(416)
            elif asked:
                told = first + 1 if mode == "wrongrange" else first
                self.send(first, size - first, 206, [("Content-Range", "bytes %d-%d/%d" % (told, size - 1, size))])
            elif mode in ("cut", "wrongrange"):  # the first answer breaks off in the middle
                self.send(0, size, 200, cut=size // 2)
            else:
                self.send(0, size, 200)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
