#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cifar10-gpu.sh DATA [OPTIONS] [-- OPTIONS OF dawn train]: CIFAR-10 on one GPU, DAWN against the fastest published runs.
#
#   DATA              the folder that holds cifar-10-batches-bin, or that folder, or "synthetic" (DAWN only)
#   --runs N          runs of DAWN (50)
#   --others N        maximum of runs per competitor (15)
#   --seconds S       start nothing that would not end within S seconds (470); DAWN has priority when time gets short
#   --airbench PATH   airbench94_muon.py of KellerJordan/cifar10-airbench, or a checkout of it
#   --hiverge PATH    cifar10_speedrun.py of hiverge/cifar10-speedrun, or a checkout
#   --e1 PATH         runners/recipes/e1.py of fulcrumresearch/cifar-10-speedrun, or a checkout
#   --python PROGRAM  a Python with PyTorch for the competitors (python3)
#   --dawn PROGRAM    DAWN ($DAWN, else ./dawn of this checkout)
#   --device NAME     DAWN's device (cuda); CUDA_VISIBLE_DEVICES selects the GPU for all sides
#   --json FILE       all measurements (cifar10-gpu.json)
#   --keep FOLDER     keep the record of DAWN's runs and the output of each side
#   --allow-cpu       let competitors run without a GPU: for tests, measures nothing
#
# What is compared. All sides run on one GPU in turn (A B C D A B C D ...), never two at a time. If DAWN has more runs than a
# competitor, the competitor's turns are spread evenly. Two clocks (docs/rules.md):
#   warm        reset, whitening, augmentation and training, after everything has been compiled, tuned and loaded; shown with
#               the evaluation that gives the accuracy, and without any evaluation. DAWN: the record's segments `train` and
#               `evaluate`. Competitors: test/bench/competitor.py, which lists what it leaves out and why.
#   end to end  from exec() to the end of the first evaluation of a whole schedule. DAWN: every run is its own process; "first"
#               is a run without a cache of compiled choices, the mean is over all runs. Competitors: the first run of a
#               process without a cache, compilation included.
# All schedules are complete, no run is left out, seeds are 1, 2, 3 ... The competitors' data are written from the same files
# before any clock runs. Exit status: 0 measured, 3 measured and a goal was missed, 1 failed, 2 wrong usage.
set -u
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
dawn=${DAWN:-$here/../../dawn} python=python3 device=cuda runs=50 others=15 seconds=470 json=cifar10-gpu.json
keep='' data='' cpu=''
declare -A path=()
declare -a order=() alive=() options=()
declare -A in=() out=() pid=() took=() made=()

usage() { echo "cifar10-gpu.sh: $1 (the head of the file explains its options)" >&2; exit 2; }

while [ $# -gt 0 ]; do
    case $1 in
    --runs | --others | --seconds)
        [[ ${2:-} =~ ^[0-9]{1,6}$ ]] || usage "$1 must be a whole number; got ${2:-nothing}"
        printf -v "${1#--}" %d "$((10#$2))"; shift 2 ;;
    --airbench | --hiverge | --e1)
        [ -e "${2:-}" ] || usage "$1 must be a file or a folder; got ${2:-nothing}"
        path[${1#--}]=$2; order+=("${1#--}"); shift 2 ;;
    --python | --dawn | --device | --json | --keep)
        [ -n "${2:-}" ] || usage "$1 needs a value"
        printf -v "${1#--}" %s "$2"; shift 2 ;;
    --allow-cpu) cpu=--allow-cpu; shift ;;
    --) shift; options=("$@"); break ;;
    -*) usage "unknown option $1" ;;
    *) [ -z "$data" ] || usage "one data folder is allowed; got $data and $1"; data=$1; shift ;;
    esac
done
[ -n "$data" ] || usage "DATA is missing: the folder that holds CIFAR-10"
[ $((runs * others)) -gt 0 ] || usage "--runs and --others must be at least 1"
[ "$data" = synthetic ] || [ -d "$data" ] || usage "there is no folder $data"
[ "$data" != synthetic ] || [ ${#order[@]} -eq 0 ] || usage "competitors need a folder with CIFAR-10"
command -v "$dawn" >/dev/null || usage "$dawn is not a program"

work=$(mktemp -d) || exit 1
record=$work/results.db
: >"$work/lines"
trap '' PIPE # a competitor's death shows as a missing answer
# shellcheck disable=SC2317
finish() {
    local side
    for side in "${!pid[@]}"; do kill "${pid[$side]}" 2>/dev/null; done
    wait
    if [ -n "$keep" ]; then mkdir -p "$keep" && cp -r "$work"/{lines,said,results.db} "$keep" 2>/dev/null; fi
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
mkdir "$work/said" "$work/cache"
# All compile caches start empty: DAWN's, the driver's, PyTorch's and Triton's.
export XDG_CACHE_HOME=$work/cache CUDA_CACHE_PATH=$work/cache/driver
export TORCHINDUCTOR_CACHE_DIR=$work/cache/inductor TRITON_CACHE_DIR=$work/cache/triton

now() { local t=$EPOCHREALTIME; ms=$((${t/./} / 1000)); } # milliseconds, in $ms
now
end=$((ms + seconds * 1000))
line() { printf '%s\n' "$1" >>"$work/lines"; }
quoted() { local t=${1//\\/\\\\}; t=${t//\"/\\\"}; printf '"%s"' "${t//$'\n'/ }"; }

gpu_state() { # MOMENT: the GPU's clocks and power, if nvidia-smi is installed
    local said
    command -v nvidia-smi >/dev/null || return 0
    said=$(nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --format=csv,noheader --query-gpu=name,driver_version,pstate,$(
    )clocks.sm,clocks.max.sm,clocks.mem,temperature.gpu,power.draw,power.limit 2>&1 | head -n 1)
    line "{\"gpu\": $(quoted "$1: $said")}"
}

left_out() { # SIDE WHY
    local wait
    echo "$1 is left out: $2" >&2
    # A competitor that fails closes its output before it says why: Python 3.13 lets go of it first.
    for ((wait = 0; wait < 20; wait++)); do
        [ -n "${pid[$1]:-}" ] && kill -0 "${pid[$1]}" 2>/dev/null || break
        sleep 0.05
    done
    tail -n 8 "$work/said/$1" >&2 2>/dev/null
    line "{\"left_out\": {\"$1\": $(quoted "$2")}}"
    [ -z "${pid[$1]:-}" ] || kill -KILL "${pid[$1]}" 2>/dev/null # it must not run concurrently with the others
    unset "pid[$1]"
}

ours=0 sum=0 usual=0
run_ours() {
    local began rc wall warm=()
    ours=$((ours + 1))
    [ $ours -eq 1 ] || warm=(--warm-up 0.2) # the first run's headline is that of a plain command
    now; began=$ms
    timeout -k 5 $((seconds + 60)) "$dawn" train cifar10 --data "$data" --device "$device" --no-stop --seed "$ours" \
        --save "" --db "$record" --quiet "${warm[@]}" "${options[@]}" >"$work/said/dawn" 2>&1 </dev/null
    rc=$?
    now
    if [ $rc -ne 0 ] && [ $rc -ne 3 ]; then
        cat "$work/said/dawn" >&2
        echo "cifar10-gpu.sh: dawn train ended with status $rc in run $ours" >&2
        exit 1
    fi
    wall=$((ms - began))
    # The first run finds no cache, so it does not predict the others.
    if [ $ours -gt 1 ]; then sum=$((sum + wall)) usual=$((sum * 11 / (ours - 1) / 10)); else usual=$wall; fi
    line "{\"side\": \"dawn\", \"run\": $ours, \"wall_s\": $((wall / 1000)).$(printf %03d $((wall % 1000)))}"
}

spare() { now; left=$((end - ms - (runs - ours) * usual)); } # milliseconds that DAWN's runs do not need, in $left

tell() { { echo "$2" >&"${in[$1]}"; } 2>/dev/null; }

answer() { # SIDE SECONDS: appends its next line to the lines
    local said waited rc
    for ((waited = 0; waited < $2; waited += 5)); do
        IFS= read -r -t $(($2 - waited < 5 ? $2 - waited : 5)) -u "${out[$1]}" said
        rc=$?
        [ $rc -ne 0 ] || { line "$said"; return 0; }
        # Processes that it left behind may hold its output open.
        [ $rc -gt 128 ] && kill -0 "${pid[$1]}" 2>/dev/null || return 1
    done
    return 1
}

start() { # SIDE: waits until it reports that it is ready
    local side=$1 file=${path[$1]}
    if [ -d "$file" ]; then
        case $side in
        airbench) file+=/airbench94_muon.py ;;
        hiverge) file+=/cifar10_speedrun.py ;;
        e1) file+=/runners/recipes/e1.py ;;
        esac
    fi
    [ -f "$file" ] || { left_out "$side" "there is no $file"; return; }
    mkfifo "$work/$side.in" "$work/$side.out"
    "$python" "$here/competitor.py" "$side" "$file" --work "$work" --began "$EPOCHREALTIME" $cpu \
        <"$work/$side.in" >"$work/$side.out" 2>"$work/said/$side" &
    pid[$side]=$!
    local to from
    exec {to}>"$work/$side.in" {from}<"$work/$side.out"
    in[$side]=$to out[$side]=$from
    spare
    if [ $left -lt 1000 ] || ! answer "$side" $((left / 1000)); then
        left_out "$side" "it did not get ready in time, or failed"
        return
    fi
    made[$side]=0 took[$side]=0
    turn "$side" && alive+=("$side") # at once, so that its end-to-end time includes no waiting
}

turn() { # SIDE: one run of a competitor, if there is time
    local side=$1 began
    spare
    [ $left -gt $((took[$side] + 1000)) ] || return 1
    began=$ms
    tell "$side" run
    if ! answer "$side" $((left / 1000)); then
        left_out "$side" "run $((made[$side] + 1)) did not end in time, or failed"
        return 1
    fi
    now
    took[$side]=$((ms - began)) made[$side]=$((made[$side] + 1))
}

# Reads all data once, so that no side pays for the disk.
[ "$data" = synthetic ] || cat "$data"/*.bin "$data"/cifar-10-batches-bin/*.bin >/dev/null 2>&1
if [ ${#order[@]} -gt 0 ] && ! "$python" "$here/competitor.py" prepare "$data" "$work" $cpu; then
    for side in "${order[@]}"; do left_out "$side" "its data could not be written"; done
    order=()
fi
gpu_state before
run_ours
[ "$runs" -eq 1 ] || run_ours
for side in "${order[@]}"; do start "$side"; done
gpu_state 'all sides ready'
for ((round = 3; round <= runs; round++)); do
    now
    [ $((end - ms)) -gt $usual ] || { echo "time is up after $ours of $runs runs" >&2; break; }
    run_ours
    for side in "${alive[@]}"; do
        [ -n "${pid[$side]:-}" ] || continue
        # Its turns are spread evenly over DAWN's; the first was taken at its start.
        due=$((1 + (round - 1) * (others - 1) / (runs - 1)))
        if [ "${made[$side]}" -lt $due ]; then turn "$side" || true; fi
    done
    [ $round -ne $((runs / 2)) ] || gpu_state 'half way'
done
gpu_state after
for side in "${!pid[@]}"; do tell "$side" quit; done

now
line "{\"about\": {\"seconds\": $(((ms - end) / 1000 + seconds)), \"runs_asked\": $runs, \"others_asked\": $others, $(
)\"device\": $(quoted "$device"), \"data\": $(quoted "$data"), \"options\": $(quoted "${options[*]}"), $(
)\"date\": \"$(date -u +%Y-%m-%dT%H:%M:%SZ)\"}}"
"$dawn" results export all --db "$record" --format json --to "$work/record.json" >/dev/null || exit 1
python3 "$here/cifar10_report.py" --record "$work/record.json" --lines "$work/lines" --json "$json"
status=$?
[ $status -eq 1 ] || echo "  all of it  $json"
exit $status
