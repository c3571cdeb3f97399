# SPDX-License-Identifier: Apache-2.0
# `dawn data`: help, list, verify, show, import, and wrong use of each.
set -eu

. "$ROOT/test/status.sh"
unset DAWN_DATA XDG_DATA_HOME
export HOME=$PWD/home

# Help, and wrong use.
for sub in "" fetch import list verify show; do
    [ "$(status "$DAWN" data $sub -h)" = 0 ]
    grep -q "^Usage: dawn data $sub" out
    awk 'length > 80 { exit 1 }' out
    [ ! -s err ]
done
[ "$(status "$DAWN" data)" = 2 ]
[ "$(status "$DAWN" data lst)" = 2 ]
grep -q 'there is no data command "lst"; did you mean "list"' err
[ "$(status "$DAWN" data verify)" = 2 ]
grep -q 'data verify needs one data set, such as cifar10' err
[ "$(status "$DAWN" data import nodir)" = 2 ]
grep -q "^dawn data: data import needs " err
[ "$(status "$DAWN" data list now)" = 2 ]
grep -qx 'dawn data: data list does not take "now"' err
[ "$(status "$DAWN" data verify cifar)" = 2 ]
grep -q 'did you mean "cifar10"' err
[ "$(status "$DAWN" data fetch synthetic)" = 2 ]
grep -q 'nothing to fetch' err
[ "$(status "$DAWN" data fetch imagenet)" = 2 ]
grep -q 'imagenet is not downloaded: .*"dawn data pack imagenet SRC DST"' err
[ "$(status "$DAWN" data show pictures)" = 2 ]
grep -q 'pictures has pictures of many sizes' err
[ "$(status "$DAWN" data verify cifar10)" = 1 ]
grep -q 'dawn data fetch cifar10' err
grep -q "$HOME/.local/share/dawn" err
[ "$(wc -l <err)" = 1 ]

# Synthetic data needs no files.
[ "$(status "$DAWN" data list)" = 0 ]
grep -q '^synthetic  *10,000 + 2,000 images' out
reads out 'cifar10 there is no CIFAR-10 .*dawn data fetch cifar10'
[ "$(status "$DAWN" data verify synthetic)" = 0 ]
awk 'length > 80 { exit 1 }' out
grep -q '^synthetic shapes: synthetic$' out
[ "$(status "$DAWN" data show synthetic --to sheet.png)" = 0 ]
grep -q 'disc, ring, square' out
[ "$(head -c 4 sheet.png | tail -c 3)" = PNG ]

# An import of the sheet, the only picture here.
for class in airplane automobile bird cat deer dog frog horse ship truck; do
    mkdir -p pictures/train/$class pictures/test/$class
    cp sheet.png pictures/train/$class/1.png
    cp sheet.png pictures/test/$class/1.png
done
[ "$(status "$DAWN" data import cifar10 pictures --to mine)" = 0 ]
grep -q '^CIFAR-10 is in mine/cifar-10-batches-bin: 10 images for training, 10 for testing' out
grep -q '^20 pictures were resized' out
[ "$(status "$DAWN" data verify cifar10 --data mine)" = 1 ]
grep -q 'differ from CIFAR-10 as published' err
[ "$(DAWN_DATA=mine status "$DAWN" data list)" = 0 ]
reads out '(^| )cifar10 10 \+ 10 images .* mine/cifar-10-batches-bin'
awk 'length > 80 { exit 1 }' out
[ "$(status "$DAWN" data show cifar10 --data mine --test --to mine.png)" = 0 ]
[ "$(status "$DAWN" data import cifar10 pictures --to mine)" = 2 ]
grep -q 'overwrites nothing' err
[ "$(status "$DAWN" data fetch cifar10 --to mine)" = 2 ]
grep -q 'has imported images' err

# A label out of range, and a truncated batch.
printf '\012' | dd of=mine/cifar-10-batches-bin/data_batch_2.bin bs=1 seek=3073 conv=notrunc 2>dd
[ "$(status "$DAWN" data verify cifar10 --data mine)" = 1 ]
grep -q 'data_batch_2.bin: .* byte 3073 ' err
truncate -s 5000 mine/cifar-10-batches-bin/test_batch.bin
[ "$(status "$DAWN" data verify cifar10 --data mine)" = 1 ]
grep -q 'test_batch.bin is short: it ends at byte 5000' err
rm -r pictures/test/truck
[ "$(status "$DAWN" data import cifar10 pictures --to other)" = 1 ]
grep -q 'pictures/test/truck is missing' err
[ ! -e other ]
