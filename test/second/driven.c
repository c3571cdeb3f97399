// SPDX-License-Identifier: Apache-2.0
// The driven task decides itself what a step runs. Six programs stand for what a generative network, a player of games and a
// translator need of the training:
//
//     critic     trains: distinguishes real boards from generated ones; five batches per step
//     generator  trains: draws its input and must deceive the critic; no feed
//     player     trains: imitates the moves of played games; two losses, each over its valid rows
//     policy     trains never: chooses the moves of the games that the host plays between steps (games.c)
//     encode     answers: fills a cache from a board of the test split
//     decode     answers: adds the cache to a state, once for each word of an answer
//
// The file goes from the programs to the callbacks that run them, the judge, and the tables that the training reads.
#include "test/second/second.h"

#include "tasks/common/step/drive.h"

enum { WIDE = DRIVEN_WIDE, MOVES = DRIVEN_MOVES, CRITIC_RUNS = 5 };
enum { CRITIC, GENERATOR, PLAYER, ENCODE, DECODE };  // and DRIVEN_POLICY
enum { GROUP_CRITIC, GROUP_GENERATOR, GROUP_PLAYER, GROUP_POLICY };

// ---- parts of the programs

// One layer whose parameters belong to `group`.
static int linear(struct step *s, int x, const char *name, int64_t outputs, int group)
{
    struct graph *g = s->g;
    graph_group(g, group);
    return g_linear(g, x, graph_param(g, name, SHAPE(outputs, WIDE), (struct init){INIT_NORMAL, 0.5f}, ROLE_MATRIX), NONE, F32);
}

// The number of rows whose field `valid` is 1.
static int count_rows(struct step *s, const char *valid) { return g_reduce(s->g, step_input(s, valid), 1u << 0, false, F32); }

static int constant(struct step *s, const char *name, struct shape shape, enum dtype dtype, float value)
{
    return graph_state(s->g, name, shape, dtype, MEMORY_DATA, (struct init){INIT_CONSTANT, value});
}

// Boards drawn from noise: a dropout of ones.
static int generated(struct step *s)
{
    int ones = constant(s, "ones", SHAPE(s->is.batch, WIDE), F32, 1);
    int noise = g_dropout(s->g, ones, step_key(s), step_count(s), 0.5f, step_site(s));
    return g_act(s->g, linear(s, noise, "generator", WIDE, GROUP_GENERATOR), ACT_TANH);
}

// The critic's loss on boards x. Label 0: real, 1: generated, -1: the row is not valid.
static int criticise(struct step *s, int x, int labels, bool mean)
{
    return g_xent(s->g, linear(s, x, "critic", 2, GROUP_CRITIC), labels, 0, mean);
}

// ---- programs that train

static void critic(struct step *s)
{
    step_mean_loss(s, "real", criticise(s, step_input(s, "board"), step_input(s, "label"), false), count_rows(s, "valid"), 1);
    int fake = constant(s, "fake", SHAPE(s->is.batch), I32, 1);
    int all = constant(s, "all", SHAPE(1), F32, (float)s->is.batch);
    step_mean_loss(s, "fake", criticise(s, generated(s), fake, false), all, 1);
}

static void generator(struct step *s)
{
    int real = graph_state(s->g, "real", SHAPE(s->is.batch), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    step_loss(s, criticise(s, generated(s), real, true), 1);
}

static void player(struct step *s)
{
    int board = step_input(s, "board");
    int move = linear(s, board, "move", MOVES, GROUP_PLAYER), reply = linear(s, board, "reply", MOVES, GROUP_PLAYER);
    step_mean_loss(s, "move", g_xent(s->g, move, step_input(s, "label"), 0, false), count_rows(s, "valid"), 1);
    step_mean_loss(s, "reply", g_xent(s->g, reply, step_input(s, "reply"), 0, false), count_rows(s, "valid reply"), 0.5f);
}

// ---- programs that answer, and the policy

static void encode(struct step *s)
{
    int cache = linear(s, step_input(s, "board"), "move", MOVES, GROUP_PLAYER);
    struct shape shape = SHAPE(s->is.batch, MOVES);
    step_keep(s, step_slot(s, "cache", shape, F32), cache);
    step_keep(s, step_slot(s, "sum", shape, F32), g_scale(s->g, cache, 0));
    g_accumulate(s->g, step_total(s, 1), g_xent(s->g, cache, step_input(s, "label"), 0, false));  // the metric "surprise"
    g_tick(s->g, step_tries(s, 1), (int32_t)s->is.batch);
}

// The judge compares the sum with the move of the policy. "words" counts the runs since the host set it to 0.
static void decode(struct step *s)
{
    struct shape shape = SHAPE(s->is.batch, MOVES);
    int state = step_slot(s, "sum", shape, F32), sum = g_add(s->g, state, step_slot(s, "cache", shape, F32));
    step_output(s, 0, sum);
    step_output(s, 1, linear(s, step_input(s, "board"), "policy", MOVES, GROUP_POLICY));
    step_keep(s, state, sum);
    g_tick(s->g, step_slot(s, "words", SHAPE(1), I32), 1);
}

static void policy(struct step *s)
{
    int boards = step_slot(s, "boards", SHAPE(s->is.batch, WIDE), F32);
    step_keep(s, step_slot(s, "moves", SHAPE(s->is.batch, MOVES), F32), linear(s, boards, "policy", MOVES, GROUP_POLICY));
}

// ---- callbacks: what a step runs, and what an answer runs

static int step(struct drive *d)
{
    for (int i = 0; i < CRITIC_RUNS; i++) {
        TRY(drive_next(d, FEED_TRAIN));
        TRY(drive_run(d, CRITIC));
    }
    TRY(drive_run(d, GENERATOR));
    TRY(drive_run(d, DRIVEN_POLICY));  // a step may run programs that do not train
    TRY(drive_next(d, DRIVEN_GAMES));
    return drive_run(d, PLAYER);
}

static int answer(struct drive *d)
{
    int32_t words = 0;
    TRY(drive_write(d, "words", &words, sizeof words));
    TRY(drive_run(d, ENCODE));
    while (words < DRIVEN_WORDS) {
        TRY(drive_run(d, DECODE));
        TRY(drive_read(d, "words", &words, sizeof words));
    }
    return 0;
}

// ---- the judge: how often the player moves as the policy does

static int judge_begin(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)c, (void)stored, (void)view;
    *state = zalloc(2 * sizeof(int64_t));
    return 0;
}

static int judge_batch(void *state, const struct judged *b)
{
    int64_t *right = state, *all = right + 1;
    const float *sum = b->output[0], *policy = b->output[1];
    for (int64_t i = 0; i < b->count; i++) *right += driven_best(sum + i * MOVES) == driven_best(policy + i * MOVES);
    *all += b->count;
    return 0;
}

static int judge_end(void *state, int64_t score[METRICS_MAX])
{
    const int64_t *right = state, *all = right + 1;
    if (score) score[0] = *right * 1000000 / *all;
    free(state);
    return 0;
}

// ---- the tables that the training reads

static int rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    (void)c;
    const struct optim_settings plain = {.decay = 0.1f}, sgd = {.momentum = 0.9f};
    const struct schedule one = schedule_constant(1);
    rule[0] = (struct rule){"game", 1u << GROUP_CRITIC | 1u << GROUP_GENERATOR, ANY, OPTIMISER_SGD, plain, 0.05, one, one};
    rule[1] = (struct rule){"player", ANY, ANY, OPTIMISER_SGD, sgd, 0.1, one, one};
    return 2;
}

static const struct judge judge = {.begin = judge_begin, .batch = judge_batch, .end = judge_end};
static const struct metric metrics[] = {{"imitated", "%", METRIC_RATIO, false}, {"surprise", "nat", METRIC_MEAN, true}, {0}};
static const struct model models[] = {{.name = "two-bags", .about = "six programs"}, {0}};
static const struct task_feed feeds[] = {{"train", SPLIT_TRAIN, ORDER_SHUFFLED}, {"test", SPLIT_TEST, ORDER_FILE},
                                         {"games", SPLIT_TRAIN, ORDER_GROWING}, {0}};
static const struct task_program programs[] = {
    [CRITIC] = {"critic", PROGRAM_TRAIN, FEED_TRAIN, 1u << GROUP_CRITIC, critic},
    [GENERATOR] = {"generator", PROGRAM_TRAIN, FEED_NONE, 1u << GROUP_GENERATOR, generator},
    [PLAYER] = {"player", PROGRAM_TRAIN, DRIVEN_GAMES, 1u << GROUP_PLAYER, player},
    [ENCODE] = {"encode", PROGRAM_EVALUATE, FEED_TEST, 0, encode},
    [DECODE] = {"decode", PROGRAM_EVALUATE, FEED_TEST, 0, decode},
    [DRIVEN_POLICY] = {"policy", PROGRAM_INFER, FEED_NONE, 0, policy},
    {0},
};
const struct task task_driven = {.name = "second", .title = "Driven", .metrics = metrics, .target = 0.9, .models = models,
                                 .feeds = feeds, .feed = driven_feed, .programs = programs, .step = step, .answer = answer,
                                 .host = &driven_host, .judge = &judge, .rules = rules};
