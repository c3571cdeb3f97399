// SPDX-License-Identifier: Apache-2.0
// Builds a run's statement from the record (submit/results/stated.h) and the submitter's texts. Cost: one reading of the run,
// some 10 to 500 KB.
#include "submit/payload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/check/check.h"
#include "submit/format/fields.h"
#include "submit/format/machine_list.h"
#include "submit/results/stated.h"

// The first five: submit/format/fields.c. The facts of a machine are nine texts of at most 160 bytes.
enum { POINTS_MAX = 4000, SEGMENTS_MAX = 4000, DATA_MAX = 8, LATENCIES_MAX = 32, PARTS_MAX = 64, TAGS_MAX = 8,
       FACTS_MAX = 16384 };

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *payload_tags(const char *const *tags, int count)
{
    json_t *list = json_array();
    const char **sorted = zalloc((size_t)(count + 1) * sizeof *sorted);
    for (int i = 0; i < count; i++) sorted[i] = tags[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_words);
    for (int i = 0; i < count; i++)
        if (i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0) json_array_append_new(list, json_string(sorted[i]));
    free(sorted);
    return list;
}

static void put_text(json_t *to, const char *name, const char *text)
{
    if (text != NULL) json_object_set_new(to, name, json_string(text));
}

static void put_words(json_t *to, const struct payload_words *w, const json_t *record)
{
    bool began_anew = json_array_size(json_object_get(record, "files")) == 0;  // recipes do not name files
    bool closed = !w->open && began_anew && record_int(record, "recipe_published") != 0 && !record_is_outside(record);
    put_text(to, "type", "run");
    put_text(to, "board", w->board);
    put_text(to, "board_key", w->board_key);
    put_text(to, "handle", w->handle);
    put_text(to, "team", w->team != NULL ? w->team : "");
    put_text(to, "division", closed ? "closed" : "open");
    if (w->note != NULL && *w->note) put_text(to, "note", w->note);
    if (w->code_url != NULL && *w->code_url) put_text(to, "code_url", w->code_url);
    put_text(to, "supersedes", w->supersedes);
    if (w->competition != NULL)
        json_object_set_new(to, "competition", json_pack("{s:s, s:s}", "statement", w->competition, "salt", w->salt));
    json_object_set_new(to, "tags", payload_tags(w->tags, w->tag_count));
}

// Checks sizes before the record is read, so that texts that no statement can hold are never loaded. All latencies may have one
// machine.
static int check_size(struct results *r, int64_t run)
{
    static const struct {
        const char *name, *sql;
        int most;
    } lists[] = {
        {"points", "SELECT count(*) AS n FROM points WHERE run = ?", POINTS_MAX},
        {"segments", "SELECT count(*) AS n FROM segments WHERE run = ?", SEGMENTS_MAX},
        {"data sets", "SELECT count(*) AS n FROM data_sets WHERE run = ?", DATA_MAX},
        {"latencies", "SELECT count(*) AS n FROM latencies WHERE run = ?", LATENCIES_MAX},
        {"parts of its schedule", "SELECT count(*) AS n FROM parts WHERE run = ?", PARTS_MAX},
#define TEXT(name, what) " + length(" #name ")"
#define NUMBER(name, most, what)
        {"characters about a machine",
         "SELECT max(0" MACHINE_FACT_LIST ") AS n FROM machines WHERE id IN"
         " (SELECT machine FROM runs WHERE id = ?1 UNION SELECT machine FROM latencies WHERE run = ?1)", FACTS_MAX},
#undef TEXT
#undef NUMBER
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        json_t *rows;
        TRY(record_rows(r, lists[i].sql, run, &rows));
        int64_t n = record_int(json_array_get(rows, 0), "n");
        json_decref(rows);
        if (n > lists[i].most)
            return fail(ERR_INPUT, "run %lld has %lld %s; a statement holds at most %d", (long long)run, (long long)n,
                        lists[i].name, lists[i].most);
    }
    return 0;
}

static int check_record(const json_t *record)
{
    long long id = (long long)record_int(record, "id");
    if (strcmp(record_text(record, "status"), "running") == 0)
        return fail(ERR_USAGE, "run %lld has not ended yet", id);
    if (json_object_get(record, "machine_facts") == NULL || json_object_get(record, "software_facts") == NULL)
        return fail(ERR_INPUT, "the record has lost the machine or the program of run %lld", id);
    if (strcasestr(record_text(json_object_get(record, "machine_facts"), "gpu"), "emulated") != NULL)
        return fail(ERR_USAGE, "run %lld was made on an emulated GPU: its times measure nothing, so it is not submitted", id);
    int machines;
    (void)record_processes(record, &machines);
    if (machines > 1 || record_moved(record))
        return fail(ERR_UNSUPPORTED, "run %lld was trained %s, and a statement names one set of devices on one machine", id,
                    machines > 1 ? "on several machines" : "first by some devices and then by others");
    if (record_has(record, "group_id") && json_object_get(record, "group") == NULL)
        return fail(ERR_INPUT, "the record has lost the group of run %lld", id);
    return 0;
}

// Adds the fault of a text to the list of faults.
static void add_fault(struct text *faults, int rc)
{
    if (rc < 0) text_add(faults, "%s%s", faults->length > 0 ? ", and " : "", error_text());
}

int payload_check_words(const struct payload_words *w)
{
    struct text faults = {0};
    char tag[64];
    const struct {
        const char *what, *name, *text;
    } words[] = {
        {"the handle", "handle", w->handle}, {"the team", "team", w->team}, {"the note", "note", w->note},
        {"the address of the code", "code_url", w->code_url}, {"the board's name", "board", w->board},
    };
    const struct field *run = statement_fields[STATEMENT_RUN];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].text != NULL) add_fault(&faults, fields_check_typed(words[i].what, run, words[i].name, words[i].text));
    for (int i = 0; i < w->tag_count; i++) {
        snprintf(tag, sizeof tag, "the tag \"%.40s\"", w->tags[i]);
        add_fault(&faults, fields_check_typed(tag, run, "tags", w->tags[i]));
    }
    json_t *tags = payload_tags(w->tags, w->tag_count);
    size_t count = json_array_size(tags);
    json_decref(tags);
    if (count > TAGS_MAX) add_fault(&faults, fail(ERR_USAGE, "a run has at most %d tags; got %zu", TAGS_MAX, count));
    int rc = faults.length > 0 ? fail(ERR_USAGE, "%s", faults.at) : 0;
    text_free(&faults);
    return rc;
}

int payload_run(struct results *r, int64_t run, const struct payload_words *words, struct statement *statement)
{
    json_t *record;
    TRY(payload_check_words(words));
    TRY(check_size(r, run));
    TRY(record_read(r, run, &record));
    int rc = check_record(record);
    if (rc == 0) {
        json_t *to = stated_run(record);
        put_words(to, words, record);
        rc = statement_make(to, statement);
    }
    json_decref(record);
    return rc;
}
