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
    target_micro INTEGER NOT NULL CHECK (target_micro > 0),
    planned INTEGER NOT NULL CHECK (planned > 0),
    announced_ms INTEGER NOT NULL,
    ended_ms INTEGER
) STRICT;

-- chain_end is NULL if the run did not come to its end.
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
    recipe_published INTEGER NOT NULL CHECK (recipe_published IN (0, 1)),
    precision TEXT NOT NULL,
    device TEXT NOT NULL,
    threads INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    step_least INTEGER,
    step_most INTEGER,
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

-- The first metric is the board's; target_micro of the run belongs to it. items: N of a score that is k of N; 0: the score is a
-- value in millionths.
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

-- Parts of the schedule, in order, where what training on a sample costs changes. None: it is the same for all.
CREATE TABLE parts (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    samples INTEGER NOT NULL CHECK (samples > 0),
    flops_per_sample INTEGER NOT NULL CHECK (flops_per_sample > 0),
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

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

-- Of data sets of pictures: how they were packed, and how many were damaged. NULL: the run did not come to its end.
CREATE TABLE pictures (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    split TEXT NOT NULL CHECK (split IN ('train', 'test')),
    short_side INTEGER NOT NULL CHECK (short_side >= 0),
    quality INTEGER NOT NULL CHECK (quality BETWEEN 0 AND 100),
    damaged INTEGER CHECK (damaged >= 0),
    PRIMARY KEY (run, split)
) STRICT, WITHOUT ROWID;

-- The files that a run took besides its data, such as the weights that it began with.
CREATE TABLE files (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('weights', 'vocab', 'vectors')),
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    PRIMARY KEY (run, kind)
) STRICT, WITHOUT ROWID;

-- How the digests of a run's data and files were found when it began. A drawn data set has no row.
CREATE TABLE readings (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    part TEXT NOT NULL CHECK (part IN ('train', 'test', 'weights', 'vocab', 'vectors')),
    remembered INTEGER NOT NULL CHECK (remembered IN (0, 1)),
    PRIMARY KEY (run, part)
) STRICT, WITHOUT ROWID;

-- Where --data found the data. The path stays on this machine: no statement, export or page has it.
CREATE TABLE folders (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    path TEXT NOT NULL
) STRICT;

-- What the person said of the run when it began: a word to call it by, a remark, and words to find it by, with blanks between them.
-- The chain does not bind them.
CREATE TABLE labels (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    name TEXT,
    note TEXT,
    tags TEXT
) STRICT;

-- The processes of a run that several devices trained together. A run of one process has no row.
CREATE TABLE places (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    step INTEGER NOT NULL CHECK (step >= 0),
    rank INTEGER NOT NULL CHECK (rank >= 0),
    machine INTEGER NOT NULL REFERENCES machines (id),
    machine_number INTEGER NOT NULL CHECK (machine_number >= 0),
    device TEXT NOT NULL,
    threads INTEGER NOT NULL,
    PRIMARY KEY (run, step, rank)
) STRICT, WITHOUT ROWID;

-- The ticket that a scoreboard issued before the run began.
CREATE TABLE tickets (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    statement TEXT NOT NULL,
    board_key TEXT NOT NULL,
    proof TEXT NOT NULL
) STRICT;

-- Which run a replay repeats (`dawn replay`).
CREATE TABLE replays (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    head TEXT NOT NULL
) STRICT;

-- Runs that an outside program reported itself.
CREATE TABLE outside (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    command TEXT NOT NULL,
    framework TEXT NOT NULL,
    devices INTEGER NOT NULL CHECK (devices > 0)
) STRICT;

CREATE TABLE segments (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    segment TEXT NOT NULL,
    start_ns INTEGER NOT NULL,
    end_ns INTEGER NOT NULL CHECK (end_ns > start_ns),
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

CREATE TABLE scores (
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    metric INTEGER NOT NULL,
    score INTEGER NOT NULL,
    PRIMARY KEY (run, step, metric),
    FOREIGN KEY (run, step) REFERENCES points (run, step) ON DELETE CASCADE,
    FOREIGN KEY (run, metric) REFERENCES metrics (run, number)
) STRICT, WITHOUT ROWID;

-- The named losses of a task that has several; losses without a row in the batches since the point before have none here.
CREATE TABLE losses (
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    number INTEGER NOT NULL CHECK (number BETWEEN 0 AND 7),
    name TEXT NOT NULL,
    loss INTEGER NOT NULL,
    PRIMARY KEY (run, step, number),
    UNIQUE (run, step, name),
    FOREIGN KEY (run, step) REFERENCES points (run, step) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE energy (
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    uj INTEGER NOT NULL CHECK (uj > 0),
    PRIMARY KEY (run, step),
    FOREIGN KEY (run, step) REFERENCES points (run, step) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- hash is NULL if the measurement belongs to no run.
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

CREATE INDEX latencies_by_run ON latencies (run);

-- The answers of scoreboards.
CREATE TABLE receipts (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    type TEXT NOT NULL CHECK (type IN ('run', 'withdraw', 'amend')),
    board TEXT NOT NULL,
    server TEXT NOT NULL,
    statement TEXT NOT NULL,
    supersedes TEXT,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    accepted_ms INTEGER NOT NULL,
    server_key TEXT NOT NULL,
    receipt TEXT NOT NULL,
    signature TEXT NOT NULL,
    UNIQUE (board, statement)
) STRICT;

CREATE INDEX receipts_by_run ON receipts (run);

-- The statements of runs that enter a competition, as they were committed to, so that the same bytes can be sent later.
CREATE TABLE commitments (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    competition TEXT NOT NULL,
    name TEXT NOT NULL,
    board TEXT NOT NULL,
    server_key TEXT NOT NULL,
    handle TEXT NOT NULL,
    statement TEXT NOT NULL,
    payload TEXT NOT NULL,
    made_ms INTEGER NOT NULL,
    sequence INTEGER CHECK (sequence > 0),
    receipt TEXT,
    signature TEXT,
    PRIMARY KEY (competition, run)
) STRICT, WITHOUT ROWID;

-- Runs that were deleted. Neither their numbers nor their groups' numbers are given again.
CREATE TABLE deletions (
    run INTEGER PRIMARY KEY,
    group_id INTEGER,
    nonce TEXT NOT NULL UNIQUE,
    deleted_ms INTEGER NOT NULL
) STRICT;

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

CREATE TABLE bench_receipts (
    id INTEGER PRIMARY KEY,
    sweep INTEGER NOT NULL,
    board TEXT NOT NULL,
    server TEXT NOT NULL,
    statement TEXT NOT NULL,
    sequence INTEGER NOT NULL CHECK (sequence > 0),
    accepted_ms INTEGER NOT NULL,
    server_key TEXT NOT NULL,
    receipt TEXT NOT NULL,
    signature TEXT NOT NULL,
    UNIQUE (board, statement)
) STRICT;

CREATE TABLE scalings (
    id INTEGER PRIMARY KEY,
    sweep INTEGER NOT NULL,
    task TEXT NOT NULL,
    samples TEXT NOT NULL,
    data TEXT NOT NULL,
    noise INTEGER NOT NULL CHECK (noise IN (0, 1)),
    model TEXT NOT NULL,
    recipe TEXT NOT NULL,
    precision TEXT NOT NULL,
    device TEXT NOT NULL,
    threads INTEGER NOT NULL,
    processes INTEGER NOT NULL CHECK (processes > 0),
    machines INTEGER NOT NULL CHECK (machines > 0),
    batch INTEGER NOT NULL CHECK (batch > 0),
    size TEXT NOT NULL,
    step_ns INTEGER NOT NULL CHECK (step_ns > 0),
    gradient_bytes INTEGER NOT NULL CHECK (gradient_bytes >= 0),
    exchanges INTEGER NOT NULL CHECK (exchanges >= 0),
    machine INTEGER NOT NULL REFERENCES machines (id),
    software INTEGER NOT NULL REFERENCES software (id),
    measured_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE scaling_reductions (
    scaling INTEGER NOT NULL REFERENCES scalings (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes > 0),
    ns INTEGER NOT NULL CHECK (ns > 0),
    PRIMARY KEY (scaling, number)
) STRICT, WITHOUT ROWID;
