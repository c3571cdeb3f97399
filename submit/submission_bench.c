// SPDX-License-Identifier: Apache-2.0
// Measurements of `dawn bench` as statements. One command's settings are one statement, and so is one command's scaling.
// Invariant: the same record, board and handle always give the same bytes, so an interrupted upload can be repeated. Cost: a few
// rows a measurement.
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/fields.h"
#include "submit/results/stated.h"
#include "submit/submission.h"

struct kind {
    const char *noun, *option, *rows, *all;
    int most;  // rows of a statement
    json_t *(*state)(const json_t *rows, const json_t *machine, const json_t *software);
};
static const struct kind kinds[] = {
    {"measurement", "bench", "SELECT *, (SELECT count(*) FROM bench_repeats WHERE bench = benches.id) AS repeats FROM benches"
     " WHERE sweep = ? ORDER BY id", "SELECT DISTINCT sweep FROM benches WHERE ?1 IN (0, id) ORDER BY sweep", BENCH_SETTINGS,
     stated_bench},
    {"scaling", "scaling", "SELECT * FROM scalings WHERE sweep = ? ORDER BY processes, id",
     "SELECT DISTINCT sweep FROM scalings WHERE ?1 IN (0, id) ORDER BY sweep", BENCH_SCALING, stated_scaling},
};

static int check_rows(const struct kind *kind, const json_t *rows, int64_t sweep)
{
    const json_t *first = json_array_get(rows, 0), *row;
    size_t i;
    if (first == NULL) return fail(ERR_USAGE, "there is no %s %lld in the record", kind->noun, (long long)sweep);
    if (json_array_size(rows) > (size_t)kind->most)
        return fail(ERR_INPUT, "%s %lld has %zu rows; a statement holds at most %d", kind->noun, (long long)sweep,
                    json_array_size(rows), kind->most);
    json_array_foreach((json_t *)rows, i, row)
    {
        static const char *const same[] = {"task", "samples", "data", "noise", "model", "recipe", "device", "threads", "machine",
                                           "software"};
        for (size_t n = 0; n < sizeof same / sizeof *same; n++)
            if (!json_equal(json_object_get(first, same[n]), json_object_get(row, same[n])))
                return fail(ERR_INPUT, "the rows of %s %lld do not have the same %s", kind->noun, (long long)sweep, same[n]);
    }
    return 0;
}

static int check_machine(const struct kind *kind, const json_t *machine, const json_t *software, int64_t sweep)
{
    if (machine == NULL || software == NULL)
        return fail(ERR_INPUT, "the record has lost the machine or the program of %s %lld", kind->noun, (long long)sweep);
    if (strcasestr(record_text(machine, "gpu"), "emulated") != NULL)
        return fail(ERR_USAGE, "%s %lld was made on an emulated GPU: its times measure nothing, so it is not submitted",
                    kind->noun, (long long)sweep);
    return 0;
}

static int make_statement(json_t *to, const struct payload_words *words, struct statement *s)
{
    json_object_set_new(to, "type", json_string("bench"));
    json_object_set_new(to, "version", json_integer(1));
    json_object_set_new(to, "board", json_string(words->board));
    json_object_set_new(to, "handle", json_string(words->handle));
    if (words->board_key != NULL) json_object_set_new(to, "board_key", json_string(words->board_key));
    return statement_make(to, s);
}

static int build_statement(struct results *r, const struct kind *kind, int64_t sweep, const struct payload_words *words,
                           struct statement *s)
{
    json_t *rows = NULL, *machines = NULL, *software = NULL;
    int rc = record_rows(r, kind->rows, sweep, &rows);
    const json_t *first = json_array_get(rows, 0);
    if (rc == 0) rc = check_rows(kind, rows, sweep);
    if (rc == 0) rc = record_rows(r, "SELECT * FROM machines WHERE id = ?", record_int(first, "machine"), &machines);
    if (rc == 0) rc = record_rows(r, "SELECT * FROM software WHERE id = ?", record_int(first, "software"), &software);
    const json_t *machine = json_array_get(machines, 0), *program = json_array_get(software, 0);
    if (rc == 0) rc = check_machine(kind, machine, program, sweep);
    if (rc == 0) rc = make_statement(kind->state(rows, machine, program), words, s);
    json_decref(rows);
    json_decref(machines);
    json_decref(software);
    return rc;
}

// ---- the choice

// The sweeps of a word: "all", or the number of one setting.
static int find_sweeps(struct results *r, const struct kind *kind, const char *word, json_t **rows)
{
    int64_t id = 0;
    bool all = strcmp(word, "all") == 0;
    *rows = NULL;
    if (!all && text_to_int(word, 1, INT64_MAX, &id) < 0)
        return fail(ERR_USAGE, "--%s takes the number of a %s (\"dawn bench --list%s\"), or all; got \"%.40s\"", kind->option,
                    kind->noun, result_option(r), word);
    TRY(record_rows(r, kind->all, id, rows));
    if (json_array_size(*rows) > 0) return 0;
    return all ? fail(ERR_USAGE, "no %s has been recorded yet: \"dawn bench TASK%s%s\" adds one", kind->noun,
                      kind == kinds ? "" : " --scaling 1,2,4", result_option(r))
               : fail(ERR_USAGE, "there is no %s %lld in the record", kind->noun, (long long)id);
}

static bool has_sweep(const struct submissions *all, int64_t sweep, bool scaling)
{
    for (int i = 0; i < all->count; i++)
        if (all->at[i].run == sweep && all->at[i].scaling == scaling) return true;
    return false;
}

static int add_sweep(struct results *r, const struct kind *kind, int64_t sweep, const struct submission_choice *c,
                     const struct payload_words *words, int64_t now_ms, struct submissions *all)
{
    const bool scaling = kind != kinds;
    if (has_sweep(all, sweep, scaling)) return 0;
    all->at = grow(all->at, (size_t)(all->count + 1) * sizeof *all->at);
    struct submission *s = &all->at[all->count++];
    *s = (struct submission){.run = sweep, .bench = true, .scaling = scaling};
    TRY(receipts_of_sweep(r, submission_row(s), words->board, c->server_key, &s->last));
    s->nothing_new = s->last != NULL;
    if (s->nothing_new) return 0;
    int rc = build_statement(r, kind, sweep, words, &s->statement);
    if (rc == 0) check_statement(&s->statement, now_ms, &s->findings);
    else if (submission_refuse(s, rc)) rc = 0;
    return rc;
}

static int add_word(struct results *r, const struct kind *kind, const char *word, const struct submission_choice *c,
                    const struct payload_words *words, int64_t now_ms, struct submissions *all)
{
    json_t *rows, *row;
    size_t n;
    int rc = find_sweeps(r, kind, word, &rows);
    json_array_foreach(rows, n, row)
        if (rc == 0) rc = add_sweep(r, kind, record_int(row, "sweep"), c, words, now_ms, all);
    json_decref(rows);
    return rc;
}

int submission_bench_build(struct results *r, const struct submission_choice *c, const struct payload_words *words,
                           int64_t now_ms, struct submissions *all)
{
    int rc = 0;
    *all = (struct submissions){0};
    for (int i = 0; i < c->bench_count && rc == 0; i++) rc = add_word(r, &kinds[0], c->benches[i], c, words, now_ms, all);
    for (int i = 0; i < c->scaling_count && rc == 0; i++) rc = add_word(r, &kinds[1], c->scalings[i], c, words, now_ms, all);
    if (rc < 0) submissions_free(all);
    return rc;
}
