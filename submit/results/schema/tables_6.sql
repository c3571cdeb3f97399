-- SPDX-License-Identifier: Apache-2.0
-- What format 6 of results.db adds: which run a replay repeats (`dawn replay`).
-- The text of each statement is part of the format, as in tables.sql.

CREATE TABLE replays (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    head TEXT NOT NULL
) STRICT;
