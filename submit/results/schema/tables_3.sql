-- SPDX-License-Identifier: Apache-2.0
-- What format 3 of results.db changes: points are counted in optimiser steps, a run declares its metrics, a point has a
-- score for each. Run over a file of format 2, in one transaction and without foreign keys (the tables that point to a
-- table made anew keep their rows), and over an empty one. The text of each CREATE is part of the format, as in tables.sql.
-- A run of the formats before counted epochs: its step is its epoch, and its chain is of version 1, so that its hashes hold.

CREATE TEMP TABLE old_groups AS SELECT * FROM groups;
CREATE TEMP TABLE old_runs AS SELECT * FROM runs;
CREATE TEMP TABLE old_points AS SELECT * FROM points;
CREATE TEMP TABLE old_latencies AS SELECT * FROM latencies;
DROP TABLE latencies;
DROP TABLE points;
DROP TABLE runs;
DROP TABLE groups;

CREATE TABLE groups (
    id INTEGER PRIMARY KEY,
    nonce TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted')),
    owner TEXT NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    recipe TEXT NOT NULL,
    target_micro INTEGER NOT NULL CHECK (target_micro > 0),
    planned INTEGER NOT NULL CHECK (planned > 0),
    announced_ms INTEGER NOT NULL,
    ended_ms INTEGER
) STRICT;

INSERT INTO groups (
    id, nonce, status, owner, task, model, recipe, target_micro, planned, announced_ms, ended_ms)
SELECT
    id, nonce, status, owner, task, model, recipe, target_micro, planned, announced_ms, ended_ms
FROM old_groups;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    nonce TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('running', 'done', 'missed', 'interrupted', 'failed')),
    message TEXT,
    owner TEXT NOT NULL,
    group_id INTEGER REFERENCES groups (id),
    group_index INTEGER,
    task TEXT NOT NULL,
    task_digest TEXT NOT NULL,
    target_micro INTEGER NOT NULL CHECK (target_micro > 0),
    model TEXT NOT NULL,
    parameters INTEGER NOT NULL,
    flops_per_sample INTEGER NOT NULL,
    recipe TEXT NOT NULL,
    recipe_json TEXT NOT NULL,
    recipe_digest TEXT NOT NULL,
    precision TEXT NOT NULL,
    device TEXT NOT NULL,
    threads INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    views INTEGER NOT NULL,
    input_size INTEGER NOT NULL,
    stop_at_target INTEGER NOT NULL CHECK (stop_at_target IN (0, 1)),
    synthetic INTEGER NOT NULL CHECK (synthetic IN (0, 1)),
    official INTEGER NOT NULL CHECK (official IN (0, 1)),
    machine INTEGER NOT NULL REFERENCES machines (id),
    software INTEGER NOT NULL REFERENCES software (id),
    price_instance TEXT,
    price_micro_per_hour INTEGER CHECK (price_micro_per_hour >= 0),
    price_source TEXT,
    price_date TEXT,
    started_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    resumed INTEGER NOT NULL CHECK (resumed >= 0),
    chain INTEGER NOT NULL CHECK (chain IN (1, 2)),
    chain_root TEXT NOT NULL,
    reached_step INTEGER,
    reached_epoch_micro INTEGER,
    reached_ns INTEGER,
    reached_classic_ns INTEGER,
    reached_warm_ns INTEGER,
    reached_warm_with_evaluation_ns INTEGER,
    reached_samples INTEGER,
    peak_memory_bytes INTEGER,
    planned_memory_bytes INTEGER,
    energy_uj INTEGER,
    weights_digest TEXT,
    checkpoint TEXT,
    UNIQUE (group_id, group_index)
) STRICT;

INSERT INTO runs (
    id, nonce, status, message, owner, group_id, group_index, task, task_digest, target_micro, model, parameters,
    flops_per_sample, recipe, recipe_json, recipe_digest, precision, device, threads, batch, seed, views, input_size,
    stop_at_target, synthetic, official, machine, software, price_instance, price_micro_per_hour, price_source,
    price_date, started_ms, ended_ms, resumed, chain, chain_root, reached_step, reached_epoch_micro, reached_ns,
    reached_classic_ns, reached_warm_ns, reached_warm_with_evaluation_ns, reached_samples, peak_memory_bytes,
    planned_memory_bytes, energy_uj, weights_digest, checkpoint)
SELECT
    id, nonce, status, message, owner, group_id, group_index, task, task_digest, target_micro, model, parameters,
    flops_per_sample, recipe, recipe_json, recipe_digest, precision, device, threads, batch, seed, views, input_size,
    stop_at_target, synthetic, official, machine, software, price_instance, price_micro_per_hour, price_source,
    price_date, started_ms, ended_ms, 0, 1, chain_root, reached_epoch, min(reached_epoch, 9000000000000) * 1000000, reached_ns,
    reached_classic_ns, reached_warm_ns, reached_warm_with_evaluation_ns, reached_samples, peak_memory_bytes,
    planned_memory_bytes, energy_uj, weights_digest, checkpoint
FROM old_runs;

-- The first metric is the board's; target_micro of the run belongs to it. items: N of a score that is k of N; 0: the score is a
-- value in millionths, which formats 1 and 2 wrote as k of 1,000,000.
CREATE TABLE metrics (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number BETWEEN 0 AND 7),
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    lower_is_better INTEGER NOT NULL CHECK (lower_is_better IN (0, 1)),
    items INTEGER NOT NULL CHECK (items >= 0),
    PRIMARY KEY (run, number),
    UNIQUE (run, name)
) STRICT, WITHOUT ROWID;

INSERT INTO metrics (run, number, name, unit, lower_is_better, items)
SELECT id, 0, metric, iif(metric = 'f1' AND items = 1000000, '', '%'), 0, iif(metric = 'f1' AND items = 1000000, 0, items)
FROM old_runs;

-- Parts of the schedule, in order, where what training on a sample costs changes. None: it is the same for all.
CREATE TABLE parts (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    samples INTEGER NOT NULL CHECK (samples > 0),
    flops_per_sample INTEGER NOT NULL CHECK (flops_per_sample > 0),
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE points (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    step INTEGER NOT NULL CHECK (step > 0),
    epoch_micro INTEGER NOT NULL CHECK (epoch_micro >= 0),
    t_ns INTEGER NOT NULL,
    classic_ns INTEGER NOT NULL,
    warm_ns INTEGER NOT NULL,
    warm_with_evaluation_ns INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    stall_ns INTEGER NOT NULL CHECK (stall_ns >= 0),
    loss_micro INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;

INSERT INTO points (
    run, step, epoch_micro, t_ns, classic_ns, warm_ns, warm_with_evaluation_ns, samples, stall_ns, loss_micro, hash)
SELECT
    run, epoch, min(epoch, 9000000000000) * 1000000, t_ns, classic_ns, warm_ns, warm_with_evaluation_ns, samples, 0, loss_micro, hash
FROM old_points;

CREATE TABLE scores (
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    metric INTEGER NOT NULL,
    score INTEGER NOT NULL,
    PRIMARY KEY (run, step, metric),
    FOREIGN KEY (run, step) REFERENCES points (run, step) ON DELETE CASCADE,
    FOREIGN KEY (run, metric) REFERENCES metrics (run, number)
) STRICT, WITHOUT ROWID;

INSERT INTO scores (run, step, metric, score) SELECT run, epoch, 0, k FROM old_points WHERE k IS NOT NULL;

CREATE TABLE latencies (
    id INTEGER PRIMARY KEY,
    run INTEGER REFERENCES runs (id) ON DELETE SET NULL,
    weights_digest TEXT NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    precision TEXT NOT NULL,
    device TEXT NOT NULL,
    threads INTEGER NOT NULL,
    items INTEGER NOT NULL CHECK (items > 0),
    warmup_items INTEGER NOT NULL,
    model_mean_ns INTEGER NOT NULL,
    model_p50_ns INTEGER NOT NULL,
    model_p90_ns INTEGER NOT NULL,
    model_p99_ns INTEGER NOT NULL,
    whole_mean_ns INTEGER NOT NULL,
    whole_p50_ns INTEGER NOT NULL,
    whole_p90_ns INTEGER NOT NULL,
    whole_p99_ns INTEGER NOT NULL,
    k INTEGER NOT NULL CHECK (k >= 0),
    views INTEGER NOT NULL,
    target_micro INTEGER NOT NULL,
    eligible INTEGER NOT NULL CHECK (eligible IN (0, 1)),
    data_name TEXT NOT NULL,
    data_split TEXT NOT NULL,
    data_digest TEXT NOT NULL,
    data_items INTEGER NOT NULL,
    official INTEGER NOT NULL CHECK (official IN (0, 1)),
    synthetic INTEGER NOT NULL CHECK (synthetic IN (0, 1)),
    machine INTEGER NOT NULL REFERENCES machines (id),
    software INTEGER NOT NULL REFERENCES software (id),
    price_instance TEXT,
    price_micro_per_hour INTEGER CHECK (price_micro_per_hour >= 0),
    price_source TEXT,
    price_date TEXT,
    measured_ms INTEGER NOT NULL
) STRICT;

INSERT INTO latencies (
    id, run, weights_digest, task, model, precision, device, threads, items, warmup_items, model_mean_ns,
    model_p50_ns, model_p90_ns, model_p99_ns, whole_mean_ns, whole_p50_ns, whole_p90_ns, whole_p99_ns, k, views,
    target_micro, eligible, data_name, data_split, data_digest, data_items, official, synthetic, machine, software,
    price_instance, price_micro_per_hour, price_source, price_date, measured_ms)
SELECT
    id, run, weights_digest, task, model, precision, device, threads, items, warmup_items, model_mean_ns,
    model_p50_ns, model_p90_ns, model_p99_ns, whole_mean_ns, whole_p50_ns, whole_p90_ns, whole_p99_ns, k, views,
    target_micro, eligible, data_name, data_split, data_digest, data_items, official, synthetic, machine, software,
    price_instance, price_micro_per_hour, price_source, price_date, measured_ms
FROM old_latencies;

CREATE INDEX latencies_by_run ON latencies (run);

DROP TABLE temp.old_groups;
DROP TABLE temp.old_runs;
DROP TABLE temp.old_points;
DROP TABLE temp.old_latencies;
