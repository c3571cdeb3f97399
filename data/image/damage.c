// SPDX-License-Identifier: Apache-2.0
// Cost: one bit per sample, and a lock for each damaged sample.
#include "data/image/damage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

struct damage {
    pthread_mutex_t lock;  // protects all members below
    uint8_t *marked;       // one bit per sample
    int64_t samples, limit;
    struct damage_report report;
};

struct damage *damage_new(int64_t samples, int64_t limit)
{
    struct damage *d = zalloc(sizeof *d);
    pthread_mutex_init(&d->lock, NULL);
    d->marked = zalloc((size_t)samples / 8 + 1);
    d->samples = samples;
    d->limit = limit;
    d->report.first = -1;
    return d;
}

void damage_free(struct damage *d)
{
    if (d == NULL) return;
    pthread_mutex_destroy(&d->lock);
    free(d->marked);
    free(d);
}

// Call it under the lock. False if the sample is marked already.
static bool mark_sample(struct damage *d, int64_t sample, const char *words)
{
    struct damage_report *r = &d->report;
    uint8_t *byte = &d->marked[sample / 8], bit = (uint8_t)(1 << sample % 8);
    bool fresh = !(*byte & bit);
    *byte |= bit;
    r->count += fresh;
    bool lower = fresh && (r->first < 0 || sample < r->first);
    if (lower || (sample == r->first && r->words[0] == '\0')) {
        r->first = sample;
        snprintf(r->words, sizeof r->words, "%s", words);
    }
    return fresh;
}

int damage_note(struct damage *d, struct dataset *data, enum split split, int64_t sample, const char *words)
{
    struct text name = {0};
    BUG_IF(sample < 0 || sample >= d->samples);
    dataset_sample_name(data, split, sample, &name);
    fail(ERR_INPUT, "%s: %s", name.at, words);  // fail() replaces control characters of the name
    text_free(&name);
    pthread_mutex_lock(&d->lock);
    bool fresh = mark_sample(d, sample, error_text());
    int64_t count = d->report.count;
    pthread_mutex_unlock(&d->lock);
    if (!fresh || d->limit < 0 || count <= d->limit) return 0;
    return fail(ERR_INPUT, "%s; damaged pictures so far: %lld, allowed: %lld (data.damaged)", error_text(), (long long)count,
                (long long)d->limit);
}

int damage_check(struct damage *d)
{
    struct damage_report r;
    damage_report(d, &r);
    if (d->limit < 0 || r.count <= d->limit) return 0;
    return fail(ERR_INPUT, "damaged pictures of all processes: %lld, allowed: %lld (data.damaged)", (long long)r.count,
                (long long)d->limit);
}

void damage_restore(struct damage *d, int64_t sample)
{
    if (sample < 0 || sample >= d->samples) return;
    pthread_mutex_lock(&d->lock);
    (void)mark_sample(d, sample, "");
    pthread_mutex_unlock(&d->lock);
}

int64_t damage_next(struct damage *d, int64_t from)
{
    int64_t found = -1;
    pthread_mutex_lock(&d->lock);
    for (int64_t i = from < 0 ? 0 : from; i < d->samples && found < 0; i++) {
        if (d->marked[i / 8] == 0) i |= 7;  // skips eight samples at once
        else if (d->marked[i / 8] >> i % 8 & 1) found = i;
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}

void damage_report(struct damage *d, struct damage_report *report)
{
    pthread_mutex_lock(&d->lock);
    *report = d->report;
    pthread_mutex_unlock(&d->lock);
}
