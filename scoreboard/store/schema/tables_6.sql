-- SPDX-License-Identifier: Apache-2.0
-- Format 6: competitions, who committed to them, and what was sent of it. All of it follows from the statements.

CREATE TABLE competitions (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    digest TEXT NOT NULL,
    name TEXT NOT NULL,
    cancelled INTEGER NOT NULL DEFAULT 0  -- sequence of the decision
) STRICT;
CREATE UNIQUE INDEX competitions_digest ON competitions (digest);
CREATE UNIQUE INDEX competitions_name ON competitions (name COLLATE NOCASE);

CREATE TABLE commitments (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    competition INTEGER NOT NULL REFERENCES competitions (sequence),
    handle TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX commitments_one ON commitments (competition, handle);

CREATE TABLE committed (
    digest TEXT PRIMARY KEY,              -- of the statement of a run
    commitment INTEGER NOT NULL REFERENCES commitments (sequence),
    run INTEGER NOT NULL DEFAULT 0        -- sequence of that statement; 0: it has not been sent
) STRICT, WITHOUT ROWID;
CREATE INDEX committed_commitment ON committed (commitment);
CREATE INDEX committed_run ON committed (run) WHERE run > 0;
