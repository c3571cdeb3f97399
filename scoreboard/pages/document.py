#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""document.py FILE: a document of docs/ as the HTML of a page, when the server is built. Reads the part of Markdown that our own
documents use: headings, paragraphs, lists, tables, code, links, emphasis. Comments are left out. A link to a document that has a
page leads there, one to another file nowhere: its words stay. Headings below the first can be linked to by their words."""
import re
import sys

SERVED = re.compile(r"(?:docs/)?(rules|submit|record|statements|threats|log)\.md(#.*)?$")
MARK = re.compile(r"`(.*?)`|\*\*(.+?)\*\*|\*(?![ *])(.+?)\*|\[(.*?)\]\((.*?)\)")
ITEM = re.compile(r"[-*] |(\d{1,3})\. ")
REGION = '<%s role="region" aria-label="%s" tabindex="0">'


def escape(text):
    for plain, safe in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        text = text.replace(plain, safe)
    return text


def link(label, to):
    served = SERVED.match(to)
    if served:
        to = "/" + served[1] + (served[2] or "")
    elif not re.match(r"https?://|/(?!/)", to):
        return inline(label)
    return '<a href="%s">%s</a>' % (escape(to), inline(label))


def inline(text):
    out, at = "", 0
    for mark in MARK.finditer(text):
        code, strong, emphasis, label, to = mark.groups()
        out += escape(text[at:mark.start()])
        out += ("<code>%s</code>" % escape(code) if code is not None else
                "<strong>%s</strong>" % inline(strong) if strong is not None else
                "<em>%s</em>" % inline(emphasis) if emphasis is not None else link(label, to))
        at = mark.end()
    return out + escape(text[at:])


def row(line, cell):
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return "<tr>%s</tr>\n" % "".join("<%s>%s</%s>" % (cell, inline(c.strip().replace("\\|", "|")), cell[:2]) for c in cells)


class Document:
    def __init__(self, text):
        self.lines, self.ids = re.sub(r"(?ms)^<!--.*?-->", "", text).rstrip("\n").split("\n"), set()

    def take(self, belongs):
        """The lines from the first on, as long as they belong together."""
        count = 1
        while count < len(self.lines) and belongs(self.lines[count]):
            count += 1
        taken, self.lines = self.lines[:count], self.lines[count:]
        return taken

    def heading(self, line):
        level, words = len(line) - len(line.lstrip("#")), line.lstrip("#").strip()
        name = re.sub(r"[^a-z0-9-]", "", words.lower().replace(" ", "-"))[:79]
        own = ' id="%s"' % name if level > 1 and name not in self.ids else ""
        self.ids.add(name)
        return "<h%d%s>%s</h%d>\n" % (level, own, inline(words), level)

    def code(self, lines, shell):
        block = '<pre tabindex="0" role="region" aria-label="Code"><code>%s\n</code></pre>' % escape("\n".join(lines))
        return '<div class="command">%s</div>\n' % block if shell else block + "\n"

    def table(self, lines):
        rows = "".join(row(line, "td") for line in lines[1:] if line.strip("|-: "))
        return (REGION % ('div class="scroll"', "Table") + '<table class="small"><thead>' + row(lines[0], 'th scope="col"') +
                "</thead><tbody>\n" + rows + "</tbody></table></div>\n")

    def items(self, lines):
        kind, items = "ol" if ITEM.match(lines[0])[1] else "ul", []
        for line in lines:
            if ITEM.match(line):
                items.append(ITEM.sub("", line, count=1))
            else:
                items[-1] += " " + line.strip()
        return "<%s>\n%s</%s>\n" % (kind, "\n".join("<li>%s</li>" % inline(item) for item in items), kind)

    def block(self):
        line = self.lines[0]
        if not line.strip():
            return self.take(lambda next: not next.strip()) and ""
        if line.startswith("#"):
            return self.heading(self.take(lambda next: False)[0])
        if line.startswith("```"):
            lines = self.take(lambda next: not next.startswith("```"))
            self.lines = self.lines[1:]
            return self.code(lines[1:], line.startswith("```sh"))
        if line.startswith("    "):
            lines = self.take(lambda next: not next.strip() or next.startswith("    "))
            return self.code("\n".join(line[4:] for line in lines).rstrip().split("\n"), False)
        if line.startswith("|"):
            return self.table(self.take(lambda next: next.startswith("|")))
        if ITEM.match(line):
            return self.items(self.take(lambda next: ITEM.match(next) or (next.startswith("  ") and next.strip())))
        words = self.take(lambda next: next.strip() and not re.match(r"#|\||```", next) and not ITEM.match(next))
        return "<p>%s</p>\n" % inline(" ".join(words))

    def html(self):
        out = ""
        while self.lines:
            out += self.block()
        return out


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.buffer.write(Document(file.read()).html().encode())
