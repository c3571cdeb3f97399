// SPDX-License-Identifier: Apache-2.0
// Any bytes as the query string of a board. An accepted one is written as a string that reads back as the same filter and is
// then written the same.
#include "scoreboard/rank/board.h"

#include <stdlib.h>
#include <string.h>

static void check_taken(const struct filter *f)
{
    struct filter again = {0};
    struct text text = {0}, second = {0};
    BUG_IF(f->limit < 1 || f->limit > FILTER_LIMIT || (unsigned)f->sort >= SORTS || (unsigned)f->trust >= TRUSTS);
    filter_write(f, &text);
    if (filter_read(text.at, &again) < 0) BUG(error_text());
    BUG_IF(memcmp(f, &again, sizeof again) != 0);
    filter_write(&again, &second);
    BUG_IF((text.at == NULL) != (second.at == NULL) || (text.at != NULL && strcmp(text.at, second.at) != 0));
    text_free(&text);
    text_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *query = zalloc(count + 1);
    struct filter f = {0};
    memcpy(query, bytes, count);
    if (filter_read(query, &f) == 0) check_taken(&f);
    free(query);
    return 0;
}
