# SPDX-License-Identifier: Apache-2.0
# dawn bench takes every model of every task, as "dawn models" lists them: narrow, on the device null, one step of each.
set -eu

"$DAWN" models >list
awk '/^name/ { task++; next } /^[a-z]/ { print task, $1 }' list >models
for task in wiki-mlm bert-pretraining cifar10 bccd pennfudan coco-ssd coco-efficientdet coco-maskrcnn gpt-char fineweb-gpt imagenet \
    imagenette connect4 minigo-9 an4 librispeech-100 librispeech squad squad-split multi30k wmt17-transformer wmt16-gnmt \
    wgan-mnist wgan-cifar10; do echo "$task"; done >tasks
[ "$(tail -n 1 models | cut -d ' ' -f 1)" = "$(wc -l <tasks)" ] # a new task belongs into the list above
while read -r number model; do
    task=$(sed -n "${number}p" tasks) narrow='' unit=images
    case $task-$model in
    cifar10-airbench) narrow='--set widths=8,8,8' ;;
    *-retina | *-maskrcnn) narrow='--set widths=8,8,8,8,8 --set pyramid=8 --set cache=0 --set batch=2' ;;
    *-r50-fpn) narrow='--set widths=8,8,8,8 --set pyramid=8 --set cache=0 --set batch=2' ;;
    *-ssd) narrow='--set widths=8,8,8,8,8 --set cache=0 --set batch=2' ;;
    *-efficientdet-d0) narrow='--set widths=8,8,8,8,8,8,8,8 --set pyramid=8 --set cache=0 --set batch=2' ;;
    *-inception-v3) narrow='--set batch=2' ;;
    cifar10-resnet9 | imagenet-*) narrow='--set widths=8,8,8,8' ;;
    imagenette-*) narrow='--set widths=8,8,8,8 --set cache=0' ;;
    squad*-bert | squad*-encoder) narrow='--set layers=1 --set width=24 --set heads=2 --set feed_forward=24' unit=questions ;;
    squad*) narrow='--set hidden=8 --set vectors=8' unit=questions ;;
    wiki-mlm-* | bert-pretraining-*)
        narrow='--set layers=1 --set width=24 --set heads=2 --set feed_forward=24' unit=sequences
        ;;
    multi30k-transformer | wmt*-transformer)
        narrow='--set layers=1 --set width=24 --set heads=2 --set feed_forward=24' unit=pairs
        ;;
    gpt-char-* | fineweb-*)
        narrow='--set layers=1 --set width=24 --set heads=2 --set feed_forward=24 --set batch=2 --set accumulate=1' unit=blocks
        ;;
    connect4-*) unit=positions ;;
    minigo-9-*)
        narrow='--set model.width=8 --set blocks=1 --set batch=2 --set parallel=2 --set window=64 --set games.first=2'
        narrow="$narrow --set simulations=4 --set search.first=0" unit=positions
        ;;
    wgan-*) narrow='--set model.width=4 --set batch=2' ;;
    an4-* | librispeech*) narrow='--set channels=4 --set layers=1 --set width=24 --set batch=2' unit=utterances ;;
    multi30k-* | wmt*) narrow='--set layers=2 --set width=24' unit=pairs ;;
    esac
    "$DAWN" bench "$task" --model "$model" $narrow --fake --device null --no-measure --threads 1 --seconds 0.01 --repeats 1 \
        >out 2>err || { echo "dawn bench $task --model $model failed"; cat err; exit 1; }
    grep -Eq "^  $unit/s +[0-9.]+ " out
    grep -Eq "^  step +$model, recipe " out
done <models
[ "$(wc -l <models)" -ge 25 ]
