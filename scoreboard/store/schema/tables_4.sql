-- SPDX-License-Identifier: Apache-2.0
-- Format 4: joules of training, as ranking.h derives them; negative: not known. Statements of older programs state none, so the
-- rows that are there need no other value.

ALTER TABLE entries ADD COLUMN energy REAL NOT NULL DEFAULT -1.0;
