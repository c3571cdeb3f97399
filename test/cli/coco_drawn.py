
# SPDX-License-Identifier: Apache-2.0
# Draws a small folder "coco" of COCO's form (SYNTHETIC), with upright pictures, polygons and a crowd: TRAIN and VALIDATION pictures.
import json, math, os, random, struct, sys, zlib

def png(path, width, height, pixels):
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes(pixels[y * width * 3:(y + 1) * width * 3]) for y in range(height))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

def inside(x, y, polygon):
    odd = False
    for (a, b), (c, d) in zip(polygon, polygon[1:] + polygon[:1]):
        if (b > y) != (d > y) and x < (c - a) * (y - b) / (d - b) + a: odd = not odd
    return odd

os.makedirs("coco/annotations")
random.seed(5)
for split, count, first in (("train2017", int(sys.argv[1]), 100), ("val2017", int(sys.argv[2]), 500)):
    images, annotations = [], []
    os.makedirs("coco/" + split)
    for i in range(count):
        width, height = (64, 48) if i % 3 else (48, 64)
        pixels = bytearray([120 + random.randrange(16) for _ in range(width * height)] * 3)
        for k in range(2):
            half, x, y = random.uniform(9, 12), random.uniform(12, width - 12), height * (0.28 if k else 0.72)
            round_ = random.random() < 0.5
            corners = [(x + half * math.cos(t * math.pi / 8), y + half * math.sin(t * math.pi / 8)) for t in range(16)]
            if not round_: corners = [(x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half)]
            corners = [(round(a, 2), round(b, 2)) for a, b in corners]
            for py in range(height):
                for px in range(width):
                    if inside(px + .5, py + .5, corners):
                        at = (py * width + px) * 3
                        pixels[at:at + 3] = bytes((230, 40, 40) if round_ else (30, 60, 230))
            xs, ys = [c[0] for c in corners], [c[1] for c in corners]
            box = [min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)]
            annotations.append({"id": len(annotations) + 1, "image_id": first + i, "category_id": 1 if round_ else 90,
                                "bbox": [round(b, 2) for b in box], "area": round(box[2] * box[3] * (0.78 if round_ else 1), 2),
                                "iscrowd": 0, "segmentation": [[v for c in corners for v in c]]})
        if i == 1:
            annotations.append({"id": len(annotations) + 1, "image_id": first + i, "category_id": 1, "bbox": [0, 0, 4, 48],
                                "area": 192, "iscrowd": 1, "segmentation": {"size": [48, 64], "counts": [0, 192, 64 * 48 - 192]}})
        images.append({"id": first + i, "file_name": "%d.png" % i, "width": width, "height": height})
        png("coco/%s/%d.png" % (split, i), width, height, pixels)
    json.dump({"images": images, "annotations": annotations, "categories": [{"id": 1}, {"id": 90}]},
              open("coco/annotations/instances_%s.json" % split, "w"))
