#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wgan-cifar10 on drawn shapes: trained, drawn, written and scored as a file with the same distance, which is not called FID.
# What FID needs: the published network, 50,000 images and as many pictures, one sentence each.
set -eu
. "$ROOT/test/status.sh"

train="train wgan-cifar10 --data synthetic --threads 1 --no-stop --set epochs=0.1"
"$DAWN" $train --target 1000000 --set critic.pixels=spread >log.txt
reads log.txt SYNTHETIC
reads log.txt fd-random128
lacks log.txt '[^a-z]FID|fid '
[ "$(ls run-1.pictures/*.png | wc -l)" -ge 1 ]
"$DAWN" infer wgan-cifar10 --threads 1 --precision f32 -o grid.png --predictions made.bin --json >infer.json
[ "$(head -c 4 grid.png | tail -c 3)" = PNG ]
[ "$(wc -c <made.bin)" = $((10000 * 3073)) ]
"$DAWN" eval wgan-cifar10 synthetic made.bin --json >eval.json
python3 - <<'PY'
import json
infer, file = json.load(open("infer.json")), json.load(open("eval.json"))
assert file["metric"] == "FD-random128" and file["pictures"] == infer["items"] == 10000, file
assert abs(infer["scores"]["fd-random128"] / 1e6 - file["distance"]) < 1e-3 * file["distance"] + 1e-6, (infer, file)
assert infer["scores"]["copies"] / 1e6 == file["copies"], (infer, file)
PY
"$DAWN" eval baselines wgan-cifar10 --data synthetic >baselines.txt
reads baselines.txt 'fd-random128: real images: the first 2000 of the test'

says 2 '100 images are too few for a score, without which no latency is recorded' "$DAWN" infer wgan-cifar10 --threads 1 --items 100 \
    --latency --warmup 2

# ---- what FID needs: files as large as the published ones, without their images
mkdir -p cifar/cifar-10-batches-bin
for f in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
    truncate -s 30730000 cifar/cifar-10-batches-bin/$f.bin
done
head -c $((20 * 3073)) made.bin >few.bin
pth=cifar/cifar-10-batches-bin/pt_inception-2015-12-05-6726825d.pth
says 1 'few.bin has 20 pictures: FID is measured with 50000' "$DAWN" eval wgan-cifar10 ./cifar few.bin
says 1 'few.bin has 20 samples of 128 features' "$DAWN" eval wgan-cifar10 synthetic few.bin
head -c 1000 few.bin >cut.bin
says 1 'cut.bin has 1000 bytes, no multiple of the 3073' "$DAWN" eval wgan-cifar10 synthetic cut.bin
real="train wgan-cifar10 --data ./cifar --threads 1 --set model.name=wgan --set model.width=4 --set epochs=0.01 --db lacking.db"
says 1 'pt_inception-2015-12-05-6726825d.pth is missing: the network in whose features FID is measured' "$DAWN" $real
cp "$ROOT/test/fuzz/seeds/pth/one" $pth
says 1 'the network that scores has 6726825d0af5f729' "$DAWN" $real
lacks out 'epoch'
