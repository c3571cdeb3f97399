# SPDX-License-Identifier: Apache-2.0
# Bash reads this file before a scenario (BASH_ENV, set by test/run.sh). Every command goes to the file $TRACE with its values. A
# command that ends the scenario under "set -e" is shown: its file and line, the commands before it, and the files that its line names.
unset BASH_ENV
exec {BASH_XTRACEFD}>"$TRACE"
PS4='+ ${BASH_SOURCE##*/}:$LINENO: '

trace_tail() { # COUNT: the last commands
    grep -v -e trace_failure -e '^+* trace.sh:' "$TRACE" | tail -n "$1" | cut -c 1-500
}

trace_file() { # FILE: its last lines, if it is a text with any
    [ -f "$1" ] && [ -s "$1" ] && grep -qI '' "$1" || return 0
    echo "--- $1:"
    tail -n 20 "$1" | cut -c 1-300
}

trace_show() { # STATUS LINE FILE: where it failed, and the first time the command and the files
    local i name
    for ((i = 2; i < ${#FUNCNAME[@]}; i++)); do echo "${BASH_SOURCE[i]##*/}:${BASH_LINENO[i - 1]}: status $1"; done
    [ -e "$TRACE.shown" ] && return
    trace_tail 5 >"$TRACE.shown"
    sed -n "${2}s/^ */> /p" "$3"
    cat "$TRACE.shown"
    for name in $({ sed -n "${2}p" "$3"; sed -n '$s/^+* [^ ]* //p' "$TRACE.shown"; echo ' out err'; } |
        tr -c '[:alnum:]._/-' '\n' | awk '!seen[$0]++'); do trace_file "$name"; done
}

trace_failure() { # STATUS; runs in the shell that failed. Where that is a subshell, its parents fail after it: one line each.
    [[ $- == *e* ]] || return 0 # a command substitution goes on
    set +x
    trap - ERR
    trace_show "$1" "${BASH_LINENO[0]}" "${BASH_SOURCE[1]}" || true # nothing in it ends the shell: it shall end with its own status
}
set -E
trap 'trace_failure $? >&2' ERR
set -x
