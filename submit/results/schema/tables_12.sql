-- SPDX-License-Identifier: Apache-2.0
-- What format 12 of results.db adds: the exchanges over which the bytes of a step are spread. The text of each statement is part of
-- the format, as in tables.sql. A measurement of before does not say it; its predictions were made with one.

ALTER TABLE scalings ADD COLUMN exchanges INTEGER NOT NULL DEFAULT 1 CHECK (exchanges >= 0);
