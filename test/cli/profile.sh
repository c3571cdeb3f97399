# SPDX-License-Identifier: Apache-2.0
# dawn profile: its tables, sums, the trace, and wrong use. No figure of a time is compared with another.
set -eu

. "$ROOT/test/status.sh"
small="--data pictures --threads 1 --no-measure --seconds 0.1"

[ "$(status "$DAWN" profile imagenette $small --rows 12 --trace trace.json --quiet)" = 0 ]
[ ! -s err ]
awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' out >&2
grep -Eq '^  all  .* 100\.0%' out
grep -Eq '^  conv +(forward|backward) ' out
reads out 'waiting for the feed'
grep -q '^Memory at the peak of the step, by plan:$' out
grep -q 'trace.json: ui.perfetto.dev opens it' out
python3 - <<'PY'
import json
trace = json.load(open("trace.json"))
spans = [e for e in trace["traceEvents"] if e["ph"] == "X"]
nodes = [e for e in spans if e["pid"] == 10]
assert {e["cat"] for e in nodes} == {"forward", "backward", "update"}
end = 0
for e in nodes:  # one after the other, in the order of the program
    assert abs(e["ts"] - end) < 1e-3 * max(1, end), (e, end)
    end = e["ts"] + e["dur"]
PY

# In a pipe, a plain line at most once per second states the progress.
[ "$(status "$DAWN" profile cifar10 --data synthetic --threads 1 --no-measure --seconds 1.1)" = 0 ]
grep -Eq '^timing (steps|operators).* \.\.\.$' err
lacks err $'\r'

# JSON: operators, layers and classes sum up.
[ "$(status "$DAWN" profile cifar10 --fake --device null --no-measure --seconds 0.1 --json)" = 0 ]
python3 - <<'PY'
import json
p = json.load(open("out"))
memory = p["memory"]
assert sum(memory["classes"].values()) == memory["total_bytes"] == sum(l["bytes"] for l in memory["layers"])
assert all(sum(l["classes"].values()) == l["bytes"] for l in memory["layers"])
for key in "flops", "bytes":
    operators, nodes = (sum(o[key] for o in p[what]) for what in ("operators", "nodes"))
    assert abs(operators - nodes) <= 1e-9 * nodes
assert abs(sum(o["flops"] for o in p["operators"]) - p["flops"]) <= 1e-9 * p["flops"] and p["model_flops"] < p["flops"]
assert "model_flop_utilisation" not in p  # nothing was measured
PY

[ "$(status "$DAWN" profile)" = 2 ]
[ "$(status "$DAWN" profile cifar11)" = 2 ]
[ "$(status "$DAWN" profile cifar10 --device null --no-measure --side 7)" = 2 ]
says 1 'none/trace.json' "$DAWN" profile cifar10 --device null --no-measure --seconds 600 --trace none/trace.json
[ ! -e results.db ] # nothing is recorded
