// SPDX-License-Identifier: Apache-2.0
// The host's part of a search: which program runs next, and on which samples.
#include "tasks/common/decode/search_keys.h"

#include "tasks/common/step/drive.h"

#include <stdio.h>

enum { SLOT_NAME = 32 };  // bytes of a slot's name

const char *const search_norms[] = {"length", "gnmt", NULL};

struct search search_of_keys(const struct search_keys *k, bool beam)
{
    return (struct search){.beam = beam ? (int)k->beam : 1, .norm = (enum search_norm)k->norm, .alpha = k->alpha,
                           .coverage = k->coverage, .ratio = k->ratio, .extra = (double)k->extra};
}

int64_t search_longest(const struct search *search, int64_t source)
{
    return (int64_t)(search->ratio * (double)source + search->extra + 1e-9) + 1;
}

struct going_samples {  // samples that still search, and those that are done behind them
    int64_t count;
    int32_t sample[SEARCH_SAMPLES];
};

static int find_going(struct drive *d, const struct search *search, struct going_samples *into)
{
    float ended[SEARCH_SAMPLES];
    char name[SLOT_NAME];
    int64_t all = d->batch[FEED_TEST].count, n = 0;
    BUG_IF(all > SEARCH_SAMPLES);
    snprintf(name, sizeof name, "search%d.ended", search->beam);
    TRY(drive_read(d, name, ended, (size_t)all * sizeof *ended));
    for (int done = 0; done < 2; done++) {
        for (int64_t i = 0; i < all; i++)
            if ((ended[i] >= (float)search->beam) == done) into->sample[n++] = (int32_t)i;
        if (!done) into->count = n;
    }
    return 0;
}

static int write_rows(struct drive *d, const struct search *search, const char *what, const int32_t *rows, int64_t count)
{
    char name[SLOT_NAME];
    snprintf(name, sizeof name, "search%d.%s", search->beam, what);
    return drive_write(d, name, rows, (size_t)count * sizeof *rows);
}

static int choose_rows(struct drive *d, const struct search *search, const struct going_samples *go, int64_t fewer)
{
    int32_t hypothesis[SEARCH_SAMPLES * REORDER_MOST], back[SEARCH_SAMPLES];
    int64_t all = d->batch[FEED_TEST].count;
    for (int64_t i = 0; i < all; i++) back[i] = (int32_t)i;
    for (int64_t i = 0; i < fewer; i++) back[go->sample[i]] = (int32_t)(all + i);
    for (int64_t i = 0; i < fewer * search->beam; i++)
        hypothesis[i] = go->sample[i / search->beam] * search->beam + (int32_t)(i % search->beam);
    TRY(write_rows(d, search, "samples", go->sample, fewer));
    TRY(write_rows(d, search, "hypotheses", hypothesis, fewer * search->beam));
    return write_rows(d, search, "back", back, all);
}

// Words until all samples are done or the rest fits a smaller batch, which goes on and gives its answers back.
static int search_words(struct drive *d, const struct search *search, int first)
{
    enum { EVERY = 4 };  // words between two reads, where reading waits for queued work
    int64_t all = d->batch[FEED_TEST].count, fewer = drive_shrunk(all);
    struct going_samples go = {.count = all};
    for (int i = 1; go.count > fewer; i++) {
        TRY(drive_run(d, first + SEARCH_NEXT));
        if (i % EVERY == 0 || !d->session->device->type->queues) TRY(find_going(d, search, &go));
    }
    if (go.count == 0) return 0;
    TRY(choose_rows(d, search, &go, fewer));
    TRY(drive_run(d, first + SEARCH_SHRINK));
    drive_resize(d, fewer);
    TRY(search_words(d, search, first));
    drive_resize(d, all);
    return drive_run(d, first + SEARCH_RETURN);
}

int search_run(struct drive *d, const struct search *search, int first)
{
    TRY(drive_run(d, first + SEARCH_BEGIN));
    return search_words(d, search, first);
}
