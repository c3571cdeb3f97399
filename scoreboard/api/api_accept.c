// SPDX-License-Identifier: Apache-2.0
// Accepts statements. Invariant: an answer of 201 or 200 with a receipt is sent only after the statement is durable. The same
// bytes get the same receipt again, because a client cannot know if its first try arrived.
#include "scoreboard/api/api_inside.h"

#include <stdio.h>
#include <stdlib.h>

static int refuse_envelope(const struct envelope *envelope, struct answer *answer)
{
    char sentence[ERROR_TEXT_MAX];
    snprintf(sentence, sizeof sentence, "%s", error_text());
    answer_problem(answer, envelope->formed ? PROBLEM_SIGNATURE : PROBLEM_MALFORMED, sentence, NULL);
    return 0;
}

static int send_receipt(const struct envelope *envelope, const struct acceptance *acceptance, struct answer *answer)
{
    answer->status = acceptance->again ? 200 : 201;
    snprintf(answer->location, sizeof answer->location, "/api/v1/statements/%lld", (long long)acceptance->sequence);
    return api_send(answer, json_pack("{s:I, s:s, s:o, s:o, s:o}", "sequence", (json_int_t)acceptance->sequence, "statement",
                                      envelope->statement.digest, "receipt", api_text(acceptance->receipt), "signature",
                                      api_text(acceptance->receipt_signature), "findings", api_findings(&acceptance->findings)));
}

// The receipt stands without it, and the same submission again makes up for it.
static void vouch(const struct request *request, const struct statement *statement)
{
    if (statement->type != STATEMENT_RUN || store_vouch(request->store, statement, request->now_ms) == 0) return;
    if (request->settings->fault != NULL) request->settings->fault(error_text());
}

int api_accept(const struct request *request, struct answer *answer)
{
    struct envelope envelope;
    struct acceptance *acceptance;
    if (request->query != NULL && *request->query != 0) return fail(ERR_INPUT, "a submission takes no query");
    int rc = envelope_read(request->body, request->body_count, &envelope);
    if (rc == ERR_INPUT) return refuse_envelope(&envelope, answer);
    if (rc < 0) return rc;
    acceptance = zalloc(sizeof *acceptance);
    rc = store_accept(request->store, &envelope, request->now_ms, acceptance);
    if (rc == 0 && acceptance->problem == PROBLEM_NONE) vouch(request, &envelope.statement);
    if (rc == 0 && acceptance->problem == PROBLEM_NONE) {
        rc = send_receipt(&envelope, acceptance, answer);
    } else if (rc == 0) {
        answer_problem(answer, acceptance->problem, acceptance->detail, &acceptance->findings);
        answer->retry_after = acceptance->retry_after;
    }
    free(acceptance->receipt);
    free(acceptance);
    envelope_free(&envelope);
    return rc;
}
