# SPDX-License-Identifier: Apache-2.0
# --device cuda where there is none: a sentence that says what is missing and what helps, from every command that takes it.
# A build without CUDA, one with it and no driver, and one with a driver and no card each have their own. And before that:
# make builds for the processor, and says why, where there is a toolkit that does not work; it breaks off only when that
# one was asked for by name.
set -eu

# A toolkit that pretends: kit CUDART_VERSION CUDNN_MAJOR. Its nvcc counts how often it is called.
kit() {
    rm -rf kit
    mkdir -p kit/bin kit/include kit/lib64
    echo "#define CUDART_VERSION $1" >kit/include/cuda_runtime_api.h
    printf '#define CUDNN_MAJOR %s\n#define CUDNN_MINOR 7\n' "$2" >kit/include/cudnn.h
    : >kit/include/cublasLt.h
    echo 'int cudaGetDeviceCount(int *n) { return *n; }' | gcc -x c -c - -o runtime.o
    ar crs kit/lib64/libcudart_static.a runtime.o
    echo 'int cudaGetDeviceCount(int *n); int main(void) { int n = 0; return cudaGetDeviceCount(&n); }' >kit/a.c
    nvcc "gcc -c $PWD/kit/a.c -o a.o"
}
nvcc() { # what it does
    printf '#!/bin/sh\necho called >>"%s/calls"\n%s\n' "$PWD" "$1" >kit/bin/nvcc
    chmod +x kit/bin/nvcc
}
found() { # SENTENCE: what the build finds, the same every time, because the program is made anew when it changes
    for time in 1 2; do
        said=$(CC=gcc "$ROOT/test/deps.sh" cuda "$PWD/kit/bin/nvcc" "$PWD/cache/toolkit")
        [ "$said" = "$1" ] || { echo "found: $said; not: $1"; exit 1; }
    done
}

kit 13000 9
found "$PWD/kit $PWD/kit/bin/nvcc"
[ "$(wc -l <calls)" = 1 ] # the second answer was remembered
touch -d '2001-01-01' kit/bin/nvcc
found "$PWD/kit $PWD/kit/bin/nvcc"
[ "$(wc -l <calls)" = 2 ] # this is another nvcc
nvcc 'echo; echo "In file included from tmpxft_0000$$_00000000-1_a.c:1:"
echo "/usr/include/crt/host.h:143: error: \"this\" gcc is too new \$HOME" >&2; exit 1'
found 'nvcc does not work with this compiler: host.h:143: error: this gcc is too new $HOME'
nvcc 'exit 1'
found 'nvcc does not work with this compiler: it says nothing'
kit 12040 9
found 'nvcc is of CUDA 12.4; 13.0 or newer is needed'
kit 13010 8
found 'cuDNN is 8.7; 9 or newer is needed'
kit 13000 9
ar d kit/lib64/libcudart_static.a runtime.o
found "$(CC=gcc "$ROOT/test/deps.sh" cuda "$PWD/kit/bin/nvcc")"
echo "$said" | grep -q '^what nvcc makes does not link: .*cudaGetDeviceCount'
rm kit/bin/nvcc
found "nvcc was not found as $PWD/kit/bin/nvcc"
said=$(PATH=/usr/bin:/bin "$ROOT/test/deps.sh" cuda nvcc)
if [ -x /usr/local/cuda/bin/nvcc ] && ! (PATH=/usr/bin:/bin && command -v nvcc); then
    [ "$said" != 'nvcc was not found' ]
fi

unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES CUDA NVCC
makes() { make -s --no-print-directory -C "$ROOT" B="$PWD/b" "$@"; }
shows() { makes --eval 'shows: ; @echo "$(CUDA)"' shows "$@" 2>&1 || true; }
kit 12040 9
for wrong in yes 12.4 "$PWD/nowhere" kit; do
    shows CUDA="$wrong" | grep -Fq "CUDA=$wrong: CUDA is \"no\" or the folder of a toolkit"
done
shows CUDA="$PWD/kit" | grep -q 'nvcc is of CUDA 12.4; 13.0 or newer is needed.  Stop'
[ "$(shows CUDA=no)" = no ]
[ "$(CUDA=12.4 shows)" = "$(shows)" ]
[ "$(CUDA=no shows)" = "$(shows)" ]
[ "$(shows CUDA=)" = "$(shows)" ]
makes -n all NVCC="$PWD/kit/bin/nvcc" >said
[ "$(grep -c "^echo 'dawn: built without the device cuda: nvcc is of CUDA 12.4; 13.0 or newer is needed'" said)" = 1 ]
[ "$(makes -n all CUDA=no | grep -c 'dawn: built without')" = 0 ]

# Another reason is another program.
for name in one two; do
    makes NVCC="/nowhere/$name" "$PWD/b/runtime/cuda/absent.o"
    grep -q "nvcc was not found as /nowhere/$name" b/runtime/cuda/absent.o
done

# A kernel is made anew when its header changes, whichever folder the rest is built in.
if [ -n "${EMULATED:-}" ]; then
    (makes -pn build/runtime/cuda/kernels/k_norm.o || true) >said 2>&1
    grep -q '^build/runtime/cuda/kernels/k_norm\.o:.* runtime/cuda/kernels/k_common\.cuh' said
fi

# The tests see neither a card nor what somebody was comparing just before.
echo '[ -z "${CUDA_VISIBLE_DEVICES-unset}${DAWN_CASE-}${DAWN_CUDA_BLAS-}${DAWN_EMULATE_ORDER-}" ]' >bare.sh
DAWN_CUDA_BLAS=off DAWN_EMULATE_ORDER=1 DAWN_CASE=norm CUDA_VISIBLE_DEVICES=0 \
    "$ROOT/test/run.sh" "$(realpath --relative-to="$ROOT" bare.sh)" >said || { cat said; exit 1; }

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
