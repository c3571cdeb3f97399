// SPDX-License-Identifier: Apache-2.0
// The members of a statement that come from the record of a run or a measurement. Invariant: every figure is in the record or
// follows from it by cost.h. Nothing is measured or read from the system or the clock. Cost: one walk over the result of
// record_read.
#include "submit/results/stated.h"

#include <string.h>

#include "submit/format/machine_list.h"
#include "submit/format/score/cost.h"
#include "submit/results/record.h"

enum { INFERENCE_ITEMS = 10000 };

// A member of the statement and its column; NULL: the same name.
struct source {
    const char *to, *from;
};
static const struct source run_sources[] = {
    {"task", NULL},      {"task_digest", NULL}, {"target_micro", NULL}, {"nonce", NULL},      {"status", NULL},
    {"seed", NULL},      {"precision", NULL},   {"device", NULL},       {"threads", NULL},    {"batch", NULL},
    {"step_least", NULL}, {"step_most", NULL},
    {"views", NULL},     {"input_size", NULL},  {"stop_at_target", NULL}, {"synthetic", NULL}, {"official", NULL},
    {"started_ms", NULL}, {"replay_of", NULL}, {"chain_root", NULL}, {"chain_end", NULL}, {"peak_memory_bytes", NULL},
    {"energy_uj", NULL}, {"resumed", NULL}, {NULL, NULL},
};
static const struct source model_sources[] = {
    {"name", "model"}, {"parameters", NULL}, {"flops_per_sample", NULL}, {"weights_digest", NULL}, {NULL, NULL},
};
static const struct source recipe_sources[] = {
    {"name", "recipe"}, {"text", "recipe_json"}, {"digest", "recipe_digest"}, {"published", "recipe_published"}, {NULL, NULL},
};
static const struct source reached_sources[] = {
    {"step", "reached_step"}, {"epoch_micro", "reached_epoch_micro"}, {"t_ns", "reached_ns"},
    {"classic_ns", "reached_classic_ns"}, {"warm_ns", "reached_warm_ns"},
    {"warm_with_evaluation_ns", "reached_warm_with_evaluation_ns"}, {"samples", "reached_samples"},
    {"energy_uj", "reached_energy_uj"}, {NULL, NULL},
};
static const struct source point_sources[] = {
    {"step", NULL}, {"epoch_micro", NULL}, {"t_ns", NULL}, {"classic_ns", NULL}, {"warm_ns", NULL},
    {"warm_with_evaluation_ns", NULL}, {"samples", NULL}, {"stall_ns", NULL}, {"scores", NULL}, {"loss", "loss_micro"},
    {"losses", NULL}, {"hash", NULL}, {NULL, NULL},
};
static const struct source metric_sources[] = {
    {"name", NULL}, {"unit", NULL}, {"lower_is_better", NULL}, {"items", NULL}, {NULL, NULL},
};
static const struct source part_sources[] = {{"samples", NULL}, {"flops_per_sample", NULL}, {NULL, NULL}};
static const struct source segment_sources[] = {{"segment", NULL}, {"start_ns", NULL}, {"end_ns", NULL}, {NULL, NULL}};
static const struct source data_sources[] = {
    {"name", NULL}, {"split", NULL}, {"digest", NULL}, {"items", NULL}, {"official", NULL}, {"synthetic", NULL},
    {"short_side", NULL}, {"quality", NULL}, {"remembered", NULL}, {NULL, NULL},
};
static const struct source file_sources[] = {
    {"kind", NULL}, {"name", NULL}, {"digest", NULL}, {"bytes", NULL}, {"remembered", NULL}, {NULL, NULL},
};
static const struct source group_sources[] = {{"nonce", NULL}, {"planned", NULL}, {"announced_ms", NULL}, {NULL, NULL}};
static const struct source ticket_sources[] = {{"statement", NULL}, {"board_key", NULL}, {"proof", NULL}, {NULL, NULL}};
static const struct source price_sources[] = {
    {"micro_usd_per_hour", "price_micro_per_hour"}, {"source", "price_source"}, {"date", "price_date"}, {NULL, NULL},
};
#define TEXT(name, what) {#name, NULL},
#define NUMBER(name, most, what) {#name, NULL},
static const struct source machine_sources[] = {MACHINE_FACT_LIST {NULL, NULL}};
#undef TEXT
#undef NUMBER
static const struct source software_sources[] = {
    {"commit", "commit_name"}, {"dirty", NULL}, {"compiler", NULL}, {"flags", NULL}, {"binary_digest", NULL},
    {"libraries", NULL}, {NULL, NULL},
};
static const struct source latency_sources[] = {
    {"precision", NULL}, {"device", NULL}, {"threads", NULL}, {"items", NULL}, {"warmup_items", NULL},
    {"model_mean_ns", NULL}, {"model_p50_ns", NULL}, {"model_p90_ns", NULL}, {"model_p99_ns", NULL},
    {"whole_mean_ns", NULL}, {"whole_p50_ns", NULL}, {"whole_p90_ns", NULL}, {"whole_p99_ns", NULL},
    {"k", NULL}, {"views", NULL}, {"eligible", NULL}, {"data_digest", NULL}, {"synthetic", NULL}, {"measured_ms", NULL},
    {"hash", NULL}, {NULL, NULL},
};

static const struct source bench_sources[] = {
    {"task", NULL}, {"samples", NULL}, {"data", NULL}, {"noise", NULL}, {"model", NULL}, {"recipe", NULL}, {"device", NULL},
    {"threads", NULL}, {NULL, NULL},
};
static const struct source setting_sources[] = {
    {"precision", NULL}, {"fusion", NULL}, {"batch", NULL}, {"size", NULL}, {"recipe_digest", NULL}, {"ignored", NULL},
    {"timed", NULL}, {"whole", NULL}, {"repeats", NULL}, {"accepted", NULL}, {"step_ns", NULL}, {"step_low_ns", NULL},
    {"step_high_ns", NULL}, {"others_micro", NULL}, {"energy_uj", NULL}, {"flops", NULL}, {"memory_bytes", NULL}, {NULL, NULL},
};

static const struct source scaling_sources[] = {
    {"precision", NULL}, {"size", NULL}, {"processes", NULL}, {"machines", NULL}, {"batch", NULL}, {"step_ns", NULL},
    {"gradient_bytes", NULL}, {NULL, NULL},
};

// Trims a text that the system reports about the machine: statements allow no blanks around a text.
static json_t *trimmed(const char *text)
{
    while (*text == ' ') text++;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') length--;
    return json_stringn(text, length);
}

// Copies members unchanged and leaves out unknown ones. statement_make checks the required ones.
static json_t *copied(const json_t *row, const struct source *sources)
{
    json_t *to = json_object();
    for (; sources->to != NULL; sources++) {
        json_t *value = json_object_get(row, sources->from != NULL ? sources->from : sources->to);
        if (json_is_string(value)) json_object_set_new(to, sources->to, trimmed(json_string_value(value)));
        else if (value != NULL) json_object_set(to, sources->to, value);
    }
    return to;
}

static json_t *copied_list(const json_t *rows, const struct source *sources)
{
    json_t *to = json_array();
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)rows, i, row) json_array_append_new(to, copied(row, sources));
    return to;
}

static void put_text(json_t *to, const char *name, const char *text)
{
    if (text != NULL) json_object_set_new(to, name, json_string(text));
}

static void put_int(json_t *to, const char *name, int64_t value)
{
    json_object_set_new(to, name, json_integer(value));
}

static json_t *hardware_of(const json_t *machine, int64_t devices)
{
    json_t *hardware = copied(machine, machine_sources);
    put_int(hardware, "devices", devices);
    return hardware;
}

// `total_micro` below 0: the run has no total cost.
static void put_price(json_t *to, const json_t *row, int64_t total_micro)
{
    if (!record_has(row, "price_micro_per_hour")) return;
    json_t *price = copied(row, price_sources);
    put_text(price, "instance", record_text(row, "price_instance"));
    if (total_micro >= 0) put_int(price, "total_micro_usd", total_micro);
    json_object_set_new(to, "price", price);
}

json_t *stated_latency(const json_t *row)
{
    json_t *latency = copied(row, latency_sources);
    int64_t mean = record_int(row, "whole_mean_ns"), price = record_int(row, "price_micro_per_hour");
    if (*record_text(row, "weights_digest")) put_text(latency, "weights_digest", record_text(row, "weights_digest"));
    json_object_set_new(latency, "hardware", hardware_of(json_object_get(row, "machine_facts"), 1));
    put_price(latency, row, mean > 0 && price > 0 ? cost_inference_micro(mean, INFERENCE_ITEMS, price) : -1);
    return latency;
}

// What both kinds of measurement have, besides their rows.
static json_t *measured(const json_t *rows, const json_t *machine, const json_t *software)
{
    json_t *to = copied(json_array_get(rows, 0), bench_sources), *program = copied(software, software_sources), *row;
    int64_t last = 0;
    size_t i;
    json_array_foreach((json_t *)rows, i, row)
        if (record_int(row, "measured_ms") > last) last = record_int(row, "measured_ms");
    put_int(to, "measured_ms", last);
    put_text(program, "framework", "DAWN");
    json_object_set_new(to, "hardware", hardware_of(machine, 1));
    json_object_set_new(to, "software", program);
    return to;
}

json_t *stated_bench(const json_t *rows, const json_t *machine, const json_t *software)
{
    json_t *to = measured(rows, machine, software);
    json_object_set_new(to, "settings", copied_list(rows, setting_sources));
    return to;
}

json_t *stated_scaling(const json_t *rows, const json_t *machine, const json_t *software)
{
    json_t *to = measured(rows, machine, software);
    json_object_set_new(to, "settings", json_array());
    json_object_set_new(to, "scaling", copied_list(rows, scaling_sources));
    return to;
}

static void put_latencies(json_t *to, const json_t *record)
{
    json_t *list = json_array(), *row;
    size_t i;
    json_array_foreach(json_object_get(record, "latencies"), i, row) json_array_append_new(list, stated_latency(row));
    json_object_set_new(to, "latencies", list);
}

static void put_group(json_t *to, const json_t *record)
{
    const json_t *group = json_object_get(record, "group");
    if (group == NULL) return;
    json_t *member = copied(group, group_sources);
    put_int(member, "index", record_int(record, "group_index"));
    json_object_set_new(to, "group", member);
}

static void put_program(json_t *to, const json_t *record)
{
    const json_t *outside = json_object_get(record, "outside");
    const char *framework = record_is_outside(record) ? "unknown" : "DAWN";
    json_t *software = copied(json_object_get(record, "software_facts"), software_sources);
    put_text(software, "framework", outside != NULL ? record_text(outside, "framework") : framework);
    json_object_set_new(to, "software", software);
    int machines, processes = record_processes(record, &machines);
    // A processor is one device, even if several processes share it.
    bool accelerators = strcmp(record_text(record, "device"), "cuda") == 0;
    json_object_set_new(to, "hardware", hardware_of(json_object_get(record, "machine_facts"),
                                                    outside != NULL ? record_int(outside, "devices")
                                                    : accelerators  ? processes : 1));
}

// A run whose process ended unexpectedly has no recorded end. The time of its last event is used.
static int64_t ended_ms(const json_t *record)
{
    if (record_has(record, "ended_ms")) return record_int(record, "ended_ms");
    const json_t *segments = json_object_get(record, "segments");
    const json_t *last = json_array_get(segments, json_array_size(segments) > 0 ? json_array_size(segments) - 1 : 0);
    int64_t ns = record_int(last, "end_ns"), point = record_int(record, "last_ns");
    int64_t ms = (ns > point ? ns : point) / 1000000, start = record_int(record, "started_ms");
    return start > 0 && ms > 0 && start < INT64_MAX - ms ? start + ms : start;
}

// Known only at the end of a run, so it is not a member of `data`, which the root of the chain binds.
static void put_damaged(json_t *to, const json_t *record)
{
    json_t *counts = json_object(), *row;
    size_t i;
    json_array_foreach(json_object_get(record, "data_sets"), i, row)
        if (record_has(row, "damaged")) put_int(counts, record_text(row, "split"), record_int(row, "damaged"));
    if (json_object_size(counts) > 0) json_object_set(to, "damaged", counts);
    json_decref(counts);
}

// The energy up to the target is stated only with the energy of the whole run, which bounds it.
static void drop_lone_energy(json_t *to, const json_t *record)
{
    json_t *reached = json_object_get(to, "reached");
    if (reached != NULL && !record_has(record, "energy_uj")) json_object_del(reached, "energy_uj");
}

json_t *stated_run(const json_t *record)
{
    const json_t *files = json_object_get(record, "files"), *work = json_object_get(record, "work");
    json_t *to = copied(record, run_sources);
    put_int(to, "version", 1);
    put_text(to, "evaluated_by", record_is_outside(record) ? "self" : "harness");
    put_int(to, "ended_ms", ended_ms(record));
    json_object_set_new(to, "model", copied(record, model_sources));
    json_object_set_new(to, "recipe", copied(record, recipe_sources));
    json_object_set_new(to, "data", copied_list(json_object_get(record, "data_sets"), data_sources));
    if (json_array_size(files) > 0) json_object_set_new(to, "files", copied_list(files, file_sources));
    put_damaged(to, record);
    json_object_set_new(to, "metrics", copied_list(json_object_get(record, "metrics"), metric_sources));
    json_object_set_new(to, "points", copied_list(json_object_get(record, "points"), point_sources));
    if (json_array_size(work) > 0) json_object_set_new(to, "work", copied_list(work, part_sources));
    json_object_set_new(to, "segments", copied_list(json_object_get(record, "segments"), segment_sources));
    bool reached = record_has(record, "reached_ns");
    if (reached) json_object_set_new(to, "reached", copied(record, reached_sources));
    int64_t ns = record_int(record, "reached_ns"), price = record_int(record, "price_micro_per_hour");
    put_price(to, record, reached && ns >= 0 && price > 0 ? cost_training_micro(ns, price) : -1);
    put_group(to, record);
    if (record_has(record, "ticket"))
        json_object_set_new(to, "ticket", copied(json_object_get(record, "ticket"), ticket_sources));
    put_program(to, record);
    put_latencies(to, record);
    drop_lone_energy(to, record);
    return to;
}
