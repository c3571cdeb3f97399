// SPDX-License-Identifier: Apache-2.0
// Invariant: a delivery has a receipt that anyone can check with the server's key. An answer "accepted" without a receipt
// counts as a failure. Cost: one request.
#include "submit/client/deliver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "submit/log/proof.h"

static int check_receipt(const struct delivery *d, const struct client_board *board, const struct statement *s,
                         const struct sshkey *signer, int64_t now_ms)
{
    char id[SSHKEY_ID], key[SSHKEY_ID];
    struct checkpoint head;
    if (!sshkey_same(&d->server, &board->key))
        return fail(ERR_NETWORK, "the receipt is signed by %s, not by the key of the board, %s", sshkey_id(&d->server, id),
                    sshkey_id(&board->key, key));
    if (strcmp(d->receipt.board, board->name) != 0)
        return fail(ERR_NETWORK, "the receipt is from the board %s, not %s", d->receipt.board, board->name);
    if (strcmp(d->receipt.payload, s->digest) != 0)
        return fail(ERR_NETWORK, "the receipt is for the statement %.12s, not for %.12s", d->receipt.payload, s->digest);
    if (signer != NULL && strcmp(d->receipt.signer, sshkey_id(signer, id)) != 0)
        return fail(ERR_NETWORK, "the receipt is for a statement signed by %s, not by %s", d->receipt.signer, id);
    if (d->receipt.log.size > 0) TRY(proof_check(&d->receipt, &d->server, &head));
    return receipt_check_date(&d->receipt, s, now_ms);
}

int delivery_read(const char *answer, size_t count, const struct client_board *board, const struct statement *s,
                  const struct sshkey *signer, int64_t now_ms, struct delivery *d)
{
    *d = (struct delivery){0};
    int rc = client_member(answer, count, "receipt", &d->bytes);
    if (rc == 0) rc = client_member(answer, count, "signature", &d->signature);
    if (rc == 0) rc = receipt_read(d->bytes, strlen(d->bytes), d->signature, &d->receipt, &d->server);
    if (rc == 0) rc = check_receipt(d, board, s, signer, now_ms);
    if (rc == 0) return 0;
    delivery_free(d);
    return fail_prefix(ERR_NETWORK, "the server's receipt cannot be trusted: ");
}

int deliver(struct client *c, const struct client_board *board, struct signer *signer, const struct statement *s,
            struct delivery *d, struct text *checks)
{
    char signature[SSHSIG_MAX];
    struct text envelope = {0}, answer = {0};
    bool again = false;
    *d = (struct delivery){0};
    TRY(signer_sign(signer, statement_namespace(s->type), s->payload, s->count, signature));
    int rc = envelope_write(s, signature, NULL, &envelope);
    if (rc == 0) {
        rc = client_post(c, envelope.at, envelope.length, &answer, &again, checks);
        d->refused = rc == ERR_INPUT;
    }
    if (rc == 0)
        rc = delivery_read(answer.at != NULL ? answer.at : "", answer.length, board, s, &signer->key, clock_unix_ms(), d);
    d->again = again;
    text_free(&envelope);
    text_free(&answer);
    return rc;
}

// The last position with a name behind the mark, because a board may lie below a folder "/runs/". What follows
// a name's "?" or "#" is no path.
static const char *find_name(const char *url, const char *mark, size_t *length)
{
    const char *found = NULL;
    for (const char *at = strstr(url, mark); at != NULL; at = strstr(at + 1, mark)) {
        if (found != NULL && found + strcspn(found, "?#") < at) break;
        const char *from = at + strlen(mark);
        size_t count = strspn(from, "0123456789abcdef");
        bool number = count > 0 && count < 19 && strspn(from, "0123456789") == count && *from != '0';
        if ((!number && count != DIGEST_HEX - 1) || strchr("/?#", from[count]) == NULL) continue;
        found = from, *length = count;
    }
    return found;
}

// "https://board.example/runs/12" or ".../api/v1/statements/12": where the board is, and the statement's name on it.
int delivery_address(const char *url, char **base, char name[DELIVERY_NAME])
{
    static const char *const marks[] = {"/api/v1/statements/", "/runs/"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t length;
        const char *from = find_name(url, marks[i], &length);
        if (from == NULL) continue;
        snprintf(name, DELIVERY_NAME, "%.*s", (int)length, from);
        *base = copy_text(url);
        (*base)[from - url - (ptrdiff_t)strlen(marks[i])] = '\0';
        return 0;
    }
    return fail(ERR_USAGE, "%.200s is not the address of a run or a statement: it has no /runs/N and no /api/v1/statements/N",
                url);
}

bool delivery_is_copy(const char *path, char **base, char name[DELIVERY_NAME])
{
    struct text whole = {0}, about = {0};
    text_add(&whole, "%s%s", *path == '/' ? "" : "./", path);
    bool found = delivery_address(whole.at, base, name) == 0;
    if (found) {
        text_add(&about, "%s/api/v1.json", *base);
        found = file_exists(about.at);
        if (!found) free(*base);
    }
    text_free(&whole);
    text_free(&about);
    return found;
}

int delivery_part(struct client *c, const char *name, const char *part, struct text *into)
{
    char path[DIGEST_HEX + 64];
    snprintf(path, sizeof path, "/api/v1/statements/%.64s%s%s", name, *part ? "/" : "", part);
    TRY(client_get(c, path, into));
    return into->at != NULL ? 0 : fail(ERR_NETWORK, "%s%s is empty", client_address(c), path);
}

int delivery_statement(struct client *c, const char *digest, struct statement *s)
{
    struct text payload = {0};
    *s = (struct statement){0};
    int rc = delivery_part(c, digest, "payload", &payload);
    if (rc == 0 && (statement_read(payload.at, payload.length, s) < 0 || strcmp(s->digest, digest) != 0))
        rc = fail(ERR_NETWORK, "%s returns other bytes for %.12s", client_address(c), digest);
    text_free(&payload);
    if (rc < 0) statement_free(s);
    return rc;
}

static int check_signer(struct client *c, const struct statement *s, const struct sshkey *signer)
{
    struct text signature = {0};
    struct sshkey key;
    int rc = delivery_part(c, s->digest, "signature", &signature);
    if (rc == 0) rc = sshsig_verify(signature.at, signature.length, statement_namespace(s->type), s->payload, s->count, &key);
    if (rc == 0 && !sshkey_same(&key, signer))
        rc = fail(ERR_NETWORK, "%s returns %.12s signed by another key", client_address(c), s->digest);
    text_free(&signature);
    return rc;
}

int delivery_fetch(struct client *c, const struct client_board *board, const struct sshkey *signer, const char *digest,
                   struct statement *s, struct delivery *d)
{
    struct text receipt = {0};
    *d = (struct delivery){0};
    TRY(delivery_statement(c, digest, s));
    int rc = check_signer(c, s, signer);
    if (rc == 0) rc = delivery_part(c, digest, "receipt", &receipt);
    if (rc == 0) rc = delivery_read(receipt.at, receipt.length, board, s, signer, clock_unix_ms(), d);
    text_free(&receipt);
    if (rc < 0) statement_free(s);
    return rc;
}

int delivery_named(struct client *c, const struct client_board *board, const char *name, struct statement *s)
{
    struct text payload = {0}, receipt = {0};
    struct delivery d = {0};
    char number[24];
    *s = (struct statement){0};
    int rc = delivery_part(c, name, "payload", &payload);
    if (rc == 0) rc = statement_read(payload.at, payload.length, s);
    if (rc == 0) rc = delivery_part(c, name, "receipt", &receipt);
    if (rc == 0) rc = delivery_read(receipt.at, receipt.length, board, s, NULL, clock_unix_ms(), &d);
    snprintf(number, sizeof number, "%lld", (long long)d.receipt.sequence);
    if (rc == 0 && strcmp(name, s->digest) != 0 && strcmp(name, number) != 0)
        rc = fail(ERR_NETWORK, "%s returns the statement #%s, %.12s, for %.12s", client_address(c), number, s->digest, name);
    delivery_free(&d);
    text_free(&payload);
    text_free(&receipt);
    if (rc < 0) statement_free(s);
    return rc;
}

int delivery_keep(struct results *r, int64_t run, const struct client *c, const struct statement *s, const struct delivery *d)
{
    char id[SSHKEY_ID];
    const char *supersedes = canonical_text(s->json, "supersedes");
    return receipts_add(r, &(struct receipt_row){.run = run,
                                                 .type = statement_type_name(s->type),
                                                 .board = d->receipt.board,
                                                 .server = client_address(c),
                                                 .statement = s->digest,
                                                 .supersedes = *supersedes ? supersedes : NULL,
                                                 .sequence = d->receipt.sequence,
                                                 .accepted_ms = d->receipt.accepted_ms,
                                                 .server_key = sshkey_id(&d->server, id),
                                                 .receipt = d->bytes,
                                                 .signature = d->signature});
}

void delivery_free(struct delivery *d)
{
    free(d->bytes);
    free(d->signature);
    *d = (struct delivery){0};
}
