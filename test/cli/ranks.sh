#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Several processes train as one: the same weights and the same curve, byte for byte, for any number of processes; their rows in the
# record; a missed target; a rank that is killed or fails ends all, and another number of processes goes on; processes that
# must not train together are refused.
set -eu
. "$ROOT/test/wait.sh"
. "$ROOT/test/status.sh"
. "$ROOT/test/mpi.sh"

train="train cifar10 --data synthetic --set widths=8,8,16 --batch 256 --set data.slices=4 --set epochs=0.2 --set views=1
    --threads 1 --target 0.001 --no-stop"

# refused STATUS PATTERN: the last command ended so, with one line of dawn on stderr that matches
refused() {
    if [ "$rc" != "$1" ] || ! grep -qE -- "$2" err.txt || [ "$(grep -c '^dawn' err.txt)" != 1 ]; then
        echo "wanted status $1 and one line like \"$2\", got $rc:"
        cat out.txt err.txt
        exit 1
    fi
}

# One command that asks for its rank: the launcher of Open MPI 5.0.7 crashes at "mpirun -n 1 A : -n 1 B" for any A and B.
both() { # COMMAND... : COMMAND...: the first as rank 0, the second as rank 1
    local first=()
    while [ "$1" != : ]; do first+=("$1"); shift; done
    shift
    printf '#!/bin/bash\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] || exec %s\nexec %s\n' "$(printf '%q ' "${first[@]}")" \
        "$(printf '%q ' "$@")" >by_rank
    chmod +x by_rank
    mpirun -n 2 ./by_rank
}

mkdir one two four
: >out.txt
"$DAWN" $train --db one/results.db >one.txt
rc=0
TERM=xterm mpirun -n 2 "$DAWN" ${train/0.001/0.999} --db two/results.db >two.txt 2>err.txt || rc=$?
refused 3 'is below the target' # and the first process saves before it ends
"$DAWN" results show 1 --db two/results.db | grep -q 'missed'
mpirun -n 4 "$DAWN" $train --db four/results.db >four.txt
cmp one/run-1.safetensors two/run-1.safetensors
cmp one/run-1.safetensors four/run-1.safetensors
lacks two.txt $'\r.' # mpirun gives them a terminal, and no line is drawn there
[ "$(grep -c '^  eligible ' two.txt)" = 1 ] || { cat two.txt; exit 1; } # one process shows
"$DAWN" results show 1 --db two/results.db >shown
reads shown 'processes 2 on 1 machine: .*1 thread each' # the name of the processor decides where the line is broken
for n in one two four; do "$DAWN" results export --db $n/results.db --format json --to $n.json; done
python3 - <<'PY'
import json
one, two, four = (json.load(open(name + ".json"))["runs"] for name in ("one", "two", "four"))
curves = [[(p["step"], p["samples"], p["loss_micro"], p.get("scores")) for p in r[0]["points"]] for r in (one, two, four)]
assert curves[0] == curves[1] == curves[2] and curves[0][-1][3], curves
assert len(one) == len(two) == len(four) == 1 and not one[0]["places"]
libraries = [r[0]["software_facts"]["libraries"] for r in (one, two, four)]
assert "processes" not in libraries[0] and "MPI" in libraries[1], libraries # so no replay takes them for one process
assert libraries[1].endswith(", 2 processes") and libraries[2].endswith(", 4 processes"), libraries
assert [p["rank"] for p in four[0]["places"]] == [0, 1, 2, 3] and four[0]["threads"] == 4
assert one[0]["recipe_digest"] == two[0]["recipe_digest"]
PY

# ---- a rank is killed; one process goes on from the state of two
rank_of() { tr '\0' '\n' <"/proc/$1/environ" 2>/dev/null | sed -n 's/^OMPI_COMM_WORLD_RANK=//p'; }
mpirun -n 2 "$DAWN" $train --checkpoint-every 5 --db results.db >out.txt 2>err.txt &
launcher=$!
wait_for test -e run-1.state
victim='' other=''
for child in $(cat "/proc/$launcher/task/$launcher/children"); do
    case $(rank_of "$child") in 0) other=$child ;; 1) victim=$child ;; esac
done
kill -KILL "$victim"
began=$SECONDS rc=0
wait "$launcher" || rc=$?
wait_for ended "$other" # the launcher does not wait for a rank that it told to end
[ "$rc" != 0 ] && [ $((SECONDS - began)) -le 10 ] || { echo "status $rc after $((SECONDS - began)) s"; cat err.txt; exit 1; }
"$DAWN" train --resume 1 --db results.db >log.txt
cmp run-1.safetensors one/run-1.safetensors
"$DAWN" results show 1 --db results.db | grep -q 'from step [0-9]* on, 1 on 1 machine'

# ---- a rank that fails says why, and all end
began=$SECONDS rc=0
both "$DAWN" $train --db failed.db : "$DAWN" $train --recipe none.json --db failed.db >out.txt 2>err.txt || rc=$?
refused 1 '^dawn train: rank 1 of 2: .*none.json'
[ $((SECONDS - began)) -le 10 ]

# ---- a rank that fails in the middle says why, and the others, which wait for it, end too
mkdir gone
mpirun -n 2 "$DAWN" ${train/0.2/50} --checkpoint-every 1 --db gone/results.db >out.txt 2>err.txt &
launcher=$!
wait_for test -e gone/run-1.state
mv gone went
began=$SECONDS rc=0
wait "$launcher" || rc=$?
refused 1 '^dawn train: .*gone'
[ $((SECONDS - began)) -le 10 ]

# ---- ranks that would train different things
rc=0
both "$DAWN" $train --db failed.db : "$DAWN" $train --seed 6 --db failed.db >out.txt 2>err.txt || rc=$?
refused 2 'rank 1 has another seed than rank 0'
{ cat "$DAWN"; echo; } >other
chmod +x other
rc=0
both "$DAWN" $train --db failed.db : ./other $train --db failed.db >out.txt 2>err.txt || rc=$?
refused 2 'rank 1 has another program than rank 0'
python3 - <<'PY'
import json, os
names = [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]
for folder in "same", "changed":
    os.makedirs(folder + "/cifar-10-batches-bin")
    for name in names:
        with open(f"{folder}/cifar-10-batches-bin/{name}", "wb") as out:
            for i in range(100):
                out.write(bytes([i % 10]) + bytes([i + (folder == "changed" and name == names[3] and i == 50)]) * 3072)
    with open(folder + "/cifar-10-batches-bin/dawn-import.json", "w") as out:
        json.dump({"records": {name: 100 for name in names}}, out)
PY
rc=0
images=${train/synthetic/.\/same}
both "$DAWN" $images --db failed.db : "$DAWN" ${images/same/changed} --db failed.db >out.txt 2>err.txt || rc=$?
refused 2 'rank 1 has another data set than rank 0'
rc=0
train="$train --precision f32 --db failed.db"
if [ "$(uname -m)" = x86_64 ]; then
    [ "${ONEDNN_MAX_CPU_ISA-}" = SSE41 ] && another=AVX2 || another=SSE41 # the whole check may run at one level
    both "$DAWN" $train : env ONEDNN_MAX_CPU_ISA=$another "$DAWN" $train >out.txt 2>err.txt || rc=$?
    refused 2 'rank 1 has another kind of processor or GPU than rank 0'
fi
rc=0
mpirun -n 2 "$DAWN" $train --set data.slices=3 >out.txt 2>err.txt || rc=$?
refused 2 'data.slices: 3 slices of a batch cannot be shared by 2 processes'
if [ -e failed.db ]; then echo "a training that was refused left a record"; exit 1; fi
