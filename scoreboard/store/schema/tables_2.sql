-- SPDX-License-Identifier: Apache-2.0
-- Which run a replay says it repeats. Statements before this format say nothing of that.

CREATE TABLE replays (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    head TEXT NOT NULL         -- last hash of the points of that run: runs.head
) STRICT;
CREATE INDEX replays_head ON replays (head);
