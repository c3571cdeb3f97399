// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/rule.h"

static void set_rmsprop(struct rule *rule, const struct recipe *r)
{
    if (rule->optimiser != OPTIMISER_RMSPROP) return;
    rule->settings.beta2 = (float)r->rms_alpha;
    rule->settings.eps = (float)r->rms_epsilon;
    rule->settings.inside = r->rms_inside;
    rule->settings.momentum = (float)r->rms_momentum;
}

struct rule rule_of_filters(const struct setting *c, const char *name, uint32_t roles)
{
    const struct recipe *r = c->recipe;
    struct rule rule = {
        .name = name, .groups = ANY, .roles = roles, .optimiser = (enum recipe_optimiser)r->optimiser, .rate = r->filter_lr,
        .share = recipe_rate(r, c->steps_per_epoch),
        .settings = {.momentum = (float)r->filter_momentum, .nesterov = r->nesterov != 0, .decay = (float)r->filter_decay,
                     .beta1 = (float)r->adam_beta1, .beta2 = (float)r->adam_beta2, .eps = (float)r->adam_epsilon,
                     .ns_steps = (int)r->newton_schulz_steps},
    };
    set_rmsprop(&rule, r);
    for (int i = 0; i < 3; i++) rule.settings.ns[i] = (float)r->newton_schulz.at[i];
    schedule_add(&rule.norm, (double)c->steps, r->newton_schulz_norm.at[0], r->newton_schulz_norm.at[1], CURVE_LINEAR);
    return rule;
}

double rule_decay(const struct recipe *r, double rate)
{
    return rate > 0 ? r->weight_decay * (double)r->batch / rate : 0;
}

struct rule rule_of_others(const struct setting *c, const char *name, uint32_t roles, double rate)
{
    struct rule rule = rule_of_filters(c, name, roles);
    rule.optimiser = recipe_other_rule((enum recipe_optimiser)c->recipe->optimiser);
    rule.rate = rate;
    rule.settings.momentum = (float)c->recipe->momentum;
    rule.settings.decay = (float)rule_decay(c->recipe, rate);
    set_rmsprop(&rule, c->recipe);
    return rule;
}

struct rule rule_beside_muon(const struct setting *c, const char *name, uint32_t roles, double rate, double beta2)
{
    struct rule rule = rule_of_others(c, name, roles, rate);
    if (c->recipe->optimiser != OPTIMISER_MUON) return rule;
    rule.optimiser = OPTIMISER_ADAMW;
    rule.settings.beta1 = (float)c->recipe->momentum, rule.settings.beta2 = (float)beta2;
    return rule;
}

void rule_in_batches(const struct setting *c, struct rule *rule)
{
    rule->settings.together = true, rule->settings.ns_bf16 = c->dtype == BF16;
}
