#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu_bundle.sh ARCHIVE PROGRAM TEST...: packs what a GPU machine without network and development packages needs into
# ARCHIVE (.tar.xz): the program, the device's tests, their shared libraries, and the scripts that use them. The C library (all its parts),
# the C++ runtime and the NVIDIA driver are the machine's own; cuDNN and cuBLAS are looked for there. There: tar xJf ARCHIVE
# && gpu/run.sh OUT. Called by "make gpu-bundle". An archive that reaches $MOST MiB (.xz: 40; .tar: no limit) is a failure, because
# it has to travel with the command that uses it. test/gpu_rehearse.sh packs the emulated program in the same way, with all
# symbols ($STRIP: true), with the emulated libraries ($LIBRARIES), and into a plain .tar. $PRESET: that of xz (9).
set -eu
archive=$1 program=$2 strip=${STRIP:-strip}
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpu=$work/gpu
mkdir -p "$gpu/lib" "$gpu/on_gpu" "$gpu/test/bench"

cp "$program" "$gpu/dawn"
cp "$@" "$gpu/on_gpu/"
ldd "$gpu/dawn" "$gpu"/on_gpu/* | sed -n 's/^.* => \(\/[^ ]*\) .*/\1/p' | sort -u |
    grep -Ev '/(libc|libm|libdl|librt|libpthread|libresolv|libanl|libstdc\+\+|libgcc_s|libcuda|libnvidia[^/]*)\.so' | while read -r library; do
    cp -L "$library" "$gpu/lib/"
done
[ -z "${LIBRARIES:-}" ] || cp $LIBRARIES "$gpu/lib/" # a list of files
"$strip" "$gpu/dawn" "$gpu"/on_gpu/*
find "$gpu/lib" -type f -exec chmod u+w {} + -exec "$strip" --strip-unneeded {} +
cp "$root/test/gpu_first.sh" "$gpu/run.sh"
cp "$root/test/gpu.sh" "$gpu/test/"
cp "$root"/test/bench/{cifar10-gpu.sh,cifar10_report.py,competitor.py,torch_convs.py} "$gpu/test/bench/"
cp "$root/COPYING" "$gpu/"
"$program" --version >"$gpu/version"

pack() { case $archive in *.xz) xz -T1 --lzma2=preset="${PRESET:-9}",dict=128MiB ;; *) cat ;; esac; }
tar -C "$work" --sort=name --owner=0 --group=0 -cf - gpu | pack >"$archive"
bytes=$(stat -c %s "$archive")
echo "$archive: $((bytes / 1048576)) MiB, $(find "$gpu" -type f | wc -l) files"
case $archive in *.xz) most=${MOST:-40} ;; *) most=${MOST:-} ;; esac
[ -z "$most" ] || [ "$bytes" -lt $((most * 1048576)) ] || { echo "$archive is not smaller than $most MiB" >&2; exit 1; }
