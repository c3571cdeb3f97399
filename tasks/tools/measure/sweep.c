// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/sweep.h"

#include "runtime/common/base/sort.h"
#include "tasks/common/train/memory_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_MOST = 1 << 20, TRIES = 12, CLOSE = 20 };  // a search ends within 1 / CLOSE of the largest batch
static const double NEAR = 0.9;

void sweep_add(struct sweep *s, double batch, double step, double memory)
{
    BUG_IF(s->count == SWEEP_BATCHES);
    s->batch[s->count] = batch, s->step[s->count] = step, s->memory[s->count] = memory;
    s->count++;
}

// The ratio b / (a b + c) reaches NEAR / a at b = NEAR / (1 - NEAR) c / a. The slope of a line that the steps do not follow says
// nothing.
bool sweep_fit(const struct sweep *s, struct sweep_fit *f)
{
    *f = (struct sweep_fit){.points = s->count};
    if (!fit_line(s->batch, s->step, s->count, &f->step)) return false;
    (void)fit_line(s->batch, s->memory, s->count, &f->memory);
    if (!(f->step.slope > 0) || f->step.r2 < FIT_LINE) return true;
    f->lies = true;
    f->limit = 1 / f->step.slope;
    for (int i = 0; i < s->count; i++)  // a limit that was exceeded is none
        if (s->batch[i] / s->step[i] > f->limit) {
            f->limit = 0;
            return true;
        }
    if (f->step.offset > 0) f->near = NEAR / (1 - NEAR) * f->step.offset / f->step.slope;
    return true;
}

int sweep_batches(const char *option, const char *list, int64_t batch[SWEEP_BATCHES], int *count)
{
    *count = 0;
    for (const char *at = list;; at++) {
        char word[24];
        size_t n = strcspn(at, ",");
        if (*count == SWEEP_BATCHES) return fail(ERR_USAGE, "%s takes at most %d numbers", option, SWEEP_BATCHES);
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), at);
        if (n >= sizeof word || text_to_int(word, 1, BATCH_MOST, &batch[*count]) < 0)
            return fail(ERR_USAGE, "%s takes whole numbers from 1 to %d with commas between them; got \"%.40s\"", option,
                        BATCH_MOST, list);
        ++*count;
        at += n;
        if (!*at) break;
    }
    qsort(batch, (size_t)*count, sizeof *batch, sort_i64);
    int kept = 1;
    for (int i = 1; i < *count; i++)
        if (batch[i] != batch[kept - 1]) batch[kept++] = batch[i];
    *count = kept;
    return 0;
}

// ---- the largest batch

// The planned memory of a batch; SIZE_MAX if the batch cannot be planned.
static size_t plan_batch(const struct trial_choice *like, const struct device_facts *facts, int64_t batch)
{
    struct recipe recipe = *like->recipe;
    struct trial_choice choice = *like;
    struct trial trial;
    recipe_set_batch(&recipe, batch);
    choice.recipe = &recipe;
    size_t bytes = trial_open(&trial, &choice, facts) < 0 ? SIZE_MAX : trial.trainer->session->memory_total;
    trial_close(&trial);
    return bytes;
}

// The line is as good as the batches that it goes through: small ones change the memory too little to foretell the largest.
static void search_batch(const struct trial_choice *like, const struct device_facts *facts, struct memory_fit_search *s)
{
    for (int i = 0; i < TRIES && s->high - s->low > 1 + s->low / CLOSE; i++) {
        int64_t batch = memory_fit_probe(s);
        memory_fit_found(s, batch, plan_batch(like, facts, batch));
    }
}

int sweep_find_largest(const struct trial_choice *like, const struct device_facts *facts, const struct sweep *s,
                       const struct sweep_fit *f, struct sweep_largest *into)
{
    *into = (struct sweep_largest){0};
    if (!facts->memory || !(f->memory.slope > 0) || s->count < 1) return 0;
    double predicted = ((double)facts->memory - f->memory.offset) / f->memory.slope;
    int64_t known = (int64_t)s->batch[s->count - 1], most = dataset_facts(like->data)->count[SPLIT_TRAIN];
    if (most > BATCH_MOST) most = BATCH_MOST;
    int64_t batch = predicted < (double)most ? (int64_t)predicted : most;
    struct memory_fit_search search = {
        .low = known, .low_bytes = (size_t)s->memory[s->count - 1], .high = batch, .capacity = facts->memory};
    if (batch > known && search.low_bytes < search.capacity) {  // the known batch ran
        memory_fit_found(&search, batch, plan_batch(like, facts, batch));
        if (search.low != batch) search_batch(like, facts, &search);
    }
    *into = (struct sweep_largest){search.low, search.low_bytes, search.low == most, search.high_bytes == SIZE_MAX};
    return 0;
}

// ---- output

// Two points do not show how well a line fits.
static const char *fit_text(char into[TEXT_FIGURE], const struct sweep_fit *f, const struct fit_line *line)
{
    *into = '\0';
    if (f->points > 2) snprintf(into, TEXT_FIGURE, " (r2 %.4f)", line->r2);
    return into;
}

static char sign_of(const struct fit_line *line)
{
    return line->offset < 0 ? '-' : '+';
}

static void add_lines(const struct sweep_fit *f, struct text *into)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE];
    if (f->step.slope > 0 && !f->lies)
        text_entry(into, "step", "not on a line%s: larger batches or an idle machine help", fit_text(c, f, &f->step));
    else if (f->step.slope > 0)
        text_entry(into, "step", "%s b %c %s at batch b%s", roofline_span(a, f->step.slope), sign_of(&f->step),
                   roofline_span(b, fabs(f->step.offset)), fit_text(c, f, &f->step));
    else
        text_entry(into, "step", "does not grow with the batch: the batches are too small, or the machine is not idle");
    if (f->memory.slope > 0)
        text_entry(into, "memory", "%s b %c %s%s, by plan", text_size(a, f->memory.slope), sign_of(&f->memory),
                   text_size(b, fabs(f->memory.offset)), fit_text(c, f, &f->memory));
}

void sweep_text(const struct sweep_fit *f, const struct sweep_largest *largest, const char *samples,
                const struct device_facts *facts, struct text *into)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE];
    add_lines(f, into);
    if (f->limit > 0 && f->near >= 1)
        text_entry(into, "limit", "%.1f %s/s however large the batch; 90%% of it from batch %.0f on", f->limit, samples,
                   ceil(f->near));
    else if (f->limit > 0)
        text_entry(into, "limit", "%.1f %s/s however large the batch", f->limit, samples);
    else if (f->lies)
        text_entry(into, "limit", "unknown: a batch was faster than the line allows, however large");
    if (!largest->batch) return;
    const char *bound = largest->all_data ? ": the whole data set"
                      : largest->stepless ? ": larger ones have no such step" : ", by plan";
    text_entry(into, "largest", "batch %s, %s of %s free%s", text_count(a, largest->batch), text_size(b, (double)largest->bytes),
               text_size(c, (double)facts->memory), bound);
}
