// SPDX-License-Identifier: Apache-2.0
// Mutations of a true run that forge.c hands in: functions for those that need arithmetic, and the attacks as a table. EDIT
// leaves the hashes as they are; all others get good ones.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "submit/format/check/check.h"
#include "submit/format/score/price.h"
#include "test/unit/fixture_statement.h"

#define OTHER_HEX "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

// ---- work that was not done

static void latency_set(json_t *run, const char *name, json_t *value)
{
    fixture_set(fixture_item(run, "latencies", 0), name, value);
}

static void keep_samples(json_t *run, int64_t batch, int64_t each)
{
    fixture_set(run, "batch", json_integer(batch));
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) {
        point_set(run, i, "samples", (int64_t)(i + 1) * each);
        point_set(run, i, "step", (int64_t)(i + 1) * each / batch);
    }
}

static void honest(json_t *run) { (void)run; }
static void no_samples(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "samples", 0);
}
static void few_samples(json_t *run) { keep_samples(run, 1000, 1000); }
static void many_samples(json_t *run) { keep_samples(run, 1000, 60000); }
static void steps_without_batch(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "samples", point_get(run, i, "samples") + 1);
}
static void huge_batch(json_t *run) { keep_samples(run, 6250, 6250); }  // an epoch could leave out all of them
// An epoch that leaves out as much as eight buckets of texts would: 14 of 50 thousand images.
static void quarter_of_the_samples(json_t *run) { keep_samples(run, 4600, 13800); }
static void no_training(json_t *run)  // all of its time is the segment "data"
{
    json_t *segment;
    size_t s;
    json_array_foreach(json_object_get(run, "segments"), s, segment)
        if (strcmp(canonical_text(segment, "segment"), "train") == 0)
            json_object_set_new(segment, "segment", json_string("data"));
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) {
        int64_t warm = point_get(run, i, "warm_ns"), both = point_get(run, i, "warm_with_evaluation_ns");
        point_set(run, i, "warm_with_evaluation_ns", both - warm);
        point_set(run, i, "warm_ns", 0);
    }
}
static void no_evaluation(json_t *run)  // all of its time is the segment "checkpoint", which no board counts either
{
    json_t *segment;
    size_t s;
    json_array_foreach(json_object_get(run, "segments"), s, segment)
        if (strcmp(canonical_text(segment, "segment"), "evaluate") == 0)
            json_object_set_new(segment, "segment", json_string("checkpoint"));
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "warm_with_evaluation_ns", point_get(run, i, "warm_ns"));
}
// A share of each epoch's training goes on under another name, which no classic clock counts.
struct renamed {
    const char *name;
    int64_t hundredths, moved;
};
static int64_t under_another_name(const int64_t *context, const char *name, size_t i, int64_t ns)
{
    struct renamed *r = (struct renamed *)context;
    (void)i;
    if (strcmp(name, "train") == 0) {
        r->moved = ns * r->hundredths / 100;
        return ns - r->moved;
    }
    return strcmp(name, r->name) == 0 ? ns + r->moved + (int64_t)i : ns;
}
static void rename_training(json_t *run, const char *name, int64_t hundredths)
{
    fixture_set(run, "price", json_pack("{s:i, s:s, s:s, s:s, s:i}", "micro_usd_per_hour", 1000000, "source", "user", "date",
                                        "2027-01-15", "instance", "", "total_micro_usd", 1));
    fixture_set(run, "device", json_string("cuda"));
    fixture_set(run, "hardware.gpu", json_string("NVIDIA H100"));  // fast enough for the rest
    struct renamed renamed = {name, hundredths, 0};
    fixture_retime(run, under_another_name, (const int64_t *)&renamed);
}
static void training_called_evaluate(json_t *run) { rename_training(run, "evaluate", 95); }
static void training_called_checkpoint(json_t *run) { rename_training(run, "checkpoint", 95); }
static void half_of_it_called_evaluate(json_t *run) { rename_training(run, "evaluate", 50); }
static void tenth_of_it_called_checkpoint(json_t *run) { rename_training(run, "checkpoint", 10); }
static void training_called_many_views(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10},\"evaluation\":{\"views\":1000}}");
    fixture_set(run, "views", json_integer(1000));
    rename_training(run, "evaluate", 90);
}
// The last evaluation takes a quarter of an hour, and its segment ends a nanosecond after the last point.
static int64_t longer_last_evaluation(const int64_t *ns, const char *name, size_t i, int64_t was)
{
    return strcmp(name, "evaluate") == 0 && i + 2 == (size_t)ns[1] ? was + ns[0] : was;
}
static void training_called_evaluate_beyond_the_end(json_t *run)
{
    const int64_t more = 900000000000;
    const size_t last = json_array_size(json_object_get(run, "segments"));
    fixture_set(run, "started_ms", json_integer(canonical_int(run, "started_ms") - more / 1000000));
    fixture_retime(run, longer_last_evaluation, (const int64_t[]){more, (int64_t)last});
    static const char *const clocks[] = {"t_ns", "warm_with_evaluation_ns"};
    for (int i = 0; i < 2; i++) point_set(run, FIXTURE_EPOCHS - 1, clocks[i], point_get(run, FIXTURE_EPOCHS - 1, clocks[i]) - 1);
}
static void honest_names(json_t *run) { rename_training(run, "evaluate", 0); }
static int64_t short_evaluation(const int64_t *ns, const char *name, size_t i, int64_t was)
{
    return strcmp(name, "evaluate") == 0 ? *ns + (int64_t)i : was;
}
static void evaluation_of_a_millisecond(json_t *run) { fixture_retime(run, short_evaluation, (const int64_t[]){1000000}); }
// Accurate words, round times, the figures of a run that never took place.
static void all_made_up(json_t *run) { fixture_slow(run, -5000000000); }

// ---- dates and prices

static void no_time_passed(json_t *run) { fixture_set(run, "started_ms", json_integer(FIXTURE_NOW_MS)); }
static void a_day_passed(json_t *run) { fixture_set(run, "started_ms", json_integer(FIXTURE_NOW_MS - (int64_t)86400000)); }
static void group_announced_in_1970(json_t *run)
{
    fixture_set(run, "group", json_pack("{s:s, s:i, s:i, s:i}", "nonce", canonical_text(run, "nonce"), "index", 1, "planned", 5,
                                        "announced_ms", 1));
}
static void latency_of_tomorrow(json_t *run) { latency_set(run, "measured_ms", json_integer(FIXTURE_NOW_MS + 86400000)); }

static void as_instance(json_t *run, const char *instance)
{
    struct price price;
    if (price_find(instance, &price) < 0) abort();
    fixture_set(run, "price.instance", json_string(instance));
    fixture_set(run, "price.micro_usd_per_hour", json_integer(price.micro_per_hour));
}
static void a_p3(json_t *run)
{
    as_instance(run, "p3.2xlarge");
    fixture_edit(run, "'threads': 8, 'hardware.cores_online': 8, 'hardware.cores_usable': 8");
    fixture_set(run, "hardware.memory_bytes", json_integer((int64_t)61 << 30));
}
static void a_c6i(json_t *run) { as_instance(run, "c6i.large"); }
static void a_c7a(json_t *run) { as_instance(run, "c7a.4xlarge"); }
static void training_set_twice(json_t *run)
{
    json_array_append_new(json_object_get(run, "data"), json_deep_copy(fixture_item(run, "data", 0)));
}
static void piled_note(json_t *run)
{
    struct text note = {0};
    text_add(&note, "a");
    for (int i = 0; i < 80; i++) text_add(&note, "\xcc\x81");
    fixture_set(run, "note", json_string(note.at));
    text_free(&note);
}
static void edit_recipe_text(json_t *run)
{
    fixture_set(run, "recipe.text", json_string("{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10}} "));
}

// ---- the attacks

enum outcome { REFUSED, FLAGGED, PASSED };
struct attack {
    const char *name;
    enum outcome outcome;
    enum check check;
    void (*forge)(json_t *run);  // these three in turn, each may be NULL
    const char *edits, *recipe;
    bool edited;                 // the hashes stay as they were
};
#define ATTACK(outcome, check, forge) {#forge, outcome, CHECK_##check, forge, NULL, NULL, false}
#define BOTH(outcome, check, name, forge, edits) {#name, outcome, CHECK_##check, forge, edits, NULL, false}
#define EDITS(outcome, check, name, edits) {#name, outcome, CHECK_##check, NULL, edits, NULL, false}
#define HONEST(name, forge, edits) {#name, PASSED, CHECKS, forge, edits, NULL, false}
#define RECIPE(check, name, text) {#name, REFUSED, CHECK_##check, NULL, NULL, text, false}
#define EDIT(name, edits) {#name, REFUSED, CHECK_CHAIN, NULL, edits, NULL, true}
#define WITH(members) "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10}" members "}"
#define SCHEDULE(text) "{\"data\":{\"batch\":1000},\"schedule\":" text "}"
#define OWN_PRICE "'price.instance': '', 'price.source': 'user'"
#define ON_GPUS(gpu, n) "'device': 'cuda', 'hardware.gpu': '" gpu "', 'hardware.devices': " #n
#define THREADS(cpu, n)                                                                                                      \
    OWN_PRICE ", 'hardware.cpu': '" cpu "', 'threads': " #n ", 'hardware.cores_online': " #n ", 'hardware.cores_usable': " #n
#define MODEL_NS(mean, p50, p90, p99)                                                                                        \
    "'latencies.0.model_mean_ns': " #mean ", 'latencies.0.model_p50_ns': " #p50 ", 'latencies.0.model_p90_ns': " #p90        \
    ", 'latencies.0.model_p99_ns': " #p99
#define ENERGY(until, whole) "'reached.energy_uj': " #until ", 'energy_uj': " #whole

static const struct attack attacks[] = {
    HONEST(honest, honest, NULL),
    HONEST(all_made_up, all_made_up, NULL),
    HONEST(too_good_of_another_recipe, NULL, "'points.9.scores.0.score': 9600, 'division': 'open'"),
    HONEST(price_of_ones_own, NULL, "'price.micro_usd_per_hour': 1, " OWN_PRICE),  // boards mark it
    HONEST(vietnamese_and_hebrew, NULL, "'team': 'Nguye\xcc\x82\xcc\x83n \xd7\xa9\xd6\xbc\xd7\x81\xd6\xb8'"),

    // Work that was not done.
    ATTACK(REFUSED, WORK, no_samples), ATTACK(REFUSED, WORK, few_samples), ATTACK(REFUSED, WORK, many_samples),
    ATTACK(REFUSED, WORK, steps_without_batch), ATTACK(REFUSED, WORK, huge_batch), ATTACK(REFUSED, WORK, no_training),
    ATTACK(REFUSED, WORK, quarter_of_the_samples), ATTACK(REFUSED, WORK, no_evaluation),
    ATTACK(REFUSED, SPEED, evaluation_of_a_millisecond), HONEST(honest_names, honest_names, NULL),
    {"honest_evaluations", PASSED, CHECKS, NULL, NULL, WITH(",\"evaluation\":{\"every\":0.25,\"views\":6}"), false},
    ATTACK(REFUSED, WORK, training_called_evaluate), ATTACK(REFUSED, WORK, training_called_checkpoint),
    ATTACK(REFUSED, WORK, training_called_many_views), ATTACK(REFUSED, WORK, training_called_evaluate_beyond_the_end),
    ATTACK(FLAGGED, LEFT_OUT, half_of_it_called_evaluate), ATTACK(FLAGGED, LEFT_OUT, tenth_of_it_called_checkpoint),
    RECIPE(CONTRADICTION, evaluated_at_will, WITH(",\"evaluation\":{\"every\":5}")),
    RECIPE(CONTRADICTION, evaluated_too_early, WITH(",\"evaluation\":{\"from\":4}")),
    RECIPE(CONTRADICTION, evaluated_once, WITH(",\"evaluation\":{\"every\":0}")),
    RECIPE(CONTRADICTION, other_views_than_the_recipe, WITH(",\"evaluation\":{\"views\":1}")),
    RECIPE(CONTRADICTION, half_of_the_schedule, SCHEDULE("{\"epochs\":20}")),
    RECIPE(CONTRADICTION, other_batch_than_the_recipe, "{\"data\":{\"batch\":500},\"schedule\":{\"epochs\":10}}"),
    EDITS(REFUSED, CONTRADICTION, away_without_an_interruption, "'segments.4.segment': 'away'"),
    EDITS(REFUSED, CONTRADICTION, away_more_often_than_resumed,
          "'segments.4.segment': 'away', 'segments.7.segment': 'away', 'resumed': 1"),
    EDITS(REFUSED, TASK, score_in_another_unit, "'metrics.0.unit': 'points'"),

    // Each hides the schedule from the checks, and another parser may still read one.
    RECIPE(RECIPE, schedule_under_another_name, SCHEDULE("{\"Epochs\":20}")),
    RECIPE(RECIPE, schedule_given_twice, SCHEDULE("{\"epochs\":20,\"epochs\":10}")),
    RECIPE(RECIPE, schedule_of_nan, SCHEDULE("{\"epochs\":NaN}")),
    RECIPE(RECIPE, schedule_of_infinity, SCHEDULE("{\"epochs\":Infinity}")),
    RECIPE(RECIPE, schedule_of_a_huge_number, SCHEDULE("{\"epochs\":10000000000000000000}")),
    RECIPE(RECIPE, schedule_of_a_huge_real, SCHEDULE("{\"epochs\":1e999}")),
    RECIPE(RECIPE, schedule_beside_a_huge_number,
           "{\"data\":{\"batch\":1000,\"n\":10000000000000000000},\"schedule\":{\"epochs\":20}}"),
    RECIPE(RECIPE, schedule_as_a_text, SCHEDULE("{\"epochs\":\"20\"}")),
    RECIPE(RECIPE, schedule_in_a_list, SCHEDULE("[{\"epochs\":20}]")),
    RECIPE(RECIPE, schedule_with_a_comment, "{\"data\":{\"batch\":1000},/* */\"schedule\":{\"epochs\":20}}"),
    RECIPE(RECIPE, schedule_with_a_comma, SCHEDULE("{\"epochs\":20},")),
    RECIPE(RECIPE, schedule_of_version_1, "{\"version\":1,\"batch\":1000,\"epochs\":20,\"data\":{\"batch\":1000}}"),
    RECIPE(RECIPE, schedule_escaped_and_given_twice, SCHEDULE("{\"epochs\":20,\"\\u0065pochs\":10}")),
    RECIPE(RECIPE, two_recipes, WITH("") "{\"schedule\":{\"epochs\":20}}"),
    RECIPE(RECIPE, schedule_of_two_cases, WITH(",\"Schedule\":{\"epochs\":20}")),
    RECIPE(RECIPE, epochs_of_two_cases, SCHEDULE("{\"epochs\":10,\"EPOCHS\":20}")),
    RECIPE(RECIPE, epochs_by_a_path, WITH(",\"schedule.epochs\":20")),
    RECIPE(RECIPE, epochs_with_a_blank, SCHEDULE("{\"epochs\":10,\" epochs\":20}")),
    RECIPE(RECIPE, epochs_in_cyrillic, SCHEDULE("{\"epochs\":10,\"\xd0\xb5pochs\":20}")),
    RECIPE(RECIPE, schedule_on_one_level, "{\"batch\":1000,\"epochs\":20}"),
    EDITS(REFUSED, DIVISION, recipe_of_nobody, "'recipe.published': 0"),
    EDITS(REFUSED, DATA, one_training_item, "'data.0.items': 1"),
    {"small_images", FLAGGED, CHECK_SPEED_UNKNOWN, NULL, NULL,
     "{\"data\":{\"batch\":1000,\"resolution\":[1]},\"schedule\":{\"epochs\":10}}", false},
    EDITS(REFUSED, DIVISION, small_model, "'model.parameters': 10"),
    EDITS(REFUSED, DIVISION, cheap_model, "'model.flops_per_sample': 1"),
    EDITS(FLAGGED, BETTER, too_good, "'points.9.scores.0.score': 9600"),
    EDITS(FLAGGED, SPEED_UNKNOWN, own_model, "'model.name': 'mine', 'division': 'open'"),
    EDITS(FLAGGED, SPEED_UNKNOWN, cheap_open_model, "'model.flops_per_sample': 1, 'division': 'open'"),
    EDITS(REFUSED, SPEED, latency_of_a_nanosecond, MODEL_NS(1, 2, 3, 4)),
    EDITS(FLAGGED, SPEED_UNKNOWN, latency_on_nothing_known, "'latencies.0.hardware.cpu_flags': ''"),
    EDITS(REFUSED, SPEED, latency_mean_below_the_peak, MODEL_NS(100000, 150000, 150000, 150000)),  // at the peak it is 137 us
    EDITS(FLAGGED, SPEED_HIGH, latency_near_the_peak, MODEL_NS(160000, 160000, 160000, 160000)),

    // Dates and prices.
    ATTACK(REFUSED, CLIENT_TIME, no_time_passed), ATTACK(FLAGGED, DATES, a_day_passed),
    ATTACK(REFUSED, GROUP, group_announced_in_1970), ATTACK(REFUSED, CONTRADICTION, latency_of_tomorrow),
    EDITS(REFUSED, CLIENT_TIME, latency_of_1970, "'latencies.0.measured_ms': 0"),
    EDITS(REFUSED, PRICE, price_of_a_bargain, "'price.micro_usd_per_hour': 1"),
    EDITS(REFUSED, PRICE, bargain_of_another_date, "'price.micro_usd_per_hour': 1, 'price.date': '2026-11-20'"),
    EDITS(FLAGGED, PRICE_OLD, discount_of_another_date,  // four fifths
          "'price.micro_usd_per_hour': 544000, 'price.date': '2026-11-20'"),
    EDITS(REFUSED, PRICE, price_of_9999, "'price.date': '9999-12-31', " OWN_PRICE),
    EDITS(REFUSED, CONTRADICTION, bargain_without_a_name, "'price.micro_usd_per_hour': 1, 'price.instance': ''"),
    HONEST(honest_gpu_of_an_instance, a_p3, ON_GPUS("Tesla V100-SXM2-16GB", 1)),
    HONEST(honest_gpu, NULL, OWN_PRICE ", " ON_GPUS("NVIDIA H100 80GB HBM3 MIG 1g.10gb", 1)),
    HONEST(honest_threads, NULL, THREADS("AMD EPYC 7763 64-Core Processor", 256) ", 'hardware.sockets': 2"),
    BOTH(REFUSED, PRICE, gpus_as_a_small_instance, a_c6i, ON_GPUS("8 x NVIDIA H100 80GB HBM3", 8)),
    BOTH(REFUSED, PRICE, other_gpu_than_the_instance, a_p3, ON_GPUS("NVIDIA H100 80GB HBM3", 1)),
    BOTH(REFUSED, PRICE, more_gpus_than_the_instance, a_p3, ON_GPUS("Tesla V100-SXM2-16GB", 8)),
    BOTH(REFUSED, PRICE, gpu_like_the_instances, a_p3, ON_GPUS("Tesla V100 GB200", 1)),
    BOTH(REFUSED, PRICE, processor_as_a_gpu_instance, a_p3, NULL),
    BOTH(REFUSED, PRICE, other_maker_than_the_instance, a_c7a, "'hardware.cpu': 'Intel(R) Xeon(R) Platinum 8488C'"),
    EDITS(REFUSED, PRICE, more_threads_than_the_instance, "'hardware.cores_online': 64"),
    EDITS(REFUSED, PRICE, more_memory_than_the_instance, "'hardware.memory_bytes': 1099511627776"),
    EDITS(REFUSED, PRICE, another_instance_by_its_own_word, "'hardware.product': 'c7i.48xlarge'"),
    EDITS(REFUSED, PRICE, latency_on_more_than_the_instance, "'latencies.0.hardware.cores_online': 192"),
    // The two names of this GPU would allow it a speed that a T4 does not have.
    EDITS(FLAGGED, SPEED_UNKNOWN, gpu_of_two_names, OWN_PRICE ", " ON_GPUS("Tesla T4 GB200", 1)),
    EDITS(FLAGGED, SPEED_UNKNOWN, gpu_with_a_word_more, OWN_PRICE ", " ON_GPUS("NVIDIA H100 Ultra", 1)),

    // Contradictions.
    EDITS(REFUSED, CONTRADICTION, threads_beyond_the_processor, THREADS("AMD EPYC 7763 64-Core Processor", 65536)),
    EDITS(REFUSED, CONTRADICTION, threads_of_two_processors, THREADS("AMD EPYC 7763 64-Core Processor", 256)),
    EDITS(REFUSED, CONTRADICTION, threads_beyond_any_processor, THREADS("A new one", 1025)),
    EDITS(REFUSED, CONTRADICTION, threads_of_eight_packages,
          THREADS("AMD EPYC 7763 EPYC 9965", 1025) ", 'hardware.sockets': 4096"),
    EDITS(REFUSED, CONTRADICTION, many_processors, "'hardware.devices': 1048576"),
    EDITS(REFUSED, CONTRADICTION, many_threads, "'threads': 65536, 'hardware.cores_online': 2, 'hardware.cores_usable': 2"),
    EDITS(REFUSED, CONTRADICTION, threads_of_an_unknown_machine,
          "'threads': 65536, 'hardware.cores_online': 0, 'hardware.cores_usable': 0"),
    EDITS(REFUSED, CONTRADICTION, many_gpus, ON_GPUS("NVIDIA H200", 1048576)),
    EDITS(REFUSED, CONTRADICTION, latency_on_many_gpus, "'latencies.0.device': 'cuda', 'latencies.0.hardware.gpu': "
          "'8 x NVIDIA H200', 'latencies.0.hardware.devices': 8"),
    EDITS(REFUSED, CONTRADICTION, unknown_device, "'device': 'npu'"),
    EDITS(REFUSED, CONTRADICTION, unknown_precision, "'precision': 'int4'"),
    EDITS(REFUSED, CONTRADICTION, many_usable_cores, "'hardware.cores_usable': 17"),
    EDITS(REFUSED, CONTRADICTION, emulated_gpu, "'hardware.gpu': 'NVIDIA H200 (EMULATED CARD)'"),
    EDITS(REFUSED, CONTRADICTION, memory_above_memory, "'peak_memory_bytes': 1099511627776"),
    EDITS(REFUSED, CONTRADICTION, closed_pytorch, "'software.framework': 'PyTorch'"),
    EDITS(REFUSED, CONTRADICTION, dawnlike, "'software.framework': 'DAWNX'"),
    EDITS(REFUSED, CONTRADICTION, harness_outside, "'device': 'outside'"),
    EDITS(REFUSED, CONTRADICTION, cuda_without_gpu, "'device': 'cuda'"),
    EDITS(REFUSED, CONTRADICTION, latency_on_many_processors, "'latencies.0.hardware.devices': 8"),
    EDITS(REFUSED, CONTRADICTION, latency_on_cuda_without_gpu, "'latencies.0.device': 'cuda'"),
    ATTACK(REFUSED, CONTRADICTION, training_set_twice),
    HONEST(honest_energy, NULL, ENERGY(4000000000, 5000000000)),
    EDITS(REFUSED, CONTRADICTION, energy_of_zero, "'energy_uj': 0"),
    EDITS(REFUSED, CONTRADICTION, energy_of_a_microjoule, ENERGY(1, 5000000000)),
    EDITS(REFUSED, CONTRADICTION, energy_of_a_microjoule_in_all, "'energy_uj': 1"),
    EDITS(REFUSED, CONTRADICTION, energy_of_an_idle_chip, "'energy_uj': 20000000"),  // 20 J in 100 s
    EDITS(REFUSED, CONTRADICTION, energy_of_a_town, "'energy_uj': 1000000000000"),
    EDITS(REFUSED, CONTRADICTION, energy_all_after_the_target, ENERGY(4000000000, 100000000000)),
    EDITS(REFUSED, CONTRADICTION, energy_more_than_the_whole, ENERGY(5000000001, 5000000000)),
    EDITS(REFUSED, CONTRADICTION, energy_without_a_counter,
          ENERGY(4000000000, 5000000000) ", 'hardware.cpu_flags': 'fp asimd sve bf16'"),
    EDITS(REFUSED, CONTRADICTION, energy_of_the_target_alone, "'reached.energy_uj': 4000000000"),

    // Texts.
    EDITS(REFUSED, TEXT, invisible_note, "'note': 'good\xf0\x9d\x85\xb3 run'"),   // U+1D173
    EDITS(REFUSED, TEXT, shorthand_note, "'team': 'good\xf0\x9b\xb2\xa0 team'"),  // U+1BCA0
    EDITS(REFUSED, TEXT, leading_mark, "'note': '\xcc\x81 a'"),
    EDITS(REFUSED, TEXT, hidden_machine, "'hardware.cpu': 'Test\xf0\x9d\x85\xb3 CPU'"), ATTACK(REFUSED, TEXT, piled_note),

    // Every member that a statement takes from the record.
    EDIT(edit_batch, "'batch': 999"), EDIT(edit_views, "'views': 1"), EDIT(edit_threads, "'threads': 8"),
    EDIT(edit_precision, "'precision': 'f32'"), EDIT(edit_machine, "'hardware.product': 'a cheaper one'"),
    EDIT(edit_price, "'price': {'micro_usd_per_hour': 1, 'source': 'user', 'date': '2027-01-15', 'instance': '', "
         "'total_micro_usd': 1}"),
    EDIT(edit_replay, "'replay_of': '" FIXTURE_HEX "'"),
    {"edit_recipe_text", REFUSED, CHECK_CHAIN, edit_recipe_text, NULL, NULL, true},
    EDIT(edit_segments, "'segments.0.segment': 'init'"), EDIT(edit_memory, "'peak_memory_bytes': 1"),
    EDIT(edit_weights, "'model.weights_digest': '" OTHER_HEX "', 'latencies.0.weights_digest': '" OTHER_HEX "'"),
    EDIT(edit_latency, "'latencies.0.whole_p99_ns': 2100001"), EDIT(drop_end, "'chain_end': null"),
    EDIT(edit_hash, "'latencies.0.hash': '" FIXTURE_HEX "'"),
};
