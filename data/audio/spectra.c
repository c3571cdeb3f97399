// SPDX-License-Identifier: Apache-2.0
#include "data/audio/spectra.h"

#include <pthread.h>
#include <stdlib.h>

#include "data/audio/spectrum.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/memory.h"

struct spectra {
    struct dataset *data;
    enum split split;
    const struct field *field;
    int32_t *frames;
    float **kept;          // of each sample; NULL: not made, or beyond the limit
    int64_t bytes, limit, all;
    pthread_mutex_t lock;  // for kept and bytes
};

static int64_t bytes_of(int64_t frames)
{
    return frames * SPECTRUM_BINS * (int64_t)sizeof(float);
}

int spectra_new(struct dataset *data, enum split split, int64_t limit, struct spectra **made)
{
    const int64_t count = dataset_facts(data)->count[split];
    struct spectra *s = zalloc(sizeof *s);
    *made = NULL;
    *s = (struct spectra){.data = data, .split = split, .field = dataset_field(data, "spectrum"), .limit = limit};
    BUG_IF(s->field == NULL);
    if (limit == 0) s->limit = (int64_t)(memory_available() / 2);
    pthread_mutex_init(&s->lock, NULL);
    s->frames = malloc((size_t)(count + 1) * sizeof *s->frames);
    s->kept = calloc((size_t)count + 1, sizeof *s->kept);
    int rc = s->frames == NULL || s->kept == NULL
                 ? fail(ERR_MEMORY, "not enough memory for a list of %lld spectra", (long long)count)
                 : dataset_lengths(data, split, "spectrum", s->frames);
    for (int64_t i = 0; i < count && rc == 0; i++) s->all += bytes_of(s->frames[i]);
    if (rc == 0) *made = s;
    else spectra_free(s);
    return rc;
}

void spectra_free(struct spectra *s)
{
    if (s == NULL) return;
    for (int64_t i = 0; s->kept != NULL && i < dataset_facts(s->data)->count[s->split]; i++) free(s->kept[i]);
    pthread_mutex_destroy(&s->lock);
    free(s->kept);
    free(s->frames);
    free(s);
}

int64_t spectra_bytes(const struct spectra *s)
{
    return s->all < s->limit ? s->all : s->limit;
}

// Returns the spectrum that stays in memory: `x`, an equal one of another thread, or NULL if the limit is reached.
static float *keep(struct spectra *s, int64_t index, float *x, int64_t bytes)
{
    pthread_mutex_lock(&s->lock);
    if (x != NULL && s->kept[index] == NULL && s->bytes + bytes <= s->limit) s->kept[index] = x, s->bytes += bytes;
    float *kept = s->kept[index];
    pthread_mutex_unlock(&s->lock);
    return kept;
}

int spectra_take(struct spectra *s, int64_t index, const float **x, int64_t *frames, float **own)
{
    const int64_t bytes = bytes_of(s->frames[index]);
    *frames = s->frames[index], *own = NULL;
    *x = keep(s, index, NULL, 0);
    if (*x != NULL) return 0;
    float *made = malloc((size_t)bytes);
    if (made == NULL) return fail(ERR_MEMORY, "not enough memory for a spectrum of %lld frames", (long long)*frames);
    int rc = dataset_item_of(s->data, s->split, s->field, index, made, (size_t)bytes, frames);
    if (rc < 0) {
        free(made);
        return rc;
    }
    *x = keep(s, index, made, bytes);
    if (*x == made) return 0;
    if (*x == NULL) *x = *own = made;
    else free(made);
    return 0;
}
