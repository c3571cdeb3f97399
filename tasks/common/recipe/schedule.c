// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/recipe/schedule.h"

#include <math.h>

struct schedule schedule_constant(double value)
{
    struct schedule s = {.least = -INFINITY};
    schedule_add(&s, 1, value, value, CURVE_LINEAR);
    return s;
}

void schedule_add(struct schedule *s, double steps, double from, double to, enum curve curve)
{
    BUG_IF(s->pieces == SCHEDULE_PIECES);
    if (steps > 0) s->piece[s->pieces++] = (struct schedule_piece){steps, from, to, curve};
}

bool schedule_same(const struct schedule *a, const struct schedule *b)
{
    bool same = a->pieces == b->pieces && a->least == b->least;
    for (int i = 0; i < a->pieces && same; i++) {
        const struct schedule_piece *p = &a->piece[i], *q = &b->piece[i];
        same = p->steps == q->steps && p->from == q->from && p->to == q->to && p->curve == q->curve;
    }
    return same;
}

double schedule_at(const struct schedule *s, double step)
{
    BUG_IF(!s->pieces);
    double begin = 0, value = 0;
    for (int i = 0; i < s->pieces; i++) {
        const struct schedule_piece *p = &s->piece[i];
        bool here = step < begin + p->steps;
        double x = here ? (step - begin) / p->steps : 1;
        if (p->curve == CURVE_COSINE) x = (1 - cos(M_PI * x)) / 2;
        value = p->from + (p->to - p->from) * x;
        if (here) break;
        begin += p->steps;
    }
    return value < s->least ? s->least : value;
}
