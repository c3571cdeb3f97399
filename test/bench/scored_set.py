# SPDX-License-Identifier: Apache-2.0
# The scored set of wiki-mlm, derived a second time: sentences, pieces, pairs of texts and masks by the rules of docs/language.md, with
# Philox in Python. Compares it with what "dawn infer wiki-mlm --predictions FILE" wrote, and prints its SHA-256. Needs `tokenizers`
# for BERT's normaliser and encoder. torch_ten_steps.py and torch_wiki_modern.py make samples with it.
#
#   scored_set.py FOLDER-OF-WIKI-SAMPLE PREDICTIONS
import collections
import hashlib
import json
import re
import sys

from tokenizers import BertWordPieceTokenizer

SAMPLES, WALKS, SEED, PIECES, PURPOSE = 1000, 10, 12345, 8192, 12
FORM = 128, 20  # pieces of a sample, masked ones at most
PAIRS, ORDERS, MASKING, KINDS = 0, 1, 2, 3
TRAIN, TEST = 0, 1
WALK_SHIFT = 22


def philox(key, c):
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = ((b >> 32) ^ c[1] ^ k0, b & 0xFFFFFFFF, (a >> 32) ^ c[3] ^ k1, a & 0xFFFFFFFF)
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


class Draws:
    def __init__(self, of, kind, number, block=0):
        self.seed, split, self.epoch = of
        self.site, self.number = PURPOSE | (split * KINDS + kind) << 8, number
        self.block, self.four = block, []

    def below(self, n):
        if not self.four:
            self.four = list(philox(self.seed, (self.number, self.epoch, self.site, self.block)))
            self.block += 1
        return self.four.pop(0) * n >> 32

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            k = self.below(i + 1)
            items[i], items[k] = items[k], items[i]


def articles(path):
    found, title = [], False
    for line in open(path, encoding="utf-8", newline="").read().split("\n"):
        line = line.strip(" \t\r\v\f")
        if title:
            title = False
        elif line.startswith("<doc "):
            found.append([])
            title = True
        elif line and not line.startswith("</doc>"):
            found[-1] += re.split(r"(?<=[.!?]) +(?=[A-Z])", line)
    return [a for a in found if a]


def learn(words):
    spelled = [[c if i == 0 else "##" + c for i, c in enumerate(w)] for w in words]
    times, one, pairs, where = list(words.values()), collections.Counter(), collections.Counter(), collections.defaultdict(set)

    def count(i, sign):
        for p in zip(spelled[i], spelled[i][1:]):
            pairs[p] += sign * times[i]
            where[p].add(i)

    for i, word in enumerate(spelled):
        for c in word:
            one[c] += times[i]
        count(i, 1)
    pieces = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + sorted(c for c in one if one[c] > 1))
    while len(pieces) < PIECES and max(pairs.values(), default=0) > 1:
        most = max(pairs.values())
        best = max(p for p, n in pairs.items() if n == most)
        union = best[0] + best[1][2:]
        pieces[union] = None
        for i in where.pop(best):
            count(i, -1)
            word, k = [], 0
            while k < len(spelled[i]):
                joined = tuple(spelled[i][k:k + 2]) == best
                word.append(union if joined else spelled[i][k])
                k += 1 + joined
            spelled[i] = word
            count(i, 1)
        pairs.pop(best)
    return list(pieces)


def pieces_of(trained):
    """The pieces that are learned of these articles, and their encoder."""
    cut = BertWordPieceTokenizer(lowercase=True)
    pieces = learn(collections.Counter(w for a in trained for s in a for w, _ in
                                       cut.pre_tokenizer.pre_tokenize_str(cut.normalizer.normalize_str(s))))
    return pieces, BertWordPieceTokenizer(vocab={p: i for i, p in enumerate(pieces)}, lowercase=True)


def encode(encoder, texts):
    texts = [[e.ids for e in encoder.encode_batch(a, add_special_tokens=False) if e.ids] for a in texts]
    return [t for t in texts if t]


def walk(texts, of, length, number=0):
    order, room, made = list(range(len(texts))), length - 3, []
    Draws(of, ORDERS, number).shuffle(order)
    for article in order:
        draws, text = Draws(of, PAIRS, article, number << WALK_SHIFT), texts[article]
        goal = 2 + draws.below(room - 1) if draws.below(10) == 0 else room
        first = at = 0
        while at < len(text):
            at += 1
            if at < len(text) and sum(map(len, text[first:at])) < goal:
                continue
            middle = first + 1 + (draws.below(at - first - 1) if at - first > 2 else 0)
            random = at - first == 1 or draws.below(2) == 0
            a = sum(text[first:middle], [])
            if random:
                other = draws.below(len(texts) - 1)
                other += other >= article
                begin = draws.below(len(texts[other]))
                end = begin + 1
                while end < len(texts[other]) and sum(map(len, texts[other][begin:end])) < goal - len(a):
                    end += 1
                b = sum(texts[other][begin:end], [])
            else:
                b = sum(text[middle:at], [])
            while len(a) + len(b) > room:
                longer = a if len(a) > len(b) else b
                del longer[0 if draws.below(2) else -1]
            made.append((a, b, int(random)))
            first = at = middle if random else at
    return made


def mask(of, number, sample, symbols, most, share=0.15):
    a, b, _ = sample
    draws, ids = Draws(of, MASKING, number), [2] + a + [3] + b + [3]
    places = [i for i in range(1, len(ids) - 1) if i != len(a) + 1]
    count = min(most, max(1, round(len(ids) * share)))
    for i in range(count):
        k = i + draws.below(len(places) - i)
        places[i], places[k] = places[k], places[i]
    places = sorted(places[:count])
    labels = [ids[p] for p in places]
    for p in places:
        way = draws.below(10)
        if way < 8:
            ids[p] = 4
        elif way == 8:
            ids[p] = draws.below(symbols)
    return ids, places, labels


def epoch(texts, of, samples, symbols, length, most, share):
    """As many samples of an epoch of the training: pairs of texts, and what mask() makes of each."""
    pairs, walks = [], 0
    while len(pairs) < samples: pairs, walks = pairs + walk(texts, of, length, walks), walks + 1
    pairs = pairs[:samples]
    return pairs, [mask(of, number, pair, symbols, most, share) for number, pair in enumerate(pairs)]


def scored(texts, symbols):
    """Pairs of texts, what mask() makes of each, and the digest of them."""
    pairs = [s for epoch in range(WALKS) for s in walk(texts, (SEED, TEST, epoch), FORM[0])]
    Draws((SEED, TEST, WALKS), ORDERS, 0x7FFFFFFF).shuffle(pairs)
    pairs, digest = pairs[:SAMPLES], hashlib.sha256()
    masked = [mask((SEED, TEST, 0), number, pair, symbols, FORM[1]) for number, pair in enumerate(pairs)]
    for pair, (ids, places, labels) in zip(pairs, masked):
        parts = ids, [len(pair[0]) + 2], places, labels
        digest.update((" | ".join([*(" ".join(map(str, x)) for x in parts), str(pair[2])]) + "\n").encode())
    return pairs, masked, digest.hexdigest()


def main():
    folder, predictions = sys.argv[1:]
    pieces, encoder = pieces_of([a for k in range(3) for a in articles(f"{folder}/wiki_0{k}")])
    pairs, masked, digest = scored(encode(encoder, articles(f"{folder}/wiki_03")), len(pieces))
    answers = [json.loads(line) for line in open(predictions)]
    assert len(answers) == SAMPLES, len(answers)
    hits = tries = 0
    for number, (pair, (ids, places, labels), row) in enumerate(zip(pairs, masked, answers)):
        assert [row[k] for k in ("sample", "ids", "second", "places", "labels", "next")] == \
            [number, ids, len(pair[0]) + 2, places, labels, pair[2]], number
        hits, tries = hits + sum(x == y for x, y in zip(labels, row["answers"])), tries + len(labels)
    print(f"{SAMPLES} samples, {tries} masked pieces, {digest}; masked {hits / tries:.6f}")


if __name__ == "__main__":
    main()
