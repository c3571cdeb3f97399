# SPDX-License-Identifier: Apache-2.0
"""A real browser looks at the pages: pages_browser.py FULL EMPTY [brief] (addresses of two scoreboards; brief: it sorts, pages and
filters a board, and looks at nothing). Chromium through
chromedriver's plain HTTP protocol. No message on its console, nothing wider than 320 px, letters with contrast in light and
dark, everything reached by Tab, everything there without script."""
import json
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

wrong = []
ALL = "/boards/cifar10/training-time?rank=classic&trust=imported"
TAB, ENTER = "\ue004", "\ue007"  # as WebDriver spells them
WIDTHS = (360, 640, 768, 1024, 1184, 1185, 1200, 1280, 1366)

# Texts whose contrast with what lies behind them is below 4.5 (3 for large letters), and what lies outside the window.
LOOK = r"""
const rgb = (c) => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
const light = (c) => { const f = c.slice(0, 3).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * f[0] + 0.7152 * f[1] + 0.0722 * f[2]; };
const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] > 0.99) return c; }
    return rgb(getComputedStyle(document.body).backgroundColor); };
const faults = [], seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node; (node = walker.nextNode());) {
    const e = node.parentElement, style = getComputedStyle(e);
    if (!node.data.trim() || !e.checkVisibility() || ["TITLE", "DESC", "OPTION"].includes(e.tagName.toUpperCase())) continue;
    const part = e.classList.contains("inside") ? e.parentElement.querySelector("rect." + [...e.classList].find((c) => c.startsWith("in-")).replace("in-", "part-")) : null;
    const ink = rgb(e instanceof SVGElement ? style.fill : style.color), ground = part ? rgb(getComputedStyle(part).fill) : behind(e);
    const a = light(ink), b = light(ground), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    const name = ratio.toFixed(2) + " " + e.tagName + "." + e.getAttribute("class") + " on " + ground;
    if (ratio < (large ? 3 : 4.5) && !seen.has(name)) { seen.add(name); faults.push("contrast " + name + ": " + node.data.trim().slice(0, 30)); }
}
if (document.documentElement.scrollWidth > document.documentElement.clientWidth) {  // without the scroll bar
    const wide = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest(".scroll, pre, .hidden, .skip"));
    faults.push("wider than the window: " + document.documentElement.scrollWidth + " " + (wide.length ? wide[0].outerHTML.slice(0, 120) : ""));
}
for (const chart of document.querySelectorAll(".chart")) {
    const shown = [...chart.querySelectorAll(":scope > svg")].filter((e) => e.checkVisibility()).length;
    if (shown !== 1) faults.push(shown + " pictures of one chart: " + chart.textContent.trim().slice(0, 60));
}
// Letters over letters, and letters outside their picture. A name has an outline, so it may touch a line.
for (const svg of document.querySelectorAll(".chart > svg")) {
    if (!svg.checkVisibility()) continue;
    const frame = svg.getBoundingClientRect(), boxes = [...svg.querySelectorAll("text")].map((e) => [e.getBoundingClientRect(), e.textContent.trim()]);
    for (const [a, what] of boxes)
        if (a.left < frame.left - 1 || a.right > frame.right + 1 || a.top < frame.top - 1 || a.bottom > frame.bottom + 1) faults.push("outside its picture: " + what);
    for (let i = 0; i < boxes.length; i++) {
        for (let j = 0; j < i; j++) {
            const [a, what] = boxes[i], [b, other] = boxes[j];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 2 && high > 4) faults.push("letters over letters: \"" + what + "\" and \"" + other + "\"");
        }
    }
}
// Text that the edge of its box cuts off without an ellipsis.
for (const e of document.querySelectorAll("main :is(td, th, dd, dt, li, p, h1, h2, h3, .badge, .button, button, summary)")) {
    const style = getComputedStyle(e);
    if (!e.checkVisibility() || style.overflowX !== "hidden" || style.textOverflow === "ellipsis" || e.closest(".hidden")) continue;
    if (e.scrollWidth > e.clientWidth + 1) faults.push("cut off: " + e.tagName + "." + e.className + ": " + e.textContent.trim().slice(0, 40));
}
// A command that scrolls under its copy button.
for (const box of document.querySelectorAll(".command.with-copy")) {
    const pre = box.querySelector("pre"), edge = pre.getBoundingClientRect(), button = box.querySelector("button.copy").getBoundingClientRect();
    const top = edge.top + parseFloat(getComputedStyle(pre).paddingTop);
    if (pre.scrollWidth > pre.clientWidth + 1 && button.left < edge.right - 1 && button.bottom > top + 1) faults.push("the button covers: " + pre.textContent.slice(0, 60));
}
// A row of a table on a phone that is mostly empty, because what makes it so high is off the screen.
for (const e of innerWidth < 640 ? document.querySelectorAll(".scroll") : []) {
    const high = [...e.querySelectorAll("tbody tr")].find((row) => row.getBoundingClientRect().height > 150);
    if (high && e.checkVisibility() && !e.closest("details, .prose") && e.scrollWidth > e.clientWidth + 1) faults.push("off the screen: " + high.textContent.trim().slice(0, 60));
}
// Cells of a row that do not begin at one height.
for (const row of document.querySelectorAll("main tr")) {
    if (!row.checkVisibility() || getComputedStyle(row).display !== "table-row") continue;
    const tops = [...row.cells].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect().top);
    if (Math.max(...tops) > Math.min(...tops) + 1) faults.push("cells at different heights: " + row.textContent.trim().slice(0, 60));
}
if (innerWidth >= 1440) {
    const clipped = [...document.querySelectorAll(".scroll")].filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1);
    if (clipped.length) faults.push("clipped columns: " + clipped[0].querySelector("caption, th").textContent.trim().slice(0, 60));
}
return [...new Set(faults)];
"""
# Tables that paper would not show: "a board that holds one run prints without its table" was such a fault.
UNPRINTED = r"""
return [...document.querySelectorAll("main table")].filter((e) => !e.closest("details") && (!e.checkVisibility() || e.getBoundingClientRect().height < 20))
    .map((e) => e.querySelector("caption, th").textContent.trim().slice(0, 60));
"""
# Sections of which paper would show the heading alone.
ALONE = r"""
return [...document.querySelectorAll("main section")].filter((e) => e.checkVisibility() && e.querySelector("h2") && ![...e.querySelectorAll(":scope > :not(h2)")]
    .some((part) => part.checkVisibility() && part.getBoundingClientRect().height > 0)).map((e) => e.querySelector("h2").textContent);
"""
# What Tab has to reach; the focus is noted as it comes by, and whether it can be seen.
WATCH = r"""
window.reached = new Set(); window.unseen = [];
document.addEventListener("focusin", (event) => {
    window.reached.add(event.target);
    const style = getComputedStyle(event.target);
    if (event.target.matches(":focus-visible") && (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2)) window.unseen.push(event.target.outerHTML.slice(0, 100));
});
window.controls = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")].filter((e) => e.checkVisibility({visibilityProperty: true}));
return window.controls.length;
"""


class Browser:
    def __init__(self, script):
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]}
        if not script:
            options["prefs"] = {"profile.managed_default_content_settings.javascript": 2}
        capabilities = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        for left in (2, 1, 0):  # another program may have taken the port, or a first renderer dies on a busy machine
            self.session = None
            if not self.start():
                continue
            try:
                self.session = self.call("POST", "", {"capabilities": {"alwaysMatch": capabilities}})["sessionId"]
                return
            except (RuntimeError, OSError):
                self.process.kill()
                self.process.wait()
                if left == 0:
                    raise
        raise RuntimeError("chromedriver did not start")

    def start(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(["chromedriver", "--port=%d" % self.port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            try:
                urllib.request.urlopen("http://127.0.0.1:%d/status" % self.port, timeout=5)
                return True
            except OSError:
                time.sleep(0.1)
        self.process.kill()
        return False

    def call(self, method, path, body=None):
        address = "http://127.0.0.1:%d/session%s%s" % (self.port, "/" + self.session if self.session else "", path)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address, method=method, data=data, headers={"Content-Type": "application/json"})
        try:
            return json.load(urllib.request.urlopen(request, timeout=120))["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError("%s %s: %s" % (method, path, error.read().decode()[:500])) from None

    def go(self, address):
        """Returns when the page asked for is loaded. A navigation that was still under way may win; then it is asked for again."""
        arrived = "return !window.left && document.readyState === 'complete' && location.href === new URL(%s).href;" % json.dumps(address)
        for _ in range(3):
            self.do("window.left = true; return 0;")
            self.call("POST", "/url", {"url": address})
            if self.comes_true(arrived, 30):
                return
        raise RuntimeError("%s did not load" % address)

    def comes_true(self, script, seconds=60):
        end = time.monotonic() + seconds
        while True:
            try:
                if self.do(script):
                    return True
            except RuntimeError:  # the page went away while it was read
                if time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                return False
            time.sleep(0.02)

    def enter(self, condition, sentence):
        """Presses Enter and waits for a new page, or new content that the script put in, for which the condition holds."""
        self.do("document.querySelector('#main').classList.add('left'); return 0;")
        self.keys([ENTER])
        wait_for(self, "const main = document.querySelector('#main'); return document.readyState === 'complete' && "
                       "main && !main.classList.contains('left') && (%s);" % condition, sentence)

    def do(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def window(self, width, dark):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        there = "return innerWidth === %d && matchMedia('(prefers-color-scheme: dark)').matches === %s" % (width, json.dumps(dark))
        if not self.comes_true(there):
            raise RuntimeError("the window is not %d px wide" % width)

    def keys(self, keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def console(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def close(self):
        try:
            if self.session:
                self.call("DELETE", "")
        finally:
            self.process.terminate()
            self.process.wait()


def expect(condition, sentence):
    if not condition:
        wrong.append(sentence)


def looks(browser, addresses):
    """Returns how many letters each page has."""
    letters = {}
    for address in addresses:
        browser.window(1440, False)
        browser.go(address)
        letters[address] = browser.do("return document.querySelector('main').innerText.length")
        browser.do("for (const d of document.querySelectorAll('details')) d.open = true; return 0;")
        # All widths where it is a matter of width; two are enough to see the colours. No script of a page depends on the width, so
        # one load does for all of them.
        for width, dark in [(1440, False), (1440, True), (320, False)] + [(w, False) for w in WIDTHS if address.endswith((ALL, "desc", "/boards/cifar10"))]:
            browser.window(width, dark)
            for fault in browser.do(LOOK):
                wrong.append("%s at %d px, %s: %s" % (address, width, "dark" if dark else "light", fault))
        for message in browser.console():
            wrong.append("%s: the console says: %s" % (address, message))
    return letters


def by_keyboard(browser, address, width=1440):
    browser.window(width, False)
    browser.go("about:blank")
    browser.go(address)
    browser.keys([TAB])
    expect(browser.do("return document.activeElement.className") == "skip", "%s: the first Tab is not for skipping" % address)
    browser.keys([ENTER])
    wait_for(browser, "return document.activeElement.id === 'main'", "%s: the first link does not skip to the content" % address)
    browser.go("about:blank")
    browser.go(address)
    count = browser.do(WATCH)
    browser.keys([TAB] * (count + 10))
    left = browser.do("return window.controls.filter((e) => !window.reached.has(e)).map((e) => e.outerHTML.slice(0, 100));")
    expect(not left, "%s: Tab does not reach %s" % (address, left[:3]))
    clipped = browser.do("return [...window.reached].filter((e) => e.closest('thead') && e.closest('thead').getBoundingClientRect().width < 2).length;")
    expect(clipped == 0, "%s: at %d px Tab goes to %d links in a head that nobody sees" % (address, width, clipped))
    turned = browser.do("const at = [...window.reached].filter((e) => e.closest('.board tbody')); return at.filter((e, i) => i > 0 && "
                        "at[i - 1].closest('tr') === e.closest('tr') && at[i - 1].getBoundingClientRect().bottom > e.getBoundingClientRect().bottom + 4 && "
                        "at[i - 1].getBoundingClientRect().left >= e.getBoundingClientRect().left).length;")
    expect(turned == 0, "%s: at %d px Tab goes upwards within %d rows" % (address, width, turned))
    unseen = browser.do("return window.unseen;")
    expect(not unseen, "%s: the focus cannot be seen on %s" % (address, unseen[:3]))


def wait_for(browser, script, sentence):
    if not browser.comes_true(script):
        wrong.append(sentence)


def printed(browser, addresses):
    browser.window(718, False)  # A4 at 96 dots per inch, less a centimetre at each side
    # The reader's screen may be dark: paper is white all the same.
    browser.devtools("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    for address in addresses:
        browser.go(address)
        for caption in browser.do(UNPRINTED):
            wrong.append("%s prints without the table \"%s\"" % (address, caption))
        for fault in browser.do(LOOK):
            if fault.startswith("contrast"):
                wrong.append("%s on paper: %s" % (address, fault))
        for heading in browser.do(ALONE):
            wrong.append("%s prints a heading with nothing below it: %s" % (address, heading))
        wide = browser.do("return document.documentElement.scrollWidth - innerWidth")
        expect(wide <= 0, "%s is %s px too wide for paper" % (address, wide))
    browser.devtools("Emulation.setEmulatedMedia", media="")


def phone(browser, address, rows):
    """A board on a phone: so many rows in less than four screens, and the filter as a sheet that can be closed."""
    browser.devtools("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=False)
    browser.go(address)
    there = browser.do("return document.querySelectorAll('.board tbody tr').length")
    end = browser.do("return document.querySelector('.board').getBoundingClientRect().bottom + scrollY")
    expect(there == rows, "%s: %s rows" % (address, there))
    expect(end < 4 * 844, "%s: %d rows end after %.1f screens of a phone" % (address, rows, end / 844))
    browser.do("document.querySelector('details.filter').open = true; return 0;")
    sheet = browser.do("const r = document.querySelector('details.filter').getBoundingClientRect(); return [r.top, r.bottom];")
    expect(0 < sheet[0] and abs(sheet[1] - 844) < 2, "%s: the filter is no sheet: %s" % (address, sheet))


def board(browser, base, script):
    """Sorting, paging and filtering by keyboard, with and without script."""
    browser.window(1440, False)
    browser.go(base + ALL)
    expect(browser.do("return document.querySelectorAll('.board tbody tr').length") == 50, "50 rows on a page")
    expect(browser.do("return document.querySelector('th[aria-sort]').className") == "value", "sorted by value at first")
    if script:
        browser.do("window.kept = true; return 0;")
    browser.do("document.querySelector('th.author a, th.who a').focus(); return 0;")
    browser.enter("location.search === '?rank=classic&trust=imported&sort=author'", "Enter on a column sorts by it")
    wait_for(browser, "return document.querySelector('th.who').getAttribute('aria-sort') === 'ascending'", "aria-sort says so")
    if script:
        expect(browser.do("return window.kept === true && document.activeElement.closest('th').className === 'who'"), "the page stays, and so does the focus")
        browser.call("POST", "/back", {})
        wait_for(browser, "return document.querySelector('th.value').getAttribute('aria-sort') === 'ascending'", "back is back")
    browser.go(base + ALL)
    browser.do("document.querySelector('a[rel=next]').focus(); return 0;")
    browser.enter("location.search.includes('&cursor=') && "
                  "document.querySelector('.board .place div').textContent === '51'", "the next page begins with place 51")
    browser.go(base + ALL)
    browser.do("document.querySelector('details.filter').open = true; document.querySelector('#f-framework').selectedIndex = 1; "
               "document.querySelector('details.filter button').focus(); return 0;")
    browser.enter("location.search.includes('framework=Loops') && "
                  "document.querySelectorAll('.chips a').length === 1", "the filter is in the address and named above the table")
    total = browser.do("return Number(document.querySelector('.board caption b').textContent)")
    expect(0 < total < 300, "the filter filters: %s entries" % total)
    # What was chosen before stays in the form, in the links and in the tabs, however the board came to be shown.
    browser.do("document.querySelector('th.who a').focus(); return 0;")
    browser.enter("location.search.includes('sort=author')", "sorting keeps the filter")
    left = browser.do("return [...document.querySelectorAll('.tabs a, main > .links a')].map((a) => a.getAttribute('href'))"
                      ".filter((h) => !h.endsWith('.atom') && !(h.includes('framework=Loops') && h.includes('sort=author')));")
    expect(not left, "these links forget what the board shows: %s" % left)
    browser.do("document.querySelector('details.filter').open = true; document.querySelector('#f-trust').selectedIndex = 1; "
               "document.querySelector('details.filter button').focus(); return 0;")
    browser.enter("['trust=', 'framework=Loops', 'sort=author'].every((w) => location.search.includes(w))",
                  "a sort by click is forgotten by the form")


def on_every_medium(browser, full, run, group, compare, plain):
    printed(browser, [full + path for path in ("/", "/boards/cifar10?trust=imported", ALL, "/boards/cifar10/training-time/history?trust=imported", "/boards/demo/training-time?trust=imported", run, group, compare, *plain)])
    phone(browser, full + ALL + "&limit=38", 38)
    for path in ("/", ALL + "&limit=20", run, compare, "/submit"):
        by_keyboard(browser, full + path)
    for path in (ALL + "&limit=20", "/boards/demo/training-time?trust=imported"):
        by_keyboard(browser, full + path, 360)


def main():
    full, empty = sys.argv[1:3]
    brief = sys.argv[3:] == ["brief"]
    log = json.load(urllib.request.urlopen(full + "/api/v1/statements"))["statements"]
    of_type = lambda *types: ["/runs/%d" % one["sequence"] for one in log if one["type"] in types]
    runs, others = of_type("run"), of_type("ticket", "bench")
    machine = re.search(r"/machines/[a-z0-9-]+", urllib.request.urlopen(full + others[-1]).read().decode() +
                        urllib.request.urlopen(full + "/machines").read().decode()).group()
    group = re.search(r"/groups/[0-9a-f]+", urllib.request.urlopen(full + runs[0]).read().decode()).group()
    board_page = urllib.request.urlopen(full + "/boards/cifar10/training-time?sort=model&trust=imported").read().decode()
    archive = re.search(r"/archive/CIFAR10/train/[^\"]+", board_page).group()
    compare = "/compare?" + "&".join("run=" + run.rsplit("/", 1)[1] for run in runs[:4])
    paths = ["/", "/boards/cifar10", "/boards/cifar10?trust=imported", "/boards/demo?trust=imported", "/boards/cifar10/training-time", ALL,
             ALL + "&sort=model&order=desc&framework=~oo", ALL + "&sort=model&order=desc", ALL + "&sort=author&order=desc", ALL + "&sort=energy&energy_max=150000", "/boards/cifar10/training-cost?trust=imported",
             "/boards/demo/training-time?trust=imported", "/boards/demo/training-time?limit=1&trust=imported", "/boards/cifar10/training-time/history?trust=imported",
             "/boards/cifar10/pareto?trust=imported", runs[-1], group, archive, compare, "/people/ada", "/people", "/search?q=net", "/prices", "/api.html", "/log", "/rules", "/submit",
             "/trust"]
    plain = ["/machines", machine, "/competitions", "/competitions/winter", *others]  # nothing of them depends on the script
    pages = [full + path for path in paths + plain] + [empty + path for path in ("/", "/boards/cifar10", "/boards/cifar10/training-time?rank=group", "/log")]

    browser = Browser(script=True)
    try:
        rich = {}
        if not brief:
            rich = looks(browser, pages)
            on_every_medium(browser, full, runs[-1], group, compare, plain)
        board(browser, full, True)
        browser.go(full + runs[-1])
        command = browser.do("return document.querySelector('#verify-ssh').textContent")
        expect("SERVER=" + full in command, "script puts this site's address into the commands")
        expect(browser.do("return document.querySelectorAll('button.copy').length") == 4, "a copy button for each command")
        browser.devtools("Emulation.setEmulatedMedia", media="print")
        browser.go(full + ALL)
        expect(browser.do("return getComputedStyle(document.querySelector('.filter')).display") == "none", "no form on paper")
        for message in browser.console():
            wrong.append("the console says: %s" % message)
    finally:
        browser.close()
    browser = Browser(script=False)
    try:
        browser.go(full + runs[-1])
        expect(browser.do("return document.querySelectorAll('button.copy').length") == 0, "script is off in the second browser")
        for path in paths if rich else ():
            browser.window(1440, False)
            browser.go(full + path)
            length = browser.do("return document.querySelector('main').innerText.length")
            expect(length >= 0.8 * rich[full + path], "%s says less without script: %d instead of %d" % (path, length, rich[full + path]))
        board(browser, full, False)
        for message in browser.console():
            wrong.append("without script the console says: %s" % message)
    finally:
        browser.close()
    for sentence in wrong[:40]:
        print(sentence)
    print("%d pages looked at, %d things wrong" % (len(rich), len(wrong)))
    return 1 if wrong else 0


sys.exit(main())
