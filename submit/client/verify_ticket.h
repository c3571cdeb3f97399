// SPDX-License-Identifier: Apache-2.0
// Verifies the ticket of a run against its board (submit/format/score/ticket.h): the announcement, the proof that the run has,
// and the board's word about the clock.
#ifndef DAWN_SUBMIT_VERIFY_TICKET_H
#define DAWN_SUBMIT_VERIFY_TICKET_H

#include "submit/client/client.h"
#include "submit/format/statement.h"

// Adds a line about each item; returns the number of faults. `ticket` and `vouch`: the numbers of its ticket and of the board's
// word, as the board says; 0 for none. Nothing is asked for a run without a ticket of this board.
struct verify_numbers {
    int64_t ticket, vouch;
};
int verify_ticket(struct client *, const struct client_board *, const struct statement *run, const struct verify_numbers *,
                  int64_t now_ms, struct text *report);

#endif
