// SPDX-License-Identifier: Apache-2.0
// The texts of an entry, from its last statement and later amendments. Invariant: the record knows the digest of all that
// the board sends, so a board cannot put a word into a statement that this machine signs. Cost: one request, and one for each
// amendment.
#include <string.h>

#include "submit/submission.h"

static int read_one(const struct submission_choice *c, const char *digest, enum statement_type type, struct statement *s)
{
    TRY(c->fetch(c->context, digest, s));
    if (s->type == type) return 0;
    statement_free(s);
    return fail(ERR_INPUT, "%.12s is not a statement of type %s", digest, statement_type_name(type));
}

static void copy_words(json_t *words, const json_t *from)
{
    static const char *const names[] = {"team", "note", "code_url", "tags", "division"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_t *value = json_object_get(from, names[i]);
        if (value != NULL) json_object_set(words, names[i], value);
    }
}

static int take_amendments(struct results *r, const json_t *last, const struct submission_choice *c, json_t *words)
{
    json_t *rows, *row;
    size_t i;
    int rc = 0;
    TRY(record_rows(r, "SELECT * FROM receipts WHERE run = ? AND type = 'amend' ORDER BY sequence", record_int(last, "run"),
                    &rows));
    json_array_foreach(rows, i, row)
    {
        struct statement s;
        if (rc < 0 || strcmp(record_text(row, "board"), record_text(last, "board")) != 0 ||
            strcmp(record_text(row, "server_key"), record_text(last, "server_key")) != 0)
            continue;
        rc = read_one(c, record_text(row, "statement"), STATEMENT_AMEND, &s);
        if (rc < 0) continue;
        if (strcmp(canonical_text(s.json, "statement"), record_text(last, "statement")) == 0) copy_words(words, s.json);
        statement_free(&s);
    }
    json_decref(rows);
    return rc;
}

int entry_words_read(struct results *r, const json_t *last, const struct submission_choice *c, struct entry_words *words)
{
    struct statement s;
    *words = (struct entry_words){0};
    TRY(read_one(c, record_text(last, "statement"), STATEMENT_RUN, &s));
    words->first = json_object();
    copy_words(words->first, s.json);
    statement_free(&s);
    words->now = json_copy(words->first);
    return take_amendments(r, last, c, words->now);
}

void entry_words_free(struct entry_words *words)
{
    json_decref(words->first);
    json_decref(words->now);
    *words = (struct entry_words){0};
}

static void keep_word(const char **said, const json_t *words, const char *name)
{
    if (*said == NULL) *said = json_string_value(json_object_get(words, name));
}

void entry_words_keep(const json_t *words, struct payload_words *said, const char *tags[ENTRY_TAGS])
{
    keep_word(&said->team, words, "team");
    keep_word(&said->note, words, "note");
    keep_word(&said->code_url, words, "code_url");
    if (strcmp(canonical_text(words, "division"), "open") == 0) said->open = true;
    if (said->tag_count > 0) return;
    const json_t *list = json_object_get(words, "tags");
    said->tags = tags;
    for (size_t i = 0; i < json_array_size(list) && i < ENTRY_TAGS; i++) {
        tags[i] = json_string_value(json_array_get(list, i));
        said->tag_count = (int)i + 1;
    }
}
