-- SPDX-License-Identifier: Apache-2.0
-- Format 3: the tree of the log (submit/log/tree.h). It follows from the statements and can be rebuilt.

CREATE TABLE hashes (
    level INTEGER NOT NULL,   -- 0: of an entry, that is, a statement; each next: of 256 hashes of the level below
    number INTEGER NOT NULL,  -- from 0, without gaps
    hash BLOB NOT NULL,
    PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;
