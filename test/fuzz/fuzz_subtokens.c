// SPDX-License-Identifier: Apache-2.0
// Any bytes as a vocabulary of subtokens, and as a line that is cut by it and by a small one: ids are in range and not too many,
// and decode.
#include "data/text/subtokens.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void cut_line(const struct subtokens *s, const char *line, size_t n)
{
    struct text decoded = {0};
    int32_t *id = malloc((SUBTOKENS_PER_BYTE * n + 1) * sizeof *id);
    int64_t ids = subtokens_encode(s, line, n, id);
    BUG_IF(ids > (int64_t)(SUBTOKENS_PER_BYTE * n));
    for (int64_t i = 0; i < ids; i++) BUG_IF(id[i] < BPE_UNKNOWN || id[i] >= subtokens_count(s));
    subtokens_decode(s, id, ids, &decoded);
    text_free(&decoded);
    free(id);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char list[] = "'a'\n'_'\n'\\'\n'ab_'\n'ä'\n'0'\n'1'\n'2'\n'3'\n'4'\n'5'\n'6'\n'7'\n'8'\n'9'\n';'\n'u'\n";
    const char *text = (const char *)bytes;
    struct subtokens *s;
    BUG_IF(subtokens_parse("list", list, sizeof list - 1, &s) < 0);
    cut_line(s, text, count);
    subtokens_free(s);
    if (subtokens_parse("vocab", text, count, &s) < 0) BUG_IF(s != NULL || strncmp(error_text(), "vocab", 5) != 0);
    else cut_line(s, text, count);
    subtokens_free(s);
    return 0;
}
