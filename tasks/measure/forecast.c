// SPDX-License-Identifier: Apache-2.0
// Cost: one pass over the nodes of each program and one over the steps.
#include "tasks/measure/forecast.h"

static void program_cost(const struct trainer *t, int program, double *flops, double *bytes)
{
    const struct graph *g = t->session->graph[program];
    *flops = *bytes = 0;
    for (int i = 0; i < g->nodes; i++) {
        struct cost c = node_cost(g, &g->node[i]);
        *flops += c.flops;
        *bytes += c.read + c.written;
    }
}

static void variants(const struct trainer *t, const struct device_facts *f, struct forecast *into)
{
    into->variants = t->variants;
    for (int v = 0; v < t->variants; v++) {
        int program = t->variant[v].program;
        into->variant[v] = (struct forecast_variant){
            .program = program,
            .name = t->session->graph[program]->name,
            .side = t->variant[v].is.height,
            .seconds = roofline_seconds(t->session->plan[program], f),
        };
        program_cost(t, program, &into->variant[v].flops, &into->variant[v].bytes);
    }
    for (int64_t step = 0; step < t->steps; step++)
        for (int turn = 0; turn < t->turns; turn++) into->variant[trainer_variant(t, step, turn) - t->variant].steps++;
}

// Of equally large images the variant that most steps are.
static int full_variant(const struct forecast *f)
{
    int best = 0;
    for (int v = 1; v < f->variants; v++) {
        const struct forecast_variant *a = &f->variant[v], *b = &f->variant[best];
        if (a->side > b->side || (a->side == b->side && a->steps > b->steps)) best = v;
    }
    return best;
}

static void evaluation(const struct trainer *t, const struct device_facts *f, struct forecast *into)
{
    const struct {
        int program;
        int64_t times;
    } parts[] = {{t->fold, 1}, {t->evaluate, t->facts->count[SPLIT_TEST] / t->evaluate_batch}, {t->evaluate_rest, 1}};
    for (int i = 0; i < 3; i++) {
        if (parts[i].program == NONE) continue;
        double flops, bytes;
        program_cost(t, parts[i].program, &flops, &bytes);
        into->evaluation_flops += (double)parts[i].times * flops;
        into->evaluation_bytes += (double)parts[i].times * bytes;
        into->evaluation_seconds += (double)parts[i].times * roofline_seconds(t->session->plan[parts[i].program], f);
    }
    for (int64_t at = 1; at <= t->steps; at++) into->evaluations += trainer_evaluates_after(t, at);
}

void forecast_of(const struct trainer *t, const struct device_facts *f, struct forecast *into)
{
    *into = (struct forecast){0};
    variants(t, f, into);
    evaluation(t, f, into);
    into->full = full_variant(into);
    for (int v = 0; v < into->variants; v++) {
        into->flops += (double)into->variant[v].steps * into->variant[v].flops;
        into->training_seconds += (double)into->variant[v].steps * into->variant[v].seconds;
    }
    into->flops += (double)into->evaluations * into->evaluation_flops;
    into->seconds = into->training_seconds + (double)into->evaluations * into->evaluation_seconds;
}
