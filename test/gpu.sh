#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu.sh PROGRAM...: what must hold on a real card, in under five minutes; called by "make check-gpu". Each PROGRAM is a
# cmocka program of test/cuda/ linked with the real CUDA runtime. Then compute-sanitizer, where the toolkit has it, looks
# for memory faults and races in the operator list, and a training on synthetic images must reach 94%. The last lines are
# a table of what was measured; the last one of all is "N passed, M failed".
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 ops=

verdict() { # NAME STATUS [WORDS]
    if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    printf '%-4s  %-28s %s (%d s)\n' "$([ "$2" -eq 0 ] && echo ok || echo FAIL)" "$1" "${3:-}" "$((SECONDS - since))"
}

held() { # NAME COMMAND...: shows what it said only when it fails
    local name=$1 rc
    shift
    since=$SECONDS
    timeout -k 5 200 "$@" >"$work/said" 2>&1
    rc=$?
    [ "$rc" -eq 0 ] || tail -n 60 "$work/said"
    verdict "$name" "$rc" "$(grep -E '^\[  PASSED  \]|^ERROR SUMMARY' "$work/said" | tail -n 1)"
}

./dawn doctor --device cuda >"$work/doctor" 2>&1 || { cat "$work/doctor"; echo "0 passed, 1 failed"; exit 1; }
cat "$work/doctor"

for program in "$@"; do
    case $program in */test_cuda_ops) ops=$program ;; esac
    held "$(basename "$program")" "$program"
done

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
if [ -n "$sanitizer" ]; then
    # Narrowed to the own kernels, because every launch is slowed down a hundredfold.
    for tool in memcheck racecheck; do
        for cases in norm pool act matmul augment xent; do
            held "$tool $cases" env DAWN_CASE=$cases DAWN_CUDA_GRAPHS=off "$sanitizer" --tool $tool --error-exitcode 9 \
                "$ops"
        done
    done
else
    echo 'compute-sanitizer is not there: memory faults and races were not looked for'
fi

since=$SECONDS
./dawn train cifar10 --data synthetic --device cuda --target 0.94 --db "$work/results.db" >"$work/train" 2>&1
rc=$?
tail -n 5 "$work/train"
verdict 'synthetic CIFAR-10 to 94%' "$rc"
./dawn results show last --db "$work/results.db" 2>/dev/null | grep -E 'memory|end-to-end|warm|energy|device'

since=$SECONDS
for t in f32 bf16 f16; do
    held "bench ops $t" ./dawn bench ops --device cuda --precision $t
    cat "$work/said"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
