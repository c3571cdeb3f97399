// SPDX-License-Identifier: Apache-2.0
// The score of a network that plays Go: the share of games that it wins against the fixed opponent, with the search of MiniGo's
// self-play but without noise. The games of a batch are the answer to it, and its results go to the judge.
#include "data/dataset.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "runtime/common/draw/html.h"
#include "tasks/common/step/drive.h"
#include "tasks/play/match.h"
#include "tasks/play/play.h"
#include "tasks/play/selfplay.h"

#include <stdlib.h>
#include <string.h>

// Simulations per move of the scored games. On the drawn set the search has the recipe's settings.
enum { SIMULATIONS = 240, DRAWN_PLAYOUTS = 30 };

// ---- the games of a batch

static int judge_by_drive(void *owner, const uint8_t *planes, float *policy, float *value)
{
    struct drive *d = owner;
    const struct game *g = game_of(d->setting);
    const size_t n = (size_t)d->batch[FEED_TEST].count;
    TRY(drive_write(d, SELFPLAY_BOARDS, planes, n * (size_t)game_bytes(g)));
    TRY(drive_run(d, WINS_PROGRAM));
    TRY(drive_read(d, SELFPLAY_POLICY, policy, n * (size_t)g->moves * sizeof *policy));
    return drive_read(d, SELFPLAY_VALUE, value, n * sizeof *value);
}

static int play_batch(struct searches *s, struct drive *d, struct played *game, float *result)
{
    const int64_t count = d->batch[FEED_TEST].count;
    for (int64_t i = 0; i < count; i++) played_begin(s->how.game, &game[i], d->batch[FEED_TEST].first + i);
    TRY(match_play(s, game, count));
    for (int64_t i = 0; i < count; i++) result[i] = (float)game[i].result;
    TRY(drive_write(d, WINS_RESULT, result, (size_t)count * sizeof *result));
    return drive_run(d, WINS_PROGRAM);
}

int wins_answer(struct drive *d)
{
    const int64_t count = d->batch[FEED_TEST].count;
    const bool drawn = d->setting->data->synthetic;
    struct search how = selfplay_search(d->setting);
    if (!drawn) how.simulations = SIMULATIONS;
    struct searches s = searches_open(&how, &(struct judge_of_leaves){d, count, judge_by_drive});
    struct played *game = zalloc((size_t)count * sizeof *game);
    float *result = zalloc((size_t)count * sizeof *result);
    if (drawn) s.playouts = DRAWN_PLAYOUTS;
    const int rc = play_batch(&s, d, game, result);
    free(game), free(result);
    searches_close(&s);
    return rc;
}

// ---- the judge

struct wins {
    int64_t games;
    int8_t *result;  // 0: not played yet
    struct selfplay_resigned resigned;  // since the evaluation before
};

static int begin_wins(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    struct wins *w = *state = zalloc(sizeof *w);
    (void)view;
    w->resigned = selfplay_take_resigned(c);
    w->games = dataset_facts(stored)->count[SPLIT_TEST];
    w->result = zalloc((size_t)w->games + 1);
    return 0;
}

static int add_results(void *state, const struct judged *b)
{
    struct wins *w = state;
    const float *result = b->output[PLAY_RESULT];
    for (int64_t i = 0; i < b->count; i++) w->result[b->sample[i]] = result[i] > 0 ? 1 : -1;
    return 0;
}

static int64_t count_wins(const struct wins *w, int64_t *played)
{
    int64_t won = 0;
    *played = 0;
    for (int64_t i = 0; i < w->games; i++) *played += w->result[i] != 0, won += w->result[i] > 0;
    return won;
}

static int end_wins(void *state, int64_t score[METRICS_MAX])
{
    struct wins *w = state;
    int64_t played;
    const int64_t won = count_wins(w, &played);
    const struct selfplay_resigned *r = &w->resigned;
    if (score) score[PLAY_WINS] = played > 0 ? won * 1000000 / played : METRIC_NONE;
    if (score) score[PLAY_BAD_RESIGNS] = r->games > 0 ? (r->wrong * 1000000 + r->games - 1) / r->games : METRIC_NONE;
    free(w->result);
    free(w);
    return 0;
}

static int write_wins(void *state, const char *path)
{
    const struct wins *w = state;
    struct text lines = {0};
    for (int64_t i = 0; i < w->games; i++)
        if (w->result[i]) text_add(&lines, "%s\n", w->result[i] > 0 ? "won" : "lost");
    const int rc = file_write(path, lines.at ? lines.at : "", lines.length);
    text_free(&lines);
    return rc;
}

static int exhibit_wins(void *state, struct exhibit *e)
{
    int64_t played;
    const int64_t won = count_wins(state, &played);
    if (played > 0)
        html_add(e->html, "<p>The network wins %lld of %lld games against tree search with random playouts.</p>\n",
                 (long long)won, (long long)played);
    return 0;
}

const struct judge wins_judge = {
    .begin = begin_wins, .batch = add_results, .end = end_wins, .write = write_wins, .exhibit = exhibit_wins,
};
