// SPDX-License-Identifier: Apache-2.0
// Opens what an inference needs, and chooses threads and precision. infer_serve.c serves the requests,
// infer_write.c writes texts, infer_play.c plays games.
#include "tasks/tools/infer/infer_inside.h"

#include "runtime/common/base/clock.h"
#include "runtime/common/base/threads.h"
#include "runtime/fuse.h"
#include "tasks/common/recipe/recipe_keys.h"
#include "tasks/common/train/trainer.h"

#include <stdio.h>
#include <stdlib.h>

static int check_decodes(const struct infer_options *o, const struct recipe *r)
{
    for (int i = 0; i < o->sets; i++) {
        const struct recipe_key *key;
        char name[RECIPE_TEXT_MAX];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(o->set[i], "="), o->set[i]);
        TRY(recipe_find_key("--set", recipe_table_of(r->model), name, &key));
        if (!key->decodes)
            return fail(ERR_USAGE, "%s holds the recipe that it was trained with, and --set %s cannot change that",
                        o->files.weights, name);
    }
    return 0;
}

// Says what differs from the recipe of the weights: boards and records compare measurements that decode alike.
static void note_decoding(const struct recipe *trained, struct infer_figures *f)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    struct text all = {0};
    int count = recipe_keys(recipe_table_of(trained->model), keys);
    for (int i = 0; i < count; i++) {
        struct text was = {0}, is = {0};
        recipe_add_value(&was, trained, keys[i], false);
        recipe_add_value(&is, &f->recipe, keys[i], false);
        if (keys[i]->decodes && strcmp(was.at, is.at)) text_add(&all, "%s%s=%s", all.length ? " " : "", keys[i]->path, is.at);
        text_free(&was);
        text_free(&is);
    }
    snprintf(f->decoding, sizeof f->decoding, "%s", all.at ? all.at : "");
    text_free(&all);
}

static int load_recipe(const struct checkpoint *c, const struct infer_options *o, struct infer_figures *f)
{
    struct recipe trained, *r = &f->recipe;
    const char *path = o->files.weights, *json = checkpoint_meta(c, "recipe");
    if (json && o->recipe_option)
        return fail(ERR_USAGE, "%s holds the recipe that it was trained with, and --%s cannot change that", path,
                    o->recipe_option);
    if (json) {
        TRY(recipe_parse(path, json, strlen(json), &trained));
        TRY(check_decodes(o, &trained));
        *r = trained;
        TRY(recipe_set_all(r, o->set, o->sets));
        note_decoding(&trained, f);
        return recipe_check(r);
    }
    if (!o->recipe)
        return fail(ERR_INPUT, "%s does not name its model (written by another program?): name it with --model", path);
    *r = *o->recipe;
    return 0;
}

static int choose_views(const struct infer_options *o, struct recipe *r)
{
    char number[32];
    if (o->views < 1) return 0;
    snprintf(number, sizeof number, "%lld", (long long)o->views);
    TRY(recipe_set_key("--views", r, "evaluation.views", number));
    return recipe_check(r);
}

static int load_weights(struct serving *s, struct infer_figures *f)
{
    const struct model *m = s->setting.model;
    const struct checkpoint_import how = {m->prefixes, NULL, m->inside, m->older};
    struct checkpoint_imported done;
    if (checkpoint_is_own(s->weights)) return checkpoint_load(s->weights, s->session, s->setting.task->step != NULL);
    TRY(checkpoint_import(s->weights, s->session, &how, &done));
    snprintf(f->imported, sizeof f->imported, "%s", done.text);
    return 0;
}

static int open_serving(struct serving *s, const struct infer_options *o, struct infer_figures *f)
{
    TRY(checkpoint_open(o->files.weights, &s->weights));
    const char *task = checkpoint_meta(s->weights, "task");
    if (task && strcmp(task, o->task->name))
        return fail(ERR_INPUT, "%s has weights of task %s, not of %s", o->files.weights, task, o->task->name);
    TRY(load_recipe(s->weights, o, f));
    TRY(choose_views(o, &f->recipe));
    f->recipe.precision = (int)o->precision;
    TRY(task_find_model(o->task, f->recipe.model, &s->setting.model));
    if (o->data) s->data = o->data;
    else TRY(dataset_open(o->data_name, o->data_folder, &s->data));
    TRY(device_open(o->device, o->threads, &s->device));
    s->setting.task = o->task;
    s->setting.device = s->device;
    s->setting.recipe = &f->recipe;
    s->setting.data = dataset_facts(s->data);
    s->setting.files = o->files;
    s->setting.steps = s->setting.steps_per_epoch = 1;
    s->setting.fuse = FUSE_ALL;
    TRY(trainer_dtype(&f->recipe, s->setting.model, s->device, &s->setting.dtype));
    TRY(session_new(s->device, &s->session));
    TRY(o->writing ? infer_write_build(s, o) : o->playing ? infer_play_build(s, o) : infer_serve_build(s, o));
    TRY(session_ready(s->session));
    TRY(session_reset(s->session, 0));
    // Values computed from the samples are parameters, which the weights hold. Values read from files, as a view's vectors of
    // words, may not be.
    if (s->setting.model->begin && o->task->view) TRY(s->setting.model->begin(&s->setting, s->session, s->view));
    return load_weights(s, f);
}

static void close_serving(struct serving *s, const struct infer_options *o)
{
    infer_serve_close(s);
    session_free(s->session);
    device_close(s->device);
    dataset_close(s->view);
    if (s->data != o->data) dataset_close(s->data);
    checkpoint_close(s->weights);
    free(s->model_ns);
    free(s->whole_ns);
}

int infer_measure(const struct infer_options *o, struct infer_figures *f)
{
    struct serving s = {.options = o, .told_ns = clock_ns()};
    *f = (struct infer_figures){.warmup = o->warmup};
    int rc = open_serving(&s, o, f);
    if (rc == 0) rc = s.device->type->facts(s.device, &f->device);
    s.begun_ns = clock_ns();
    if (rc == 0) {
        f->threads = f->device.threads;
        f->device_type = s.device->type->name;
        f->dtype = s.setting.dtype;
        snprintf(f->digest, sizeof f->digest, "%s", checkpoint_digest(s.weights));
        if (o->task->scored_digest && !o->data && !o->writing && !o->playing) o->task->scored_digest(s.view, f->scored);
        rc = o->writing ? infer_write(&s, o) : o->playing ? infer_play(&s, o) : infer_serve(&s, o, f);
    }
    close_serving(&s, o);
    return rc;
}

// ---- tuning

// Where other programs hold the processors, the threads of a request wait for each other: 17 requests per second were seen.
static const int64_t TRIAL_NS = 1000000000;

static int try_setting(const struct infer_options *o, int threads, enum recipe_precision p, int64_t *best,
                       struct infer_options *winner)
{
    struct infer_options trial = *o;
    struct infer_figures f;
    char what[64];
    snprintf(what, sizeof what, "trying %d thread%s", threads, threads == 1 ? "" : "s");
    trial.threads = threads, trial.precision = p, trial.items = 300, trial.warmup = 100, trial.answers = NULL;
    trial.trial = what;
    trial.limit_ns = TRIAL_NS;
    TRY(infer_measure(&trial, &f));
    if (*best && f.whole_ns.p50 >= *best) return 0;
    *best = f.whole_ns.p50;
    winner->threads = threads, winner->precision = p;
    return 0;
}

int infer_tune(struct infer_options *o)
{
    if (!infer_singles(o)) return 0;
    struct device *device;
    struct device_facts facts;
    TRY(device_open(o->device, o->threads, &device));
    int rc = device->type->facts(device, &facts);
    device_close(device);
    TRY(rc);
    if (o->precision != PRECISION_AUTO && (o->threads || facts.threads <= 1)) {  // nothing is left to choose
        if (!o->threads) o->threads = 1;
        return 0;
    }
    struct infer_options winner = *o;
    int64_t best = 0;
    for (int p = PRECISION_F32; p <= PRECISION_F16; p++) {
        if (o->precision != PRECISION_AUTO && (int)o->precision != p) continue;
        if (p != PRECISION_F32 && o->precision == PRECISION_AUTO && !facts.fast[p == PRECISION_F16 ? F16 : BF16]) continue;
        if (!o->threads) TRY(try_setting(o, 1, (enum recipe_precision)p, &best, &winner));
        if (o->threads || facts.threads > 1)  // on a device with one thread a single trial is enough
            TRY(try_setting(o, o->threads ? o->threads : threads_available(), (enum recipe_precision)p, &best, &winner));
    }
    o->threads = winner.threads, o->precision = winner.precision;
    return 0;
}
