-- SPDX-License-Identifier: Apache-2.0
-- results.db, format 1. Every column is explained in docs/results-format.md (a test compares the two).
-- Integers and text only: nanoseconds (_ns), milliseconds since 1970 UTC (_ms), millionths (_micro), microjoules.
-- The text of each statement is part of the format: a file whose schema differs by a letter is refused.

CREATE TABLE machines (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    cpu TEXT NOT NULL,
    cpu_flags TEXT NOT NULL,
    sockets INTEGER NOT NULL,
    cores_online INTEGER NOT NULL,
    cores_usable INTEGER NOT NULL,
    memory_bytes INTEGER NOT NULL,
    product TEXT NOT NULL,
    governor TEXT NOT NULL,
    virtualised TEXT NOT NULL,
    gpu TEXT NOT NULL,
    driver TEXT NOT NULL,
    os TEXT NOT NULL,
    kernel TEXT NOT NULL
) STRICT;

CREATE TABLE software (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    commit_name TEXT NOT NULL,
    dirty INTEGER NOT NULL CHECK (dirty IN (0, 1)),
    compiler TEXT NOT NULL,
    flags TEXT NOT NULL,
    binary_digest TEXT NOT NULL,
    libraries TEXT NOT NULL
) STRICT;

CREATE TABLE groups (
    id INTEGER PRIMARY KEY,
    nonce TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL CHECK (status IN ('running', 'done', 'interrupted')),
    owner TEXT NOT NULL,
    task TEXT NOT NULL,
    model TEXT NOT NULL,
    recipe TEXT NOT NULL,
    target_micro INTEGER NOT NULL CHECK (target_micro BETWEEN 1 AND 1000000),
    planned INTEGER NOT NULL CHECK (planned > 0),
    announced_ms INTEGER NOT NULL,
    ended_ms INTEGER
) STRICT;

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
    metric TEXT NOT NULL,
    target_micro INTEGER NOT NULL CHECK (target_micro BETWEEN 1 AND 1000000),
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
    items INTEGER NOT NULL CHECK (items > 0),
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
    chain_root TEXT NOT NULL,
    reached_epoch INTEGER,
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

CREATE TABLE data_sets (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    split TEXT NOT NULL,
    digest TEXT NOT NULL,
    items INTEGER NOT NULL,
    official INTEGER NOT NULL CHECK (official IN (0, 1)),
    synthetic INTEGER NOT NULL CHECK (synthetic IN (0, 1)),
    PRIMARY KEY (run, name, split)
) STRICT, WITHOUT ROWID;

CREATE TABLE points (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    t_ns INTEGER NOT NULL,
    classic_ns INTEGER NOT NULL,
    warm_ns INTEGER NOT NULL,
    warm_with_evaluation_ns INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    k INTEGER CHECK (k >= 0),
    loss_micro INTEGER NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (run, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE segments (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    segment TEXT NOT NULL,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL CHECK (end_ns > start_ns),
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

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
    k INTEGER NOT NULL CHECK (k BETWEEN 0 AND items),
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

CREATE INDEX latencies_by_run ON latencies (run);
