# SPDX-License-Identifier: Apache-2.0
# For scenarios with a scoreboard: . "$ROOT/test/board.sh". It has the functions of wait.sh and status.sh, too. What the user's
# programs remember lies in the scenario's folder. A scoreboard that still runs at the end is stopped.
command -v curl >/dev/null && command -v python3 >/dev/null || { echo "curl or python3 is not installed"; exit 77; }
. "$ROOT/test/wait.sh"
. "$ROOT/test/status.sh"
export HOME=$PWD XDG_DATA_HOME=$PWD/data
boards=
trap 'kill $boards 2>/dev/null || true' EXIT

start_board() { # RECORD OPTIONS...: serves RECORD.db; leaves its process in $pid and its address in $url
    : >"$1.said" # so that no line of an earlier server is read
    "$BOARD" --db "$1.db" --listen 127.0.0.1:0 "${@:2}" >"$1.said" 2>&1 &
    pid=$!
    boards="$boards $pid"
    wait_line $pid "$1.said" Ctrl-C
    url=$(sed -n 's|^Serving .* at \(http://[^ ]*\)/ (key SHA256:.*), Ctrl-C stops$|\1|p' "$1.said")
    [ -n "$url" ] || { cat "$1.said"; return 1; }
}

stop_board() { # [PID]: it must end well
    kill "${1:-$pid}"
    wait "${1:-$pid}"
}

statement() { # NUMBER: what the server at $url says of a statement
    curl -fsS "$url/api/v1/statements/$1"
}

# ---- what records of measurements are made to hold
emulated_machine() { # DATABASE: machine 2 is as machine 1, with an emulated GPU
    sql "$1" "CREATE TEMP TABLE other AS SELECT * FROM machines" "UPDATE other SET id = 2, digest = 'other', gpu = 'Emulated H200'" \
        "INSERT INTO machines SELECT * FROM other"
}

scaling() { # DATABASE PROCESSES NANOSECONDS: of a step, as dawn bench --scaling records it with measurement 1
    sql "$1" "INSERT INTO scalings (sweep, task, samples, data, noise, model, recipe, precision, device, threads, processes, machines,
        batch, size, step_ns, gradient_bytes, exchanges, machine, software, measured_ms) SELECT 1, task, samples, data, noise, model,
        recipe, precision, device, threads, $2, 1, 20, size, $3, 1000, 1, machine, software, measured_ms FROM benches WHERE id = 1"
}
