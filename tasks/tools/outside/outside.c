// SPDX-License-Identifier: Apache-2.0
// Parses lines from a foreign program. Invariant: for any bytes, a line is ignored, or is one of three kinds with every
// figure inside its bounds, or fails with a sentence. Memory: one buffer a stream. Workload: thousands of lines for people
// between two reports, so a line is parsed only after its mark was found.
#include "tasks/tools/outside/outside.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "submit/format/canonical.h"

#define COUNT_MOST ((int64_t)1 << 50)  // the bound of submit/format/fields.c

// ---- bytes to lines

static int end_line(struct outside_stream *s, outside_line_taker *line, void *context)
{
    size_t length = s->length;
    bool whole = !s->skipping && length > 0;
    s->length = 0;
    s->skipping = false;
    return whole ? line(context, s->at, length, s->number + 1) : 0;
}

static void append_to_line(struct outside_stream *s, const char *bytes, size_t count)
{
    if (s->at == NULL) s->at = zalloc(OUTSIDE_LINE);
    s->skipping = s->skipping || count > OUTSIDE_LINE - s->length;
    if (s->skipping) return;
    memcpy(s->at + s->length, bytes, count);
    s->length += count;
}

int outside_feed(struct outside_stream *s, const char *bytes, size_t count, outside_line_taker *line, void *context)
{
    for (size_t from = 0; from < count;) {
        size_t to = from;
        while (to < count && bytes[to] != '\n' && bytes[to] != '\r') to++;
        append_to_line(s, bytes + from, to - from);
        if (to < count) {
            TRY(end_line(s, line, context));
            s->number += bytes[to] == '\n';
        }
        from = to + 1;
    }
    return 0;
}

int outside_finish(struct outside_stream *s, outside_line_taker *line, void *context)
{
    return end_line(s, line, context);
}

void outside_free(struct outside_stream *s)
{
    free(s->at);
    *s = (struct outside_stream){0};
}

// ---- members

struct member {
    const char *name;
    int64_t low, high;  // both 0: not a whole number
};

// An unknown member must not be ignored, because a misspelt report could cost hours of training.
static int check_members(const json_t *line, const struct member *known)
{
    const char *names[16] = {"dawn"}, *name;
    int count = 1;
    for (; known[count - 1].name != NULL; count++) names[count] = known[count - 1].name;
    json_t *value;
    json_object_foreach((json_t *)line, name, value)
    {
        int i = 0;
        while (i < count && strcmp(names[i], name) != 0) i++;
        if (i < count) continue;
        return fail_unknown(ERR_INPUT, "member", name, names, NULL);
    }
    return 0;
}

// Reads a whole number; leaves `into` unchanged if the member is absent.
static int read_int(const json_t *line, const struct member *m, int64_t *into)
{
    const json_t *value = json_object_get(line, m->name);
    if (value == NULL) return 0;
    if (!json_is_integer(value)) return fail(ERR_INPUT, "\"%s\" must be a whole number", m->name);
    int64_t n = json_integer_value(value);
    if (n < m->low || n > m->high)
        return fail(ERR_INPUT, "\"%s\" must be between %lld and %lld; got %lld", m->name, (long long)m->low,
                    (long long)m->high, (long long)n);
    *into = n;
    return 0;
}

int outside_check_words(const char *what, const char *text, size_t most)
{
    size_t count = strlen(text);
    if (count == 0 || count > most) return fail(ERR_INPUT, "%s must have 1 to %zu bytes; got %zu", what, most, count);
    if (canonical_check_words(text, count) == 0) return 0;
    return fail_prefix(ERR_INPUT, "%s cannot be shown: ", what);
}

static int read_words(const json_t *line, const char *name, char *into, size_t capacity)
{
    const json_t *value = json_object_get(line, name);
    if (value == NULL) return 0;
    char what[64];
    snprintf(what, sizeof what, "\"%s\"", name);
    if (!json_is_string(value)) return fail(ERR_INPUT, "%s must be text", what);
    TRY(outside_check_words(what, json_string_value(value), capacity - 1));
    snprintf(into, capacity, "%s", json_string_value(value));
    return 0;
}

double outside_most(const struct contest *c)
{
    return c->board.items == 0 && c->most_micro > c->items ? (double)c->most_micro / (double)c->items : 1;
}

// A share of 1, or a value, as k of the contest's items, rounded down. A share that single precision cannot distinguish from the
// next count is that count: 9412 / 10000 may be printed from a float. The gap is at most a hundredth of an item, so an exact
// count stays as it is.
int outside_share(const char *what, double share, const struct contest *c, int64_t *k)
{
    const double most = outside_most(c);
    const int64_t items = c->items;
    if (!(share >= 0 && share <= most) && most > 1)
        return fail(ERR_INPUT, "%s must be between 0 and %g; got %g", what, most, share);
    if (!(share >= 0 && share <= most))
        return fail(ERR_INPUT, "%s must be a share between 0 and 1; got %g%s", what, share,
                    share > 1 && share <= 100 ? " (divide a percentage by 100)" : "");
    *k = (int64_t)floor(share * (double)items);
    const double next = (double)(*k + 1) / (double)items;
    if ((float)share == (float)next && (next - share) * (double)items <= 0.01) ++*k;
    if ((double)*k > most * (double)items) --*k;
    return 0;
}

// ---- DAWN's lines

static int read_correct(const json_t *line, int64_t items, int64_t *k)
{
    int64_t of = items;
    const struct member correct = {"correct", 0, COUNT_MOST}, all = {"items", 1, COUNT_MOST};
    TRY(read_int(line, &correct, k));
    TRY(read_int(line, &all, &of));
    if (*k < 0) return json_object_get(line, "items") ? fail(ERR_INPUT, "\"items\" needs \"correct\"") : 0;
    if (of != items)
        return fail(ERR_INPUT, "\"items\" must be %lld, as many as the contest has; got %lld", (long long)items, (long long)of);
    if (*k > items)
        return fail(ERR_INPUT, "\"correct\" must be at most %lld, the number of items; got %lld", (long long)items,
                    (long long)*k);
    return 0;
}

// A program that counts its steps may report from the middle of an epoch.
static int read_epochs(const json_t *line, const struct member *m, struct outside_epoch *e)
{
    const json_t *value = json_object_get(line, m->name);
    if (e->step < 0 || !json_is_real(value)) return read_int(line, m, &e->epoch);
    double epochs = json_real_value(value);
    if (!(epochs >= 0 && epochs <= 1e9)) return fail(ERR_INPUT, "\"epoch\" must be between 0 and 1e9; got %g", epochs);
    e->epoch = (int64_t)ceil(epochs);
    e->epoch_micro = (int64_t)floor(epochs * 1e6 + 0.5);
    return 0;
}

static int read_epoch(const json_t *line, const struct contest *c, struct outside_epoch *e)
{
    static const struct member members[] = {{"epoch", 1, COUNT_MOST}, {"samples", 0, COUNT_MOST}, {"correct", 0, COUNT_MOST},
                                            {"items", 1, COUNT_MOST}, {"score", 0, 0}, {"loss", 0, 0}, {"step", 1, COUNT_MOST},
                                            {0}};
    TRY(check_members(line, members));
    TRY(read_int(line, &members[6], &e->step));
    TRY(read_epochs(line, &members[0], e));
    if (e->epoch < 0) return fail(ERR_INPUT, "\"epoch\" is missing");
    TRY(read_int(line, &members[1], &e->samples));
    TRY(read_correct(line, c->items, &e->k));
    const json_t *score = json_object_get(line, "score"), *loss = json_object_get(line, "loss");
    if (score != NULL) {
        if (e->k >= 0) return fail(ERR_INPUT, "\"score\" and \"correct\" exclude each other");
        if (!json_is_number(score)) return fail(ERR_INPUT, "\"score\" must be a number");
        TRY(outside_share("\"score\"", json_number_value(score), c, &e->k));
    }
    if (loss != NULL) {
        if (!json_is_number(loss)) return fail(ERR_INPUT, "\"loss\" must be a number");
        e->loss = json_number_value(loss);
    }
    return 0;
}

static int read_segment(const json_t *line, enum segment *segment)
{
    static const struct member members[] = {{"segment", 0, 0}, {0}};
    TRY(check_members(line, members));
    const char *name = json_string_value(json_object_get(line, "segment"));
    if (name == NULL) return fail(ERR_INPUT, "\"segment\" is missing or is not text");
    if (stopwatch_find(name, segment) && *segment != SEGMENT_PROCESS && *segment != SEGMENT_AWAY) return 0;
    const char *names[SEGMENT_END] = {0};
    for (int i = SEGMENT_PROCESS + 1; i < SEGMENT_AWAY; i++) names[i - SEGMENT_PROCESS - 1] = stopwatch_name((enum segment)i);
    return fail_unknown(ERR_INPUT, "segment", name, names, NULL);
}

static int read_about(const json_t *line, struct outside_about *a)
{
    static const struct member members[] = {
        {"parameters", 0, COUNT_MOST}, {"flops_per_sample", 0, COUNT_MOST}, {"batch", 0, COUNT_MOST}, {"views", 0, 4096},
        {"input_size", 0, 65536}, {"seed", -COUNT_MOST, COUNT_MOST}, {"model", 0, 0}, {"framework", 0, 0}, {"precision", 0, 0},
        {"weights", 0, 0}, {0}};
    int64_t *const into[] = {&a->parameters, &a->flops_per_sample, &a->batch, &a->views, &a->input_size, &a->seed};
    TRY(check_members(line, members));
    for (size_t i = 0; i < sizeof into / sizeof *into; i++) TRY(read_int(line, &members[i], into[i]));
    a->has_seed = json_object_get(line, "seed") != NULL;
    TRY(read_words(line, "model", a->model, sizeof a->model));
    TRY(read_words(line, "framework", a->framework, sizeof a->framework));
    TRY(read_words(line, "precision", a->precision, sizeof a->precision));
    TRY(read_words(line, "weights", a->weights, sizeof a->weights));
    if (strspn(a->precision, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-") != strlen(a->precision))
        return fail(ERR_INPUT, "\"precision\" must be a word such as f16; got \"%s\"", a->precision);
    if (*a->weights && (strlen(a->weights) != 64 || strspn(a->weights, "0123456789abcdef") != 64))
        return fail(ERR_INPUT, "\"weights\" must be a SHA-256 in 64 hexadecimal digits");
    return 0;
}

static int read_dawn_line(const json_t *line, const struct contest *c, struct outside_line *out)
{
    const char *what = json_string_value(json_object_get(line, "dawn"));
    if (what != NULL && strcmp(what, "epoch") == 0) {
        out->kind = OUTSIDE_EPOCH;
        return read_epoch(line, c, &out->epoch);
    }
    if (what != NULL && strcmp(what, "segment") == 0) {
        out->kind = OUTSIDE_SEGMENT;
        return read_segment(line, &out->segment);
    }
    if (what != NULL && strcmp(what, "about") == 0) {
        out->kind = OUTSIDE_ABOUT;
        return read_about(line, &out->about);
    }
    return fail(ERR_INPUT, "\"dawn\" must be \"epoch\", \"segment\" or \"about\"");
}

// ---- MLPerf's lines

static const struct {
    const char *key;
    enum segment segment;
} mlperf_segments[] = {
    {"init_start", SEGMENT_INIT},   {"run_start", SEGMENT_TRAIN},     {"epoch_start", SEGMENT_TRAIN},
    {"block_start", SEGMENT_TRAIN}, {"eval_start", SEGMENT_EVALUATE}, {"eval_stop", SEGMENT_TRAIN},
    {"run_stop", SEGMENT_IDLE},
};

// MLPerf allows fractions of epochs: 0.5 counts as epoch 1.
static int read_mlperf_score(const json_t *event, const struct contest *c, struct outside_epoch *e)
{
    const json_t *value = json_object_get(event, "value"), *metadata = json_object_get(event, "metadata");
    const json_t *epoch = json_object_get(metadata, "epoch_num"), *samples = json_object_get(metadata, "samples_count");
    if (!json_is_number(value)) return fail(ERR_INPUT, "the value of eval_accuracy must be a number");
    bool bleu = !strcmp(c->board.unit, "BLEU");  // a share of 1 in MLPerf's logs
    TRY(outside_share("eval_accuracy", json_number_value(value) * (bleu ? 100 : 1), c, &e->k));
    if (json_is_number(epoch)) {
        double n = ceil(json_number_value(epoch));
        if (!(n >= 0 && n <= (double)COUNT_MOST)) return fail(ERR_INPUT, "epoch_num is %g", json_number_value(epoch));
        e->epoch = (int64_t)n;
        e->from_zero = true;
    }
    if (json_is_integer(samples)) {
        e->samples = json_integer_value(samples);
        if (e->samples < 0 || e->samples > COUNT_MOST) return fail(ERR_INPUT, "samples_count is %lld", (long long)e->samples);
    }
    return 0;
}

static int read_mlperf(const json_t *event, const struct contest *c, struct outside_line *out)
{
    const char *key = json_string_value(json_object_get(event, "key"));
    if (key == NULL) return 0;
    if (strcmp(key, "eval_accuracy") == 0) {
        out->kind = OUTSIDE_EPOCH;
        return read_mlperf_score(event, c, &out->epoch);
    }
    for (size_t i = 0; i < sizeof mlperf_segments / sizeof *mlperf_segments; i++) {
        if (strcmp(key, mlperf_segments[i].key) != 0) continue;
        out->kind = OUTSIDE_SEGMENT;
        out->segment = mlperf_segments[i].segment;
    }
    return 0;
}

// ---- one line

static size_t skip_blanks(const char *line, size_t from, size_t count)
{
    while (from < count && (line[from] == ' ' || line[from] == '\t')) from++;
    return from;
}

// True if the line begins with {"dawn", with blanks wherever JSON allows them.
static bool is_dawn_line(const char *line, size_t count)
{
    size_t at = skip_blanks(line, 0, count);
    if (at == count || line[at] != '{') return false;
    at = skip_blanks(line, at + 1, count);
    return count - at >= 6 && memcmp(line + at, "\"dawn\"", 6) == 0;
}

int outside_read(const char *line, size_t count, const struct contest *c, struct outside_line *out)
{
    static const char mark[] = ":::MLLOG";
    *out = (struct outside_line){.epoch = {.epoch = -1, .step = -1, .epoch_micro = -1, .samples = -1, .k = -1, .loss = NAN},
                                 .about = {.parameters = -1, .flops_per_sample = -1, .batch = -1, .views = -1, .input_size = -1}};
    bool own = is_dawn_line(line, count);
    const char *mlperf = own ? NULL : memmem(line, count, mark, sizeof mark - 1);  // launchers put a rank before the mark
    if (!own && mlperf == NULL) return 0;
    const char *from = own ? line : mlperf + sizeof mark - 1;
    json_error_t why;
    json_t *value = json_loadb(from, (size_t)(line + count - from), JSON_REJECT_DUPLICATES, &why);
    int rc = 0;
    if (value != NULL) rc = own ? read_dawn_line(value, c, out) : read_mlperf(value, c, out);
    // A damaged line in DAWN's form is an error. One in MLPerf's form is ignored: most are not meant for this program, and
    // the lines of several processes may be interleaved.
    else if (own) rc = fail(ERR_INPUT, "not valid JSON: %s", why.text);
    json_decref(value);
    if (rc < 0) out->kind = OUTSIDE_NOTHING;
    return rc;
}
