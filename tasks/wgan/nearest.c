// SPDX-License-Identifier: Apache-2.0
#include "tasks/wgan/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/isa.h"
#include "runtime/common/base/threads.h"
#include "tasks/wgan/nearest_inside.h"

enum { CHUNK = 128 };  // pictures that stay in the L2 cache while all samples of a thread pass

struct searching {
    const struct nearest_loops *loops;
    const struct nearest_pictures *of, *among;
    int64_t bytes;
    int16_t *rows;     // of the samples, and zeros after them
    int32_t *distance;
};

static const struct nearest_loops *loops(void)
{
    static const struct nearest_loops *const tables[ISA_SETS] = {
        &nearest_loops_base,
#ifndef ISA_ONLY_BASE
        &nearest_loops_avx2, &nearest_loops_avx512,
#endif
    };
    return tables[isa_choose()];
}

static int32_t square_of(const uint8_t *picture, int64_t bytes)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < bytes; i++) sum += picture[i] * picture[i];
    return sum;
}

static void search_block(const struct searching *s, int64_t first, const uint8_t *picture, int32_t square)
{
    int32_t dot[NEAREST_ROWS];
    s->loops->dots(picture, s->rows + first * s->bytes, s->bytes, dot);
    for (int64_t r = 0; r < NEAREST_ROWS && first + r < s->of->count; r++) {
        const int32_t apart = square - 2 * dot[r];  // without the sample's own square, which all have
        if (apart < s->distance[first + r]) s->distance[first + r] = apart;
    }
}

static void search_range(void *context, int64_t begin, int64_t end, int thread)
{
    const struct searching *s = context;
    (void)thread;
    for (int64_t i = begin * NEAREST_ROWS; i < end * NEAREST_ROWS && i < s->of->count; i++) s->distance[i] = INT32_MAX;
    for (int64_t at = 0; at < s->among->count; at += CHUNK) {
        int32_t square[CHUNK];
        const int64_t count = s->among->count - at < CHUNK ? s->among->count - at : CHUNK;
        for (int64_t i = 0; i < count; i++) square[i] = square_of(s->among->at + (at + i) * s->bytes, s->bytes);
        for (int64_t block = begin; block < end; block++)
            for (int64_t i = 0; i < count; i++)
                search_block(s, block * NEAREST_ROWS, s->among->at + (at + i) * s->bytes, square[i]);
    }
    for (int64_t i = begin * NEAREST_ROWS; i < end * NEAREST_ROWS && i < s->of->count && s->among->count > 0; i++)
        s->distance[i] += square_of(s->of->at + i * s->bytes, s->bytes);
}

int nearest_distances(const struct nearest_pictures *of, const struct nearest_pictures *among, int64_t bytes, int32_t *distance)
{
    const int64_t blocks = (of->count + NEAREST_ROWS - 1) / NEAREST_ROWS;
    BUG_IF(bytes > 16000);
    struct searching s = {.loops = loops(), .of = of, .among = among, .bytes = bytes, .distance = distance};
    s.rows = calloc((size_t)(blocks * NEAREST_ROWS * bytes) + 1, sizeof *s.rows);
    if (s.rows == NULL) return fail(ERR_MEMORY, "not enough memory to compare %lld pictures", (long long)of->count);
    for (int64_t i = 0; i < of->count * bytes; i++) s.rows[i] = of->at[i];
    threads_for(blocks, 1, search_range, &s);
    free(s.rows);
    return 0;
}
