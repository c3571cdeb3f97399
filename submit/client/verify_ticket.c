// SPDX-License-Identifier: Apache-2.0
// Invariant: a "good" item was signed by the board's key, and its judgement repeated here. The moments are the board's own:
// nobody else saw them. Cost: two requests for the ticket, two for the board's word.
#include "submit/client/verify_ticket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "submit/client/deliver.h"
#include "submit/format/score/ticket.h"

static int check_ticket(const json_t *run, const struct statement *ticket, const struct delivery *d)
{
    char proof[DIGEST_HEX];
    ticket_proof(d->signature, proof);
    if (ticket->type != STATEMENT_TICKET) return fail(ERR_INPUT, "the statement that the run names is no ticket");
    if (strcmp(proof, canonical_text(run, "ticket.proof")) != 0)
        return fail(ERR_INPUT, "the run does not have the proof of its ticket, so it began without it");
    const char *differs = ticket_differs(run, ticket->json);
    return differs == NULL ? 0 : fail(ERR_INPUT, "the ticket announced another %s", differs);
}

// By its number, as a static copy has it. Its digest decides.
static int fetch_ticket(struct client *c, const char *name, const char *digest, struct statement *ticket)
{
    struct text payload = {0};
    *ticket = (struct statement){0};
    int rc = delivery_part(c, name, "payload", &payload);
    if (rc == 0) rc = statement_read(payload.at, payload.length, ticket);
    if (rc == 0 && strcmp(ticket->digest, digest) != 0)
        rc = fail(ERR_INPUT, "statement %s is not the ticket that the run names", name);
    text_free(&payload);
    return rc;
}

static int ticket_of(struct client *c, const struct client_board *board, const json_t *run, int64_t number, int64_t now_ms,
                     int64_t *issued_ms, struct text *t)
{
    struct statement ticket = {0};
    struct delivery d = {0};
    struct text receipt = {0};
    char moment[TEXT_FIGURE], name[24];
    snprintf(name, sizeof name, "%lld", (long long)number);
    int rc = number > 0 ? fetch_ticket(c, name, canonical_text(run, "ticket.statement"), &ticket)
                        : fail(ERR_INPUT, "the board does not show the ticket of the run");
    if (rc == 0) rc = delivery_part(c, name, "receipt", &receipt);
    if (rc == 0) rc = delivery_read(receipt.at, receipt.length, board, &ticket, NULL, now_ms, &d);
    if (rc == 0) rc = check_ticket(run, &ticket, &d);
    if (rc == 0) {
        *issued_ms = d.receipt.accepted_ms;
        text_entry(t, "ticket", "good: #%lld, issued %s; the chain and the seed of the run came after it",
                   (long long)d.receipt.sequence, text_moment(moment, d.receipt.accepted_ms));
    }
    delivery_free(&d);
    statement_free(&ticket);
    text_free(&receipt);
    return rc < 0 ? client_wrong(t, "ticket", error_text()) : 0;
}

static int check_vouch(const struct statement *run, const struct statement *w, int64_t issued_ms, int *stamps)
{
    struct ticket_stamp at[TICKET_DECIDE] = {{NULL, 0}};
    struct ticket_judged judged;
    const json_t *list = canonical_at(w->json, "stamps");
    if (w->type != STATEMENT_VOUCH || strcmp(canonical_text(w->json, "statement"), run->digest) != 0)
        return fail(ERR_INPUT, "the statement that the board names is not about the clock of this run");
    if (strcmp(canonical_text(w->json, "ticket"), canonical_text(run->json, "ticket.statement")) != 0 ||
        canonical_int(w->json, "issued_ms") != issued_ms)
        return fail(ERR_INPUT, "the board's word is about another ticket, or dates it otherwise than its receipt");
    for (*stamps = 0; *stamps < (int)json_array_size(list) && *stamps < TICKET_DECIDE; ++*stamps) {
        const json_t *stamp = json_array_get(list, (size_t)*stamps);
        at[*stamps] = (struct ticket_stamp){canonical_text(stamp, "hash"), canonical_int(stamp, "ms")};
    }
    ticket_judge(run->json, issued_ms, at, *stamps, &judged);
    return judged.witnessed ? 0 : fail(ERR_INPUT, "the stamps that the board signed do not agree with the run: %s", judged.why);
}

static int vouch_of(struct client *c, const struct client_board *board, const struct statement *run, int64_t number,
                      int64_t issued_ms, struct text *t)
{
    struct text payload = {0}, signature = {0};
    struct statement w = {0};
    struct sshkey key;
    char name[24];
    int stamps = 0;
    snprintf(name, sizeof name, "%lld", (long long)number);
    int rc = delivery_part(c, name, "payload", &payload);
    if (rc == 0) rc = delivery_part(c, name, "signature", &signature);
    if (rc == 0) rc = statement_read(payload.at, payload.length, &w);
    if (rc == 0) rc = sshsig_verify(signature.at, signature.length, statement_namespace(w.type), w.payload, w.count, &key);
    if (rc == 0 && !sshkey_same(&key, &board->key))
        rc = fail(ERR_INPUT, "the board did not sign its word about the clock");
    if (rc == 0) rc = check_vouch(run, &w, issued_ms, &stamps);
    if (rc == 0)
        text_entry(t, "clock", "good: the board signed %d stamp%s (#%lld), and the clock of the run agrees with them", stamps,
                   stamps == 1 ? "" : "s", (long long)number);
    text_free(&payload);
    text_free(&signature);
    statement_free(&w);
    return rc < 0 ? client_wrong(t, "clock", error_text()) : 0;
}

int verify_ticket(struct client *c, const struct client_board *board, const struct statement *run,
                  const struct verify_numbers *numbers, int64_t now_ms, struct text *t)
{
    char id[SSHKEY_ID];
    int64_t issued_ms = 0;
    const char *issuer = canonical_text(run->json, "ticket.board_key");
    if (run->type != STATEMENT_RUN || *issuer == 0) return 0;
    if (strcmp(issuer, sshkey_id(&board->key, id)) != 0) {
        text_entry(t, "ticket", "not checked: another board issued it, %s", issuer);
        return 0;
    }
    int faults = ticket_of(c, board, run->json, numbers->ticket, now_ms, &issued_ms, t);
    if (faults == 0 && numbers->vouch > 0) faults += vouch_of(c, board, run, numbers->vouch, issued_ms, t);
    return faults;
}
