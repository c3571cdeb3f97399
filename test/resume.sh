# SPDX-License-Identifier: Apache-2.0
# For scenarios, after test/wait.sh: . "$ROOT/test/resume.sh".

state_or_end() { # PID: its run has written a state, or it has ended
    [ -e killed/run-1.state ] || ended "$1"
}

# A training that writes states is killed and resumed, and ends with the weights of straight/. A run that is done before it is killed
# is tried again.
resumes() { # STATUSES EVERY ARGUMENTS...: the resumed run may end with one of these statuses ("0 3"); a state each EVERY steps
    local statuses=$1 every=$2 pid rc try
    shift 2
    for try in 1 2 3 4 5; do
        rm -rf killed
        mkdir killed
        "$DAWN" "$@" --checkpoint-every "$every" --db killed/results.db >killed.txt 2>&1 &
        pid=$! rc=0
        wait_for state_or_end "$pid"
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || rc=$?
        if [ "$rc" = 137 ] && [ -e killed/run-1.state ]; then break; fi
        rc=0
    done
    [ "$rc" = 137 ]
    rc=0
    "$DAWN" train --resume 1 --db killed/results.db >resumed.txt || rc=$?
    case " $statuses " in *" $rc "*) ;; *) return 1 ;; esac
    cmp straight/run-1.safetensors killed/run-1.safetensors
}
