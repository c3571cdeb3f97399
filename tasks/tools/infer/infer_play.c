// SPDX-License-Identifier: Apache-2.0
// Games against trained weights: of a person, or of the task's own program.
#include "tasks/tools/infer/infer_inside.h"

#include "tasks/common/step/player.h"

static int64_t batch_of(const struct infer_options *o)
{
    return o->playing->match ? o->playing->match->games : 1;
}

int infer_play_build(struct serving *s, const struct infer_options *o)
{
    struct variant is = {.batch = batch_of(o)};
    BUG_IF(!o->task->player);
    s->setting.single = true;
    s->supply.choice.data = s->data;
    s->setting.feed[FEED_TEST] = &s->supply.choice;
    s->evaluation.fold = NONE;
    return s->write = step_evaluate(s->session, &s->setting, &s->slots, &is, o->task->player->program, &s->evaluation.fold);
}

int infer_play(struct serving *s, const struct infer_options *o)
{
    const struct player *player = o->task->player;
    const struct seat seat = {&s->setting, s->session, s->write, batch_of(o), o->playing->read, o->playing->say};
    if (s->evaluation.fold != NONE) TRY(session_run(s->session, s->evaluation.fold));
    return o->playing->match ? player->match(&seat, o->playing->match) : player->play(&seat);
}
