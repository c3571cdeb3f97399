-- SPDX-License-Identifier: Apache-2.0
-- What format 2 of results.db adds: the receipts of scoreboards, and which runs an outside program reported itself.
-- The text of each statement is part of the format, as in tables.sql.

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

CREATE TABLE outside (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    command TEXT NOT NULL,
    framework TEXT NOT NULL,
    devices INTEGER NOT NULL CHECK (devices > 0)
) STRICT;

CREATE INDEX receipts_by_run ON receipts (run);
