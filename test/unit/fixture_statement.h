// SPDX-License-Identifier: Apache-2.0
// A made-up run as its payload, which passes every check without a flag. Tests change what they are about, and put the
// rest right again with the helpers. Needs the format alone, so that tests of the server can use it too.
#pragma once

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submit/format/chain.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/cost.h"
#include "submit/format/score/curve.h"
#include "submit/format/statement.h"

#define FIXTURE_NOW_MS ((int64_t)1800000000000)  // 15 January 2027: the run's end
#define FIXTURE_HEX "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
enum { FIXTURE_EPOCHS = 10, FIXTURE_EPOCH_SAMPLES = 50000, FIXTURE_REACHED = 9, FIXTURE_PRICE = 680000 };

static inline int64_t fixture_int(const json_t *run, const char *path)
{
    return canonical_int(run, path);
}

// Sets the member at a path such as "model.name" or "latencies.0.k"; null removes it. The reference passes over.
static inline void fixture_set(json_t *run, const char *path, json_t *value)
{
    for (const char *dot; (dot = strchr(path, '.')) != NULL; path = dot + 1) {
        char name[64];
        if (snprintf(name, sizeof name, "%.*s", (int)(dot - path), path) >= (int)sizeof name) abort();
        run = json_is_array(run) ? json_array_get(run, (size_t)atoi(name)) : json_object_get(run, name);
    }
    if ((json_is_null(value) ? json_object_del(run, path) : json_object_set_new(run, path, value)) != 0) abort();
}

// Sets several: "'batch': 999, 'latencies.0.k': 3, 'chain_end': null", which is JSON with ' for its quotation marks.
static inline void fixture_edit(json_t *run, const char *edits)
{
    char text[512], *quote;
    const char *path;
    json_t *value, *all;
    if (snprintf(text, sizeof text, "{%s}", edits) >= (int)sizeof text) abort();
    while ((quote = strchr(text, '\'')) != NULL) *quote = '"';
    if ((all = json_loads(text, 0, NULL)) == NULL) abort();
    json_object_foreach(all, path, value) fixture_set(run, path, json_incref(value));
    json_decref(all);
}

static inline json_t *fixture_item(json_t *run, const char *list, size_t i)
{
    json_t *item = json_array_get(json_object_get(run, list), i);
    if (item == NULL) abort();
    return item;
}

static inline void point_set(json_t *run, size_t i, const char *name, int64_t value)
{
    json_object_set_new(fixture_item(run, "points", i), name, json_integer(value));
}

static inline int64_t point_get(json_t *run, size_t i, const char *name)
{
    return canonical_int(fixture_item(run, "points", i), name);
}

// Computes the root and every hash again, after anything they depend on has changed.
static inline void fixture_chain(json_t *run)
{
    json_t *points = json_object_get(run, "points"), *latency;
    size_t i;
    struct chain chain;
    struct run_metric metrics[RUN_METRICS_MAX];
    int count = curve_metrics(run, metrics);
    char hex[DIGEST_HEX];
    if (chain_bind(&chain, run) < 0) abort();
    chain_hex(&chain, hex);
    fixture_set(run, "chain_root", json_string(hex));
    for (i = 0; i < json_array_size(points); i++) {
        json_t *p = json_array_get(points, i);
        struct chain_point link = {
            .step = curve_step(p), .epoch_micro = curve_epoch_micro(p), .t_ns = canonical_int(p, "t_ns"),
            .classic_ns = canonical_int(p, "classic_ns"), .warm_ns = canonical_int(p, "warm_ns"),
            .warm_with_evaluation_ns = canonical_int(p, "warm_with_evaluation_ns"), .samples = canonical_int(p, "samples"),
            .stall_ns = canonical_int(p, "stall_ns"), .loss_micro = canonical_int(p, "loss"), .metrics = metrics,
            .losses = json_object_get(p, "losses"), .metric_count = count};
        for (int m = 0; m < count; m++) link.score[m] = curve_score(p, &metrics[m]);
        chain_add(&chain, &link);
        chain_hex(&chain, hex);
        json_object_set_new(p, "hash", json_string(hex));
    }
    if (chain_end(&chain, run, hex) < 0) abort();
    fixture_set(run, "chain_end", json_string(hex));
    json_array_foreach(json_object_get(run, "latencies"), i, latency)
    {
        if (chain_latency(canonical_text(run, "chain_root"), latency, hex) < 0) abort();
        json_object_set_new(latency, "hash", json_string(hex));
    }
}

// The score of a metric at a point that was evaluated.
static inline void fixture_score(json_t *run, size_t point, int metric, int64_t score)
{
    json_object_set_new(json_array_get(json_object_get(fixture_item(run, "points", point), "scores"), (size_t)metric), "score",
                        json_integer(score));
}

// Computes the rules' digest and the chain again, after a change of the rules.
static inline void fixture_rules(json_t *run)
{
    char hex[DIGEST_HEX];
    const struct run_metric board = curve_board(run);
    if (contest_digest(canonical_text(run, "task"), &board, canonical_int(run, "target_micro"), hex) < 0) abort();
    fixture_set(run, "task_digest", json_string(hex));
    fixture_chain(run);
}

// reached, status and cost, as they follow from the points; then the chain.
static inline void fixture_follow(json_t *run)
{
    static const char *const figures[] = {"step", "epoch_micro", "t_ns", "classic_ns", "warm_ns",
                                          "warm_with_evaluation_ns", "samples"};
    json_t *points = json_object_get(run, "points"), *price = json_object_get(run, "price"), *reached = NULL;
    const struct run_metric board = curve_board(run);
    int64_t target = canonical_int(run, "target_micro");
    bool met = false;
    for (size_t i = 0; i < json_array_size(points); i++) {
        json_t *p = json_array_get(points, i);
        if (curve_score(p, &board) == RUN_SCORE_NONE) continue;
        met = run_metric_meets(&board, curve_score(p, &board), target);
        if (!met || reached != NULL) continue;
        reached = json_object();
        for (int f = 0; f < 7; f++) json_object_set(reached, figures[f], json_object_get(p, figures[f]));
    }
    json_t *energy = json_incref((json_t *)canonical_at(run, "reached.energy_uj"));
    if (reached != NULL && energy != NULL) json_object_set(reached, "energy_uj", energy);
    json_decref(energy);
    json_object_del(run, "reached");
    json_object_del(price, "total_micro_usd");
    if (reached != NULL) json_object_set_new(run, "reached", reached);
    if (reached != NULL && price != NULL) {
        int64_t total = cost_training_micro(canonical_int(reached, "t_ns"), canonical_int(price, "micro_usd_per_hour"));
        json_object_set_new(price, "total_micro_usd", json_integer(total));
    }
    fixture_set(run, "status", json_string(met ? "done" : "missed"));
    fixture_chain(run);
}

static inline void fixture_segment(json_t *run, const char *name, int64_t *at, int64_t ns)
{
    json_array_append_new(json_object_get(run, "segments"),
                          json_pack("{s:s, s:I, s:I}", "segment", name, "start_ns", (json_int_t)*at, "end_ns",
                                    (json_int_t)(*at + ns)));
    *at += ns;
}

// The text and its digest, without the chain.
static inline void fixture_recipe(json_t *run, const char *text)
{
    char hex[DIGEST_HEX];
    digest_bytes(text, strlen(text), hex);
    fixture_set(run, "recipe.text", json_string(text));
    fixture_set(run, "recipe.digest", json_string(hex));
}

// Epochs of about 10 s, evaluations of about 2 s, a millisecond to write each down, after 2 s of making ready. No two
// epochs are equally long. `scores`: correct items, -1: not evaluated. The recipe has as many epochs.
static inline void fixture_curve(json_t *run, const int64_t *scores, int epochs)
{
    const int64_t batch = canonical_int(run, "batch"), samples = FIXTURE_EPOCH_SAMPLES / batch * batch;
    const struct run_metric board = curve_board(run);
    int64_t at = 0, classic = 2050000000, warm = 0, evaluated = 0;
    json_t *points = json_array();
    char recipe[96];
    snprintf(recipe, sizeof recipe, "{\"data\":{\"batch\":%lld},\"schedule\":{\"epochs\":%d}}", (long long)batch,
             epochs > 0 ? epochs : FIXTURE_EPOCHS);
    fixture_recipe(run, recipe);
    fixture_set(run, "segments", json_array());
    fixture_segment(run, "process", &at, 50000000);
    fixture_segment(run, "data", &at, 2000000000);
    for (int i = 0; i < epochs; i++) {
        int64_t train = 10000000000 + 1234567 * (7 * i % 5), evaluate = scores[i] < 0 ? 0 : 2000000000 + 7654321 * (3 * i % 7);
        fixture_segment(run, "train", &at, train);
        if (evaluate > 0) fixture_segment(run, "evaluate", &at, evaluate);
        classic += train, warm += train, evaluated += evaluate;
        json_t *p = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:i, s:i, s:s}", "step", (json_int_t)(i + 1) * samples / batch,
                              "epoch_micro", (json_int_t)(i + 1) * 1000000, "t_ns", (json_int_t)at, "classic_ns",
                              (json_int_t)classic, "warm_ns", (json_int_t)warm, "warm_with_evaluation_ns",
                              (json_int_t)(warm + evaluated), "samples", (json_int_t)(i + 1) * samples, "stall_ns", i, "loss",
                              2500000 / (i + 1), "hash", FIXTURE_HEX);
        if (scores[i] >= 0)
            json_object_set_new(p, "scores",
                                json_pack("[{s:s, s:I}, {s:s, s:I}]", "metric", board.name, "score", (json_int_t)scores[i],
                                          "metric", "log_loss", "score", (json_int_t)(2000000 / (i + 1))));
        json_array_append_new(points, p);
        fixture_segment(run, "checkpoint", &at, 1000000);
    }
    fixture_set(run, "points", points);
    fixture_follow(run);
}

// A number of 0 to `most` that looks drawn.
static inline int64_t fixture_draw(int64_t number, size_t i, int64_t most)
{
    uint64_t x = (uint64_t)number * 0x9e3779b97f4a7c15u + (uint64_t)(i + 1) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 31) * 0x94d049bb133111ebu;
    return (int64_t)((x ^ x >> 29) % (uint64_t)(most + 1));
}

// Gives every segment another length and lets all clocks follow. Points come at the beginning of a checkpoint.
typedef int64_t fixture_length(const int64_t *context, const char *name, size_t i, int64_t ns);
static inline void fixture_retime(json_t *run, fixture_length *length, const int64_t *context)
{
    json_t *points = json_object_get(run, "points"), *segment;
    int64_t at = 0, classic = 0, warm = 0, evaluated = 0;
    size_t i, reached = 0;
    json_array_foreach(json_object_get(run, "segments"), i, segment)
    {
        const char *name = canonical_text(segment, "segment");
        bool train = strcmp(name, "train") == 0, evaluate = strcmp(name, "evaluate") == 0;
        bool writes = strcmp(name, "checkpoint") == 0;
        if (writes && reached < json_array_size(points)) {
            json_t *p = json_array_get(points, reached++);
            json_object_set_new(p, "t_ns", json_integer(at));
            json_object_set_new(p, "classic_ns", json_integer(classic));
            json_object_set_new(p, "warm_ns", json_integer(warm));
            json_object_set_new(p, "warm_with_evaluation_ns", json_integer(warm + evaluated));
        }
        int64_t ns = canonical_int(segment, "end_ns") - canonical_int(segment, "start_ns");
        ns = length(context, name, i, ns);
        json_object_set_new(segment, "start_ns", json_integer(at));
        json_object_set_new(segment, "end_ns", json_integer(at + ns));
        at += ns;
        classic += evaluate || writes ? 0 : ns;
        warm += train ? ns : 0;
        evaluated += evaluate ? ns : 0;
    }
    fixture_follow(run);
}

// Its first eight epochs take up to 20 ms more and less in turn, so that the later points are `delay` later.
static inline int64_t fixture_delayed(const int64_t *delay, const char *name, size_t i, int64_t ns)
{
    size_t epoch = i / 3;
    if (strcmp(name, "data") == 0) return ns + *delay;
    if (strcmp(name, "train") != 0 || epoch >= 8) return ns;
    int64_t more = fixture_draw(*delay, epoch / 2, 20000000);
    return epoch % 2 == 0 ? ns + more : ns - more;
}

// The run took `ns` longer, in its segment "data": no two runs take equally long, nor do their epochs.
static inline void fixture_delay(json_t *run, int64_t ns)
{
    fixture_retime(run, fixture_delayed, &ns);
}

static inline int64_t fixture_longer(const int64_t *by, const char *name, size_t i, int64_t ns)
{
    (void)i;
    return strcmp(name, "train") == 0 ? ns + *by : ns;
}

// Each epoch took `ns` longer.
static inline void fixture_slow(json_t *run, int64_t ns)
{
    fixture_retime(run, fixture_longer, &ns);
}

static inline int64_t fixture_scattered(const int64_t *draw, const char *name, size_t i, int64_t ns)
{
    return strcmp(name, "train") == 0 ? ns + draw[1] + fixture_draw(draw[0], i, 30000000) : ns;
}

// Another run of the same work: each epoch took `ns` longer, and up to 30 ms more, as honest times scatter.
static inline void fixture_again(json_t *run, int64_t ns, int64_t draw)
{
    fixture_retime(run, fixture_scattered, (const int64_t[]){draw, ns});
}

// Another run of the same recipe: its own losses and its own pace.
static inline void fixture_vary(json_t *run, int number)
{
    json_t *p;
    size_t i;
    json_array_foreach(json_object_get(run, "points"), i, p)
    {
        int64_t loss = canonical_int(p, "loss");
        json_object_set_new(p, "loss", json_integer(loss + fixture_draw(-number, i, loss / 100)));
    }
    fixture_again(run, (int64_t)number * 1000000, number);
}

static inline json_t *fixture_data(const char *split, const char *digest, int items)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i}", "name", "cifar10", "split", split, "digest", digest, "items", items,
                     "official", 1, "synthetic", 0);
}

static inline json_t *fixture_hardware(void)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:I, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:s}", "cpu", "Test CPU", "cpu_flags",
                     "sse4_2 avx avx2 fma avx512f avx512_bf16", "sockets", 1, "cores_online", 16, "cores_usable", 16,
                     "memory_bytes", (json_int_t)1 << 35, "product", "", "governor", "", "virtualised", "", "gpu", "", "devices",
                     1, "driver", "", "os", "Debian", "kernel", "Linux 6");
}

static inline json_t *fixture_price(int64_t total)
{
    json_t *price = json_pack("{s:i, s:s, s:s, s:s}", "micro_usd_per_hour", FIXTURE_PRICE, "source", "a list", "date",
                              "2026-11-21", "instance", "c5.4xlarge");
    if (total > 0) json_object_set_new(price, "total_micro_usd", json_integer(total));
    return price;
}

static inline json_t *fixture_latency(void)
{
    static const char *const names[] = {"model_mean_ns", "model_p50_ns", "model_p90_ns", "model_p99_ns",
                                        "whole_mean_ns", "whole_p50_ns", "whole_p90_ns", "whole_p99_ns"};
    static const int ns[] = {1000000, 950000, 1200000, 2000000, 1100000, 1050000, 1300000, 2100000};
    json_t *latency = json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:i, s:o, s:o, s:I}", "weights_digest", FIXTURE_HEX, "precision",
        "bf16", "device", "cpu", "threads", 2, "items", 10000, "warmup_items", 100, "k", 9450, "views", 1, "eligible", 1,
        "data_digest", contest_find("cifar10")->test_digest, "synthetic", 0, "hardware", fixture_hardware(), "price",
        fixture_price(cost_inference_micro(ns[4], 10000, FIXTURE_PRICE)), "measured_ms", (json_int_t)FIXTURE_NOW_MS);
    for (int i = 0; i < 8; i++) json_object_set_new(latency, names[i], json_integer(ns[i]));
    return latency;
}

static inline void fixture_words(json_t *run)
{
    fixture_edit(run, "'type': 'run', 'version': 1, 'board': 'test', 'handle': 'ada', 'team': 'Analytical Engines', 'division': "
                      "'closed', 'evaluated_by': 'harness', 'task': 'cifar10', 'nonce': '0123456789abcdef0123456789abcdef'");
    fixture_edit(run, "'precision': 'bf16', 'device': 'cpu', 'target_micro': 940000, 'seed': 7, 'threads': 16, 'batch': 1000, "
                      "'resumed': 0, 'views': 6, 'input_size': 32, 'stop_at_target': 0, 'synthetic': 0, 'official': 1");
    fixture_set(run, "started_ms", json_integer(FIXTURE_NOW_MS - 130000));
    fixture_set(run, "ended_ms", json_integer(FIXTURE_NOW_MS));
}

static inline json_t *fixture_run(void)
{
    static const int64_t scores[FIXTURE_EPOCHS] = {6000, 7500, 8200, 8700, 9000, 9200, 9330, 9390, 9410, 9450};
    const struct contest *c = contest_find("cifar10");
    json_t *run = json_object();
    fixture_words(run);
    fixture_set(run, "model",
                json_pack("{s:s, s:i, s:i, s:s}", "name", "airbench", "parameters", 1971640, "flops_per_sample", 211085918,
                          "weights_digest", FIXTURE_HEX));
    fixture_set(run, "recipe",
                json_pack("{s:s, s:s, s:s, s:i}", "name", "cifar10", "text", "", "digest", "", "published", 1));
    fixture_set(run, "metrics",
                json_pack("[{s:s, s:s, s:i, s:i}, {s:s, s:s, s:i, s:i}]", "name", "top1", "unit", "%", "lower_is_better", 0,
                          "items", 10000, "name", "log_loss", "unit", "", "lower_is_better", 1, "items", 0));
    fixture_set(run, "data",
                json_pack("[o, o]", fixture_data("train", c->train_digest, 50000), fixture_data("test", c->test_digest, 10000)));
    fixture_set(run, "group",
                json_pack("{s:s, s:i, s:i, s:I}", "nonce", "fedcba9876543210fedcba9876543210", "index", 2, "planned", 5,
                          "announced_ms", (json_int_t)(FIXTURE_NOW_MS - 300000)));
    fixture_set(run, "price", fixture_price(0));
    fixture_set(run, "hardware", fixture_hardware());
    fixture_set(run, "software",
                json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s}", "framework", "DAWN 0.1.0", "commit", "0123456789abcdef", "dirty",
                          0, "compiler", "gcc 12", "flags", "-O2", "binary_digest", FIXTURE_HEX, "libraries", "oneDNN 2.6.3"));
    fixture_set(run, "latencies", json_pack("[o]", fixture_latency()));
    fixture_set(run, "tags", json_pack("[s, s]", "cpu", "fast"));
    fixture_curve(run, scores, FIXTURE_EPOCHS);
    fixture_rules(run);
    return run;
}
