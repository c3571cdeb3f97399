#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes a Debian package of the two programs that were built: deb.sh DAWN BOARD FOLDER. Prints the path of the package. Needs
# dpkg-deb, dpkg-shlibdeps (dpkg-dev) and strip, and no network. DEB_FLAGS go to dpkg-deb (-z1: faster, larger). DEBFULLNAME and
# DEBEMAIL name the maintainer. If lintian is there, it has to accept the package, unless LINTIAN=no.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for tool in dpkg-deb dpkg-shlibdeps strip; do
    command -v "$tool" >/dev/null || { echo "make deb needs $tool (apt-get install dpkg-dev binutils)" >&2; exit 1; }
done
dawn=$(realpath "$1") board=$(realpath "$2") folder=$3
version=$("$dawn" --version | cut -d ' ' -f 2)
architecture=$(dpkg --print-architecture)
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH=$epoch
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
umask 022

DESTDIR=$root PREFIX=/usr ZSH_FOLDER=vendor-completions MAN_DATE=$(date -u -d "@$epoch" +%Y-%m-%d) \
    "$here/install.sh" install "$dawn" "$board" >/dev/null
rm -r "$root/usr/share/dawn" # dpkg has the list
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root/usr/bin/dawn" "$root/usr/bin/dawn-scoreboard"
mkdir -p "$root/lib/systemd"
mv "$root/usr/lib/systemd/system" "$root/lib/systemd/system"
rmdir "$root/usr/lib/systemd"
gzip -9n "$root"/usr/share/man/man1/*.1

doc=$root/usr/share/doc/dawn
cat >"$doc/copyright" <<EOF
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: DAWN
Source: the tree that this package was built from

Files: *
Copyright: $(date -u -d "@$epoch" +%Y), the authors of DAWN
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
EOF
rm "$doc/COPYING"
maintainer="${DEBFULLNAME:-DAWN maintainers} <${DEBEMAIL:-maintainers@dawn.example}>"
cat >"$work/changelog" <<EOF
dawn ($version) unstable; urgency=medium

  * Built from the source tree; its docs/CHANGELOG.md says what is new.

 -- $maintainer  $(date -u -R -d "@$epoch")
EOF
gzip -9n <"$work/changelog" >"$doc/changelog.gz"

mkdir -p "$work/debian" "$root/DEBIAN"
printf 'Source: dawn\n\nPackage: dawn\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O root/usr/bin/dawn root/usr/bin/dawn-scoreboard 2>"$work/said" |
    sed -n 's/^shlibs:Depends=//p') || { cat "$work/said" >&2; exit 1; }
cat >"$root/DEBIAN/control" <<EOF
Package: dawn
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$root" | cut -f 1)
Depends: $depends, openssh-client
Section: science
Priority: optional
Description: deep-learning benchmark that measures time to accuracy
 DAWN trains reference models until a stated accuracy is reached and records
 how long that took, what it cost, the machine and the digests that let others
 check the result.
 .
 The package has the trainer dawn and the server dawn-scoreboard, which checks
 signed records, ranks them and shows them as pages. The server starts when
 its name is chosen: see /lib/systemd/system/dawn-scoreboard.service.
EOF
cat >"$root/DEBIAN/postinst" <<'EOF'
#!/bin/sh
set -e
if [ "$1" = configure ] && command -v systemd-sysusers >/dev/null; then
    systemd-sysusers ${DPKG_ROOT:+--root="$DPKG_ROOT"} dawn-scoreboard.conf
fi
if [ "$1" = configure ] && [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke try-restart dawn-scoreboard.service >/dev/null || true
fi
EOF
cat >"$root/DEBIAN/prerm" <<'EOF'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -z "${DPKG_ROOT:-}" ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop dawn-scoreboard.service >/dev/null || true
fi
EOF
chmod 755 "$root/DEBIAN/postinst" "$root/DEBIAN/prerm"
(cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
mkdir -p "$folder"
file=$folder/dawn_${version}_$architecture.deb
dpkg-deb ${DEB_FLAGS:-} --root-owner-group --build "$root" "$file" >/dev/null
if [ "${LINTIAN:-yes}" != no ] && command -v lintian >/dev/null; then
    lintian $([ "$(id -u)" != 0 ] || echo --allow-root) --fail-on error,warning "$file" >&2
fi
echo "$file"
