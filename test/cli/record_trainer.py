# SPDX-License-Identifier: Apache-2.0
"""A perceptron that learns which side of a plane a point lies on, and says so as `dawn record` reads it."""
import json
import os
import random
import sys
import time

EPOCHS, TRAIN, TEST, SIZE = 4, 400, 1000, 8


def say(kind, **members):
    print(json.dumps({"dawn": kind, **members}))


def points(rng, plane, count):
    for _ in range(count):
        x = [rng.uniform(-1, 1) for _ in range(SIZE)]
        yield x, sum(a * b for a, b in zip(plane, x)) > 0


def main():
    seed = int(os.environ["DAWN_SEED"])
    assert sys.argv[1:] == [str(seed)]
    rng = random.Random(seed)
    plane = [rng.gauss(0, 1) for _ in range(SIZE)]
    train, test = list(points(rng, plane, TRAIN)), list(points(rng, plane, TEST))
    say("about", model="perceptron", parameters=SIZE, flops_per_sample=2 * SIZE, framework="Python", precision="f64",
        batch=1, views=1, seed=seed)
    say("segment", segment="train")
    weights = [0.0] * SIZE
    for epoch in range(1, EPOCHS + 1):
        wrong = 0
        for x, side in train:
            answer = sum(a * b for a, b in zip(weights, x)) > 0
            wrong += answer != side
            if answer != side:
                weights = [w + (a if side else -a) for w, a in zip(weights, x)]
        time.sleep(0.02)  # real epochs are longer than it takes to write one down
        say("segment", segment="evaluate")
        right = sum((sum(a * b for a, b in zip(weights, x)) > 0) == side for x, side in test)
        time.sleep(0.02)
        say("epoch", epoch=epoch, samples=epoch * TRAIN, correct=10 * right, items=10 * TEST, loss=wrong / TRAIN)
        print("epoch", epoch, "for people", file=sys.stderr)
    say("about", weights="ab" * 32)


main()
