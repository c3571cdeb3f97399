// SPDX-License-Identifier: Apache-2.0
// The messages of the processes of one training besides gradients: that they train the same, that all are ready, when to
// stop or to write a state, and what each of them counted. The first process writes the record, the states and the weights,
// and it alone shows anything.
#include "tasks/common/train/train_inside.h"

#include "runtime/ranks/ranks.h"
#include "tasks/common/train/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool train_leads(void)
{
    return ranks_rank() == 0;
}

const char *train_devices_text(const struct training *r, char into[TRAIN_DEVICES])
{
    char machines[32] = "";
    if (ranks_machines() > 1) snprintf(machines, sizeof machines, " on %d machines", ranks_machines());
    if (ranks_size() == 1) snprintf(into, TRAIN_DEVICES, "%s", r->device_facts.name);
    else snprintf(into, TRAIN_DEVICES, "%d x %s%s", ranks_size(), r->device_facts.name, machines);
    return into;
}

// ---- the same training?

static int same(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int same(const char *what, const char *format, ...)
{
    char *words;
    va_list args;
    va_start(args, format);
    if (vasprintf(&words, format, args) < 0) BUG("out of memory");
    va_end(args);
    int rc = ranks_same(what, words);
    free(words);
    return rc;
}

int train_compare_options(const struct training *r)
{
    const struct train_options *o = r->o;
    if (ranks_size() == 1) return 0;
    struct software_facts software;
    TRY(ranks_agree(machine_software(&software)));
    TRY(same("program", "%s", software.binary_digest));
    TRY(same("task", "%s", o->task->name));
    char *recipe = recipe_line(&o->recipe);
    int rc = same("recipe", "%s", recipe);
    free(recipe);
    TRY(rc);
    TRY(same("seed", "%lld", (long long)(o->seed + r->index - 1)));
    long long from = o->resume ? state_facts(o->resume->state)->step : -1;
    return same("set of options", "%.17g %d %lld %lld %lld %lld", o->target, o->stop, (long long)o->runs,
                (long long)o->pace.steps, (long long)o->pace.ns, from);
}

static int compare_data(const struct training *r)
{
    struct run_file files[TASK_FILES];
    int count = digests_files(r->digests, files);
    TRY(same("data set", "%s %s %s", dataset_facts(r->data)->name, digests_hex(r->digests, SPLIT_TRAIN),
             digests_hex(r->digests, SPLIT_TEST)));
    TRY(same("number of files besides the data", "%d", count));
    for (int i = 0; i < count; i++)
        TRY(same("file of weights, words or vectors", "%s %s", files[i].kind, files[i].digest));
    TRY(same("device", "%s", r->device->type->name));
    TRY(same("precision", "%s", dtype_name(r->trainer->setting.dtype)));
    TRY(same("number of threads", "%d", r->device_facts.threads));
    return same("kind of processor or GPU", "%s; %s", r->device_facts.name, r->device_facts.gpu);
}

// ---- ready together

struct own_machine {
    struct machine_facts machine;
    char device[sizeof((struct device_facts){0}).name];
    int64_t threads;
    int leader;  // the first process on its machine
};

static int machine_number(const struct own_machine *all, int of)
{
    int number = 0;
    for (int i = 0; i < ranks_size(); i++) {
        bool first = all[i].leader == i;
        if (all[i].leader == all[of].leader) break;
        number += first;
    }
    return number;
}

static int gather_places(struct training *r)
{
    struct own_machine mine = {.threads = r->device_facts.threads, .leader = ranks_leader()};
    struct software_facts software;
    int size = ranks_size();
    TRY(ranks_agree(facts_read(&r->device_facts, &mine.machine, &software)));
    snprintf(mine.device, sizeof mine.device, "%s", r->device_facts.gpu[0] ? r->device_facts.gpu : r->device_facts.name);
    r->own = zalloc((size_t)size * sizeof *r->own);
    r->places = zalloc((size_t)size * sizeof *r->places);
    TRY(ranks_gather(&mine, sizeof mine, r->own));
    for (int i = 0; i < size; i++) {
        const struct own_machine *p = &r->own[i];
        r->places[i] = (struct run_process){&p->machine, machine_number(r->own, i), p->device, p->threads};
    }
    return 0;
}

int train_together(struct training *r, int rc)
{
    TRY(ranks_agree(rc));
    if (ranks_size() > 1) TRY(compare_data(r));
    bool was_shared = r->o->resume && r->o->resume->processes > 1;
    return ranks_size() > 1 || was_shared ? gather_places(r) : 0;
}

void train_places_free(struct training *r)
{
    free(r->own);
    free(r->places);
}

// The places that the record is to have; 0 of a process that trains alone.
int train_processes(const struct training *r, const struct run_process **places)
{
    *places = r->places;
    return r->places ? ranks_size() : 0;
}

int64_t train_threads(const struct training *r)
{
    int64_t threads = 0;
    for (int i = 0; r->places && i < ranks_size(); i++) threads += r->places[i].threads;
    return r->places ? threads : r->device_facts.threads;
}

// An hour costs the sum over all machines. A run that goes on has its price already.
int train_price(struct training *r)
{
    const struct train_options *o = r->o;
    if (!o->price) return 0;
    r->price = *o->price;
    if (!o->resume) r->price.micro_per_hour *= ranks_machines();
    else if (o->resume->machines != ranks_machines())
        return fail(ERR_USAGE, "run %lld has the price of %d machine%s: it can be resumed only on as many",
                    (long long)o->resume->run, o->resume->machines, o->resume->machines == 1 ? "" : "s");
    return 0;
}

// ---- in the loop

// The others learn a process's request one step later, so that no step waits for the exchange.
int train_wish(struct training *r, enum train_wish mine, enum train_wish *wish)
{
    *wish = mine;
    if (ranks_size() == 1) return 0;
    TRY(train_wish_end(r, wish));
    if (*wish == WISH_STATE && mine == WISH_STATE) mine = WISH_NOTHING;  // it is written now
    if (*wish == WISH_STOP) return 0;
    r->asked = true;
    return ranks_most_begin((int)mine);
}

int train_wish_end(struct training *r, enum train_wish *wish)
{
    int most = WISH_NOTHING;
    if (r->asked) TRY(ranks_most_end(&most));
    r->asked = false;
    *wish = (enum train_wish)most;
    return 0;
}

// ---- what each has counted

static int join_damage(struct damage *damage)
{
    for (int from = 0; from < ranks_size(); from++) {
        int64_t count = 0, at = 0;
        while ((at = damage_next(damage, at)) >= 0) count++, at++;
        TRY(ranks_broadcast(&count, sizeof count, from));
        for (int64_t i = 0, sample = 0; i < count; i++, sample++) {
            if (from == ranks_rank()) sample = damage_next(damage, sample);
            TRY(ranks_broadcast(&sample, sizeof sample, from));
            damage_restore(damage, sample);
        }
    }
    return 0;
}

int train_join(struct training *r)
{
    if (ranks_size() == 1) return 0;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        struct damage *damage = r->trainer->supply[s].choice.damage;
        if (!damage) continue;
        TRY(join_damage(damage));
        int rc = damage_check(damage);  // each process has compared its own only
        r->alike = rc < 0;
        TRY(rc);
    }
    return trainer_join_counts(r->trainer);
}
