# SPDX-License-Identifier: Apache-2.0
"""Follows every link of a scoreboard and holds each page against the rules that a program can see without a browser:
pages_check.py ADDRESS MOST [all]. Prints what is wrong and fails. "all": every address of scoreboard/routes.h that can be
read has to have been visited, so that no page is left out because nothing leads to it or because the record lacks it."""
import csv
import io
import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as xml
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
          "frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
wrong, visited = [], []


class Page(HTMLParser):
    def __init__(self, address):
        super().__init__(convert_charrefs=True)
        self.address, self.stack, self.ids, self.links = address, [], set(), []
        self.labels, self.fields, self.named, self.level, self.seen = set(), [], [], 0, {}
        self.hidden = 0

    def bad(self, what):
        wrong.append("%s, line %d: %s" % (self.address, self.getpos()[0], what))

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        a = dict(attributes)
        if len(set(names)) != len(names):
            self.bad("<%s> has an attribute twice" % tag)
        for name in names:
            if name == "style" or name.startswith("on"):
                self.bad("<%s %s>: forbidden by the policy" % (tag, name))
        if tag in ("style", "iframe", "object") or (tag == "script" and not a.get("src", "").startswith("/")):
            self.bad("<%s> within the page" % tag)
        if "id" in a:
            if a["id"] in self.ids:
                self.bad("the id %s twice" % a["id"])
            self.ids.add(a["id"])
        self.named += [(name, part) for name in ("aria-labelledby", "for") if name in a for part in a[name].split()]
        if tag in ("a", "link") and "href" in a:
            self.links.append(a["href"])
        if tag in ("input", "select") and a.get("type") != "hidden":
            self.fields.append(a.get("id"))
        if tag == "script" and "src" in a:
            self.links.append(a["src"])
        if tag == "label":
            self.labels.add(a.get("for"))
        if tag == "th" and "scope" not in a:
            self.bad("<th> without scope")
        if tag == "svg" and a.get("role") != "img" and a.get("aria-hidden") != "true":
            self.bad("<svg> neither named nor hidden")
        if re.fullmatch("h[1-6]", tag):
            if int(tag[1]) > self.level + 1:
                self.bad("%s after h%d" % (tag, self.level))
            self.level = int(tag[1])
        self.seen[tag] = self.seen.get(tag, 0) + 1
        if tag == "tr" or tag == "li":
            allowed = {"tr": {"thead", "tbody"}, "li": {"ul", "ol"}}[tag]
            if not self.stack or self.stack[-1] not in allowed:
                self.bad("<%s> inside <%s>" % (tag, self.stack[-1] if self.stack else ""))
        if tag in ("p", "ul", "table", "div", "h2", "pre") and "p" in self.stack:
            self.bad("<%s> inside <p>" % tag)
        if tag == "a" and "a" in self.stack:
            self.bad("a link inside a link")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if not self.stack or self.stack[-1] != tag:
            self.bad("</%s> closes <%s>" % (tag, self.stack[-1] if self.stack else ""))
            return
        self.stack.pop()

    def end(self):
        if self.stack:
            self.bad("never closed: %s" % self.stack)
        for name, part in self.named:
            if part not in self.ids:
                self.bad("%s names %s, which is not there" % (name, part))
        for field in self.fields:
            if field not in self.labels:
                self.bad("the field %s has no label" % field)
        for tag, count in (("h1", 1), ("main", 1), ("title", None), ("footer", 1)):
            if (count and self.seen.get(tag, 0) != count) or not self.seen.get(tag):
                self.bad("%d <%s>" % (self.seen.get(tag, 0), tag))
        if self.seen.get("table", 0) > self.seen.get("caption", 0) and not re.search("/(rules|submit|record|statements|threats)$", self.address):
            self.bad("a table without a caption")


def get(address):
    try:
        answer = urllib.request.urlopen(address, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    if answer.status == 200:
        visited.append(urllib.parse.urlsplit(address).path)
    return answer.status, answer.headers, answer.read().decode(errors="replace")


def check(address, status, headers, body):
    """Returns the links of the page."""
    kind = headers.get("Content-Type", "").split(";")[0]
    if headers.get("Content-Security-Policy") != POLICY:
        wrong.append("%s: another policy: %s" % (address, headers.get("Content-Security-Policy")))
    if kind == "application/atom+xml":
        feed, atom = xml.fromstring(body), "{http://www.w3.org/2005/Atom}"
        ids = [entry.findtext(atom + "id") for entry in feed.iter(atom + "entry")]
        if len(set(ids)) != len(ids) or not feed.findtext(atom + "updated"):
            wrong.append("%s: the feed's names or dates" % address)
        return [link.get("href") for link in feed.iter(atom + "link")]
    if kind == "text/csv":
        rows = list(csv.reader(io.StringIO(body)))
        if len({len(row) for row in rows}) != 1 or rows[0][0] != "rank":
            wrong.append("%s: columns of different number" % address)
        return []
    if kind == "application/json":
        json.loads(body)
    if kind == "image/svg+xml":
        xml.fromstring(body)
    if kind != "text/html":
        return []
    page = Page(address)
    page.feed(body)
    page.close()
    page.end()
    for text in ("<b>bold", "<i>Engines"):
        if text in body:
            wrong.append("%s: a stranger's markup came through: %s" % (address, text))
    return page.links


def unvisited():
    """Patterns of the routes that no visited path belongs to: a path belongs to the pattern with the most letters."""
    rooms = os.path.join(os.path.dirname(__file__), "../../scoreboard")
    source = open(rooms + "/pages/pages.h").read() + open(rooms + "/api/api.h").read()
    patterns = re.findall(r'ROUTE\("GET", "([^"]+)"', source)
    forms = sorted(patterns, key=lambda pattern: -len(re.sub(r"{\w+[*]?}", "", pattern)))
    forms = [(pattern, re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.sub(r"\\{\w+\\[*]\\}", ".+", re.escape(pattern)))))
             for pattern in forms]
    seen = {next((pattern for pattern, form in forms if form.fullmatch(path)), None) for path in visited}
    return [pattern for pattern in patterns if pattern not in seen]


def main():
    base, most = sys.argv[1], int(sys.argv[2])
    waiting, known, kinds, archives = [base + "/"], {base + "/"}, {}, 0
    while waiting and sum(kinds.values()) < most:
        address = waiting.pop(0)
        status, headers, body = get(address)
        if status != 200:
            wrong.append("%s: %d" % (address, status))
            continue
        kind = headers.get("Content-Type", "").split(";")[0]
        kinds[kind] = kinds.get(kind, 0) + 1
        for link in check(address, status, headers, body):
            full = urllib.parse.urldefrag(urllib.parse.urljoin(address, link))[0]
            # Entries of the archive and orders of boards are many and alike: some of each.
            many = "/archive/" in full or ("?" in full and "/boards/" in full)
            archives += many and full not in known
            if full.startswith(base + "/") and full not in known and (not many or archives < 60):
                known.add(full)
                waiting.append(full)
    for address, status in (("/nothing", 404), ("/boards/nothing", 404), ("/runs/999999", 404), ("/people/nobody", 404), ("/groups/00", 404),
                            ("/archive/CIFAR10/train/nothing", 404), ("/boards/cifar10/training-time?x=1", 400), ("/compare?run=x", 400),
                            ("/log?after=-1", 400), ("/boards/cifar10/training-time?limit=9999", 400), ("/?sort=value", 400), ("/search?x=1", 400), ("/search?q=%00", 400),
                            ("/compare?group=12", 400), ("/compare?group=" + "0" * 32, 404)):
        found, headers, body = get(base + address)
        if found != status:
            wrong.append("%s: %d instead of %d" % (address, found, status))
        check(base + address, found, headers, body)
    for path in ("/api/v1/nothing", "/api/v1/runs/1", "/api/v1/statements/999999", "/log/tile/x"):
        found, headers, body = get(base + path)
        if found != 404 or not json.loads(body)["detail"]:
            wrong.append("%s: %d, and the problem says %s" % (path, found, body))
    for path in ("/compare", "/compare?run=&run=", "/compare?run=&group=", "/search?q=nothing+has+this", "/search?q=1", "/search?q=%3Cb%3E", "/boards/cifar10?trust=imported", "/boards/squad/training-time?target=0.73", "/boards/cifar10/pareto?rank=group"):
        found, headers, body = get(base + path)
        if found != 200:
            wrong.append("%s: %d" % (path, found))
        check(base + path, found, headers, body)
    apart = ["/robots.txt", "/api/v1", "/api/v1/health", "/api/v1/tasks", "/api/v1/boards/cifar10/training-time/history"]
    if "all" in sys.argv[3:]:
        first = json.loads(get(base + "/api/v1/statements/1")[2])
        apart += ["/log/tile/entries/000.p/1", "/api/v1/people/" + first["handle"],
                  "/api/v1/keys/" + urllib.parse.quote(first["key"], safe="")]
    for path in apart:
        found, headers, body = get(base + path)
        if found != 200:
            wrong.append("%s: %d" % (path, found))
        check(base + path, found, headers, body)
    wrong.extend("%s: nothing leads there" % pattern for pattern in unvisited() if "all" in sys.argv[3:])
    for sentence in wrong[:40]:
        print(sentence)
    print("%d pages and files followed, %d things wrong: %s" % (sum(kinds.values()), len(wrong), kinds))
    return 1 if wrong else 0


sys.exit(main())
