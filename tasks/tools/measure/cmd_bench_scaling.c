// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/cmd_bench_scaling.h"

#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/program.h"
#include "runtime/fuse.h"
#include "runtime/ranks/ranks.h"
#include "submit/results/result_scaling.h"
#include "tasks/tools/measure/scaling.h"
#include "tasks/tools/measure/sweep.h"
#include "tasks/tools/measure/trial.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MOST = 256 };

// ---- one of the processes

static void take_setting(const struct trial *t, struct scaling_row *row)
{
    snprintf(row->data, sizeof row->data, "%s", dataset_facts(t->choice.data)->name);
    snprintf(row->model, sizeof row->model, "%s", t->trainer->setting.model->name);
    snprintf(row->recipe, sizeof row->recipe, "%.63s", t->choice.recipe->name);
    snprintf(row->precision, sizeof row->precision, "%s", dtype_name(t->trainer->setting.dtype));
    snprintf(row->device, sizeof row->device, "%s", t->choice.device->type->name);
    snprintf(row->size, sizeof row->size, "%s", t->variant->size);
}

static int count_exchanges(const struct graph *g)
{
    int count = 0;
    for (int i = 0; i < g->nodes; i++) count += g->node[i].op == OP_ALL_REDUCE;
    return count;
}

static int measure(const struct bench_scaling *b, struct chosen *chosen, struct dataset *data, struct device *device,
                   struct scaling_row *row)
{
    struct trial trial;
    struct device_facts facts;
    const struct trial_choice choice = {chosen->task, &chosen->recipe, data, device, FUSE_ALL, chosen->files, b->side};
    TRY(device->type->facts(device, &facts));
    int rc = trial_open(&trial, &choice, &facts);
    if (rc == 0) rc = trial_ready(&trial);
    if ((rc = ranks_agree(rc)) == 0) rc = trial_time(&trial, b->seconds, b->repeats, NULL, NULL);
    if (rc == 0 && ranks_size() > 1) rc = scaling_reduce(&row->reduce);
    if (rc == 0) {
        row->processes = ranks_size(), row->machines = ranks_machines(), row->threads = facts.threads;
        row->batch = trial.variant->batch, row->step = trial.timing.step.median;
        row->gradients = (double)trainer_parameters(trial.trainer) * sizeof(float);
        row->exchanges = count_exchanges(trial_plan(&trial)->graph);
        take_setting(&trial, row);
    }
    trial_close(&trial);
    return rc;
}

static int choose_setting(const struct bench_scaling *b, struct chosen *chosen)
{
    struct choose c = *b->choose;
    if (b->batch && text_to_int(b->batch, 1, 1 << 20, &c.batch) < 0)
        return fail(ERR_USAGE, "--scaling measures one batch in each process: --batch takes one number from 1 to %d; "
                    "got \"%.40s\"", 1 << 20, b->batch);
    c.precision = b->precision;
    return choose(&c, b->task, chosen);
}

static int be_measured(const struct bench_scaling *b)
{
    const struct choose *c = b->choose;
    struct chosen chosen = {0};
    struct dataset *data = NULL;
    struct device *device = NULL;
    struct scaling_row row = {0};
    bool noise = false;
    int rc = choose_setting(b, &chosen);
    recipe_set_batch(&chosen.recipe, chosen.recipe.batch * ranks_size());
    chosen.recipe.slices = ranks_size();
    if (rc == 0) rc = choose_open(&chosen, b->fake, &noise, &data);
    if (rc == 0) rc = device_open_shared(c->device, (int)c->threads, &device);
    if ((rc = ranks_agree(rc)) == 0) rc = measure(b, &chosen, data, device, &row);
    device_close(device);
    dataset_close(data);
    if (rc < 0 || ranks_rank() > 0) return rc;
    row.noise = noise;
    return json_text_line(scaling_row_json(&row));
}

// ---- the process that starts them

struct command {
    char launcher[512];
    char *word[WORDS_MOST + 1];
    int count;
    char program[FILE_PROGRAM], number[16], threads[24];
};

static int add_word(struct command *c, char *word)
{
    if (c->count == WORDS_MOST) return fail(ERR_USAGE, "--scaling: the command line has too many words");
    c->word[c->count++] = word;
    return 0;
}

// True if a word of the command line is this option; *values: how many words it takes.
static bool is_option(const char *word, const char *name, int *words)
{
    size_t n = strlen(name);
    if (strncmp(word, name, n) || (word[n] && word[n] != '=')) return false;
    *words = word[n] == '=' ? 1 : 2;
    return true;
}

// LAUNCHER -n N PROGRAM bench ... [--threads T] --scaling N. `threads` 0: as the command line says.
static int make_command(const struct bench_scaling *b, int processes, int64_t threads, struct command *c)
{
    static char n[] = "-n", option[] = "--scaling", of_each[] = "--threads";
    *c = (struct command){0};
    if (strlen(b->launcher) >= sizeof c->launcher) return fail(ERR_USAGE, "--launcher: the command is too long");
    strcpy(c->launcher, b->launcher);
    snprintf(c->number, sizeof c->number, "%d", processes);
    char bytes[FILE_PROGRAM];
    TRY(file_program(bytes, c->program));
    for (char *at = strtok(c->launcher, " "); at; at = strtok(NULL, " ")) TRY(add_word(c, at));
    TRY(add_word(c, n));
    TRY(add_word(c, c->number));
    TRY(add_word(c, c->program));
    for (int i = 0, skip; b->words[i]; i += skip) {
        if (is_option(b->words[i], "--scaling", &skip) || is_option(b->words[i], "--launcher", &skip)) continue;
        skip = 1;
        if (strcmp(b->words[i], "--json")) TRY(add_word(c, b->words[i]));
    }
    if (threads > 0) {
        snprintf(c->threads, sizeof c->threads, "%lld", (long long)threads);
        TRY(add_word(c, of_each));
        TRY(add_word(c, c->threads));
    }
    TRY(add_word(c, option));
    return add_word(c, c->number);
}

static int spawn(struct command *c, int *from, pid_t *child)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe(ends) != 0) return fail_errno(ERR_IO, errno, "cannot make a pipe to the launcher");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    int error = posix_spawnp(child, c->word[0], &actions, NULL, c->word, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *from = ends[0];
    if (!error) return 0;
    close(ends[0]);
    return fail_errno(ERR_MISSING, error, "the launcher \"%s\" cannot be started (Debian's package of mpirun is openmpi-bin)",
                      c->word[0]);
}

static int run_processes(const struct bench_scaling *b, int processes, int64_t threads, struct scaling_row *row)
{
    struct command c;
    struct text said = {0};
    char piece[4096];
    int from = -1, status = 0;
    pid_t child;
    ssize_t n;
    TRY(make_command(b, processes, threads, &c));
    TRY(spawn(&c, &from, &child));
    while ((n = read(from, piece, sizeof piece)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0) text_bytes(&said, piece, (size_t)n);
    close(from);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    int rc = status == 0 && said.at
                 ? scaling_row_parse(said.at, row)
                 : fail(ERR_DEVICE, "%d process%s could not measure the step; messages are above", processes,
                        processes == 1 ? "" : "es");
    text_free(&said);
    return rc;
}

// Adds the rows to the record. The device null computes nothing, so its times mean nothing.
static int record_rows_of(struct results *r, const struct task *task, const struct scaling_row *row, int count, int64_t *first)
{
    int64_t id;
    *first = 0;
    for (int i = 0; i < count; i++) {
        const struct scaling_row *s = &row[i];
        const struct scaling_facts f = {
            .sweep = *first, .task = task->name, .samples = task_samples(task), .data = s->data, .model = s->model,
            .recipe = s->recipe, .precision = s->precision, .device = s->device, .size = s->size, .noise = s->noise,
            .threads = s->threads, .batch = s->batch, .processes = s->processes, .machines = s->machines,
            .step_ns = llround(s->step * 1e9), .gradient_bytes = llround(s->gradients), .exchanges = s->exchanges,
            .reduce_bytes = s->reduce.bytes, .reduce_seconds = s->reduce.seconds,
            .reduce_count = s->processes > 1 ? SCALING_SIZES : 0};
        TRY(result_scaling_add(r, &f, &id));
        if (i == 0) *first = id;
    }
    return 0;
}

static int record_all(const struct bench_scaling *b, const struct task *task, const struct scaling_row *row, int count)
{
    struct results *r;
    int64_t first;
    if (!b->record || !strcmp(row[0].device, device_null.name)) return 0;
    TRY(results_open(b->db, RESULTS_WRITE, &r));
    int rc = record_rows_of(r, task, row, count, &first);
    if (rc == 0 && !b->json)
        printf("\nRecorded in %s as scaling %lld: \"dawn bench --list%s\", \"dawn report%s\"\n", result_file(r), (long long)first,
               result_option(r), result_operand(r));
    results_close(r);
    return rc;
}

// Measures from the largest number of processes down. Without --threads, all processes get as many threads as each of these has
// cores for: otherwise a single process would take all processors, and no other row could be compared with it.
static int measure_rows(const struct bench_scaling *b, const int64_t *processes, int count, struct scaling_row row[])
{
    int64_t threads = 0;
    for (int i = count - 1; i >= 0; i--) {
        program_status("%d of %d: %lld process%s", count - i, count, (long long)processes[i], processes[i] == 1 ? "" : "es");
        TRY(run_processes(b, (int)processes[i], threads, &row[i]));
        if (row[i].processes != processes[i])
            return fail(ERR_DEVICE, "the launcher started %d processes instead of %lld", row[i].processes,
                        (long long)processes[i]);
        if (b->choose->threads == 0 && !strcmp(row[i].device, "cpu")) threads = row[i].threads;
    }
    program_status_end();
    return 0;
}

static int start_all(const struct bench_scaling *b, const int64_t *processes, int count)
{
    struct scaling_row row[SCALING_MOST] = {0};
    const struct task *task;
    struct chosen chosen = {0};
    TRY(task_find(b->task, &task));
    TRY(choose_setting(b, &chosen));  // a launcher that starts processes with a wrong option adds a page of its own
    TRY(measure_rows(b, processes, count, row));
    struct text text = {0};
    scaling_text(row, count, task_samples(task), &text);
    if (b->json) TRY(json_text_print(scaling_json(row, count)));
    else printf("%s: a step of the same batch in each process, the median of up to %lld repeats\n\n%s", task->title,
                (long long)b->repeats, text.at);
    text_free(&text);
    fflush(stdout);
    return record_all(b, task, row, count);
}

int cmd_bench_scaling(const struct bench_scaling *b)
{
    int64_t processes[SWEEP_BATCHES];
    int count;
    TRY(sweep_batches("--scaling", b->list, processes, &count));
    if (count > SCALING_MOST || processes[count - 1] > 1 << 16)
        return fail(ERR_USAGE, "--scaling takes at most %d numbers of processes up to %d", SCALING_MOST, 1 << 16);
    if (!ranks_launched()) return start_all(b, processes, count);
    if (count == 1 && processes[0] == ranks_size()) return be_measured(b);
    return fail(ERR_USAGE, "--scaling %s among %d processes: a launcher has started them, so it takes their number",
                b->list, ranks_size());
}
