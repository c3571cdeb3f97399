// SPDX-License-Identifier: Apache-2.0
#include "data/image/damage.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/base/arena.h"

struct damage {
    pthread_mutex_t lock;  // damage is rare
    uint8_t *marked;       // a bit a sample
    int64_t samples, limit, count, lowest;
    char first[512];
};

struct damage *damage_new(int64_t samples, int64_t limit)
{
    struct damage *d = zalloc(sizeof *d);
    pthread_mutex_init(&d->lock, NULL);
    d->marked = zalloc((size_t)samples / 8 + 1);
    d->samples = samples;
    d->limit = limit;
    return d;
}

void damage_free(struct damage *d)
{
    if (d == NULL) return;
    pthread_mutex_destroy(&d->lock);
    free(d->marked);
    free(d);
}

int damage_note(struct damage *d, const char *what, int64_t sample, const char *words)
{
    BUG_IF(sample < 0 || sample >= d->samples);
    uint8_t bit = (uint8_t)(1 << sample % 8);
    pthread_mutex_lock(&d->lock);
    bool again = d->marked[sample / 8] & bit;
    if (!again) {
        d->marked[sample / 8] |= bit;
        if (d->count++ == 0 || sample < d->lowest) {
            d->lowest = sample;
            snprintf(d->first, sizeof d->first, "%.200s: %.250s", what, words);
        }
    }
    int64_t count = d->count;
    pthread_mutex_unlock(&d->lock);
    if (again || d->limit < 0 || count <= d->limit) return 0;
    return fail(ERR_INPUT, "%s: %s; with it %lld pictures are damaged, and %lld may be", what, words, (long long)count,
                (long long)d->limit);
}

int64_t damage_count(const struct damage *d)
{
    struct damage *own = (struct damage *)d;
    pthread_mutex_lock(&own->lock);
    int64_t count = d->count;
    pthread_mutex_unlock(&own->lock);
    return count;
}

const char *damage_first(const struct damage *d)
{
    return d->first;
}
