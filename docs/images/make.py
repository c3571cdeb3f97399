#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the README's two pictures: docs/images/make.py FOLDER, after make of a clean checkout, on an idle machine.

FOLDER gets results.db and a board. If it has results.db already, only the board's picture is taken. The terminal is a real
capture, written as text in an SVG. The board is a screenshot by Chromium. The build makes neither.
"""
import html
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DAWN, BOARD = os.environ.get("DAWN", ROOT / "dawn"), os.environ.get("BOARD", ROOT / "dawn-scoreboard")
CELL, LINE, EDGE = 8.4, 19, 16
CODE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


def terminal(command):
    """The lines that a command leaves on a terminal of 80 columns."""
    shell = f"stty cols 80 rows 60; {DAWN} {command}"
    said = subprocess.run(["script", "-qec", shell, "/dev/null"], capture_output=True, check=False).stdout.decode()
    return ["$ dawn " + command] + read(said)


def read(said):
    """The lines as they stand at the end: a carriage return overwrites the text before it."""
    return [line.rstrip("\r").split("\r")[-1].rstrip() for line in said.rstrip().split("\n")]


def spans(line):
    """(column, text, bold) for each stretch between codes."""
    column, bold, at = 0, False, 0
    for code in list(CODE.finditer(line)) + [None]:
        text = line[at:code.start() if code else len(line)]
        if text:
            yield column, text, bold
        column += len(text)
        if code:
            at = code.end()
            bold = code.group(1) in ("1", "01") if code.group(2) == "m" else bold


def draw(lines):
    width = int(max(sum(len(t) for _, t, _ in spans(line)) for line in lines) * CELL + 2 * EDGE)
    height = len(lines) * LINE + 2 * EDGE + 24
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
           'aria-label="A training and its record in a terminal">')
    yield "<!-- SPDX-License-Identifier: Apache-2.0 -->"
    yield '<rect width="100%" height="100%" rx="8" fill="#16181d"/>'
    yield '<g fill="#3b3f48"><circle cx="20" cy="18" r="6"/><circle cx="40" cy="18" r="6"/><circle cx="60" cy="18" r="6"/></g>'
    yield ("<g font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"14\" "
           'fill="#d7dae0" xml:space="preserve">')
    for number, line in enumerate(lines):
        parts = []
        for column, text, bold in spans(line):
            look = ' font-weight="bold" fill="#fff"' if bold else ' fill="#7fd1ae"' if line.startswith("$ ") else ""
            parts.append(f'<tspan x="{EDGE + column * CELL:.1f}" textLength="{len(text) * CELL:.1f}"{look}>{html.escape(text)}</tspan>')
        if parts:
            yield f'<text y="{EDGE + 34 + number * LINE}">{"".join(parts)}</text>'
    yield "</g>\n</svg>"


def shoot_board():
    server = subprocess.Popen([BOARD, "--db", "board.db", "--listen", "127.0.0.1:0", "--origin", "demo"],
                              stdout=subprocess.PIPE, text=True)
    try:
        address = next(filter(None, (re.search(r"http://\S*\d", line) for line in server.stdout))).group()  # after a line about files
        for run in (1, 2, 3):
            subprocess.run([DAWN, "keys", "new", f"user{run}"], check=False, capture_output=True)
            subprocess.run([DAWN, "submit", "results.db", "--run", str(run), "--server", address, "--handle", f"user{run}",
                            "--key", f"user{run}", "--yes"], check=True)
        subprocess.run(["chromium", "--headless=old", "--no-sandbox", "--hide-scrollbars", "--window-size=1280,900",
                        "--user-data-dir=chromium", f"--screenshot={HERE / 'board.png'}", address + "/boards/demo/training-time"],
                       check=True, capture_output=True)
    finally:
        server.terminate()
        server.wait()


def train_and_show():
    train = terminal("train cifar10 --data synthetic")
    show = terminal("results show last")
    cut = next((i for i, line in enumerate(show) if "Machine and program" in line), len(show))
    (HERE / "terminal.svg").write_text("\n".join(draw(train + [""] + show[:cut - 1])) + "\n")
    for seed in (2, 3):
        terminal(f"train cifar10 --data synthetic --seed {seed}")


def main():
    os.chdir(sys.argv[1])
    os.environ.update(HOME=os.getcwd(), XDG_CONFIG_HOME=os.getcwd())
    for key in ("DAWN_KEY", "DAWN_SERVER", "DAWN_HANDLE", "DAWN_RESULTS", "SSH_AUTH_SOCK"):
        os.environ.pop(key, None)
    if not pathlib.Path("results.db").exists():
        train_and_show()
    shoot_board()


if __name__ == "__main__":
    main()
