// SPDX-License-Identifier: Apache-2.0
// Invariant: a "good" item was recomputed here. A date in the past is no fault: figures are checked for the day on which the
// board accepted them, or on which the run ended. Cost: a few milliseconds.
#include "submit/client/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "submit/client/deliver.h"

static void report_wrong(struct text *t, int *faults, const char *label, const char *sentence)
{
    *faults += client_wrong(t, label, sentence);
}

static void what_it_is(const struct statement *s, struct text *t)
{
    const char *handle = canonical_text(s->json, "handle"), *task = canonical_text(s->json, "task");
    text_entry(t, "statement", "%s%s%s%s%s, for the board %s", statement_type_name(s->type), *handle ? " by " : "", handle,
               *task ? ", " : "", task, canonical_text(s->json, "board"));
    text_entry(t, "bytes", "good: %zu, canonical, SHA-256 %s", s->count, s->digest);
}

static void signature_of(const struct evidence *e, const struct statement *s, struct sshkey *key, struct text *t, int *faults)
{
    char id[SSHKEY_ID], words[160];
    if (sshsig_verify(e->signature, e->signature_count, statement_namespace(s->type), s->payload, s->count, key) < 0) {
        report_wrong(t, faults, "signature", error_text());
        return;
    }
    text_entry(t, "signature", "good: %s", sshkey_id(key, id));
    if (e->key_id == NULL) return;
    if (strcmp(e->key_id, id) == 0) {
        text_entry(t, "key", "good: it is the one that was asked for");
        return;
    }
    snprintf(words, sizeof words, "expected %s", e->key_id);
    report_wrong(t, faults, "key", words);
}

// The new key of a rotation signs too; only an envelope holds its signature.
static void envelope_of(const struct evidence *e, const struct statement *s, struct text *t, int *faults)
{
    struct envelope envelope;
    char id[SSHKEY_ID];
    if (e->envelope == NULL) {
        if (s->type == STATEMENT_ROTATE)
            report_wrong(t, faults, "new key", "whether it agrees is not known: an envelope holds its countersignature");
        return;
    }
    if (envelope_read(e->envelope, e->envelope_count, &envelope) < 0) {
        report_wrong(t, faults, "envelope", error_text());
        return;
    }
    if (s->type == STATEMENT_ROTATE) text_entry(t, "new key", "good: it agrees: %s", sshkey_id(&envelope.next_key, id));
    envelope_free(&envelope);
}

// Only a run and a measurement have figures. Of other statements the date alone is checked, against the receipt's.
static void checks_of(const struct statement *s, int64_t when_ms, struct text *t, int *faults)
{
    struct findings f = {0};
    check_statement(s, when_ms, &f);
    int broken = 0, kept = f.count < FINDINGS_MAX ? f.count : FINDINGS_MAX;
    size_t points = json_array_size(canonical_at(s->json, "points"));
    for (int i = 0; i < kept; i++) broken += f.at[i].check == CHECK_CHAIN;
    if (s->type == STATEMENT_RUN && broken == 0)
        text_entry(t, "chain", "good: root and %zu point%s; all figures of the record are bound", points, points == 1 ? "" : "s");
    for (int i = 0; i < kept; i++) {
        char words[FINDING_TEXT + 64];
        enum check check = f.at[i].check;
        snprintf(words, sizeof words, "%s: %s", check_code(check), f.at[i].text);
        if (check_level(check) == CHECK_REJECT) report_wrong(t, faults, check == CHECK_CHAIN ? "chain" : "check", words);
        else text_entry(t, "flag", "%s", words);
    }
    if (f.count > kept) text_entry(t, "check", "and %d findings more", f.count - kept);
    if (f.rejects == 0 && (s->type == STATEMENT_RUN || s->type == STATEMENT_BENCH))
        text_entry(t, "checks", "good: no check of the figures fails%s", f.flags > 0 ? ", but see the flags" : "");
}

static void report_receipt(struct text *t, const struct receipt *r, const struct sshkey *server)
{
    char id[SSHKEY_ID], day[32];
    time_t seconds = (time_t)(r->accepted_ms / 1000);
    struct tm broken;
    gmtime_r(&seconds, &broken);
    strftime(day, sizeof day, "%Y-%m-%d %H:%M", &broken);
    text_entry(t, "receipt", "good: #%lld of %s, accepted %s UTC, signed by %s", (long long)r->sequence, r->board, day,
               sshkey_id(server, id));
}

int verify_receipt(const char *answer, size_t count, const char *key_id, struct client_board *board, struct text *t)
{
    char *bytes = NULL, *signature = NULL, words[160];
    struct receipt r;
    int faults = 0, rc = client_member(answer, count, "receipt", &bytes);
    *board = (struct client_board){0};
    if (rc == 0) rc = client_member(answer, count, "signature", &signature);
    if (rc == 0) rc = receipt_read(bytes, strlen(bytes), signature, &r, &board->key);
    free(bytes);
    free(signature);
    if (rc < 0) {
        report_wrong(t, &faults, "receipt", error_text());
        return faults;
    }
    snprintf(board->name, sizeof board->name, "%s", r.board);
    report_receipt(t, &r, &board->key);
    text_entry(t, "statement", "SHA-256 %s, signed by %s", r.payload, r.signer);
    if (key_id == NULL || strcmp(key_id, r.signer) == 0) return 0;
    snprintf(words, sizeof words, "expected %s", key_id);
    report_wrong(t, &faults, "key", words);
    return faults;
}

static int64_t receipt_of(const struct evidence *e, const struct statement *s, const struct sshkey *key, struct text *t,
                          int *faults)
{
    if (e->receipt == NULL) return 0;
    struct delivery d;
    if (delivery_read(e->receipt, e->receipt_count, e->board, s, key, e->now_ms, &d) < 0) {
        report_wrong(t, faults, "receipt", error_text());
        return 0;
    }
    if (e->sequence > 0 && d.receipt.sequence != e->sequence) {
        char words[96];
        snprintf(words, sizeof words, "it is for #%lld, and #%lld was asked for", (long long)d.receipt.sequence,
                 (long long)e->sequence);
        report_wrong(t, faults, "receipt", words);
        delivery_free(&d);
        return 0;
    }
    const int64_t accepted = d.receipt.accepted_ms;
    report_receipt(t, &d.receipt, &d.server);
    delivery_free(&d);
    return accepted;
}

int verify(const struct evidence *e, struct text *t)
{
    int faults = 0;
    struct statement s;
    struct sshkey key = {0};
    if (statement_read(e->payload, e->payload_count, &s) < 0) {
        report_wrong(t, &faults, "bytes", error_text());
        return faults;
    }
    what_it_is(&s, t);
    if (e->digest != NULL && strcmp(e->digest, s.digest) != 0)
        report_wrong(t, &faults, "bytes", "another statement was asked for");
    signature_of(e, &s, &key, t, &faults);
    envelope_of(e, &s, t, &faults);
    int64_t when = receipt_of(e, &s, faults == 0 ? &key : NULL, t, &faults);
    const int64_t made = statement_made_ms(&s);
    if (when == 0) when = made < e->now_ms ? made : e->now_ms;  // it may say any date, but not one to come
    checks_of(&s, when, t, &faults);
    statement_free(&s);
    return faults;
}

static void report_objections(const json_t *list, struct text *t)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        const char *verdict = canonical_text(one, "verdict");
        const long long number = (long long)canonical_int(one, "sequence");
        struct text who = {0}, why = {0};
        client_tame(&who, canonical_text(one, "handle"), FINDING_TEXT);
        client_tame(&why, canonical_text(one, "reason"), ERROR_TEXT_MAX);
        const char *handle = who.at != NULL ? who.at : "somebody", *reason = why.at != NULL ? why.at : "";
        if (strcmp(verdict, "upheld") == 0)
            text_entry(t, "flag", "objection: #%lld of %s was upheld with #%lld, the board says: %s", number, handle,
                       (long long)canonical_int(one, "decided_by"), reason);
        else if (strcmp(verdict, "dismissed") != 0)
            text_entry(t, "state", "nobody has decided about objection #%lld of %s yet, the board says: %s", number, handle,
                       reason);
        text_free(&who);
        text_free(&why);
    }
}

// What the log drew is shown like an objection: an outcome with other figures is a flag.
static void report_draw(const json_t *drawn, struct text *t)
{
    const char *verdict = canonical_text(drawn, "verdict");
    const long long audit = (long long)canonical_int(drawn, "audited_by");
    const int64_t micro = canonical_int(drawn, "epoch_micro");
    char since[TEXT_FIGURE], epochs[48];
    snprintf(epochs, sizeof epochs, "%.6g epoch%s", (double)micro * 1e-6, micro == 1000000 ? "" : "s");
    if (json_is_true(json_object_get(drawn, "waits")))
        text_entry(t, "state", "drawn since %s with #%lld, and not repeated yet, the board says",
                   text_moment(since, canonical_int(drawn, "since_ms")), (long long)canonical_int(drawn, "checkpoint"));
    if (strcmp(verdict, "equal") == 0)
        text_entry(t, "state", "drawn, and trained again by the operator for %s, equal to the last bit (#%lld), the board "
                   "says", epochs, audit);
    if (strcmp(verdict, "differs") == 0)
        text_entry(t, "flag", "repeated: the operator trained it again for %s with other figures (#%lld), the board says",
                   epochs, audit);
}

void verify_state(const char *answer, size_t count, struct text *t)
{
    json_t *value = count <= CLIENT_REPLY_MAX ? json_loadb(answer, count, JSON_REJECT_DUPLICATES, NULL) : NULL;
    int64_t withdrawn = canonical_int(value, "state.withdrawn_by"), replaced = canonical_int(value, "state.superseded_by");
    struct text why = {0};
    client_tame(&why, canonical_text(value, "state.withdrawn_reason"), ERROR_TEXT_MAX);
    if (withdrawn > 0)
        text_entry(t, "state", "withdrawn by #%lld%s%s, the board says", (long long)withdrawn, why.at != NULL ? ": " : "",
                   why.at != NULL ? why.at : "");
    if (replaced > 0) text_entry(t, "state", "replaced by #%lld, the board says", (long long)replaced);
    report_objections(canonical_at(value, "state.objections"), t);
    report_draw(canonical_at(value, "state.drawn"), t);
    text_free(&why);
    json_decref(value);
}
