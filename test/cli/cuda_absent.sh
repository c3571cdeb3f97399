# SPDX-License-Identifier: Apache-2.0
# --device cuda where there is none: a sentence that says what is missing and what helps, from every command that takes it.
# A build without CUDA, one with it and no driver, and one with a driver and no card each have their own.
set -eu

# A kernel is made anew when its header changes, whichever folder the rest is built in.
if [ -n "${EMULATED:-}" ]; then
    (env -u MAKEFLAGS make -C "$ROOT" B="$PWD/b" -spn build/runtime/cuda/k_norm.o || true) >said 2>&1
    grep -q '^build/runtime/cuda/k_norm\.o:.* runtime/cuda/k_common\.cuh' said
fi

status() { # runs the rest; its exit status is printed, its words are in out and err
    local rc=0
    "$@" >out 2>err || rc=$?
    echo "$rc"
}

[ "$(status "$DAWN" doctor --no-measure)" = 0 ] # a missing card is nothing to mend
[ "$(grep -Ec '^  (ok|missing|BROKEN) +cuda +' out)" = 1 ]
if grep -Eq '^  ok +cuda +' out; then
    tr -s '\n ' ' ' <out | grep -Eq 'compute capability [0-9.]+, [0-9]+ processors; CUDA [0-9.]+, .*cuDNN [0-9.]+, driver'
    exit 0
fi
grep -Eq '^  missing +cuda +device cuda: (there is no NVIDIA|the NVIDIA driver is here|this program was)' out
tr -s '\n ' ' ' <out >words
if grep -q 'no NVIDIA driver' words; then
    said='there is no NVIDIA driver here (libcuda.so.1 was not found), so no card can be used; --device cpu needs none'
elif grep -q 'sees no card' words; then
    said='the NVIDIA driver is here, but it sees no card'
else
    said='Install the CUDA Toolkit 13.0 or newer with cuDNN 9 and run make again; --device cpu needs none'
fi
grep -Fq "$said" words

for command in "train cifar10 --data synthetic" "plan cifar10 --no-measure" "bench cifar10 --fake --no-measure" "bench ops"; do
    for device in cuda cuda:1; do
        [ "$(status "$DAWN" $command --device $device)" = 1 ]
        grep -Fq "$said" err
        [ "$(wc -l <err)" = 1 ]
    done
done
[ ! -s out ]
[ "$(status "$DAWN" plan cifar10 --device cuda:x)" = 2 ]
[ "$(status "$DAWN" doctor --no-measure --device cuda)" = 1 ] # asked for, it is something to mend
grep -Eq '^  BROKEN +cuda +' out

# Nobody asked: the processor computes.
[ "$(status "$DAWN" plan cifar10 --no-measure)" = 0 ]
grep -q 'planned for device cpu' out
