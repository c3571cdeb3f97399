// SPDX-License-Identifier: Apache-2.0
// Invariant: tiles come from anywhere and prove nothing by themselves; the hashes over them must lead to signed roots. Cost:
// offline a signature and a few hashes; else a tile of each level for each question.
#include "submit/client/verify_log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "submit/client/client.h"
#include "submit/log/proof.h"

struct state {
    const struct log_evidence *e;
    struct text *report;
    int faults;
    struct note now;          // as read, where there is one
    struct tile_reader tiles;  // of that tree
};

static void wrong(struct state *s, const char *label, const char *sentence)
{
    s->faults += client_wrong(s->report, label, sentence);
}

static int read_note(const struct log_evidence *e, const struct text *text, struct note *note)
{
    TRY(note_read(text->at != NULL ? text->at : "", text->length, note));
    TRY(note_check(text->at, note, e->key));
    if (strcmp(note->checkpoint.origin, e->origin) == 0) return 0;
    return fail(ERR_INPUT, "the checkpoint is of the log %.100s, not of %.100s", note->checkpoint.origin, e->origin);
}

// ---- growth
static bool begins_with(struct state *s, const struct checkpoint *old)
{
    const struct checkpoint *now = &s->now.checkpoint;
    struct tree_hash proof[TREE_PROOF];
    int count = 0;
    if (old->size > 0 && old->size < now->size) {
        const struct tree_source source = tile_source(&s->tiles);
        if (tree_prove_growth(&source, old->size, now->size, proof, &count) < 0) {
            wrong(s, "growth", error_text());
            return false;
        }
    }
    if (tree_has_grown(old->size, &old->root, now->size, &now->root, proof, count)) return true;
    char words[200];
    if (now->size < old->size)
        snprintf(words, sizeof words, "the board shows %lld entries now, but has signed %lld: entries are missing",
                 (long long)now->size, (long long)old->size);
    else snprintf(words, sizeof words, "the first %lld of %lld entries differ from the ones that the board signed before: it "
                  "shows two logs", (long long)old->size, (long long)now->size);
    wrong(s, "growth", words);
    return false;
}

// ---- the receipt
static void check_match(struct state *s, struct checkpoint *head)
{
    const struct receipt *r = s->e->receipt;
    if (proof_check(r, s->e->key, head) < 0) {
        wrong(s, "log", error_text());
        return;
    }
    text_entry(s->report, "log", "good: entry %lld of %lld, by the receipt's own proof", (long long)r->sequence,
               (long long)head->size);
    if (s->e->now != NULL) begins_with(s, head);
}

// A receipt without a proof: the board's tiles have to make one.
static void find_entry(struct state *s)
{
    const struct receipt *r = s->e->receipt;
    const struct checkpoint *now = &s->now.checkpoint;
    struct tree_hash leaf, proof[TREE_PROOF];
    int count;
    if (s->e->now == NULL) {
        text_entry(s->report, "log", "not proved: the receipt has no place in the log; the board's address proves it");
        return;
    }
    if (r->sequence > now->size) {
        wrong(s, "log", "the board's log does not have the statement");
        return;
    }
    const struct tree_source source = tile_source(&s->tiles);
    proof_leaf(r, &leaf);
    if (tree_prove_leaf(&source, r->sequence - 1, now->size, proof, &count) < 0) wrong(s, "log", error_text());
    else if (!tree_has_leaf(&leaf, r->sequence - 1, now->size, proof, count, &now->root))
        wrong(s, "log", "the board's log has something else in the place of the statement");
    else text_entry(s->report, "log", "good: entry %lld of %lld, by the board's tiles", (long long)r->sequence,
                    (long long)now->size);
}

// ---- states seen before
static void compare_seen(struct state *s, const struct checkpoint *head, bool *newer)
{
    struct note seen;
    const struct log_evidence *e = s->e;
    const bool any = e->seen != NULL && e->seen->length > 0;
    if (any && read_note(e, e->seen, &seen) < 0) {
        wrong(s, "seen", error_text());
        return;
    }
    const struct checkpoint *old = &seen.checkpoint;
    if (e->now != NULL && !any) {
        text_entry(s->report, "growth", "seen for the first time: %lld entries", (long long)s->now.checkpoint.size);
        *newer = true;
    } else if (e->now != NULL && e->copy && s->now.checkpoint.size < old->size) {  // its tiles cannot prove a later tree
        text_entry(s->report, "growth", "not proved: the copy has %lld entries, older than the %lld that were seen before",
                   (long long)s->now.checkpoint.size, (long long)old->size);
    } else if (e->now != NULL && begins_with(s, old)) {
        text_entry(s->report, "growth", "good: %lld entries, of which %lld were seen before", (long long)s->now.checkpoint.size,
                   (long long)old->size);
        *newer = s->now.checkpoint.size > old->size;
    } else if (e->now == NULL && any && head->size == old->size && !tree_same(&head->root, &old->root)) {
        wrong(s, "growth", "the board signed another log of this very size before: it shows two logs");
    }
}

// ---- witnesses
static void show_time(struct text *t, int64_t seconds)
{
    time_t when = (time_t)seconds;
    struct tm day;
    char words[40] = "at an unknown time";
    if (gmtime_r(&when, &day) != NULL) strftime(words, sizeof words, "on %Y-%m-%d %H:%M UTC", &day);
    text_add(t, "%s", words);
}

static bool is_asked_for(const struct log_evidence *e, const struct note_signature *signature)
{
    for (int i = 0; i < e->witness_count; i++)
        if (strcmp(e->witnesses[i].name, signature->name) == 0 && memcmp(e->witnesses[i].number, signature->bytes, 4) == 0)
            return true;
    return false;
}

static void check_witnesses(struct state *s)
{
    const struct log_evidence *e = s->e;
    int64_t seconds;
    for (int i = 0; i < e->witness_count; i++) {
        struct text words = {0};
        if (e->now == NULL) wrong(s, "witness", "only the board's address shows who cosigned");
        else if (note_cosigned(e->now->at, &s->now, &e->witnesses[i], &seconds) < 0) wrong(s, "witness", error_text());
        else {
            text_add(&words, "good: cosigned by %s ", e->witnesses[i].name);
            show_time(&words, seconds);
            text_entry(s->report, "witness", "%s", words.at);
        }
        text_free(&words);
    }
    for (int i = 0; e->now != NULL && i < s->now.count; i++) {
        const struct note_signature *signature = &s->now.signatures[i];
        struct text words = {0};
        if (!note_is_cosignature(&s->now, i, &seconds) || is_asked_for(e, signature)) continue;
        client_tame(&words, signature->name, NOTE_NAME);
        text_add(&words, " says it cosigned ");
        show_time(&words, seconds);
        text_entry(s->report, "witness", "%s (--witness KEY checks it)", words.at);
        text_free(&words);
    }
}

int verify_log(const struct log_evidence *e, struct text *report, bool *newer)
{
    struct state s = {.e = e, .report = report};
    struct checkpoint head = {0};
    *newer = false;
    if (e->now != NULL && read_note(e, e->now, &s.now) < 0) {
        wrong(&s, "log", error_text());
        return s.faults;
    }
    s.tiles = (struct tile_reader){.size = s.now.checkpoint.size, .fetch = e->fetch, .context = e->context};
    if (e->receipt != NULL && e->receipt->log.size > 0) check_match(&s, &head);
    else if (e->receipt != NULL) find_entry(&s);
    bool grown = false;
    compare_seen(&s, &head, &grown);
    check_witnesses(&s);
    tile_reader_free(&s.tiles);
    *newer = grown && s.faults == 0;
    return s.faults;
}
