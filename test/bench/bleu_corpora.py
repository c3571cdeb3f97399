# SPDX-License-Identifier: Apache-2.0
# Made-up corpora scored by sacrebleu 2.6 and by "dawn eval bleu", under each set of rules, with and without case. sacrebleu has no
# Tensor2Tensor: its words are cut here by the published regular expressions, and sacrebleu scores them as they are.
#
#   bleu_corpora.py DAWN [CORPORA]    (needs sacrebleu; writes into the current folder)
import json
import random
import re
import subprocess
import sys
import unicodedata

from sacrebleu.metrics import BLEU

PARTS = """der Der DER hund Hund läuft im gras ein ß ẞ İ ı ΟΔΟΣ οδος ς 3.5 1,000 3-4 a-b a,,b ., , . - — … % $5 5€ € £ ½ ² Ⅷ १२ ٣
    &amp; &quot; &lt; &amp;lt; &apos; <skipped> @-@ »ja« „nein“ “x” don't it's (a) [b] {c} x_y | ~ ^ `q` 中文 。 日本 é e\u0301 😀 \ufeff \u200b
    \ufffd 2010. 2010, #1 a/b c\\d !? ;: * + = ·""".split()
BLANKS = [" "] * 12 + ["  ", "\t", "\u00a0", "\u2028", "\u2029", "\u0085", "\x0b", "\x1c", "\u3000", "\r", ""]
RULES = ["none", "13a", "intl", "t2t"]


def line(draw):
    words = draw.choices(PARTS, k=draw.choice([0, 1, 2, 3, 4, 8, 20]))
    return "".join(word + draw.choice(BLANKS) for word in words)


def changed(draw, text):  # a translation of it, from perfect to unrelated
    how, parts = draw.random(), re.split("( )", text)
    if how < 0.1: return line(draw)
    if how < 0.2: return ""
    return "".join(draw.choice([part, part, part.upper(), ""]) if draw.random() < how / 2 else part for part in parts)


CHARS = [chr(c) for c in range(sys.maxunicode) if not 0xD800 <= c < 0xE000]
marks, symbols = ("".join(re.escape(c) for c in CHARS if unicodedata.category(c)[0] == kind) for kind in "PS")
T2T = [(re.compile(rf"([^\d])([{marks}])"), r"\1 \2 "), (re.compile(rf"([{marks}])([^\d])"), r" \1 \2"),
       (re.compile(f"([{symbols}])"), r" \1 ")]


def t2t(text):
    for pattern, by in T2T: text = pattern.sub(by, text)
    return " ".join(text.split())


def main():
    dawn, corpora = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500
    worst = 0
    for number in range(corpora):
        draw = random.Random(number)
        references = [line(draw) for _ in range(draw.choice([1, 2, 5, 30]))]
        texts = references, [changed(draw, text) for text in references]
        for name, lines in zip(("references", "translations"), texts):
            with open(name, "w", encoding="utf-8", newline="") as f: f.write("".join(text + "\n" for text in lines))
        for rules in RULES:
            for lower in (False, True):
                shown = [[t2t(x.lower() if lower else x) for x in lines] for lines in texts] if rules == "t2t" else texts
                scored = BLEU(tokenize="none" if rules == "t2t" else rules, lowercase=lower, force=True)
                expected = scored.corpus_score(shown[1], [shown[0]])
                command = [dawn, "eval", "bleu", "references", "translations", "--tokenize", rules, "--json"] + ["-l"] * lower
                got = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                same = got["matched"] == expected.counts and got["found"] == expected.totals
                apart = abs(got["bleu"] - expected.score)
                worst = max(worst, apart)
                if not same or apart > 1e-9: print(f"corpus {number}, {rules}, lowercase {lower}: {got}, not {expected.score!r}")
    print(f"{corpora} corpora, {2 * len(RULES)} scores each: at most {worst:.1e} apart")


main()
