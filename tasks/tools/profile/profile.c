// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/profile/profile.h"

#include "runtime/common/base/clock.h"

#include <stdio.h>
#include <string.h>

enum { FED_IGNORED = 3, FED_LEAST = 5 };

// ---- the step and its nodes

enum { REPEATS = 3 };
struct listener {
    void (*tell)(const char *);
};

static void tell(const struct listener *l, const char *what)
{
    if (l->tell) l->tell(what);
}

static void tell_repeat(void *listener, const struct timing *t)
{
    char what[64];
    snprintf(what, sizeof what, "timing steps: %lld of %d repeats", (long long)t->repeats, REPEATS);
    tell(listener, what);
}

static int time_nodes(struct trial *t, double seconds, struct listener *l, struct profile *p)
{
    tell(l, "timing steps");
    TRY(trial_time(t, seconds, REPEATS, tell_repeat, l));
    tell(l, "timing operators");
    TRY(trial_profile(t));
    p->step_s = t->timing.step.median, p->nodes_s = t->profiled;
    p->peak = t->facts.peak_flops[t->trainer->setting.dtype];
    roofline_of(trial_plan(t), &t->facts, ROOFLINE_PASSES, t->ns, &p->passes);
    roofline_of(trial_plan(t), &t->facts, ROOFLINE_NODES, t->ns, &p->nodes);
    for (int i = 0; i < p->passes.rows; i++)
        if (p->passes.row[i].pass != PHASE_UPDATE) p->model_flops += p->passes.row[i].flops;
    p->flops = p->passes.all.flops;
    return 0;
}

// ---- steps through the feed

static int run_fed_step(struct trial *t, int64_t began, struct profile_step *step)
{
    step->begin_ns = clock_ns() - began;
    TRY(trial_next(t, &step->samples));
    step->fed_ns = clock_ns() - began;
    TRY(trial_step(t));
    step->end_ns = clock_ns() - began;
    return 0;
}

static int run_fed_steps(struct trial *t, double seconds, int64_t began, struct profile *p)
{
    for (; p->steps < PROFILE_STEPS; p->steps++) {
        if (p->steps >= FED_LEAST && (double)(clock_ns() - began) * 1e-9 > seconds) break;
        TRY(run_fed_step(t, began, &p->step[p->steps]));
        p->samples += p->step[p->steps].samples;
    }
    return 0;
}

static int time_fed_steps(struct trial *t, double seconds, struct profile *p)
{
    const struct supply *s = &t->trainer->supply[FEED_TRAIN];
    struct profile_step ignored;
    struct others others;
    TRY(trial_begin(t));
    for (int i = 0; i < FED_IGNORED; i++) TRY(run_fed_step(t, 0, &ignored));
    TRY(session_sync(t->trainer->session));
    int64_t stalled = supply_stalled_ns(s), began = clock_ns();
    others_begin(&others);
    struct counters *counters = counters_begin();
    int rc = run_fed_steps(t, seconds, began, p);
    if (rc == 0) rc = session_sync(t->trainer->session);
    if (!counters_end(counters, &p->counted)) p->counted = (struct counted){0};
    TRY(rc);
    p->fed_s = (double)(clock_ns() - began) * 1e-9;
    p->machine = others_end(&others);
    p->stalled_s = (double)(supply_stalled_ns(s) - stalled) * 1e-9;
    return 0;
}

static int count_feed_bytes(struct trial *t, int64_t *bytes)
{
    *bytes = 0;
    for (int feed = 0; feed < t->trainer->feeds; feed++) {
        const struct supply *s = &t->trainer->supply[feed];
        const struct feed_choice *f = &s->choice;
        int64_t kept, batch = 0;
        TRY(supply_keeps(s, &kept));
        for (int b = 0; b < f->order.buckets && f->fields; b++) {
            int64_t all = 0;
            for (int i = 0; i < f->fields; i++) all += (int64_t)feed_bytes(&f->field[i], b) * f->order.batch[b];
            if (all > batch) batch = all;
        }
        *bytes += kept + batch * (f->depth ? f->depth : FEED_DEPTH);
    }
    return 0;
}

int profile_run(struct trial *t, double seconds, void (*tells)(const char *), struct profile *p)
{
    struct listener listener = {tells};
    *p = (struct profile){0};
    TRY(time_nodes(t, seconds, &listener, p));
    tell(&listener, "timing steps with the feed");
    TRY(time_fed_steps(t, seconds, p));
    p->owns = forecast_own(t->trainer, &t->facts, p->own);
    profile_layers_of(t->trainer->session, t->variant->program, &p->layers);
    return count_feed_bytes(t, &p->feed_bytes);
}

void profile_free(struct profile *p)
{
    roofline_free(&p->passes);
    roofline_free(&p->nodes);
    profile_layers_free(&p->layers);
}
