// SPDX-License-Identifier: Apache-2.0
// Games of the network against itself: the network that judges leaves is the one that is scored, threads change nothing, states
// come back or are refused.
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "tasks/common/step/drive.h"
#include "tasks/play/match.h"
#include "tasks/play/play.h"
#include "tasks/play/selfplay.h"

#include <math.h>
#include <stdlib.h>

enum { LEAVES = 16, MOVES = 7, BOARD = 84 };

static void open_task(struct bench *b, const struct task *task, const char *device, int threads)
{
    static const char *const settings[] = {"games.first=60", "games.parallel=32", "search.simulations=8", "precision=f32", NULL};
    bench_choose(b, task, task->data_sets[1], settings);
    OK(device_open(device, threads, &b->device));
    OK(dataset_open(task->data_sets[1], NULL, &b->data));
    bench_ready(b);
    OK(trainer_begin(b->trainer, 7));
}

static void open_games(struct bench *b, const char *device, int threads)
{
    open_task(b, &task_connect4, device, threads);
}

static struct text state_of(const struct bench *b)
{
    struct text bytes = {0};
    task_connect4.host->save(&b->trainer->setting, &bytes);
    return bytes;
}

// The filters of both programs have their norms folded into them, after the statistics of the last step.
TEST(leaves_are_judged_by_the_scored_network)
{
    struct bench b;
    uint8_t boards[LEAVES * BOARD];
    float played[LEAVES * MOVES], *scored;
    int64_t score[METRICS_MAX], all;
    open_games(&b, "cpu", 1);
    for (int i = 0; i < 3; i++) OK(trainer_step(b.trainer));
    OK(dataset_read(b.data, SPLIT_TEST, "board", 0, LEAVES, boards));
    struct drive *d = &b.trainer->drive;
    OK(drive_write(d, SELFPLAY_BOARDS, boards, sizeof boards));
    OK(drive_run(d, SELFPLAY_PROGRAM));
    OK(drive_read(d, SELFPLAY_POLICY, played, sizeof played));
    OK(trainer_evaluate(b.trainer, score));
    all = dataset_facts(b.data)->count[SPLIT_TEST];
    scored = zalloc((size_t)(all * MOVES) * sizeof *scored);
    char name[64];
    snprintf(name, sizeof name, "positions.output%d.0.%lld", PLAY_POLICY, (long long)all);
    OK(session_get(b.trainer->session, name, scored, (size_t)(all * MOVES) * sizeof *scored));
    float most = 0;
    for (int i = 0; i < LEAVES * MOVES; i++) {
        if (!(fabsf(played[i] - scored[i]) < 1e-4f)) fail_msg("logit %d: %g, scored %g", i, (double)played[i], (double)scored[i]);
        most = fmaxf(most, fabsf(played[i] - played[i % MOVES]));
    }
    assert_true(most > 1e-3f);  // positions differ
    free(scored);
    bench_close(&b);
}

TEST(threads_change_nothing)
{
    struct bench b[2];
    struct text bytes[2];
    for (int i = 0; i < 2; i++) {
        open_games(&b[i], "ref", 1 + 2 * i);
        bytes[i] = state_of(&b[i]);
    }
    assert_int_equal(bytes[0].length, bytes[1].length);
    assert_memory_equal(bytes[0].at, bytes[1].at, bytes[0].length);
    for (int i = 0; i < 2; i++) text_free(&bytes[i]), bench_close(&b[i]);
}

// Games of an evaluation are played on all threads, too.
TEST(threads_change_nothing_in_go)
{
    int64_t score[2][METRICS_MAX];
    struct text bytes[2];
    for (int i = 0; i < 2; i++) {
        struct bench b;
        open_task(&b, &task_minigo_9, "ref", 1 + 2 * i);
        OK(trainer_step(b.trainer));
        bytes[i] = state_of(&b);
        OK(trainer_evaluate(b.trainer, score[i]));
        bench_close(&b);
    }
    assert_int_equal(bytes[0].length, bytes[1].length);
    assert_memory_equal(bytes[0].at, bytes[1].at, bytes[0].length);
    assert_int_equal(score[0][PLAY_WINS], score[1][PLAY_WINS]);
    for (int i = 0; i < 2; i++) text_free(&bytes[i]);
}

static void states_come_back(const struct task *task)
{
    struct bench b;
    open_task(&b, task, "null", 1);
    struct text bytes = state_of(&b), again;
    const struct host *host = task->host;
    const struct game *game = game_of(&b.trainer->setting);
    struct drive *d = &b.trainer->drive;
    OK(host->load(d, bytes.at, bytes.length));
    again = state_of(&b);
    assert_int_equal(bytes.length, again.length);
    assert_memory_equal(bytes.at, again.at, bytes.length);
    for (size_t cut = 0; cut < bytes.length; cut += 1 + bytes.length / 50)
        assert_int_equal(host->load(d, bytes.at, cut), ERR_INPUT);
    for (size_t i = 0; i < 32; i += 8) {  // totals
        again.at[i + 7] = -1;
        assert_int_equal(host->load(d, again.at, again.length), ERR_INPUT);
        again.at[i + 7] = 0;
    }
    again.at[again.length - node_bytes(game) + offsetof(struct search_node, state)] ^= 1;  // of the last node
    assert_int_equal(host->load(d, again.at, again.length), ERR_INPUT);
    text_bytes(&bytes, "", 1);
    assert_int_equal(host->load(d, bytes.at, bytes.length), ERR_INPUT);
    text_free(&bytes), text_free(&again);
    bench_close(&b);
}

TEST(states_come_back_or_are_refused)
{
    states_come_back(&task_connect4);
    states_come_back(&task_minigo_9);
}

// ---- what the recipe of MiniGo adds, seen in the games of a state

static const struct search HOW = {.game = &game_go, .simulations = 16, .puct = 2.5f, .growth = 2, .penalty = 0.2f};

// A move without visits is worth the position's value less the penalty, as if it had one result: with the first real result q
// it is worth (v - 0.2 + q) / 2.
TEST(unvisited_moves_count_as_a_penalty)
{
    struct tree *t = zalloc(tree_bytes(&HOW));
    struct go b;
    float logits[GO_MOVES] = {[10] = 5, [11] = 4};
    go_begin(&b);
    tree_begin(t, &HOW, &b);
    tree_expand(t, &HOW, tree_select(t, &HOW), logits, 0.5f);
    const int first = tree_select(t, &HOW);
    assert_int_equal(tree_node(t, &HOW, first)->by, 10);
    tree_expand(t, &HOW, first, logits, 1);  // lost: (0.3 - 1) / 2 + weight P / 2, against 0.3 + weight P of the next move
    const int second = tree_select(t, &HOW);
    assert_int_equal(tree_node(t, &HOW, second)->parent, 0);
    assert_int_equal(tree_node(t, &HOW, second)->by, 11);
    assert_float_equal(tree_value(t, &HOW), (0.5 - 1) / 2, 1e-6);
    free(t);
}

// Legal moves alone have a prior, and a game that ends by two passes needs no network.
TEST(go_is_searched_to_its_end)
{
    struct tree *t = zalloc(tree_bytes(&HOW));
    struct go b;
    float logits[GO_MOVES] = {[GO_PASS] = 9};
    go_begin(&b);
    go_play(&b, 40), go_play(&b, GO_PASS);
    tree_begin(t, &HOW, &b);
    tree_expand(t, &HOW, tree_select(t, &HOW), logits, 0);
    assert_float_equal(tree_root(t)->move[40].prior, 0, 0);
    for (int leaf; (leaf = tree_select(t, &HOW)) != TREE_NONE;) tree_expand(t, &HOW, leaf, logits, 0);
    assert_int_equal(tree_most_visited(t, &HOW), GO_PASS);  // black's only stone has all 81 points
    const struct search_node *passed = tree_node(t, &HOW, tree_root(t)->move[GO_PASS].child);
    assert_int_equal(passed->state, SEARCH_OVER);
    assert_float_equal(passed->value, -1, 0);
    assert_true(tree_is_sound(t, &HOW, &b));
    free(t);
}

// Symmetries are drawn, each of the eight, and moves of a turned board come back.
TEST(leaves_are_turned)
{
    int seen = 0;
    float turned[GO_MOVES], logits[GO_MOVES];
    for (int leaf = 0; leaf < 200; leaf++) seen |= 1 << leaf_turn(&game_go, 7, 1, 2, leaf);
    assert_int_equal(seen, 255);
    assert_int_equal(leaf_turn(&game_connect4, 7, 1, 2, 3), 0);
    for (int turn = 0; turn < GO_TURNS; turn++) {
        for (int m = 0; m < GO_MOVES; m++) turned[go_turned(m, turn)] = (float)m;
        turn_back(&game_go, turn, turned, logits);
        for (int m = 0; m < GO_MOVES; m++) assert_float_equal(logits[m], m, 0);
    }
}

// ---- resignation

// As selfplay.c writes a state: totals, positions, then each game before its tree.
struct state_layout {
    size_t seen, position, line;
    int64_t positions;  // kept
};
enum { TOTALS = 4 * sizeof(int64_t), GAVE_UP = 2 * sizeof(int64_t), LINE = 3 * sizeof(int64_t) };

static struct state_layout layout_of(const struct game *g, const struct text *state)
{
    const size_t visited = (1 + (size_t)g->moves) * sizeof(int16_t);
    struct state_layout l = {.seen = g->seen_bytes, .position = arena_round_up(g->seen_bytes + visited, 16),
                             .line = arena_round_up(LINE + (size_t)g->plies * visited, 8)};
    memcpy(&l.positions, state->at, sizeof l.positions);
    return l;
}

static int16_t result_in(const struct state_layout *l, const struct text *state, int64_t position)
{
    int16_t result;
    memcpy(&result, state->at + TOTALS + (size_t)position * l->position + l->seen, sizeof result);
    return result;
}

// The state after the first games, of which no position is forgotten yet, and who resigned.
static struct text play_go(const char *low, const char *high, const char *played_out, struct selfplay_resigned *resigned)
{
    struct bench b;
    const char *const settings[] = {"games.first=600", "precision=f32", low, high, played_out, NULL};
    bench_choose(&b, &task_minigo_9, "minigo-9-drawn", settings);
    OK(device_open("cpu", 1, &b.device));
    OK(dataset_open("minigo-9-drawn", NULL, &b.data));
    bench_ready(&b);
    OK(trainer_begin(b.trainer, 7));
    struct text state = {0};
    task_minigo_9.host->save(&b.trainer->setting, &state);
    *resigned = selfplay_take_resigned(&b.trainer->setting);
    assert_int_equal(selfplay_take_resigned(&b.trainer->setting).games, 0);
    bench_close(&b);
    return state;
}

static bool same_positions(const struct text *a, const struct text *b)
{
    const struct state_layout l = layout_of(&game_go, a), m = layout_of(&game_go, b);
    return l.positions == m.positions && !memcmp(a->at + TOTALS, b->at + TOTALS, (size_t)l.positions * l.position);
}

// A game that is played to its end is the game that it is where nobody resigns, and so is one whose threshold nobody is below.
TEST(some_games_are_played_to_their_end)
{
    struct selfplay_resigned nobody, out, below, all;
    struct text never = play_go("resign.low=-1", "resign.high=-1", "resign.played_out=0", &nobody);
    struct text played_out = play_go("resign.low=0", "resign.high=0", "resign.played_out=1", &out);
    struct text nobody_below = play_go("resign.low=-0.99", "resign.high=-0.99", "resign.played_out=0", &below);
    struct text resigned = play_go("resign.low=0", "resign.high=0", "resign.played_out=0", &all);
    assert_true(same_positions(&never, &played_out));
    assert_true(same_positions(&never, &nobody_below));
    assert_false(same_positions(&never, &resigned));
    assert_true(nobody.games == 0 && below.games == 0 && all.games == 0);
    assert_true(out.games > 2 && out.wrong >= 0 && out.wrong <= out.games);
    text_free(&never), text_free(&played_out), text_free(&nobody_below), text_free(&resigned);
}

// Who resigns loses: below 0, games end after few moves, and the player who moved last wins.
TEST(resigned_games_are_lost)
{
    struct selfplay_resigned none;
    struct text bytes = play_go("resign.low=0", "resign.high=0", "resign.played_out=0", &none);
    const struct state_layout l = layout_of(&game_go, &bytes);
    struct go_view begin = {0};
    union game_board board;
    int64_t begun;
    int games = 0;
    game_go.begin(&board);
    memcpy(&begin, &board, sizeof begin);
    for (int64_t i = 1; i <= l.positions; i++) {
        const char *next = bytes.at + TOTALS + (size_t)i * l.position;
        if (i < l.positions && memcmp(next, &begin, sizeof begin)) continue;
        assert_int_equal(result_in(&l, &bytes, i - 1), 1);
        games++;
    }
    assert_true(games > 600 / 20);
    memcpy(&begun, bytes.at + sizeof(int64_t), sizeof begun);
    assert_int_equal(begun, games + 16);  // 16 go on, and none ended without a position
    text_free(&bytes);
}

// Says in a state that `player` would have resigned all games that go on.
static void give_up(const struct game *g, struct text *state, int64_t games, int64_t player)
{
    const struct state_layout l = layout_of(g, state);
    size_t at = TOTALS + (size_t)l.positions * l.position;
    for (int64_t i = 0; i < games; i++) {
        struct tree tree;
        memcpy(state->at + at + GAVE_UP, &player, sizeof player);
        memcpy(&tree, state->at + at + l.line, sizeof tree);
        at += l.line + sizeof tree + (size_t)tree.count * node_bytes(g);
    }
    assert_int_equal(at, state->length);
}

// The positions of games that ended since, of which no game began before: the first mover's wins, losses and draws.
static void count_results(const struct text *before, const struct text *after, int64_t result[3])
{
    const struct state_layout l = layout_of(&game_connect4, before), m = layout_of(&game_connect4, after);
    const struct connect4 empty = {0};
    for (int64_t i = l.positions; i < m.positions; i++)
        if (!memcmp(after->at + TOTALS + (size_t)i * m.position, &empty, sizeof empty)) result[1 + result_in(&m, after, i)]++;
}

// A resignation is wrong if its player won. Each step ends the next of two games that go on.
TEST(wrong_resignations_are_counted)
{
    static const char *const settings[] = {
        "games.first=1", "games.parallel=2", "games.reuse=64", "search.simulations=8", "precision=f32", NULL};
    int64_t seen[3] = {0};
    struct bench b;
    bench_choose(&b, &task_connect4, "connect4-drawn", settings);
    OK(device_open("cpu", 1, &b.device));
    OK(dataset_open("connect4-drawn", NULL, &b.data));
    bench_ready(&b);
    OK(trainer_begin(b.trainer, 7));
    for (int64_t i = 0; i < 400; i++) {
        int64_t result[3] = {0};
        struct text before = state_of(&b), after;
        give_up(&game_connect4, &before, 2, 3);
        assert_int_equal(task_connect4.host->load(&b.trainer->drive, before.at, before.length), ERR_INPUT);
        give_up(&game_connect4, &before, 2, 1 + i % 2);
        OK(task_connect4.host->load(&b.trainer->drive, before.at, before.length));
        OK(trainer_step(b.trainer));
        after = state_of(&b);
        count_results(&before, &after, result);
        const struct selfplay_resigned r = selfplay_take_resigned(&b.trainer->setting);
        assert_int_equal(r.games, result[0] + result[1] + result[2]);
        assert_int_equal(r.wrong, i % 2 ? result[0] : result[2]);
        for (int k = 0; k < 3; k++) seen[k] += result[k];
        text_free(&before), text_free(&after);
    }
    assert_true(seen[0] > 2 && seen[2] > 2);
    bench_close(&b);
}

// An evaluation tells the share since the one before.
TEST(bad_resignations_stand_beside_the_score)
{
    int64_t score[METRICS_MAX];
    struct bench b;
    const char *const settings[] = {"resign.low=0", "resign.high=0", "resign.played_out=1", NULL};
    bench_choose(&b, &task_minigo_9, "minigo-9-drawn", settings);
    OK(device_open("cpu", 1, &b.device));
    OK(dataset_open("minigo-9-drawn", NULL, &b.data));
    bench_ready(&b);
    OK(trainer_begin(b.trainer, 7));
    OK(trainer_evaluate(b.trainer, score));
    assert_in_range(score[PLAY_BAD_RESIGNS], 1, 1000000);
    OK(trainer_evaluate(b.trainer, score));
    assert_true(score[PLAY_BAD_RESIGNS] == METRIC_NONE);
    bench_close(&b);
}

// ---- the arithmetic of a training

static double flops_of(const struct trainer *t, int program)
{
    const struct graph *g = t->session->graph[program];
    double flops = 0;
    for (int i = 0; i < g->nodes; i++) flops += node_cost(g, &g->node[i]).flops;
    return flops;
}

static int64_t played;
static int (*run_unseen)(struct drive *, int program);
static int count_played(struct drive *d, int program)
{
    played += program == SELFPLAY_PROGRAM;
    return run_unseen(d, program);
}

// The work that the record tells is that of the steps and of the games; subtrees that are kept save some of the latter.
TEST(games_count_as_work)
{
    enum { SIMULATIONS = 8, REUSE = 16, FIRST = 60 };  // of the recipe and its settings
    struct bench b;
    struct run_part work[RUN_PARTS_MAX];
    open_games(&b, "cpu", 1);
    struct trainer *t = b.trainer;
    const double later = (double)(t->steps * t->choice.recipe.batch) / REUSE;
    const int64_t runs = trainer_own_runs(t, SELFPLAY_PROGRAM), samples = t->steps * t->choice.recipe.batch;
    assert_int_equal(runs, (int64_t)((FIRST + later) * SIMULATIONS / LEAVES));
    assert_int_equal(trainer_work(t, work, RUN_PARTS_MAX), 1);
    assert_int_equal(work[0].samples, samples);
    const double steps = (double)t->steps * flops_of(t, t->variant[0].program);
    const double games = (double)runs * flops_of(t, t->own[SELFPLAY_PROGRAM]);
    assert_true(games > 0.1 * steps);
    assert_float_equal((double)(work[0].flops_per_sample * samples), steps + games, (double)samples);
    run_unseen = t->drive.run, t->drive.run = count_played, played = 0;
    while (t->at < t->steps) OK(trainer_step(t));
    assert_in_range(played, later * SIMULATIONS / LEAVES * 0.6, later * SIMULATIONS / LEAVES);
    bench_close(&b);
}
