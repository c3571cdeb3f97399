-- SPDX-License-Identifier: Apache-2.0
-- What format 4 of results.db adds: the files that a run took besides its data, such as the weights that it began with.
-- The text of each statement is part of the format, as in tables.sql.

CREATE TABLE files (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('weights', 'vocab', 'vectors')),
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    PRIMARY KEY (run, kind)
) STRICT, WITHOUT ROWID;
