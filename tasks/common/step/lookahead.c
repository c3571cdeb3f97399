// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/lookahead.h"

#include "tasks/common/step/average.h"

int lookahead_build(struct lookahead *l, struct session *session, const struct recipe *r, int64_t decay_end)
{
    *l = (struct lookahead){.begin = NONE, .pull = NONE, .every = r->lookahead_every};
    if (!r->lookahead_every) return 0;
    l->first = decay_end - r->lookahead_before;
    if (l->first < 1) l->first = 1;
    struct slot_store *store = session->store;
    struct graph *begin = graph_new(store, "lookahead begins"), *pull = graph_new(store, "lookahead");
    begin->phase = pull->phase = PHASE_UPDATE;
    struct init share = {INIT_CONSTANT, (float)(1 - r->lookahead_decay)}, one = {INIT_CONSTANT, 1};
    int all = graph_state(begin, "one", SHAPE(1), F32, MEMORY_DATA, one);
    int some = graph_state(pull, "lookahead.share", SHAPE(1), F32, MEMORY_DATA, share);
    for (int i = 0, count = store->count; i < count; i++) {
        if (!average_has(session, store->slot[i])) continue;
        optim_ema(begin, graph_slot(begin, store->slot[i]), all);
        int p = graph_slot(pull, store->slot[i]), e = optim_ema(pull, p, some);
        graph_node_over(pull, OP_ASSIGN, (int[]){p, e}, 2, NULL, &p, NULL);
    }
    int rc = l->begin = session_add(session, begin);
    if (rc >= 0) return l->pull = session_add(session, pull);
    graph_free(pull);
    return rc;
}

int lookahead_after(const struct lookahead *l, struct session *session, int64_t done)
{
    if (l->begin == NONE || done < l->first) return 0;
    if (done == l->first) return session_run(session, l->begin);
    return (done - l->first) % l->every == 0 ? session_run(session, l->pull) : 0;
}
