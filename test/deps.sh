#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deps.sh build|fuzz|test: checks the programs and libraries for building, fuzzing or testing DAWN (one small compilation), and
# prints nothing if all are present. Otherwise apt installs them. Without apt, one sentence names the missing parts. Tests that
# lack a program of "test" are skipped, so that is no failure. deps.sh cuda NVCC [CACHE] installs nothing.
set -u
PATH=$PATH:/usr/sbin
what=${1:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
compiler=${CC:-gcc}

# One line of a compiler's or linker's output, without parts that differ between runs and characters that a C string or a shell
# would interpret.
first_error() {
    line=$(grep -aiE -m 1 'error|fatal|cannot|undefined' "$work/said" || grep -am 1 '[^[:space:]]' "$work/said" ||
        echo 'it says nothing')
    printf '%s\n' "$line" | sed 's|[^ ]*/\([^ /]*:[0-9]\)|\1|; s/tmpxft_[-_0-9a-fA-F]*//g; s/cc[A-Za-z0-9]\{6\}\.o/a.o/g' |
        LC_ALL=C tr -cd ' -~' | tr -d "'\"\\\\\`" | cut -c 1-160
}

# toolkit NVCC [CACHE]: "FOLDER NVCC", or a sentence that names the missing part; installs nothing. The test of a toolkit is to
# compile and link a kernel. That takes seconds, so CACHE remembers a success for the same compilers. A failure is not
# remembered, because its remedy need not change the compilers.
toolkit() {
    nvcc=$1 cache=${2:-}
    [ "$nvcc" = nvcc ] && ! command -v nvcc >/dev/null && nvcc=/usr/local/cuda/bin/nvcc
    found=$(command -v "$nvcc") || { echo "nvcc was not found$([ "$1" = nvcc ] || echo " as $1")"; return; }
    case $found in /*) ;; *) found=$PWD/$found ;; esac
    folder=$(dirname "$(dirname "$(readlink -f "$found")")")
    command -v c++ >/dev/null || { echo 'a C++ compiler was not found, which nvcc needs'; return; }
    for header in cuda_runtime_api.h cudnn.h cublasLt.h; do
        [ -e "$folder/include/$header" ] || echo "#include <$header>" | $compiler -E - >/dev/null 2>&1 ||
            { echo "$header was not found next to nvcc"; return; }
    done
    printf '#include <%s.h>\n' cuda_runtime_api cudnn >"$work/v.c"
    echo 'versions: CUDART_VERSION CUDNN_MAJOR CUDNN_MINOR' >>"$work/v.c"
    set -- $($compiler -E -P -isystem "$folder/include" "$work/v.c" 2>/dev/null | sed -n 's/^versions: \([0-9 ]*\)$/\1/p')
    if [ "${1:-13000}" -lt 13000 ]; then
        echo "nvcc is of CUDA $(($1 / 1000)).$(($1 % 1000 / 10)); 13.0 or newer is needed"
        return
    fi
    [ "${2:-9}" -ge 9 ] || { echo "cuDNN is $2.$3; 9 or newer is needed"; return; }

    key=$(echo "$folder $nvcc: $compiler ${NVCC_CCBIN:-} ${NVCC_PREPEND_FLAGS:-} ${NVCC_APPEND_FLAGS:-}"
        stat -L -c '%n %s %Y' "$found" "$(command -v c++)" "$(command -v "${compiler%% *}")" "$0" \
            "$folder/lib64/libcudart_static.a" "$folder/lib/libcudart_static.a" 2>/dev/null)
    if [ -z "$cache" ] || [ "$(cat "$cache" 2>/dev/null)" != "$key" ]; then
        cat >"$work/a.cu" <<'EOF'
#include <cuda_runtime_api.h>
#if CUDART_VERSION < 13000 || __CUDACC_VER_MAJOR__ < 13
#error nvcc is older than CUDA 13.0
#endif
__global__ void kernel(int *p) { *p = 1; }
int main() { int n = 0; kernel<<<1, 1>>>(&n); return cudaGetDeviceCount(&n); }
EOF
        (cd "$work" && TMPDIR=. "$found" -c a.cu -o a.o) >"$work/said" 2>&1 ||
            { echo "nvcc does not work with this compiler: $(first_error)"; return; }
        (cd "$work" && $compiler a.o -L"$folder/lib64" -L"$folder/lib" -lcudart_static -lstdc++ -ldl -lrt -lpthread -o a) \
            >"$work/said" 2>&1 || { echo "what nvcc makes does not link: $(first_error)"; return; }
        [ -z "$cache" ] || { mkdir -p "$(dirname "$cache")" && echo "$key" >"$cache"; } 2>/dev/null
    fi
    echo "$folder $nvcc"
}

if [ "$what" = cuda ]; then
    toolkit "${2:-nvcc}" "${3:-}"
    exit 0
fi

# NAME|PACKAGE|HEADER|LIBRARY
libraries='oneDNN|libdnnl-dev|oneapi/dnnl/dnnl.h|dnnl
SQLite|libsqlite3-dev|sqlite3.h|sqlite3
libcurl|libcurl4-openssl-dev|curl/curl.h|curl
Jansson|libjansson-dev|jansson.h|jansson
libpng|libpng-dev|png.h|png
libjpeg-turbo|libjpeg-dev|jpeglib.h|jpeg
libarchive|libarchive-dev|archive.h|archive
utf8proc|libutf8proc-dev|utf8proc.h|utf8proc
libsodium|libsodium-dev|sodium.h|sodium
libFLAC|libflac-dev|FLAC/stream_decoder.h|FLAC
libmicrohttpd|libmicrohttpd-dev|microhttpd.h|microhttpd
cmocka|libcmocka-dev|cmocka.h|cmocka'
first='#include <stdio.h>\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n'
# PROGRAM|PACKAGE
programs='curl|curl
nginx|nginx-light
openssl|openssl
chromium|chromium
chromedriver|chromium-driver
mpicc|libopenmpi-dev
mpirun|openmpi-bin'

builds() { # HEADERS LIBRARIES: whether a program with both links
    { printf "$first"; for h in $1; do echo "#include <$h>"; done; echo 'int main(void) { return 0; }'; } >"$work/a.c"
    "$compiler" "$work/a.c" -o "$work/a" -Wl,--no-as-needed $2 2>/dev/null
}

# Fills $missing (for people) and $packages (for apt).
look() {
    missing='' packages=''
    if [ "$what" = fuzz ]; then
        echo 'int LLVMFuzzerTestOneInput(const char *a, long b) { return a && b < 0; }' >"$work/f.c"
        clang -fsanitize=fuzzer,address,undefined "$work/f.c" -o "$work/f" 2>/dev/null ||
            missing='clang with libFuzzer' packages='clang libclang-rt-dev'
        return
    fi
    if [ "$what" = test ]; then
        while IFS='|' read -r program package; do
            command -v "$program" >/dev/null || missing="$missing, $program" packages="$packages $package"
        done <<EOF
$programs
EOF
        missing=${missing#, }
        return
    fi
    command -v python3 >/dev/null || missing="$missing, Python 3" packages="$packages python3"
    command -v ssh-keygen >/dev/null || missing="$missing, ssh-keygen" packages="$packages openssh-client"
    command -v "$compiler" >/dev/null || missing="$missing, $compiler" packages="$packages gcc libc6-dev binutils"
    all_headers=$(echo "$libraries" | cut -d'|' -f3) all_libraries=$(echo "$libraries" | sed 's/.*|/-l/')
    builds "$all_headers" "$all_libraries -lm" && { missing=${missing#, }; return; }
    while IFS='|' read -r name package header library; do
        builds "$header" "-l$library" || missing="$missing, $name" packages="$packages $package"
    done <<EOF
$libraries
EOF
    missing=${missing#, }
}

look
[ -z "$missing" ] && exit 0
skip() { echo "dawn: the tests that need $missing are skipped (packages:$packages)"; exit 0; }
if [ "$what" = test ]; then
    command -v apt-get >/dev/null || skip
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null || skip
fi
if ! command -v apt-get >/dev/null; then
    echo "dawn: missing here: $missing; please install it with this system's package manager (Debian calls it:$packages)." >&2
    exit 1
fi
as_root=''
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "dawn: missing here: $missing; please run as root: apt-get install$packages" >&2; exit 1; }
    as_root=sudo
fi
echo "dawn: installing what is missing: $missing"
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages >"$work/log" 2>&1; }
install || { $as_root apt-get update -q >"$work/update" 2>&1; install; } || { cat "$work/update" "$work/log" >&2; }
look
[ -z "$missing" ] && exit 0
[ "$what" = test ] && skip
echo "dawn: still missing: $missing (packages:$packages)." >&2
exit 1
