# SPDX-License-Identifier: Apache-2.0
# The front door: help, version, unknown commands, exit codes, and pipes that close early.
set -eu

status() { # runs the rest; its exit status is printed, its words are in out and err
    local rc=0
    "$@" >out 2>err || rc=$?
    echo "$rc"
}

commands="train infer data results models recipe plan bench doctor help"

[ "$(status "$DAWN")" = 2 ] # no command is wrong usage, and the overview helps
grep -q '^Usage: dawn COMMAND' out
for asked in -h --help help; do
    [ "$(status "$DAWN" $asked)" = 0 ]
    [ ! -s err ]
    for c in $commands; do grep -q "^  $c " out; done
    [ "$(grep -c '^  [a-z]*  ' out)" = "$(echo $commands | wc -w)" ] # and no other
    awk 'length > 80 { exit 1 }' out
done

for c in train infer data results models recipe plan bench doctor; do
    [ "$(status "$DAWN" $c -h)" = 0 ]
    grep -q "^Usage: dawn $c" out
    [ ! -s err ]
    awk -v c=$c 'length > 80 { print "dawn " c " -h: too wide: " $0; bad = 1 } END { exit bad }' out >&2
    cp out by_option
    [ "$(status "$DAWN" help $c)" = 0 ]
    cmp out by_option
    [ "$(status "$DAWN" $c --no-such-option)" = 2 ]
    grep -q "^dawn $c: there is no option --no-such-option" err
    [ "$(wc -l <err)" = 1 ]
done

for asked in --version -V; do
    [ "$(status "$DAWN" $asked)" = 0 ]
    grep -Eq '^dawn [0-9]+\.[0-9]+\.[0-9]+ \(.*(gcc|clang) [0-9.]+\)$' out
done

[ "$(status "$DAWN" trian)" = 2 ]
grep -qx 'dawn: there is no command "trian". Did you mean "train"?' err
[ ! -s out ]
[ "$(status "$DAWN" quantum)" = 2 ]
grep -qx 'dawn: there is no command "quantum"; "dawn help" lists them' err
[ "$(status "$DAWN" help trian)" = 2 ]
grep -q 'Did you mean "train"' err

# A reader that goes away is no error; a disk that takes nothing is one.
set -o pipefail
for i in 1 2 3; do "$DAWN" help | true; done
if [ -c /dev/full ]; then
    rc=0
    "$DAWN" help >/dev/full 2>err || rc=$?
    [ "$rc" = 1 ]
    grep -q 'can not write the output: No space left' err
fi
