// SPDX-License-Identifier: Apache-2.0
// Receipts: a server signs one for each statement that it accepts into its log. Invariant: the key that receipt_read returns has
// signed the receipt. The caller decides if that is the right key. Cost: one small object.
#include <stdio.h>
#include <string.h>

#include "submit/format/fields.h"
#include "submit/format/statement.h"

static json_t *log_json(const struct receipt_log *log)
{
    json_t *proof = json_array();
    for (int i = 0; i < log->proof_count; i++) json_array_append_new(proof, json_pack("{s:s}", "hash", log->proof[i]));
    return json_pack("{s:I, s:s, s:o, s:s}", "size", (json_int_t)log->size, "root", log->root, "proof", proof, "signature",
                     log->signature);
}

int receipt_write(const struct receipt *r, char **bytes, size_t *count)
{
    json_t *json = json_pack("{s:s, s:i, s:s, s:I, s:I, s:s, s:s}", "type", "receipt", "version", 1, "board", r->board,
                             "sequence", (json_int_t)r->sequence, "accepted_ms", (json_int_t)r->accepted_ms, "payload",
                             r->payload, "signer", r->signer);
    if (json != NULL && r->log.size > 0) json_object_set_new(json, "log", log_json(&r->log));
    if (json == NULL) return fail(ERR_INPUT, "the receipt holds text that is not UTF-8");
    int rc = fields_check("the receipt", receipt_fields, json);
    if (rc == 0) rc = canonical_write(json, bytes, count);
    json_decref(json);
    return rc;
}

static void copy_log(const json_t *json, struct receipt_log *log)
{
    const json_t *proof = canonical_at(json, "proof");
    log->size = canonical_int(json, "size");
    log->proof_count = (int)json_array_size(proof);
    for (int i = 0; i < log->proof_count; i++)
        snprintf(log->proof[i], DIGEST_HEX, "%s", canonical_text(json_array_get(proof, (size_t)i), "hash"));
    snprintf(log->root, DIGEST_HEX, "%s", canonical_text(json, "root"));
    snprintf(log->signature, sizeof log->signature, "%s", canonical_text(json, "signature"));
}

static void copy_receipt(const json_t *json, struct receipt *r)
{
    *r = (struct receipt){.sequence = canonical_int(json, "sequence"), .accepted_ms = canonical_int(json, "accepted_ms")};
    snprintf(r->board, sizeof r->board, "%s", canonical_text(json, "board"));
    snprintf(r->payload, sizeof r->payload, "%s", canonical_text(json, "payload"));
    snprintf(r->signer, sizeof r->signer, "%s", canonical_text(json, "signer"));
    if (canonical_at(json, "log") != NULL) copy_log(canonical_at(json, "log"), &r->log);
}

int receipt_read(const char *bytes, size_t count, const char *signature, struct receipt *r, struct sshkey *server)
{
    *r = (struct receipt){0};
    TRY(sshsig_verify(signature, strlen(signature), RECEIPT_NAMESPACE, bytes, count, server));
    json_t *json;
    TRY(canonical_read(bytes, count, &json));
    int rc = fields_check("the receipt", receipt_fields, json);
    if (rc == 0) copy_receipt(json, r);
    json_decref(json);
    return rc;
}

// Clocks may differ by the tolerance of the check client-time, and here by a day more.
int receipt_check_date(const struct receipt *r, const struct statement *s, int64_t now_ms)
{
    const int64_t slack = 10 * 60 * 1000, day = 24 * 3600 * (int64_t)1000;
    int64_t made = statement_made_ms(s);
    if (r->accepted_ms < made - slack)
        return fail(ERR_INPUT, "the receipt is dated %lld s before its statement was made",
                    (long long)(made - r->accepted_ms) / 1000);
    if (r->accepted_ms > now_ms + day)
        return fail(ERR_INPUT, "the receipt is dated %lld h in the future", (long long)(r->accepted_ms - now_ms) / 3600000);
    return 0;
}
