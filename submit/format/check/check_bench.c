// SPDX-License-Identifier: Apache-2.0
// Checks of measurements: figures that exclude each other, and arithmetic that the stated hardware cannot do. Nobody but its
// author saw a measurement, so these checks find impossible figures, not invented ones.
#include <string.h>

#include "submit/format/check/check_inside.h"

static bool check_setting(const json_t *bench, const json_t *one, size_t i, struct findings *out)
{
    int64_t step = canonical_int(one, "step_ns"), low = canonical_int(one, "step_low_ns");
    int64_t high = canonical_int(one, "step_high_ns"), cores = canonical_int(bench, "hardware.cores_online");
    int64_t accepted = canonical_int(one, "accepted"), repeats = canonical_int(one, "repeats");
    double others = (double)canonical_int(one, "others_micro") * 1e-6;
    int64_t memory = canonical_int(one, "memory_bytes"), machine = canonical_int(bench, "hardware.memory_bytes");
    bool processor = strcmp(canonical_text(bench, "device"), "cpu") == 0;
    if (low > step || step > high)
        finding_add(out, CHECK_CONTRADICTION, "setting %zu: a median of %lld ns does not lie between %lld and %lld ns", i,
                    (long long)step, (long long)low, (long long)high);
    else if (accepted > repeats)
        finding_add(out, CHECK_CONTRADICTION, "setting %zu: %lld of %lld repeats were accepted", i, (long long)accepted,
                    (long long)repeats);
    else if (cores > 0 && others > (double)cores + 1)  // ticks are counted, and cores may come and go
        finding_add(out, CHECK_CONTRADICTION, "setting %zu: other programs used %.1f processors of %lld", i, others,
                    (long long)cores);
    else if (processor && machine > 0 && memory > machine)
        finding_add(out, CHECK_CONTRADICTION, "setting %zu: a step takes %lld bytes of a memory of %lld", i, (long long)memory,
                    (long long)machine);
    else return false;
    return true;
}

// A step that claims little arithmetic passes at any speed. So one with less than a tenth of a training step of the smallest
// published form of its model is flagged: smaller images and shorter texts save much of it, but not nine tenths (check_speed.c).
struct pace {
    double flops, least;  // of a step
    double rate, peak;    // operations per second; peak 0: unknown
};
static struct pace pace_of(const json_t *bench, const json_t *one)
{
    json_t *part = json_pack("{s:O, s:O, s:O, s:O}", "precision", json_object_get(one, "precision"), "device",
                             json_object_get(bench, "device"), "threads", json_object_get(bench, "threads"), "hardware",
                             json_object_get(bench, "hardware"));  // check_peak_of reads one object
    double forward = check_model_flops(canonical_text(bench, "task"), canonical_text(bench, "model"));
    struct pace p = {.flops = (double)canonical_int(one, "flops"), .peak = check_peak_of(part),
                     .least = 0.1 * 3 * forward * (double)canonical_int(one, "batch")};
    p.rate = p.flops / ((double)canonical_int(one, "step_ns") * 1e-9);
    json_decref(part);
    return p;
}

static bool check_above_peak(const struct pace *p, size_t i, struct findings *out)
{
    if (p->peak <= 0 || p->rate <= p->peak) return false;
    finding_add(out, CHECK_SPEED, "setting %zu: %.4g TFLOP/s are %.4g%% of the stated hardware's peak", i, p->rate * 1e-12,
                100 * p->rate / p->peak);
    return true;
}

static bool check_near_peak(const struct pace *p, size_t i, struct findings *out)
{
    if (p->rate <= 0.7 * p->peak || p->rate > p->peak) return false;
    finding_add(out, CHECK_SPEED_HIGH, "setting %zu: %.4g TFLOP/s are %.3g%% of the stated hardware's peak", i, p->rate * 1e-12,
                100 * p->rate / p->peak);
    return true;
}

static bool check_known(const struct pace *p, size_t i, struct findings *out)
{
    if (p->peak <= 0) finding_add(out, CHECK_SPEED_UNKNOWN, "the peak arithmetic of the stated hardware is not known");
    else if (p->least == 0)
        finding_add(out, CHECK_SPEED_UNKNOWN, "no published recipe has this model: its arithmetic is the submitter's word");
    else if (p->flops < p->least)
        finding_add(out, CHECK_SPEED_UNKNOWN, "setting %zu: its step takes less than a tenth of its model's arithmetic", i);
    else return false;
    return true;
}

// ---- scaling over processes

// Throughput of a row over the first row's, per process: 1 is ideal.
static double efficiency_of(const json_t *row, const json_t *first)
{
    return (double)canonical_int(first, "step_ns") / (double)canonical_int(row, "step_ns");  // each process has the same batch
}

static bool check_row(const json_t *row, const json_t *before, size_t i, struct findings *out)
{
    static const char *const same[] = {"precision", "size", "batch", "gradient_bytes"};
    int64_t processes = canonical_int(row, "processes"), machines = canonical_int(row, "machines");
    if (machines > processes) {
        finding_add(out, CHECK_CONTRADICTION, "scaling %zu: %lld processes on %lld machines", i, (long long)processes,
                    (long long)machines);
        return true;
    }
    if (before == NULL) return false;
    if (processes <= canonical_int(before, "processes")) {
        finding_add(out, CHECK_CONTRADICTION, "scaling %zu: the numbers of processes do not grow", i);
        return true;
    }
    for (size_t n = 0; n < sizeof same / sizeof *same; n++) {
        if (json_equal(json_object_get(row, same[n]), json_object_get(before, same[n]))) continue;
        finding_add(out, CHECK_CONTRADICTION, "scaling %zu: it has another %s than the row before", i, same[n]);
        return true;
    }
    return false;
}

// A row states no arithmetic, so no peak bounds it. An efficiency far above 1 is doubtful: a larger cache explains a little.
static void check_scaling(const json_t *rows, struct findings *out)
{
    const json_t *first = json_array_get(rows, 0), *before = NULL;
    bool found = false;
    for (size_t i = 0; i < json_array_size(rows) && !found; i++) {
        found = check_row(json_array_get(rows, i), before, i, out);
        before = json_array_get(rows, i);
    }
    for (size_t i = 1; i < json_array_size(rows) && !found; i++) {
        double efficiency = efficiency_of(json_array_get(rows, i), first);
        found = efficiency > 1.25;
        if (found)
            finding_add(out, CHECK_SUPERLINEAR, "scaling %zu: an efficiency of %.4g%%: the first row may have been slowed", i,
                        100 * efficiency);
    }
    if (!found) finding_add(out, CHECK_SPEED_UNKNOWN, "a scaling states no arithmetic: no peak bounds its figures");
}

void check_bench(const json_t *bench, struct findings *out)
{
    const json_t *rows = json_object_get(bench, "scaling");
    typedef bool kind(const struct pace *, size_t, struct findings *);
    static kind *const kinds[] = {check_above_peak, check_near_peak, check_known};
    const json_t *settings = json_object_get(bench, "settings");
    bool found = false;
    if ((json_array_size(settings) > 0) == (rows != NULL))
        finding_add(out, CHECK_CONTRADICTION, "a measurement has settings or a scaling, and not both");
    if (rows != NULL) check_scaling(rows, out);
    for (size_t i = 0; i < json_array_size(settings) && !found; i++)
        found = check_setting(bench, json_array_get(settings, i), i, out);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        found = false;
        for (size_t i = 0; i < json_array_size(settings) && !found; i++) {
            struct pace p = pace_of(bench, json_array_get(settings, i));
            found = kinds[k](&p, i, out);
        }
    }
    check_bench_fields(bench, out);
    check_program(bench, out);
}
