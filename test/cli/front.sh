# SPDX-License-Identifier: Apache-2.0
# Both programs' mains: help, version, unknown commands, exit codes, and pipes that close early.
set -eu

. "$ROOT/test/status.sh"

# front NAME PROGRAM FIRST COMMAND...: everything that the mains of both programs share. FIRST begins the overview.
front() {
    local name=$1 program=$2 first=$3 asked c
    shift 3
    for asked in -h --help help; do
        [ "$(status "$program" $asked)" = 0 ]
        [ ! -s err ]
        grep -q "^$first" out
        for c in "$@" help; do grep -q "^  $c " out; done
        [ "$(grep -c '^  [a-z]*  ' out)" = "$(($# + 1))" ] # and no other
        awk 'length > 80 { exit 1 }' out
    done
    for c in "$@"; do
        expect 0 "^Usage: $name $c" "$program" $c -h
        [ ! -s err ]
        awk -v c="$name $c" 'length > 80 { print c " -h: too wide: " $0; bad = 1 } END { exit bad }' out >&2
        if grep -q '(default: [^)]*) (default' out; then return 1; fi # a help text does not repeat the table's default
        cp out by_option
        [ "$(status "$program" help $c)" = 0 ]
        cmp out by_option
        says 2 "^$name $c: there is no option --no-such-option" "$program" $c --no-such-option
    done
    for asked in --version -V; do
        [ "$(status "$program" $asked)" = 0 ]
        grep -Eq "^$name [0-9]+\.[0-9]+\.[0-9]+ \(.*(gcc|clang) [0-9.]+\)\$" out
    done
}

[ "$(status "$DAWN")" = 2 ] # no command is wrong usage, and the overview helps
grep -q '^Usage: dawn COMMAND' out
front dawn "$DAWN" 'Usage: dawn COMMAND' train record infer eval data results report keys submit verify replay withdraw amend object models prices recipe plan bench profile doctor
front dawn-scoreboard "$BOARD" 'Usage: dawn-scoreboard ' serve board import export check backup revoke audit draw cosign competition

says 2 '^dawn: there is no command "trian"; did you mean "train"\? \("dawn help" lists them\)$' "$DAWN" trian
[ ! -s out ]
says 2 '^dawn: there is no command "quantum" \("dawn help" lists them\)$' "$DAWN" quantum
says 2 'did you mean "train"' "$DAWN" help trian

"$DAWN" prices >out
awk 'length > 80 { exit 1 }' out
grep -q '^c7i.large  *\$0.0893  ' out

# Every command line of the documents names a command and options that there are.
declare -A help=()
lines=0
while IFS= read -r line; do
    read -ra words <<<"$(sed 's/^[ $]*//; s/^mpirun -n [0-9]* //; s/ [#|<>;].*//; s/ -- .*//' <<<"$line")"
    name=${words[1]}
    case "$name ${words[2]:-}" in "data "[a-z]* | "eval "[a-z]* | "keys rotate" | "keys revoke") name="$name ${words[2]}" ;; esac
    program=$DAWN
    [ "$(basename "${words[0]}")" = dawn ] || program=$BOARD
    case $name in
    -* | '') continue ;;
    help) continue ;;
    esac
    key="$(basename "$program") $name"
    [ -n "${help[$key]:-}" ] || help[$key]=$("$program" $name -h)
    for word in "${words[@]}"; do
        case $word in --?*) ;; *) continue ;; esac
        option=${word%%=*}
        grep -qE -- "--(\[no-\])?${option#--}\\b|--\[no-\]${option#--no-}\\b" <<<"${help[$key]}" && continue
        echo "no option $option of $key: $line"
        exit 1
    done
    lines=$((lines + 1))
done < <(grep -hE '^ *(\$ )?(mpirun -n [0-9]+ )?(\./)?dawn(-scoreboard)? [a-z]+( |$)' "$ROOT/README.md" "$ROOT"/docs/*.md)
[ $lines -gt 40 ]

# A reader that closes the pipe is no error; a full disk is one.
set -o pipefail
for i in 1 2 3; do "$DAWN" help | true; done
if [ -c /dev/full ]; then
    rc=0
    "$DAWN" help >/dev/full 2>err || rc=$?
    [ "$rc" = 1 ]
    grep -q 'cannot write the output: No space left' err
fi
