// SPDX-License-Identifier: Apache-2.0
// dawn profile: time and memory of a training step by layer and operator (tasks/tools/profile/profile.h). Nothing is recorded.
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/program.h"
#include "runtime/fuse.h"
#include "tasks/commands.h"
#include "tasks/tools/choose.h"
#include "tasks/tools/profile/trace.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct choose choose;
    const char *trace;
    double seconds;
    int64_t side, rows;
    bool fake, measure, fusion, json, quiet;
};

struct profiled {
    const struct arguments *a;
    struct chosen chosen;
    struct dataset *data;
    bool noise;
    char why[ERROR_TEXT_MAX];  // the reason for noise without --fake
    struct device *device;
    struct device_facts facts;
    struct trial trial;
    struct profile profile;
};

static int open_trial(struct profiled *p)
{
    const struct arguments *a = p->a;
    program_status("measuring the peaks of the device, planning");
    TRY(choose_open(&p->chosen, a->fake, &p->noise, &p->data));
    if (p->noise && !a->fake) snprintf(p->why, sizeof p->why, "%s", error_text());
    TRY(device_open(a->choose.device, (int)a->choose.threads, &p->device));
    if (a->measure) TRY(device_measure(p->device, &p->facts));
    else TRY(p->device->type->facts(p->device, &p->facts));
    const struct trial_choice choice = {p->chosen.task, &p->chosen.recipe, p->data, p->device, a->fusion ? FUSE_ALL : 0,
                                        p->chosen.files, a->side};
    return trial_open(&p->trial, &choice, &p->facts);
}

static void print_profile(const struct profiled *p)
{
    const struct trial *t = &p->trial;
    struct text text = {0};
    text_add(&text, "%s on device %s\n", p->chosen.task->title, p->device->type->name);
    text_entry(&text, "data", "%s%s%s%s", dataset_facts(p->data)->title, p->noise ? ", its shape filled with noise" : "",
               *p->why ? ": " : "", p->why);
    text_entry(&text, "step", "%s, recipe %s, %s, %s%s", t->trainer->setting.model->name, p->chosen.recipe.name,
               t->variant->samples, dtype_name(t->trainer->setting.dtype),
               t->choice.fuse ? "" : ", not fused");
    text_entry(&text, "device", "%s", p->facts.name);
    text_add(&text, "\n");
    profile_text(t, &p->profile, (int)p->a->rows, (int)p->a->rows, &text);
    fputs(text.at, stdout);
    text_free(&text);
}

static void show_work(const char *what)
{
    program_status("%s", what);
}

static int profile_task(struct profiled *p)
{
    const struct arguments *a = p->a;
    if (a->trace) TRY(file_check_target(a->trace));
    program_status_show(a->quiet ? PROGRAM_STATUS_NONE : PROGRAM_STATUS_LINES);
    TRY(open_trial(p));
    program_status("compiling, loading the data");
    TRY(trial_ready(&p->trial));
    TRY(profile_run(&p->trial, a->seconds, show_work, &p->profile));
    program_status_end();
    if (a->trace) TRY(trace_write(&p->trial, &p->profile, a->trace));
    if (a->json) return json_text_print(profile_json(&p->trial, &p->profile));
    print_profile(p);
    if (a->trace) printf("\nTrace in %s: ui.perfetto.dev opens it\n", a->trace);
    return 0;
}

int cmd_profile(int argc, char **argv)
{
    struct arguments a = {.seconds = 20, .rows = 16, .measure = true, .fusion = true};
    const struct option options[] = {
        CHOOSE_OPTIONS(a.choose),
        {OPTION_FLAG, 0, "fake", NULL, "use noise of the data set's shape instead of its files", &a.fake, 0, 0},
        {OPTION_INT, 0, "side", "N", "the step at N x N, or of length N; 0: the largest", &a.side, 0, 1 << 14},
        {OPTION_FLAG, 0, "fusion", NULL, "fuse operators", &a.fusion, 0, 0},
        {OPTION_FLOAT, 0, "seconds", "S", "time limit of the steps, and of the steps with feed", &a.seconds, 0.001, 1e6},
        {OPTION_FLAG, 0, "measure", NULL, "measure the peaks of the device", &a.measure, 0, 0},
        {OPTION_INT, 0, "rows", "N", "rows of each table; the rest is summed up", &a.rows, 4, 10000},
        {OPTION_PATH, 0, "trace", "FILE", "write a Chrome trace, which Perfetto opens", &a.trace, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object with all nodes and layers instead of text", &a.json, 0, 0},
        {OPTION_FLAG, 'q', "quiet", NULL, "show no progress", &a.quiet, 0, 0},
        {0},
    };
    const struct usage usage = {
        "profile", "TASK [OPTIONS]",
        "Shows where a training step spends its time and its memory: each operator and pass against the roofline, how much of "
        "the arithmetic is used, how long steps wait for the feed, and memory by class and layer at the peak of the plan. "
        "Without the data set, noise of the same shape is used.",
        options,
        "Examples:\n"
        "  dawn profile cifar10\n"
        "  dawn profile imagenette --trace step.json\n"
        "  dawn profile squad-split --batch 8 --precision f32 --rows 40\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc != 2) return task_wanted("");
    struct profiled p = {.a = &a};
    TRY(choose(&a.choose, argv[1], &p.chosen));
    if (a.fake && p.chosen.data_folder) return fail(ERR_USAGE, "--fake and --data DIR exclude each other");
    rc = profile_task(&p);
    profile_free(&p.profile);
    trial_close(&p.trial);
    device_close(p.device);
    dataset_close(p.data);
    return rc;
}
