// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/update.h"

#include "tasks/common/step/losses.h"

static bool same_table(const struct step_table *a, const struct step_table *b)
{
    return a->factor == b->factor && a->offset == b->offset && schedule_same(&a->schedule, &b->schedule);
}

// The value of this step in a table over all steps, which the trainer uploads. All parameters share it.
static int scheduled(struct step *s, const char *name, int step, const struct schedule *schedule, double factor, double offset)
{
    struct graph *g = s->g;
    struct step_slots *slots = s->slots;
    char *slot_name = arena_text(&g->arena, "schedule.%s", name);
    int v = graph_state(g, slot_name, SHAPE(s->setting->steps), F32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    if (v == NONE) return NONE;
    struct slot *slot = g->value[v].slot;
    int i = 0;
    while (i < slots->tables && slots->table[i].slot != slot) i++;
    BUG_IF(i == STEP_TABLES);
    const struct step_table table = {slot, *schedule, factor, offset};
    BUG_IF(i < slots->tables && !same_table(&slots->table[i], &table));  // two schedules have the same name
    if (i == slots->tables) slots->tables++;
    slots->table[i] = table;
    if (!s->picked[i]) s->picked[i] = g_pick(g, v, step) + 1;
    return s->picked[i] - 1;
}

static const struct rule *rule_for(const struct rule *rule, int count, const struct slot *slot)
{
    for (int i = 0; i < count; i++)
        if (rule[i].groups >> slot->group & 1 && rule[i].roles >> slot->role & 1) return &rule[i];
    return NULL;
}

// bf16 and f32 have the range of gradients.
static bool is_scaled(const struct setting *setting)
{
    return setting->dtype == F16 && setting->recipe->loss_scale > 0;
}

int update_scale(struct step *s)
{
    return is_scaled(s->setting) ? optim_scale_slot(s->g, (float)s->setting->recipe->loss_scale) : NONE;
}

static struct optim_settings settings_of(struct step *s, const struct rule *rule, int step, const struct optim_scaled *scaled)
{
    struct optim_settings o = rule->settings;
    o.renormalise = o.ns_norm = NONE;
    o.clip = scaled->clip;
    if (rule->optimiser != OPTIMISER_MUON) return o;
    if (s->is.renormalises && scaled->take != NONE) o.renormalise = scaled->take;
    else if (s->is.renormalises)
        o.renormalise = graph_state(s->g, "one", SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1});
    // The norm depends on the share of the schedule that is done when the step ends.
    o.ns_norm = scheduled(s, "ns_norm", step, &rule->norm, 1, 1);
    return o;
}

#define OPTIMISER_UPDATE(id, name, update) update,
static int (*const updates[])(struct graph *, int param, int grad, int lr, const struct optim_settings *) = {
    OPTIMISERS(OPTIMISER_UPDATE)};

// Parameters of one rule, all of one shape where there are several.
struct alike {
    const struct rule *rule;
    int count, param[OPTIM_TOGETHER], grad[OPTIM_TOGETHER];
};

static void update_alike(struct step *s, const struct alike *a, int step, const struct optim_scaled *scaled)
{
    struct graph *g = s->g;
    graph_scope(g, "%s%s", g->value[a->param[0]].slot->name, a->count > 1 ? ".together" : "");
    int rate = scheduled(s, arena_text(&g->arena, "%s_lr", a->rule->name), step, &a->rule->share, a->rule->rate, 0);
    if (scaled->take != NONE) rate = g_mul(g, rate, scaled->take);
    struct optim_settings o = settings_of(s, a->rule, step, scaled);
    if (a->count > 1) optim_muon_together(g, a->param, a->grad, a->count, rate, &o);
    else updates[a->rule->optimiser](g, a->param[0], a->grad[0], rate, &o);
}

struct updating {
    const int *param;
    int *grad;  // NONE: the parameter has none, or is taken
    int count, rules;
    struct rule rule[RULES_MAX];
};

// Takes the first of the parameters that are left and, if its rule says so, others of its rule and shape.
static int take_alike(struct step *s, const struct updating *u, struct alike *a)
{
    const struct value *value = s->g->value;
    a->count = 0;
    for (int i = 0; i < u->count && a->count < OPTIM_TOGETHER; i++) {
        if (u->grad[i] == NONE) continue;
        const struct value *p = &value[u->param[i]];
        const struct rule *mine = rule_for(u->rule, u->rules, p->slot);
        if (!mine) return fail(ERR_SHAPE, "no update rule matches the parameter \"%s\"", p->slot->name);
        if (a->count && (mine != a->rule || !shape_equal(&p->shape, &value[a->param[0]].shape))) continue;
        a->rule = mine, a->param[a->count] = u->param[i], a->grad[a->count++] = u->grad[i];
        u->grad[i] = NONE;
        if (!mine->settings.together || mine->optimiser != OPTIMISER_MUON) break;
    }
    return 0;
}

int update_parameters(struct step *s, const int *params, const int *grads, int count, int step)
{
    struct graph *g = s->g;
    const float norm = (float)s->setting->recipe->clip;
    graph_scope(g, "clip");
    struct optim_scaled scaled = {NONE, NONE};
    if (is_scaled(s->setting)) scaled = optim_unscale(g, grads, count, (float)s->setting->recipe->loss_scale, norm);
    else if (norm > 0) scaled.clip = optim_clip(g, grads, count, norm);
    struct updating u = {.param = params, .count = count};
    u.rules = s->setting->task->rules(s->setting, u.rule);
    u.grad = arena_alloc(&g->arena, (size_t)(count + 1) * sizeof *grads);
    memcpy(u.grad, grads, (size_t)count * sizeof *grads);
    for (struct alike a;;) {
        TRY(take_alike(s, &u, &a));
        if (!a.count) return g->error;
        update_alike(s, &a, step, &scaled);
    }
}

int update_accumulate(struct step *s, struct tally *tally, int tallies)
{
    struct graph *g = s->g;
    enum step_part part = s->is.part;
    graph_scope(g, "parts");
    for (int i = 0; i < tallies; i++) {
        char *name = arena_text(&g->arena, "sum.%s", tally[i].name);
        int *v = &tally[i].value;
        int sum = graph_state(g, name, g->value[*v].shape, F32, MEMORY_OPTIMISER, (struct init){INIT_ZERO, 0});
        if (sum == NONE) break;
        g->value[sum].slot->role = ROLE_DERIVED;  // the sum holds nothing between two steps, so no state stores it
        if (part == PART_FIRST) graph_node_over(g, OP_ASSIGN, (int[]){sum, *v}, 2, NULL, &sum, NULL);
        if (part == PART_MIDDLE)
            graph_node_over(g, OP_MAP, (int[]){sum, *v}, 2, &(union attr){.map = {.formula = MAP_ADD}}, &sum, NULL);
        if (part == PART_LAST) *v = g_add(g, sum, *v);
    }
    return g->error;
}

bool update_uses_muon(const struct setting *c)
{
    struct rule rule[RULES_MAX] = {0};
    int rules = c->task->rules(c, rule);
    bool muon = false;
    for (int i = 0; i < rules; i++) muon |= rule[i].optimiser == OPTIMISER_MUON;
    return muon;
}

bool update_renormalises(const struct setting *c, int64_t step, int64_t *last)
{
    const struct recipe *r = c->recipe;
    if (r->renormalise == RENORMALISE_NEVER) return false;
    // Progress counts the steps of the decay, as in E1. In a tail after the decay it exceeds 1.
    double progress = (double)(step + 1) / (double)recipe_decay_end(r, c->steps_per_epoch);
    if (r->renormalise == RENORMALISE_SELDOM && step + 1 - *last < 2 + (int64_t)(15 * progress)) return false;
    *last = step + 1;
    return true;
}
