// SPDX-License-Identifier: Apache-2.0
// Checks that a record is unchanged. Cost: one SHA-256 per point and latency, one of the recipe.
#include <string.h>

#include "submit/format/canonical.h"
#include "submit/format/chain.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"
#include "submit/results/record.h"
#include "submit/results/stated.h"

// A foreign file may hold any text. A text can be hashed only if it is short and has no control characters.
static int check_hashable(const char *text)
{
    size_t length = strlen(text);
    if (length <= 256 && canonical_check_text(text, length) == 0) return 0;
    return fail(ERR_INPUT, "a digest or a name in it is not text that DAWN writes");
}

static int check_texts(const json_t *run, const struct run_metric *metrics, int count)
{
    const json_t *data = json_object_get(run, "data_sets"), *files = json_object_get(run, "files");
    const char *const names[] = {"task", "nonce", "task_digest", "recipe_digest"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) TRY(check_hashable(record_text(run, names[i])));
    TRY(check_hashable(record_text(json_object_get(run, "software_facts"), "binary_digest")));
    for (size_t i = 0; i < json_array_size(data); i++) TRY(check_hashable(record_text(json_array_get(data, i), "digest")));
    for (size_t i = 0; i < json_array_size(files); i++) TRY(check_hashable(record_text(json_array_get(files, i), "digest")));
    for (int m = 0; m < count; m++) {
        TRY(check_hashable(metrics[m].name));
        TRY(check_hashable(metrics[m].unit));
    }
    return 0;
}

static int check_digests(const json_t *run, const struct run_metric *board)
{
    char hex[DIGEST_HEX];
    const char *recipe = record_text(run, "recipe_json");
    digest_bytes(recipe, strlen(recipe), hex);
    if (strcmp(hex, record_text(run, "recipe_digest")) != 0) return fail(ERR_INPUT, "the recipe does not match its digest");
    TRY(contest_digest(record_text(run, "task"), board, record_int(run, "target_micro"), hex));
    if (strcmp(hex, record_text(run, "task_digest")) != 0)
        return fail(ERR_INPUT, "the task's digest does not follow from its metric, items, target and scored set");
    return 0;
}

static int check_root(const json_t *run, const json_t *stated, struct chain *chain)
{
    char hex[DIGEST_HEX];
    TRY(chain_bind(chain, stated));
    chain_hex(chain, hex);
    if (strcmp(hex, record_text(run, "chain_root")) == 0) return 0;
    return fail(ERR_INPUT, "the root is %.12s..., but the run's facts give %.12s...", record_text(run, "chain_root"), hex);
}

static int check_point(const json_t *p, size_t i, struct chain *chain, const struct run_metric *metrics, int count)
{
    struct chain_point link = {.step = record_int(p, "step"), .epoch_micro = record_int(p, "epoch_micro"),
                               .t_ns = record_int(p, "t_ns"), .classic_ns = record_int(p, "classic_ns"),
                               .warm_ns = record_int(p, "warm_ns"),
                               .warm_with_evaluation_ns = record_int(p, "warm_with_evaluation_ns"),
                               .samples = record_int(p, "samples"), .stall_ns = record_int(p, "stall_ns"),
                               .loss_micro = record_int(p, "loss_micro"), .losses = json_object_get(p, "losses"),
                               .metrics = metrics, .metric_count = count};
    for (size_t n = 0; n < json_array_size(link.losses); n++)
        TRY(check_hashable(record_text(json_array_get(link.losses, n), "name")));
    for (int m = 0; m < count; m++) link.score[m] = curve_score(p, &metrics[m]);
    char hex[DIGEST_HEX], moment[CURVE_MOMENT];
    chain_add(chain, &link);
    chain_hex(chain, hex);
    if (strcmp(hex, record_text(p, "hash")) == 0) return 0;
    return fail(ERR_INPUT, "point %zu, %s: its hash is %.12s..., but its figures give %.12s...", i, curve_moment(p, moment),
                record_text(p, "hash"), hex);
}

// The columns of the first crossing are a copy of a point.
static int check_crossing(const json_t *run, const json_t *first)
{
    static const char *const pairs[][2] = {{"reached_step", "step"}, {"reached_epoch_micro", "epoch_micro"},
        {"reached_ns", "t_ns"}, {"reached_classic_ns", "classic_ns"}, {"reached_warm_ns", "warm_ns"},
        {"reached_warm_with_evaluation_ns", "warm_with_evaluation_ns"}, {"reached_samples", "samples"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool same = first == NULL ? !record_has(run, pairs[i][0])
                                  : record_int(run, pairs[i][0]) == record_int(first, pairs[i][1]);
        if (!same) return fail(ERR_INPUT, "%s does not follow from the points", pairs[i][0]);
    }
    return 0;
}

// A run whose process ended unexpectedly may lack the hash of its end. No board lists such a run.
static int check_end(const json_t *run, const json_t *stated, const struct chain *chain)
{
    char hex[DIGEST_HEX];
    const char *status = record_text(run, "status");
    bool ended = curve_ended(run);
    if (!record_has(run, "chain_end"))
        return ended ? fail(ERR_INPUT, "it is %s, but the hash of its end is missing", status) : 0;
    TRY(chain_end(chain, stated, hex));
    if (strcmp(hex, record_text(run, "chain_end")) == 0) return 0;
    return fail(ERR_INPUT, "the hash of its end is %.12s..., but its segments, dates and status give %.12s...",
                record_text(run, "chain_end"), hex);
}

static int check_latencies(const json_t *run, const json_t *stated)
{
    const json_t *list = json_object_get(stated, "latencies");
    for (size_t i = 0; i < json_array_size(list); i++) {
        char hex[DIGEST_HEX];
        TRY(chain_latency(record_text(run, "chain_root"), json_array_get(list, i), hex));
        if (strcmp(hex, canonical_text(json_array_get(list, i), "hash")) != 0)
            return fail(ERR_INPUT, "latency %zu: its hash does not match its figures", i);
    }
    return 0;
}

static int check_all(const json_t *run, const json_t *stated)
{
    struct run_metric metrics[RUN_METRICS_MAX];
    int count = curve_metrics(run, metrics);
    const json_t *points = json_object_get(run, "points"), *first = NULL;
    struct chain chain;
    TRY(check_texts(run, metrics, count));
    TRY(check_digests(run, &metrics[0]));
    TRY(check_root(run, stated, &chain));
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        TRY(check_point(point, i, &chain, metrics, count));
        if (first == NULL && run_metric_meets(&metrics[0], curve_score(point, &metrics[0]), record_int(run, "target_micro")))
            first = point;
    }
    TRY(check_crossing(run, first));
    TRY(check_end(run, stated, &chain));
    return check_latencies(run, stated);
}

int record_chain(const json_t *run)
{
    json_t *stated = stated_run(run);
    int rc = check_all(run, stated);
    json_decref(stated);
    return rc;
}
