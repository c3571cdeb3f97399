-- SPDX-License-Identifier: Apache-2.0
-- The scoreboard's record, format 1. `statements` with `keys` and `beats` is the truth; all other tables but `imports` follow
-- from it and can be rebuilt (store_check does so and compares). Nothing is ever deleted: what no longer counts is marked.

CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    origin TEXT NOT NULL,      -- the board's name: statements meant for another are refused
    server_key TEXT NOT NULL,  -- public line of the key that signs receipts
    version INTEGER NOT NULL   -- counts changes: caches and readers ask for it
) STRICT;

CREATE TABLE keys (
    id TEXT PRIMARY KEY,       -- "SHA256:..."
    line TEXT NOT NULL,        -- "ssh-ed25519 AAAA..."
    handle TEXT NOT NULL,      -- whose; '' for the server's own
    since INTEGER NOT NULL,    -- sequence of the statement that brought it; 0 for the server's
    revoked INTEGER NOT NULL DEFAULT 0,   -- sequence of the statement that revoked it
    replaced INTEGER NOT NULL DEFAULT 0,  -- sequence of the rotation that replaced it
    revoked_reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX keys_handle ON keys (handle COLLATE NOCASE);

CREATE TABLE statements (
    sequence INTEGER PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,     -- SHA-256 of the payload
    type TEXT NOT NULL,
    payload BLOB NOT NULL,           -- the exact signed bytes
    signature TEXT NOT NULL,
    countersignature TEXT NOT NULL,  -- '' when there is none
    key TEXT NOT NULL REFERENCES keys (id),
    handle TEXT NOT NULL,
    accepted_ms INTEGER NOT NULL,
    receipt TEXT NOT NULL,
    receipt_signature TEXT NOT NULL
) STRICT;
CREATE INDEX statements_key ON statements (key, accepted_ms);
CREATE INDEX statements_handle ON statements (handle, sequence);

CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    digest TEXT NOT NULL,
    nonce TEXT NOT NULL,
    head TEXT NOT NULL,              -- hash of the last point; of a run without points, the root
    contest TEXT NOT NULL,
    handle TEXT NOT NULL,
    first INTEGER NOT NULL,          -- sequence of the first statement of the same run
    group_nonce TEXT NOT NULL,       -- '' outside groups, and what follows is 0 then
    group_index INTEGER NOT NULL,
    planned INTEGER NOT NULL,
    group_terms TEXT NOT NULL,       -- digest of what all runs of a group must share
    seed INTEGER NOT NULL,
    curve TEXT NOT NULL,             -- digest of what a reproduction repeats; '' for what cannot be reproduced
    opening TEXT NOT NULL,           -- digest of the figures of the first point; '' without a curve
    flags INTEGER NOT NULL,
    trust INTEGER NOT NULL,
    finished INTEGER NOT NULL,       -- 1: it came to its end, and the end was evaluated
    reproduced_by INTEGER NOT NULL DEFAULT 0,
    withdrawn INTEGER NOT NULL DEFAULT 0,
    withdrawn_reason TEXT NOT NULL DEFAULT '',
    superseded INTEGER NOT NULL DEFAULT 0,
    team TEXT NOT NULL,
    note TEXT NOT NULL,
    code_url TEXT NOT NULL,
    tags TEXT NOT NULL,
    brief TEXT NOT NULL              -- what its group looks at of its payload, which may have 1 MiB; '' outside groups
) STRICT;
CREATE UNIQUE INDEX runs_digest ON runs (digest);
CREATE UNIQUE INDEX runs_live ON runs (nonce) WHERE withdrawn = 0 AND superseded = 0;
CREATE INDEX runs_nonce ON runs (nonce);
CREATE INDEX runs_head ON runs (head);
CREATE INDEX runs_first ON runs (first) WHERE superseded = 0;
CREATE INDEX runs_handle ON runs (handle) WHERE finished = 1;
CREATE INDEX runs_group ON runs (group_nonce, group_index) WHERE group_nonce <> '';
CREATE INDEX runs_curve ON runs (curve, first) WHERE curve <> '';
CREATE INDEX runs_opening ON runs (opening, first) WHERE opening <> '';

-- Finds the original of a copy: how four intervals between points of a run relate to each other (run_pace.c).
CREATE TABLE paces (
    key INTEGER NOT NULL,
    run INTEGER NOT NULL REFERENCES statements (sequence),
    PRIMARY KEY (key, run)
) STRICT, WITHOUT ROWID;

-- Which run a replay says it repeats.
CREATE TABLE replays (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    head TEXT NOT NULL         -- last hash of the points of that run: runs.head
) STRICT;
CREATE INDEX replays_head ON replays (head);

-- What two runs are to each other: read often, and it follows from statements that may be large.
CREATE TABLE judged (
    run INTEGER NOT NULL REFERENCES statements (sequence),
    by INTEGER NOT NULL REFERENCES statements (sequence),  -- a run of another person with the same curve, or one that names it
    verdict INTEGER NOT NULL,  -- enum pair_verdict of store_rank.c
    score REAL NOT NULL,       -- of `by`: the group of `run` decides about it; 0 for other verdicts
    PRIMARY KEY (run, by)
) STRICT, WITHOUT ROWID;

-- Measurements of `dawn bench`.
CREATE TABLE benches (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    figures TEXT NOT NULL UNIQUE,    -- digest of what was measured, when and on what: nobody submits it twice
    machine TEXT NOT NULL,           -- the machine's word in addresses (ranking_machine)
    hardware TEXT NOT NULL,          -- as boards show it
    flags INTEGER NOT NULL,
    accepted_ms INTEGER NOT NULL,    -- of its statement, whose row may be large
    withdrawn INTEGER NOT NULL DEFAULT 0,
    withdrawn_reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX benches_machine ON benches (machine, sequence);

-- Competitions, who committed to them, and what was sent of it.
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

-- Objections to runs, and decisions about them.
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

-- What the log draws, and whose repetitions count (docs/decisions/draw.md). The newest row is in force.
CREATE TABLE draws (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    share_micro INTEGER NOT NULL,
    again_micro INTEGER NOT NULL
) STRICT;

CREATE TABLE draw_keys (
    draw INTEGER NOT NULL REFERENCES draws (sequence),
    key TEXT NOT NULL,                    -- "SHA256:...", which may not be known here yet
    PRIMARY KEY (draw, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE drawn (
    run INTEGER PRIMARY KEY,              -- runs.first: a statement that replaces another does not shake a draw off
    checkpoint INTEGER NOT NULL REFERENCES statements (sequence),  -- whose checkpoint drew it, or which made it the best
    why INTEGER NOT NULL,                 -- enum drawn_why of store_drawn.h
    audit INTEGER NOT NULL DEFAULT 0,     -- sequence of the newest outcome; 0: none yet
    verdict INTEGER NOT NULL DEFAULT 0,   -- enum drawn_verdict
    epoch_micro INTEGER NOT NULL DEFAULT 0  -- epochs that were trained again
) STRICT;

-- Tickets, the beats that came during their runs, and the board's word about them.
CREATE TABLE tickets (
    sequence INTEGER PRIMARY KEY REFERENCES statements (sequence),
    digest TEXT NOT NULL,
    handle TEXT NOT NULL,
    lock TEXT NOT NULL,              -- SHA-256 of the secret that beats bring
    group_nonce TEXT NOT NULL,       -- '' outside groups
    group_index INTEGER NOT NULL,
    planned INTEGER NOT NULL,
    run INTEGER NOT NULL DEFAULT 0   -- runs.first of the run that reports it; 0: none yet
) STRICT;
CREATE UNIQUE INDEX tickets_digest ON tickets (digest);
CREATE UNIQUE INDEX tickets_group ON tickets (group_nonce, group_index) WHERE group_nonce <> '';
CREATE INDEX tickets_handle ON tickets (handle, sequence);
CREATE INDEX tickets_run ON tickets (run) WHERE run > 0;

CREATE TABLE beats (
    ticket INTEGER NOT NULL REFERENCES tickets (sequence),
    hash TEXT NOT NULL,              -- of a state of the run's chain
    stamped_ms INTEGER NOT NULL,     -- when it came first
    PRIMARY KEY (ticket, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE vouches (
    run INTEGER PRIMARY KEY,         -- runs.first
    sequence INTEGER NOT NULL REFERENCES statements (sequence)
) STRICT;

-- The tree of the log (submit/log/tree.h).
CREATE TABLE hashes (
    level INTEGER NOT NULL,   -- 0: of an entry, that is, a statement; each next: of 256 hashes of the level below
    number INTEGER NOT NULL,  -- from 0, without gaps
    hash BLOB NOT NULL,
    PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE findings (
    sequence INTEGER NOT NULL REFERENCES statements (sequence),
    number INTEGER NOT NULL,
    code TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (sequence, number)
) STRICT;

CREATE TABLE imports (
    source TEXT PRIMARY KEY,  -- "CIFAR10/train/STEM", "CIFAR10/history/STEM"
    contest TEXT NOT NULL,
    task TEXT NOT NULL,       -- "CIFAR10"
    kind TEXT NOT NULL,       -- "train", "inference" or "history"
    stem TEXT NOT NULL,
    json TEXT NOT NULL,       -- as it came, e-mail addresses taken out; "" of a history
    tsv TEXT NOT NULL,        -- of a history the names of its columns and the row
    quirks TEXT NOT NULL,
    imported_ms INTEGER NOT NULL
) STRICT;

-- Rows of the boards. A row that no longer counts stays with alive 0, so that a cursor that stands on it keeps its place
-- and a reader that catches up by `stamp` hears of it.
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,        -- "#12", "group NONCE", "CIFAR10/train/STEM"
    contest TEXT NOT NULL,
    board INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    target_micro INTEGER NOT NULL,
    alive INTEGER NOT NULL,
    stamp INTEGER NOT NULL,      -- meta.version of the change that wrote it
    value REAL NOT NULL,
    low REAL NOT NULL,
    high REAL NOT NULL,
    cost REAL NOT NULL,          -- negative: not known
    energy REAL NOT NULL,        -- joules of training, as ranking.h derives them; negative: not known
    accuracy REAL NOT NULL,
    p REAL NOT NULL,             -- negative: no group
    runs INTEGER NOT NULL,
    trust INTEGER NOT NULL,
    accepted_ms INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    devices INTEGER NOT NULL,
    views INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    self INTEGER NOT NULL,       -- 1: scored by the program that was trained
    group_nonce TEXT NOT NULL,
    author TEXT NOT NULL,
    team TEXT NOT NULL,
    model TEXT NOT NULL,
    hardware TEXT NOT NULL,
    framework TEXT NOT NULL,
    precision TEXT NOT NULL,
    division TEXT NOT NULL,
    date TEXT NOT NULL,
    code_url TEXT NOT NULL,
    tags TEXT NOT NULL,
    UNIQUE (source, contest, board, rank, target_micro)
) STRICT;
CREATE INDEX entries_stamp ON entries (stamp);
CREATE INDEX entries_best ON entries (contest, board, rank, target_micro, value, accepted_ms) WHERE alive = 1 AND trust >= 2;
