#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh SECONDS CORPUS FUZZER...: each fuzzer starts from test/fuzz/seeds/NAME, keeps new inputs under CORPUS/NAME
# and stops after SECONDS. A crash keeps its input there, prints the command that repeats it and fails.
set -eu
seconds=$1 corpus=$2
shift 2
[ $# -gt 0 ] || { echo "there are no fuzzers under test/fuzz/"; exit 1; }
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for fuzzer in "$@"; do
    name=$(basename "$fuzzer")
    name=${name#fuzz_}
    mkdir -p "$corpus/$name" "test/fuzz/seeds/$name"
    if ! "./$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$corpus/$name-" "$corpus/$name" "test/fuzz/seeds/$name" >"$log" 2>&1; then
        tail -n 60 "$log"
        echo "fuzz $name: failed; again with: $fuzzer $(ls -t "$corpus/$name-"* 2>/dev/null | head -n 1)"
        exit 1
    fi
    runs=$(sed -n 's/stat::number_of_executed_units: *//p' "$log")
    echo "fuzz $name: ${runs:-0} inputs in $seconds s, no fault"
done
