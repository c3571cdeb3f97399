// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/train/resume.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "submit/results/record.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int resume_pace_read(const char *word, struct resume_pace *pace)
{
    static const struct { const char *unit; int64_t ns; } units[] = {
        {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}, {"", 0},
    };
    size_t digits = strspn(word, "0123456789");
    char number[16];
    int64_t n = 0;
    *pace = (struct resume_pace){0};
    snprintf(number, sizeof number, "%.*s", (int)digits, word);
    for (size_t i = 0; digits > 0 && digits < sizeof number && i < sizeof units / sizeof *units; i++) {
        if (strcmp(word + digits, units[i].unit)) continue;
        if (text_to_int(number, 1, 1000000, &n) < 0) break;
        *(units[i].ns ? &pace->ns : &pace->steps) = n * (units[i].ns ? units[i].ns : 1);
        return 0;
    }
    return fail(ERR_USAGE, "--checkpoint-every must be a number of steps, or a time such as 30s, 10min or 2h; got \"%s\"", word);
}

// ---- the note

static json_t *clocks_json(const struct stopwatch_clocks *c)
{
    return json_pack("[IIII]", (json_int_t)c->end_to_end_ns, (json_int_t)c->classic_ns, (json_int_t)c->warm_ns,
                     (json_int_t)c->warm_with_evaluation_ns);
}

static json_t *damaged_json(const struct resume_note *n)
{
    json_t *splits = json_array();
    for (int s = 0; s < SPLIT_COUNT; s++) {
        json_t *list = json_array();
        for (int64_t i = 0; i < n->damaged_count[s]; i++) json_array_append_new(list, json_integer(n->damaged[s][i]));
        json_array_append_new(splits, list);
    }
    return splits;
}

char *resume_note_text(const struct resume_note *n)
{
    json_t *scores = json_array();
    for (int m = 0; m < METRICS_MAX; m++) json_array_append_new(scores, json_integer(n->score[m]));
    json_t *root = json_pack(
        "{s:s, s:s, s:s?, s:s?, s:s?, s:s?, s:s?, s:b, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
        "nonce", n->nonce, "device", n->device, "folder", n->folder, "save", n->save, "weights", n->files.weights,
        "vocab", n->files.vocab, "vectors", n->files.vectors, "evaluated", n->evaluated, "score", scores,
        "reached", clocks_json(&n->reached), "crossed", clocks_json(&n->crossed),
        "crossed_score", (json_int_t)n->crossed_score,
        "every_steps", (json_int_t)n->pace.steps, "every_ns", (json_int_t)n->pace.ns,
        "saved_ms", (json_int_t)n->saved.unix_ms, "saved_ns", (json_int_t)n->saved.end_to_end_ns,
        "point_samples", (json_int_t)n->point_samples, "point_warm_ns", (json_int_t)n->point_warm_ns,
        "point_terms", (json_int_t)n->point_terms,
        "stall_ns", (json_int_t)n->stall_ns, "energy_uj", (json_int_t)n->energy_uj, "damaged", damaged_json(n));
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text ? text : copy_text("\xff");  // a path is not UTF-8; state_save refuses this text
}

static int read_note_count(const char *where, const json_t *from, const char *key, int64_t *into)
{
    const json_t *n = json_object_get(from, key);
    if (!json_is_integer(n) || json_integer_value(n) < 0) return fail(ERR_INPUT, "%s: the note has no count \"%s\"", where, key);
    *into = json_integer_value(n);
    return 0;
}

static int read_list(const char *where, const json_t *from, const char *key, int64_t *into, size_t count)
{
    const json_t *list = json_object_get(from, key);
    if (json_array_size(list) != count) return fail(ERR_INPUT, "%s: the note has no list \"%s\"", where, key);
    for (size_t i = 0; i < count; i++) {
        const json_t *n = json_array_get(list, i);
        if (!json_is_integer(n)) return fail(ERR_INPUT, "%s: the list \"%s\" of the note has other entries", where, key);
        into[i] = json_integer_value(n);
    }
    return 0;
}

static int read_clocks(const char *where, const json_t *from, const char *key, struct stopwatch_clocks *into)
{
    int64_t ns[4];
    TRY(read_list(where, from, key, ns, 4));
    *into = (struct stopwatch_clocks){ns[0], ns[1], ns[2], ns[3]};
    return 0;
}

// damage_restore ignores numbers that no picture has.
static int read_damaged(const char *where, const json_t *root, struct arena *arena, struct resume_note *n)
{
    const json_t *splits = json_object_get(root, "damaged");
    for (int s = 0; s < SPLIT_COUNT; s++) {
        const json_t *list = json_array_get(splits, (size_t)s);
        if (!json_is_array(list)) return fail(ERR_INPUT, "%s: the note has no list \"damaged\"", where);
        n->damaged_count[s] = (int64_t)json_array_size(list);
        int32_t *at = arena_alloc(arena, (json_array_size(list) + 1) * sizeof *at);
        n->damaged[s] = at;
        for (int64_t i = 0; i < n->damaged_count[s]; i++) {
            json_int_t number = json_integer_value(json_array_get(list, (size_t)i));
            at[i] = number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
        }
    }
    return 0;
}

static const char *keep_text(const json_t *from, const char *key, struct arena *arena)
{
    const char *text = json_string_value(json_object_get(from, key));
    return text ? arena_text(arena, "%s", text) : NULL;
}

static int read_note(const char *where, const json_t *root, struct arena *arena, struct resume_note *n)
{
    n->nonce = keep_text(root, "nonce", arena);
    n->device = keep_text(root, "device", arena);
    n->folder = keep_text(root, "folder", arena);
    n->save = keep_text(root, "save", arena);
    n->files.weights = keep_text(root, "weights", arena);
    n->files.vocab = keep_text(root, "vocab", arena);
    n->files.vectors = keep_text(root, "vectors", arena);
    if (!n->nonce || !n->device) return fail(ERR_INPUT, "%s: the note does not name its run", where);
    n->evaluated = json_is_true(json_object_get(root, "evaluated"));
    TRY(read_note_count(where, root, "every_steps", &n->pace.steps));
    TRY(read_note_count(where, root, "every_ns", &n->pace.ns));
    TRY(read_note_count(where, root, "point_samples", &n->point_samples));
    TRY(read_note_count(where, root, "point_warm_ns", &n->point_warm_ns));
    TRY(read_note_count(where, root, "point_terms", &n->point_terms));
    TRY(read_note_count(where, root, "stall_ns", &n->stall_ns));
    TRY(read_note_count(where, root, "energy_uj", &n->energy_uj));
    TRY(read_note_count(where, root, "saved_ms", &n->saved.unix_ms));
    TRY(read_note_count(where, root, "saved_ns", &n->saved.end_to_end_ns));
    TRY(read_list(where, root, "score", n->score, METRICS_MAX));
    TRY(read_clocks(where, root, "reached", &n->reached));
    TRY(read_clocks(where, root, "crossed", &n->crossed));
    TRY(read_note_count(where, root, "crossed_score", &n->crossed_score));
    return read_damaged(where, root, arena, n);
}

int resume_note_read(const char *where, const char *text, struct arena *arena, struct resume_note *n)
{
    *n = (struct resume_note){0};
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    int rc = json_is_object(root) ? read_note(where, root, arena, n)
                                  : fail(ERR_INPUT, "%s: the note is not a JSON object", where);
    json_decref(root);
    return rc;
}

// ---- a run and its state

void resume_clear(const char *state)
{
    glob_t found;
    char *pattern;
    if (asprintf(&pattern, "%s.*.part", state) < 0) BUG("out of memory");
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) unlink(found.gl_pathv[i]);
        globfree(&found);
    }
    free(pattern);
}

char *resume_file(const struct results *results, int64_t run, const char *ending)
{
    const char *file = result_file(results), *slash = strrchr(file, '/');
    int folder = slash ? (int)(slash - file + 1) : 0;
    const char *name = file + folder, *dot = strrchr(name, '.');
    int stem = dot ? (int)(dot - name) : (int)strlen(name);
    bool usual = stem == 7 && !strncmp(name, "results", 7);  // other databases in the same folder get files of their own
    char *path;
    if (asprintf(&path, "%.*s%.*s%srun-%lld.%s", folder, file, usual ? 0 : stem, name, usual ? "" : "-", (long long)run,
                 ending) < 0)
        BUG("out of memory");
    return path;
}

// result_resume checks again within its transaction. This check comes first so that its sentence precedes one about a
// missing state.
static int check_status(const json_t *record)
{
    const char *status = record_text(record, "status");
    long long id = (long long)record_int(record, "id");
    if (!strcmp(status, "done") || !strcmp(status, "missed"))
        return fail(ERR_USAGE, "run %lld is %s: only an interrupted or failed one can be resumed", id, status);
    if (!strcmp(status, "running")) return fail(ERR_USAGE, "run %lld is still running in another process", id);
    return 0;
}

// The state must train what the record says. Otherwise an edited state would record another training under this run.
static int check_training(const char *path, const json_t *record, const struct state_facts *f, int processes)
{
    struct recipe ours, recorded;
    const char *text = record_text(record, "recipe_json");
    TRY(recipe_parse(path, f->recipe, strlen(f->recipe), &ours));
    TRY(recipe_parse("the record's recipe", text, strlen(text), &recorded));
    char *a = recipe_canonical(&ours), *b = recipe_canonical(&recorded);
    bool same = !strcmp(a, b);
    free(a), free(b);
    same = same && !strcmp(f->task, record_text(record, "task")) && !strcmp(f->precision, record_text(record, "precision")) &&
           f->seed == (uint64_t)record_int(record, "seed") && f->threads * processes == record_int(record, "threads");
    return same ? 0 : fail(ERR_INPUT, "%s is the state of another training: its task, recipe, seed, precision or threads differ "
                                      "from the record", path);
}

static int open_state(const char *path, const json_t *record, struct resume *r)
{
    int rc = state_open(path, &r->state);
    if (rc == ERR_MISSING)
        return fail(ERR_MISSING, "run %lld cannot be resumed: there is no %s (--checkpoint-every writes one)", (long long)r->run,
                    path);
    TRY(rc);
    const struct state_facts *f = state_facts(r->state);
    TRY(resume_note_read(path, f->note, &r->arena, &r->note));
    if (strcmp(r->note.nonce, record_text(record, "nonce")))
        return fail(ERR_INPUT, "%s is the state of another run than run %lld of this record", path, (long long)r->run);
    if (strcmp(f->program, state_program()))
        return fail(ERR_INPUT, "%s was written by dawn %s; this is %s, and the bytes may differ", path, f->program,
                    state_program());
    return check_training(path, record, f, r->processes);
}

int resume_open(struct results *results, int64_t run, struct resume *r)
{
    json_t *record;
    *r = (struct resume){.run = run};
    TRY(record_read(results, run, &record));
    r->processes = record_processes(record, &r->machines);
    r->target_micro = record_int(record, "target_micro");
    r->stop = record_int(record, "stop_at_target") != 0;
    r->priced = record_has(record, "price_micro_per_hour");
    r->price.micro_per_hour = record_int(record, "price_micro_per_hour");
    char *path = resume_file(results, run, "state");
    int rc = check_status(record);
    if (rc == 0) rc = open_state(path, record, r);
    free(path);
    json_decref(record);
    if (rc < 0) resume_close(r);
    return rc;
}

int resume_last(struct results *results, int64_t *run)
{
    json_t *runs;
    *run = 0;
    TRY(record_list(results, &runs));
    for (size_t i = json_array_size(runs); i-- > 0 && *run == 0;) {
        const json_t *row = json_array_get(runs, i);
        const char *status = record_text(row, "status");  // a full disk or a lost file makes a run fail
        char *state = resume_file(results, record_int(row, "id"), "state");
        if ((!strcmp(status, "interrupted") || !strcmp(status, "failed")) && file_exists(state)) *run = record_int(row, "id");
        free(state);
    }
    json_decref(runs);
    if (*run > 0) return 0;
    return fail(ERR_MISSING, "no interrupted or failed run in %s has a checkpoint (--checkpoint-every writes one)",
                result_file(results));
}

void resume_close(struct resume *r)
{
    state_close(r->state);
    arena_free(&r->arena);
    *r = (struct resume){0};
}
