-- SPDX-License-Identifier: Apache-2.0
-- What format 7 of results.db adds: how the digests of a run's data and files were found when it began. A drawn data set has no
-- row, and neither has a run of an older program. The text of each statement is part of the format, as in tables.sql.

CREATE TABLE readings (
    run INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    part TEXT NOT NULL CHECK (part IN ('train', 'test', 'weights', 'vocab', 'vectors')),
    remembered INTEGER NOT NULL CHECK (remembered IN (0, 1)),
    PRIMARY KEY (run, part)
) STRICT, WITHOUT ROWID;
