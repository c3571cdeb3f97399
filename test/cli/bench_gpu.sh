# SPDX-License-Identifier: Apache-2.0
# test/bench/cifar10-gpu.sh without a GPU: its turns, clocks, table, JSON and verdicts, with competitors that only sleep.
# shellcheck disable=SC2086
set -eu
bench=$ROOT/test/bench standin=$ROOT/test/cli/bench_gpu_standin.py

. "$ROOT/test/status.sh"
want() { # STATUS COMMAND...
    local rc
    rc=$(status "${@:2}")
    [ "$rc" = "$1" ] || { echo "exit status $rc, not $1: ${*:2}"; cat out err; exit 1; }
}
holds() { # FILE EXPRESSION over its JSON as j
    python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$1" "$2" ||
        { echo "does not hold in $1: $2"; cat "$1"; exit 1; }
}

# A hundred images of noise per file, with the marker that makes them a data set.
python3 - <<'END'
import json, os, random
os.makedirs("data/cifar-10-batches-bin")
rng, names = random.Random(1), [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]
for name in names:
    with open("data/cifar-10-batches-bin/" + name, "wb") as out:
        for i in range(100):
            out.write(bytes([i % 10]) + rng.randbytes(3072))
with open("data/cifar-10-batches-bin/dawn-import.json", "w") as out:
    json.dump({"records": {name: 100 for name in names}}, out)
END
tiny="--threads 1 --set widths=8,8,8 --set batch=50 --set epochs=0.2 --set resolution=16 --set views=1"
cp "$standin" airbench94_muon.py
cp "$standin" hiverge.py

# Two competitors, a checkout and a file; five runs of DAWN and three of theirs, in turn.
want 0 "$bench/cifar10-gpu.sh" data --device cpu --runs 5 --others 3 --airbench . --hiverge hiverge.py --allow-cpu \
    --json all.json --keep kept -- $tiny
sed -n 's/^{"side": "\([a-z]*\)", "\(run\).*/\1/p' kept/lines | tr '\n' ' ' >turns
[ "$(cat turns)" = "dawn dawn airbench hiverge dawn airbench hiverge dawn dawn airbench hiverge " ] || { cat turns; exit 1; }
grep -Eq '^dawn +5 +[0-9.]+ ' out
grep -Eq '^airbench +3 +94\.120 +0\.000 ' out
grep -Eq '^hiverge +3 +94\.120 ' out
grep -q '^This is no result: the data are not CIFAR-10 as published' out
[ "$(grep -c '^  not shown ' out)" = 5 ]
awk 'length > 130 && !/^  dawn/ { print "too wide: " $0; bad = 1 } END { exit bad }' out
grep -q 'this line is for people' kept/said/airbench
[ "$("$DAWN" results list --db kept/results.db | grep -c cifar10)" = 5 ]
holds all.json '[r["seed"] for r in j["runs"] if r["side"] == "dawn"] == [1, 2, 3, 4, 5]'
holds all.json 'j["sides"]["dawn"]["n"] == 5 and j["about"]["runs_asked"] == 5 and len(j["runs"]) == 11'
# A process's start time has a resolution of 10 ms, so the two clocks may differ by one tick.
holds all.json 'all(0 < r["warm_without_evaluation_s"] < r["warm_s"] < r["end_to_end_s"] <= r["wall_s"] + .011
    for r in j["runs"] if r["side"] == "dawn")'
# Each wait is counted where it belongs: 50 ms to train, 30 to evaluate, 40 to load and 20 for informative evaluations; no
# minute of cooling.
holds all.json 'all(.05 <= r["warm_without_evaluation_s"] <= r["warm_s"] - .03 and r["warm_s"] <= r["whole_s"] - .06
    and .05 <= r["own_s"] <= r["warm_without_evaluation_s"] and r["whole_s"] < 30
    for r in j["runs"] if r["side"] != "dawn")'
holds all.json '["end_to_end_s" in r for r in j["runs"] if r["side"] == "hiverge"] == [True, False, False]'
holds all.json 'abs(j["sides"]["airbench"]["warm_s"]["mean"] - sum(r["warm_s"] for r in j["runs"]
    if r["side"] == "airbench") / 3) < 1e-9'

# A competitor that fails in its second run keeps its first; one that cannot be loaded is named; DAWN's runs continue.
echo 'raise SystemExit("it does not like this machine")' >broken.py
want 0 env STANDIN_FAILS=2 "$bench/cifar10-gpu.sh" data --device cpu --runs 4 --others 4 --airbench . --e1 broken.py \
    --allow-cpu --json some.json -- $tiny
grep -q '^airbench is left out: run 2 ' err
grep -q 'it fails as it was told to' err
grep -q 'it does not like this machine' err
grep -Eq '^airbench +1 ' out
grep -Eq '^dawn +4 ' out
grep -q '^  e1 *left out: it did not get ready' out
holds some.json 'sorted(j["about"]["left_out"]) == ["airbench", "e1"] and list(j["sides"]) == ["dawn", "airbench"]'

# No time: DAWN's runs only, as many as fit. If they fail, nothing is claimed.
want 0 "$bench/cifar10-gpu.sh" data --device cpu --runs 50 --seconds 0 --airbench . --allow-cpu --json few.json -- $tiny
grep -q 'time is up after 2 of 50 runs' err
grep -q '^airbench is left out: it did not get ready in time' err
want 1 "$bench/cifar10-gpu.sh" data --device cpu --runs 2 -- --set nonsense=1
[ ! -e cifar10-gpu.json ]
want 2 "$bench/cifar10-gpu.sh"
want 2 "$bench/cifar10-gpu.sh" nowhere
want 2 "$bench/cifar10-gpu.sh" data --runs many
want 2 "$bench/cifar10-gpu.sh" data --e1 nowhere.py
want 2 "$bench/cifar10-gpu.sh" synthetic --e1 broken.py
want 2 "$bench/cifar10-gpu.sh" data --fast

# Without a GPU and without --allow-cpu, a competitor does not run.
if ! python3 -c 'import torch' 2>/dev/null; then
    want 1 python3 "$bench/competitor.py" airbench airbench94_muon.py --work . </dev/null
    grep -q 'has no PyTorch' err
fi

# A fake GPU: the model is moved and compiled, every clock waits for the GPU, and both scripts run as theirs would.
mkdir -p fake/torch w
cat >fake/torch/__init__.py <<'END'
import types
__version__, channels_last, waits = "0", None, []
version = types.SimpleNamespace(cuda="0")
cuda = types.SimpleNamespace(is_available=lambda: True, synchronize=lambda: waits.append(1), empty_cache=lambda: None,
                             get_device_name=lambda n: f"fake {len(waits)}")
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 0))
manual_seed = lambda seed: None
END
for script in airbench94_muon.py hiverge.py; do
    printf 'run\nrun\nquit\n' | PYTHONPATH=fake python3 "$bench/competitor.py" "${script%%[.9]*}" $script --work w >said 2>err ||
        { cat err; exit 1; }
    [ "$(wc -l <said)" = 3 ]
    grep -q '"gpu": "fake [1-9]' said
done

# The verdicts, from handmade records: 50 runs at 94.1% in 0.7 s against a competitor's 1.1 s, then slower ones.
made() { # WARM-MS CORRECT END-TO-END-MS RUNS
    python3 - "$@" <<'END'
import json, sys
warm, k, whole, n = map(int, sys.argv[1:])
run = {"status": "done", "metrics": [{"items": 10000}], "last_score": k, "last_ns": whole * 10**6, "last_warm_ns": warm * 10**6 - 10**7,
       "last_warm_with_evaluation_ns": warm * 10**6, "official": 1, "device": "cuda", "recipe": "cifar10",
       "recipe_json": "{}", "precision": "f16", "software_facts": {"commit_name": "", "dirty": 0, "libraries": ""},
       "machine_facts": {"gpu": "NVIDIA H100", "driver": "1", "cpu": "c", "cores_usable": 1, "os": "o"}}
json.dump({"runs": [dict(run, id=i, seed=i) for i in range(1, n + 1)]}, open("record", "w"))
theirs = {"side": "e1", "accuracy": .94, "warm_s": 1.1, "warm_without_evaluation_s": 1.08}
with open("lines", "w") as f:
    f.write("".join(json.dumps(dict(theirs, run=i)) + "\n" for i in range(3)))
END
}
report() { want "$1" python3 "$bench/cifar10_report.py" --record record --lines lines --json report.json; }
made 700 9410 2500 50
report 0
[ "$(grep -c '^  held ' out)" = 5 ]
grep -Eq '^e1 .* 1\.57 +1\.57$' out
made 760 9400 2500 50 # 9,400 of 10,000 meets 94%
report 3
[ "$(grep '^  missed' out | cut -c14-28)" = 'mean warm time,' ]
made 800 9399 3100 50
report 3
[ "$(grep -c '^  missed ' out)" = 5 ]
made 700 9410 2500 49
report 0
[ "$(grep -c '^  not shown .*49 runs' out)" = 2 ]

# E1 is evaluated here, and the data are written, with PyTorch, if it is installed.
for python in python3 /usr/bin/python3; do
    "$python" -c 'import torch' 2>/dev/null || continue
    "$python" "$bench/competitor.py" prepare data w
    printf 'run\nrun\n' | "$python" "$bench/competitor.py" e1 "$standin" --work w --allow-cpu >said 2>err || { cat err; exit 1; }
    tail -n 1 said >last
    holds last '0 <= j["accuracy"] <= 1 and .07 <= j["warm_without_evaluation_s"] < j["warm_s"] == j["whole_s"] < 30'
    holds last 'j["run"] == 2 and j["slept_s"] >= 180'
    break
done
