#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SSD and EfficientDet learn eight drawn pictures by heart (SYNTHETIC), narrow ones: their AP on the same pictures is above 0.9.
# Takes a minute of one processor, and more than make check should wait for. DAWN names the program.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
dawn=$(realpath "${DAWN:-$root/dawn}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 "$root/test/cli/coco_drawn.py" 8 0
rm -r coco/val2017
ln -s train2017 coco/val2017
cp coco/annotations/instances_train2017.json coco/annotations/instances_val2017.json

recipe() { # NAME DATA MODEL LOSS EPOCHS
    cat <<JSON
{
    "name": "$1",
    "about": "a narrow detector that learns a few pictures by heart",
    "data": {$2, "flip": "never"},
    "model": {$3},
    "loss": {$4},
    "optimiser": {
        "rule": "adamw",
        "weight_decay": 0,
        "clip": 10,
        "filters": {"lr": 4e-3, "decay": 1e-4},
        "head": {"lr": 4e-3},
        "bias": {"lr": 4e-3}
    },
    "schedule": {"epochs": $5, "warmup_epochs": 5, "shape": "cosine"},
    "evaluation": {"every": $5},
    "precision": "auto"
}
JSON
}
learn() { # TASK NAME DATA MODEL LOSS EPOCHS
    recipe "${@:2}" >"$2.json"
    "$dawn" train "$1" --data . --recipe "$2.json" --threads 1 --no-stop --target 0.9 | grep '^done\|^missed\|^last'
}
learn coco-ssd few-ssd '"batch": 8, "height": 300, "width": 300' '"name": "ssd", "widths": [8, 8, 16, 16, 16]' '"beta": 1' 120
# More steps than SSD: its norms average over a hundred.
learn coco-efficientdet few-efficientdet '"batch": 4, "height": 96, "width": 128' \
    '"name": "efficientdet-d0", "widths": [8, 8, 8, 8, 12, 12, 16, 16], "pyramid": 16' '"gamma": 1.5, "box_factor": 4' 300
