# SPDX-License-Identifier: Apache-2.0
# What counting neighbours fills in of the scored set of wiki-mlm, a second time: the figures of "dawn eval baselines wiki-mlm".
# Needs `tokenizers` and numpy.
#
#   neighbours.py FOLDER-OF-WIKI-SAMPLE
import collections
import sys

import numpy as np

import scored_set as made

PAD, FIRST, SEPARATOR, MASK = 0, 2, 3, 4


def tables(texts):
    near, far = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for text in texts:
        for i in range(1, len(text)):
            near[text[i - 1]][text[i]] += 1
            if i > 1: far[text[i - 2], text[i - 1]][text[i]] += 1
    return near, far


def guess(frequency, of, ids, place, way):
    context = []
    for j in (place - way, place - 2 * way):
        if not 0 <= j < len(ids) or ids[j] in (PAD, FIRST, SEPARATOR, MASK): break
        context.append(ids[j])
    p = frequency.copy()
    for table, key in zip(of, (context[0] if context else None, (context[1], context[0]) if len(context) > 1 else None)):
        found = table.get(key)
        if found:
            times, kinds = sum(found.values()), len(found)
            p *= kinds / (times + kinds)
            p[list(found)] += np.fromiter(found.values(), float) / (times + kinds)
    return p


def main():
    folder, = sys.argv[1:]
    pieces, encoder = made.pieces_of([a for k in range(3) for a in made.articles(f"{folder}/wiki_0{k}")])
    train = [sum(t, []) for k in range(3) for t in made.encode(encoder, made.articles(f"{folder}/wiki_0{k}"))]
    texts = made.encode(encoder, made.articles(f"{folder}/wiki_03"))
    samples = [s for epoch in range(made.WALKS) for s in made.walk(texts, (made.SEED, made.TEST, epoch), made.FORM[0])]
    made.Draws((made.SEED, made.TEST, made.WALKS), made.ORDERS, 0x7FFFFFFF).shuffle(samples)
    frequency = np.full(len(pieces), 0.1)
    for text in train: np.add.at(frequency, text, 1)
    frequency /= frequency.sum()
    ahead, back = tables(train), tables([t[::-1] for t in train])
    hits = tries = loss = 0
    for number, sample in enumerate(samples[:made.SAMPLES]):
        ids, places, labels = made.mask((made.SEED, made.TEST, 0), number, sample, len(pieces), made.FORM[1])
        for place, label in zip(places, labels):
            p = guess(frequency, ahead, ids, place, 1) * guess(frequency, back, ids, place, -1) / frequency
            hits, tries, loss = hits + (p.argmax() == label), tries + 1, loss - np.log(p[label] / p.sum())
    print(f"{tries} masked pieces: {hits / tries:.4f} filled in, loss {loss / tries:.4f}")


main()
