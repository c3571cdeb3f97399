-- SPDX-License-Identifier: Apache-2.0
-- Format 7: objections to runs, and what was decided about them. All of it follows from the statements.

CREATE TABLE objections (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    nonce TEXT NOT NULL,                  -- of the run: a statement that replaces another does not shake an objection off
    run INTEGER NOT NULL REFERENCES statements (sequence),
    handle TEXT NOT NULL,
    decision INTEGER NOT NULL DEFAULT 0,  -- sequence of the decision; 0: none yet
    upheld INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX objections_one ON objections (nonce, handle);
CREATE INDEX objections_run ON objections (run);
