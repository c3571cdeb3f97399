// SPDX-License-Identifier: Apache-2.0
#include "submit/results/result_bench.h"

#include <string.h>

#include "runtime/common/base/clock.h"
#include "submit/results/result_inside.h"

static const char what[] = "record the measurement";

static int store_repeats(struct results *r, const struct bench_facts *f, int64_t id)
{
    for (int64_t i = 0; i < f->repeat_count; i++) {
        const struct bench_repeat *p = &f->repeats[i];
        TRY(result_do(r, what,
                      "INSERT INTO bench_repeats (bench, number, step_ns, variation_micro, slope_micro, extended, accepted)"
                      " VALUES (?1, ?2, ?3, iif(?8, ?4, NULL), iif(?8, ?5, NULL), ?6, ?7)",
                      "iiiiiiii", id, i, p->step_ns, p->variation_micro, p->slope_micro, p->extended, (int64_t)p->accepted,
                      (int64_t)p->judged));
    }
    return 0;
}

static int store_parts(struct results *r, const struct bench_facts *f, int64_t id)
{
    int64_t number = 0;
    for (int i = 0; i < f->memory_count; i++)
        if (f->memory[i].bytes > 0)
            TRY(result_do(r, what, "INSERT INTO bench_memory (bench, number, class, bytes) VALUES (?,?,?,?)", "iiti", id,
                          number++, f->memory[i].class, f->memory[i].bytes));
    for (int64_t i = 0; i < f->operator_count; i++) {
        const struct bench_operator *o = &f->operators[i];
        TRY(result_do(r, what,
                      "INSERT INTO bench_operators (bench, number, operator, pass, nodes, ns, flops, bytes, bound_ns)"
                      " VALUES (?,?,?,?,?,?,?,?,?)",
                      "iittiiiip", id, i, o->operator, o->pass, o->nodes, o->ns, o->flops, o->bytes, o->bound_ns));
    }
    return 0;
}

static int store_bench(struct results *r, const struct bench_facts *f, const struct software_facts *software, int64_t *id)
{
    int64_t machine, program, accepted = 0;
    char recipe[DIGEST_HEX];
    TRY(result_machine(r, f->machine, &machine));
    TRY(result_software(r, software, &program));
    digest_bytes(f->recipe_json, strlen(f->recipe_json), recipe);
    for (int i = 0; i < f->repeat_count; i++) accepted += f->repeats[i].accepted;
    TRY(result_do(
        r, what,
        "INSERT INTO benches (sweep, task, samples, data, noise, model, recipe, recipe_digest, precision, fusion, device,"
        " threads, batch, size, ignored, timed, whole, step_ns, step_low_ns, step_high_ns, accepted, others_micro, energy_uj,"
        " flops, bytes, bound_ns, peak_flops, peak_bytes, memory_bytes, machine, software, measured_ms) VALUES"
        " (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21,iif(?22 < 0, NULL, ?22),?23,?24,?25,"
        "?26,?27,?28,?29,?30,?31,?32)",
        "itttitttti" "tiit" "iiiiiiii" "piippp" "iiii", f->sweep, f->task, f->samples, f->data, (int64_t)f->noise, f->model,
        f->recipe, recipe, f->precision, (int64_t)f->fusion, f->device, f->threads, f->batch, f->size, f->ignored, f->timed,
        (int64_t)f->whole, f->step_ns, f->step_low_ns, f->step_high_ns, accepted, f->others_micro, f->energy_uj, f->flops,
        f->bytes, f->bound_ns, f->peak_flops, f->peak_bytes, f->memory_bytes, machine, program, clock_unix_ms()));
    *id = sqlite3_last_insert_rowid(r->db);
    TRY(result_do(r, what, "UPDATE benches SET sweep = id WHERE id = ? AND sweep = 0", "i", *id));
    TRY(store_repeats(r, f, *id));
    return store_parts(r, f, *id);
}

int result_bench_add(struct results *r, const struct bench_facts *f, int64_t *id)
{
    struct software_facts own;
    if (f->batch < 1 || f->step_ns < 1 || f->repeat_count < 1)
        return fail(ERR_INPUT, "a step of %lld ns at batch %lld cannot be recorded", (long long)f->step_ns, (long long)f->batch);
    if (f->software == NULL) TRY(machine_software(&own));
    TRY(result_begin_transaction(r));
    return result_end_transaction(r, store_bench(r, f, f->software != NULL ? f->software : &own, id));
}
