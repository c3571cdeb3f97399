#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu_rehearse.sh ROOT [SUITE [MIRROR]]: rehearses the archive of "make gpu-bundle" in another distribution, in which nothing but
# its base packages is installed. The program and the tests are those with the emulated GPU. Every stage must pass there but
# three, which need programs of other makers (ncu, PyTorch, compute-sanitizer) and are not shown without them. ROOT is the root
# folder of that distribution; if it does not exist, debootstrap makes it (trixie, from its usual mirror). Takes some minutes, and
# root's rights. Not a test of "make check", because it needs the network. Run "make gpu-bundle emulated" first.
# gpu_rehearse.sh --judge SUMMARY: judges the summary of a rehearsal.
set -eu
[ $# -ge 1 ] || { sed -n '3,8s/^# //p' "$0" >&2; exit 2; }

# Reports every line of a summary that is not that of a stage that passed, of a stage without its program, or of the sums.
judge() { # SUMMARY
    local line failed=0
    while IFS= read -r line; do
        case $line in
        'ok  '* | '--   kernels of a step '* | '--   compute-sanitizer '* | '--   convolutions by PyTorch '* | [0-9]*) ;;
        *) echo "did not pass: $line" >&2; failed=1 ;;
        esac
    done <"$1"
    grep -q '^[0-9]* of [0-9]* stages passed' "$1" || { echo 'the call did not come to its end' >&2; failed=1; }
    return "$failed"
}
if [ "$1" = --judge ]; then judge "$2"; exit; fi

cd "$(dirname "$0")/.."
root=$1 suite=${2:-trixie} mirror=${3:-}
built=build/test/emulate/dawn
[ -x "$built" ] || { echo "$built is missing: make emulated" >&2; exit 2; }

if [ ! -e "$root/etc/os-release" ]; then
    command -v debootstrap >/dev/null || { echo 'debootstrap is missing (package debootstrap)' >&2; exit 2; }
    debootstrap --variant=minbase "$suite" "$root" ${mirror:+"$mirror"}
fi
grep PRETTY_NAME "$root/etc/os-release"

unpack() { # FOLDER ARGUMENTS...: of gpu_bundle.sh, without the compression, which takes minutes
    local folder=$root/opt/$1
    shift
    mkdir -p "$folder"
    test/gpu_bundle.sh "$folder.tar" "$@"
    tar -C "$folder" -xf "$folder.tar"
    rm "$folder.tar"
}
rm -rf "$root/opt/real" "$root/opt/rehearsal" "$root/opt/out"
# The program with the real device must start there, too: it says that there is no driver.
[ ! -x build/gpu/dawn ] || unpack real build/gpu/dawn build/test/on_gpu/test_*
STRIP=true LIBRARIES="$(echo build/test/emulate/lib/*)" unpack rehearsal "$built" build/test/emulated/test_cuda_{device,merge,training}

small='--set widths=8,8,8 --set batch=50 --set epochs=0.02 --set resolution=24,28,32 --set views=1'
cat >"$root/opt/stage.sh" <<'END'
#!/bin/sh
mount -t proc proc /proc
if [ -x /opt/real/gpu/dawn ]; then
    /opt/real/gpu/dawn --version || exit 3
    /opt/real/gpu/dawn doctor --device cuda --no-measure
    ldd /opt/real/gpu/on_gpu/* | grep 'not found' && exit 3
fi
/opt/rehearsal/gpu/run.sh /opt/out
END
chmod +x "$root/opt/stage.sh"
unshare --mount --pid --fork chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
    BUDGET="${BUDGET:-1800}" SMALL="$small" /opt/stage.sh || [ $? -ne 3 ] || exit 1

judge "$root/opt/out/summary"
