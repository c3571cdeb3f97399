#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs tests one after another and sums them up: run.sh [lint | PROGRAM | SCRIPT.sh]...
# PROGRAM is a cmocka program; its closing lines are shown, all it said when it fails. SCRIPT.sh is a scenario: it
# runs in an empty folder of its own, with a HOME of its own, and fails by its exit status (77: skipped, with the
# reason as its last line). A scenario sees no GPU, or it would train on it where there is
# one: that is what make check-gpu is for. The last line of all is "N passed, M failed".
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
work=$(mktemp -d) || exit 1
trap 'chmod -R u+rwX "$work"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
limit=${TEST_SECONDS:-600}
passed=0 failed=0 skipped=0

export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:detect_stack_use_after_return=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export HOME=$work/home LC_ALL=C.UTF-8
unset DAWN_DATA DAWN_RESULTS XDG_DATA_HOME XDG_CACHE_HOME DAWN_CASE ${!DAWN_CUDA_@} ${!DAWN_EMULATE_@}
mkdir -p "$HOME"

count() { grep -c -- "$1" "$work/said"; }

say() { printf '%-4s  %-28s %s (%d s)\n' "$1" "$2" "$3" "$((SECONDS - since))"; }

unit() {
    local name rc ok bad skip
    name=$(basename "$1")
    timeout -k 10 "$limit" "$1" >"$work/said" 2>&1 </dev/null
    rc=$?
    ok=$(count '^\[       OK \]') skip=$(count '^\[  SKIPPED \] [^ ]*$')
    bad=$(sed -n 's/^\[  FAILED  \].* \([0-9]*\) test(s), listed below.*/\1/p' "$work/said" | head -n 1)
    bad=${bad:-0}
    # A crash, a leak or a program that ran nothing has no line of its own.
    if [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1; fi
    if [ "$rc" -eq 0 ] && [ "$((ok + skip))" -eq 0 ]; then bad=1; echo "no test ran" >>"$work/said"; fi
    passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
    if [ "$bad" -gt 0 ]; then
        cat "$work/said"
        [ "$rc" -eq 124 ] && echo "stopped after $limit s"
        say FAIL "$name" "$bad failed, $ok passed, exit status $rc"
    else
        grep -E '^\[(==========|  PASSED  )\]' "$work/said" | grep -v Running
        say ok "$name" "$ok passed"
    fi
}

scenario() {
    local name rc folder
    name=$(basename "$(dirname "$1")")/$(basename "$1" .sh) folder=$work/$(basename "$1" .sh)
    mkdir "$folder"
    (cd "$folder" && CUDA_VISIBLE_DEVICES='' ROOT=$root DAWN=${DAWN:-$root/dawn} timeout -k 10 "$limit" bash "$root/$1") \
        >"$work/said" 2>&1 </dev/null
    rc=$?
    case $rc in
    0) passed=$((passed + 1)); say ok "$name" passed ;;
    77) skipped=$((skipped + 1)); say skip "$name" "$(tail -n 1 "$work/said")" ;;
    *) failed=$((failed + 1)); cat "$work/said"; say FAIL "$name" "exit status $rc" ;;
    esac
}

lint() {
    if test/lint.sh $1 >"$work/said" 2>&1; then
        passed=$((passed + 1)); say ok "lint $1" "$(tail -n 1 "$work/said")"
    else
        failed=$((failed + 1)); cat "$work/said"; say FAIL "lint $1" ""
    fi
}

for test in "$@"; do
    since=$SECONDS
    case $test in
    lint) lint ""; lint --self-test ;;
    *'*'*) ;; # a folder without tests
    *.sh) scenario "$test" ;;
    *) unit "$test" ;;
    esac
done
[ "$skipped" -gt 0 ] && echo "$skipped skipped"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
