#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# make install and make uninstall: every command and option of the programs' own help stands on a man page and is offered by
# completion; bash, and zsh and fish where they are, complete with the installed functions; nothing stays behind.
set -eu
install=$ROOT/.package/install.sh root=$PWD/root
export DESTDIR=$root PREFIX=/opt/dawn
bin=$root/opt/dawn/bin share=$root/opt/dawn/share
same() { [ "$1" = "$2" ] || { printf 'got:    %s\nwanted: %s\n' "$1" "$2"; exit 1; }; }

# An older version is there, and a folder of another program. A list cannot name files outside of the prefix.
mkdir -p "$share/doc/other" "$share/man/man1" "$share/dawn"
touch "$share/man/man1/dawn-old.1" outside
printf 'share/man/man1/dawn-old.1\n../../../outside\n' >"$share/dawn/files"
(cd "$(dirname "$DAWN")" && "$install" install "$(basename "$DAWN")" "$BOARD") >/dev/null # a bare name, as make gives it
[ ! -e "$share/man/man1/dawn-old.1" ]
cmp "$DAWN" "$bin/dawn"
grep -q '^ExecStart=/opt/dawn/bin/dawn-scoreboard ' "$root/opt/dawn/lib/systemd/system/dawn-scoreboard.service"

# Every document that a message names is there.
pages=$(grep -aoh 'docs/[a-z-]*\.md' "$bin/dawn" "$bin/dawn-scoreboard" | sort -u)
[ "$(echo "$pages" | wc -l)" -gt 5 ]
for page in $pages; do [ -f "$share/doc/dawn/$page" ] || { echo "a message names $page"; exit 1; }; done

# Man pages: no warning, and every option of -h, with its value. A page is read without its escapes.
plain() { sed 's/\\-/-/g; s/\\f[BIR]//g; s/\\&//g' "$1"; }
warnings=0
if command -v mandoc >/dev/null; then mandoc -T lint -W warning "$share"/man/man1/*.1 >said || warnings=1; fi
if command -v groff >/dev/null; then
    for page in "$share"/man/man1/*.1; do groff -ww -b -z -man -T utf8 "$page" >>said 2>&1; done
    if [ -s said ]; then warnings=1; fi
fi
[ "$warnings" = 0 ] || { cat said; exit 1; }

# A page has the variables that its command names, the program's page all of them and their order.
plain "$share/man/man1/dawn-submit.1" | grep -qx '.B DAWN_SERVER'
if plain "$share/man/man1/dawn-train.1" | grep -qx '.B DAWN_SERVER'; then exit 1; fi
for name in $(grep -aoh 'DAWN_\(RESULTS\|DATA\|SERVER\|HANDLE\|KEY\|SEED\|ISA\)' "$bin/dawn" | sort -u); do
    grep -qx ".B $name" "$share/man/man1/dawn.1" || { echo "$name is not on dawn.1"; exit 1; }
done
grep -q 'An option of the command line comes first' "$share/man/man1/dawn.1"

# check PROGRAM PAGE WORD...: the options that `PROGRAM WORD... -h` prints
check() {
    local program=$1 page=$2 name arg offered
    shift 2
    "$program" "$@" -h >help
    plain "$page" >text
    "$program" help --complete "$@" -- >offered
    while read -r name arg; do
        grep -qF -e "$name${arg:+ $arg}" text || { echo "$* $name $arg is not on $page"; return 1; }
        offered=${name/\[no-\]/no-}
        cut -f 1 offered | grep -qxF -e "$offered" || { echo "$* $offered is not offered"; return 1; }
        count=$((count + 1))
    done < <(sed -n 's/^  \(-., \|    \)\(--[][a-z0-9-]*\) \?\([^ ]*\).*/\2 \3/p' help)
}
count=0 commands=0
for program in dawn dawn-scoreboard; do
    "$bin/$program" help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' | grep -vx help >commands
    while read -r command; do
        check "$bin/$program" "$share/man/man1/$program-$command.1" "$command"
        plain "$share/man/man1/$program.1" | grep -q "^.BR $program-$command (1)"
        cut -f 1 <("$bin/$program" help --complete '') | grep -qx "$command"
        commands=$((commands + 1))
    done <commands
done
for sub in fetch import pack list verify show; do check "$bin/dawn" "$share/man/man1/dawn-data.1" data $sub; done
for sub in rotate revoke; do check "$bin/dawn" "$share/man/man1/dawn-keys.1" keys $sub; done
[ "$commands" -gt 20 ] && [ "$count" -gt 150 ]

# bash, with the function as it is installed. COMP_WORDS is split as bash splits it.
. "$share/bash-completion/completions/dawn"
PATH=$bin:$PATH
complete_bash() { # WORD...: the candidates, in one line
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _dawn
    echo "${COMPREPLY[*]}"
}
touch recipe.json
mkdir folder
same "$(complete_bash dawn re)" "$("$bin/dawn" help | sed -n 's/^  \(re[a-z]*\) .*/\1/p' | xargs)"
same "$(complete_bash dawn train --res)" --resume
same "$(complete_bash dawn data ver)" verify
same "$(complete_bash dawn data verify cif)" cifar10
same "$(complete_bash dawn data fetch --t)" --to
same "$(complete_bash dawn train cif)" cifar10
same "$(complete_bash dawn train --device c)" 'cuda cpu'
same "$(complete_bash dawn train --device = cp)" cpu
same "$(complete_bash dawn train cifar10 --recipe recipe.)" recipe.json
same "$(complete_bash dawn train cifar10 --data fol)" folder
same "$(complete_bash dawn train --set a = b --targ)" --target
same "$(complete_bash dawn results sh)" show
same "$(complete_bash dawn results show las)" '' # there is no record
same "$(complete_bash dawn keys ro)" rotate
same "$(complete_bash dawn keys rotate --han)" --handle
same "$(complete_bash dawn record -- recipe)" recipe.json
same "$(complete_bash dawn bench op)" ops
same "$(complete_bash dawn help tra)" train
same "$(complete_bash dawn no-such-command x)" ''
same "$(complete_bash dawn-scoreboard im)" import
same "$(complete_bash dawn-scoreboard import d)" dawnbench
same "$(complete_bash dawn-scoreboard --lis)" --listen
"$bin/dawn" record --quiet --target 0.5 -- sh -c 'echo "{\"dawn\":\"epoch\",\"epoch\":1,\"samples\":1,\"correct\":6000,\"items\":10000}"' \
    >/dev/null
same "$(complete_bash dawn results show '')" 'last 1'
same "$(complete_bash dawn results compare 1 la)" last
same "$(complete_bash dawn withdraw la)" last

if command -v fish >/dev/null; then
    fish_says() { fish --no-config -c "source $share/fish/vendor_completions.d/dawn.fish; complete -C '$1'" | cut -f 1 | xargs; }
    same "$(fish_says 'dawn rec')" 'recipe record'
    same "$(fish_says 'dawn train --device cp')" cpu
    same "$(fish_says 'dawn results show ')" '1 last'
fi
if command -v zsh >/dev/null; then # its own functions, which exist inside its line editor only, are stood in for
    zsh_says() {
        zsh -f -c 'compadd() { for c in $candidates; do [[ $c == $PREFIX* ]] && print -r -- $c; done }; _files() { print files $* }
            compset() { : }; words=("$@") CURRENT=$#; PREFIX=$words[-1]; f() { . '"$share/zsh/site-functions/_dawn"' }; f' zsh "$@" | xargs
    }
    same "$(zsh_says dawn rec)" 'record recipe'
    same "$(zsh_says dawn train --device cp)" cpu
    same "$(zsh_says dawn data pack imagenet fol)" files
fi

# The end removes everything, and nothing else.
printf '../../../outside\n' >>"$share/dawn/files"
"$install" uninstall >/dev/null
[ -e outside ]
same "$(cd root && find . ! -type d)" ''
same "$(cd root && find . -type d -empty)" ./opt/dawn/share/doc/other
if "$install" uninstall 2>err; then exit 1; fi
grep -q 'there is no installation under' err
echo "$commands commands, $count options"
