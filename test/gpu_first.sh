#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [OUT]: the first minutes with a GPU, out of the archive of "make gpu-bundle". Stages run in the order of what they tell;
# each has a limit of its own, and a stage that fails stops nothing. OUT/summary gets a line a stage at once, OUT/logs.tar.gz
# all that they said. $BUDGET: seconds for everything (default: 590); what does not fit is "not shown", which is not a failure.
# $DATA: a folder with CIFAR-10's binary files; without it, trainings are on drawn images. $SMALL: further options for trainings
# and benchmarks, to rehearse this on the emulated GPU.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/out} budget=${BUDGET:-590} small=${SMALL:-}
mkdir -p "$out/logs" || exit 1
out=$(cd "$out" && pwd)
work=$(mktemp -d) || exit 1
finish() { tar -C "$out" -czf "$out/logs.tar.gz" logs; rm -rf "$work"; }
trap finish EXIT
trap 'exit 130' INT TERM
export LC_ALL=C XDG_CACHE_HOME=$work/cache # programs find lib/ themselves: python3 must not find our libraries
dawn=$here/dawn
number=0 failed=0 unshown=0 done=''
: >"$out/summary"

note() { printf '%-4s %-34s %4s s  %s\n' "$1" "$2" "$3" "$4" | cut -c1-160 | tee -a "$out/summary"; }

# Runs a stage. The summary's line ends with the last line that PATTERN finds in what it printed.
stage() { # NAME LIMIT PATTERN COMMAND...
    local name=$1 limit=$2 pattern=$3 begin=$SECONDS rc left=$((budget - SECONDS)) log
    shift 3
    number=$((number + 1))
    log=$out/logs/$(printf %02d "$number")-$(tr -c 'a-zA-Z0-9_\n' - <<<"$name").log
    if [ "$left" -lt 8 ]; then
        unshown=$((unshown + 1))
        note -- "$name" 0 'no time was left'
        return 2
    fi
    [ "$limit" -le "$left" ] || limit=$left
    (cd "$work" && timeout -k 5 "$limit" "$@") >"$log" 2>&1 </dev/null
    rc=$?
    if [ "$rc" -eq 0 ]; then
        note ok "$name" $((SECONDS - begin)) "$(grep -E -e "$pattern" "$log" | tail -n 1 | sed 's/^ *//')"
    else
        failed=$((failed + 1))
        note FAIL "$name" $((SECONDS - begin)) "exit status $rc: $(grep -v '^ *$' "$log" | tail -n 1)"
    fi
    return "$rc"
}

facts() {
    uname -a
    cat /etc/os-release
    nvidia-smi
    nvidia-smi -q -d CLOCK,POWER,MEMORY,ECC | head -n 120
    nproc
    free -g
    cat "$here/version"
    ldd "$dawn"
    python3 -c 'import torch; print("PyTorch", torch.__version__, "CUDA", torch.version.cuda, "cuDNN", torch.backends.cudnn.version())'
    command -v ncu nsys compute-sanitizer nvcc
    ! ldd "$dawn" | grep 'not found'
}

read_ahead() { # so that every later start finds the libraries in memory
    local library
    for library in $("$dawn" doctor --device cuda --no-measure | grep -o '/[^ ;,]*\.so[^ ;,]*' | sort -u); do
        cat "$(dirname "$library")"/lib{cudnn,cublas}*.so* >/dev/null 2>&1
    done
    if [ -n "$small" ]; then "$dawn" bench ops --device cuda --op softmax; else "$dawn" bench ops --device cuda --op conv; fi
}

# Weights of a short training with graphs captured and without must be the same bytes.
captured() {
    local graphs
    for graphs in on off; do
        DAWN_CUDA_GRAPHS=$graphs train "$graphs" --set epochs=0.5 --seed 5 --target 0.01 || return 1
        "$dawn" results export last --db "$work/$graphs.db" | grep -o '"weights_digest": *"[0-9a-f]*"' | tail -n 1 >"$work/$graphs.digest"
    done
    cat "$work/on.digest" "$work/off.digest"
    [ -s "$work/on.digest" ] && cmp "$work/on.digest" "$work/off.digest"
}

train() { # NAME OPTIONS...
    local name=$1
    shift
    # shellcheck disable=SC2086
    "$dawn" train cifar10 --device cuda --data "${DATA:-synthetic}" --db "$work/$name.db" --save "$work/$name" "$@" $small
}

steps() { # OPTIONS...
    # shellcheck disable=SC2086
    "$dawn" bench --device cuda --fake --seconds 8 "$@" $small
}

# Every kernel of a few steps, inside the captured graph: time, share of the memory's rate and of the tensor cores'.
kernels() {
    local metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
    metrics=$metrics,sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active
    ncu --graph-profiling node --clock-control none --launch-skip 400 --launch-count 260 --csv --metrics "$metrics" \
        "$dawn" bench cifar10 --device cuda --fake --recipe fulcrum-e1 --side 32 --seconds 1 --repeats 1 --no-measure \
        >"$out/kernels.csv" || return 1
    wc -l "$out/kernels.csv"
}

export -f facts read_ahead captured train steps kernels
export here out dawn work small
bashed() { stage "$1" "$2" "$3" bash -c "$4"; }

bashed 'machine and libraries' 40 'NVIDIA-SMI' facts
bashed 'first start, cold' 90 '^  ok .*cuda' '"$dawn" doctor --device cuda --no-measure'
bashed 'libraries into memory' 90 'conv|softmax' read_ahead
bashed 'second start, warm' 30 '^  ok .*cuda' '"$dawn" doctor --device cuda --no-measure'
bashed doctor 60 'matmul f16' '"$dawn" doctor --device cuda'
tests=("$here"/on_gpu/test_cuda_{device,ops,conv,blas,training,merge}) # what tells most comes first
for test in "${tests[@]}" "$here"/on_gpu/*; do
    [[ " $done " == *" $test "* ]] || stage "$(basename "$test")" 100 '^\[  PASSED  \]' "$test"
    done="$done $test"
done
bashed 'captured equals eager' 60 weights_digest captured
for side in 24 28 32; do
    bashed "steps at $side" 30 'ms a step|images a second' "steps cifar10 --recipe fulcrum-e1 --side $side"
    bashed "steps at $side, engines tuned" 40 'ms a step|images a second' "DAWN_CUDA_TUNE=on steps cifar10 --recipe fulcrum-e1 --side $side"
    bashed "steps at $side, concurrent chains" 30 'ms a step|images a second' "DAWN_CUDA_LANES=all steps cifar10 --recipe fulcrum-e1 --side $side"
    bashed "steps at $side, own convolutions" 30 'ms a step|images a second' "DAWN_CUDA_CONV=own steps cifar10 --recipe fulcrum-e1 --side $side"
done
bashed 'steps of ResNet-50' 40 'ms a step|images a second' 'steps imagenet --batch 256'
bashed 'steps of BERT-base' 40 'ms a step|tokens a second' 'steps squad --recipe bert-base'
bashed 'kernels of a step' 100 kernels.csv kernels
for i in 1 2 3 4 5; do
    bashed "training $i" 40 'done|end to end|missed' "train five --seed $i --no-stop"
done
bashed 'convolutions by PyTorch' 60 '->' 'python3 "$here/test/bench/torch_convs.py"'
bashed 'operators in f16' 60 conv '"$dawn" bench ops --device cuda --precision f16 ${small:+--op softmax}'
bashed 'compute-sanitizer' 160 'passed' 'OUT="$out/logs/sanitizer" DAWN="$dawn" "$here/test/gpu.sh" --sanitize "$here/on_gpu/test_cuda_ops"'

echo "$((number - failed - unshown)) of $number stages passed, $failed failed, $unshown not shown; logs in $out/logs.tar.gz" |
    tee -a "$out/summary"
[ "$failed" -eq 0 ]
