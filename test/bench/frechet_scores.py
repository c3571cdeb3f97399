# SPDX-License-Identifier: Apache-2.0
# Random sets of features compared by numpy and scipy.linalg.sqrtm, and by "dawn eval frechet". Needs numpy and scipy.
#
#   frechet_scores.py DAWN [SETS]    (writes into the current folder)
#
# The sets have as many samples as features and many more, features of very different sizes, features that are nearly or exactly sums
# of others, features with one value, equal sets, f32 and f64, rows and columns first, and both versions of the form.
import json
import subprocess
import sys
import warnings

import numpy as np
from scipy import linalg

MOST = 1e-6


def theirs(a, b):
    a, b = a.astype(np.float64), b.astype(np.float64)
    c1, c2 = (np.atleast_2d(np.cov(x, rowvar=False)) for x in (a, b))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a singular matrix may have no root that is exact
        root = linalg.sqrtm(c1 @ c2)
    apart = a.mean(0) - b.mean(0)
    return apart @ apart + np.trace(c1) + np.trace(c2) - 2 * np.trace(root).real, np.trace(c1) + np.trace(c2)


def features(draw, n, d, kind):
    x = draw.standard_normal((n, d)) @ (draw.standard_normal((d, d)) / d**0.5) + draw.standard_normal(d)
    if kind == 1: x *= 10.0 ** draw.uniform(-3, 3, d)
    if kind == 2 and d > 2: x[:, 1] = x[:, 0] * 2 - x[:, 2] + 1e-7 * x[:, 1]
    if kind == 3 and d > 2: x[:, 2] = x[:, 0] + x[:, 1]
    if kind == 4: x[:, 0] = 0.5
    if kind == 5: x = np.maximum(x, 0)
    return x


def save(path, x, draw):
    with open(path, "wb") as f:
        np.lib.format.write_array(f, np.asfortranarray(x) if draw.random() < 0.3 else x, version=(1, 0) if draw.random() < 0.7 else (2, 0))


def main():
    dawn, sets, worst = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300, 0
    for number in range(sets):
        draw = np.random.default_rng(number)
        d = int(draw.choice([1, 2, 3, 8, 17, 64, 84, 130]))
        n = [max(2, d + int(draw.choice([0, 1, 5, 3 * d, 1000]))) for _ in range(2)]
        kind = number % 7
        a = features(draw, n[0], d, kind)
        b = a if kind == 6 else features(draw, n[1], d, kind)
        if draw.random() < 0.5: a, b = a.astype(np.float32), b.astype(np.float32)
        save("a.npy", a, draw), save("b.npy", b, draw)
        ours = json.loads(subprocess.check_output([dawn, "eval", "frechet", "a.npy", "b.npy", "--json"]))
        (distance, size) = theirs(a, b)
        error = abs(ours["frechet"] - distance) / max(1, size)
        worst = max(worst, error)
        if not error <= MOST: sys.exit(f"set {number} (kind {kind}, {n} x {d}): {ours}, not {distance} of {size}")
    print(f"{sets} sets: the largest difference is {worst:.1e} of the features' variance")


main()
