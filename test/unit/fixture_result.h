// SPDX-License-Identifier: Apache-2.0
// Made-up runs for the tests of the record. Time is made up too, so that every stored figure is known.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submit/results/result.h"

#define SECOND ((int64_t)1000000000)
#define FIXTURE_RECIPE "{\"data\":{\"batch\":2000},\"schedule\":{\"epochs\":10}}"
#define DIGEST_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define DIGEST_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define DIGEST_C "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

static const struct run_data fixture_data[] = {
    {.name = "cifar10", .split = "train", .digest = DIGEST_A, .items = 50000, .official = true},
    {.name = "cifar10", .split = "test", .digest = DIGEST_B, .items = 10000, .official = true},
};
static const struct run_data fixture_synthetic[] = {
    {.name = "synthetic", .split = "train", .digest = DIGEST_A, .items = 5000, .synthetic = true},
    {.name = "synthetic", .split = "test", .digest = DIGEST_B, .items = 10000, .synthetic = true},
};
static const struct machine_facts fixture_machine = {.cpu = "Test CPU, \"fast\"", .cpu_flags = "avx2 avx512f", .sockets = 1,
                                                     .cores_online = 4, .cores_usable = 2, .memory_bytes = (int64_t)16 << 30,
                                                     .os = "Debian", .kernel = "Linux 6"};
static const struct software_facts fixture_software = {.commit = "0123456789abcdef", .compiler = "gcc 12", .flags = "-O2",
                                                       .binary_digest = DIGEST_C, .libraries = "oneDNN 2.6.3"};
static const struct price fixture_price = {.instance = "c5.2xlarge", .micro_per_hour = 340000, .source = "a list",
                                           .date = "2026-11-21"};

static const struct run_metric fixture_metric = {.name = "top1", .unit = "%", .items = 10000};

static inline struct run_facts fixture_facts(int64_t seed, const struct stopwatch *stopwatch)
{
    return (struct run_facts){.task = "cifar10", .metrics = &fixture_metric, .metric_count = 1, .target_micro = 940000,
                              .model = "airbench", .parameters = 1972792, .flops_per_sample = 123456789, .recipe = "default",
                              .recipe_json = FIXTURE_RECIPE, .precision = "bf16", .device = "cpu", .threads = 2,
                              .batch = 2000, .seed = seed, .views = 6, .input_size = 32, .stop_at_target = true,
                              .data = fixture_data, .data_count = 2, .machine = &fixture_machine,
                              .software = &fixture_software, .price = &fixture_price, .stopwatch = stopwatch};
}

// Point `epoch`: ten seconds of training and two of evaluation an epoch, after five of getting ready.
static inline struct run_point fixture_point(int64_t epoch, int64_t k)
{
    int64_t train = 10 * epoch * SECOND, evaluate = 2 * epoch * SECOND, ready = 5 * SECOND;
    return (struct run_point){.step = 25 * epoch,
                              .epoch_micro = 1000000 * epoch,
                              .clocks = {.end_to_end_ns = ready + train + evaluate,
                                         .classic_ns = ready + train,
                                         .warm_ns = train,
                                         .warm_with_evaluation_ns = train + evaluate},
                              .samples = 50000 * epoch,
                              .score = {k < 0 ? RUN_SCORE_NONE : k},
                              .loss = 2.5 / (double)epoch};
}

static inline void fixture_folder(char path[64])
{
    snprintf(path, 64, "/tmp/dawn-test-XXXXXX");
    if (mkdtemp(path) == NULL) abort();
}

static inline void fixture_remove(const char *path)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    if (system(command) != 0) abort();
}

// A whole run with the given evaluations; returns its id.
static inline int64_t fixture_run(struct results *results, const struct run_facts *facts, const int64_t *k, int count)
{
    struct run *run;
    if (result_begin(results, facts, &run) < 0) abort();
    int64_t id = result_id(run);
    for (int i = 0; i < count; i++) {
        struct run_point point = fixture_point(i + 1, k[i]);
        if (result_point(run, &point) < 0) abort();
    }
    const struct run_end end = {.peak_memory_bytes = 1 << 30, .planned_memory_bytes = 1000 << 20, .weights_digest = DIGEST_C,
                                .checkpoint = "runs/1.safetensors", .energy_uj = 123456789};
    if (result_end(run, RUN_DONE, &end, NULL) < 0) abort();
    return id;
}
