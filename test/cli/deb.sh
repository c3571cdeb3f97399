#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make deb: makes the package of this tree, installs it into an empty root and removes it again. (make deb itself asks lintian,
# which takes longer than all of this.)
set -eu
for tool in dpkg dpkg-deb dpkg-shlibdeps strip; do
    command -v $tool >/dev/null || { echo "no $tool here: no package is made"; exit 77; }
done
as_root=''
if [ "$(id -u)" != 0 ]; then
    command -v fakeroot >/dev/null || { echo "neither root nor fakeroot: no package is installed"; exit 77; }
    as_root=fakeroot
fi

# The least compression: the size does not matter here.
file=$(LINTIAN=no DEB_FLAGS='-Zgzip -z1' "$ROOT/.package/deb.sh" "$DAWN" "$BOARD" .)
[ -f "$file" ]
dpkg-deb --contents "$file" >contents
for name in usr/bin/dawn usr/bin/dawn-scoreboard lib/systemd/system/dawn-scoreboard.service usr/share/man/man1/dawn-train.1.gz \
    usr/share/bash-completion/completions/dawn usr/share/zsh/vendor-completions/_dawn usr/share/doc/dawn/copyright; do
    grep -q " \./$name" contents || { echo "$name is missing"; exit 1; }
done
if grep -v ' root/root ' contents; then exit 1; fi # everything belongs to root, no matter who ran make deb
dpkg-deb --field "$file" Depends | grep -q 'libsqlite3-0'

mkdir -p root/var/lib/dpkg/updates root/var/lib/dpkg/info root/usr/bin root/etc
touch root/var/lib/dpkg/status
dpkg_in_root() {
    $as_root dpkg --root="$PWD/root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null "$@" \
        >said 2>&1 || { cat said; exit 1; }
}
dpkg_in_root --install "$file"
root/usr/bin/dawn --version | grep -q '^dawn '
grep -q '^Status: install ok installed' root/var/lib/dpkg/status
dpkg_in_root --purge dawn
[ -z "$(find root -path root/var/lib/dpkg -prune -o ! -type d -print | grep -v -e /etc/ || true)" ]

echo "made, installed, removed"
