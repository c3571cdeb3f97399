-- SPDX-License-Identifier: Apache-2.0
-- What format 10 of results.db adds: the statements of runs that enter a competition, as they were committed to, so that the same
-- bytes can be sent later. The text of each statement is part of the format, as in tables.sql.

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
