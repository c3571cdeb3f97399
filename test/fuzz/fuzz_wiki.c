// SPDX-License-Identifier: Apache-2.0
// Any bytes as a file of articles, in both forms: they are either refused with their place, or cut into sentences that were
// there.
#include "data/read/wiki/wiki.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_articles(const struct wiki_articles *a, const char *text, size_t count)
{
    BUG_IF(a->articles < 1 || a->at[0] != 0 || a->at[a->articles] != (int64_t)a->bytes || a->bytes > count + 1);
    for (int64_t i = 0; i < a->articles; i++) {
        BUG_IF(a->at[i + 1] <= a->at[i] || a->at[i + 1] - a->at[i] > a->longest || a->text[a->at[i + 1] - 1] != '\n');
    }
    for (const char *at = a->text, *end; at < a->text + a->bytes; at = end + 1) {
        end = memchr(at, '\n', (size_t)(a->text + a->bytes - at));
        BUG_IF(end == NULL || end == at || memmem(text, count, at, (size_t)(end - at)) == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const char *text = (const char *)bytes;
    for (int form = 0; form < 2; form++) {
        struct wiki_articles a = {0};
        int rc = form ? wiki_parse_lines("articles", text, count, &a) : wiki_parse("articles", text, count, &a);
        if (rc < 0) BUG_IF(strncmp(error_text(), "articles", 8) != 0 || a.articles != 0 || a.bytes != 0);
        else check_articles(&a, text, count);
        wiki_free(&a);
    }
    return 0;
}
