# SPDX-License-Identifier: Apache-2.0
# For scenarios: . "$ROOT/test/status.sh". Each function runs a command without a terminal; its output is in out and err. A shell
# ends if a command does not do what expect or says asks for.

status() { # COMMAND...: prints its exit status
    local rc=0
    "$@" >out 2>err </dev/null || rc=$?
    echo "$rc"
}

unexpected() { # STATUS WHAT GOT COMMAND...; names the line that called its caller
    local at
    at=$(caller 1)
    echo "${at##*/}:${at%% *}: wanted status $1 and $2, got $3 from: ${*:4}" >&2
    cat out err >&2
    exit 1
}

joined() { # FILE...: their lines as one, as they were before a sentence was wrapped
    { cat "$@"; echo; } | tr -s ' \n' ' '
}

expect() { # STATUS PATTERN COMMAND...: that status, and the pattern in its output, in one line or over the ends of lines
    local got
    got=$(status "${@:3}")
    [ "$got" = "$1" ] && cat out err | grep -q -- "$2" && return
    [ "$got" = "$1" ] && joined out err | grep -q -- "$2" || unexpected "$1" "\"$2\"" "$got" "${@:3}"
}

# That status, and one line on standard error with the extended pattern. Lines of progress, which a slow machine has, do not count.
says() { # STATUS PATTERN COMMAND...
    local got
    got=$(status "${@:3}")
    [ "$got" = "$1" ] && grep -qE -- "$2" err && [ "$(grep -cvE ' [.]{3}$|: [0-9]+%' err)" = 1 ] ||
        unexpected "$1" "one line like \"$2\"" "$got" "${@:3}"
}

# The extended pattern is, or is not, in the file: in one line or over the ends of lines. What was there is printed.
reads() { # FILE PATTERN
    grep -qE -- "$2" "$1" || joined "$1" | grep -qE -- "$2" || { echo "$1 lacks \"$2\":" >&2; cat "$1" >&2; return 1; }
}

lacks() { # FILE PATTERN
    [ -f "$1" ] && ! reads "$@" 2>/dev/null || { echo "$1 has \"$2\":" >&2; cat "$1" >&2; return 1; }
}

# Each Python expression is true of o, the JSON in the file (a list, if each line is one). Expressions can open other files with load.
holds() { # FILE EXPRESSION...
    python3 -c 'import csv, json, math, sys
def load(name):
    text = open(name).read()
    try: return json.loads(text)
    except ValueError: return [json.loads(line) for line in text.splitlines()]
o = load(sys.argv[1])
for expression in sys.argv[2:]: eval(expression) or sys.exit("%s: not %s\n%s" % (sys.argv[1], expression, json.dumps(o, indent=1)))' "$@"
}

sql() { # DATABASE STATEMENT...: carries them out, and prints the first row of each that has one
    python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    for row in [db.execute(statement).fetchone() for statement in sys.argv[2:]]:
        if row: print(*row)' "$@"
}
