// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of solved positions: refused in a sentence that begins with its name, or games that are not over.
#include "data/read/positions/positions.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct positions p;
    if (positions_parse("file", (const char *)bytes, count, &p) < 0) {
        BUG_IF(strncmp(error_text(), "file", 4) != 0);
        return 0;
    }
    for (int64_t i = 0; i < p.count; i++) {
        const struct connect4 *b = &p.at[i].board;
        int errs = 0;
        BUG_IF((b->own & ~b->all) || (b->all & ~CONNECT4_BOARD) || connect4_full(b));
        BUG_IF(connect4_four(b->own) || connect4_four(b->all & ~b->own));
        BUG_IF(2 * __builtin_popcountll(b->own) > connect4_discs(b) || 2 * __builtin_popcountll(b->own) < connect4_discs(b) - 1);
        for (int c = 0; c < CONNECT4_COLUMNS; c++) {
            BUG_IF(connect4_may(b, c) == (p.at[i].value[c] == POSITION_FULL));
            errs += connect4_may(b, c) && position_errs(p.at[i].value, c);
        }
        BUG_IF(errs == 0 || errs == CONNECT4_COLUMNS);
    }
    positions_free(&p);
    return 0;
}
