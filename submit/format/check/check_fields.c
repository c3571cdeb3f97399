// SPDX-License-Identifier: Apache-2.0
// A table of members that exclude each other, and the checks of all texts. Each rule applies to the run, and some also to each
// latency, which has its own device, threads and hardware, to measurements and to each of their settings. Cost: a walk over the
// statement.
#include <stdio.h>
#include <string.h>

#include "submit/format/check/check_inside.h"
#include "submit/format/score/accelerator.h"

// A run, one of its latencies, a measurement, or a setting of it.
struct part {
    const struct subject *s;  // NULL: a measurement
    const json_t *of;
    const json_t *setting;    // of a measurement; NULL: none
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

static bool one_device(const struct part *p)
{
    return canonical_int(p->of, "hardware.devices") == 1;
}

static bool devices_have_samples(const struct part *p)
{
    return canonical_int(p->of, "hardware.devices") <= canonical_int(p->of, "batch");
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

// A guest may not know its packages: a run that states one may then have two.
static bool threads_fit_processor(const struct part *p)
{
    const int64_t least = *canonical_text(p->of, "hardware.virtualised") != 0 ? 2 : 1;
    int64_t packages = canonical_int(p->of, "hardware.sockets");
    if (packages < 1 || packages > 8) packages = 8;
    if (packages < least) packages = least;
    return canonical_int(p->of, "hardware.cores_online") <= packages * accelerator_threads(canonical_text(p->of, "hardware.cpu"));
}

static bool cores_are_known(const struct part *p)
{
    return canonical_int(p->of, "hardware.cores_online") > 0;
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

// ---- energy
static int64_t energy_of(const struct part *p)
{
    return canonical_int(p->setting != NULL ? p->setting : p->of, "energy_uj");
}

static bool energy_grows(const struct part *p)
{
    return canonical_int(p->of, "reached.energy_uj") <= canonical_int(p->of, "energy_uj");
}

// A schedule takes at least a tenth of three forward passes a sample (check_speed.c).
static bool suffices(const struct part *p, int64_t uj, int64_t samples)
{
    double work = 0.3 * (double)samples * (double)canonical_int(p->of, "model.flops_per_sample");
    return work <= CHECK_FLOP_PER_JOULE * 1e-6 * (double)uj;
}

static bool energy_suffices(const struct part *p)
{
    int64_t energy = canonical_int(p->of, "reached.energy_uj");
    return energy == 0 || suffices(p, energy, canonical_int(p->of, "reached.samples"));
}

// DAWN reads RAPL, which processors of Arm do not have, and the counters of GPUs.
static bool energy_has_a_counter(const struct part *p)
{
    const char *flags = canonical_text(p->of, "hardware.cpu_flags");
    return energy_of(p) == 0 || !is_processor(p->of) || strstr(flags, "asimd") == NULL;
}

static bool whole_energy_suffices(const struct part *p)
{
    const size_t count = p->s->count;
    if (canonical_at(p->of, "energy_uj") == NULL || count == 0) return true;
    return suffices(p, canonical_int(p->of, "energy_uj"), p->s->points[count - 1].samples);
}

#define LEAST_WATTS 0.5  // nothing that trains draws less

// Counters are read every second, so the first second of training is left out.
static bool energy_keeps_it_running(const struct part *p)
{
    int64_t trained_ns = -1000000000;
    for (size_t i = 0; i < p->s->span_count; i++)
        if (p->s->spans[i].train) trained_ns += p->s->spans[i].end_ns - p->s->spans[i].start_ns;
    return canonical_at(p->of, "energy_uj") == NULL ||
           (double)canonical_int(p->of, "energy_uj") * 1e-6 >= LEAST_WATTS * (double)trained_ns * 1e-9;
}

// The energy of a step is a mean and its time a median: half the power and twice the power are allowed.
static double watts_of_step(const struct part *p)
{
    return (double)energy_of(p) * 1e3 / (double)canonical_int(p->setting, "step_ns");
}

static bool step_suffices(const struct part *p)
{
    double joules = (double)energy_of(p) * 1e-6;
    return joules == 0 || (double)canonical_int(p->setting, "flops") <= CHECK_FLOP_PER_JOULE * joules;
}

static bool step_keeps_it_running(const struct part *p)
{
    return energy_of(p) == 0 || 2 * watts_of_step(p) >= LEAST_WATTS;
}

static bool step_can_be_drawn(const struct part *p)
{
    return watts_of_step(p) <= 2 * check_power_of(p->of);
}

// Two seconds more, because a counter is not read at the very moment.
static bool can_be_drawn(const struct part *p, int64_t uj, int64_t ns)
{
    return (double)uj * 1e-6 <= check_power_of(p->of) * ((double)ns * 1e-9 + 2);
}

static int64_t whole_ns(const struct part *p)
{
    return p->s->span_count > 0 ? p->s->spans[p->s->span_count - 1].end_ns : 0;
}

static bool energy_can_be_drawn(const struct part *p)
{
    return can_be_drawn(p, canonical_int(p->of, "energy_uj"), whole_ns(p));
}

static bool parts_can_be_drawn(const struct part *p)
{
    const int64_t until = canonical_int(p->of, "reached.energy_uj"), ns = canonical_int(p->of, "reached.t_ns");
    if (until == 0) return true;
    return can_be_drawn(p, until, ns) && can_be_drawn(p, canonical_int(p->of, "energy_uj") - until, whole_ns(p) - ns);
}

// ---- the rest
static bool program_is_dawn(const struct part *p)
{
    const char *framework = canonical_text(p->of, "software.framework");
    return strncmp(framework, "DAWN", 4) == 0 && strchr(" ", framework[4]) != NULL;
}

static bool device_is_dawns(const struct part *p)
{
    return strcmp(canonical_text(p->of, "device"), "outside") != 0;
}

// Devices that train (runtime/device.c). A bound for any other name is not known.
static bool device_is_known(const struct part *p)
{
    return is_processor(p->of) || strcmp(canonical_text(p->of, "device"), "cuda") == 0;
}

// Another name would stand for the fastest format of the hardware.
static bool precision_is_known(const struct part *p)
{
    const char *precision = canonical_text(p->of, "precision");
    return strcmp(precision, "f32") == 0 || strcmp(precision, "bf16") == 0 || strcmp(precision, "f16") == 0;
}

static bool was_resumed(const struct part *p)
{
    const json_t *segments = json_object_get(p->of, "segments");
    int64_t away = 0;
    for (size_t i = 0; i < json_array_size(segments); i++)
        away += strcmp(canonical_text(json_array_get(segments, i), "segment"), "away") == 0;
    return away <= canonical_int(p->of, "resumed");
}

static bool group_is_whole(const struct part *p)
{
    return json_object_get(p->of, "group") == NULL || canonical_int(p->of, "resumed") == 0;
}

// A price without a name in the table is the submitter's, even if it states another source.
static bool price_has_source(const struct part *p)
{
    const json_t *price = json_object_get(p->of, "price");
    return price == NULL || *canonical_text(price, "instance") != 0 || strcmp(canonical_text(price, "source"), "user") == 0;
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

enum { RUN = 1, LATENCY = 2, BOTH = 3, BENCH = 4, ALL = 7, SETTING = 8 };
static const struct {
    bool (*holds)(const struct part *);
    int parts;     // to which it applies
    bool harness;  // only to runs that the harness evaluated
    const char *sentence;
} rules[] = {
    {one_processor, ALL, false, "a processor is one device"},
    {one_device, LATENCY, false, "one item at a time occupies one device"},
    {devices_have_samples, RUN, true, "more devices are in use than a batch has samples"},
    {threads_exist, ALL, false, "more threads are in use than the machine has hardware threads"},
    {cores_exist, ALL, false, "more hardware threads could be used than the machine has"},
    {threads_fit_processor, ALL, false, "the machine has more hardware threads than processors of this name"},
    {cores_are_known, ALL, true, "DAWN knows the hardware threads of its machine, and none are stated"},
    {gpu_exists, ALL, false, "the device is cuda, but the machine has no GPU"},
    {gpu_is_real, ALL, false, "the GPU is emulated: its times measure nothing"},
    {memory_exists, RUN, false, "the process held more memory than the machine has"},
    {energy_grows, RUN, false, "more energy was used up to the target than in the whole run"},
    {energy_suffices, RUN, true, "more than 20 TFLOP were computed with each joule, which no machine does"},
    {energy_has_a_counter, RUN | SETTING, true, "it states an energy, and this processor has no counter that DAWN reads"},
    {whole_energy_suffices, RUN, true, "more than 20 TFLOP were computed with each joule of the run"},
    {energy_keeps_it_running, RUN, true, "less than half a watt was drawn while it trained"},
    {energy_can_be_drawn, RUN, true, "more energy was used than its processors and GPUs can draw in its time"},
    {parts_can_be_drawn, RUN, true, "more energy was used before or after the target than can be drawn in that time"},
    {step_suffices, SETTING, false, "more than 20 TFLOP are computed with each joule"},
    {step_keeps_it_running, SETTING, false, "less than half a watt is drawn while it trains"},
    {step_can_be_drawn, SETTING, false, "a step uses more energy than its processors and GPUs can draw in its time"},
    {program_is_dawn, RUN, true, "the harness evaluates what DAWN trains, and the program is another"},
    {device_is_dawns, RUN, true, "the harness evaluates what DAWN trains, and the device is an outside program's"},
    {device_is_known, ALL, true, "DAWN computes on cpu, cuda or ref, and the device is another"},
    {precision_is_known, BOTH, true, "DAWN computes in f32, bf16 or f16, and the precision is another"},
    {was_resumed, RUN, true, "it was away more often than the training was resumed"},
    {group_is_whole, RUN, true, "a run of a group cannot be resumed"},
    {price_has_source, BOTH, false, "a price without an instance is the submitter's, and its source is another"},
    {splits_differ, RUN, true, "a data set is listed twice"},
    {is_past, BOTH, false, "it was measured in the future"},
};

static void check_part(struct subject *s, const json_t *of, int latency)
{
    const struct part part = {.s = s, .of = of};
    char what[32] = "the run";
    if (latency >= 0) snprintf(what, sizeof what, "latency %d", latency);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool applies = (rules[i].parts & (latency >= 0 ? LATENCY : RUN)) != 0 && !(rules[i].harness && s->self);
        if (!applies || rules[i].holds(&part)) continue;
        finding_add(s->out, CHECK_CONTRADICTION, "%s: %s", what, rules[i].sentence);
        return;
    }
}

static bool check_measured(const struct part *part, int parts, const char *what, struct findings *out)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if ((rules[i].parts & parts) == 0 || rules[i].holds(part)) continue;
        finding_add(out, CHECK_CONTRADICTION, "%s: %s", what, rules[i].sentence);
        return true;
    }
    return false;
}

void check_bench_fields(const json_t *bench, struct findings *out)
{
    const json_t *settings = json_object_get(bench, "settings");
    bool found = check_measured(&(struct part){.of = bench}, BENCH, "the measurement", out);
    for (size_t i = 0; i < json_array_size(settings) && !found; i++) {
        char what[32];
        snprintf(what, sizeof what, "setting %zu", i);
        found = check_measured(&(struct part){.of = bench, .setting = json_array_get(settings, i)}, SETTING, what, out);
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
