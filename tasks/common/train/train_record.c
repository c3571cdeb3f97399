// SPDX-License-Identifier: Apache-2.0
// What the record says of a run before its first step: the facts of the machine, the program, the data and the recipe.
#include <math.h>
#include <stdlib.h>

#include "submit/results/machine/instance.h"
#include "submit/results/record.h"
#include "tasks/common/train/digests.h"
#include "tasks/common/train/facts.h"
#include "tasks/common/train/train_inside.h"
#include "tasks/common/train/trainer.h"

int train_metrics(const struct training *r, struct run_metric into[METRICS_MAX])
{
    const struct metric *m = r->o->task->metrics;
    const bool synthetic = dataset_facts(r->data)->synthetic;
    int count = 0;
    for (; m[count].name; count++)
        into[count] = (struct run_metric){task_metric_name(r->o->task, count, synthetic), m[count].unit, m[count].lower_is_better,
                                          m[count].kind == METRIC_COUNT ? dataset_facts(r->data)->count[SPLIT_TEST] : 0};
    return count;
}

int64_t train_target_micro(const struct train_options *o)
{
    return llround(o->target * 1e6);
}

int train_record_open(const struct train_options *o, struct kept_record *kept)
{
    const struct group_plan plan = {o->task->name, o->recipe.model, o->recipe.name, train_target_micro(o), o->runs,
                                    *kept->nonce ? kept->nonce : NULL};
    TRY(results_open(o->database, RESULTS_WRITE, &kept->results));
    return o->runs > 1 ? result_group_begin(kept->results, &plan, &kept->group) : 0;
}

int train_record_begin(struct training *r)
{
    const struct train_options *o = r->o;
    struct machine_facts machine;
    struct software_facts software;
    if (!train_leads()) return 0;
    TRY(facts_read(&r->device_facts, &machine, &software));
    if (o->price) TRY(instance_check_here(o->price, &machine));
    const struct trainer *t = r->trainer;
    const struct dataset_facts *f = dataset_facts(r->data);
    struct run_data data[SPLIT_COUNT];
    enum run_reading reading = f->remembered ? READING_REMEMBERED : READING_NOW;
    if (f->synthetic || f->folder == NULL) reading = READING_NONE;
    for (int s = 0; s < SPLIT_COUNT; s++)
        data[s] = (struct run_data){f->name, split_name((enum split)s), digests_hex(r->digests, (enum split)s), f->count[s],
                                    f->official, f->synthetic, dataset_field(r->data, "jpeg") != NULL, f->short_side, f->quality,
                                    reading};
    struct run_metric metrics[METRICS_MAX];
    int metric_count = train_metrics(r, metrics);
    struct run_part work[RUN_PARTS_MAX];
    int parts = trainer_work(t, work, RUN_PARTS_MAX);
    int64_t least, most;
    trainer_step_samples(t, &least, &most);
    bool varies = least != o->recipe.batch || most != o->recipe.batch;
    struct run_file files[TASK_FILES];
    int file_count = digests_files(r->digests, files);
    TRY(train_ticket_take(r));
    if (o->replay) TRY(train_check_replay(o->replay, data, SPLIT_COUNT, files, file_count));
    if (r->kept->results == NULL) TRY(train_record_open(o, r->kept));
    char *recipe = o->replay ? copy_text(o->replay->recipe) : recipe_line(&o->recipe);
    const struct run_process *places;
    int process_count = train_processes(r, &places);
    char *folder = train_absolute_path(o->data_folder);
    struct run_facts facts = {
        .machine = &machine, .software = &software, .task = o->task->name, .metrics = metrics, .metric_count = metric_count,
        .target_micro = train_target_micro(o), .model = o->recipe.model,
        .parameters = trainer_parameters(t), .flops_per_sample = llround(trainer_forward_flops(t)),
        .recipe = o->recipe.name, .recipe_json = recipe,
        .published = recipe_is_published(o->recipe.name, &o->recipe), .precision = dtype_name(t->setting.dtype),
        .device = r->device->type->name, .threads = train_threads(r), .batch = o->recipe.batch,
        .step_least = varies ? least : 0, .step_most = varies ? most : 0, .seed = r->seed,
        .views = trainer_views(t), .input_size = f->height,
        .stop_at_target = o->stop && o->runs == 1, .data = data, .data_count = SPLIT_COUNT,
        .parts = work, .part_count = parts, .files = files, .file_count = file_count,
        .places = places, .process_count = process_count, .price = o->price ? &r->price : NULL,
        .labels = o->labels, .folder = folder, .replay_of = o->replay ? o->replay->head : NULL,
        .ticket = r->has_ticket ? &r->ticket : NULL,
        .stopwatch = &r->watch, .group = r->kept->group, .group_index = r->kept->group ? r->index : 0,
    };
    int rc = result_begin(r->kept->results, &facts, &r->run);
    if (rc == 0) train_ticket_beat(r);
    free(recipe);
    free(folder);
    return rc;
}
