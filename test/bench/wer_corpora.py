# SPDX-License-Identifier: Apache-2.0
# Made-up transcripts scored by jiwer 4.0 and by "dawn eval wer": rates and all counts, of words and of characters with and
# without spaces. Few different words make many shortest paths, and odd blanks make odd words.
#
#   wer_corpora.py DAWN [CORPORA]    (needs jiwer; writes into the current folder)
import json
import random
import subprocess
import sys

import jiwer

WORDS = "A B C D one two naïve NAÏVE don't x 猫 е́ \ufeff".split()
BLANKS = [" "] * 9 + ["  ", "\t", "\t ", "\u00a0", "\u2003\u2003", "\x0b", "\x1c", ""]


def line(draw):
    some = draw.sample(WORDS, draw.choice([2, 3, 8]))
    return "".join(draw.choice(some) + draw.choice(BLANKS) for _ in range(draw.choice([0, 1, 2, 5, 12, 40])))


def changed(draw, text):
    if draw.random() < 0.3: return line(draw)
    return "".join(draw.choice([c, c, c, c, c, "", "A ", "B"]) for c in text)


def plain(text):
    return "".join(c for c in text if not c.isspace())


def same(ours, theirs):
    return all(ours[name] == getattr(theirs, name) for name in ("hits", "substitutions", "insertions", "deletions"))


def main():
    dawn, corpora = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500
    for number in range(corpora):
        draw = random.Random(number)
        references = [line(draw) for _ in range(draw.choice([1, 1, 2, 20]))]
        hypotheses = [changed(draw, text) for text in references]
        for path, lines in ("references.txt", references), ("hypotheses.txt", hypotheses):
            open(path, "w", newline="").write("".join(text + "\n" for text in lines))
        words = jiwer.process_words(references, hypotheses)
        for spaces in False, True:
            pair = ([t if spaces else plain(t) for t in texts] for texts in (references, hypotheses))
            characters = jiwer.process_characters(*pair)
            command = [dawn, "eval", "wer", "references.txt", "hypotheses.txt", "--json"] + ["--spaces"] * spaces
            ours = json.loads(subprocess.check_output(command))
            good = same(ours["words"], words) and same(ours["characters"], characters)
            if words.hits + words.substitutions + words.deletions: good = good and ours["wer"] == words.wer
            if characters.hits + characters.substitutions + characters.deletions: good = good and ours["cer"] == characters.cer
            if not good: sys.exit(f"corpus {number}: {ours}, not {words} and {characters}")
    print(f"{corpora} corpora: all rates and counts are equal")


main()
