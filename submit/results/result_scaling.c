// SPDX-License-Identifier: Apache-2.0
#include "submit/results/result_scaling.h"

#include <math.h>

#include "runtime/common/base/clock.h"
#include "submit/results/result_inside.h"

static const char what[] = "record the measurement";

static int store_scaling(struct results *r, const struct scaling_facts *f, const struct software_facts *software, int64_t *id)
{
    int64_t machine, program;
    TRY(result_machine(r, f->machine, &machine));
    TRY(result_software(r, software, &program));
    TRY(result_do(r, what,
                  "INSERT INTO scalings (sweep, task, samples, data, noise, model, recipe, precision, device, threads, processes,"
                  " machines, batch, size, step_ns, gradient_bytes, exchanges, machine, software,"
                  " measured_ms) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                  "itttittttiiiitiiiiii", f->sweep, f->task, f->samples, f->data, (int64_t)f->noise, f->model, f->recipe,
                  f->precision, f->device, f->threads, f->processes, f->machines, f->batch, f->size, f->step_ns,
                  f->gradient_bytes, f->exchanges, machine, program, clock_unix_ms()));
    *id = sqlite3_last_insert_rowid(r->db);
    TRY(result_do(r, what, "UPDATE scalings SET sweep = id WHERE id = ? AND sweep = 0", "i", *id));
    for (int64_t i = 0; i < f->reduce_count; i++) {
        int64_t ns = llround(f->reduce_seconds[i] * 1e9);
        TRY(result_do(r, what, "INSERT INTO scaling_reductions (scaling, number, bytes, ns) VALUES (?,?,?,?)", "iiii", *id, i,
                      (int64_t)llround(f->reduce_bytes[i]), ns > 0 ? ns : 1));
    }
    return 0;
}

int result_scaling_add(struct results *r, const struct scaling_facts *f, int64_t *id)
{
    struct software_facts own;
    if (f->processes < 1 || f->batch < 1 || f->step_ns < 1)
        return fail(ERR_INPUT, "a step of %lld ns on %lld processes cannot be recorded", (long long)f->step_ns,
                    (long long)f->processes);
    if (f->software == NULL) TRY(machine_software(&own));
    TRY(result_begin_transaction(r));
    return result_end_transaction(r, store_scaling(r, f, f->software != NULL ? f->software : &own, id));
}
