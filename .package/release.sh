#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes an archive of the two programs that were built, for machines without a compiler: release.sh DAWN BOARD FOLDER. Prints the
# path of the archive. It has every shared library, the C library and its loader too, so that it runs on any Linux of this
# architecture, older and newer ones; bin/NAME starts lib/dawn/NAME with them. Needs ldd, strip, tar and xz, and no network.
# XZ_OPT goes to xz (-0: faster, larger). CUDA and MPI are the machine's own, if it has them.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
for tool in ldd strip tar xz; do
    command -v "$tool" >/dev/null || { echo "make release needs $tool (apt-get install binutils xz-utils)" >&2; exit 1; }
done
dawn=$(realpath "$1") board=$(realpath "$2") folder=$3
version=$("$dawn" --version | cut -d ' ' -f 2)
architecture=$(uname -m)
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct 2>/dev/null || date +%s)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/dawn
own=$root/lib/dawn
umask 022

DESTDIR=$root PREFIX=/ MAN_DATE=$(date -u -d "@$epoch" +%Y-%m-%d) "$here/install.sh" install "$dawn" "$board" >/dev/null
rm -r "$root/share/dawn" "$root/lib" # the list for an uninstall; the systemd unit, which has the folder in it
mkdir -p "$own"
loader=$(ldd "$dawn" | sed -n 's/^[[:space:]]*\(\/[^ ]*\/ld-[^ ]*\) (.*/\1/p')
[ -n "$loader" ] || { echo "ldd does not name the loader of $dawn" >&2; exit 1; }
for name in dawn dawn-scoreboard; do
    mv "$root/bin/$name" "$own/$name"
    cat >"$root/bin/$name" <<EOF
#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
own=\$(dirname -- "\$(readlink -f -- "\$0")")/../lib/dawn
exec "\$own/$(basename "$loader")" --library-path "\$own\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" "\$own/$name" "\$@"
EOF
    chmod 755 "$root/bin/$name"
done

# What a program loads while it runs: libgcc_s for threads that end, and in older C libraries those that look names up.
ldd "$dawn" "$board" | sed -n 's/^.* => \(\/[^ ]*\) .*/\1/p' | sort -u >"$work/libraries"
for name in libgcc_s.so.1 libresolv.so.2 libnss_dns.so.2 libnss_files.so.2; do
    file=$(dirname "$(realpath "$loader")")/$name
    [ ! -f "$file" ] || echo "$file" >>"$work/libraries"
done
echo "$loader" >>"$work/libraries"
package_of() { # LIBRARY: its package, which may list it with or without /usr
    real=$(realpath "$1")
    for path in "$1" "$real" "${real#/usr}"; do
        dpkg-query -S "$path" 2>/dev/null && return
    done | sed -n '1s/[:,].*//p'
}
while IFS= read -r library; do
    cp -L "$library" "$own/"
    package=$(package_of "$library")
    # The terms of a library are stored next to the terms of DAWN.
    [ -z "$package" ] || [ ! -f "/usr/share/doc/$package/copyright" ] ||
        install -D -m 644 "/usr/share/doc/$package/copyright" "$root/share/doc/dawn/libraries/$package"
done <"$work/libraries"
find "$own" -type f -name '*.so*' -exec chmod 755 {} +
strip --strip-unneeded --remove-section=.comment "$own/dawn" "$own/dawn-scoreboard"

mkdir -p "$folder"
file=$folder/dawn-$version-linux-$architecture.tar.xz
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -cf - dawn | xz -T1 >"$file"
echo "$file"
