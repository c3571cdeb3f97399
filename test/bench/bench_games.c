// SPDX-License-Identifier: Apache-2.0
// The speed of self-play on one thread: the games of an untrained network, by the recipe of connect4 or minigo-9.
//
//   bench_games TASK [KEY=VALUE ...]
//
// Prints evaluations per second of the network alone, games per minute, and the shares of network and search, all in processor
// time: search and network take turns on a processor, and run at once only with a GPU.
#include "data/dataset.h"
#include "runtime/common/base/text.h"
#include "runtime/fuse.h"
#include "tasks/common/train/trainer.h"
#include "tasks/play/play.h"
#include "tasks/play/selfplay.h"
#include "tasks/tasks.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { STEPS = 2 };  // of the training: after each, games go on until as many positions are there as the recipe says
static int (*run_unseen)(struct drive *, int program);
static double network, training;
static int64_t batches;

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run_timed(struct drive *d, int program)
{
    const double began = processor_seconds();
    const int rc = run_unseen(d, program), played = program == SELFPLAY_PROGRAM;
    *(played ? &network : &training) += processor_seconds() - began;
    batches += played;
    return rc;
}

// Games that have ended.
static int64_t games_of(const struct trainer *t)
{
    struct text state = {0};
    int64_t begun;
    t->choice.task->host->save(&t->setting, &state);
    memcpy(&begun, state.at + sizeof begun, sizeof begun);
    text_free(&state);
    return begun;
}

static int measure(struct trainer *t)
{
    TRY(trainer_ready(t));
    TRY(trainer_load(t));
    TRY(trainer_begin(t, 1));
    const int64_t games = games_of(t);
    run_unseen = t->drive.run, t->drive.run = run_timed;
    const double began = processor_seconds();
    for (int i = 0; i < STEPS; i++) TRY(trainer_step(t));
    const double all = processor_seconds() - began - training;
    const double leaves = (double)(batches * selfplay_batch(&t->setting));
    printf("%s, %s: network %.0f evaluations/s in batches of %lld, %.0f games per minute, %.0f leaves per second\n",
           t->choice.task->name, dtype_name(t->setting.dtype), leaves / network, (long long)selfplay_batch(&t->setting),
           (double)(games_of(t) - games) * 60 / all, leaves / all);
    printf("network %.1f%%, search %.1f%%\n", 100 * network / all, 100 - 100 * network / all);
    return 0;
}

static int open_and_measure(int argc, char **argv)
{
    struct trainer_choice choice = {.fuse = FUSE_ALL};
    struct trainer *t;
    TRY(task_find(argv[1], &choice.task));
    TRY(recipe_embedded(choice.task->recipes[0], &choice.recipe));
    TRY(recipe_set_all(&choice.recipe, (const char *const *)argv + 2, argc - 2));
    TRY(device_open("cpu", 1, &choice.device));
    TRY(dataset_open(choice.task->data_sets[0], NULL, &choice.data));
    TRY(trainer_new(&choice, &t));
    return measure(t);
}

int main(int argc, char **argv)
{
    if (argc > 1 && open_and_measure(argc, argv) == 0) return 0;
    fprintf(stderr, "bench_games: %s\n", argc > 1 ? error_text() : "name connect4 or minigo-9");
    return 1;
}
