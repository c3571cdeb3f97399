#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The house rules that a machine can hold: lint.sh [FOLDER] checks a tree, lint.sh --self-test proves that each rule
# can fail. Every breach is one line: file:line: rule: what.
set -u
export LC_ALL=C
self=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

# Marks are put together here, so that this file does not break its own rules.
MARKS='TO''DO|FIX''ME|XX''X|HA''CK'
PLACES='/wo''rk/|/ho''me/|/tmp/ci''far|/tmp/br''ief'

sources() { find . \( -name .git -o -name 'build*' \) -type d -prune -o -type f \( "$@" \) -print | sort; }

code() { sources -name '*.c' -o -name '*.cc' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' -o -name '*.inc'; }

library() { code | grep -E '^\./(runtime|data|tasks|submit|scoreboard)/'; }

# Lines of the files on standard input that match, comments cut off: RULE PATTERN SENTENCE
forbid() {
    local rule=$1 pattern=$2 sentence=$3
    xargs -r awk -v rule="$rule" -v pattern="$pattern" -v sentence="$sentence" '{
        line = $0
        sub(/\/\/.*/, "", line)
        if (line ~ pattern) printf "%s:%d: %s: %s\n", FILENAME, FNR, rule, sentence
    }'
}

# Which rooms a room may include besides itself: data flows one way, and includes follow it. The first line whose room begins the
# file's path decides; /* stands for each folder there that has no line of its own, and @ for that folder. Where a header is listed, it alone may be included, not the rest of its room. The server (scoreboard)
# includes base and the format only. NAME_inside.h is only for the files next to it.
ROOMS='
runtime/common/cli      : runtime/common/base
runtime/common/draw     : runtime/common/base
runtime/common          : runtime/common/base
runtime/ranks           : runtime/ranks runtime/common
runtime                 : runtime
data                    : data runtime/common
submit/format/ssh       : runtime/common
submit/format/score     : submit/format/canonical.h submit/format/run_metric.h runtime/common
submit/format/check     : submit/format runtime/common
submit/format           : submit/format/ssh/sshsig.h runtime/common
submit/log              : runtime/common submit/format
submit/keys             : runtime/common submit/format
submit/results          : submit/results submit/format runtime/common
submit/client           : submit/keys/keyring.h submit/log submit/results/receipts.h submit/format runtime/common
submit                  : submit/keys submit/client/client.h submit/client/deliver.h submit/client/pace.h submit/client/seen.h submit/client/verify.h submit/client/verify_log.h submit/client/verify_ticket.h submit/log submit/results submit/format runtime/common
tasks/common/recipe     : runtime
tasks/common/step       : tasks/common/recipe data runtime
tasks/common/words      : data/text runtime/common/base
tasks/common/frechet    : runtime/common/base
tasks/common/decode     : tasks/common/step tasks/common/recipe data runtime
tasks/common/layers     : tasks/common/step tasks/common/recipe data runtime
tasks/common            : tasks/common submit/results submit/announce.h submit/format data runtime
tasks/tools/show        : tasks/commands.h submit/results submit/format runtime
tasks/tools/outside     : tasks/commands.h tasks/tasks.h tasks/tools/choose.h submit/results submit/format runtime
tasks/tools/replay      : tasks/commands.h tasks/tools/choose.h tasks/common/train submit/original.h submit/results submit/format data runtime
tasks/tools             : tasks/tools tasks/detection/coco.h tasks/tasks.h tasks/commands.h tasks/common submit/results submit/announce.h submit/format data runtime
tasks/*                 : @ tasks/common/step tasks/common/layers tasks/common/decode tasks/common/words tasks/common/frechet tasks/common/recipe data runtime
tasks                   : data tasks/common/step runtime
scoreboard/rank         : runtime/common submit/format
scoreboard/dawnbench    : runtime/common submit/format
scoreboard/store/file   : scoreboard/store/store.h runtime/common submit/format submit/log
scoreboard/store/tree   : scoreboard/store/file runtime/common submit/format submit/log
scoreboard/store/boards : scoreboard/store/file scoreboard/rank scoreboard/dawnbench/dawnbench.h runtime/common submit/format
scoreboard/store/types  : scoreboard/store/file scoreboard/store/tree scoreboard/store/boards scoreboard/store/store.h runtime/common submit/format
scoreboard/store        : scoreboard/store/file scoreboard/store/tree scoreboard/store/boards scoreboard/store/types scoreboard/rank/board.h scoreboard/rank/competition.h scoreboard/dawnbench/dawnbench.h runtime/common submit/format submit/log
scoreboard/http         : scoreboard/store/store.h scoreboard/store/problem.h runtime/common submit/format
scoreboard/pages/run    : scoreboard/pages/page.h scoreboard/rank/ranking.h scoreboard/dawnbench/dawnbench.h runtime/common submit/format
scoreboard/pages        : scoreboard/http/server.h scoreboard/rank/ranking.h scoreboard/rank/table.h scoreboard/dawnbench/dawnbench.h runtime/common submit/format
scoreboard/api          : scoreboard/http/server.h scoreboard/rank/ranking.h scoreboard/rank/table.h runtime/common submit/format
scoreboard/site         : scoreboard/http/server.h scoreboard/store/store.h runtime/common submit/format submit/log
scoreboard              : scoreboard/site/site.h scoreboard/api/api.h scoreboard/pages/pages.h scoreboard/http/server.h scoreboard/store/store.h scoreboard/dawnbench/dawnbench.h scoreboard/rank/table.h runtime/common submit/format
'
layering() {
    library | xargs -r awk -v rooms="$ROOMS" '
    BEGIN {
        count = split(rooms, line, "\n")
        for (i = 1; i <= count; i++) {
            if (split(line[i], side, ":") < 2) continue
            gsub(/ /, "", side[1])
            room[++known] = side[1]
            may[known] = side[2]
        }
    }
    function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
    function family(room, path,    part, parts) {
        if (!sub(/\/\*$/, "", room)) return room
        parts = split(path, part, "/")
        return parts > 2 && part[1] == room ? room "/" part[2] : "?"
    }
    function inside(path, place) { return path == place || index(path, place "/") == 1 }
    /^[ \t]*#[ \t]*include[ \t]+"/ {
        split($0, part, "\"")
        from = substr(FILENAME, 3)
        for (r = 1; r <= known && !inside(from, here = family(room[r], from)); r++) ;
        allowed = split(may[r], place, " ")
        for (i = 1; i <= allowed; i++) if (place[i] == "@") place[i] = here
        for (i = 1; i <= allowed && !inside(part[2], place[i]); i++) ;
        if (folder(part[2]) == folder(from)) next
        if (i > allowed || part[2] ~ /_inside\.h$/) printf "%s:%d: layering: may not include %s\n", FILENAME, FNR, part[2]
    }'
}

# No two headers include each other, in however many steps, and no two sources call each other's functions: one cannot be read or
# tested without the other. A name in a table of functions is no call. CIRCLES lists known pairs, one per line, the names in
# order.
CIRCLES='
'
circles() {
    library | grep '\.h$' | xargs -r awk '
    /^[ \t]*#[ \t]*include[ \t]+"/ {
        split($0, part, "\"")
        from = substr(FILENAME, 3)
        to[from, ++count[from]] = part[2]
        line[from, count[from]] = FNR
    }
    function reaches(from, goal,    i) {
        if (from == goal) return 1
        if ((from, goal) in seen) return 0
        seen[from, goal] = 1
        for (i = 1; i <= count[from]; i++) if (reaches(to[from, i], goal)) return 1
        return 0
    }
    END {
        for (from in count)
            for (i = 1; i <= count[from]; i++)
                if (reaches(to[from, i], from))
                    printf "./%s:%d: circles: %s leads back here\n", from, line[from, i], to[from, i]
    }' | sort | head -n 1
    library | grep -E '\.(c|cc|cu)$' | xargs -r awk -v known="$CIRCLES" '
    FNR == 1 { file = substr(FILENAME, 3); name = "" }
    {
        text = $0
        gsub(/\\./, "", text); gsub(/"[^"]*"/, "", text); sub(/\/\/.*/, "", text)
    }
    text ~ /^[A-Za-z_][^=;{}()]*[ *][A-Za-z_0-9]+\(/ && text !~ /^(typedef|extern|return|else|enum [^(]*[{])/ {
        name = text
        sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
        if (text ~ /^static /) own[file, name] = 1
        if (text ~ /^static / || text ~ /;/) name = ""
    }
    name != "" && /^\{/ { if (++places[name] == 1) home[name] = file; name = "" }
    name != "" && /;/ { name = "" }
    {
        while (match(text, /[A-Za-z_][A-Za-z_0-9]*\(/)) {
            word = substr(text, RSTART, RLENGTH - 1)
            before = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
            text = substr(text, RSTART + RLENGTH)
            if (before != "." && before != ">" && !((file, word) in used)) used[file, word] = FNR
        }
    }
    END {
        for (key in used) {
            split(key, part, SUBSEP)
            if (places[part[2]] != 1 || (key in own) || home[part[2]] == part[1]) continue
            calls[part[1], home[part[2]]] = used[key]
            what[part[1], home[part[2]]] = part[2]
        }
        for (key in calls) {
            split(key, part, SUBSEP)
            if (part[1] >= part[2] || !((part[2], part[1]) in calls)) continue
            if (index(known, "\n" part[1] " " part[2] "\n")) continue
            printf "./%s:%d: circles: calls %s of %s, which calls %s here\n", part[1], calls[key], what[key], part[2],
                what[part[2], part[1]]
        }
    }' | sort
}

licence() {
    sources -name '*.c' -o -name '*.cc' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' -o -name '*.inc' \
        -o -name '*.sh' -o -name '*.py' -o -name '*.sql' -o -name '*.md' -o -name Makefile -o -path './.ci/*' |
        while read -r f; do
            head -n 2 "$f" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$f:1: licence: no SPDX line"
        done
}

size() {
    { code; sources -name '*.sh' -o -name '*.py' -o -name Makefile; } | while read -r f; do
        n=$(wc -l <"$f")
        [ "$n" -le 600 ] || echo "$f:$n: size: more than 600 lines"
    done
}

# Lines of a top-level folder: C, CUDA, lists, SQL, JSON, and of test/ scripts, too. A feature pays for its lines by what it deletes; a
# budget that is raised says in its commit what for.
BUDGETS='data 22188  runtime 47884  tasks 42951  submit 19020  scoreboard 22090  test 78730'
budget() {
    set -- $BUDGETS
    while [ $# -gt 0 ]; do
        n=$({ code; sources -name '*.sql' -o -name '*.json'; sources -path './test/*.sh' -o -path './test/*.py'; } |
            grep "^\./$1/" | xargs -r cat | wc -l)
        [ "$n" -le "$2" ] || echo "$1: budget: $n lines, more than $2"
        shift 2
    done
}

# A file's name says one thing in the whole tree; the second of a name is the breach.
names() {
    code | awk -F/ 'seen[$NF]++ { print $0 ":1: names: another folder has a file of this name" }'
}

width() {
    code | xargs -r awk 'length > 130 { print FILENAME ":" FNR ": width: more than 130 columns" }'
}

marks() {
    { code; sources -name '*.sh' -o -name '*.py' -o -name '*.sql' -o -name Makefile -o -name '*.md'; } |
        xargs -r grep -nHE "(^|[^A-Za-z])($MARKS)([^A-Za-z]|\$)" | sed 's/$/: marks: do it, or write it down as a limit/'
}

places() {
    sources -name '*' ! -name '*.png' ! -name '*.db' | xargs -r grep -InHE "(^|[^A-Za-z0-9_.])($PLACES)" |
        sed 's/$/: places: a path of one machine/'
}

quiet='(^|[^A-Za-z0-9_])(printf|vprintf|puts|putchar|perror) *\(|f(printf|puts|putc|write)? *\(.*(stdout|stderr)'
printing() {
    library | grep -vE '/(cmd_|progress)[^/]*\.c$|^\./runtime/common/(base/error|cli/options|cli/program|cli/json_text)\.c$' |
        forbid printing "$quiet" "a library folder does not print"
}

leaving() {
    library | grep -v '^\./runtime/common/base/error\.c$' |
        forbid leaving '(^|[^A-Za-z0-9_])(_exit|_Exit|exit|quick_exit|abort) *\(' "only main exits, only BUG aborts"
}

pool() {
    library | grep -v '^\./runtime/common/base/threads\.c$' |
        forbid pool '<omp\.h>|pragma +omp +(parallel|task|sections)' "threads come from runtime/common/base/threads.h"
}

clocks() {
    library | grep -v '^\./runtime/common/base/clock\.c$' |
        forbid clocks '(^|[^A-Za-z0-9_])(clock_gettime|gettimeofday|omp_get_wtime) *\(' "time comes from runtime/common/base/clock.h"
}

quotes() {
    library | forbid quotes '"[^"]*`dawn[ -]' 'messages quote a command with "", not with backticks'
}

RULES='layering circles licence size budget names width marks places printing leaving pool clocks quotes'

check() { # FOLDER: prints the breaches, fails when there are any
    local found
    found=$(cd "$1" && for rule in $RULES; do $rule; done)
    [ -z "$found" ] && return 0
    echo "$found"
    return 1
}

# ---- the proof ----------------------------------------------------------------------------------------------------
expect() { # RULE FILE TEXT [FILE TEXT]: a clean tree with these files alone must fail with that rule and no other, once
    local tree=$work/tree rule=$1 file=$2 said
    rm -rf "$tree"
    shift
    while [ $# -gt 0 ]; do
        mkdir -p "$tree/$(dirname "$1")"
        printf '%b' "$2" >"$tree/$1"
        shift 2
    done
    set -- "$rule"
    said=$("$self" "$tree")
    if [ $? -eq 0 ] || ! grep -q ": $1: " <<<"$said" || [ "$(grep -c . <<<"$said")" -ne 1 ]; then
        echo "lint self-test: $1 does not notice $file ($said)"
        bad=1
    fi
    proved=$((proved + 1))
}

self_test() {
    local c='// SPDX-License-Identifier: Apache-2.0\n'
    local md='<!-- SPDX-License-Identifier: Apache-2.0 -->\n'
    work=$(mktemp -d) bad=0 proved=0
    trap 'rm -rf "$work"' EXIT
    expect layering runtime/common/base/a.h "$c#include \"runtime/graph.h\"\n"
    expect layering runtime/common/base/a.c "$c#include \"runtime/common/cli/options.h\"\n"
    expect layering runtime/a.c "$c#include \"data/dataset.h\"\n"
    expect layering data/a.c "$c#include \"runtime/graph.h\"\n"
    expect layering data/b.c "$c#include \"b.h\"\n"
    expect layering tasks/tools/a.c "$c#include \"submit/client/client.h\"\n"
    expect layering tasks/common/step/a.c "$c#include \"tasks/common/train/trainer.h\"\n"
    expect layering tasks/cifar10/a.c "$c#include \"tasks/common/train/train.h\"\n"
    expect layering tasks/anew/a.c "$c#include \"tasks/squad/squad.h\"\n"
    expect layering scoreboard/a.c "$c#include \"submit/client/client.h\"\n"
    expect layering scoreboard/rank/a.c "$c#include \"scoreboard/store/store.h\"\n"
    expect layering scoreboard/store/a.c "$c#include \"scoreboard/http/server.h\"\n"
    expect layering scoreboard/store/a.c "$c#include \"scoreboard/dawnbench/dawnbench_inside.h\"\n"
    expect layering scoreboard/http/a.c "$c#include \"scoreboard/pages/pages.h\"\n"
    expect layering scoreboard/api/a.c "$c#include \"scoreboard/pages/page.h\"\n"
    expect layering scoreboard/pages/a.c "$c#include \"scoreboard/api/api.h\"\n"
    expect layering scoreboard/pages/a.c "$c#include \"scoreboard/pages.h\"\n"
    expect layering scoreboard/a.c "$c#include \"scoreboard/store/file/sql.h\"\n"
    expect layering scoreboard/store/boards/a.c "$c#include \"scoreboard/store/types/types.h\"\n"
    expect layering scoreboard/store/types/a.c "$c#include \"scoreboard/store/store_inside.h\"\n"
    expect layering runtime/a.c "$c#include \"runtime/cpu/a_inside.h\"\n"
    expect layering submit/keys/a.c "$c#include \"submit/client/client.h\"\n"
    expect layering submit/client/a.c "$c#include \"submit/payload.h\"\n"
    expect layering submit/a.c "$c#include \"submit/client/client_origin.h\"\n"
    expect layering submit/format/a.c "$c#include \"submit/results/result.h\"\n"
    expect layering submit/format/a.c "$c#include \"submit/format/check/check.h\"\n"
    expect layering submit/format/score/a.c "$c#include \"submit/format/statement.h\"\n"
    expect circles data/a.h "$c#include \"data/b.h\"\n" data/b.h "$c#include \"data/a.h\"\n"
    expect circles data/a.c "$c""int a_one(void)\n{\n    return b_one();\n}\n" \
        data/b.c "$c""int b_one(void)\n{\n    return a_one();\n}\n"
    expect licence data/a.c 'int a;\n'
    expect licence test/a.sh '#!/bin/sh\n'
    expect licence docs/a.md '# A\n'
    expect licence .ci/run '#!/bin/sh\n'
    expect size data/a.c "$c$(printf 'int a;\\n%.0s' $(seq 600))"
    most=${BUDGETS#data }
    expect budget data/a.json "$(printf '1\\n%.0s' $(seq $((${most%% *} + 1))))"
    expect names runtime/a.c "$c" data/a.c "$c"
    expect width data/a.c "$c// $(printf 'a%.0s' $(seq 128))\n"
    expect marks data/a.c "$c// TO""DO: later\n"
    expect marks test/a.sh "# SPDX-License-Identifier: Apache-2.0\n# FIX""ME\n"
    expect places docs/a.md "$md""see /ho""me/me/data\n"
    expect places test/unit/a.c "$c""char *a = \"/wo""rk/x\";\n"
    expect printing data/a.c "$c""void a(void) { printf(\"a\"); }\n"
    expect printing runtime/cpu/a.c "$c""void a(void) { fprintf(stderr, \"a\"); }\n"
    expect printing tasks/a.c "$c""void a(void) { fputs(\"a\", stdout); }\n"
    expect leaving data/a.c "$c""void a(void) { exit(1); }\n"
    expect leaving tasks/cmd_a.c "$c""void a(void) { abort(); }\n"
    expect pool runtime/cpu/a.c "$c#pragma omp parallel for\n"
    expect clocks tasks/a.c "$c""void a(void) { clock_gettime(0, 0); }\n"
    expect quotes data/a.c "$c""char *a = \"see \`dawn data\`\";\n"

    # Allowed files pass: each rule must also stay silent.
    local tree=$work/clean
    mkdir -p "$tree/runtime/common/base" "$tree/data" "$tree/tasks" "$tree/scoreboard" "$tree/test/unit"
    printf '%b' "$c#include \"runtime/common/base/error.h\"\nvoid bug(void) { abort(); }\n" >"$tree/runtime/common/base/error.c"
    printf '%b' "$c#include \"runtime/common/base/error.h\"\n// printf( is only named here\nsnprintf(a, 1, b);\n" >"$tree/data/a.c"
    printf '%b' "$c#include \"data/a.h\"\n#include \"runtime/graph.h\"\nprintf(\"a\");\n" >"$tree/tasks/cmd_a.c"
    printf '%b' "$c#include \"submit/format/a.h\"\nfprintf(file, \"a\");\n" >"$tree/scoreboard/e.c"
    mkdir -p "$tree/scoreboard/pages"
    printf '%b' "$c#include \"scoreboard/pages/f_inside.h\"\n#include \"scoreboard/http/server.h\"\n" >"$tree/scoreboard/pages/f.c"
    # A table, a member and a static function that is called like another file's global one make no circle.
    printf '%b' "$c""int c_one(void)\n{\n    return list[0].d_one() + d_two();\n}\nint (*a[])(void) = {d_one};\n" >"$tree/data/c.c"
    printf '%b' "$c""static int c_one(void)\n{\n    return 1;\n}\nint d_one(void)\n{\n    return c_one();\n}\nint d_two(void)\n{\n}\n" \
        >"$tree/data/d.c"
    printf '%b' "$c""mkdtemp(\"/tmp/dawn-XXXX""XX\"); exit(0); printf(\"a\");\n" >"$tree/test/unit/g.c"
    "$self" "$tree" >"$work/said" || { echo "lint self-test: a clean tree fails:"; cat "$work/said"; bad=1; }
    [ "$bad" -eq 0 ] && echo "$proved breaches noticed, a clean tree passed"
    return "$bad"
}

if [ "${1:-}" = --self-test ]; then
    self_test
else
    check "${1:-$(dirname "$self")/..}" || exit 1
    [ -n "${1:-}" ] || echo "no breach"
fi
