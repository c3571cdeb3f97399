// SPDX-License-Identifier: Apache-2.0
// Beats of announced runs. Invariant: the stamp is the moment at which the request came, taken before anything is read or
// written. Workload: one request per point of each run that goes on. Cost: one durable row.
#include "scoreboard/api/api_inside.h"

int api_beat(const struct request *request, struct answer *answer)
{
    struct ticket_beat beat;
    struct beating out;
    if (request->query != NULL && *request->query != 0) return fail(ERR_INPUT, "a beat takes no query");
    TRY(ticket_read_beat(request->body, request->body_count, &beat));
    TRY(store_beat(request->store, request->word[0], &beat, request->now_ms, &out));
    if (out.ruling.problem != PROBLEM_NONE) {
        answer_problem(answer, out.ruling.problem, out.ruling.detail, NULL);
        return 0;
    }
    answer->status = out.again ? 200 : 201;
    return api_send(answer, json_pack("{s:I}", "stamped_ms", (json_int_t)out.stamped_ms));
}
