-- SPDX-License-Identifier: Apache-2.0
-- What format 5 of results.db changes: the chain of a run (version 3) binds everything that a statement says of it, so a run
-- has a hash of its end and a latency has a hash too. NULL: a program of an earlier format wrote it, or the run did not come
-- to its end. `runs` and `latencies` are made anew, as in result_3.sql. What it adds: the energy at each point of a run, what is
-- known of pictures, and the measurements of `dawn bench`. The text of each CREATE is part of the format, as in tables.sql.

CREATE TEMP TABLE old_runs AS SELECT * FROM runs;
CREATE TEMP TABLE old_latencies AS SELECT * FROM latencies;
DROP TABLE latencies;
DROP TABLE runs;

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
    chain INTEGER NOT NULL CHECK (chain BETWEEN 1 AND 3),
    chain_root TEXT NOT NULL,
    chain_end TEXT,
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
    flops_per_sample, recipe, recipe_json, recipe_digest, precision, device, threads, batch, seed, views,
    input_size, stop_at_target, synthetic, official, machine, software, price_instance, price_micro_per_hour,
    price_source, price_date, started_ms, ended_ms, resumed, chain, chain_root, reached_step, reached_epoch_micro,
    reached_ns, reached_classic_ns, reached_warm_ns, reached_warm_with_evaluation_ns, reached_samples,
    peak_memory_bytes, planned_memory_bytes, energy_uj, weights_digest, checkpoint)
SELECT
    id, nonce, status, message, owner, group_id, group_index, task, task_digest, target_micro, model, parameters,
    flops_per_sample, recipe, recipe_json, recipe_digest, precision, device, threads, batch, seed, views,
    input_size, stop_at_target, synthetic, official, machine, software, price_instance, price_micro_per_hour,
    price_source, price_date, started_ms, ended_ms, resumed, chain, chain_root, reached_step, reached_epoch_micro,
    reached_ns, reached_classic_ns, reached_warm_ns, reached_warm_with_evaluation_ns, reached_samples,
    peak_memory_bytes, planned_memory_bytes, energy_uj, weights_digest, checkpoint
FROM old_runs;

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
    measured_ms INTEGER NOT NULL,
    hash TEXT
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

DROP TABLE temp.old_runs;
DROP TABLE temp.old_latencies;

CREATE TABLE benches (
    id INTEGER PRIMARY KEY,
    sweep INTEGER NOT NULL,
    task TEXT NOT NULL,
    samples TEXT NOT NULL,
    data TEXT NOT NULL,
    noise INTEGER NOT NULL CHECK (noise IN (0, 1)),
    model TEXT NOT NULL,
    recipe TEXT NOT NULL,
    recipe_digest TEXT NOT NULL,
    precision TEXT NOT NULL,
    fusion INTEGER NOT NULL CHECK (fusion IN (0, 1)),
    device TEXT NOT NULL,
    threads INTEGER NOT NULL,
    batch INTEGER NOT NULL CHECK (batch > 0),
    size TEXT NOT NULL,
    ignored INTEGER NOT NULL CHECK (ignored >= 0),
    timed INTEGER NOT NULL CHECK (timed > 0),
    whole INTEGER NOT NULL CHECK (whole IN (0, 1)),
    step_ns INTEGER NOT NULL CHECK (step_ns > 0),
    step_low_ns INTEGER NOT NULL,
    step_high_ns INTEGER NOT NULL,
    accepted INTEGER NOT NULL CHECK (accepted >= 0),
    others_micro INTEGER CHECK (others_micro >= 0),
    energy_uj INTEGER CHECK (energy_uj > 0),
    flops INTEGER NOT NULL CHECK (flops >= 0),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    bound_ns INTEGER,
    peak_flops INTEGER,
    peak_bytes INTEGER,
    memory_bytes INTEGER NOT NULL CHECK (memory_bytes >= 0),
    machine INTEGER NOT NULL REFERENCES machines (id),
    software INTEGER NOT NULL REFERENCES software (id),
    measured_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE bench_repeats (
    bench INTEGER NOT NULL REFERENCES benches (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    step_ns INTEGER NOT NULL CHECK (step_ns > 0),
    variation_micro INTEGER,
    slope_micro INTEGER,
    extended INTEGER NOT NULL CHECK (extended >= 0),
    accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)),
    PRIMARY KEY (bench, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE bench_memory (
    bench INTEGER NOT NULL REFERENCES benches (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    class TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes > 0),
    PRIMARY KEY (bench, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE bench_operators (
    bench INTEGER NOT NULL REFERENCES benches (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    operator TEXT NOT NULL,
    pass TEXT NOT NULL CHECK (pass IN ('forward', 'backward', 'update')),
    nodes INTEGER NOT NULL CHECK (nodes > 0),
    ns INTEGER NOT NULL CHECK (ns >= 0),
    flops INTEGER NOT NULL CHECK (flops >= 0),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    bound_ns INTEGER,
    PRIMARY KEY (bench, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE energy (
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    uj INTEGER NOT NULL CHECK (uj > 0),
    PRIMARY KEY (run, step),
    FOREIGN KEY (run, step) REFERENCES points (run, step) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Of data sets of pictures: how they were packed, and how many turned out to be damaged. NULL: the run did not come to its end.
CREATE TABLE pictures (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    split TEXT NOT NULL CHECK (split IN ('train', 'test')),
    short_side INTEGER NOT NULL CHECK (short_side >= 0),
    quality INTEGER NOT NULL CHECK (quality BETWEEN 0 AND 100),
    damaged INTEGER CHECK (damaged >= 0),
    PRIMARY KEY (run, split)
) STRICT, WITHOUT ROWID;
