// SPDX-License-Identifier: Apache-2.0
// A table of members that exclude each other, and the checks of all texts. Each rule applies to the run, and some also to each
// latency, which has its own device, threads and hardware. Cost: a walk over the statement.
#include <stdio.h>
#include <string.h>

#include "submit/format/check/check_inside.h"

// A run or one of its latencies.
struct part {
    const struct subject *s;
    const json_t *of;
};

static bool is_processor(const json_t *of)
{
    const char *device = canonical_text(of, "device");
    return strcmp(device, "cpu") == 0 || strcmp(device, "ref") == 0;
}

static bool one_processor(const struct part *p)
{
    return !is_processor(p->of) || canonical_int(p->of, "hardware.devices") == 1;
}

static bool threads_exist(const struct part *p)
{
    int64_t cores = canonical_int(p->of, "hardware.cores_online");
    return cores == 0 || canonical_int(p->of, "threads") <= cores;
}

static bool cores_exist(const struct part *p)
{
    int64_t cores = canonical_int(p->of, "hardware.cores_online");
    return cores == 0 || canonical_int(p->of, "hardware.cores_usable") <= cores;
}

static bool gpu_exists(const struct part *p)
{
    return strcmp(canonical_text(p->of, "device"), "cuda") != 0 || *canonical_text(p->of, "hardware.gpu") != 0;
}

static bool gpu_is_real(const struct part *p)
{
    return strcasestr(canonical_text(p->of, "hardware.gpu"), "emulated") == NULL;
}

static bool memory_exists(const struct part *p)
{
    int64_t memory = canonical_int(p->of, "hardware.memory_bytes");
    return memory == 0 || !is_processor(p->of) || canonical_int(p->of, "peak_memory_bytes") <= memory;
}

static bool energy_grows(const struct part *p)
{
    return canonical_int(p->of, "reached.energy_uj") <= canonical_int(p->of, "energy_uj");
}

// A schedule takes at least a tenth of three forward passes a sample (check_speed.c). The most sparing GPUs of 2026 do about
// 5 TFLOP with a joule in bf16 or fp8.
static bool energy_suffices(const struct part *p)
{
    const double most = 20e12;  // FLOP a joule
    double work = 0.3 * (double)canonical_int(p->of, "reached.samples") * (double)canonical_int(p->of, "model.flops_per_sample");
    int64_t energy = canonical_int(p->of, "reached.energy_uj");
    return energy == 0 || work <= most * 1e-6 * (double)energy;
}

static bool program_is_dawn(const struct part *p)
{
    const char *framework = canonical_text(p->of, "software.framework");
    return strncmp(framework, "DAWN", 4) == 0 && strchr(" ", framework[4]) != NULL;
}

static bool device_is_dawns(const struct part *p)
{
    return strcmp(canonical_text(p->of, "device"), "outside") != 0;
}

static int splits(const json_t *run, const char *split)
{
    const json_t *list = json_object_get(run, "data");
    int count = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        count += strcmp(canonical_text(json_array_get(list, i), "split"), split) == 0;
    return count;
}

static bool splits_differ(const struct part *p)
{
    return splits(p->of, "train") <= 1 && splits(p->of, "test") <= 1;
}

static bool is_past(const struct part *p)
{
    int64_t ended = canonical_int(p->s->json, "ended_ms"), now = p->s->now_ms > ended ? p->s->now_ms : ended;
    return canonical_int(p->of, "measured_ms") <= now + 600000;
}

static const struct {
    bool (*holds)(const struct part *);
    bool harness;    // only for runs that the harness evaluated
    bool latencies;  // also for latencies
    const char *sentence;
} rules[] = {
    {one_processor, false, true, "a processor is one device"},
    {threads_exist, false, true, "more threads are in use than the machine has hardware threads"},
    {cores_exist, false, true, "more hardware threads could be used than the machine has"},
    {gpu_exists, false, true, "the device is cuda, but the machine has no GPU"},
    {gpu_is_real, false, true, "the GPU is emulated: its times measure nothing"},
    {memory_exists, false, false, "the process held more memory than the machine has"},
    {energy_grows, false, false, "more energy was used up to the target than in the whole run"},
    {energy_suffices, true, false, "more than 20 TFLOP were computed with each joule, which no machine does"},
    {program_is_dawn, true, false, "the harness evaluates what DAWN trains, and the program is another"},
    {device_is_dawns, true, false, "the harness evaluates what DAWN trains, and the device is an outside program's"},
    {splits_differ, true, false, "a data set is listed twice"},
    {is_past, false, true, "it was measured in the future"},
};

static void check_part(struct subject *s, const json_t *of, int latency)
{
    const struct part part = {s, of};
    char what[32] = "the run";
    if (latency >= 0) snprintf(what, sizeof what, "latency %d", latency);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if ((rules[i].harness && s->self) || (latency >= 0 && !rules[i].latencies) || rules[i].holds(&part)) continue;
        finding_add(s->out, CHECK_CONTRADICTION, "%s: %s", what, rules[i].sentence);
        return;
    }
}

void check_fields(struct subject *s)
{
    const json_t *latencies = json_object_get(s->json, "latencies");
    check_part(s, s->json, -1);
    for (size_t i = 0; i < json_array_size(latencies); i++) check_part(s, json_array_get(latencies, i), (int)i);
}

// ---- texts

// Finds the first text that may not be shown. `name` is the name of its member.
static bool find_odd_text(const json_t *value, const char *name, struct findings *out)
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_string(value)) {
        if (canonical_check_marks(json_string_value(value), json_string_length(value)) == 0) return false;
        finding_add(out, CHECK_TEXT, "%.40s: %s", name, error_text());
        return true;
    }
    json_object_foreach((json_t *)value, key, item)
        if (find_odd_text(item, key, out)) return true;
    json_array_foreach((json_t *)value, i, item)
        if (find_odd_text(item, name, out)) return true;
    return false;
}

void check_text(const json_t *statement, struct findings *out)
{
    find_odd_text(statement, "the statement", out);
}
