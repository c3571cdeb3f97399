#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table, the verdicts and the JSON file of cifar10-gpu.sh.

  cifar10_report.py --record EXPORT --lines LINES --json FILE

EXPORT is the output of `dawn results export all` for DAWN's runs. LINES has one JSON object per line: the answers of
competitor.py, {"side": "dawn", "run": N, "wall_s": S} by the shell's clock, and facts about the GPU and the measurement.
Exit status: 3 if a goal was missed, else 0. A goal that could not be measured is "not shown".
"""
import argparse
import json
import math
import sys

# The goals, for one H100 or H200.
WARM_S, END_TO_END_S, ACCURACY, RUNS_MIN, SHARE = 0.75, 3.0, 0.94, 50, 0.7
CLOCKS = ("accuracy", "warm_s", "warm_without_evaluation_s", "end_to_end_s", "own_s", "whole_s", "wall_s")


def ours(record, lines):
    """DAWN's runs from the record, with the members of competitor.py's answers; the wall clock is the shell's."""
    walls = {line["run"]: line["wall_s"] for line in lines if line.get("side") == "dawn"}
    runs = []
    for r in sorted(record["runs"], key=lambda r: r["id"]):
        if r["status"] not in ("done", "missed") or r.get("last_score") is None:
            continue
        runs.append({"side": "dawn", "run": r["id"], "seed": r["seed"], "status": r["status"],
                     "accuracy": r["last_score"] / r["metrics"][0]["items"], "end_to_end_s": r["last_ns"] / 1e9,
                     "warm_s": r["last_warm_with_evaluation_ns"] / 1e9,
                     "warm_without_evaluation_s": r["last_warm_ns"] / 1e9, "wall_s": walls.get(r["id"])})
    return runs


def statistics(values):
    n, mean = len(values), math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1)) if n > 1 else None
    return {"n": n, "mean": mean, "sigma": spread, "least": min(values), "most": max(values), "first": values[0]}


def summary(runs):
    found = {"n": len(runs)}
    for name in CLOCKS:
        values = [run[name] for run in runs if run.get(name) is not None]
        if values:
            found[name] = statistics(values)
    return found


def mean(side, name):
    return side[name]["mean"] if name in side else None


def ratio(side, dawn, name):
    return mean(side, name) / mean(dawn, name) if name in side and mean(dawn, name) else None


def why_no_result(record):
    """The reason why these runs are not a result at all, which is different from a missed goal; None if they are."""
    runs = record["runs"]
    if not all(r["official"] for r in runs):
        return "the data are not CIFAR-10 as published"
    if any(r["device"] != "cuda" for r in runs):
        return "the device was " + ", ".join(sorted({r["device"] for r in runs}))
    if any("emulated" in json.dumps([r["machine_facts"], r["software_facts"]]).lower() for r in runs):
        return "the GPU is emulated"
    return None


def verdict(goal, value, bound, why, least=False):
    held = value is not None and (value >= bound if least else value <= bound)
    return {"goal": goal, "verdict": "not shown" if why else "held" if held else "missed", "value": value, "bound": bound,
            "why": why}


def verdicts(sides, nothing):
    dawn = sides["dawn"]
    few = nothing or (None if dawn["n"] >= RUNS_MIN else f"{dawn['n']} runs; {RUNS_MIN} are needed")
    others = [side for name, side in sides.items() if name != "dawn"]
    alone = nothing or (None if others else "no competitor ran")
    found = [verdict("mean warm time, evaluation in, s: at most", mean(dawn, "warm_s"), WARM_S, few),
             verdict("mean accuracy: at least", mean(dawn, "accuracy"), ACCURACY - 1e-12, few, least=True)]
    for name, words in (("warm_s", "in"), ("warm_without_evaluation_s", "out")):
        best = min((mean(side, name) for side in others), default=None)
        share = mean(dawn, name) / best if best else None
        found.append(verdict(f"mean warm time as a share of the best competitor's, evaluation {words}: at most", share, SHARE, alone))
    return [*found, verdict("mean time end to end, s: at most", mean(dawn, "end_to_end_s"), END_TO_END_S, nothing)]


def cell(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


def row(name, side, dawn):
    accuracy, warm, cold = (side.get(n, {}) for n in ("accuracy", "warm_s", "end_to_end_s"))
    share = lambda v: None if v is None else 100 * v
    return (name, str(side["n"]), cell(share(accuracy.get("mean"))), cell(share(accuracy.get("sigma"))),
            cell(warm.get("mean")), cell(warm.get("sigma"), 4), cell(warm.get("least")), cell(warm.get("most")),
            cell(mean(side, "warm_without_evaluation_s")), cell(mean(side, "own_s")), cell(cold.get("first"), 2),
            cell(cold.get("mean"), 2), cell(ratio(side, dawn, "warm_s"), 2),
            cell(ratio(side, dawn, "warm_without_evaluation_s"), 2))


GROUPS = (("", ("side",)), ("", ("runs",)), ("accuracy %", ("mean", "sigma")),
          ("warm s, evaluation in", ("mean", "sigma", "best", "worst")), ("out", ("mean",)), ("own s", ("mean",)),
          ("end to end s", ("first", "mean")), ("times ours", ("in", "out")))


def table(sides):
    rows = [[head for _, heads in GROUPS for head in heads]]
    rows += [row(name, side, sides["dawn"]) for name, side in sides.items()]
    width, above, at = [max(map(len, column)) for column in zip(*rows)], [], 0
    for name, heads in GROUPS:
        span = sum(width[at:at + len(heads)]) + 2 * (len(heads) - 1)
        width[at] += max(0, len(name) - span)
        above.append(name.center(max(span, len(name))))
        at += len(heads)
    lines = ["  ".join(above).rstrip()]
    for r in rows:
        lines.append("  ".join(r[i].rjust(width[i]) if i else r[i].ljust(width[i]) for i in range(len(r))))
    return lines


def show(sides, found, nothing, about):
    print(*table(sides), sep="\n")
    print(f"\nThis is no result: {nothing}.\n" if nothing else "")
    for v in found:
        value = "" if v["value"] is None else f": {v['value']:.4f}"
        why = f" ({v['why']})" if v["why"] not in (None, nothing) else ""
        print(f"  {v['verdict']:<9}  {v['goal']} {v['bound']:.2f}{value}{why}")
    machine, software = about["machine"], about["software"]
    print(f"\n  GPU        {machine['gpu'] or 'none'}; driver {machine['driver'] or 'none'}")
    for moment in about.get("gpu", []):
        print(f"             {moment}")
    print(f"  CPU        {machine['cpu']}, {machine['cores_usable']} cores; {machine['os']}")
    print(f"  dawn       {software['commit_name'][:12] or 'no commit'}{' with changes' if software['dirty'] else ''},"
          f" recipe {about['recipe']}, {about['precision']}; {software['libraries']}")
    for name, hello in about["competitors"].items():
        print(f"  {name:<9}  ready after {hello['ready_s']:.1f} s; " +
              ", ".join(f"{k} {v}" for k, v in hello["versions"].items() if v is not None))
    for name, why in about.get("left_out", {}).items():
        print(f"  {name:<9}  left out: {why}")


def main():
    parser = argparse.ArgumentParser(prog="cifar10_report.py")
    for name in ("--record", "--lines", "--json"):
        parser.add_argument(name, required=True)
    a = parser.parse_args()
    with open(a.record) as file:
        record = json.load(file)
    with open(a.lines) as file:
        lines = [json.loads(line) for line in file if line.strip()]
    about = {"gpu": [], "left_out": {}}
    for line in lines:
        about["gpu"] += [line["gpu"]] if "gpu" in line else []
        about["left_out"].update(line.get("left_out", {}))
        about.update(line.get("about", {}))
    runs = ours(record, lines)
    if not runs:
        sys.exit("cifar10_report.py: none of DAWN's runs was completed")
    runs += [line for line in lines if "run" in line and line.get("side") != "dawn"]
    sides = {}
    for name in dict.fromkeys(run["side"] for run in runs):
        sides[name] = summary([run for run in runs if run["side"] == name])
    nothing = why_no_result(record)
    found = verdicts(sides, nothing)
    last = record["runs"][-1]
    about.update(machine=last["machine_facts"], software=last["software_facts"], recipe=last["recipe"],
                 recipe_json=last["recipe_json"], precision=last["precision"],
                 competitors={line["side"]: line for line in lines if "ready_s" in line})
    with open(a.json, "w") as file:
        json.dump({"about": about, "sides": sides, "verdicts": found, "no_result": nothing, "runs": runs}, file, indent=1)
        file.write("\n")
    show(sides, found, nothing, about)
    return 3 if any(v["verdict"] == "missed" for v in found) else 0


if __name__ == "__main__":
    sys.exit(main())
