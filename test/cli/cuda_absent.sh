# SPDX-License-Identifier: Apache-2.0
# --device cuda without a GPU: every command with that option names the missing part and a remedy. A build without CUDA, one
# without a driver, and one with a driver but without a GPU have their own messages. Also: make builds for the CPU and says why
# if the toolkit does not work; it stops only if that toolkit was named explicitly. Without a driver it builds the device where it
# is asked for, and remembers that.
set -eu

# A fake toolkit: kit CUDART_VERSION CUDNN_MAJOR. Its nvcc counts its calls.
kit() {
    rm -rf kit
    mkdir -p kit/bin kit/include kit/lib64
    echo "#define CUDART_VERSION $1" >kit/include/cuda_runtime_api.h
    printf '#define CUDNN_MAJOR %s\n#define CUDNN_MINOR 7\n' "$2" >kit/include/cudnn.h
    : >kit/include/cublasLt.h
    echo 'int cudaGetDeviceCount(int *n) { return *n; }' | gcc -x c -c - -o runtime.o
    ar crs kit/lib64/libcudart_static.a runtime.o
    ar crs kit/lib64/libstdc++.a # a machine without a C++ compiler has none
    echo 'int cudaGetDeviceCount(int *n); int main(void) { int n = 0; return cudaGetDeviceCount(&n); }' >kit/a.c
    nvcc "gcc -c $PWD/kit/a.c -o a.o"
}
nvcc() { # what it does
    printf '#!/bin/sh\necho called >>"%s/calls"\n%s\n' "$PWD" "$1" >kit/bin/nvcc
    chmod +x kit/bin/nvcc
}
found() { # SENTENCE: the build's finding, stable between calls, because a change rebuilds the program
    for time in 1 2; do
        said=$(CC=gcc "$ROOT/test/deps.sh" cuda "$PWD/kit/bin/nvcc" "$PWD/cache/toolkit")
        [ "$said" = "$1" ] || { echo "found: $said; not: $1"; exit 1; }
    done
}

# A machine without a C++ compiler is told so before anything else. The other cases have one, real or not.
kit 13000 9
mkdir tools cxx
for tool in sh env dirname readlink cat mktemp rm; do ln -s "$(command -v $tool)" tools/; done
said=$(PATH=$PWD/tools CC=gcc sh "$ROOT/test/deps.sh" cuda "$PWD/kit/bin/nvcc")
[ "$said" = 'a C++ compiler was not found, which nvcc needs' ]
rm -f calls
printf '#!/bin/sh\nexec gcc "$@"\n' >cxx/c++
chmod +x cxx/c++
PATH=$PATH:$PWD/cxx
found "$PWD/kit $PWD/kit/bin/nvcc"
[ "$(wc -l <calls)" = 1 ] # the second answer came from the cache
touch -d '2001-01-01' kit/bin/nvcc
found "$PWD/kit $PWD/kit/bin/nvcc"
[ "$(wc -l <calls)" = 2 ] # a changed nvcc is tested again
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

unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES CUDA NVCC SAN FUZZING
mkdir driver none
printf '#!/bin/sh\nprintf "\\tlibcuda.so.1 (libc6,x86-64) => /lib/libcuda.so.1\\n"\n' >driver/ldconfig
printf '#!/bin/sh\nprintf "\\tlibcuda.so (libc6,x86-64) => /stubs/libcuda.so\\n"\n' >none/ldconfig
chmod +x driver/ldconfig none/ldconfig
makes() { PATH=$PWD/${driver:-driver}:$PATH make -s --no-print-directory -C "$ROOT" B="$PWD/b" "$@"; }
shows() { makes --eval 'shows: ; @echo "$(CUDA)"' shows "$@" 2>&1 || true; }
kit 12040 9
for wrong in yes 12.4 "$PWD/nowhere" kit; do
    shows CUDA="$wrong" | grep -Fq "CUDA=$wrong: CUDA is \"no\" or the folder of a toolkit"
done
shows CUDA="$PWD/kit" | grep -q 'nvcc is of CUDA 12.4; 13.0 or newer is needed'
[ "$(shows CUDA=no)" = no ]
[ "$(CUDA=12.4 shows)" = "$(shows)" ]
[ "$(CUDA=no shows)" = "$(shows)" ]
[ "$(shows CUDA=)" = "$(shows)" ]
makes -n all NVCC="$PWD/kit/bin/nvcc" >said
[ "$(grep -c "^echo 'dawn: built without the device cuda: nvcc is of CUDA 12.4; 13.0 or newer is needed'" said)" = 1 ]
[ "$(makes -n all CUDA=no | grep -c 'dawn: built without')" = 0 ]

# Without a driver no toolkit is looked for, unless it is asked for; the program then remembers that until CUDA=no.
kit 13000 9
has() { makes --eval 'has: ; @echo "$(if $(PROGRAM_HAS),$(WANTED),$(CUDA_MISSING))"' has "$@" 2>&1; }
driver=driver
[ "$(has CUDA="$PWD/kit")" = asked ]
[ "$(PATH=$PWD/kit/bin:$PATH has)" = driver ]
driver=none
[ "$(PATH=$PWD/kit/bin:$PATH has)" = 'no driver' ]
[ "$(PATH=$PWD/kit/bin:$PATH has NVCC=nvcc)" = asked ]
rm -f calls
PATH=$PWD/kit/bin:$PATH makes -n all >said
[ ! -e calls ]
grep -q ' -o dawn$' said
if grep -q 'libcuda\.a.* -o dawn$' said; then exit 1; fi
PATH=$PWD/kit/bin:$PATH makes CUDA="$PWD/kit" "$PWD/b/program.list"
[ "$(cat b/program.list)" = asked ]
[ "$(PATH=$PWD/kit/bin:$PATH has)" = asked ]
[ "$(has CUDA=no)" = no ]
makes CUDA=no "$PWD/b/program.list"
[ "$(PATH=$PWD/kit/bin:$PATH has)" = 'no driver' ]

# A new reason rebuilds the program.
for name in one two; do
    makes NVCC="/nowhere/$name" "$PWD/b/runtime/cuda/absent.o"
    grep -q "nvcc was not found as /nowhere/$name" b/runtime/cuda/absent.o
done

# A kernel is rebuilt when its header changes, also if the rest is built in another folder.
if [ -n "${EMULATED:-}" ]; then
    (makes -pn build/runtime/cuda/kernels/k_norm.o || true) >said 2>&1
    grep -q '^build/runtime/cuda/kernels/k_norm\.o:.* runtime/cuda/kernels/k_common\.cuh' said
fi

# The tests see neither a GPU nor the switches of the caller's environment.
echo '[ -z "${CUDA_VISIBLE_DEVICES-unset}${DAWN_CASE-}${DAWN_CUDA_BLAS-}${DAWN_EMULATE_ORDER-}" ]' >bare.sh
DAWN_CUDA_BLAS=off DAWN_EMULATE_ORDER=1 DAWN_CASE=norm CUDA_VISIBLE_DEVICES=0 \
    "$ROOT/test/run.sh" "$(realpath --relative-to="$ROOT" bare.sh)" >said || { cat said; exit 1; }

. "$ROOT/test/status.sh"

# Both builds: the program as it was made, and the one with the device where there is a toolkit.
[ -z "${ON_GPU:-}" ] || "$ON_GPU" doctor --no-measure >out
[ -z "${ON_GPU:-}" ] || joined out >words
[ -z "${ON_GPU:-}" ] || ! grep -q 'built without' words
for DAWN in "$DAWN" ${ON_GPU:+"$ON_GPU"}; do
    [ "$(status "$DAWN" doctor --no-measure)" = 0 ] # a missing GPU is not a fault
    [ "$(grep -Ec '^  (ok|missing|BROKEN) +cuda +' out)" = 1 ]
    if grep -Eq '^  ok +cuda +' out; then
        reads out 'compute capability [0-9.]+, [0-9]+ processors; CUDA [0-9.]+, .*cuDNN [0-9.]+, driver'
        continue
    fi
    grep -Eq '^  missing +cuda +device cuda: (no NVIDIA driver|the NVIDIA driver finds|this program was)' out
    joined out >words
    if grep -q 'no NVIDIA driver is installed' words; then
        said='no NVIDIA driver is installed (libcuda.so.1 was not found); use --device cpu'
    elif grep -q 'finds no GPU' words; then
        said='the NVIDIA driver finds no GPU'
    elif grep -q 'had no NVIDIA driver' words; then
        said='Run make again where there is one, or make cuda, or use --device cpu'
    else
        said='Install the CUDA Toolkit 13.0 or newer with cuDNN 9 and run make again, or use --device cpu'
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
    [ "$(status "$DAWN" doctor --no-measure --device cuda)" = 1 ] # but it is, if asked for
    grep -Eq '^  BROKEN +cuda +' out

    # Not asked for: the CPU computes.
    expect 0 'planned for device cpu' "$DAWN" plan cifar10 --no-measure
done
