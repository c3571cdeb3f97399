#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# roots.sh [SUITE...]: runs both commands of the README in an empty root of each release of Debian (bookworm and trixie, unless
# named), as a new user would: debootstrap installs the base system and make, and `make demo` the rest. Prints one line per step,
# and the end of the log of a step that fails; then goes on with the next suite. Takes root, a network, 4 GB below $TMPDIR and
# about half an hour per suite. The mirror and its proxy are this machine's for apt. The tree is the last commit's. TEST_SECONDS and
# TEST_JOBS pass through to its tests.
set -u
[ $# -gt 0 ] || set -- bookworm trixie
[ "$(id -u)" -eq 0 ] || { echo 'roots: root is needed, for debootstrap and chroot' >&2; exit 2; }
command -v debootstrap >/dev/null || { echo 'roots: debootstrap is missing' >&2; exit 2; }
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
[ -n "$mirror" ] || { echo 'roots: apt has no mirror of Debian here' >&2; exit 2; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

step() { # SUITE NAME COMMAND...: one line with the time, and the last line of the log
    local suite=$1 name=$2 since=$SECONDS rc=0 log=$work/log
    shift 2
    "$@" >"$log" 2>&1 </dev/null || rc=$?
    local line="$suite, $name" took="$((SECONDS - since)) s"
    if [ "$rc" -eq 0 ]; then
        passed=$((passed + 1))
        printf 'ok    %-24s %7s  %s\n' "$line" "$took" "$(grep -aE '^[0-9]+ passed' "$log")"
    else
        failed=$((failed + 1))
        printf 'FAIL  %-24s %7s  exit status %d\n' "$line" "$took" "$rc"
        # A test prints what it expected and what was there before its line, and the end of the log names them all.
        grep -aE -B 40 '^FAIL' "$log" || grep -aE 'rror' "$log" | head -n 40
        tail -n 20 "$log"
    fi
    return "$rc"
}

empty_root() { # SUITE ROOT
    debootstrap --variant=minbase --include=make "$1" "$2" "$mirror" &&
        cp /etc/resolv.conf "$2/etc/" &&
        printf '127.0.0.1\tlocalhost\n::1\tlocalhost\n' >"$2/etc/hosts" && # every installation has it; debootstrap makes none
        { apt-config dump | grep -i '^Acquire::https\?::Proxy' >"$2/etc/apt/apt.conf.d/80proxy" || true; } &&
        mkdir "$2/dawn" && git archive HEAD | tar -x -C "$2/dawn"
}

# Mounts and processes end with the command: they have namespaces of their own.
inside() { # ROOT COMMAND
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && mount -t sysfs sysfs "$0/sys" &&
        mount --rbind /dev "$0/dev" && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        ${TEST_SECONDS:+TEST_SECONDS=$TEST_SECONDS} ${TEST_JOBS:+TEST_JOBS=$TEST_JOBS} chroot "$0" sh -c "cd /dawn && $1; exit \$?"' "$1" "$2"
}

for suite; do
    root=$work/$suite
    step "$suite" 'empty root' empty_root "$suite" "$root" &&
        step "$suite" 'make demo' inside "$root" 'make demo' &&
        step "$suite" 'make check' inside "$root" 'make check'
    rm -rf "$root"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
