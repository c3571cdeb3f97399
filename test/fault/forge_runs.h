// SPDX-License-Identifier: Apache-2.0
// Mutations of a true run, which forge.c hands in: one function for each attack. Those with "edit" and "drop" in their names
// leave the hashes as they are; all others get good ones.
#ifndef DAWN_TEST_FORGE_RUNS_H
#define DAWN_TEST_FORGE_RUNS_H

#include <stdlib.h>
#include <string.h>

#include "submit/format/score/price.h"
#include "test/unit/fixture_statement.h"

#define OTHER_HEX "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"

// ---- work that was not done

static void point_set(json_t *run, size_t i, const char *name, int64_t value)
{
    json_object_set_new(fixture_item(run, "points", i), name, json_integer(value));
}

static int64_t point_get(json_t *run, size_t i, const char *name)
{
    return canonical_int(fixture_item(run, "points", i), name);
}

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
static void half_of_the_schedule(json_t *run) { fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":20}}"); }
static void other_batch_than_the_recipe(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":500},\"schedule\":{\"epochs\":10}}");
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
    fixture_set(run, "hardware.gpu", json_string("NVIDIA H100"));  // fast enough for what is left
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
static void evaluated_at_will(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10},\"evaluation\":{\"every\":5}}");
}
static void evaluated_too_early(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10},\"evaluation\":{\"from\":4}}");
}
static void evaluated_once(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10},\"evaluation\":{\"every\":0}}");
}
static void honest_evaluations(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10},\"evaluation\":{\"every\":0.25,\"views\":6}}");
}
static void other_views_than_the_recipe(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10},\"evaluation\":{\"views\":1}}");
}
static int64_t short_evaluation(const int64_t *ns, const char *name, size_t i, int64_t was)
{
    return strcmp(name, "evaluate") == 0 ? *ns + (int64_t)i : was;
}
static void evaluation_of_a_millisecond(json_t *run) { fixture_retime(run, short_evaluation, (const int64_t[]){1000000}); }
static void away_without_an_interruption(json_t *run)
{
    json_object_set_new(fixture_item(run, "segments", 4), "segment", json_string("away"));
}
static void away_more_often_than_resumed(json_t *run)
{
    for (size_t i = 4; i < 8; i += 3) json_object_set_new(fixture_item(run, "segments", i), "segment", json_string("away"));
    fixture_set(run, "resumed", json_integer(1));
}
static void score_in_another_unit(json_t *run) { fixture_set(fixture_item(run, "metrics", 0), "unit", json_string("points")); }
static void one_training_item(json_t *run) { json_object_set_new(fixture_item(run, "data", 0), "items", json_integer(1)); }
static void small_images(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":1000,\"resolution\":[1]},\"schedule\":{\"epochs\":10}}");
}
// Each hides the schedule from the checks, and another parser may still read one.
static void schedule_under_another_name(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"Epochs\":20}}");
}
static void schedule_given_twice(json_t *run)
{
    fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":20,\"epochs\":10}}");
}
static void schedule_of_nan(json_t *run) { fixture_recipe(run, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":NaN}}"); }
#define RECIPE(name, text) static void name(json_t *run) { fixture_recipe(run, text); }
RECIPE(schedule_of_infinity, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":Infinity}}")
RECIPE(schedule_of_a_huge_number, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10000000000000000000}}")
RECIPE(schedule_of_a_huge_real, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":1e999}}")
RECIPE(schedule_beside_a_huge_number, "{\"data\":{\"batch\":1000,\"n\":10000000000000000000},\"schedule\":{\"epochs\":20}}")
RECIPE(schedule_as_a_text, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":\"20\"}}")
RECIPE(schedule_in_a_list, "{\"data\":{\"batch\":1000},\"schedule\":[{\"epochs\":20}]}")
RECIPE(schedule_with_a_comment, "{\"data\":{\"batch\":1000},/* */\"schedule\":{\"epochs\":20}}")
RECIPE(schedule_with_a_comma, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":20},}")
RECIPE(schedule_of_version_1, "{\"version\":1,\"batch\":1000,\"epochs\":20,\"data\":{\"batch\":1000}}")
RECIPE(schedule_escaped_and_given_twice, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":20,\"\\u0065pochs\":10}}")
RECIPE(two_recipes, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10}}{\"schedule\":{\"epochs\":20}}")
RECIPE(schedule_of_two_cases, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10},\"Schedule\":{\"epochs\":20}}")
RECIPE(epochs_of_two_cases, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10,\"EPOCHS\":20}}")
RECIPE(epochs_by_a_path, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10},\"schedule.epochs\":20}")
RECIPE(epochs_with_a_blank, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10,\" epochs\":20}}")
RECIPE(epochs_in_cyrillic, "{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10,\"\xd0\xb5pochs\":20}}")
static void schedule_on_one_level(json_t *run) { fixture_recipe(run, "{\"batch\":1000,\"epochs\":20}"); }
static void recipe_of_nobody(json_t *run) { fixture_set(run, "recipe.published", json_integer(0)); }
static void open_division(json_t *run) { fixture_set(run, "division", json_string("open")); }
static void small_model(json_t *run) { fixture_set(run, "model.parameters", json_integer(10)); }
static void cheap_model(json_t *run) { fixture_set(run, "model.flops_per_sample", json_integer(1)); }
static void cheap_open_model(json_t *run) { cheap_model(run), open_division(run); }
static void own_model(json_t *run) { fixture_set(run, "model.name", json_string("mine")), open_division(run); }
static void latency_of_a_nanosecond(json_t *run)
{
    static const char *const names[] = {"model_mean_ns", "model_p50_ns", "model_p90_ns", "model_p99_ns"};
    for (int i = 0; i < 4; i++) latency_set(run, names[i], json_integer(1 + i));
}
static void latency_mean_below_the_peak(json_t *run)
{
    latency_set(run, "model_mean_ns", json_integer(100000));  // at the peak it is 137 us
    latency_set(run, "model_p50_ns", json_integer(150000));
    latency_set(run, "model_p90_ns", json_integer(150000));
    latency_set(run, "model_p99_ns", json_integer(150000));
}
static void latency_near_the_peak(json_t *run)
{
    static const char *const names[] = {"model_mean_ns", "model_p50_ns", "model_p90_ns", "model_p99_ns"};
    for (int i = 0; i < 4; i++) latency_set(run, names[i], json_integer(160000));
}
static void latency_on_nothing_known(json_t *run) { latency_set(run, "hardware.cpu_flags", json_string("")); }
static void too_good(json_t *run)
{
    json_t *scores = json_object_get(fixture_item(run, "points", FIXTURE_EPOCHS - 1), "scores");
    json_object_set_new(json_array_get(scores, 0), "score", json_integer(9600));
}
static void too_good_of_another_recipe(json_t *run) { too_good(run), open_division(run); }
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
static void latency_of_1970(json_t *run) { latency_set(run, "measured_ms", json_integer(0)); }
static void latency_of_tomorrow(json_t *run) { latency_set(run, "measured_ms", json_integer(FIXTURE_NOW_MS + 86400000)); }
static void price_of_a_bargain(json_t *run) { fixture_set(run, "price.micro_usd_per_hour", json_integer(1)); }
static void bargain_of_another_date(json_t *run)
{
    price_of_a_bargain(run);
    fixture_set(run, "price.date", json_string("2026-11-20"));
}
static void discount_of_another_date(json_t *run)
{
    fixture_set(run, "price.micro_usd_per_hour", json_integer(FIXTURE_PRICE * 4 / 5));
    fixture_set(run, "price.date", json_string("2026-11-20"));
}
static void bargain_without_a_name(json_t *run)
{
    price_of_a_bargain(run);
    fixture_set(run, "price.instance", json_string(""));
}
// Boards mark it.
static void price_of_ones_own(json_t *run) { bargain_without_a_name(run), fixture_set(run, "price.source", json_string("user")); }
static void price_of_9999(json_t *run)
{
    fixture_set(run, "price.date", json_string("9999-12-31"));
    fixture_set(run, "price.instance", json_string(""));
    fixture_set(run, "price.source", json_string("user"));
}

static void own_price(json_t *run)
{
    fixture_set(run, "price.instance", json_string(""));
    fixture_set(run, "price.source", json_string("user"));
}
static void on_gpus(json_t *run, const char *gpu, int devices)
{
    fixture_set(run, "device", json_string("cuda"));
    fixture_set(run, "hardware.gpu", json_string(gpu));
    fixture_set(run, "hardware.devices", json_integer(devices));
}
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
    fixture_set(run, "threads", json_integer(8));
    fixture_set(run, "hardware.cores_online", json_integer(8));
    fixture_set(run, "hardware.cores_usable", json_integer(8));
    fixture_set(run, "hardware.memory_bytes", json_integer((int64_t)61 << 30));
}
static void honest_gpu_of_an_instance(json_t *run) { a_p3(run), on_gpus(run, "Tesla V100-SXM2-16GB", 1); }
static void gpus_as_a_small_instance(json_t *run) { as_instance(run, "c6i.large"), on_gpus(run, "8 x NVIDIA H100 80GB HBM3", 8); }
static void other_gpu_than_the_instance(json_t *run) { a_p3(run), on_gpus(run, "NVIDIA H100 80GB HBM3", 1); }
static void more_gpus_than_the_instance(json_t *run) { a_p3(run), on_gpus(run, "Tesla V100-SXM2-16GB", 8); }
static void gpu_like_the_instances(json_t *run) { a_p3(run), on_gpus(run, "Tesla V100 GB200", 1); }
static void processor_as_a_gpu_instance(json_t *run) { a_p3(run); }
static void other_maker_than_the_instance(json_t *run)
{
    fixture_set(run, "hardware.cpu", json_string("Intel(R) Xeon(R) Platinum 8488C"));
    as_instance(run, "c7a.4xlarge");
}
static void more_threads_than_the_instance(json_t *run) { fixture_set(run, "hardware.cores_online", json_integer(64)); }
static void more_memory_than_the_instance(json_t *run)
{
    fixture_set(run, "hardware.memory_bytes", json_integer((int64_t)1 << 40));
}
static void another_instance_by_its_own_word(json_t *run)
{
    fixture_set(run, "hardware.product", json_string("c7i.48xlarge"));
}
static void latency_on_more_than_the_instance(json_t *run) { latency_set(run, "hardware.cores_online", json_integer(192)); }
// The two names of this GPU would allow it a speed that a T4 does not have.
static void gpu_of_two_names(json_t *run) { own_price(run), on_gpus(run, "Tesla T4 GB200", 1); }
static void gpu_with_a_word_more(json_t *run) { own_price(run), on_gpus(run, "NVIDIA H100 Ultra", 1); }
static void honest_gpu(json_t *run) { own_price(run), on_gpus(run, "NVIDIA H100 80GB HBM3 MIG 1g.10gb", 1); }
static void many_hardware_threads(json_t *run, const char *cpu, int threads)
{
    own_price(run);
    fixture_set(run, "hardware.cpu", json_string(cpu));
    fixture_set(run, "threads", json_integer(threads));
    fixture_set(run, "hardware.cores_online", json_integer(threads));
    fixture_set(run, "hardware.cores_usable", json_integer(threads));
}
static void threads_beyond_the_processor(json_t *run) { many_hardware_threads(run, "AMD EPYC 7763 64-Core Processor", 65536); }
static void threads_of_two_processors(json_t *run) { many_hardware_threads(run, "AMD EPYC 7763 64-Core Processor", 256); }
static void threads_beyond_any_processor(json_t *run) { many_hardware_threads(run, "A new one", 1025); }
static void threads_of_eight_packages(json_t *run)
{
    many_hardware_threads(run, "AMD EPYC 7763 EPYC 9965", 1025);
    fixture_set(run, "hardware.sockets", json_integer(4096));
}
static void honest_threads(json_t *run)
{
    many_hardware_threads(run, "AMD EPYC 7763 64-Core Processor", 256);
    fixture_set(run, "hardware.sockets", json_integer(2));
}

// ---- contradictions

static void many_processors(json_t *run) { fixture_set(run, "hardware.devices", json_integer(1 << 20)); }
static void many_threads(json_t *run)
{
    fixture_set(run, "threads", json_integer(65536));
    fixture_set(run, "hardware.cores_online", json_integer(2));
    fixture_set(run, "hardware.cores_usable", json_integer(2));
}
static void threads_of_an_unknown_machine(json_t *run)
{
    fixture_set(run, "threads", json_integer(65536));
    fixture_set(run, "hardware.cores_online", json_integer(0));
    fixture_set(run, "hardware.cores_usable", json_integer(0));
}
static void many_gpus(json_t *run)
{
    fixture_set(run, "device", json_string("cuda"));
    fixture_set(run, "hardware.gpu", json_string("NVIDIA H200"));
    fixture_set(run, "hardware.devices", json_integer(1 << 20));
}
static void latency_on_many_gpus(json_t *run)
{
    latency_set(run, "device", json_string("cuda"));
    latency_set(run, "hardware.gpu", json_string("8 x NVIDIA H200"));
    latency_set(run, "hardware.devices", json_integer(8));
}
static void unknown_device(json_t *run) { fixture_set(run, "device", json_string("npu")); }
static void unknown_precision(json_t *run) { fixture_set(run, "precision", json_string("int4")); }
static void many_usable_cores(json_t *run) { fixture_set(run, "hardware.cores_usable", json_integer(17)); }
static void cuda_without_gpu(json_t *run)
{
    fixture_set(run, "device", json_string("cuda"));
}
static void emulated_gpu(json_t *run) { fixture_set(run, "hardware.gpu", json_string("NVIDIA H200 (EMULATED CARD)")); }
static void memory_above_memory(json_t *run) { fixture_set(run, "peak_memory_bytes", json_integer((int64_t)1 << 40)); }
static void closed_pytorch(json_t *run) { fixture_set(run, "software.framework", json_string("PyTorch")); }
static void dawnlike(json_t *run) { fixture_set(run, "software.framework", json_string("DAWNX")); }
static void harness_outside(json_t *run) { fixture_set(run, "device", json_string("outside")); }
static void latency_on_many_processors(json_t *run) { latency_set(run, "hardware.devices", json_integer(8)); }
static void latency_on_cuda_without_gpu(json_t *run) { latency_set(run, "device", json_string("cuda")); }
static void training_set_twice(json_t *run)
{
    json_array_append_new(json_object_get(run, "data"), json_deep_copy(fixture_item(run, "data", 0)));
}

// ---- energy

static void set_energy(json_t *run, json_int_t until, json_int_t whole)
{
    if (until > 0) fixture_set(run, "reached.energy_uj", json_integer(until));
    fixture_set(run, "energy_uj", json_integer(whole));
}
static void honest_energy(json_t *run) { set_energy(run, 4000000000, 5000000000); }
static void energy_of_zero(json_t *run) { set_energy(run, 0, 0); }
static void energy_of_a_microjoule(json_t *run) { set_energy(run, 1, 5000000000); }
static void energy_of_a_microjoule_in_all(json_t *run) { set_energy(run, 0, 1); }
static void energy_of_an_idle_chip(json_t *run) { set_energy(run, 0, 20000000); }  // 20 J in 100 s
static void energy_of_a_town(json_t *run) { set_energy(run, 0, (json_int_t)1000000000000); }
static void energy_all_after_the_target(json_t *run) { set_energy(run, 4000000000, 100000000000); }
static void energy_more_than_the_whole(json_t *run) { set_energy(run, 5000000001, 5000000000); }
static void energy_without_a_counter(json_t *run)
{
    honest_energy(run);
    fixture_set(run, "hardware.cpu_flags", json_string("fp asimd sve bf16"));
}
static void energy_of_the_target_alone(json_t *run) { fixture_set(run, "reached.energy_uj", json_integer(4000000000)); }

// ---- texts

static void invisible_note(json_t *run) { fixture_set(run, "note", json_string("good\xf0\x9d\x85\xb3 run")); }          // U+1D173
static void shorthand_note(json_t *run) { fixture_set(run, "team", json_string("good\xf0\x9b\xb2\xa0 team")); }         // U+1BCA0
static void piled_note(json_t *run)
{
    struct text note = {0};
    text_add(&note, "a");
    for (int i = 0; i < 80; i++) text_add(&note, "\xcc\x81");
    fixture_set(run, "note", json_string(note.at));
    text_free(&note);
}
static void leading_mark(json_t *run) { fixture_set(run, "note", json_string("\xcc\x81 a")); }
static void hidden_machine(json_t *run) { fixture_set(run, "hardware.cpu", json_string("Test\xf0\x9d\x85\xb3 CPU")); }
static void vietnamese_and_hebrew(json_t *run)
{
    fixture_set(run, "team", json_string("Nguye\xcc\x82\xcc\x83n \xd7\xa9\xd6\xbc\xd7\x81\xd6\xb8"));
}

// ---- editing what DAWN recorded (no hash is made anew): every member that a statement takes from the record

static void edit_batch(json_t *run) { fixture_set(run, "batch", json_integer(999)); }
static void edit_views(json_t *run) { fixture_set(run, "views", json_integer(1)); }
static void edit_threads(json_t *run) { fixture_set(run, "threads", json_integer(8)); }
static void edit_precision(json_t *run) { fixture_set(run, "precision", json_string("f32")); }
static void edit_machine(json_t *run) { fixture_set(run, "hardware.product", json_string("a cheaper one")); }
static void edit_price(json_t *run)
{
    fixture_set(run, "price", json_pack("{s:i, s:s, s:s, s:s, s:i}", "micro_usd_per_hour", 1, "source", "user", "date",
                                        "2027-01-15", "instance", "", "total_micro_usd", 1));
}
static void edit_recipe_text(json_t *run)
{
    fixture_set(run, "recipe.text", json_string("{\"data\":{\"batch\":1000},\"schedule\":{\"epochs\":10}} "));
}
static void edit_segments(json_t *run)
{
    json_object_set_new(fixture_item(run, "segments", 0), "segment", json_string("init"));
}
static void edit_memory(json_t *run) { fixture_set(run, "peak_memory_bytes", json_integer(1)); }
static void edit_weights(json_t *run)
{
    fixture_set(run, "model.weights_digest", json_string(OTHER_HEX));
    latency_set(run, "weights_digest", json_string(OTHER_HEX));
}
static void edit_latency(json_t *run) { latency_set(run, "whole_p99_ns", json_integer(2100001)); }
static void edit_replay(json_t *run) { fixture_set(run, "replay_of", json_string(FIXTURE_HEX)); }
static void drop_end(json_t *run) { json_object_del(run, "chain_end"); }
static void edit_hash(json_t *run) { latency_set(run, "hash", json_string(FIXTURE_HEX)); }

#endif
