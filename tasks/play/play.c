// SPDX-License-Identifier: Apache-2.0
// In this order: the programs, the feeds, the update rules, the task.
#include "tasks/play/play.h"

#include "tasks/common/step/rule.h"
#include "tasks/play/play_keys.h"
#include "tasks/play/play_network.h"
#include "tasks/play/selfplay.h"

enum { TRAIN, EVALUATE, PLAY };
_Static_assert((int)PLAY == (int)SELFPLAY_PROGRAM && (int)EVALUATE == (int)WINS_PROGRAM, "programs that judge leaves");

// ---- programs

// The search's visits as shares, and the game's result for the player to move. The loss of an illegal move's logit is 0.
static void train(struct step *s)
{
    struct graph *g = s->g;
    struct play_outputs out = play_network(s, step_input(s, "board"));
    graph_scope(g, "loss");
    int rows = graph_state(g, "rows", SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, (float)s->is.batch});
    int xent[3];
    g_xent_full(g, (int[]){g_add(g, out.policy, step_input(s, "mask")), step_input(s, "policy"), NONE}, 0, false, xent);
    int miss = g_map_of(g, MAP_SUB, (int[]){out.value, step_input(s, "value"), NONE});
    int squares = g_reduce(g, g_map(g, MAP_SQUARE, miss, 0, 0), 3u, false, F32);
    step_mean_loss(s, "policy", xent[0], rows, 1);
    step_mean_loss(s, "value", g_reshape(g, squares, SHAPE(1)), rows, (float)play_keys(s->setting->recipe)->value);
}

static void evaluate(struct step *s)
{
    struct play_outputs out = play_network(s, step_input(s, "board"));
    step_output(s, PLAY_POLICY, out.policy);
    step_output(s, PLAY_VALUE, out.value);
}

static void judge_leaves(struct step *s)
{
    const int64_t count = s->is.batch;
    const struct game *g = game_of(s->setting);
    int boards = step_slot(s, SELFPLAY_BOARDS, SHAPE(count, g->rows, g->columns, g->planes), U8);
    struct play_outputs out = play_network(s, boards);
    step_keep(s, step_slot(s, SELFPLAY_POLICY, SHAPE(count, g->moves), F32), out.policy);
    step_keep(s, step_slot(s, SELFPLAY_VALUE, SHAPE(count, 1), F32), out.value);
}

// Passes the results of an evaluation's games through the graph to the judge.
static void judge_games(struct step *s)
{
    judge_leaves(s);
    step_output(s, PLAY_RESULT, step_slot(s, WINS_RESULT, SHAPE(s->is.batch, 1), F32));
}

static void choose_sizes(const struct setting *c, int64_t step, int program, struct variant *is)
{
    (void)step;
    if (program == PLAY) is->batch = selfplay_batch(c);
}

// ---- feeds

static int choose_feed(const struct setting *c, int feed, struct feed_choice *f)
{
    return feed == FEED_TRAIN ? selfplay_feed(c, f) : 0;
}

static const struct task_feed feeds[] = {
    [FEED_TRAIN] = {"games", SPLIT_TRAIN, ORDER_GROWING}, [FEED_TEST] = {"positions", SPLIT_TEST, ORDER_FILE}, {0}};

// ---- updates

static int update_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    rule[0] = rule_of_filters(c, "filter", ROLES(ROLE_FILTER));
    rule[1] = rule_of_others(c, "head", ROLES(ROLE_MATRIX), c->recipe->head_lr);
    rule[2] = rule_of_others(c, "bias", ANY, c->recipe->bias_lr);
    if (c->model->parts & PART_MINIGO) rule[2].settings.decay = 0;
    return 3;
}

// ---- the task

static const struct task_program programs[] = {
    [TRAIN] = {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, train},
    [EVALUATE] = {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, evaluate},
    [PLAY] = {"play", PROGRAM_INFER, FEED_NONE, 0, judge_leaves},
    {0},
};
static const struct metric metrics[] = {[PLAY_MISTAKES] = {"mistakes", "%", METRIC_RATIO, true}, {0}};
static const char *const data_sets[] = {"connect4", "connect4-drawn", NULL};
static const char *const recipes[] = {"connect4", "connect4-drawn", NULL};

const struct task task_connect4 = {
    .name = "connect4", .title = "Connect Four", .samples = "positions", .metrics = metrics, .target = 0.22,
    .data_sets = data_sets, .recipes = recipes, .models = play_models, .feeds = feeds, .feed = choose_feed,
    .variant = choose_sizes, .programs = programs,
    .host = &selfplay_host, .judge = &play_judge, .player = &play_player, .rules = update_rules, .baselines = play_baselines,
};

static const struct task_feed game_feeds[] = {
    [FEED_TRAIN] = {"games", SPLIT_TRAIN, ORDER_GROWING}, [FEED_TEST] = {"match", SPLIT_TEST, ORDER_FILE}, {0}};
static const struct task_program game_programs[] = {
    [TRAIN] = {"train", PROGRAM_TRAIN, FEED_TRAIN, ANY, train},
    [EVALUATE] = {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, judge_games},
    [PLAY] = {"play", PROGRAM_INFER, FEED_NONE, 0, judge_leaves},
    {0},
};
static const struct metric wins[] = {
    [PLAY_WINS] = {"wins", "%", METRIC_RATIO, false}, [PLAY_BAD_RESIGNS] = {"bad-resigns", "%", METRIC_RATIO, true}, {0}};
static const char *const minigo_sets[] = {"minigo-9", "minigo-9-drawn", NULL};
static const char *const minigo_recipes[] = {"minigo-9", "minigo-9-drawn", NULL};

const struct task task_minigo_9 = {
    .name = "minigo-9", .title = "MiniGo 9 x 9", .samples = "positions", .metrics = wins, .target = 0.5,
    .data_sets = minigo_sets, .recipes = minigo_recipes, .models = minigo_models, .feeds = game_feeds, .feed = choose_feed,
    .variant = choose_sizes, .programs = game_programs, .answer = wins_answer,
    .host = &selfplay_host, .judge = &wins_judge, .player = &play_player, .rules = update_rules,
};

const struct task *const tasks_play[] = {&task_connect4, &task_minigo_9, NULL};
