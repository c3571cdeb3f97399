// SPDX-License-Identifier: Apache-2.0
// An amendment changes what an own run says about itself in words, never a figure.
#include "scoreboard/store/types/types.h"

static int check_amendment(struct store *s, const struct incoming *in, struct ruling *out)
{
    static const char *const words[] = {"team", "note", "code_url", "tags"};
    STEP(about_run_check(s, in, out));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (canonical_at(in->statement->json, words[i]) != NULL) return 0;
    return problem_rule(out, PROBLEM_MALFORMED, "an amendment changes at least one of team, note, code_url and tags");
}

static int amend_words(struct store *s, const json_t *amend, int64_t sequence)
{
    if (json_object_get(amend, "team") != NULL)
        TRY(sql_do(&s->sql, "UPDATE runs SET team = ? WHERE sequence = ?", "ti", canonical_text(amend, "team"), sequence));
    if (json_object_get(amend, "note") != NULL)
        TRY(sql_do(&s->sql, "UPDATE runs SET note = ? WHERE sequence = ?", "ti", canonical_text(amend, "note"), sequence));
    if (json_object_get(amend, "code_url") != NULL)
        TRY(sql_do(&s->sql, "UPDATE runs SET code_url = ? WHERE sequence = ?", "ti", canonical_text(amend, "code_url"),
                   sequence));
    if (json_object_get(amend, "tags") == NULL) return 0;
    struct text tags = {0};
    type_run_tags(amend, &tags);
    int rc = sql_do(&s->sql, "UPDATE runs SET tags = ? WHERE sequence = ?", "ti", tags.at, sequence);
    text_free(&tags);
    return rc;
}

// Nobody has looked at the new words, so an audit ends; the operator may audit the run again.
static int apply_amendment(struct store *s, const struct incoming *in)
{
    struct about_run run;
    int64_t trust;
    TRY(about_run_find(s, canonical_text(in->statement->json, "statement"), &run));
    TRY(amend_words(s, in->statement->json, run.sequence));
    TRY(sql_int(&s->sql, &trust, 0, "SELECT trust FROM runs WHERE sequence = ?", "i", run.sequence));
    if (trust == TRUST_AUDITED) return about_run_unaudit(s, &run);
    TRY(store_rank_run(s, run.sequence));
    return store_rank_group(s, run.group);
}

const struct store_type type_amend = {.quarters = {4, 4}, .check = check_amendment, .apply = apply_amendment};
