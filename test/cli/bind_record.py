# SPDX-License-Identifier: Apache-2.0
# For scenarios that make a results.db without DAWN: the tables, and the hash chain as docs/results-format.md describes it, so that
# both are held against a second reading.
import hashlib
import json
import sqlite3

REPOSITORY_TABLES = "/submit/results/schema/tables.sql"
RUN = ("batch device input_size nonce official precision seed started_ms stop_at_target synthetic target_micro task task_digest "
       "threads views").split()
SPEED = [w + "_" + p + "_ns" for w in ("model", "whole") for p in ("mean", "p50", "p90", "p99")]
LATENCY = ("data_digest device eligible items k measured_ms precision synthetic threads views warmup_items weights_digest").split()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(data):
    return hashlib.sha256(data).hexdigest()


def new(repository, path):
    db = sqlite3.connect(path)
    db.executescript(open(repository + REPOSITORY_TABLES).read())
    db.executescript("PRAGMA application_id = %d; PRAGMA user_version = 1" % 0x4441574E)
    return db


def add(db, table, **values):
    names = ", ".join(values)
    db.execute("INSERT INTO %s (%s) VALUES (%s)" % (table, names, ", ".join("?" * len(values))), tuple(values.values()))


def rows(db, sql, *values):
    found = db.execute(sql, values)
    names = [c[0] for c in found.description]
    return [{n: v for n, v in zip(names, row) if v is not None} for row in found]


def some(row, names):
    return {name: row[name] for name in names if name in row}


def hardware(db, machine, devices=1):
    facts, = rows(db, "SELECT * FROM machines WHERE id = ?", machine)
    return dict({k: v for k, v in facts.items() if k not in ("id", "digest")}, devices=devices)


# Writes all hashes of a run of one process. Of a broken one the losses have changed since.
def bind(db, run, broken=False):
    r, = rows(db, "SELECT * FROM runs WHERE id = ?", run)
    software, = rows(db, "SELECT commit_name AS 'commit', dirty, compiler, flags, binary_digest, libraries FROM software"
                     " WHERE id = ?", r["software"])
    outside = (rows(db, "SELECT framework, devices FROM outside WHERE run = ?", run) or [None])[0]
    root = dict(some(r, RUN), evaluated_by="self" if outside else "harness",
                hardware=hardware(db, r["machine"], outside["devices"] if outside else 1),
                software=dict(software, framework=outside["framework"] if outside else "DAWN"))
    root["metrics"] = rows(db, "SELECT name, unit, lower_is_better, items FROM metrics WHERE run = ? ORDER BY number", run)
    root["data"] = rows(db, "SELECT name, split, digest, items, official, synthetic FROM data_sets WHERE run = ?"
                        " ORDER BY name, split", run)
    for section, names in (("model", (("name", "model"), ("parameters", "parameters"), ("flops_per_sample", "flops_per_sample"))),
                           ("recipe", (("name", "recipe"), ("digest", "recipe_digest"), ("published", "recipe_published"))),
                           ("price", (("date", "price_date"), ("instance", "price_instance"), ("source", "price_source"),
                                      ("micro_usd_per_hour", "price_micro_per_hour")))):
        root.update({section + "." + name: r[column] for name, column in names if column in r})
    for group in rows(db, "SELECT nonce, planned, announced_ms FROM groups WHERE id = ?", r.get("group_id")):
        root["group"] = dict(group, index=r["group_index"])
    first = head = hashlib.sha256(canonical({"run": root})).digest()
    for p in rows(db, "SELECT * FROM points WHERE run = ? ORDER BY step", run):
        point = {k: v for k, v in p.items() if k not in ("run", "hash", "loss_micro")}
        scores = rows(db, "SELECT name AS metric, score FROM scores JOIN metrics USING (run) WHERE number = metric AND run = ?"
                      " AND step = ? ORDER BY metric", run, p["step"])
        head = hashlib.sha256(head + canonical(dict(point, loss=p["loss_micro"], **({"scores": scores} if scores else {})))).digest()
        db.execute("UPDATE points SET hash = ?, loss_micro = loss_micro + ? WHERE run = ? AND step = ?",
                   (head.hex(), 1 if broken else 0, run, p["step"]))
    end = some(r, ("ended_ms", "energy_uj", "peak_memory_bytes", "resumed", "status"))
    end["segments"] = rows(db, "SELECT segment, start_ns, end_ns FROM segments WHERE run = ? ORDER BY number", run)
    if "weights_digest" in r:
        end["model.weights_digest"] = r["weights_digest"]
    last = hashlib.sha256(head + canonical({"end": end})).hexdigest() if r["status"] != "running" else None
    db.execute("UPDATE runs SET chain_root = ?, chain_end = ? WHERE id = ?", (first.hex(), last, run))
    for latency in rows(db, "SELECT * FROM latencies WHERE run = ?", run):
        members = dict(some(latency, LATENCY + SPEED), hardware=hardware(db, latency["machine"]))
        hashed = hashlib.sha256(first + canonical({"latency": members})).hexdigest()
        db.execute("UPDATE latencies SET hash = ? WHERE id = ?", (hashed, latency["id"]))
