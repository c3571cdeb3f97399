-- SPDX-License-Identifier: Apache-2.0
-- What format 9 of results.db adds: the receipts of scoreboards for measurements, and the scaling over processes. The text of
-- each statement is part of the format, as in tables.sql.

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
