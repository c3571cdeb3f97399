# SPDX-License-Identifier: Apache-2.0
# The device "cuda" from the command line: the error messages without a GPU and, with the emulated GPU, every command that
# computes.
set -eu
. "$ROOT/test/status.sh"

says() { # STATUS PATTERN COMMAND...
    local want=$1 pattern=$2 rc=0
    shift 2
    "$@" >out 2>err || rc=$?
    [ "$rc" = "$want" ] || { echo "exit status $rc, not $want: $*"; cat out err; exit 1; }
    reads err "$pattern"
}

small="--set widths=8,8,8 --set batch=50 --set epochs=0.02 --set resolution=16 --set views=1"

if [ ! -e /dev/nvidiactl ]; then
    # Built with CUDA: no driver or no GPU. Built without: the missing part.
    says 1 '^dawn train: device cuda: .*(driver|GPU|built without)' "$DAWN" train cifar10 --data synthetic --device cuda
    [ "$(wc -l <err)" = 1 ]
    [ ! -e results.db ]
    "$DAWN" train cifar10 --data synthetic --device auto $small --target 0.05 >out 2>err # the CPU takes over
    grep -Eq '[0-9]+ threads?, ' out
    rm -f results.db run-*
fi

[ -n "${EMULATED:-}" ] || { echo 'this dawn was built without CUDA'; exit 77; }

says 2 'device cuda:7: there is 1 GPU' "$EMULATED" train cifar10 --data synthetic --device cuda:7

"$EMULATED" doctor --device cuda --no-measure >out 2>err
reads out ' ok cuda .* Emulated H200 .* CUDA 1[0-9]\.[0-9]+, .*cuDNN 9\.'

"$EMULATED" plan cifar10 --data synthetic --device cuda --precision f16 --no-measure >out 2>err
grep -q 'planned for device cuda' out
grep -q 'weights' out

"$EMULATED" train cifar10 --data synthetic --device cuda --target 0.05 $small --seed 3 --save w.safetensors >out 2>err
"$EMULATED" results show last >shown
says 1 'the plan needs [0-9.]* GB, and cuda has [0-9.]* GB free: the largest batch that fits is [1-3][0-9][0-9] ' "$EMULATED" train \
    imagenet --recipe imagenet-224 --data pictures --batch 400 --set resolution=1024 --precision f16 --device cuda --db big.db
[ ! -e big.db ]
grep -Eq ' how +cuda - bf16 - ' shown
grep -Eq ' energy +[0-9]' shown
grep -Eq ' GPU +Emulated H200' shown # every record of an emulated GPU says so
grep -Eq '^  CAUTION  *EMULATED GPU' shown
# Measurements on it are never signed, neither by the program that has it nor by one that finds such a run in a record.
export XDG_CONFIG_HOME=$PWD/config
"$EMULATED" keys new >out
says 1 'this program emulates a GPU' "$EMULATED" submit --handle ada --out signed --board demo
says 2 'run 1 was made on an emulated GPU' "$DAWN" submit --handle ada --out signed --board demo --run 1
[ ! -e signed ]
reads shown 'libraries .*CUDA 1[0-9]\.[0-9]+, cuDNN 9\.'
"$EMULATED" infer cifar10 --latency --weights w.safetensors --data synthetic --device cuda --precision f16 --items 4 --warmup 1 \
    >out 2>err ||
    { cat out err; exit 1; }
"$EMULATED" bench cifar10 --fake --device cuda $small --set batch=10 --seconds 1 --repeats 1 --no-measure >out 2>err ||
    { cat out err; exit 1; }
grep -q 'images/s' out
