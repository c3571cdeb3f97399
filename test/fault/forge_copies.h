// SPDX-License-Identifier: Apache-2.0
// The part of a forger's list (forge.c) that hides where a run comes from: each mutation leaves its intervals recognisable.
#pragma once

#include "test/fault/forge_runs.h"

static void reverse_list(json_t *object, const char *name)
{
    json_t *list = json_object_get(object, name), *reversed = json_array();
    for (size_t i = json_array_size(list); i-- > 0;) json_array_append(reversed, json_array_get(list, i));
    json_object_set_new(object, name, reversed);
}

static int64_t scaled_length(const int64_t *millionths, const char *name, size_t i, int64_t ns)
{
    (void)name, (void)i;
    return ns + ns * *millionths / 1000000;
}

// ---- another digest of the same curve

static void reversed_data(json_t *run) { reverse_list(run, "data"); }
static void reversed_scores(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) reverse_list(fixture_item(run, "points", i), "scores");
}
static void one_metric_less(json_t *run)
{
    json_array_remove(json_object_get(run, "metrics"), 1);
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) json_array_remove(json_object_get(fixture_item(run, "points", i), "scores"), 1);
}
static void one_metric_more(json_t *run)
{
    json_array_append_new(json_object_get(run, "metrics"), json_pack("{s:s, s:s, s:i, s:i}", "name", "top5", "unit", "%",
                                                                     "lower_is_better", 0, "items", 10000));
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++)
        json_array_append_new(json_object_get(fixture_item(run, "points", i), "scores"),
                              json_pack("{s:s, s:i}", "metric", "top5", "score", 9900));
}
static void one_point_less(json_t *run) { json_array_remove(json_object_get(run, "points"), 4); }
static void half_of_the_points(json_t *run)
{
    for (size_t i = 9; i-- > 0;)
        if (i % 2 == 0) json_array_remove(json_object_get(run, "points"), i);
}
static void third_of_the_points(json_t *run)
{
    for (size_t i = 9; i-- > 0;)
        if (i % 3 != 0) json_array_remove(json_object_get(run, "points"), i);
}
static void one_loss_more(json_t *run) { point_set(run, 3, "loss", point_get(run, 3, "loss") + 1); }
static void one_score_more(json_t *run) { fixture_score(run, 5, 0, 9201); }
static void one_epoch_more(json_t *run) { point_set(run, 3, "epoch_micro", point_get(run, 3, "epoch_micro") + 1); }
static void one_step_less(json_t *run)
{
    for (size_t i = 0; i < json_array_size(json_object_get(run, "points")); i++) {
        point_set(run, i, "step", point_get(run, i, "step") - 1);
        point_set(run, i, "samples", point_get(run, i, "samples") - 1000);
        point_set(run, i, "epoch_micro", point_get(run, i, "epoch_micro") - 20000);
    }
}
static void another_seed(json_t *run) { fixture_set(run, "seed", json_integer(123456)); }
static void another_binary(json_t *run) { fixture_set(run, "software.binary_digest", json_string(OTHER_HEX)); }
static void another_recipe_text(json_t *run)
{
    fixture_set(run, "division", json_string("open"));
    fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10}} ");
}
static void one_percent_slower_and_less_loss(json_t *run)
{
    fixture_retime(run, scaled_length, (const int64_t[]){10000});
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "loss", point_get(run, i, "loss") * 99 / 100);
}
static void slower_without_half_of_its_points(json_t *run)
{
    one_percent_slower_and_less_loss(run);
    half_of_the_points(run);
    another_seed(run);
}

// ---- the intervals of a run in another order. A part of a run is its training, evaluation and checkpoint.

enum { PARTS_FROM = 2, PART = 3 };
struct moved {
    int64_t length[PARTS_FROM + PART * FIXTURE_EPOCHS];
    int order[FIXTURE_EPOCHS];
};
static int64_t moved_length(const int64_t *context, const char *name, size_t i, int64_t ns)
{
    const struct moved *m = (const struct moved *)context;
    (void)name;
    int within = (int)((i - PARTS_FROM) % PART);
    return i < PARTS_FROM ? ns : m->length[PARTS_FROM + PART * m->order[(i - PARTS_FROM) / PART] + within];
}
static void reorder(json_t *run, const int order[FIXTURE_EPOCHS])
{
    struct moved m;
    for (size_t i = 0; i < PARTS_FROM + PART * FIXTURE_EPOCHS; i++) {
        const json_t *segment = fixture_item(run, "segments", i);
        m.length[i] = canonical_int(segment, "end_ns") - canonical_int(segment, "start_ns");
    }
    memcpy(m.order, order, sizeof m.order);
    fixture_retime(run, moved_length, (const int64_t *)&m);
}
static void rotated(json_t *run) { reorder(run, (const int[]){3, 4, 5, 6, 7, 8, 9, 0, 1, 2}); }
static void permuted(json_t *run) { reorder(run, (const int[]){7, 2, 9, 0, 5, 3, 8, 1, 6, 4}); }
static void reversed_intervals(json_t *run) { reorder(run, (const int[]){9, 8, 7, 6, 5, 4, 3, 2, 1, 0}); }
