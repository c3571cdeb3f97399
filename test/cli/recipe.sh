# SPDX-License-Identifier: Apache-2.0
# dawn recipe and dawn models: their output, recipes read back, and wrong use.
set -eu

. "$ROOT/test/status.sh"

refused() { # SENTENCE COMMAND...: exit status 2, one line on standard error, nothing on standard output
    local wanted=$1
    shift
    [ "$(status "$@")" = 2 ]
    grep -qF -- "$wanted" err || { echo "wanted: $wanted"; echo "said: $(cat err)"; exit 1; }
    [ "$(wc -l <err)" = 1 ]
    [ ! -s out ]
}

narrow() { awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' out; }

# ---- recipes: the list, one of them, and back again
[ "$(status "$DAWN" recipe)" = 0 ]
for name in airbench94 cifar10 one-view resnet synthetic; do grep -q "^$name " out; done
narrow
for name in airbench94 cifar10 one-view resnet synthetic; do
    "$DAWN" recipe $name >$name.json
    grep -q "^    \"name\": \"$name\",$" $name.json
    "$DAWN" recipe --file $name.json | cmp - $name.json
done

"$DAWN" recipe cifar10 --set epochs=3 --set resolution=24,32 --set flip=never >mine.json
diff cifar10.json mine.json >difference && exit 1
[ "$(grep -c '^>' difference)" = 3 ]
grep -q '"epochs": 3,$' mine.json
grep -q '"resolution": \[24, 32\],$' mine.json
"$DAWN" recipe -f mine.json -s batch=64 | grep -q '"batch": 64,$'
"$DAWN" recipe cifar10 --set schedule.epochs=3 --set data.resolution=24,32 --set data.flip=never | cmp - mine.json
"$DAWN" recipe cifar10 --set tail_epochs=.5 | grep -q '"tail_epochs": 0.5,$'

# ---- keys: those that apply, by section
[ "$(status "$DAWN" recipe --keys)" = 0 ]
narrow
grep -qx 'Recipe cifar10: task cifar10, model airbench. Keys that apply:' out
grep -qx 'optimiser' out
grep -q '^  label_smoothing ' out
grep -q '  muon, sgd, adamw, adamax, rmsprop or lamb; default$' out
grep -q '  0.01 to 10000; default 8$' out
grep -q '^  muon.newton_schulz ' out
grep -q '^  whiten_bias_epochs ' out
grep -q '^  adamw' out && exit 1
"$DAWN" recipe synthetic --keys | grep -A 3 '^  batch ' | grep -q 'here 250$'
[ "$(status "$DAWN" recipe cifar10 --model resnet56)" = 0 ] # what train takes for this model
holds out 'o["name"] == "resnet" and o["about"] == "the recipe resnet with another network, resnet56"'
"$DAWN" recipe cifar10 --model resnet9 --set optimiser=adamw --keys >out
narrow
grep -q '^  adamw.beta1 ' out
grep -Eq 'muon\.|whiten|first_activation' out && exit 1

refused 'there is no recipe "cifar1"; did you mean "cifar10"?' "$DAWN" recipe cifar1
refused 'there is no recipe key "epoch"; did you mean "epochs"?' "$DAWN" recipe cifar10 --set epoch=3
refused '"epochs" must be between 0.01 and 10000; got -3' "$DAWN" recipe cifar10 --set epochs=-3
refused '--set must be key=value' "$DAWN" recipe cifar10 --set epochs
refused '--set needs a recipe to change' "$DAWN" recipe --set epochs=3
refused 'expected one recipe; "synthetic" is one too many' "$DAWN" recipe cifar10 synthetic
refused 'not both' "$DAWN" recipe cifar10 --file mine.json
refused '"optimiser.muon.newton_schulz" must be three numbers' "$DAWN" recipe cifar10 --set newton_schulz=1,2
refused 'the optimiser is sgd, not muon: "optimiser.muon.newton_schulz" does not apply' \
    "$DAWN" recipe cifar10 --set newton_schulz=1,2,3 --set optimiser=sgd
refused 'resnet9 has no whitening layer: "model.whiten_bias_epochs" does not apply' \
    "$DAWN" recipe resnet --set whiten_bias_epochs=1
refused '"lr" is ambiguous: it may be optimiser.filters.lr, optimiser.head.lr or optimiser.bias.lr' "$DAWN" recipe cifar10 --set lr=1
refused '--canonical needs a recipe' "$DAWN" recipe --canonical
refused '--model needs a recipe' "$DAWN" recipe --model resnet9
echo '{"epochs": 3,' >cut.json
refused 'cut.json, line' "$DAWN" recipe --file cut.json
[ "$("$DAWN" recipe cifar10 --canonical | wc -l)" = 1 ]
echo '{"epochs": 8}' >level.json
refused 'level.json: "epochs" must be in its section (schedule.epochs)' "$DAWN" recipe --file level.json
echo '{"data": {"batch": 0}}' >zero.json
refused 'zero.json: "data.batch" must be between 1' "$DAWN" recipe --file zero.json
says 1 'none.json' "$DAWN" recipe --file none.json

# ---- models
[ "$(status "$DAWN" models)" = 0 ]
for name in airbench resnet9 resnet56 resnet164; do grep -q "^$name  *[0-9,]* " out; done
narrow
cp out list
"$DAWN" models cifar10 >task
grep -q '^airbench  *1,971,640  *211 MFLOP at 32 x 32$' task # as dawn plan counts it
grep -A "$(($(wc -l <task) - 1))" -Fx "$(head -n 1 task)" list | cmp - task # one task of the list
[ "$(status "$DAWN" models inception-v3)" = 0 ]
sed '/^$/,$d' out | python3 -c '
import sys
head, *rows = sys.stdin.read().splitlines()
at = [head.index(word) for word in ("filters", "shape", "result", "FLOP")]
assert len(rows) > 90 and all(row[i - 2:i] == "  " and row[i] != " " for row in rows for i in at), (head, rows)'
[ "$(status "$DAWN" models resnet164)" = 0 ]
narrow
grep -q '^167  fc.weight  *10x256  *10  *2,560  ' out # 164 layers and three projections
grep -q '^resnet164: 1,703,258 parameters, ' out
refused 'there is no model "resnet65"; did you mean "resnet56"?' "$DAWN" models resnet65
refused 'expected one task or model' "$DAWN" models resnet9 resnet56
