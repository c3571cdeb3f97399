// SPDX-License-Identifier: Apache-2.0
// Invariant: a statement can hold every note and tag that is stored here, and a name never stands for another run.
#include "submit/results/labels.h"

#include <string.h>

#include "runtime/common/base/text.h"
#include "submit/format/fields.h"
#include "submit/format/statement.h"
#include "submit/results/result_inside.h"

enum { TAGS_MOST = 8 };  // submit/format/fields.c

// Names are words, as tags are. A number is a run, and "g3" a group.
static int check_name(const char *name)
{
    TRY(fields_check_typed("the name", statement_fields[STATEMENT_RUN], "tags", name));
    if (*name == '-') return fail(ERR_USAGE, "a run cannot be named \"%s\", which reads as an option", name);
    const char *digits = name + (*name == 'g');
    if (strcmp(name, "last") != 0 && strcmp(name, "all") != 0 && digits[strspn(digits, "0123456789")] != 0) return 0;
    return fail(ERR_USAGE, "a run cannot be named \"%s\", which stands for others", name);
}

int labels_check(const struct run_labels *l)
{
    if (l->name != NULL) TRY(check_name(l->name));
    if (l->note != NULL) TRY(fields_check_typed("the note", statement_fields[STATEMENT_RUN], "note", l->note));
    for (int i = 0; i < l->tag_count; i++) {
        TRY(fields_check_typed("the tag", statement_fields[STATEMENT_RUN], "tags", l->tags[i]));
        for (int k = 0; k < i; k++)
            if (strcmp(l->tags[k], l->tags[i]) == 0) return fail(ERR_USAGE, "the tag \"%s\" is given twice", l->tags[i]);
    }
    return l->tag_count <= TAGS_MOST ? 0 : fail(ERR_USAGE, "a run has at most %d tags; got %d", TAGS_MOST, l->tag_count);
}

int labels_store(struct results *r, int64_t run, const struct run_labels *l)
{
    struct text tags = {0};
    if (l->name == NULL && l->note == NULL && l->tag_count == 0) return 0;
    for (int i = 0; i < l->tag_count; i++) text_add(&tags, "%s%s", i > 0 ? " " : "", l->tags[i]);
    int rc = result_do(r, "record the labels", "INSERT INTO labels (run, name, note, tags) VALUES (?,?,?,?)", "ittt", run,
                       l->name, l->note, tags.at);
    text_free(&tags);
    return rc;
}
