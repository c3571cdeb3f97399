// SPDX-License-Identifier: Apache-2.0
// Measurements of inference in the record. One transaction each.
#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"
#include "submit/format/score/contest.h"
#include "submit/results/record.h"
#include "submit/results/result_inside.h"
#include "submit/results/stated.h"

// The board's metric over the measured items. A task without a contest has a counting metric.
static struct run_metric metric_of(const struct latency_facts *f)
{
    const struct contest *contest = contest_find(f->task);
    struct run_metric metric = contest != NULL ? contest->board : (struct run_metric){.name = "", .unit = "%"};
    metric.items = contest_is_share(contest) ? 0 : f->items;
    return metric;
}

static bool decodes_otherwise(const struct latency_facts *f)
{
    return f->decoding != NULL && *f->decoding != '\0';
}

bool result_eligible(const struct latency_facts *f)
{
    const struct run_data *d = f->data;
    const struct contest *contest = contest_find(f->task);
    bool fixed = contest != NULL && !contest->synthetic;
    if (f->items != (fixed ? contest->requests : d->items) || (fixed && d->items != contest->test_items)) return false;
    const struct run_metric metric = metric_of(f);
    return !decodes_otherwise(f) && d->official && !d->synthetic && run_metric_meets(&metric, f->k, f->target_micro);
}

static int store_latency(struct results *r, const struct latency_facts *f, const struct software_facts *software)
{
    const struct run_data *d = f->data;
    const struct price *price = f->price;
    int64_t machine, program;
    TRY(result_machine(r, f->machine, &machine));
    TRY(result_software(r, software, &program));
    int64_t eligible = result_eligible(f);
    bool otherwise = decodes_otherwise(f);
    struct text model = {0};
    text_add(&model, "%s%s%s", f->model, otherwise ? ", " : "", otherwise ? f->decoding : "");
    int rc = result_do(
        r, "record the latency",
        "INSERT INTO latencies (run, weights_digest, task, model, precision, device, threads, items, warmup_items,"
        " model_mean_ns, model_p50_ns, model_p90_ns, model_p99_ns, whole_mean_ns, whole_p50_ns, whole_p90_ns, whole_p99_ns,"
        " k, views, target_micro, eligible, data_name, data_split, data_digest, data_items, official, synthetic, machine,"
        " software, price_instance, price_micro_per_hour, price_source, price_date, measured_ms) VALUES"
        " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        "pttttt" "iii" "iiiiiiii" "iiii" "tttiii" "iitptti",
        otherwise ? (int64_t)0 : f->run, f->weights_digest != NULL ? f->weights_digest : "", f->task, model.at, f->precision,
        f->device, f->threads, f->items, f->warmup_items, f->model_ns.mean, f->model_ns.p50, f->model_ns.p90, f->model_ns.p99,
        f->whole_ns.mean, f->whole_ns.p50, f->whole_ns.p90, f->whole_ns.p99, f->k, f->views, f->target_micro, eligible, d->name,
        d->split, d->digest, d->items, (int64_t)d->official, (int64_t)d->synthetic, machine, program,
        price ? price->instance : NULL, price ? price->micro_per_hour : (int64_t)0, price ? price->source : NULL,
        price ? price->date : NULL, clock_unix_ms());
    text_free(&model);
    return rc;
}

// Binds the measurement to its run's root.
static int bind_latency(struct results *r, int64_t run, int64_t id)
{
    json_t *record, *row;
    char hash[DIGEST_HEX] = "";
    size_t i;
    int rc = 0;
    TRY(record_read(r, run, &record));
    json_array_foreach(json_object_get(record, "latencies"), i, row)
    {
        if (record_int(row, "id") != id) continue;
        json_t *stated = stated_latency(row);
        rc = chain_latency(record_text(record, "chain_root"), stated, hash);
        json_decref(stated);
    }
    json_decref(record);
    if (rc < 0 || *hash == 0) return rc;
    return result_do(r, "record the latency", "UPDATE latencies SET hash = ? WHERE id = ?", "ti", hash, id);
}

int result_latency(struct results *r, const struct latency_facts *f, int64_t *id)
{
    struct software_facts own;
    BUG_IF(f->data == NULL);
    int64_t most = metric_of(f).items > 0 ? f->items : INT64_MAX;
    if (f->items < 1 || f->k < 0 || f->k > most)
        return fail(ERR_INPUT, "%lld correct of %lld items cannot be recorded", (long long)f->k, (long long)f->items);
    if (f->software == NULL) TRY(machine_software(&own));
    TRY(result_begin_transaction(r));
    int rc = store_latency(r, f, f->software != NULL ? f->software : &own);
    int64_t row = sqlite3_last_insert_rowid(r->db);
    if (rc == 0 && f->run > 0 && !decodes_otherwise(f)) rc = bind_latency(r, f->run, row);
    rc = result_end_transaction(r, rc);
    if (rc == 0 && id != NULL) *id = row;
    return rc;
}
