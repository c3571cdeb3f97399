// SPDX-License-Identifier: Apache-2.0
// Verifies the ticket of a run against its board (submit/format/score/ticket.h): the announcement, the run's proof, and the
// board's statement about the clock.
#pragma once

#include "submit/client/client.h"
#include "submit/format/statement.h"

// Adds a line about each item; returns the number of faults. `ticket` and `vouch`: the sequence numbers of its ticket and of
// the board's word, as the board gives them; 0: none. A run without a ticket of this board causes no request.
struct verify_numbers {
    int64_t ticket, vouch;
};
int verify_ticket(struct client *, const struct client_board *, const struct statement *run, const struct verify_numbers *,
                  int64_t now_ms, struct text *report);
