// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/recipe/schedule.h"

#include <math.h>

// ---- the curves: a value between `from` and `to` at x, 0 to 1

static double linear(double from, double to, double x)
{
    return from + (to - from) * x;
}

static double cosine(double from, double to, double x)
{
    return linear(from, to, (1 - cos(M_PI * x)) / 2);
}

static double exponential(double from, double to, double x)
{
    return from * pow(to / from, x);
}

static double inverse_root(double from, double to, double x)
{
    return 1 / sqrt(linear(1 / (from * from), 1 / (to * to), x));
}

static double (*const curves[])(double from, double to, double x) = {
    [CURVE_LINEAR] = linear, [CURVE_COSINE] = cosine, [CURVE_EXPONENTIAL] = exponential, [CURVE_INVERSE_ROOT] = inverse_root,
};

// ---- schedules

struct schedule schedule_constant(double value)
{
    struct schedule s = {.least = -INFINITY};
    schedule_add(&s, 1, value, value, CURVE_LINEAR);
    return s;
}

void schedule_add(struct schedule *s, double steps, double from, double to, enum curve curve)
{
    if (steps <= 0) return;
    BUG_IF(s->pieces == SCHEDULE_PIECES);
    s->piece[s->pieces++] = (struct schedule_piece){steps, from, to, curve};
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
        value = curves[p->curve](p->from, p->to, x);
        if (here) break;
        begin += p->steps;
    }
    return value < s->least ? s->least : value;
}
