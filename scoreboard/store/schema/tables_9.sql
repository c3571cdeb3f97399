-- SPDX-License-Identifier: Apache-2.0
-- Format 9: what is read often, and follows from statements that may be large.

-- What two runs are to each other.
CREATE TABLE judged (
    run INTEGER NOT NULL REFERENCES statements (sequence),
    by INTEGER NOT NULL REFERENCES statements (sequence),  -- a run of another person with the same curve, or one that names it
    verdict INTEGER NOT NULL,  -- enum pair_verdict of store_inside.h
    score REAL NOT NULL,       -- of `by`: the group of `run` decides about it; 0 for other verdicts
    PRIMARY KEY (run, by)
) STRICT, WITHOUT ROWID;

-- SQLite walks through a statement's payload to what stands behind it in its row.
ALTER TABLE benches ADD COLUMN accepted_ms INTEGER NOT NULL DEFAULT 0;
UPDATE benches SET accepted_ms = (SELECT s.accepted_ms FROM statements s WHERE s.sequence = benches.sequence);
