// SPDX-License-Identifier: Apache-2.0
// Any bytes as an upload, as a statement without its signature (no fuzzer can forge one, so it would never reach the checks),
// and as words. An accepted input is canonical, reads back as the same statement, and passes through the checks without a
// fault.
#include <stdlib.h>
#include <string.h>

#include "submit/format/check/check.h"

static void check_taken(const struct statement *s)
{
    struct statement again;
    struct findings f;
    if (statement_read(s->payload, s->count, &again) < 0) BUG(error_text());
    BUG_IF(strcmp(again.digest, s->digest) != 0);
    statement_free(&again);
    char *bytes;
    size_t count;
    if (canonical_write(s->json, &bytes, &count) < 0) BUG(error_text());
    BUG_IF(count != s->count || memcmp(bytes, s->payload, count) != 0);
    free(bytes);
    check_statement(s, 1800000000000, &f);
    BUG_IF(f.rejects + f.flags != f.count);
    for (int i = 0; i < f.count && i < FINDINGS_MAX; i++) {
        size_t length = strnlen(f.at[i].text, FINDING_TEXT);
        BUG_IF(length == 0 || length == FINDING_TEXT);
        if (canonical_check_words(f.at[i].text, length) < 0) BUG(error_text());  // findings are shown
    }
    if (s->type == STATEMENT_RUN) check_group_mate(s, s->json, &f);
    check_alike(s->json, s->json);
    BUG_IF(!(check_peak(s) >= 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct envelope e;
    struct statement s;
    const char *text = (const char *)bytes;
    if (envelope_read(text, count, &e) == 0) {
        check_taken(&e.statement);
        struct text again = {0};
        if (envelope_write(&e.statement, e.signature, e.countersignature, &again) == 0) {
            struct envelope second;
            if (envelope_read(again.at, again.length, &second) < 0) BUG(error_text());
            envelope_free(&second);
        }
        text_free(&again);
        envelope_free(&e);
    } else BUG_IF(e.statement.json != NULL || e.signature != NULL || error_text()[0] == 0);
    if (statement_read(text, count, &s) == 0) {
        check_taken(&s);
        statement_free(&s);
    } else BUG_IF(s.json != NULL || error_text()[0] == 0);
    int rc = canonical_check_words(text, count);
    BUG_IF(rc < 0 && error_text()[0] == 0);
    if (rc == 0 && canonical_check_marks(text, count) < 0) BUG_IF(error_text()[0] == 0);
    return 0;
}
