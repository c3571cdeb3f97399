-- SPDX-License-Identifier: Apache-2.0
-- What format 11 of results.db adds: the ticket that a scoreboard issued before a run began. The text of each statement is part of
-- the format, as in tables.sql.

CREATE TABLE tickets (
    run INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    statement TEXT NOT NULL,
    board_key TEXT NOT NULL,
    proof TEXT NOT NULL
) STRICT;
