# SPDX-License-Identifier: Apache-2.0
# dawn report: one file that is whole HTML, Markdown and CSV next to it, MLPerf's log, and records without anything to report.
set -eu

. "$ROOT/test/status.sh"
small="imagenette --data pictures --threads 1"
"$DAWN" train $small --set epochs=2 --set warmup_epochs=0 --set evaluation.every=1 --save '' >/dev/null 2>&1 || [ $? = 3 ]
"$DAWN" bench $small --no-measure --seconds 0.05 --repeats 2 --batch 10,20 >/dev/null

[ "$(status "$DAWN" report)" = 0 ]
[ "$(cat out)" = report.html ]
python3 - <<'PY'
from html.parser import HTMLParser
VOID = {"meta", "wbr"}
class Check(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.svgs = [], set(), 0
    def handle_startendtag(self, tag, attrs):
        self.note(attrs)
    def handle_starttag(self, tag, attrs):
        self.note(attrs)
        assert tag not in ("script", "link", "img", "iframe"), tag
        self.svgs += tag == "svg"
        if tag not in VOID: self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def note(self, attrs):
        names = dict(attrs)
        assert "src" not in names and "href" not in names and "style" not in names
        if "id" in names:
            assert names["id"] not in self.ids, names["id"]
            self.ids.add(names["id"])
check = Check()
check.feed(open("report.html", encoding="utf-8").read())
check.close()
assert not check.open and check.svgs >= 8, (check.open, check.svgs)
PY
says 2 'the name report.pdf must end in .html, .md or .csv' "$DAWN" report -o report.pdf
[ ! -e report.pdf ]
[ "$(status "$DAWN" report -o report.pdf --format html)" = 0 ]
[ "$(status "$DAWN" report results.db -o report.md)" = 0 ]
grep -q '^| node' report.md
[ "$(status "$DAWN" report -o - --format csv)" = 0 ]
[ "$(wc -l <out)" = 3 ]
head -n 1 out | grep -q '^task,model,setting,node_num,'

expect 0 '^:::MLLOG {.*"key":"run_stop".*"status":"\(success\|aborted\)"' "$DAWN" results export last --format mllog
[ "$(grep -vc '^:::MLLOG {' out)" = 0 ]

# Empty, foreign and missing files; wrong use.
: >empty.db
says 1 'is empty' "$DAWN" report empty.db
sql foreign.db 'CREATE TABLE a (b)'
says 1 'the database of another program' "$DAWN" report foreign.db
[ "$(status "$DAWN" report none.db)" = 1 ]
[ "$(status "$DAWN" report --format pdf)" = 2 ]
[ "$(status "$DAWN" report results.db more.db)" = 2 ]
[ "$(status "$DAWN" report -o none/report.html)" = 1 ]
