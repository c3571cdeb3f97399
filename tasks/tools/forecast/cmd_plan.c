// SPDX-License-Identifier: Apache-2.0
// dawn plan: the cost of a training before it runs. It builds and plans the same programs as `dawn train`, takes no memory
// for them, and bounds the training's time by the measured peaks of the device. Cost: about two seconds for the measurement.
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/program.h"
#include "runtime/fuse.h"
#include "submit/results/machine/others.h"
#include "tasks/commands.h"
#include "tasks/common/train/memory_fit.h"
#include "tasks/tools/choose.h"
#include "tasks/tools/forecast/forecast.h"
#include "tasks/tools/forecast/gpus.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { TABLE_ROWS = 16 };

struct arguments {
    struct choose choose;
    const char *on;
    int64_t gpus;
    double decode;
    bool measure, nodes, json;
};

struct planned {
    const struct arguments *a;
    struct chosen chosen;
    struct dataset *data;
    bool noise;  // the data set is missing, so the plan uses the published facts
    struct device *device;
    struct device_facts facts;
    struct others_share machine;  // while the peaks were measured
    struct trainer *trainer;
    struct forecast forecast;
    struct roofline step;  // the variant at full resolution
    int64_t kept;          // bytes on the host for caches of samples
    int64_t largest;       // largest batch that fits into the memory; 0: none; -1: this one does
    const struct gpu *on;  // a GPU that is not in this machine; NULL: the device's own peaks count
    double appetite;       // samples per second that the fastest step consumes
    double shared_seconds, shared_appetite;  // totals of a training on several GPUs; 0: on one
};

// ---- text

static void add_data_set(const struct planned *p, struct text *into)
{
    const struct dataset_facts *d = dataset_facts(p->data), *seen = p->trainer->setting.data;
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    struct text text = {0};
    text_add(&text, "%s: %s + %s %s", d->title, text_count(a, d->count[SPLIT_TRAIN]), text_count(b, d->count[SPLIT_TEST]),
             task_samples(p->chosen.task));
    if (d->height) text_add(&text, " of %d x %d x %d", d->width, d->height, d->channels);
    if (d->classes) text_add(&text, ", %d classes", d->classes);
    if (seen != d)
        text_add(&text, ", as %s + %s samples", text_count(a, seen->count[SPLIT_TRAIN]), text_count(b, seen->count[SPLIT_TEST]));
    if (p->noise) text_add(&text, "\n(not on this machine: planned with the published counts)");
    text_entry(into, "data", "%s", text.at);
    text_free(&text);
}

static void print_head(const struct planned *p)
{
    const struct trainer *t = p->trainer;
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    struct text text = {0};
    printf("%s, planned for %s %s\n", p->chosen.task->title, p->on ? "a GPU that is not here:" : "device",
           p->on ? p->on->name : p->device->type->name);
    add_data_set(p, &text);
    text_entry(&text, "model", "%s, %s parameters, %s a forward pass", t->setting.model->name,
               text_count(a, trainer_parameters(t)), text_si(b, trainer_forward_flops(t), "FLOP"));
    text_entry(&text, "recipe", "%s, batch %lld, activations in %s", p->chosen.recipe.name,
               (long long)p->chosen.recipe.batch, dtype_name(t->setting.dtype));
    text_entry(&text, "device", "%s", p->facts.name);
    fputs(text.at, stdout);
    text_free(&text);
}

static bool is_streamed(const struct planned *p)
{
    return p->trainer->supply[FEED_TRAIN].choice.fields > 0;
}

// Share of the training's time, by the rooflines.
static double share_of(const struct planned *p, const struct forecast_variant *v)
{
    const double all = p->forecast.training_seconds;
    return all > 0 ? (double)v->steps * v->seconds / all : 0;
}

static void print_row(const struct planned *p, const struct forecast_variant *v)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE], name[128];
    snprintf(name, sizeof name, "%s, %s", v->size, v->name);
    if (strlen(name) > 32) printf("  %s\n", name), *name = 0;  // a cut name could pass for another one
    printf("  %-32s %8s %8s %7lld %9s", name, text_si(a, v->flops, ""), text_si(b, v->bytes, ""), (long long)v->steps,
           roofline_span(c, v->seconds));
    printf(" %6.1f%%\n", 100 * share_of(p, v));
}

static void print_schedule(const struct planned *p)
{
    const struct trainer *t = p->trainer;
    const struct forecast *f = &p->forecast;
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE];
    printf("\nSchedule: %g epoch%s of %lld steps: %lld steps, %s samples\n", p->chosen.recipe.epochs,
           p->chosen.recipe.epochs == 1 ? "" : "s", (long long)t->steps_per_epoch, (long long)t->steps,
           text_count(a, f->samples));
    printf("  %-32s %8s %8s %7s %9s %7s\n", "program", "FLOP", "bytes", "times", "roofline", "share");
    for (int i = 0; i < f->variants; i++) print_row(p, &f->variant[i]);
    for (int i = 0; i < f->owns; i++) print_row(p, &f->own[i]);
    printf("  %-32s %8s %8s %7lld %9s\n", "evaluation", text_si(a, f->evaluation_flops, ""),
           text_si(b, f->evaluation_bytes, ""), (long long)f->evaluations, roofline_span(c, f->evaluation_seconds));
    printf("  %-32s %8s\n", f->owns ? "in all, at most" : "in all", text_si(a, f->flops, ""));
}

static void print_memory(const struct planned *p)
{
    const struct session *s = p->trainer->session;
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    printf("\nMemory: %s%s%s\n", text_size(a, (double)s->memory_total),
           !p->facts.memory ? "" : p->on ? ", it has: " : ", free now: ",
           p->facts.memory ? text_size(b, (double)p->facts.memory) : "");
    for (int i = 0; i < MEMORY_CLASSES; i++)
        if (s->memory[i])
            printf("  %-34s %9s %6.1f%%\n", memory_class_name((enum memory_class)i), text_size(a, (double)s->memory[i]),
                   100 * (double)s->memory[i] / (double)s->memory_total);
    if (p->kept) printf("  and %s of samples kept on the host\n", text_size(a, (double)p->kept));
    if (p->largest > 0) printf("  This does not fit; the largest batch that does is %lld.\n", (long long)p->largest);
    if (p->largest == 0) printf("  This does not fit, and no batch is small enough.\n");
}

static void print_step(const struct planned *p)
{
    const struct forecast_variant *v = &p->forecast.variant[p->forecast.full];
    struct text table = {0};
    printf("\nOne step at %s (%s):\n", v->size, v->name);
    roofline_text(&p->step, &table);
    fputs(table.at, stdout);
    text_free(&table);
}

// The work of the host on stored samples during the training.
static void print_feed(const struct planned *p)
{
    char a[TEXT_FIGURE];
    const char *samples = task_samples(p->chosen.task);
    if (!is_streamed(p)) return;
    printf("  no step waits for %s %s/s", text_count(a, (int64_t)p->appetite), samples);
    if (p->shared_seconds > 0) printf(", on all of them for %s", text_count(a, (int64_t)p->shared_appetite));
    if (p->a->decode > 0) printf("; counted: %s", text_count(a, (int64_t)p->a->decode));
    puts("");
}

// Peaks that are too low make a time that the training can undercut.
static void print_doubt(const struct planned *p)
{
    char why[OTHERS_TEXT];
    struct text words = {0}, wrapped = {0};
    if (p->on || !others_doubt(&p->machine, p->facts.peak_spread, why)) return;
    text_add(&words, "NOT A LOWER BOUND: %s", why);
    text_wrap(&wrapped, words.at, 2, 4);
    printf("  %s\n", wrapped.at);
    text_free(&words), text_free(&wrapped);
}

static void print_time(const struct planned *p)
{
    const struct forecast *f = &p->forecast;
    char a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE];
    struct text head = {0};
    printf("\nRoofline");
    if (!(f->seconds > 0)) {
        printf(": unknown, because nothing was measured on this device.\nWork: %s in all.\n",
               text_si(a, f->flops, "FLOP"));
        return;
    }
    text_add(&head, " of %s, a prediction (%s):", p->on ? p->on->title : "", p->on ? p->on->source : "");
    struct text wrapped = {0};
    text_wrap(&wrapped, p->on ? head.at : ", from peaks measured just now:", 8, 2);
    printf("%s\n ", wrapped.at);
    text_free(&wrapped), text_free(&head);
    const char *comma = "";
    for (enum dtype t = F32; t <= F16; t++)
        if (p->facts.peak_flops[t] > 0) {
            printf("%s %s %s", comma, dtype_name(t), text_si(a, p->facts.peak_flops[t], "FLOP/s"));
            comma = ",";
        }
    printf("%s copy %s\n", comma, text_si(a, p->facts.peak_bytes, "B/s"));
    print_doubt(p);
    printf("  training %s, evaluation %s, in all %s\n", text_span(a, f->training_seconds),
           text_span(b, f->seconds - f->training_seconds), text_span(c, f->seconds));
    if (p->shared_seconds > 0)
        printf("  on %lld of them, each with its share of every batch: %s\n", (long long)p->a->gpus,
               text_span(a, p->shared_seconds));
    print_feed(p);
}

// ---- JSON

static json_t *json_variant(const struct planned *p, const struct forecast_variant *v)
{
    return json_pack("{ss sI sI sf sf sf sf}", "name", v->name, "side", (json_int_t)v->side, "steps", (json_int_t)v->steps,
                     "flops", v->flops, "bytes", v->bytes, "roofline_s", v->seconds, "share", share_of(p, v));
}

static json_t *json_schedule(const struct planned *p)
{
    const struct trainer *t = p->trainer;
    const struct forecast *f = &p->forecast;
    json_t *variants = json_array(), *between = json_array();
    for (int i = 0; i < f->variants; i++) json_array_append_new(variants, json_variant(p, &f->variant[i]));
    for (int i = 0; i < f->owns; i++) json_array_append_new(between, json_variant(p, &f->own[i]));
    return json_pack("{sf sI sI sI sI sI sf sf so so}", "epochs", p->chosen.recipe.epochs, "batch",
                     (json_int_t)p->chosen.recipe.batch, "steps_per_epoch", (json_int_t)t->steps_per_epoch, "steps",
                     (json_int_t)t->steps, "samples", (json_int_t)f->samples, "evaluations",
                     (json_int_t)f->evaluations, "evaluation_flops", f->evaluation_flops, "evaluation_roofline_s",
                     f->evaluation_seconds, "variants", variants, "between", between);
}

static json_t *json_memory(const struct planned *p)
{
    const struct session *s = p->trainer->session;
    json_t *classes = json_object();
    for (int i = 0; i < MEMORY_CLASSES; i++)
        json_object_set_new(classes, memory_class_name((enum memory_class)i), json_integer((json_int_t)s->memory[i]));
    return json_pack("{sI sI sI so}", "total_bytes", (json_int_t)s->memory_total, "free_bytes",
                     (json_int_t)p->facts.memory, "host_bytes", (json_int_t)p->kept, "classes", classes);
}

static json_t *json_peaks(const struct device_facts *f)
{
    json_t *peaks = json_object();
    for (enum dtype t = F32; t <= F16; t++)
        if (f->peak_flops[t] > 0) json_object_set_new(peaks, dtype_name(t), json_real(f->peak_flops[t]));
    if (f->peak_bytes > 0) json_object_set_new(peaks, "copy_bytes", json_real(f->peak_bytes));
    return peaks;
}

static json_t *json_on(const struct planned *p)
{
    json_t *on = json_pack("{ss ss sI}", "gpu", p->on->title, "source", p->on->source, "gpus", (json_int_t)p->a->gpus);
    if (on && p->shared_seconds > 0) {
        json_object_set_new(on, "seconds", json_real(p->shared_seconds));
        json_object_set_new(on, "samples_per_second", json_real(p->shared_appetite));
    }
    if (on && p->a->decode > 0) json_object_set_new(on, "decoded_per_second", json_real(p->a->decode));
    return on;
}

static int print_plan_json(const struct planned *p)
{
    const struct dataset_facts *d = dataset_facts(p->data);
    const struct trainer *t = p->trainer;
    const struct forecast_variant *v = &p->forecast.variant[p->forecast.full];
    json_t *o = json_pack("{ss s{ss sb sI sI} ss sI sf ss ss s{ss ss}}", "task", p->chosen.task->name, "data", "name",
                          d->name, "here", !p->noise, "train", (json_int_t)d->count[SPLIT_TRAIN], "test",
                          (json_int_t)d->count[SPLIT_TEST], "model", t->setting.model->name, "parameters",
                          (json_int_t)trainer_parameters(t), "forward_flops", trainer_forward_flops(t), "recipe",
                          p->chosen.recipe.name, "precision", dtype_name(t->setting.dtype), "device", "type",
                          p->device->type->name, "name", p->facts.name);
    json_object_set_new(o, "schedule", json_schedule(p));
    json_object_set_new(o, "memory", json_memory(p));
    json_object_set_new(o, "peaks", json_peaks(&p->facts));
    json_object_set_new(o, "step",
                        json_pack("{sI ss sf sf sf so}", "side", (json_int_t)v->side, "name", v->name, "flops",
                                  v->flops, "bytes", v->bytes, "roofline_s", v->seconds,
                                  p->a->nodes ? "nodes" : "operators", roofline_json(&p->step)));
    json_object_set_new(o, "total",
                        json_pack("{sf sf}", "flops", p->forecast.flops, "roofline_s", p->forecast.seconds));
    char why[OTHERS_TEXT];
    if (!p->on && others_doubt(&p->machine, p->facts.peak_spread, why))
        json_object_set_new(o, "not_a_bound", json_string(why));
    if (is_streamed(p) && p->appetite > 0) json_object_set_new(o, "samples_per_second", json_real(p->appetite));
    if (p->on) json_object_set_new(o, "on", json_on(p));
    if (p->largest >= 0) json_object_set_new(o, "largest_batch", json_integer((json_int_t)p->largest));
    return json_text_print(o);
}

// ---- the command

static int count_kept(struct planned *p)
{
    for (int feed = 0; feed < p->trainer->feeds; feed++) {
        int64_t bytes;
        TRY(supply_keeps(&p->trainer->supply[feed], &bytes));
        p->kept += bytes;
    }
    return 0;
}

// Opens the planning device, whose peaks count. A GPU that is not in this machine is planned on the null device.
static int open_device(struct planned *p)
{
    const struct arguments *a = p->a;
    const struct model *model;
    TRY(device_open(p->on && !a->choose.device ? "null" : a->choose.device, (int)a->choose.threads, &p->device));
    TRY(p->device->type->facts(p->device, &p->facts));
    if (!p->on) return 0;
    gpu_facts(p->on, &p->facts);
    TRY(task_find_model(p->chosen.task, p->chosen.recipe.model, &model));
    static const enum recipe_precision of[] = {[F32] = PRECISION_F32, [BF16] = PRECISION_BF16, [F16] = PRECISION_F16};
    if (p->chosen.recipe.precision == PRECISION_AUTO) p->chosen.recipe.precision = of[trainer_auto(&p->facts, model)];
    return 0;
}

static double gradient_bytes(const struct trainer *t)
{
    return (double)sizeof(float) * (double)trainer_parameters(t);
}

// Each GPU computes its part of a batch, then all GPUs sum their gradients. A plan for that part has that many times the
// steps.
static int forecast_shared(struct planned *p)
{
    struct trainer_choice choice = p->trainer->choice;
    struct trainer *part = NULL;
    struct forecast f;
    double gpus = (double)p->a->gpus;
    if (choice.recipe.batch % p->a->gpus)
        return fail(ERR_USAGE, "--gpus: a batch of %lld is not %lld equal parts", (long long)choice.recipe.batch,
                    (long long)p->a->gpus);
    recipe_set_batch(&choice.recipe, choice.recipe.batch / p->a->gpus);
    TRY(trainer_new(&choice, &part));
    forecast_of(part, &p->facts, &f);
    p->shared_appetite = gpus * forecast_appetite(&f);
    if (p->a->decode > 0) forecast_feed(&f, p->a->decode / gpus, dataset_facts(p->data)->count[SPLIT_TEST]);
    double exchange = (double)p->trainer->steps * gpu_exchange_seconds(p->on, p->a->gpus, gradient_bytes(p->trainer));
    p->shared_seconds = f.seconds / gpus + exchange;
    trainer_free(part);
    return 0;
}

static int forecast_training(struct planned *p)
{
    const struct arguments *a = p->a;
    forecast_of(p->trainer, &p->facts, &p->forecast);
    p->appetite = forecast_appetite(&p->forecast);
    if (a->decode > 0) forecast_feed(&p->forecast, a->decode, dataset_facts(p->data)->count[SPLIT_TEST]);
    p->largest = -1;
    if (p->facts.memory && p->trainer->session->memory_total > p->facts.memory)
        p->largest = memory_fit_largest_batch(p->trainer, p->facts.memory);
    return p->on && a->gpus > 1 ? forecast_shared(p) : 0;
}

static int measure_peaks(struct planned *p)
{
    struct others others;
    program_status("measuring the peaks of the device");
    others_begin(&others);
    TRY(device_measure(p->device, &p->facts));
    p->machine = others_end(&others);
    return 0;
}

static int plan_training(struct planned *p)
{
    const struct arguments *a = p->a;
    program_status("planning");
    TRY(choose_open(&p->chosen, false, &p->noise, &p->data));
    TRY(open_device(p));
    struct trainer_choice choice = {p->chosen.task, p->chosen.recipe, p->data, p->device, FUSE_ALL, p->chosen.files};
    TRY(trainer_new(&choice, &p->trainer));
    TRY(count_kept(p));
    size_t memory = p->facts.memory;  // read before the measurement takes memory
    if (a->measure && !p->on) TRY(measure_peaks(p));
    p->facts.memory = memory;
    program_status("planning");
    TRY(forecast_training(p));
    program_status_end();
    const struct plan *step = p->trainer->session->plan[p->forecast.variant[p->forecast.full].program];
    roofline_of(step, &p->facts, a->nodes ? ROOFLINE_NODES : ROOFLINE_OPERATORS, NULL, &p->step);
    if (a->json) return print_plan_json(p);
    if (!a->nodes) roofline_shorten(&p->step, TABLE_ROWS);
    print_head(p);
    print_schedule(p);
    print_memory(p);
    print_step(p);
    print_time(p);
    return 0;
}

int cmd_plan(int argc, char **argv)
{
    struct arguments a = {.measure = true, .gpus = 1};
    const struct option options[] = {
        CHOOSE_OPTIONS(a.choose),
        {OPTION_FLAG, 0, "measure", NULL, "measure the peaks of the device", &a.measure, 0, 0},
        {OPTION_TEXT, 0, "on", "GPU", "predict for a GPU that is not here: a100, h100, h200, l4 or v100", &a.on, 0, 0},
        {OPTION_INT, 0, "gpus", "N", "and for N of them", &a.gpus, 1, 64},
        {OPTION_FLOAT, 0, "decode", "RATE", "samples per second that the host can make; 0: no limit", &a.decode, 0, 0},
        {OPTION_FLAG, 0, "nodes", NULL, "list every node of the step instead of sums by operator", &a.nodes, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object instead of text", &a.json, 0, 0},
        {0},
    };
    const struct usage usage = {
        "plan", "TASK [OPTIONS]",
        "Shows what a training will cost before it runs: its schedule, its memory by class, the work of a step by "
        "operator, and a lower bound of its time at the measured peaks of this device. It takes no memory and needs no "
        "data set.",
        options,
        "Examples:\n"
        "  dawn plan cifar10\n"
        "  dawn plan cifar10 --batch 2000 --precision f32 --set resolution=32\n"
        "  dawn plan cifar10 --model resnet9 --no-measure --nodes\n"
        "  dawn plan imagenet --on h200 --gpus 8 --decode 40000\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc != 2) return task_wanted("");
    if (!a.on && (a.gpus > 1 || a.decode > 0)) return fail(ERR_USAGE, "--gpus and --decode need --on");
    if (!(a.decode >= 0)) return fail(ERR_USAGE, "--decode must be a number of samples per second, at least 0; got %g", a.decode);
    struct planned p = {.a = &a};
    if (a.on) TRY(gpu_find(a.on, &p.on));
    TRY(choose(&a.choose, argv[1], &p.chosen));
    rc = plan_training(&p);
    roofline_free(&p.step);
    trainer_free(p.trainer);
    device_close(p.device);
    dataset_close(p.data);
    return rc;
}
