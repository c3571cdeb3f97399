// SPDX-License-Identifier: Apache-2.0
// Games of the network against itself: the network that judges leaves is the one that is scored, threads change nothing, states
// come back or are refused.
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"

#include "runtime/common/base/text.h"
#include "tasks/common/step/drive.h"
#include "tasks/play/play.h"
#include "tasks/play/selfplay.h"

#include <math.h>
#include <stdlib.h>

enum { LEAVES = 16, MOVES = 7, BOARD = 84 };

static void open_games(struct bench *b, const char *device, int threads)
{
    static const char *const settings[] = {"games.first=60", "games.parallel=32", "search.simulations=8", "precision=f32", NULL};
    bench_choose(b, &task_connect4, "connect4-drawn", settings);
    OK(device_open(device, threads, &b->device));
    OK(dataset_open("connect4-drawn", NULL, &b->data));
    bench_ready(b);
    OK(trainer_begin(b->trainer, 7));
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

TEST(states_come_back_or_are_refused)
{
    struct bench b;
    open_games(&b, "null", 1);
    struct text bytes = state_of(&b), again;
    const struct host *host = task_connect4.host;
    struct drive *d = &b.trainer->drive;
    OK(host->load(d, bytes.at, bytes.length));
    again = state_of(&b);
    assert_int_equal(bytes.length, again.length);
    assert_memory_equal(bytes.at, again.at, bytes.length);
    for (size_t cut = 0; cut < bytes.length; cut += 1 + bytes.length / 50)
        assert_int_equal(host->load(d, bytes.at, cut), ERR_INPUT);
    for (size_t i = 0; i < 16; i += 8) {  // totals
        again.at[i + 7] = -1;
        assert_int_equal(host->load(d, again.at, again.length), ERR_INPUT);
        again.at[i + 7] = 0;
    }
    again.at[again.length - node_bytes(&game_connect4) + offsetof(struct search_node, state)] ^= 1;  // of the last node
    assert_int_equal(host->load(d, again.at, again.length), ERR_INPUT);
    text_bytes(&bytes, "", 1);
    assert_int_equal(host->load(d, bytes.at, bytes.length), ERR_INPUT);
    text_free(&bytes), text_free(&again);
    bench_close(&b);
}
