// SPDX-License-Identifier: Apache-2.0
#include "submit/results/group_text.h"

#include <stdio.h>

#include "submit/format/score/contest.h"

static void add_group_score(struct text *t, const struct run_metric *m, const struct group_facts *f)
{
    char mean[TEXT_FIGURE], sigma[TEXT_FIGURE], low[TEXT_FIGURE], high[TEXT_FIGURE], interval[3 * TEXT_FIGURE] = "-", p[32] = "-";
    const struct group_mean *s = &f->accuracy;
    run_metric_value_text(m, s->mean, mean);
    run_metric_spread_text(m, s->sigma, f->finished, sigma);
    if (f->finished > 1) {
        snprintf(interval, sizeof interval, "%s to %s", run_metric_value_text(m, s->low, low),
                 run_metric_value_text(m, s->high, high));
        snprintf(p, sizeof p, "%.2g", f->p);
    }
    struct text words = {0}, plain = {0};  // the name of the metric is a text of the record
    text_add(&words, "mean %s %s, sigma %s, 95%% interval %s, p = %s", mean, contest_metric_title(m->name), sigma, interval, p);
    text_plain(&plain, words.at, words.length);
    text_entry(t, "score", "%s", plain.at);
    text_free(&words);
    text_free(&plain);
}

static void add_group_time(struct text *t, const struct group_facts *f)
{
    char mean[TEXT_FIGURE], sigma[TEXT_FIGURE] = "-", low[TEXT_FIGURE], high[TEXT_FIGURE], interval[3 * TEXT_FIGURE] = "-";
    const struct group_mean *s = &f->seconds;
    text_span(mean, s->mean);
    if (f->finished > 1) {
        text_span(sigma, s->sigma);
        snprintf(interval, sizeof interval, "%s to %s", text_span(low, group_low(s)), text_span(high, s->high));
    }
    text_entry(t, "time", "mean %s, sigma %s, 95%% interval %s", mean, sigma, interval);
}

void group_text(struct text *t, const struct run_metric *m, const struct group_facts *f)
{
    if (f->finished > 0) {
        add_group_score(t, m, f);
        add_group_time(t, f);
    }
    text_entry(t, "verdict", "%s: %s", f->official ? "OFFICIAL" : "not official", group_verdict_sentence(f->verdict));
}

const char *const group_text_members[] = {"finished", "verdict", "official", "score_mean", "score_sigma", "score_low",
                                          "score_high", "seconds_mean", "seconds_sigma", "seconds_low", "seconds_high", "p",
                                          NULL};

static void set_mean(json_t *o, const char *name, const struct group_mean *m, double low, bool spread)
{
    const char *const end[] = {"mean", "sigma", "low", "high"};
    const double value[] = {m->mean, m->sigma, low, m->high};
    for (int i = 0; i < (spread ? 4 : 1); i++) {
        char key[16];
        snprintf(key, sizeof key, "%s_%s", name, end[i]);
        json_object_set_new(o, key, json_real(value[i]));
    }
}

json_t *group_text_json(const struct group_facts *f)
{
    json_t *o = json_pack("{si si ss sb}", "planned", f->planned, "finished", f->finished, "verdict",
                          group_verdict_name(f->verdict), "official", f->official);
    if (f->finished == 0) return o;
    set_mean(o, "score", &f->accuracy, f->accuracy.low, f->finished > 1);
    set_mean(o, "seconds", &f->seconds, group_low(&f->seconds), f->finished > 1);
    if (f->finished > 1) json_object_set_new(o, "p", json_real(f->p));
    return o;
}
