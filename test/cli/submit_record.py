#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Makes a results.db for the tests of `dawn submit`, in another language than DAWN's own, so that the format, the digests
# and the hash chain are held against a second reading of docs/results-format.md.
#   usage: submit_record.py REPOSITORY results.db     runs 1, 2 and 3 (a group of two), 4 (a broken chain)
#          submit_record.py REPOSITORY results.db latency    adds a latency to run 1
import hashlib
import json
import sqlite3
import sys
import time

root, path = sys.argv[1], sys.argv[2]
contest = json.load(open(root + "/tasks/cifar10/contest.json"))[0]
db = sqlite3.connect(path)
second = 10**9
now = int(time.time() * 1000)


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def row(table, **values):
    names = ", ".join(values)
    db.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, names, ", ".join("?" * len(values))), tuple(values.values()))


def latency():
    times = {w + "_" + p + "_ns": t for w in ("model", "whole") for p, t in
             (("mean", 900000), ("p50", 890000), ("p90", 950000), ("p99", 1200000))}
    row("latencies", run=1, weights_digest="c" * 64, task="cifar10", model="record", precision="f32", device="cpu", threads=1,
        items=10000, warmup_items=100, k=9417, views=1, target_micro=940000, eligible=1, data_name="cifar10", data_split="test",
        data_digest=contest["test_digest"], data_items=10000, official=1, synthetic=0, machine=1, software=1, measured_ms=now + 1000,
        **times)


def run(number, status="done", group=None, index=None, broken=False):
    recipe = '{\n    "batch": 2000\n}\n'
    task = digest(canonical({"task": "cifar10", "metric": "top1", "items": 10000, "target_micro": 940000}))
    nonce, seed = "%032x" % number, 100 + number
    data = [contest["train_digest"], contest["test_digest"]]
    chain = hashlib.sha256(canonical({"binary": "b" * 64, "data": sorted(data), "nonce": nonce, "recipe": digest(recipe.encode()),
                                      "seed": seed, "task": task})).digest()
    root_hash = chain.hex()
    points, segments, t = [], [("init", 0, second)], second
    train = evaluate = 0
    for epoch, k in ((1, 9000), (2, 9417)):
        took = (10 + epoch) * second + 17000 * number
        segments += [("train", t, t + took), ("evaluate", t + took, t + took + second)]
        t, train, evaluate = t + took + second, train + took, evaluate + second
        point = {"epoch": epoch, "t_ns": t, "classic_ns": second + train, "warm_ns": train,
                 "warm_with_evaluation_ns": train + evaluate, "samples": 50000 * epoch, "k": k, "loss": 1000000}
        chain = hashlib.sha256(chain + canonical(point)).digest()
        points.append((point, chain.hex()))
    last = points[-1][0]
    ended, end = status != "running", now - 1000 - (4 - number) * 40000  # one after another
    row("runs", id=number, nonce=nonce, status=status, owner="gone/1/1", group_id=group, group_index=index, task="cifar10",
        task_digest=task, metric="top1", target_micro=940000, model="record",
        parameters=1971640, flops_per_sample=211085918, recipe="default",
        recipe_json=recipe, recipe_digest=digest(recipe.encode()), precision="f32", device="cpu", threads=16, batch=2000, seed=seed,
        items=10000, views=1, input_size=32, stop_at_target=0, synthetic=0, official=1, machine=1, software=1,
        price_instance="", price_micro_per_hour=100000, price_source="user", price_date=time.strftime("%Y-%m-%d", time.gmtime()),
        started_ms=end - 30000, ended_ms=end if ended else None, chain_root=root_hash, reached_epoch=2, reached_ns=last["t_ns"],
        reached_classic_ns=last["classic_ns"], reached_warm_ns=last["warm_ns"],
        reached_warm_with_evaluation_ns=last["warm_with_evaluation_ns"], reached_samples=100000, weights_digest="c" * 64)
    for point, h in points:
        loss = point.pop("loss") + (1 if broken else 0)
        row("points", run=number, loss_micro=loss, hash=h, **point)
    for i, (name, start, end) in enumerate(segments):
        row("segments", run=number, number=i, segment=name, start_ns=start, end_ns=end)
    for split, d, items in (("train", data[0], 50000), ("test", data[1], 10000)):
        row("data_sets", run=number, name="cifar10", split=split, digest=d, items=items, official=1, synthetic=0)


if len(sys.argv) > 3:
    latency()
else:
    for name in ("tables.sql", "tables_2.sql"):
        db.executescript(open(root + "/submit/results/schema/" + name).read())
    db.executescript("PRAGMA application_id = %d; PRAGMA user_version = 2" % 0x4441574E)
    row("machines", id=1, digest="m", cpu="Some CPU", cpu_flags="avx2 avx512f", sockets=1, cores_online=16, cores_usable=16,
        memory_bytes=2**34, product="", governor="", virtualised="", gpu="", driver="", os="Debian", kernel="Linux")
    row("software", id=1, digest="s", commit_name="0" * 40, dirty=0, compiler="gcc", flags="-O2", binary_digest="b" * 64,
        libraries="oneDNN 2.6.3")
    row("groups", id=1, nonce="f" * 32, status="done", owner="gone/1/1", task="cifar10", model="record", recipe="default",
        target_micro=940000, planned=2, announced_ms=now - 900000, ended_ms=now)
    run(1)
    run(2, group=1, index=1)
    run(3, group=1, index=2)
    run(4, broken=True)
db.commit()
