#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts DAWN under $DESTDIR$PREFIX, or takes away what it put there:
#   install.sh install DAWN BOARD    the two programs that were built
#   install.sh uninstall
# The list of files lies in $PREFIX/share/dawn/files, so that an uninstall needs no build and removes nothing else. A new
# installation removes what an older one has and it has not. MAN_DATE (YYYY-MM-DD) is the date on man pages.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
prefix=${PREFIX:-/usr/local}
case $prefix in /*) ;; *) echo "PREFIX must be an absolute path; got \"$prefix\"" >&2; exit 2 ;; esac
root=${DESTDIR:-}$prefix
list=$root/share/dawn/files

# put MODE FILE NAME: a file at its place below the prefix
put() {
    install -D -m "$1" "$2" "$root/$3"
    echo "$3" >>"$work/files"
}
also() { # NAME TARGET: a link next to its target
    ln -sf "$2" "$root/$1"
    echo "$1" >>"$work/files"
}

# remove FILE: what is listed there. A list is a file of ours, and yet no name in it leads out of the prefix.
remove() {
    while IFS= read -r name; do
        case /$name/ in *[!-A-Za-z0-9_./]* | */../*) continue ;; esac
        rm -f "$root/$name"
        (cd "$root" && rmdir -p "$(dirname "$name")" 2>/dev/null) || true
    done <"$1"
}

man_pages() { # PROGRAM NAME: a page of the program and one of each command
    "$1" help --man >"$work/$2.1"
    "$1" help --complete '' | cut -f 1 | grep -vx help >"$work/commands"
    while IFS= read -r command; do "$1" help --man "$command" >"$work/$2-$command.1"; done <"$work/commands"
    for page in "$work/$2.1" "$work/$2"-*.1; do
        sed -i "s/^\(\.TH [^ ]* 1\) \"\"/\1 \"$date\"/" "$page"
        [ -s "$page" ] && put 644 "$page" "share/man/man1/$(basename "$page")"
        rm "$page"
    done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case ${1:-} in
install)
    set -- install "$(realpath "$2")" "$(realpath "$3")" # a bare name would be looked up in PATH
    : >"$work/files"
    date=${MAN_DATE:-$(date -u +%Y-%m-%d)}
    [ -x "$2" ] && [ -x "$3" ] || { echo "$2 and $3 have to be built first: make" >&2; exit 1; }
    put 755 "$2" bin/dawn
    put 755 "$3" bin/dawn-scoreboard
    man_pages "$3" dawn-scoreboard
    man_pages "$2" dawn
    put 644 "$here/dawn.bash" share/bash-completion/completions/dawn
    also share/bash-completion/completions/dawn-scoreboard dawn
    put 644 "$here/dawn.zsh" "share/zsh/${ZSH_FOLDER:-site-functions}/_dawn"
    put 644 "$here/dawn.fish" share/fish/vendor_completions.d/dawn.fish
    also share/fish/vendor_completions.d/dawn-scoreboard.fish dawn.fish
    sed "s#@PREFIX@#$prefix#" "$here/dawn-scoreboard.service" >"$work/service"
    put 644 "$work/service" lib/systemd/system/dawn-scoreboard.service
    put 644 "$here/dawn-scoreboard.sysusers" lib/sysusers.d/dawn-scoreboard.conf
    put 644 "$here/../COPYING" share/doc/dawn/COPYING
    for page in "$here"/../docs/*.md; do put 644 "$page" "share/doc/dawn/docs/$(basename "$page")"; done # messages name them
    if [ -f "$list" ]; then
        grep -vxF -f "$work/files" "$list" >"$work/old" || true
        remove "$work/old"
    fi
    install -D -m 644 "$work/files" "$list"
    echo "installed $(wc -l <"$list") files under $root"
    ;;
uninstall)
    [ -f "$list" ] || { echo "there is no installation under $root ($list)" >&2; exit 1; }
    cp "$list" "$work/files"
    echo share/dawn/files >>"$work/files"
    remove "$work/files"
    echo "removed the files installed under $root"
    ;;
*)
    sed -n 's/^#   \(install.sh\)/usage: \1/p' "$0" >&2
    exit 2
    ;;
esac
