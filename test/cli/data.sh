# SPDX-License-Identifier: Apache-2.0
# `dawn data`: help, list, verify, show, import, and wrong use of each.
set -eu

. "$ROOT/test/status.sh"

# Help, and wrong use.
for sub in "" fetch import list verify show; do
    expect 0 "^Usage: dawn data $sub" "$DAWN" data $sub -h
    awk 'length > 80 { exit 1 }' out
    [ ! -s err ]
done
[ "$(status "$DAWN" data)" = 2 ]
says 2 'there is no data command "lst"; did you mean "list"' "$DAWN" data lst
says 2 'data verify needs one data set, such as cifar10' "$DAWN" data verify
says 2 "^dawn data: data import needs " "$DAWN" data import nodir
says 2 '^dawn data: data list does not take "now"$' "$DAWN" data list now
says 2 'did you mean "cifar10"' "$DAWN" data verify cifar
says 2 'nothing to fetch' "$DAWN" data fetch synthetic
says 2 'imagenet is not downloaded: .*"dawn data pack imagenet SRC DST"' "$DAWN" data fetch imagenet
says 2 'sheet.gif must end in .png' "$DAWN" data show synthetic --to sheet.gif
says 2 'are printed, not drawn' "$DAWN" data show stories 1 --to story.png
says 2 'pictures has pictures of many sizes' "$DAWN" data show pictures
says 1 'dawn data fetch cifar10' "$DAWN" data verify cifar10
grep -q "$HOME/.local/share/dawn" err
[ "$(wc -l <err)" = 1 ]

# Synthetic data needs no files.
expect 0 '^synthetic  *10,000 + 2,000 images' "$DAWN" data list
reads out 'cifar10 there is no CIFAR-10 .*dawn data fetch cifar10'
[ "$(status "$DAWN" data verify synthetic)" = 0 ]
awk 'length > 80 { exit 1 }' out
grep -q '^synthetic shapes: synthetic$' out
expect 0 'disc, ring, square' "$DAWN" data show synthetic --to sheet.png
[ "$(head -c 4 sheet.png | tail -c 3)" = PNG ]

# An import of the sheet, the only picture here.
for class in airplane automobile bird cat deer dog frog horse ship truck; do
    mkdir -p pictures/train/$class pictures/test/$class
    cp sheet.png pictures/train/$class/1.png
    cp sheet.png pictures/test/$class/1.png
done
expect 0 '^CIFAR-10 is in mine/cifar-10-batches-bin: 10 images for training, 10 for testing' "$DAWN" data import cifar10 pictures --to mine
grep -q '^20 pictures were resized' out
says 1 'differ from CIFAR-10 as published' "$DAWN" data verify cifar10 --data mine
[ "$(DAWN_DATA=mine status "$DAWN" data list)" = 0 ]
reads out '(^| )cifar10 10 \+ 10 images .* mine/cifar-10-batches-bin'
awk 'length > 80 { exit 1 }' out
[ "$(status "$DAWN" data show cifar10 --data mine --test --to mine.png)" = 0 ]
says 2 'overwrites nothing' "$DAWN" data import cifar10 pictures --to mine
says 2 'has imported images' "$DAWN" data fetch cifar10 --to mine

# A label out of range, and a truncated batch.
printf '\012' | dd of=mine/cifar-10-batches-bin/data_batch_2.bin bs=1 seek=3073 conv=notrunc 2>dd
says 1 'data_batch_2.bin: .* byte 3073 ' "$DAWN" data verify cifar10 --data mine
truncate -s 5000 mine/cifar-10-batches-bin/test_batch.bin
says 1 'test_batch.bin is short: it ends at byte 5000' "$DAWN" data verify cifar10 --data mine
rm -r pictures/test/truck
says 1 'pictures/test/truck is missing' "$DAWN" data import cifar10 pictures --to other
[ ! -e other ]
