-- SPDX-License-Identifier: Apache-2.0
-- Format 8: tickets, the beats that came during their runs, and the board's word about them. All but the beats follows from the
-- statements.

CREATE TABLE tickets (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    digest TEXT NOT NULL,
    handle TEXT NOT NULL,
    lock TEXT NOT NULL,              -- SHA-256 of the secret that beats bring
    group_nonce TEXT NOT NULL,       -- '' outside groups
    group_index INTEGER NOT NULL,
    planned INTEGER NOT NULL,
    run INTEGER NOT NULL DEFAULT 0   -- runs.first of the run that reports it; 0: none yet
) STRICT;
CREATE UNIQUE INDEX tickets_digest ON tickets (digest);
CREATE UNIQUE INDEX tickets_group ON tickets (group_nonce, group_index) WHERE group_nonce <> '';
CREATE INDEX tickets_handle ON tickets (handle, sequence);
CREATE INDEX tickets_run ON tickets (run) WHERE run > 0;

CREATE TABLE beats (
    ticket INTEGER NOT NULL REFERENCES tickets (sequence),
    hash TEXT NOT NULL,              -- of a state of the run's chain
    stamped_ms INTEGER NOT NULL,     -- when it came first
    PRIMARY KEY (ticket, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE vouches (
    run INTEGER PRIMARY KEY,         -- runs.first
    sequence INTEGER NOT NULL REFERENCES statements (sequence)
) STRICT;
