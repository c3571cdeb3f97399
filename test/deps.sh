#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deps.sh build|fuzz|test|cuda: sees to it that what DAWN is built, fuzzed or tested with is there. Silent when it is (one small
# compilation); else apt installs it, or, where there is no apt, one sentence names what is missing. Without the programs
# of "test" the tests that use them are skipped, so their absence is no failure.
set -u
PATH=$PATH:/usr/sbin
what=${1:-build}
if [ "$what" = cuda ]; then # deps.sh cuda NVCC: the toolkit's folder, or what it lacks; nothing is installed
    nvcc=$(command -v "${2:-nvcc}") || { echo 'nvcc was not found'; exit 0; }
    folder=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    command -v c++ >/dev/null || { echo 'a C++ compiler was not found, which nvcc needs'; exit 0; }
    for header in cuda_runtime_api.h cudnn.h cublasLt.h; do
        [ -e "$folder/include/$header" ] || echo "#include <$header>" | cc -E - >/dev/null 2>&1 ||
            { echo "$header was not found beside nvcc"; exit 0; }
    done
    echo "$folder"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# NAME|PACKAGE|HEADER|LIBRARY
libraries='oneDNN|libdnnl-dev|oneapi/dnnl/dnnl.h|dnnl
SQLite|libsqlite3-dev|sqlite3.h|sqlite3
libcurl|libcurl4-openssl-dev|curl/curl.h|curl
Jansson|libjansson-dev|jansson.h|jansson
libpng|libpng-dev|png.h|png
libjpeg-turbo|libjpeg62-turbo-dev|jpeglib.h|jpeg
libarchive|libarchive-dev|archive.h|archive
libsodium|libsodium-dev|sodium.h|sodium
libmicrohttpd|libmicrohttpd-dev|microhttpd.h|microhttpd
cmocka|libcmocka-dev|cmocka.h|cmocka'
first='#include <stdio.h>\n#include <stdarg.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <setjmp.h>\n'
# PROGRAM|PACKAGE
programs='ssh-keygen|openssh-client
curl|curl
nginx|nginx-light
openssl|openssl
chromium|chromium
chromedriver|chromium-driver'
compiler=${CC:-gcc}

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
            missing='clang with libFuzzer' packages='clang libclang-rt-14-dev'
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
