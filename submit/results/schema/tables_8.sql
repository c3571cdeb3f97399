-- SPDX-License-Identifier: Apache-2.0
-- What format 8 of results.db adds: the processes of a run that several devices trained together. A run of one process has no
-- row. The text of each statement is part of the format, as in tables.sql.

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
