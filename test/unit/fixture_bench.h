// SPDX-License-Identifier: Apache-2.0
// A made-up measurement as its payload, which passes every check without a flag. It comes after fixture_statement.h.
#pragma once

#include "test/unit/fixture_statement.h"

static inline json_t *fixture_setting(int64_t batch, int64_t step_ns)
{
    return json_pack("{s:s, s:i, s:I, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:I, s:i, s:I, s:I}", "precision", "bf16",
                     "fusion", 1, "batch", (json_int_t)batch, "size", "32 x 32", "recipe_digest", FIXTURE_HEX, "ignored", 20,
                     "timed", 100, "whole", 1, "repeats", 7, "accepted", 7, "step_ns", (json_int_t)step_ns, "step_low_ns",
                     (json_int_t)step_ns - 1000, "step_high_ns", (json_int_t)step_ns + 1000, "others_micro", 20000, "flops",
                     (json_int_t)batch * 633257754, "memory_bytes", (json_int_t)batch * 1000000);
}

// Each number has a date of its own.
static inline json_t *fixture_bench(const char *handle, int number)
{
    json_t *bench = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:s, s:i, s:I}", "type", "bench", "version",
                              1, "board", "test", "handle", handle, "task", "cifar10", "samples", "images", "data", "cifar10",
                              "noise", 0, "model", "airbench", "recipe", "cifar10", "device", "cpu", "threads", 16, "measured_ms",
                              (json_int_t)(FIXTURE_NOW_MS - 1000 * number));
    json_object_set_new(bench, "settings",
                        json_pack("[o, o]", fixture_setting(64, 60000000), fixture_setting(512, 400000000)));
    json_object_set_new(bench, "hardware", fixture_hardware());
    json_object_set_new(bench, "software",
                        json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s}", "framework", "DAWN", "commit", "0123456789abcdef",
                                  "dirty", 0, "compiler", "gcc 12", "flags", "-O2", "binary_digest", FIXTURE_HEX, "libraries",
                                  "none"));
    return bench;
}

static inline json_t *fixture_scaled(int64_t processes, int64_t step_ns)
{
    return json_pack("{s:s, s:s, s:I, s:i, s:i, s:I, s:i}", "precision", "bf16", "size", "32 x 32", "processes",
                     (json_int_t)processes, "machines", 1, "batch", 64, "step_ns", (json_int_t)step_ns, "gradient_bytes",
                     7886560);
}

// The same over 1, 2 and 4 processes: speedups of 1.6 and 2.5.
static inline json_t *fixture_scaling(const char *handle, int number)
{
    json_t *bench = fixture_bench(handle, number);
    json_object_set_new(bench, "settings", json_array());
    json_object_set_new(bench, "scaling", json_pack("[o, o, o]", fixture_scaled(1, 40000000), fixture_scaled(2, 50000000),
                                                    fixture_scaled(4, 64000000)));
    return bench;
}

static inline void fixture_set_setting(json_t *bench, size_t i, const char *name, json_t *value)
{
    json_object_set_new(fixture_item(bench, "settings", i), name, value);
}
