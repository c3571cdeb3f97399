// SPDX-License-Identifier: Apache-2.0
// The curves of a group as one band. Its runs share recipe and data, so points with the same number belong together, up to the
// shortest curve. Cost: the whole statements of at most BAND_RUNS runs.
#include <math.h>
#include <stdio.h>

#include "scoreboard/pages/run/page_run.h"

enum { BAND_RUNS = 24 };
struct curve {
    struct chart_point *scores, *losses;
    int score_count, loss_count;
};

static int read_curve(struct page *page, const struct stored *run, struct curve *into)
{
    char id[24];
    struct shown shown;
    snprintf(id, sizeof id, "%lld", (long long)run->sequence);
    TRY(shown_read(page, id, &shown));
    into->score_count = shown_curve(page, &shown, &into->scores);
    into->loss_count = shown_losses(page, &shown, &into->losses);
    statement_free(&shown.statement);
    return 0;
}

static void join(struct page *page, const struct curve *curves, struct band *band, int count)
{
    band->at = arena_alloc(&page->arena, (size_t)count * sizeof *band->at);
    band->count = count;
    for (int i = 0; i < count; i++) {
        struct chart_point *point = &band->at[i];
        *point = (struct chart_point){.low = INFINITY, .high = -INFINITY};
        for (int r = 0; r < band->runs; r++) {
            const struct chart_point *one = band->is_loss ? &curves[r].losses[i] : &curves[r].scores[i];
            point->x += one->x / band->runs;
            point->y += one->y / band->runs;
            point->low = fmin(point->low, one->y);
            point->high = fmax(point->high, one->y);
        }
        point->what = arena_text(&page->arena, "%.4g; lowest %.4g, highest %.4g, after %s", point->y, point->low, point->high,
                                 page_span_text(page, (int64_t)(point->x * 1e9)));
    }
}

int band_read(struct page *page, const struct stored *runs, int count, struct band *band)
{
    struct curve curves[BAND_RUNS];
    int scores = INT32_MAX, losses = INT32_MAX;
    *band = (struct band){0};
    for (int i = 0; i < count && band->runs < BAND_RUNS; i++) {
        struct curve *curve = &curves[band->runs];
        if (runs[i].withdrawn != 0) continue;
        TRY(read_curve(page, &runs[i], curve));
        band->runs++;
        if (curve->score_count < scores) scores = curve->score_count;
        if (curve->loss_count < losses) losses = curve->loss_count;
    }
    if (band->runs < 2) return 0;
    band->is_loss = scores < 2;
    if ((band->is_loss ? losses : scores) >= 2) join(page, curves, band, band->is_loss ? losses : scores);
    return 0;
}
