-- SPDX-License-Identifier: Apache-2.0
-- Format 9: what two runs are to each other. It follows from their two statements, so it is computed once.

CREATE TABLE judged (
    run INTEGER NOT NULL REFERENCES statements (sequence),
    by INTEGER NOT NULL REFERENCES statements (sequence),  -- a run of another person with the same curve, or one that names it
    verdict INTEGER NOT NULL,  -- enum pair_verdict of store_inside.h
    score REAL NOT NULL,       -- of `by`: the group of `run` decides about it; 0 for other verdicts
    PRIMARY KEY (run, by)
) STRICT, WITHOUT ROWID;
