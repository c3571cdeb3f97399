#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu.sh [--sanitize] PROGRAM...: the checks on a real GPU, in under five minutes, or compute-sanitizer's alone. Called
# by "make check-gpu", and by test/gpu_first.sh where nothing can be built. Each PROGRAM is a cmocka program of test/cuda/ linked
# with the real CUDA runtime; ./dawn or $DAWN trains and measures. compute-sanitizer runs last, if it is installed and supports
# the GPU. Logs are kept in $OUT if it is set. $SMALL: further options for the trainings (and few operators are timed), to try
# this script on the emulated GPU. Checks that did not fit into the time are "not shown", which is not a success. The last line
# is "N passed, M failed".
set -u
cd "$(dirname "$0")/.." || exit 1
dawn=${DAWN:-./dawn}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
logs=${OUT:-$work}
mkdir -p "$logs" || exit 1
budget=290 passed=0 failed=0 unshown=0 without=''
unset NVIDIA_TF32_OVERRIDE CUDA_LAUNCH_BLOCKING CUDA_MODULE_LOADING
for name in ${!DAWN_CUDA_@}; do unset "$name"; done

verdict() { # NAME STATUS [TEXT]
    if [ "$2" -eq 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    printf '%-4s  %-28s %s (%d s)\n' "$([ "$2" -eq 0 ] && echo ok || echo FAIL)" "$1" "${3:-}" "$((SECONDS - since))"
}

# Runs a check. Prints both ends of the log of a failure, and the measurements of a success. $log is the log until the next
# call. Status: 0 passed, 1 failed, 2 no time left.
held() { # NAME SECONDS COMMAND...
    local name=$1 limit=$2 rc left=$((budget - SECONDS))
    shift 2
    since=$SECONDS log="$logs/$(tr -c 'a-zA-Z0-9_\n' - <<<"$name").log"
    if [ "$left" -lt 5 ]; then
        unshown=$((unshown + 1))
        printf '%-4s  %-28s no time was left\n' '--' "$name"
        return 2
    fi
    [ "$limit" -le "$left" ] || limit=$left
    timeout -k 5 "$limit" "$@" >"$log" 2>&1 </dev/null
    rc=$?
    if [ "$rc" -ne 0 ]; then
        if [ "$(wc -l <"$log")" -le 55 ]; then cat "$log"; else head -n 40 "$log"; echo '...'; tail -n 15 "$log"; fi
        [ "$rc" -eq 124 ] && echo "stopped after $limit s"
    else
        grep -E 'planned|apart|cases run' "$log"
    fi
    verdict "$name" "$rc" "$(grep -E '^\[  PASSED  \]|ERROR SUMMARY|RACECHECK SUMMARY' "$log" | tail -n 1)"
    [ "$rc" -eq 0 ]
}

sums() {
    [ "$unshown" -eq 0 ] || echo "$unshown not shown: $budget s were over"
    [ -z "$without" ] || echo "skipped:$without"
    echo "$passed passed, $failed failed"
    [ -z "$alone" ] || [ $((passed + failed + unshown)) -gt 0 ] || exit 77 # compute-sanitizer could not be tried at all
    [ "$failed" -eq 0 ] && [ "$unshown" -eq 0 ]
}

field() { # DATABASE NAME: of the last run
    "$dawn" results export last --db "$1" 2>>"$logs/export.log" |
        sed -n "s/^ *\"$2\": \"\{0,1\}\([0-9a-f]*\)\"\{0,1\},\{0,1\}\$/\1/p" |
        tail -n 1
}

# shellcheck disable=SC2086 # SMALL is a list of options
once() { # NUMBER: a short training of airbench, with its own record
    held "one epoch, seed 5, $1" 60 "$dawn" train cifar10 --data synthetic --recipe cifar10 --device cuda --set epochs=1 \
        --target 0.01 --seed 5 ${SMALL:-} --save "$work/w$1" --db "$work/once$1.db"
}

device_checks() { # PROGRAM...
    # An unknown case is a usage error (2) and is found only after the GPU was opened; any other status is a failure of the GPU.
    since=$SECONDS
    "$dawn" bench ops --device cuda --op 'no such case' >"$logs/open.log" 2>&1
    if [ $? -ne 2 ]; then
        cat "$logs/open.log"
        verdict 'the GPU is opened' 1
        sums
        exit 1
    fi
    held doctor 60 "$dawn" doctor --device cuda
    [ -f "$log" ] && grep -E 'cuda|matmul|copy' "$log"

    for program in "$@"; do
        held "$(basename "$program")" 100 "$program"
    done

    if once 1 && once 2; then
        a=$(field "$work/once1.db" weights_digest) b=$(field "$work/once2.db" weights_digest)
        since=$SECONDS
        [ -n "$a" ] && [ "$a" = "$b" ]
        verdict 'the same weights twice' $? "${a:0:16} ${b:0:16}"
    fi

    # shellcheck disable=SC2086
    if held 'synthetic CIFAR-10 to 94%' 100 "$dawn" train cifar10 --data synthetic --device cuda --target 0.94 ${SMALL:-} \
        --save "$work/w" --db "$work/results.db"; then
        "$dawn" results show last --db "$work/results.db" >"$logs/show.log" 2>&1
        grep -E 'memory|end-to-end|warm|energy|device' "$logs/show.log"
        peak=$(field "$work/results.db" peak_memory_bytes) planned=$(field "$work/results.db" planned_memory_bytes)
        since=$SECONDS
        [ -n "$peak" ] && [ -n "$planned" ] && [ $((peak * 100)) -le $((planned * 105)) ]
        verdict 'memory within 5% of the plan' $? "$peak of $planned bytes"
    fi

    for t in f16 f32; do
        held "bench ops $t" 40 "$dawn" bench ops --device cuda --precision $t ${SMALL:+--op softmax --no-measure} && cat "$log"
    done
}

# Few and small cases, because every launch is a hundred times slower; DAWN's kernels only, because the libraries are not ours
# to fix.
few='conv 3x3 pad 1|conv_dgrad 3x3 stride 2|conv_wgrad 3x3 stride 2|13 images, 10|matmul nn|norm plain|pool_norm scale'
few="$few|norm_grad scale bias silu|maxpool_grad 2x2 of|avgpool 2x2|act bias gelu|act_grad of 64|reduce tall|gather of 32"
few="$few|gather_grad with|resize to a fifth|softmax 33|xent 10, mean|xent_grad 10, mean|momentum|unit_norm|transpose 3-D"
sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
sanitize() { # TOOL
    local name="$1 of the operators"
    if [ -z "$sanitizer" ] || [ -z "$ops" ]; then
        without="$without $1"
        return
    fi
    log="$logs/probe.log"
    timeout 30 env DAWN_CASE='tick' DAWN_CUDA_GRAPHS=off "$sanitizer" --tool "$1" "$ops" >"$log" 2>&1 </dev/null
    if grep -q 'Device not supported' "$log"; then
        without="$without $1 (device not supported)"
        return
    fi
    held "$name" 75 env DAWN_CASE="$few" DAWN_CUDA_CONV=own DAWN_CUDA_BLAS=off DAWN_CUDA_GRAPHS=off DAWN_CUDA_POOL=off \
        "$sanitizer" --tool "$1" --report-api-errors no --error-exitcode 9 "$ops"
}
ops='' alone=''
if [ "${1:-}" = --sanitize ]; then alone=yes; shift; fi
for program in "$@"; do
    case $program in */test_cuda_ops) ops=$program ;; esac
done
[ -n "$alone" ] || device_checks "$@"
sanitize memcheck
sanitize racecheck
sums
