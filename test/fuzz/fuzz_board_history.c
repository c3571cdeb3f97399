// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of published histories. An accepted row is read again from its stored form and must be the same.
#include <string.h>

#include "scoreboard/dawnbench/dawnbench.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check(const struct dawnbench_entry *e)
{
    struct dawnbench_entry *again;
    BUG_IF(history_row(e->stem, e->tsv, &again) < 0);
    BUG_IF(strcmp(e->tsv, again->tsv) != 0 || strcmp(e->source, again->source) != 0 || strcmp(e->author, again->author) != 0);
    BUG_IF(strcmp(e->code_url, again->code_url) != 0 || strcmp(e->note, again->note) != 0 || e->contest != again->contest);
    for (int t = 0; t < CONTEST_TARGETS; t++)
        BUG_IF(islessgreater(e->seconds[t], again->seconds[t]) || islessgreater(e->accuracy[t], again->accuracy[t]));
    dawnbench_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct dawnbench_archive archive;
    if (history_read("race", (const char *)bytes, count, &archive) < 0) {
        BUG_IF(archive.count != 0 || error_text()[0] == '\0');
        return 0;
    }
    for (int i = 0; i < archive.count; i++) check(archive.at[i]);
    dawnbench_archive_free(&archive);
    return 0;
}
