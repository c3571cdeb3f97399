#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cifar10-gpu.sh DATA [OPTIONS] [-- OPTIONS OF dawn train]: CIFAR-10 on one card, ours beside the fastest published runs.
#
#   DATA              the folder that holds cifar-10-batches-bin, or that folder, or "synthetic" (ours alone)
#   --runs N          runs of ours (50)
#   --others N        runs of each competitor at most (15)
#   --seconds S       begin nothing that would not end within S seconds (470); ours go first when time gets short
#   --airbench PATH   airbench94_muon.py of KellerJordan/cifar10-airbench, or a checkout of it
#   --hiverge PATH    cifar10_speedrun.py of hiverge/cifar10-speedrun, or a checkout
#   --e1 PATH         runners/recipes/e1.py of fulcrumresearch/cifar-10-speedrun, or a checkout
#   --python PROGRAM  a Python with PyTorch for them (python3)
#   --dawn PROGRAM    ours ($DAWN, else ./dawn of this checkout)
#   --device NAME     ours (cuda); the card is chosen with CUDA_VISIBLE_DEVICES, for all sides
#   --json FILE       everything that was measured (cifar10-gpu.json)
#   --keep FOLDER     keep the record of our runs and what each side said
#   --allow-cpu       let competitors run without a card: for tests, measures nothing
#
# What is compared with what. All sides run on one card in turn (A B C D A B C D ...), never two at a time; where ours have
# more runs than a competitor its turns are spread evenly. Two clocks (docs/rules.md):
#   warm        reset, whitening, augmentation and training, after everything has been compiled, tuned and loaded; shown
#               with the evaluation that gives the accuracy, and without any. Ours: the record's segments `train` and
#               `evaluate`. Theirs: test/bench/competitor.py, which says what it leaves out and why.
#   end to end  from exec() to the end of the first evaluation of a whole schedule. Ours: every run is a process of its own;
#               "first" is a run that found no cache of compiled choices, the mean is over all. Theirs: the first run of a
#               process that found no cache, compilation included.
# Whole schedules, no run is left out, seeds 1, 2, 3 ... Their data are made from the same files before any clock runs.
# Exit status: 0 measured, 3 measured and a goal was missed, 1 failed, 2 wrong usage.
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
        [[ ${2:-} =~ ^[0-9]{1,6}$ ]] || usage "$1 wants a whole number"
        printf -v "${1#--}" %d "$((10#$2))"; shift 2 ;;
    --airbench | --hiverge | --e1)
        [ -e "${2:-}" ] || usage "$1 wants a file or a folder, and there is no ${2:-}"
        path[${1#--}]=$2; order+=("${1#--}"); shift 2 ;;
    --python | --dawn | --device | --json | --keep)
        [ -n "${2:-}" ] || usage "$1 wants a value"
        printf -v "${1#--}" %s "$2"; shift 2 ;;
    --allow-cpu) cpu=--allow-cpu; shift ;;
    --) shift; options=("$@"); break ;;
    -*) usage "there is no option $1" ;;
    *) [ -z "$data" ] || usage "one folder with data, not $data and $1"; data=$1; shift ;;
    esac
done
[ -n "$data" ] || usage "which folder holds CIFAR-10?"
[ $((runs * others)) -gt 0 ] || usage "--runs and --others want at least 1"
[ "$data" = synthetic ] || [ -d "$data" ] || usage "there is no folder $data"
[ "$data" != synthetic ] || [ ${#order[@]} -eq 0 ] || usage "competitors need a folder with CIFAR-10"
command -v "$dawn" >/dev/null || usage "there is no program $dawn"

work=$(mktemp -d) || exit 1
record=$work/results.db
: >"$work/lines"
trap '' PIPE # a competitor that dies is noticed by its silence
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
# Nobody finds what an earlier process compiled: our cache, the driver's, PyTorch's and Triton's begin empty.
export XDG_CACHE_HOME=$work/cache CUDA_CACHE_PATH=$work/cache/driver
export TORCHINDUCTOR_CACHE_DIR=$work/cache/inductor TRITON_CACHE_DIR=$work/cache/triton

now() { local t=$EPOCHREALTIME; ms=$((${t/./} / 1000)); } # milliseconds, in $ms
now
end=$((ms + seconds * 1000))
line() { printf '%s\n' "$1" >>"$work/lines"; }
quoted() { local t=${1//\\/\\\\}; t=${t//\"/\\\"}; printf '"%s"' "${t//$'\n'/ }"; }

card() { # MOMENT: what the card says about its clocks, where it can be asked
    local said
    command -v nvidia-smi >/dev/null || return 0
    said=$(nvidia-smi -i "${CUDA_VISIBLE_DEVICES:-0}" --format=csv,noheader --query-gpu=name,driver_version,pstate,$(
    )clocks.sm,clocks.max.sm,clocks.mem,temperature.gpu,power.draw,power.limit 2>&1 | head -n 1)
    line "{\"card\": $(quoted "$1: $said")}"
}

left_out() { # SIDE WHY
    echo "$1 is left out: $2" >&2
    tail -n 8 "$work/said/$1" >&2 2>/dev/null
    line "{\"left_out\": {\"$1\": $(quoted "$2")}}"
    [ -z "${pid[$1]:-}" ] || kill -KILL "${pid[$1]}" 2>/dev/null # it must not compute beside the others
    unset "pid[$1]"
}

ours=0 sum=0 usual=0
run_ours() {
    local began rc wall
    ours=$((ours + 1))
    now; began=$ms
    timeout -k 5 $((seconds + 60)) "$dawn" train cifar10 --data "$data" --device "$device" --no-stop --seed "$ours" \
        --save "" --db "$record" --quiet "${options[@]}" >"$work/said/dawn" 2>&1 </dev/null
    rc=$?
    now
    if [ $rc -ne 0 ] && [ $rc -ne 3 ]; then
        cat "$work/said/dawn" >&2
        echo "cifar10-gpu.sh: dawn train ended with status $rc in run $ours" >&2
        exit 1
    fi
    wall=$((ms - began))
    # The first finds no cache, so it does not say how long the others take.
    if [ $ours -gt 1 ]; then sum=$((sum + wall)) usual=$((sum * 11 / (ours - 1) / 10)); else usual=$wall; fi
    line "{\"side\": \"dawn\", \"run\": $ours, \"wall_s\": $((wall / 1000)).$(printf %03d $((wall % 1000)))}"
}

spare() { now; left=$((end - ms - (runs - ours) * usual)); } # milliseconds that our runs will not need, in $left

tell() { { echo "$2" >&"${in[$1]}"; } 2>/dev/null; }

answer() { # SIDE SECONDS: the next line it says goes into the lines
    local said waited rc
    for ((waited = 0; waited < $2; waited += 5)); do
        IFS= read -r -t $(($2 - waited < 5 ? $2 - waited : 5)) -u "${out[$1]}" said
        rc=$?
        [ $rc -ne 0 ] || { line "$said"; return 0; }
        # The end of its words may be held open by processes that it has left behind.
        [ $rc -gt 128 ] && kill -0 "${pid[$1]}" 2>/dev/null || return 1
    done
    return 1
}

start() { # SIDE: until it has said that it is ready
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
    turn "$side" && alive+=("$side") # at once, so that its time from start to end holds no waiting
}

turn() { # SIDE: one run of a competitor, when there is time for it
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

# Everything is read once, so that no side pays for the disk.
[ "$data" = synthetic ] || cat "$data"/*.bin "$data"/cifar-10-batches-bin/*.bin >/dev/null 2>&1
if [ ${#order[@]} -gt 0 ] && ! "$python" "$here/competitor.py" prepare "$data" "$work" $cpu; then
    for side in "${order[@]}"; do left_out "$side" "their data could not be made"; done
    order=()
fi
card before
run_ours
[ "$runs" -eq 1 ] || run_ours
for side in "${order[@]}"; do start "$side"; done
card 'all sides ready'
for ((round = 3; round <= runs; round++)); do
    now
    [ $((end - ms)) -gt $usual ] || { echo "time is up after $ours of $runs runs" >&2; break; }
    run_ours
    for side in "${alive[@]}"; do
        [ -n "${pid[$side]:-}" ] || continue
        # Its share of turns, spread evenly over ours; its first was taken when it was started.
        due=$((1 + (round - 1) * (others - 1) / (runs - 1)))
        if [ "${made[$side]}" -lt $due ]; then turn "$side" || true; fi
    done
    [ $round -ne $((runs / 2)) ] || card 'half way'
done
card after
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
