#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two machines, as far as MPI can tell: each process is started through an agent of its own, and they share no memory. Machines and
# devices are rows of the record, and the price covers all machines. The scaling of a step over processes, in the output, the
# record and the report. Emulated GPUs add their gradients by the emulated NCCL.
set -eu
. "$ROOT/test/mpi.sh"
. "$ROOT/test/status.sh"

# ---- the scaling
"$DAWN" bench cifar10 --fake --set widths=8,8,16 --batch 32 --seconds 0.2 --repeats 1 --scaling 1,2 --launcher mpirun \
    >out.txt
cat out.txt
grep -Eq '^ +1 +.* 1\.00 +100' out.txt
grep -Eq '^ +2 +[0-9]' out.txt
[ "$(awk '/%$/ { print $3 }' out.txt | sort -u | wc -l)" = 1 ] # threads per process: a submission takes rows of one number
grep -q '^Recorded in results.db as scaling 1: ' out.txt
"$DAWN" bench --list >out.txt
grep -q '^Scaling over processes' out.txt
"$DAWN" report -o report.md >/dev/null
grep -q '^## Scaling$' report.md
expect 1 'the launcher "no-such-launcher" cannot be started' "$DAWN" bench cifar10 --fake --scaling 1,2 --launcher no-such-launcher

# ---- two machines
cat >agent <<'END'
#!/bin/sh
export TMPDIR=$PWD/machine-$1
mkdir -p "$TMPDIR"
shift
exec sh -c "$*"
END
chmod +x agent
unset OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy
export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$PWD/agent OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
case $(mpirun --version) in
# Both daemons have one host name: without a folder of its own for each and direct messages, one start in twenty failed.
*' 4.'*) export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_routed=direct ;;
# Open MPI 5 starts daemons by PRRTE, not over lo. Its collectives by machine (han) take both for one: MPI_ERR_TRUNCATE.
*) export PRTE_MCA_plm=ssh PRTE_MCA_plm_ssh_agent=$PWD/agent OMPI_MCA_coll=^han ;;
esac
machines="mpirun --host 10.77.0.1:1,10.77.0.2:1 -n 2"
train="train cifar10 --data synthetic --set widths=8,8,16 --batch 256 --set data.slices=2 --set epochs=0.2 --set views=1 --threads 1
    --target 0.001 --no-stop"
$machines "$DAWN" $train --cost-per-hour 3 --checkpoint-every 1000 --db two.db --save two.safetensors >out.txt
"$DAWN" results show 1 --db two.db >shown.txt
cat shown.txt
grep -q 'at \$6.00 per hour' shown.txt
grep -q 'processes  *2 on 2 machines: ' shown.txt
"$DAWN" results export --db two.db --format json --to two.json
holds two.json '(run := o["runs"][0])["price_micro_per_hour"] == 6_000_000' 'all(p["device"] and p["machine"] for p in run["places"])' \
    '[(p["rank"], p["machine_number"], p["threads"]) for p in run["places"]] == [(0, 0, 1), (1, 1, 1)]'
"$DAWN" $train --db one.db --save one.safetensors >out.txt
cmp one.safetensors two.safetensors

# ---- two GPUs: with merged launches, and with chains concurrent with the backward pass
[ -n "${EMULATED:-}" ] || exit 0
python3 - <<'PY'
import json, os
names = [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]
os.makedirs("few/cifar-10-batches-bin")
for name in names:
    with open("few/cifar-10-batches-bin/" + name, "wb") as out:
        for i in range(40):
            out.write(bytes([i % 10]) + bytes([(i * 37 + k * 11) % 251 for k in range(3072)]))
with open("few/cifar-10-batches-bin/dawn-import.json", "w") as out:
    json.dump({"records": {name: 40 for name in names}}, out)
PY
train="train cifar10 --data ./few --device cuda --set widths=8,8,8 --set batch=40 --set data.slices=2 --set epochs=0.4 --set views=1
    --set resolution=16 --target 0.001 --no-stop --threads 1"
"$EMULATED" $train --db one.db --save gpu1.safetensors >out.txt
$machines "$EMULATED" $train --db two.db --save gpu2.safetensors >out.txt
DAWN_CUDA_LANES=all $machines "$EMULATED" $train --db two.db --save gpus.safetensors >out.txt
cmp gpu1.safetensors gpu2.safetensors
cmp gpu1.safetensors gpus.safetensors
