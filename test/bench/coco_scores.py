#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the 12 numbers of "dawn eval coco" with pycocotools on random sets, for boxes and masks. Needs pycocotools.

    coco_scores.py DAWN [SETS [SEED]]

The sets have crowds, equal scores, equal boxes, areas on the borders of the ranges, boxes without a size, images and categories
without a truth, more than 100 detections of an image, polygons that reach out of it, and masks in all three forms.
"""
import contextlib
import io
import json
import random
import subprocess
import sys
import tempfile

import numpy as np
from pycocotools import mask as masks
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

NAMES = ["AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR100", "ARs", "ARm", "ARl"]
MOST = 1e-12


def number(rng, low, high):
    value = rng.uniform(low, high)
    return rng.choice([float(round(value)), round(value * 2) / 2, round(value, 1), value])


def box(rng, height, width):
    w, h = (rng.choice([0, 32, 96, number(rng, 0, side), number(rng, 1, max(side / 4, 1))]) for side in (width, height))
    return [number(rng, -5, width), number(rng, -5, height), w, h]


def jitter(rng, of):
    if rng.random() < 0.3:
        return list(of)
    step = rng.choice([1, 2, 0.1 * max(of[2], of[3], 1)])
    x, y, w, h = (value + number(rng, -step, step) for value in of)
    return [x, y, max(w, 0), max(h, 0)]


def pixels(rng, height, width):
    mask = np.zeros((height, width), np.uint8, order="F")
    for _ in range(rng.randint(0, 3)):
        y, x = rng.randrange(height), rng.randrange(width)
        mask[y : y + rng.randint(1, height), x : x + rng.randint(1, width)] = 1
    if rng.random() < 0.3:
        mask[np.random.RandomState(rng.randrange(1 << 30)).rand(height, width) < 0.2] ^= 1
    return mask


def changed(rng, mask):
    other = np.roll(mask, (rng.randint(-2, 2), rng.randint(-2, 2)), (0, 1))
    return np.asfortranarray(other if rng.random() < 0.8 else other & pixels(rng, *mask.shape))


def compressed(mask):
    rle = masks.encode(mask)
    return {"size": [int(side) for side in rle["size"]], "counts": rle["counts"].decode()}


def listed(mask):
    flat, counts, value = mask.flatten(order="F"), [], 0
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flat]))).tolist() + [flat.size]
    for edge in edges:
        counts.append(int(edge) - value)
        value = int(edge)
    return {"size": list(mask.shape), "counts": counts}


def polygons(rng, height, width):
    return [
        [number(rng, -0.3 * side, 1.3 * side) for _ in range(rng.randint(3, 9)) for side in (width, height)]
        for _ in range(rng.randint(1, 3))
    ]


def make_set(rng, segm, boxes):
    large = rng.random() < 0.3
    images = [
        {"id": i, "height": rng.randint(1, 300 if large else 60), "width": rng.randint(1, 300 if large else 60)}
        for i in rng.sample(range(1000), rng.randint(1, 12))
    ]
    categories = [{"id": i} for i in rng.sample(range(100), rng.randint(1, 4))]
    truth, results, shapes = [], [], []
    levels = rng.choice([3, 10, 1000])
    for _ in range(rng.choice([1, 5, 40, 150])):
        image, category = rng.choice(images), rng.choice(categories)
        size = image["height"], image["width"]
        shape = box(rng, *size), pixels(rng, *size)
        if shapes and rng.random() < 0.1:
            image, category, *shape = rng.choice(shapes)
            size = image["height"], image["width"]
        shapes.append((image, category, *shape))
        truth.append({
            "id": len(truth) + 1, "image_id": image["id"], "category_id": category["id"], "bbox": shape[0],
            "iscrowd": int(rng.random() < 0.15), "area": rng.choice([0, 1024, 9216, shape[0][2] * shape[0][3], int(shape[1].sum())]),
            "segmentation": rng.choice([compressed, listed])(shape[1]) if rng.random() < 0.6 else polygons(rng, *size),
        })
    many = rng.random() < 0.2
    for image, category, near, mask in shapes * (3 if many else 1) * (40 if many and len(shapes) < 6 else 1):
        if rng.random() < 0.2:
            image, category = rng.choice(images), rng.choice(categories)
            near, mask = box(rng, image["height"], image["width"]), pixels(rng, image["height"], image["width"])
        result = {"image_id": image["id"], "category_id": category["id"], "score": rng.randint(0, levels) / levels}
        if boxes:
            result["bbox"] = jitter(rng, near)
        if segm or not boxes:
            result["segmentation"] = compressed(changed(rng, mask))
        results.append(result)
    rng.shuffle(results)
    return {"images": images, "categories": categories, "annotations": truth}, results


def expected(truth, results, segm):
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO(truth)
        evaluation = COCOeval(coco, coco.loadRes(results), "segm" if segm else "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.stats


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    dawn, sets, seed = sys.argv[1], int((sys.argv[2:] or ["400"])[0]), int((sys.argv[3:] or ["1"])[0])
    worst, absent = 0.0, 0
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/truth.json", f"{folder}/results.json"]
        for at in range(sets):
            rng = random.Random(seed * 1000003 + at)
            segm, boxes = at % 2 == 1, at % 4 < 3 and rng.random() < 0.8
            made = make_set(rng, segm, boxes)
            for path, what in zip(files, made):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(what, file)
            command = [dawn, "eval", "coco", *files, "--json"] + ["--segm"] * segm
            ours = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for name, value in zip(NAMES, expected(*files, segm)):
                apart = abs(ours[name] - value)
                if not apart <= MOST:
                    sys.exit(f"set {at} of seed {seed}, {'masks' if segm else 'boxes'}: {name} is {ours[name]!r}, not {value!r}")
                worst, absent = max(worst, apart), absent + (value < 0)
    print(f"{sets} sets of seed {seed}: all {12 * sets} numbers agree, {absent} of them -1; largest difference {worst:.3g}")


main()
