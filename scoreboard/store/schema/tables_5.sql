-- SPDX-License-Identifier: Apache-2.0
-- Format 5: measurements of `dawn bench`. No statement of an older format is one.

CREATE TABLE benches (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    figures TEXT NOT NULL UNIQUE,    -- digest of what was measured, when and on what: nobody submits it twice
    machine TEXT NOT NULL,           -- the machine's word in addresses (ranking_machine)
    hardware TEXT NOT NULL,          -- as boards show it
    flags INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL DEFAULT 0,
    withdrawn_reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX benches_machine ON benches (machine, sequence);
