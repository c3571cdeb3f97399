#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [OUT [SUMMARY]]: the first minutes with a GPU, out of the archive of "make gpu-bundle". Stages run in the order of what
# they tell. A stage that fails, hangs, prints without end or is not there stops no other. OUT gets two files, complete after
# every stage: summary, one line per stage, and logs.tar.gz. SUMMARY: the summary of an earlier call; stages that passed there do not
# run again.
#
# $BUDGET: seconds for everything (default: 570, so that unpacking and this fit into 600); what does not fit is "not shown", which
# is not a failure. $DATA: a folder with CIFAR-10's binary files; without it, trainings are on drawn images. $AIRBENCH, $HIVERGE,
# $E1: the other programs of test/bench/cifar10-gpu.sh. To rehearse this without a GPU: $SMALL, further options for all that
# CIFAR-10 does (the other tasks are then small as well, and little is timed), and $LIMIT, the most seconds of a stage.
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/out} before=${2:-/dev/null} budget=${BUDGET:-570} small=${SMALL:-}
[ -r "$before" ] || { echo "run.sh: there is no summary $before" >&2; exit 2; }
before=$(cat "$before")
for name in DATA AIRBENCH HIVERGE E1; do # stages run in another folder
    [ -n "${!name:-}" ] || continue
    path=$(realpath -e "${!name}") || exit 2
    export "$name=$path"
done
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export LC_ALL=C XDG_CACHE_HOME=$work/cache # programs find lib/ themselves: python3 must not find our libraries
dawn=$here/dawn logs=$work/logs seconds=8 # for the steps of a stage
[ -z "$small" ] || seconds=1
mkdir "$logs"
number=0 passed=0 failed=0 unshown=0 hung=0 lost=''
: >"$out/summary"

note() { printf '%-4s %-34s %4s s  %s\n' "$1" "$2" "$3" "$4" | cut -c1-200 | tee -a "$out/summary"; }

not_shown() { # NAME REASON
    unshown=$((unshown + 1))
    note -- "$1" 0 "$2"
    return 2
}

# The line of an earlier summary, if the stage passed there.
find_before() { grep -E "^(ok|done) " <<<"$before" | grep -F -m 1 -- "$(printf ' %-34s ' "$1")"; }

# Keeps both ends of a log. Both files of OUT are replaced at once, because the call may end at any time.
keep_log() { # LOG
    local kept
    kept=$logs/$(basename "$1")
    if [ "$(stat -c %s "$1")" -le 400000 ]; then cp "$1" "$kept"
    else { head -c 200000 "$1"; printf '\n...\n'; tail -c 200000 "$1"; } >"$kept"; fi
    rm -f "$1"
    tar -C "$work" -czf "$out/logs.new" logs && mv "$out/logs.new" "$out/logs.tar.gz"
}

# Runs a command for at most LIMIT seconds, and 4 more if it cannot be killed. It can write at most 1 GiB into a file.
limited() { # LIMIT COMMAND...
    local limit=$1
    shift
    (cd "$work" && ulimit -c 0 -f 1048576 && exec timeout -s KILL $((limit + 4)) timeout -k 2 "$limit" "$@") </dev/null
}

# After two stages in a row that had to be stopped: does the GPU answer at all?
check_gpu() {
    [ "$hung" -ge 2 ] || return
    hung=0
    limited 15 "$dawn" doctor --device cuda --no-measure >"$work/alive" 2>&1 && return
    lost='the GPU no longer answers'
    note FAIL "$lost" 15 "$(grep -v '^ *$' "$work/alive" | tail -n 1)"
}

found() { # PATTERN LOG: the last two lines with it, but not that this shell had to kill something
    grep -aE -e "$1" "$2" | grep -av -e '^ *$' -e "^$0: line" | tail -n 2 | sed 's/^ *//; s/  */ /g' | paste -sd '|' -
}

# Runs a stage. The summary's line ends with the last two lines that PATTERN finds in what it printed.
stage() { # NAME LIMIT PATTERN COMMAND...
    local name=$1 limit=$2 pattern=$3 begin=$SECONDS rc left=$((budget - SECONDS)) log line
    shift 3
    number=$((number + 1))
    line=$(find_before "$name")
    if [ -n "$line" ]; then
        passed=$((passed + 1))
        echo "done ${line:5}" | tee -a "$out/summary"
        return 0
    fi
    [ -z "$lost" ] || { not_shown "$name" "$lost"; return; }
    [ "$left" -ge 8 ] || { not_shown "$name" 'no time was left'; return; }
    [ -z "$small" ] || limit=$((8 * limit)) # the emulator is slow
    [ "$limit" -le "${LIMIT:-$limit}" ] || limit=$LIMIT
    [ "$limit" -le "$left" ] || limit=$left
    log=$work/$(printf %02d "$number")-$(tr -c 'a-zA-Z0-9_\n' - <<<"$name").log
    limited "$limit" "$@" >"$log" 2>&1
    rc=$?
    if [ "$rc" -eq 77 ]; then
        not_shown "$name" "$(found 'skipped' "$log")"
        return
    elif [ "$rc" -eq 0 ]; then
        passed=$((passed + 1)) hung=0
        note ok "$name" $((SECONDS - begin)) "$(found "$pattern" "$log")"
    else
        failed=$((failed + 1))
        case $rc in 124 | 137) line="stopped after $limit s" hung=$((hung + 1)) ;; *) line="exit status $rc" hung=0 ;; esac
        pattern='^ +BROKEN' # doctor's; its last line only counts them
        grep -qaE "$pattern" "$log" || pattern=.
        note FAIL "$name" $((SECONDS - begin)) "$line: $(found "$pattern" "$log")"
    fi
    keep_log "$log"
    check_gpu
    return "$rc"
}

# ---- the commands of the stages

facts() {
    cat "$here/version"
    ldd "$dawn"
    uname -a
    cat /etc/os-release
    nproc
    free -g
    timeout 15 nvidia-smi
    timeout 15 nvidia-smi -q -d CLOCK,POWER,MEMORY,ECC | head -n 120
    command -v ncu nsys compute-sanitizer nvcc
    timeout 30 python3 -c 'from importlib import metadata
print("PyTorch", metadata.version("torch"))' # importing it takes seconds
    echo "GPU: $(timeout 15 nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader)"
    ! ldd "$dawn" | grep 'not found'
}

# Where doctor breaks its lines depends on the names in them; the versions follow on one line.
first_start() {
    local rc
    "$dawn" doctor --device cuda --no-measure >"$work/doctor"
    rc=$?
    cat "$work/doctor"
    tr -s ' \n' ' ' <"$work/doctor" | grep -o -m 1 'CUDA [0-9.]*, [a-z ]*cuDNN [^,]*, driver [^ ;]*\( CUDA [0-9.]*\)\?' | sed 's/^/versions: /'
    return $rc
}

# Reads the libraries that a convolution loads, and their neighbours, so that every later start finds them in memory.
read_ahead() {
    local path
    LD_DEBUG=libs "$dawn" bench ops --device cuda --op "$([ -n "$small" ] && echo softmax || echo 'conv 64->256')" 2>"$work/loaded"
    local rc=$?
    grep -v '^ *[0-9]*:' "$work/loaded"
    sed -n 's/.*calling init: \(\/.*\)/\1/p' "$work/loaded" | grep -E 'cudnn|cublas|libcuda|nvidia' | sort -u | tee "$work/paths"
    sed 's|/[^/]*$||' "$work/paths" | sort -u | while read -r path; do
        cat "$path"/lib{cudnn,cublasLt}*.so* "$path"/../../cu*/lib/libcublasLt.so* >/dev/null 2>&1
    done
    return $rc
}

train() { # NAME OPTIONS...: a missed target is not a failure
    local name=$1 rc
    shift
    # shellcheck disable=SC2086
    "$dawn" train cifar10 --recipe cifar10 --device cuda --data "${DATA:-synthetic}" --db "$logs/$name.db" \
        --save "$work/$name.safetensors" "$@" $small
    rc=$?
    [ $rc -ne 3 ] || rc=0
    return $rc
}

# Weights of a short training with graphs captured and without must be the same bytes.
captured() {
    local graphs
    for graphs in on off; do
        DAWN_CUDA_GRAPHS=$graphs train "$graphs" --set epochs=0.5 --seed 5 --target 0.01 || return 1
        "$dawn" results export last --db "$logs/$graphs.db" | grep -o '"weights_digest": *"[0-9a-f]*"' | tail -n 1 \
            >"$work/$graphs.digest"
    done
    cat "$work/on.digest" "$work/off.digest"
    [ -s "$work/on.digest" ] && cmp "$work/on.digest" "$work/off.digest"
}

steps() { # OPTIONS...
    "$dawn" bench --device cuda --fake --no-measure --seconds "$seconds" "$@"
}

steps_of_e1() { # SIDE
    # shellcheck disable=SC2086
    steps cifar10 --recipe fulcrum-e1 --side "$1" $small ${small:+--set batch=10}
}

steps_of_resnet() {
    if [ -z "$small" ]; then steps imagenet --batch 256
    else steps imagenet --recipe pictures --model resnet50 --batch 2 --side 32; fi
}

steps_of_bert() {
    if [ -z "$small" ]; then steps squad --recipe bert-base
    else steps squad --recipe bert-base --batch 2 --set layers=2 --set width=64 --set heads=2 --set feed_forward=128; fi
}

# Each node alone, with a trace for Perfetto.
nodes() {
    # shellcheck disable=SC2086
    "$dawn" profile cifar10 --device cuda --fake --recipe fulcrum-e1 --precision f16 --seconds "$seconds" --rows 200 --trace "$logs/step.json" \
        $small
}

# Every kernel of a few steps, inside the captured graph: time, share of the memory's rate and of the tensor cores'.
kernels() {
    command -v ncu || { echo 'skipped: ncu is not installed'; return 77; }
    local metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
    metrics=$metrics,sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active
    ncu --graph-profiling node --clock-control none --launch-skip 400 --launch-count 260 --csv --metrics "$metrics" \
        "$dawn" bench cifar10 --device cuda --fake --recipe fulcrum-e1 --side 32 --seconds 1 --repeats 1 --no-measure \
        >"$logs/kernels.csv" || return 1
    wc -l "$logs/kernels.csv"
}

latency() {
    [ -e "$work/first.safetensors" ] || train first --seed 1 --no-stop || return 1
    # shellcheck disable=SC2046
    "$dawn" infer cifar10 --latency --device cuda --precision f16 --views 1 --data "${DATA:-synthetic}" \
        --weights "$work/first.safetensors" $([ -n "$small" ] && echo --items 4 --warmup 1 || echo --items 2000)
}

convolutions_by_pytorch() {
    if ! command -v python3 || ! python3 -c 'import torch'; then
        echo 'skipped: PyTorch is not installed'
        return 77
    fi
    python3 "$here/test/bench/torch_convs.py"
}

# DAWN and the other programs in turn, on the published images.
groups_of_runs() {
    # shellcheck disable=SC2086
    "$here/test/bench/cifar10-gpu.sh" "$DATA" --dawn "$dawn" --runs 20 --others 5 --seconds 170 --json "$logs/groups.json" \
        ${AIRBENCH:+--airbench "$AIRBENCH"} ${HIVERGE:+--hiverge "$HIVERGE"} ${E1:+--e1 "$E1"} -- --recipe fulcrum-e1 $small
    [ $? -eq 0 ] || [ $? -eq 3 ]
}

export -f facts first_start read_ahead captured train steps steps_of_e1 steps_of_resnet steps_of_bert nodes kernels latency convolutions_by_pytorch groups_of_runs
export here dawn work logs small seconds
bashed() { stage "$1" "$2" "$3" bash -c "$4"; }
tested() { # NAME SECONDS
    [ ! -e "$here/on_gpu/$1" ] || stage "$1" "$2" '^\[  PASSED  \]' "$here/on_gpu/$1"
}
timed() { # NAME SECONDS COMMAND
    bashed "$1" "$2" '^  (images|questions)/s|^  step ' "$3"
}
step_times() { # SIDE
    timed "steps at $1" 30 "steps_of_e1 $1"
    timed "steps at $1, engines tuned" 40 "DAWN_CUDA_TUNE=on steps_of_e1 $1"
    timed "steps at $1, concurrent chains" 30 "DAWN_CUDA_LANES=all steps_of_e1 $1"
    timed "steps at $1, own convolutions" 30 "DAWN_CUDA_CONV=own steps_of_e1 $1"
}
trained() { # NAME COMMAND
    bashed "$1" 60 '^(done|missed): |^classic clock' "$2"
}

[ ! -r /dev/nvidia0 ] || exec 9</dev/nvidia0 # else the driver would start again for every stage
# ---- the stages: does it start, is it right, how fast is the task, and where does the time go

bashed 'machine and libraries' 60 '^GPU: |^PyTorch' facts
bashed 'first start, cold' 90 '^  ok .*cuda|^versions: ' first_start
bashed 'libraries into memory' 90 '/libcudnn\.so|^(conv|softmax)' read_ahead
bashed 'second start, warm' 20 '^  ok .*cuda' '"$dawn" doctor --device cuda --no-measure'
bashed doctor 60 'matmul f16|^  ok +copy' '"$dawn" doctor --device cuda'
tested test_cuda_device 40
tested test_cuda_ops 90
tested test_cuda_conv 90
tested test_cuda_blas 40
tested test_cuda_training 90
tested test_cuda_merge 40
bashed 'captured equals eager' 60 weights_digest captured
if ! trained 'training 1' 'train first --seed 1 --no-stop' && [ "$unshown" -eq 0 ]; then # which part is to blame?
    trained 'training, every node waited for' 'DAWN_CUDA_SYNC=on train waited --seed 1 --no-stop'
    trained 'training, own convolutions' 'DAWN_CUDA_CONV=own train own --seed 1 --no-stop'
    trained 'training, own products' 'DAWN_CUDA_BLAS=off train products --seed 1 --no-stop'
fi
trained 'training 2' 'train five --seed 2 --no-stop'
step_times 32
timed 'steps of ResNet-50' 40 steps_of_resnet
timed 'steps of BERT-base' 40 steps_of_bert
bashed 'nodes of a step' 40 '^ +(step|device) ' nodes
bashed 'kernels of a step' 100 kernels.csv kernels
bashed 'latency at batch 1' 60 '^ +network alone|^ +with preprocessing' latency
if [ -n "${DATA:-}" ]; then bashed 'groups by one clock' 200 '^dawn |^  [a-z ]* mean warm time, evaluation in' groups_of_runs; fi
bashed 'convolutions by PyTorch' 60 '->' convolutions_by_pytorch
bashed 'operators in f16' 60 conv '"$dawn" bench ops --device cuda --precision f16 ${small:+--op softmax --no-measure}'
step_times 28
step_times 24
for i in 3 4 5; do trained "training $i" "train five --seed $i --no-stop"; done
for test in "$here"/on_gpu/*; do
    case $(basename "$test") in
    test_cuda_device | test_cuda_ops | test_cuda_conv | test_cuda_blas | test_cuda_training | test_cuda_merge) ;;
    *) tested "$(basename "$test")" 60 ;;
    esac
done
bashed 'compute-sanitizer' 160 'passed' \
    'OUT="$logs/sanitizer" DAWN="$dawn" "$here/test/gpu.sh" --sanitize "$here/on_gpu/test_cuda_ops"'

echo "$passed of $number stages passed, $failed failed, $unshown not shown; logs in $out/logs.tar.gz" | tee -a "$out/summary"
[ "$failed" -eq 0 ] && [ -z "$lost" ]
