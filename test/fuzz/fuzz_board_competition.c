// SPDX-License-Identifier: Apache-2.0
// Any bytes as an operator's file of a competition. What is read makes a statement or is refused with a sentence; a competition
// that this program takes has a board, and its phases follow each other.
#include <stdlib.h>

#include "scoreboard/rank/competition.h"
#include "submit/format/statement.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_taken(const struct statement *s)
{
    struct competition c;
    if (competition_take(s->json, &c) < 0) {
        BUG_IF(error_text()[0] == 0);
        return;
    }
    BUG_IF(c.contest == NULL || (unsigned)c.board >= BOARDS || (unsigned)c.rank >= RANKS);
    BUG_IF(competition_phase(&c, c.begins_ms - 1) != COMPETITION_AHEAD);
    BUG_IF(competition_phase(&c, c.begins_ms) != COMPETITION_COMMITS);
    BUG_IF(competition_phase(&c, c.commits_until_ms) != COMPETITION_REVEALS);
    BUG_IF(competition_phase(&c, c.reveals_until_ms) != COMPETITION_OVER);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    json_t *members;
    struct statement s;
    if (competition_read((const char *)bytes, count, &members) < 0) {
        BUG_IF(members != NULL || error_text()[0] == 0);
        return 0;
    }
    json_object_set_new(members, "type", json_string("competition"));
    json_object_set_new(members, "version", json_integer(1));
    json_object_set_new(members, "board", json_string("test"));
    json_object_set_new(members, "made_ms", json_integer(1800000000000));
    if (statement_make(members, &s) < 0) {
        BUG_IF(error_text()[0] == 0);
        return 0;
    }
    check_taken(&s);
    statement_free(&s);
    return 0;
}
