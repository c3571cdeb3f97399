# SPDX-License-Identifier: Apache-2.0
# For scenarios: . "$ROOT/test/wait.sh". Each function waits for a condition, never for a time. The bound is for hanging programs;
# a busy machine does not reach it. The shell creates the file of a redirection in the background, so it may be missing at first.
WAIT_SECONDS=${WAIT_SECONDS:-60}

wait_for() { # COMMAND...: until it succeeds
    local end=$((SECONDS + WAIT_SECONDS))
    until "$@" >/dev/null 2>&1; do
        if [ "$SECONDS" -ge "$end" ]; then
            echo "waited $WAIT_SECONDS s in vain for: $*" >&2
            return 1
        fi
        sleep 0.05
    done
}

wait_line() { # PID FILE PATTERN: until the process has written such a line; fails at once when it has ended without
    local end=$((SECONDS + WAIT_SECONDS)) alive=yes
    until grep -q -- "$3" "$2" 2>/dev/null; do
        if [ "$alive" = no ] || [ "$SECONDS" -ge "$end" ]; then
            echo "no line \"$3\" in $2 of process $1 (still there: $alive):" >&2
            cat "$2" >&2
            return 1
        fi
        sleep 0.05
        kill -0 "$1" 2>/dev/null || alive=no # and look once more: it may have written before it ended
    done
}

ended() { # PID: it is gone, or a zombie that somebody else has to fetch
    local state
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || return 0
    [ "$state" = Z ] || [ -z "$state" ]
}
