-- SPDX-License-Identifier: Apache-2.0
-- What format 13 of results.db adds: the place of the data that --data named. It stays on this machine: no statement, export or
-- page has it. The text of each statement is part of the format, as in tables.sql.

CREATE TABLE folders (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    path TEXT NOT NULL
) STRICT;
