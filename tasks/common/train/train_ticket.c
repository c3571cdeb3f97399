// SPDX-License-Identifier: Apache-2.0
// Tickets of runs. A run requests its ticket while it is prepared, and needs the answer when its record begins. From then on
// nothing waits for the network before the run has ended.
#include "tasks/common/train/train_inside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ranks/ranks.h"
#include "submit/results/record.h"

int train_ticket_check(const struct train_options *o)
{
    if (!o->announce) return 0;
    if (ranks_size() > 1)
        return fail(ERR_UNSUPPORTED, "--ticket is for a training of one process, and this one has %d", ranks_size());
    return 0;
}

int train_ticket_ask(struct training *r, bool (*stopped)(void))
{
    const struct train_options *o = r->o;
    char digest[DIGEST_HEX];
    if (!o->announce || o->resume) return 0;
    if (o->runs > 1 && !*r->kept->nonce) result_nonce(r->kept->nonce);
    char *recipe = recipe_line(&o->recipe);
    digest_bytes(recipe, strlen(recipe), digest);
    free(recipe);
    const struct announce_plan plan = {
        .task = o->task->name, .model = o->recipe.model, .recipe = o->recipe.name, .recipe_digest = digest,
        .target_micro = llround(o->target * 1e6), .group = o->runs > 1 ? r->kept->nonce : NULL, .index = r->index,
        .planned = o->runs, .stopped = stopped,
    };
    r->asked_ticket = true;
    return o->announce->ask(o->announcer, &plan);
}

int train_ticket_take(struct training *r)
{
    if (!r->asked_ticket) return 0;
    TRY(r->o->announce->wait(r->o->announcer, &r->ticket, &r->seed));
    r->has_ticket = true;
    return 0;
}

void train_ticket_beat(struct training *r)
{
    char hash[DIGEST_HEX];
    if (!r->has_ticket || !r->run) return;
    result_head(r->run, hash);
    r->o->announce->beat(r->o->announcer, hash);
}

// The last hash of the run's chain. "" if the run did not finish. Such a run cannot become witnessed.
static int read_end(struct results *results, int64_t run, char hash[DIGEST_HEX])
{
    json_t *rows;
    TRY(record_rows(results, "SELECT iif(status IN ('done', 'missed'), chain_end, '') AS chain_end FROM runs WHERE id = ?", run,
                     &rows));
    snprintf(hash, DIGEST_HEX, "%s", record_text(json_array_get(rows, 0), "chain_end"));
    json_decref(rows);
    return 0;
}

void train_ticket_end(struct training *r, int64_t run)
{
    char why[ERROR_TEXT_MAX], hash[DIGEST_HEX] = "";
    if (!r->asked_ticket) return;
    r->asked_ticket = false;
    if (run && read_end(r->kept->results, run, hash) < 0) hash[0] = 0;
    bool delivered = r->o->announce->end(r->o->announcer, *hash ? hash : NULL, why);
    if (!delivered && run) progress_unwitnessed(&r->progress, run, why);
}
