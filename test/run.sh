#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests and sums them up: run.sh [lint | PROGRAM | SCRIPT.sh]...
# As many run at once as TEST_JOBS says (default: the processors, at most 8). Each is reported when it ends.
# PROGRAM is a cmocka program. $TEST_UNDER, if it is set, is the command that runs it (an emulator of another processor). Its
# closing lines are shown, or all of its output if it fails. SCRIPT.sh is a scenario. It runs in an empty folder of its own, with
# a HOME of its own, and fails by its exit status (77: skipped, with the reason as its last line). A scenario sees no GPU, because
# it would train on it (make check-gpu tests GPUs). The last line of all is "N passed, M failed". Before it, each failed test has
# one line that runs it alone: $ALONE (make sets it) and the test.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
work=$(mktemp -d) || exit 1
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; wait; exit 130' INT TERM
limit=${TEST_SECONDS:-600} jobs=${TEST_JOBS:-$(($(nproc) < 8 ? $(nproc) : 8))}

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export LC_ALL=${TEST_LOCALE:-C.UTF-8}
[ "$jobs" -gt 1 ] && export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}  # threads that spin would take the processors of others
# The caller's own settings; DAWN_ISA stays, so that the tests can run on a lower instruction set (docs/testing.md).
unset DAWN_DATA DAWN_RESULTS DAWN_HANDLE DAWN_KEY DAWN_SERVER DAWN_SEED DAWN_CASE ${!DAWN_CUDA_@} ${!DAWN_EMULATE_@} ${!OMPI_@} \
    ${!XDG_@} SSH_AUTH_SOCK NO_COLOR CDPATH {http,https,all,no}_proxy {HTTP,HTTPS,ALL,NO}_PROXY ${!PYTHON@} ${!GIT_@} OMP_NUM_THREADS

# What follows runs in a process for each test: $place is a folder of its own, "said" is what the test printed, "sum" has
# its counts.
say() { printf '%-4s  %-28s %s (%d s)\n' "$1" "$2" "$3" "$((SECONDS - since))"; }

sums() { echo "$1 $2 $3" >"$place/sum"; }  # passed, failed, skipped

count() { grep -c -- "$1" "$place/said"; }

# Runs a test with the limit of time. TERM ends it with all that it started: timeout passes the signal on to its process group.
limited() { # COMMAND...
    local rc
    timeout -k 10 "$limit" "$@" &
    trap "kill $! 2>/dev/null" TERM
    wait $!
    rc=$?
    wait  # after TERM, until the test has ended
    return "$rc"
}

unit() {
    local name rc ok bad skip
    name=$(basename "$1")
    limited ${TEST_UNDER:-} "$1" >"$place/said" 2>&1 </dev/null
    rc=$?
    ok=$(count '^\[       OK \]') skip=$(count '^\[  SKIPPED \] [^ ]*$')
    bad=$(sed -n 's/^\[  FAILED  \].* \([0-9]*\) test(s), listed below.*/\1/p' "$place/said" | head -n 1)
    bad=${bad:-0}
    # A crash, a leak or a program that ran nothing has no line of its own.
    if [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
    if [ "$rc" -eq 0 ] && [ "$((ok + skip))" -eq 0 ]; then bad=1; echo "no test ran" >>"$place/said"; fi
    sums "$ok" "$bad" "$skip"
    if [ "$bad" -gt 0 ]; then
        cat "$place/said"
        [ "$rc" -eq 124 ] && echo "stopped after $limit s"
        say FAIL "$name" "$bad failed, $ok passed, exit status $rc"
    else
        grep -E '^\[(==========|  PASSED  )\]' "$place/said" | grep -v Running
        say ok "$name" "$ok passed"
    fi
}

# How a scenario ended of which trace.sh has shown nothing: with "exit", or stopped.
left_by() { # STATUS
    [ -e "$place/trace.shown" ] && return
    [ "$1" -eq 124 ] && echo "stopped after $limit s"
    local end
    end=$(grep -nE '^\+ [^ ]*: exit [1-9]' "$place/trace" | tail -n 1 | cut -d : -f 1)
    head -n "${end:-999999999}" "$place/trace" | tail -n 8 | cut -c 1-500
}

scenario() {
    local name rc
    name=$(basename "$(dirname "$1")")/$(basename "$1" .sh)
    mkdir "$place/$(basename "$name")"
    export CUDA_VISIBLE_DEVICES='' ROOT=$root DAWN=${DAWN:-$root/dawn}
    cd "$place/$(basename "$name")" || return
    TRACE=$place/trace BASH_ENV=$root/test/trace.sh limited bash "$root/$1" >"$place/said" 2>&1 </dev/null
    rc=$?
    case $rc in
    0) sums 1 0 0; say ok "$name" passed ;;
    77) sums 0 0 1; say skip "$name" "$(tail -n 1 "$place/said")" ;;
    *) sums 0 1 0; cat "$place/said"; left_by "$rc"; say FAIL "$name" "exit status $rc" ;;
    esac
}

lint() {
    if limited test/lint.sh $1 >"$place/said" 2>&1; then
        sums 1 0 0; say ok "lint $1" "$(tail -n 1 "$place/said")"
    else
        sums 0 1 0; cat "$place/said"; say FAIL "lint $1" ""
    fi
}

one() { # NUMBER TEST
    place=$work/$1 since=$SECONDS
    export HOME=$place/home
    mkdir -p "$HOME"
    case $2 in
    lint) lint "" ;;
    lint-itself) lint --self-test ;;
    *.sh) scenario "$2" ;;
    *) unit "$2" ;;
    esac >"$place/report" 2>&1
}

# Waits until a test ends, prints its report and adds its counts. A process that died without counts has failed.
passed=0 failed=0 skipped=0 ran=0 number=0
declare -A of named
alone=()
collect() {
    local pid='' ok bad skip
    wait -n -p pid
    if [ -z "${pid:-}" ]; then # bash no longer knows processes that a signal ended
        echo "FAIL  $ran tests were ended by a signal"
        failed=$((failed + ran)) ran=0
        return
    fi
    cat "$work/${of[$pid]}/report"
    read -r ok bad skip <"$work/${of[$pid]}/sum" || ok=0 bad=1 skip=0
    [ "$bad" -eq 0 ] || alone+=("${named[$pid]}")
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip)) ran=$((ran - 1))
    chmod -R u+rwX "$work/${of[$pid]}"
    rm -rf "${work:?}/${of[$pid]}"
}

tests=()
for test in "$@"; do
    case $test in
    lint) tests+=(lint lint-itself) ;;
    *'*'*) ;; # a folder without tests
    *) tests+=("$test") ;;
    esac
done
start() { # TEST
    number=$((number + 1))
    one "$number" "$1" &
    of[$!]=$number named[$!]=$1 ran=$((ran + 1))
}
for test in "${tests[@]}"; do
    [[ $test == */fault_drip.sh ]] && continue
    [ "$ran" -lt "$jobs" ] || collect
    start "$test"
done
while [ "$ran" -gt 0 ]; do collect; done
for test in "${tests[@]}"; do # what measures how fast answers come has the machine for itself
    if [[ $test == */fault_drip.sh ]]; then start "$test"; collect; fi
done
for test in ${alone[@]+"${alone[@]}"}; do echo "alone: ${ALONE:-test/run.sh }${test/#lint-itself/lint}"; done
[ "$skipped" -gt 0 ] && echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
