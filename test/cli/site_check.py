# SPDX-License-Identifier: Apache-2.0
"""Reads every page and feed of a static copy of a board: site_check.py FOLDER. Every relative link leads to a file, all pages hang
together, and none has a form. Prints what is wrong and fails."""
import os
import sys
import urllib.parse
from html.parser import HTMLParser

folder, wrong, links, pages = sys.argv[1], [], {}, 0


class Page(HTMLParser):
    def __init__(self, name):
        super().__init__(convert_charrefs=True)
        self.name, self.found, self.ids = name, [], set()

    def handle_starttag(self, tag, attributes):
        if tag in ("form", "input", "select", "button"):
            wrong.append("%s: <%s>" % (self.name, tag))
        for name, value in attributes:
            if name in ("href", "src"):
                self.found.append(value)
            if name == "id":
                self.ids.add(value)


parsed = {}
for place, _, names in os.walk(folder):
    for name in names:
        path = os.path.relpath(os.path.join(place, name), folder)
        if not name.endswith((".html", ".atom")):
            continue
        page = Page(path)
        page.feed(open(os.path.join(folder, path), encoding="utf-8").read())
        parsed[path] = page
for path, page in parsed.items():
    for link in page.found:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        if link.startswith("/") or parts.query:
            wrong.append("%s: %s needs a server" % (path, link))
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path))) if parts.path else path
        links.setdefault(target, path)
        if not os.path.isfile(os.path.join(folder, target)):
            wrong.append("%s: %s is not there" % (path, link))
        elif parts.fragment and target in parsed and parts.fragment not in parsed[target].ids:
            wrong.append("%s: %s has no such place" % (path, link))
for path in parsed:
    if path not in links and path != "index.html" and not path.startswith("runs/") and path.endswith(".html"):
        wrong.append("%s: nothing leads there" % path)
for sentence in wrong[:40]:
    print(sentence)
print("%d pages and feeds, %d things wrong" % (len(parsed), len(wrong)))
sys.exit(1 if wrong or len(parsed) < 40 else 0)
