#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What follows a training, for the tasks of texts, whose metrics are no shares of right answers alone: the record and its chain, two
# runs next to each other, a report, exports, a replay to the same bytes, and a scoreboard whose pages name the metric.
set -eu
command -v curl >/dev/null && command -v python3 >/dev/null || { echo "curl or python3 is not installed"; exit 77; }
. "$ROOT/test/wait.sh"
. "$ROOT/test/status.sh"
export HOME=$PWD
unset XDG_CONFIG_HOME DAWN_RESULTS DAWN_SERVER DAWN_HANDLE DAWN_KEY SSH_AUTH_SOCK

"$BOARD" --db board.db --listen 127.0.0.1:0 --origin example >said 2>&1 &
pid=$!
trap 'kill "$pid" 2>/dev/null || true' EXIT
wait_line $pid said Ctrl-C
url=$(sed -n 's|^Serving .* at \(http://[^ ]*\)/ (key .*|\1|p' said)
export DAWN_SERVER=$url
"$DAWN" keys new ada >out
number=0

follows() { # TASK METRIC BENCHMARK SHOWN TRAINING...: two runs and what follows. BENCHMARK: in MLPerf's log; SHOWN: on the run's page
    local task=$1 metric=$2 benchmark=$3 shown=$4 db=$1.db seed
    shift 4
    for seed in 1 2; do
        "$DAWN" train "$task" --threads 1 --seed $seed --db "$db" --set warmup_epochs=0.2 --set layers=1 --set width=32 "$@" >trained.txt
    done
    expect 0 good "$DAWN" results verify all --db "$db"
    [ "$(grep -c good out)" = 2 ]
    expect 0 "$metric" "$DAWN" results show 1 --db "$db"
    expect 0 "$metric" "$DAWN" results compare 1 2 --db "$db"
    "$DAWN" report "$db" -o "$task.html" >out
    reads "$task.html" "$metric"
    "$DAWN" results export 1 --db "$db" --format mllog --to "$task.log"
    reads "$task.log" "\"key\":\"submission_benchmark\",\"value\":\"$benchmark\""
    reads "$task.log" '"key":"run_stop".*"status":"success"'
    "$DAWN" results export 1 --db "$db" --format json --to "$task.json"
    python3 - "$task.json" "$task.log" <<'PY'
import json, sys
run = json.load(open(sys.argv[1]))["runs"][0]
board, scores = run["metrics"][0], [p["scores"] for p in run["points"] if p.get("scores")]
logged = [json.loads(line.split(" ", 1)[1]) for line in open(sys.argv[2])]
values = [row["value"] for row in logged if row["key"] == "eval_accuracy"]
first = next(s["score"] for s in scores[0] if s["metric"] == board["name"])
assert abs(values[0] - first * (1e-8 if board["name"] == "bleu" else 1e-6)) < 1e-9, (values, scores)
PY
    expect 0 'verdict agrees: every loss and score equals the original.s, bit for bit' "$DAWN" replay 1 --db "$db"
    cmp "$task-run-1.safetensors" "$task-run-3.safetensors"

    number=$((number + 1))
    expect 0 "run 1: accepted as #$number" "$DAWN" submit "$db" --run 1 --handle ada --key ada --yes
    expect 0 'chain good' "$DAWN" verify "$url/runs/$number"
    expect 0 'verdict agrees' "$DAWN" replay "$url/runs/$number" --db again.db --save ""
    curl -fsS "$url/runs/$number" >page
    reads page "<small>$metric</small></dt><dd>$shown"
}

follows gpt-char 'validation loss' gpt-char '[0-9.]+ nat</dd>' --data lines --set epochs=1 --target 3.5
follows wiki-mlm 'masked-word accuracy' bert '0[.][0-9]+</dd>' --data articles --set epochs=2 --set short_epochs=1 --target 0.01
follows multi30k BLEU transformer '[0-9]+[.][0-9]+</dd>' --data phrases --set epochs=2 --set heads=2 --set feed_forward=64 --target 1
"$BOARD" check --db board.db >out
