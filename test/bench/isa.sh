#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# isa.sh [LEVEL[,LEVEL..] [STEP[,STEP..]]]: the training steps of the tasks at each instruction set that this processor has, as a
# table in Markdown: samples per second of DAWN and, with $PEER, of PyTorch. make bench-isa runs it; it is not a test.
#
#   LEVEL      native, avx512 (without bf16), avx2, base; default: all that this processor has, in this order
#   STEP       cifar10-24, cifar10-28, cifar10-32, resnet18, minilm, fastfusionnet; default: all
#   $PEER      a Python with PyTorch, for torch_convnets.py, torch_encoder.py and torch_fusion.py (none: no column)
#   $DAWN      the program (./dawn of this checkout)
#   $THREADS   2
#   $MINUTES   14: then it ends, and standard error names the rows that are left
#
# A level limits both DAWN's loops (DAWN_ISA) and oneDNN (ONEDNN_MAX_CPU_ISA), and PyTorch's own loops (ATEN_CPU_CAPABILITY);
# PyTorch's SSE level is called "default". Both sides run in turn, never at a time, in the precision that DAWN chooses at that
# level. A side that fails is "-", and its error goes to standard error. DAWN: noise of the data's shape, the recipe of the
# task, three repeats within 6 s. PyTorch: the shortest of three steps after one (its encoder: processor time per thread).
set -u
export LC_ALL=C
root=$(cd "$(dirname "$0")/../.." && pwd)
dawn=${DAWN:-$root/dawn} threads=${THREADS:-2}
end=$((SECONDS + 60 * ${MINUTES:-14}))
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

machine_levels() {
    local flags
    flags=" $(grep -m 1 '^flags' /proc/cpuinfo) "
    echo native
    [[ $flags == *' avx512bw '* && $flags == *' avx512vl '* && $flags == *' avx512dq '* ]] && echo avx512
    [[ $flags == *' avx2 '* && $flags == *' fma '* ]] && echo avx2
    [[ $flags == *' sse4_1 '* ]] && echo base
}

limited() { # LEVEL COMMAND...: under the limits of the level, until the time is over
    [ "$SECONDS" -lt "$end" ] || { echo 'the time is over' >&2; return 1; }
    # shellcheck disable=SC2046 # a list of words
    timeout "$((end - SECONDS))" env $(limits "$1") "${@:2}"
}

limits() { # LEVEL: the variables that limit both sides to it
    case $1 in
    base) echo DAWN_ISA=base ONEDNN_MAX_CPU_ISA=SSE41 ATEN_CPU_CAPABILITY=default MKL_ENABLE_INSTRUCTIONS=SSE4_2 ;;
    avx2) echo DAWN_ISA=avx2 ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 ;;
    avx512) echo DAWN_ISA=avx512 ONEDNN_MAX_CPU_ISA=AVX512_CORE ATEN_CPU_CAPABILITY=avx512 MKL_ENABLE_INSTRUCTIONS=AVX512 ;;
    native) ;;
    *) echo "isa.sh: no level $1 (base, avx2, avx512, native)" >&2; exit 2 ;;
    esac
}

options() { # STEP: the operands of dawn bench
    case $1 in
    cifar10-*) echo cifar10 --side "${1#*-}" ;;
    resnet18) echo imagenette --batch 64 --side 128 ;;
    minilm) echo squad-split --batch 32 --side 256 ;;
    fastfusionnet) echo squad-split --recipe fastfusionnet ;;
    *) echo "isa.sh: no step $1 (the head of the file lists them)" >&2; exit 2 ;;
    esac
}

ours() { # LEVEL STEP: samples per second and precision, or "- -"
    # shellcheck disable=SC2046 # a list of words
    if limited "$1" "$dawn" bench $(options "$2") --fake --no-record --no-measure --json --quiet --threads "$threads" \
        --repeats 3 --seconds 6 >"$work/json" 2>"$work/err"; then
        python3 -c 'import json, sys
from statistics import median
d = json.load(open(sys.argv[1]))
print("%.4g" % (d["batch"] / median(d["step_s"])), d["precision"])' "$work/json"
    else
        cat "$work/err" >&2
        echo '- -'
    fi
}

peer() { # LEVEL STEP PRECISION: samples per second, or "-"
    local run
    case $2 in
    cifar10-*) run="torch_convnets.py cifar10 1536 ${2#*-} $3 $threads" ;;
    resnet18) run="torch_convnets.py resnet18 64 128 $3 $threads" ;;
    minilm) run="torch_encoder.py minilm 32 256 $3 6 $threads" ;;
    fastfusionnet) run="torch_fusion.py fastfusionnet 32 288 $3 $threads" ;;
    esac
    # shellcheck disable=SC2086 # a list of words
    if limited "$1" "$PEER" "$root/test/bench/"$run >"$work/said" 2>"$work/err"; then
        # "..., 2 threads: 3.456 s", perhaps with the time of the processor after it
        sed 's/.*: //' "$work/said" | awk -v batch="$(echo "$run" | cut -d ' ' -f 3)" 'END { printf "%.4g\n", batch / $1 }'
    else
        cat "$work/err" >&2
        echo -
    fi
}

row() { # LEVEL STEP
    local rate precision theirs='-'
    [ "$SECONDS" -lt "$end" ] || { echo "isa.sh: no time was left for $1 $2 (MINUTES)" >&2; return; }
    read -r rate precision < <(ours "$1" "$2")
    [ -z "${PEER:-}" ] || [ "$precision" = - ] || theirs=$(peer "$1" "$2" "$precision")
    printf '| %s | %s | %s | %s |' "$1" "$2" "$precision" "$rate"
    [ -z "${PEER:-}" ] || printf ' %s | %s |' "$theirs" \
        "$(awk -v a="$rate" -v b="$theirs" 'BEGIN { if (a > 0 && b > 0) printf "%.2f x", a / b; else print "-" }')"
    echo
}

levels=${1:-$(machine_levels)} steps=${2:-cifar10-24 cifar10-28 cifar10-32 resnet18 minilm fastfusionnet}
for level in ${levels//,/ }; do limits "$level" >/dev/null; done
for step in ${steps//,/ }; do options "$step" >/dev/null; done
echo "| level | step | precision | samples/s |${PEER:+ PyTorch | ratio |}"
echo "|---|---|---|---|${PEER:+---|---|}"
for level in ${levels//,/ }; do
    for step in ${steps//,/ }; do row "$level" "$step"; done
done
