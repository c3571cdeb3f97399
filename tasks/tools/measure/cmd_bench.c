// SPDX-License-Identifier: Apache-2.0
// dawn bench: times training steps (protocol.h, timing.h) of one setting or several, shows the time of each operator,
// compares it with the measured peaks of the device, and records it (results.db, docs/results-format.md). `dawn bench ops`
// times single operators and records nothing.
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/program.h"
#include "runtime/fuse.h"
#include "runtime/ranks/ranks.h"
#include "tasks/commands.h"
#include "tasks/tools/choose.h"
#include "tasks/tools/cmd_finish.h"
#include "tasks/tools/measure/cmd_bench_ops.h"
#include "tasks/tools/measure/cmd_bench_scaling.h"
#include "tasks/tools/measure/sweep.h"
#include "tasks/tools/measure/throughput.h"
#include "tasks/tools/show/show_bench.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLE_ROWS = 20, WORDS = 4 };
static bool ends_on_terminal;  // a line may be drawn there when a signal comes

struct arguments {
    struct choose choose;
    const char *batch, *precision, *fusion, *op, *db, *scaling, *launcher;
    double seconds;
    int64_t repeats, side;
    bool fake, measure, record, list, json, quiet;
};

// Words separated by commas.
struct words {
    char text[64];
    const char *at[WORDS];
    int count;
};

struct bench {
    const struct arguments *a;
    const char *task;
    int64_t batch[SWEEP_BATCHES];
    int batches;
    struct words precision, fusion;
    bool sweeps;                // more than one setting
    struct chosen chosen;       // of the current setting
    struct dataset *data;
    bool noise;
    char why[ERROR_TEXT_MAX];   // why noise replaces the data although --fake is not given
    struct device *device;
    struct device_facts facts;  // with the highest peaks measured so far
    struct results *results;    // NULL: not recorded
    int64_t first, last;        // ids in the record, first and last
    struct trial trial;
    struct roofline operators;
    struct sweep sweep;         // the settings of one precision and fusion
    const char *type;           // type of the activations
    int rows;                   // of all sweeps
    bool disturbed;             // other programs used the machine during a setting
    json_t *settings, *fits;
};

// ---- the settings

static int split_words(const char *option, const char *list, struct words *w)
{
    *w = (struct words){0};
    if (strlen(list) >= sizeof w->text) return fail(ERR_USAGE, "%s: \"%.40s\" is too long", option, list);
    strcpy(w->text, list);
    for (char *at = w->text;; at++) {
        if (w->count == WORDS) return fail(ERR_USAGE, "%s takes at most %d words", option, WORDS);
        w->at[w->count++] = at;
        at += strcspn(at, ",");
        if (!*at) return 0;
        *at = 0;
    }
}

static int read_lists(struct bench *b)
{
    const struct arguments *a = b->a;
    b->batches = 1;
    if (a->batch) TRY(sweep_batches("--batch", a->batch, b->batch, &b->batches));
    b->precision = (struct words){.count = 1};  // the recipe's
    if (a->precision) TRY(split_words("--precision", a->precision, &b->precision));
    TRY(split_words("--fusion", a->fusion, &b->fusion));
    for (int i = 0; i < b->fusion.count; i++)
        if (strcmp(b->fusion.at[i], "on") && strcmp(b->fusion.at[i], "off"))
            return fail(ERR_USAGE, "--fusion takes on, off or both (on,off); got \"%.40s\"", a->fusion);
    b->sweeps = b->batches * b->precision.count * b->fusion.count > 1;
    return 0;
}

// Peaks are measured before and after the steps. The higher figure counts, because other load can only lower it.
static int measure_peaks(struct bench *b)
{
    struct device_facts now;
    if (!b->a->measure) return 0;
    program_status("measuring the peaks of the device");
    TRY(device_measure(b->device, &now));
    for (enum dtype t = F32; t <= F16; t++)
        if (now.peak_flops[t] > b->facts.peak_flops[t]) b->facts.peak_flops[t] = now.peak_flops[t];
    if (now.peak_bytes > b->facts.peak_bytes) b->facts.peak_bytes = now.peak_bytes;
    return 0;
}

static int open_bench(struct bench *b)
{
    const struct arguments *a = b->a;
    TRY(choose_open(&b->chosen, a->fake, &b->noise, &b->data));
    if (b->noise && !a->fake) snprintf(b->why, sizeof b->why, "%s", error_text());
    TRY(device_open(a->choose.device, (int)a->choose.threads, &b->device));
    TRY(b->device->type->facts(b->device, &b->facts));
    // The device null computes nothing, so its times mean nothing.
    if (a->record && b->device->type != &device_null) TRY(results_open(a->db, RESULTS_WRITE, &b->results));
    return measure_peaks(b);
}

// ---- one setting

static void show_repeat(void *context, const struct timing *t)
{
    const struct bench *b = context;
    double rate = (double)b->trial.variant->batch / t->repeat[t->repeats - 1].step;
    char line[120], speed[64];
    int width = snprintf(line, sizeof line, "batch %lld, %s: %lld of %lld repeats", (long long)b->trial.variant->batch,
                         dtype_name(b->trial.trainer->setting.dtype), (long long)t->repeats, (long long)t->protocol.repeats);
    width += snprintf(speed, sizeof speed, ", %.1f %s/s", rate, task_samples(b->chosen.task));
    if (width + (int)strlen(" ... ") > program_columns(STDERR_FILENO)) *speed = 0;  // a figure is never cut
    program_status("%s%s", line, speed);
}

static int choose_setting(struct bench *b, int64_t batch, const char *precision)
{
    struct choose c = b->a->choose;
    c.batch = batch, c.precision = precision;
    return choose(&c, b->task, &b->chosen);
}

static void end_setting(struct bench *b)
{
    trial_close(&b->trial);
    roofline_free(&b->operators);
}

static int time_setting(struct bench *b)
{
    const long long batch = (long long)b->trial.variant->batch;
    const char *type = dtype_name(b->trial.trainer->setting.dtype);
    program_status("batch %lld, %s: compiling, loading the data", batch, type);
    TRY(trial_ready(&b->trial));
    program_status("batch %lld, %s: warming up, first repeat", batch, type);
    TRY(trial_time(&b->trial, b->a->seconds, b->a->repeats, show_repeat, b));
    if (!b->sweeps) TRY(measure_peaks(b));
    trial_better_peaks(&b->trial, &b->facts);
    program_status("batch %lld, %s: timing operators", batch, type);
    TRY(trial_profile(&b->trial));
    roofline_of(trial_plan(&b->trial), &b->trial.facts, ROOFLINE_OPERATORS, b->trial.ns, &b->operators);
    program_status_end();
    if (!b->results) return 0;
    TRY(throughput_record(&b->trial, b->noise, b->first, b->results, &b->last));
    if (!b->first) b->first = b->last;
    return 0;
}

// Returns ERR_MEMORY if the plan needs more memory than is free.
static int open_setting(struct bench *b, bool fusion)
{
    struct device_facts now;
    TRY(b->device->type->facts(b->device, &now));
    b->facts.memory = now.memory;
    const struct trial_choice choice = {b->chosen.task,  &b->chosen.recipe,         b->data,        b->device,
                                        fusion ? FUSE_ALL : 0, b->chosen.files, b->a->side};
    TRY(trial_open(&b->trial, &choice, &b->facts));
    size_t needed = b->trial.trainer->session->memory_total;
    char a[TEXT_FIGURE], c[TEXT_FIGURE];
    if (!now.memory || needed <= now.memory) return 0;
    return fail(ERR_MEMORY, "batch %lld needs %s by plan, and %s has %s free", (long long)b->trial.variant->batch,
                text_size(a, (double)needed), b->device->type->name, text_size(c, (double)now.memory));
}

static int measure_setting(struct bench *b, int64_t batch, const char *precision, bool fusion)
{
    TRY(choose_setting(b, batch, precision));
    TRY(open_setting(b, fusion));
    return time_setting(b);
}

// ---- output

static void print_text(struct text *text)
{
    fputs(text->at ? text->at : "", stdout);
    program_flush();  // the next setting may take minutes
    text_free(text);
}

static void add_data_name(const struct bench *b, struct text *text)
{
    text_add(text, "%s on device %s\n", b->chosen.task->title, b->device->type->name);
    text_entry(text, "data", "%s%s%s%s", dataset_facts(b->data)->title, b->noise ? ", its shape filled with noise" : "",
               *b->why ? ": " : "", b->why);
}

static void print_setting(struct bench *b)
{
    const struct trial *t = &b->trial;
    struct text text = {0};
    add_data_name(b, &text);
    text_entry(&text, "step", "%s, recipe %s, %s, %s%s", t->trainer->setting.model->name, b->chosen.recipe.name,
               t->variant->samples, dtype_name(t->trainer->setting.dtype),
               t->choice.fuse ? "" : ", not fused");
    text_entry(&text, "device", "%s", b->facts.name);
    throughput_steadiness(&t->timing, b->a->seconds, b->a->repeats, &text);
    throughput_text(t, &text);
    roofline_shorten(&b->operators, TABLE_ROWS);
    text_add(&text, "\nOne step by operator:\n");
    roofline_text(&b->operators, &text);
    print_text(&text);
}

static int bench_one(struct bench *b)
{
    TRY(measure_setting(b, b->a->batch ? b->batch[0] : 0, b->precision.at[0], !strcmp(b->fusion.at[0], "on")));
    if (b->a->json) TRY(json_text_print(throughput_json(&b->trial, b->noise, &b->operators)));
    else print_setting(b);
    return 0;
}

// ---- sweeps

static void print_sweep_head(struct bench *b)
{
    const struct trial *t = &b->trial;
    struct text text = {0};
    add_data_name(b, &text);
    text_entry(&text, "step", "%s, recipe %s, %s %lld", t->trainer->setting.model->name, b->chosen.recipe.name,
               t->trainer->setting.task->length_field ? "length" : "side", (long long)t->variant->side);
    text_entry(&text, "device", "%s", b->facts.name);
    text_entry(&text, "timed", "%d steps ignored, then %lld x %d, or as many as fit into --seconds %g of each setting",
               PROTOCOL_IGNORED, (long long)b->a->repeats, PROTOCOL_TIMED, b->a->seconds);
    text_add(&text, "\n");
    throughput_head(&t->choice, &text);
    print_text(&text);
}

static void print_row(struct bench *b)
{
    struct text text = {0};
    if (b->a->json) {
        json_array_append_new(b->settings, throughput_json(&b->trial, b->noise, &b->operators));
        return;
    }
    if (b->rows++ == 0) print_sweep_head(b);
    throughput_row(&b->trial, &text);
    b->disturbed |= b->trial.timing.machine.disturbed;
    print_text(&text);
}

static void print_fit(struct bench *b, bool fusion, const struct sweep_fit *f, const struct sweep_largest *largest)
{
    struct text text = {0};
    if (b->a->json) {
        json_array_append_new(
            b->fits, json_pack("{ss sb sf sf sf sf sf sf sf sI}", "precision", b->type, "fusion", fusion, "step_s_per_sample",
                               f->step.slope, "step_s", f->step.offset, "step_r2", f->step.r2, "memory_bytes_per_sample",
                               f->memory.slope, "memory_bytes", f->memory.offset, "memory_r2", f->memory.r2,
                               "samples_per_s_limit",
                               f->limit, "largest_batch", (json_int_t)largest->batch));
        return;
    }
    text_add(&text, "\n%s, fusion %s:\n", b->type, fusion ? "on" : "off");
    sweep_text(f, largest, task_samples(b->chosen.task), &b->facts, &text);
    print_text(&text);
}

static int print_lines(struct bench *b, bool fusion)
{
    const struct trial_choice choice = {b->chosen.task,        &b->chosen.recipe, b->data,   b->device,
                                        fusion ? FUSE_ALL : 0, b->chosen.files,   b->a->side};
    struct sweep_fit fit;
    struct sweep_largest largest;
    if (!sweep_fit(&b->sweep, &fit)) return 0;
    TRY(sweep_find_largest(&choice, &b->facts, &b->sweep, &fit, &largest));
    print_fit(b, fusion, &fit, &largest);
    return 0;
}

// A batch that does not fit ends the sweep of its precision and fusion, because larger batches do not fit either.
static int sweep_over_batches(struct bench *b, const char *precision, bool fusion)
{
    int rc = 0;
    b->sweep = (struct sweep){0};
    for (int i = 0; i < b->batches && rc == 0; i++) {
        rc = measure_setting(b, b->a->batch ? b->batch[i] : 0, precision, fusion);
        if (rc == 0) {
            const struct trial *t = &b->trial;
            b->type = dtype_name(t->trainer->setting.dtype);
            print_row(b);
            sweep_add(&b->sweep, (double)t->variant->batch, t->timing.step.median, (double)trial_plan(t)->total);
        }
        end_setting(b);
    }
    if (rc < 0 && (rc != ERR_MEMORY || b->sweep.count == 0)) return rc;
    if (rc == ERR_MEMORY) {
        program_flush();
        fprintf(stderr, "dawn bench: the sweep stops here: %s\n", error_text());
    }
    return print_lines(b, fusion);
}

static int bench_sweep(struct bench *b)
{
    b->settings = json_array(), b->fits = json_array();
    for (int p = 0; p < b->precision.count; p++)
        for (int f = 0; f < b->fusion.count; f++)
            TRY(sweep_over_batches(b, b->precision.at[p], !strcmp(b->fusion.at[f], "on")));
    if (b->a->json) TRY(json_text_print(json_pack("{sO sO}", "settings", b->settings, "fits", b->fits)));
    else printf("\nok: accepted windows of all repeats%s\n",
                b->disturbed ? "; !: other programs used the processors" : "");
    return 0;
}

// ---- the command

static void print_recorded(const struct bench *b)
{
    if (b->a->json || !b->results) return;
    printf("%sRecorded in %s as %lld", b->sweeps ? "" : "\n", result_file(b->results), (long long)b->first);
    if (b->last > b->first) printf(" to %lld", (long long)b->last);
    printf(": \"dawn bench --list%s\", \"dawn report%s\"\n", result_option(b->results), result_operand(b->results));
}

static int bench_task(const struct arguments *a, const char *task)
{
    struct bench b = {.a = a, .task = task};
    if (a->op) return fail(ERR_USAGE, "--op is an option of \"dawn bench ops\"");
    TRY(read_lists(&b));
    TRY(choose_setting(&b, a->batch ? b.batch[0] : 0, b.precision.at[0]));
    if (a->fake && b.chosen.data_folder) return fail(ERR_USAGE, "--fake and --data DIR exclude each other");
    int rc = open_bench(&b);
    if (rc == 0) rc = b.sweeps ? bench_sweep(&b) : bench_one(&b);
    if (rc == 0) print_recorded(&b);
    end_setting(&b);
    json_decref(b.settings);
    json_decref(b.fits);
    results_close(b.results);
    device_close(b.device);
    dataset_close(b.data);
    return rc;
}

static int bench_list(const struct arguments *a)
{
    struct results *r;
    struct text text = {0};
    TRY(results_open(a->db, RESULTS_READ, &r));
    int rc = show_bench_list(r, &text);
    if (rc == 0) print_text(&text);
    text_free(&text);
    results_close(r);
    return rc;
}

static int bench_operators(const struct arguments *a)
{
    const struct choose *c = &a->choose;
    if (c->data || c->recipe || c->model || c->set.count || a->batch || a->fake || a->side)
        return fail(ERR_USAGE, "\"dawn bench ops\" takes only --op, --precision, --device, --threads, --no-measure "
                               "and --json");
    TRY(choose_threads(c));
    const struct bench_ops ops = {a->op, a->precision, c->device, c->threads, a->measure, a->json};
    return cmd_bench_ops(&ops);
}

static int bench_scaling(const struct arguments *a, const char *task, char *const *words)
{
    if (strcmp(a->fusion, "on") || a->op)
        return fail(ERR_USAGE, "--scaling measures one setting: it takes no --fusion or --op");
    const struct bench_scaling s = {.task = task, .list = a->scaling, .launcher = a->launcher, .batch = a->batch,
                                    .precision = a->precision, .db = a->db, .choose = &a->choose, .seconds = a->seconds,
                                    .repeats = a->repeats, .side = a->side, .fake = a->fake, .json = a->json,
                                    .record = a->record, .words = words};
    return cmd_bench_scaling(&s);
}

static int run_options(struct arguments *a, char *const *words, int argc, char **argv)
{
    const struct option options[] = {
        CHOOSE_WHAT(a->choose),
        {OPTION_TEXT, 0, "batch", "N,N..", "samples per step, several for a sweep; default: the recipe's", &a->batch, 0, 0},
        {OPTION_TEXT, 0, "precision", "P,P..", "auto, f32, bf16, f16; default: the recipe's", &a->precision, 0, 0},
        {OPTION_TEXT, 0, "fusion", "on,off", "with fused operators, without, or both", &a->fusion, 0, 0},
        CHOOSE_WHERE(a->choose),
        {OPTION_FLAG, 0, "fake", NULL, "use noise of the data set's shape instead of its files", &a->fake, 0, 0},
        {OPTION_INT, 0, "side", "N", "time the step at N x N, or of length N; 0: the largest", &a->side, 0, 1 << 14},
        {OPTION_FLOAT, 0, "seconds", "S", "time limit for all steps of a setting", &a->seconds, 0.001, 1e6},
        {OPTION_INT, 0, "repeats", "N", "repeats, of which the median is reported", &a->repeats, 1, PROTOCOL_REPEATS_MAX},
        {OPTION_FLAG, 0, "measure", NULL, "measure the peaks of the device", &a->measure, 0, 0},
        {OPTION_FLAG, 0, "record", NULL, "record the measurement", &a->record, 0, 0},
        {OPTION_PATH, 0, "db", "FILE", "the record (default: $DAWN_RESULTS, else results.db)", &a->db, 0, 0},
        {OPTION_FLAG, 0, "list", NULL, "show the recorded measurements, and measure nothing", &a->list, 0, 0},
        {OPTION_TEXT, 0, "op", "NAME", "with ops: only cases whose name has this text", &a->op, 0, 0},
        {OPTION_TEXT, 0, "scaling", "N,N..", "time the step on so many processes, each with --batch", &a->scaling, 0, 0},
        {OPTION_TEXT, 0, "launcher", "COMMAND", "what starts them", &a->launcher, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "JSON instead of text", &a->json, 0, 0},
        {OPTION_FLAG, 'q', "quiet", NULL, "show no progress", &a->quiet, 0, 0},
        {0},
    };
    const struct usage usage = {
        "bench", "TASK|ops [OPTIONS]",
        "Times training steps as DLPerf does: 20 steps are ignored, the next 100 are timed, and the median of 7 repeats counts. "
        "A slow device gets fewer, and the output says so; it also says whether the machine was steady. Shows samples per "
        "second, the time by operator, and the share of the device's measured peaks. Several batches, precisions or fusions "
        "are a sweep, "
        "with a line through its steps. \"ops\" times single operators, and names the ones far below the measured product rate. "
        "Without the data set, noise of the same shape is used.",
        options,
        "Examples:\n"
        "  dawn bench cifar10 --seconds 120\n"
        "  dawn bench squad-split --batch 1,2,4,8,16,32 --precision f32,bf16\n"
        "  dawn bench cifar10 --fake --fusion on,off --side 24\n"
        "  dawn bench cifar10 --scaling 1,2,4\n"
        "  dawn bench ops --op conv\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    program_status_show(a->quiet ? PROGRAM_STATUS_NONE : PROGRAM_STATUS_LINES);
    if (a->list && argc == 1) return bench_list(a);
    if (a->list) return fail(ERR_USAGE, "--list takes no task");
    if (argc != 2) return task_wanted(", or ops");
    if (a->scaling) return bench_scaling(a, argv[1], words);
    if (ranks_size() > 1)
        return fail(ERR_USAGE, "%d processes measure one step together: add --scaling %d", ranks_size(), ranks_size());
    return strcmp(argv[1], "ops") ? bench_task(a, argv[1]) : bench_operators(a);
}

static int run_command(int argc, char **argv)
{
    struct arguments a = {.seconds = 60, .repeats = PROTOCOL_REPEATS, .measure = true, .record = true, .fusion = "on",
                          .launcher = "mpirun --oversubscribe"};
    char **words = zalloc((size_t)(argc + 1) * sizeof *words);
    memcpy(words, argv, (size_t)argc * sizeof *words);
    int rc = run_options(&a, words, argc, argv);
    free(words);
    return rc;
}

// Nothing is kept of a setting that is not whole, so the signal ends the process at once: a shell sees status 130 or 143.
static void end_by_signal(int number)
{
    static const char live[] = "\r\033[K";
    static const char words[] = "dawn bench: stopped by a signal; only settings that were whole before are recorded\n";
    ssize_t done = ends_on_terminal ? write(STDERR_FILENO, live, sizeof live - 1) : 0;
    done += write(STDERR_FILENO, words, sizeof words - 1);
    (void)done;
    raise(number);
}

// A launcher speaks for its processes. A signal that is ignored (nohup) stays so.
static void watch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = end_by_signal, .sa_flags = (int)SA_RESETHAND | SA_NODEFER}, before;
    ends_on_terminal = program_draws(STDERR_FILENO);
    for (int i = 0; i < 2 && !ranks_launched(); i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) sigaction(numbers[i], &action, NULL);
}

int cmd_bench(int argc, char **argv)
{
    int rc = ranks_open();
    if (ranks_size() > 1) program_draw_nothing();
    watch_signals();
    if (rc == 0) rc = run_command(argc, argv);
    return cmd_finish("bench", rc);
}
