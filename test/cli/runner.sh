# SPDX-License-Identifier: Apache-2.0
# test/run.sh and test/trace.sh: a failed scenario shows the command, its values and the files it looked at; a failed test, how it
# runs alone.
set -eu

. "$ROOT/test/status.sh"

runs() { # STATUS SCRIPT: writes a scenario, runs it alone; the report is in "report"
    cat >scenario.sh
    local got=0
    "$ROOT/test/run.sh" "$(realpath --relative-to="$ROOT" scenario.sh)" >report 2>&1 || got=$?
    [ "$got" = "$1" ] || { cat report; exit 1; }
}

runs 0 <<'END'
[ -n "$(false; echo a substitution goes on)" ]
! grep -q nowhere <<<somewhere
END
reads report '^ok .* passed '
lacks report 'alone|scenario.sh:|substitution'

# A command that fails: its place and its callers, its values, and the file that it read.
runs 1 <<'END'
set -eu
word=planet
look() {
    grep -q "hello $word" said
}
printf 'hello\nworld\n' >said
look
echo and it goes on
END
lacks report 'goes on'
reads report '^scenario.sh:4: status 1$'
reads report '^scenario.sh:7: status 1$'
reads report "^[+] scenario.sh:4: grep -q 'hello planet' said\$"
reads report '--- said: hello world '
reads report '^alone: .*scenario.sh$'
[ "$(tail -n 1 report)" = '0 passed, 1 failed' ]
runs 1 <<'END'
set -eu
bash -c 'exit 5'
exit 0
END
reads report '^FAIL .*exit status 5 '

# A comparison: both sides. A pipe shows what went into it, a subshell where it failed and its parent.
runs 1 <<'END'
set -eu
echo 6 >six
[ "$(cat six)" = 7 ]
END
reads report "^[+] scenario.sh:3: '\[' 6 = 7 '\]'\$"
runs 1 <<'END'
set -eu
echo two words >left
tr ' ' '_' <left | grep -q '^three'
END
reads report '--- left: two words '
runs 1 <<'END'
set -eu
(cd /
false)
END
reads report '^scenario.sh:3: status 1$'
[ "$(grep -c '^scenario.sh:' report)" = 2 ]

# What ends with "exit", also where a trap cleans up after it, and what runs for too long.
runs 1 <<'END'
trap 'rm -f said' EXIT
echo wrong >said
if grep -q wrong said; then exit 1; fi
END
reads report '[+] scenario.sh:3: grep -q wrong said [+] scenario.sh:3: exit 1 FAIL '
export TEST_SECONDS=1
runs 1 <<'END'
sleep 60
END
reads report 'stopped after 1 s [+] scenario.sh:1: sleep 60 FAIL '
unset TEST_SECONDS

# expect and reads print the expected and the actual text.
runs 1 <<'END'
. "$ROOT/test/status.sh"
expect 0 'hello planet' echo hello world
END
reads report 'scenario.sh:2: wanted status 0 and "hello planet", got 0 from: echo hello world hello world '
runs 1 <<'END'
set -eu
. "$ROOT/test/status.sh"
printf 'a sentence over\n   two lines\n' >said
reads said 'sentence over two'
reads said '^a sentence over$'
lacks said 'three lines'
lacks said 'over two'
END
reads report 'scenario.sh:7: status 1 '
reads report 'said has "over two": a sentence over two lines '

# What the caller has set for himself is not seen.
export DAWN_HANDLE=ann DAWN_SERVER=http://127.0.0.1:1 XDG_CONFIG_HOME=/nowhere http_proxy=http://127.0.0.1:1 PYTHONPATH=/nowhere \
    OMP_NUM_THREADS=3
runs 0 <<'END'
[ -z "${DAWN_HANDLE-}${DAWN_SERVER-}${XDG_CONFIG_HOME-}${http_proxy-}${PYTHONPATH-}${OMP_NUM_THREADS-}" ]
END

# $TEST_UNDER runs a unit test. This one has no program at all, so that only the command can have passed it.
printf '#!/bin/sh\n[ "$1 $2" = "-L no_program" ] && echo "[       OK ] emulated"\n' >emulator
chmod +x emulator
TEST_UNDER="$PWD/emulator -L" "$ROOT/test/run.sh" no_program >report 2>&1
reads report '^ok .* 1 passed '
