// SPDX-License-Identifier: Apache-2.0
// How a training announces its runs to a scoreboard (docs/decisions/tickets.md). The loop does not use the network: it calls
// these functions, which another folder provides. While a run goes on, only `wait` waits for a server.
#pragma once

#include "submit/results/result.h"

// The runs that will be announced.
struct announce_plan {
    const char *task, *model, *recipe, *recipe_digest;
    int64_t target_micro;
    const char *group;       // nonce; NULL: no group
    int64_t index, planned;  // within the group
    bool (*stopped)(void);   // a signal asks the training to end
};
struct announcer;
struct announce_type {
    // Checks the address, and that there are a key and a name to sign with. Asks no server.
    int (*open)(const char *server, struct announcer **) MUST_CHECK;
    void (*close)(struct announcer *);
    // Begins to ask for the ticket of a run, in a thread of its own.
    int (*ask)(struct announcer *, const struct announce_plan *) MUST_CHECK;
    // Waits for the ticket, which also gives the run its seed. Fails if there is none in time.
    // ERR_INTERRUPTED once the plan's `stopped` says so.
    int (*wait)(struct announcer *, struct run_ticket *, int64_t *seed) MUST_CHECK;
    // The run has reached this state of its chain: the board gets it as soon as the network allows. Returns at once.
    void (*beat)(struct announcer *, const char *hash);
    // The run has ended in this state: waits some seconds until the board has it. NULL: no state counts, so it does not wait.
    // Returns false, with a reason, if the board does not have all that it needs. Does nothing if no ticket was requested.
    bool (*end)(struct announcer *, const char *hash, char why[ERROR_TEXT_MAX]);
};
