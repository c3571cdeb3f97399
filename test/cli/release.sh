#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make release: the archive, unpacked elsewhere, needs nothing of this machine: no library of its programs lies outside of it, and both
# start in a root that has nothing else. A run that it trains has the digest of the program, not of the loader.
set -eu
for tool in ldd strip tar xz; do
    command -v $tool >/dev/null || { echo "no $tool here: no archive is made"; exit 77; }
done
if ldd "$DAWN" | grep -q 'lib[a-z]*san\.so'; then echo "a program with sanitizers is not packed"; exit 77; fi
file=$(XZ_OPT=-0 "$ROOT/.package/release.sh" "$DAWN" "$BOARD" made)
mkdir -p 'root/an odd folder'
tar -C 'root/an odd folder' -xf "$file"
dawn=$PWD/root/an\ odd\ folder/dawn own=$PWD/root/an\ odd\ folder/dawn/lib/dawn
loader=$(cd "$own" && ls ld-*)
if tar -tvf "$file" | grep -v ' 0/0 '; then exit 1; fi # everything belongs to root, no matter who made it
[ "$("$dawn/bin/dawn" --version)" = "$("$DAWN" --version)" ]

for program in dawn dawn-scoreboard; do
    "$own/$loader" --library-path "$own" --list "$own/$program" | grep '=> /' >needs
    [ "$(wc -l <needs)" -gt 4 ]
    if grep -v "=> $own/" needs; then exit 1; fi
done
for page in share/man/man1/dawn-train.1 share/doc/dawn/docs/rules.md share/bash-completion/completions/dawn; do
    [ -f "$dawn/$page" ]
done
[ ! -e "$dawn/lib/systemd" ]
if command -v dpkg-query >/dev/null && dpkg-query -S libc.so.6 >said 2>&1; then
    for library in libc6 libdnnl; do ls "$dawn/share/doc/dawn/libraries" | grep -q "^$library"; done
fi

# Through a link, as in /usr/local/bin, and with spaces in the path.
ln -s "$dawn/bin/dawn" link
./link train cifar10 --data synthetic --set widths=16,16,16 --batch 200 --set epochs=0.2 --set views=1 --set evaluate_every=0 \
    --target 0.001 --save "" >out
digest=$(sha256sum "$own/dawn" | cut -d ' ' -f 1)
./link results show last | grep -q "program  *$digest"

# An empty root. A kernel may forbid both ways.
alone() { # PROGRAM ARGUMENTS...
    local folder='/an odd folder/dawn/lib/dawn' program=$1
    shift
    set -- "$folder/$loader" --library-path "$folder" "$folder/$program" "$@"
    if [ "$(id -u)" = 0 ]; then chroot root "$@"; else unshare -r chroot root "$@"; fi
}
if [ "$(id -u)" = 0 ] || unshare -r true 2>said; then
    alone dawn --version | grep -q '^dawn '
    alone dawn models cifar10 | grep -q airbench
    alone dawn-scoreboard help | grep -q 'dawn-scoreboard \[COMMAND\]'
fi
echo "made, unpacked, started"
