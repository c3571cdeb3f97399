# SPDX-License-Identifier: Apache-2.0
# `dawn data pack` as a person meets it: folders and archives, pictures of every kind, damage, a full disk, kill -9.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
seeds=$here/../fuzz/seeds/import
. "$here/../wait.sh"

. "$ROOT/test/status.sh"
classes="n01440764 n02102040 n02979186 n03000684 n03028079 n03394916 n03417042 n03425413 n03445777 n03888257"
for split in train val; do
    for class in $classes; do
        mkdir -p src/$split/$class
        for i in 1 2 3; do cp "$seeds/colour.jpg" src/$split/$class/$i.JPEG; done
    done
done
cp "$seeds/grey.jpg" src/train/n01440764/1.JPEG
cp "$seeds/cmyk.jpg" src/train/n01440764/2.JPEG
cp "$seeds/rgb.png" src/train/n01440764/3.JPEG # a PNG that is called JPEG, as there is one in ImageNet
head -c 625 "$seeds/colour.jpg" >src/val/n01440764/1.JPEG
head -c 30 "$seeds/colour.jpg" >src/val/n01440764/2.JPEG
echo notes >src/val/n01440764/notes.txt

# Wrong use.
says 2 'data pack needs a data set, its source and a file' "$DAWN" data pack imagenette src
says 2 'imagenet and imagenette can be packed, not "cifar10"' "$DAWN" data pack cifar10 src x
says 2 'short-side must be "original" or a number' "$DAWN" data pack imagenette src x --short-side big
[ "$(status "$DAWN" data pack imagenette src x --quality 0)" = 2 ]
says 1 'there is no nowhere: give ILSVRC2012_img_train.tar and' "$DAWN" data pack imagenette nowhere x
says 1 'cannot write nowhere/x' "$DAWN" data pack imagenette src nowhere/x
says 1 'src/train has no picture of 990 ' "$DAWN" data pack imagenet src x
: >some.dawnpack
says 2 'a folder or a pack follows --data: "dawn data verify NAME --data some.dawnpack"' "$DAWN" data verify some.dawnpack

# What is said: conversions, damage by name, files that are no pictures, no official archive.
expect 0 '^imagenette.dawnpack: .*, 30 pictures for training, 29 for validation$' "$DAWN" data pack imagenette src imagenette.dawnpack
grep -q '^  3 of them because they were gray, CMYK, YCCK or PNG$' out
grep -q '^  1 are damaged' out
grep -q '^  1 cannot be decoded and are left out' out
grep -q '^  1 other files are not pictures' out
grep -q '^custom: the source is folders' out
grep -q 'val/n01440764/1.JPEG: ' err
grep -q 'val/n01440764/2.JPEG: .*(left out)' err
says 2 'exists already, and a pack overwrites nothing' "$DAWN" data pack imagenette src imagenette.dawnpack
expect 1 '2 pictures are damaged, ' "$DAWN" data pack imagenette src x --damaged 1

# It is found in a folder and by its own name, verified and listed; damage to it gives a sentence.
[ "$(status "$DAWN" data verify imagenette --data .)" = 1 ]
grep -q '^1 samples of its source are left out' out
grep -q '^re-encoded pictures: JPEG quality 90$' out
grep -q 'differ from Imagenette as published' err
[ "$(DAWN_DATA=$PWD status "$DAWN" data list)" = 0 ]
grep -q '^imagenette  *30 + 29 pictures of many sizes, 10 classes,' out
grep -q '/imagenette.dawnpack$' out
cp imagenette.dawnpack broken.dawnpack
printf '\377' | dd of=broken.dawnpack bs=1 seek=9000 conv=notrunc 2>dd
says 1 'are not those that were packed \(checksum\)' "$DAWN" data verify imagenette --data broken.dawnpack
head -c 9000 imagenette.dawnpack >broken.dawnpack
says 1 'and has 9000: it is incomplete' "$DAWN" data verify imagenette --data broken.dawnpack

# A person's own pictures: any folders, of any names; train and val, or a share of each class.
mkdir -p 'own/Überraschung mit "Leerzeichen"' own/b.c own/-d 'own/with train in it'
for folder in own/*/; do for i in $(seq 10 21); do cp "$seeds/colour.jpg" "$folder/$i.jpg"; done; done
echo notes >own/notes.txt
[ "$(status "$DAWN" data pack imagenette own x)" = 1 ]
[ "$(status "$DAWN" data pack imagenette own own.dawnpack --own --validation 0.25)" = 0 ]
grep -q ', 36 pictures for training, 12 for validation$' out
grep -q '^  1 other files are not pictures' out
grep -q '^custom: ' out
[ "$(status "$DAWN" data verify imagenette --data own.dawnpack)" = 1 ]
grep -q 'differ from Imagenette as published' err
mkdir -p half/train
cp -r own/b.c own/-d half/train
[ "$(status "$DAWN" data pack imagenet half half.dawnpack --own)" = 0 ]
grep -q ', 22 pictures for training, 2 for validation$' out
mkdir -p half/val/b.c half/val/e
cp own/-d/1?.jpg half/val/b.c
[ "$(status "$DAWN" data pack imagenette half x --own)" = 1 ]
grep -q 'half/val/e: there is no class of your own pictures "e"; there are -d and b.c' err
rmdir half/val/e
[ "$(status "$DAWN" data pack imagenette half x --own)" = 1 ]
grep -q 'half/val has no picture of 1 of the 2 classes' err
cp -r own/-d half/val
[ "$(status "$DAWN" data pack imagenette half both.dawnpack --own)" = 0 ]
grep -q ', 24 pictures for training, 22 for validation$' out
narrow="--recipe pictures --set widths=4,4,8,8 --set resolution=32 --set evaluation.side=32 --threads 1 --batch 6 --set epochs=1
    --set warmup_epochs=.2 --target 0.001 --no-stop --save own.safetensors --db own.db"
[ "$(status "$DAWN" train imagenette --data own.dawnpack $narrow)" = 0 ]
"$DAWN" results export --format json --to own.json --db own.db
python3 -c 'import json
r, = json.load(open("own.json"))["runs"]
assert r["metrics"][0]["items"] == 12 and r["official"] == 0 and r["synthetic"] == 0, r
head = open("own.safetensors", "rb").read(20000)
assert b"\"fc.weight\":{\"dtype\":\"F32\",\"shape\":[4,8]" in head.replace(b" ", b""), head[:2000]'
[ "$(status "$DAWN" data pack imagenette own/b.c x --own)" = 1 ]
grep -q 'own/b.c has no folder' err
[ "$(status "$DAWN" data pack imagenette src.nowhere x --own)" = 1 ]
grep -q 'is no folder' err

# A gzipped archive gives the same pack as its folder.
tar czf src.tgz src
mkdir into
[ "$(status "$DAWN" data pack imagenette src.tgz into)" = 0 ]
mv into/imagenette.dawnpack again.dawnpack
grep -q '^custom: src.tgz has MD5 [0-9a-f]*, which no ' out
cmp imagenette.dawnpack again.dawnpack
rm again.dawnpack

# Whole rounds are kept, which are of 128 pictures on one thread: here are four of them.
export OMP_NUM_THREADS=1
tee $(seq -f 'src/train/n01440764/%g.JPEG' 4 460) <"$seeds/colour.jpg" >/dev/null
[ "$(status "$DAWN" data pack imagenette src whole.dawnpack --short-side 32)" = 0 ]

# A limit on the size of files stands for a full disk. What is there is kept, and the next one goes on.
room=$(($(stat -c %s whole.dawnpack) * 3 / 4 / 1024))
[ "$( (ulimit -f $room; status "$DAWN" data pack imagenette src again.dawnpack --short-side 32) )" = 1 ]
grep -q 'cannot write again.dawnpack.part after [0-9]* pictures ' err
[ ! -e again.dawnpack ]
[ "$(status "$DAWN" data pack imagenette src again.dawnpack --short-side 32)" = 0 ]
grep -Eq '^  (128|256|384) were packed already when this command began$' out
cmp whole.dawnpack again.dawnpack

# Killed behind the first round, and in the middle of another.
packed() { od -An -tu8 -j76 -N8 killed.dawnpack.part 2>/dev/null | tr -d ' '; }
for try in $(seq 30); do
    rm -f killed.dawnpack*
    "$DAWN" data pack imagenette src killed.dawnpack --short-side 32 >out 2>err &
    pid=$!
    until ended $pid || [ "$(packed)0" -gt 0 ]; do continue; done
    kill -KILL $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    [ ! -e killed.dawnpack ] || continue # it was done before it was killed
    break
done
[ -e killed.dawnpack.part ]
[ "$(status "$DAWN" data pack imagenette src killed.dawnpack --short-side 32)" = 0 ]
grep -Eq '^  [1-9][0-9]* were packed already when this command began$' out
cmp whole.dawnpack killed.dawnpack

# Imagenette is fetched into a pack: an archive that is not the published one is refused before it is packed.
says 1 'the archive of Imagenette has 99003388' "$DAWN" data fetch imagenette --from src.tgz --to d
[ ! -e d/imagenette.dawnpack ]
