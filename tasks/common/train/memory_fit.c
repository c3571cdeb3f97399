// SPDX-License-Identifier: Apache-2.0
// The memory of a plan grows almost linearly with the batch, so a line through two plans predicts the limit. Every second
// probe is a bisection, because the size of workspaces may jump.
#include "tasks/common/train/memory_fit.h"

#include "runtime/common/base/text.h"

int64_t memory_fit_probe(struct memory_fit_search *s)
{
    int64_t between = s->high - s->low;
    if (s->low_bytes == 0 || s->high_bytes == SIZE_MAX || s->turn++ % 2) return s->low + between / 2;
    double share = (double)(s->capacity - s->low_bytes) / (double)(s->high_bytes - s->low_bytes);
    int64_t at = s->low + (int64_t)(share * (double)between);
    return at <= s->low ? s->low + 1 : at >= s->high ? s->high - 1 : at;
}

// The memory that the training would need with another batch. A batch that cannot be planned does not fit.
static size_t planned_bytes(const struct trainer *t, int64_t batch)
{
    struct trainer_choice choice = t->choice;
    struct trainer *trial = NULL;
    recipe_set_batch(&choice.recipe, batch);
    if (trainer_new(&choice, &trial) < 0) return SIZE_MAX;
    size_t bytes = trial->session->memory_total;
    trainer_free(trial);
    return bytes;
}

void memory_fit_found(struct memory_fit_search *s, int64_t probe, size_t bytes)
{
    if (bytes <= s->capacity) s->low = probe, s->low_bytes = bytes;
    else s->high = probe, s->high_bytes = bytes;
}

int64_t memory_fit_largest_batch(const struct trainer *t, size_t bytes)
{
    struct memory_fit_search s = {.high = t->choice.recipe.batch / t->parts, .high_bytes = t->session->memory_total,
                                  .capacity = bytes};
    while (s.high - s.low > 1) {
        int64_t probe = memory_fit_probe(&s);
        memory_fit_found(&s, probe, planned_bytes(t, probe * t->parts));
    }
    return s.low * t->parts;
}

int memory_fit_check(const struct trainer *t)
{
    struct device_facts facts;
    char needed[TEXT_FIGURE], capacity[TEXT_FIGURE];
    const struct device_type *type = t->choice.device->type;
    TRY(type->facts(t->choice.device, &facts));
    size_t bytes = t->session->memory_total;
    if (facts.memory == 0 || bytes <= facts.memory) return 0;
    int64_t batch = memory_fit_largest_batch(t, facts.memory);
    text_size(needed, (double)bytes), text_size(capacity, (double)facts.memory);
    if (batch == 0)
        return fail(ERR_MEMORY, "the plan needs %s, and %s has %s free: no batch is small enough", needed, type->name, capacity);
    return fail(ERR_MEMORY, "the plan needs %s, and %s has %s free: the largest batch that fits is %lld (--batch %lld)", needed,
                type->name, capacity, (long long)batch, (long long)batch);
}
