#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Makes a results.db for the tests of `dawn submit`, in another language than DAWN's own, so that the format, the digests
# and the hash chain are held against a second reading of docs/results-format.md.
#   usage: submit_record.py REPOSITORY results.db     runs 1, 2 and 3 (a group of two), 4 (a broken chain)
#          submit_record.py REPOSITORY results.db latency    adds a latency to run 1
import json
import os
import sqlite3
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bind_record import add, bind, canonical, digest, new

root, path = sys.argv[1], sys.argv[2]
contest = json.load(open(root + "/tasks/cifar10/contest.json"))[0]
second = 10**9
now = int(time.time() * 1000)


def latency(db):
    times = {w + "_" + p + "_ns": t for w in ("model", "whole") for p, t in
             (("mean", 900000), ("p50", 890000), ("p90", 950000), ("p99", 1200000))}
    add(db, "latencies", run=1, weights_digest="c" * 64, task="cifar10", model="airbench", precision="f32", device="cpu", threads=1,
        items=10000, warmup_items=100, k=9417, views=1, target_micro=940000, eligible=1, data_name="cifar10", data_split="test",
        data_digest=contest["test_digest"], data_items=10000, official=1, synthetic=0, machine=1, software=1, measured_ms=now + 1000,
        **times)


def run(db, number, status="done", group=None, index=None, broken=False):
    recipe = '{"data":{"batch":2000},"schedule":{"epochs":2}}'
    task = digest(canonical({"task": "cifar10", "metric": "top1", "items": 10000, "target_micro": 940000}))
    points, segments, t = [], [("init", 0, second)], second
    train = evaluate = 0
    for epoch, k in ((1, 9000), (2, 9417)):
        took = (10 + epoch) * second + 17000 * number
        segments += [("train", t, t + took), ("evaluate", t + took, t + took + second)]
        t, train, evaluate = t + took + second, train + took, evaluate + second
        points.append((k, {"step": 25 * epoch, "epoch_micro": 10**6 * epoch, "t_ns": t, "classic_ns": second + train,
                           "warm_ns": train, "warm_with_evaluation_ns": train + evaluate, "samples": 50000 * epoch}))
    last = points[-1][1]
    end = now - 1000 - (4 - number) * 40000  # one after another
    add(db, "runs", id=number, nonce="%032x" % number, status=status, owner="gone/1/1", group_id=group, group_index=index,
        task="cifar10", task_digest=task, target_micro=940000, model="airbench", parameters=1971640, flops_per_sample=211085918,
        recipe="default", recipe_json=recipe, recipe_digest=digest(recipe.encode()), recipe_published=0, precision="f32",
        device="cpu", threads=16, batch=2000, seed=100 + number, views=1, input_size=32, stop_at_target=0, synthetic=0, official=1,
        machine=1, software=1, price_instance="", price_micro_per_hour=100000, price_source="user",
        price_date=time.strftime("%Y-%m-%d", time.gmtime()), started_ms=end - 30000, resumed=0,
        ended_ms=end if status != "running" else None, chain_root="", reached_step=last["step"],
        reached_epoch_micro=last["epoch_micro"], reached_ns=last["t_ns"], reached_classic_ns=last["classic_ns"],
        reached_warm_ns=last["warm_ns"], reached_warm_with_evaluation_ns=last["warm_with_evaluation_ns"],
        reached_samples=last["samples"], weights_digest="c" * 64)
    add(db, "metrics", run=number, number=0, name="top1", unit="%", lower_is_better=0, items=10000)
    for k, point in points:
        add(db, "points", run=number, loss_micro=1000000, stall_ns=0, hash="", **point)
        add(db, "scores", run=number, step=point["step"], metric=0, score=k)
    for i, (name, start, end) in enumerate(segments):
        add(db, "segments", run=number, number=i, segment=name, start_ns=start, end_ns=end)
    for split, items in (("train", 50000), ("test", 10000)):
        add(db, "data_sets", run=number, name="cifar10", split=split, digest=contest[split + "_digest"], items=items, official=1,
            synthetic=0)
    bind(db, number, broken)


if len(sys.argv) > 3:
    db = sqlite3.connect(path)
    latency(db)
    bind(db, 1)
else:
    db = new(root, path)
    add(db, "machines", id=1, digest="m", cpu="Some CPU", cpu_flags="avx2 avx512f", sockets=1, cores_online=16, cores_usable=16,
        memory_bytes=2**34, product="", governor="", virtualised="", gpu="", driver="", os="Debian", kernel="Linux")
    add(db, "software", id=1, digest="s", commit_name="0" * 40, dirty=0, compiler="gcc", flags="-O2", binary_digest="b" * 64,
        libraries="oneDNN 2.6.3")
    add(db, "groups", id=1, nonce="f" * 32, status="done", owner="gone/1/1", task="cifar10", model="airbench", recipe="default",
        target_micro=940000, planned=2, announced_ms=now - 900000, ended_ms=now)
    run(db, 1)
    run(db, 2, group=1, index=1)
    run(db, 3, group=1, index=2)
    run(db, 4, broken=True)
db.commit()
