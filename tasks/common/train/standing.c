// SPDX-License-Identifier: Apache-2.0
// docs/rules.md has the rules. submit/format/check/check_rules.c checks a submission against them again.
#include "tasks/common/train/standing.h"

#include <math.h>

#include "submit/format/run_metric.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/group.h"

// True if a submission may have this target.
static bool has_board(const struct standing *s)
{
    const struct contest *c = contest_find(s->task->name);
    for (int i = 0; c && i < CONTEST_TARGETS && c->target_micro[i]; i++)
        if (c->target_micro[i] == llround(s->target * 1e6)) return true;
    return false;
}

// The reason why no board of the task accepts the run; NULL: a board does.
static const char *find_obstacle(const struct standing *s)
{
    if (s->data->synthetic) return "no: SYNTHETIC data is listed on the board \"demo\" alone";
    if (!s->data->official) return "no: the data is not the published data set";
    if (s->emulated) return "no: the GPU is emulated";
    return has_board(s) ? NULL : "no: no board has this target; the board's is";
}

bool standing_text(const struct standing *s, struct text *into)
{
    const struct run_metric board = {s->task->metrics[0].name, s->task->metrics[0].unit, s->task->metrics[0].lower_is_better, 0};
    const char *obstacle = find_obstacle(s);
    char target[TEXT_FIGURE];
    if (obstacle) {
        text_add(into, "%s", obstacle);
        if (!s->data->synthetic && s->data->official && !s->emulated)
            text_add(into, " %s", run_metric_value_text(&board, s->task->target, target));
        return false;
    }
    bool closed = !s->files && recipe_is_published(s->recipe->name, s->recipe);
    text_add(into, "yes, if it meets the target: for the boards of %s, %s division", s->runs >= GROUP_MINIMUM ? "official groups"
                                                                                                        : "single runs",
             closed ? "closed" : "open");
    if (s->runs > 1 && s->runs < GROUP_MINIMUM) text_add(into, "; an official group has at least %d runs", GROUP_MINIMUM);
    if (s->views > 1) text_add(into, "; a latency counts with the same %lld views", (long long)s->views);
    return true;
}
