// SPDX-License-Identifier: Apache-2.0
// The part of a forger's list (forge.c) that is about tickets: attempts to become witnessed. Each attack has a ticket of eve
// and a run with it; the expected result of the submission, and true if the board then vouches for the clock.
#pragma once

#include "submit/format/score/ticket.h"

#define TICKET_SECRET FIXTURE_HEX

struct announced {
    json_t *run;
    char ticket[DIGEST_HEX], proof[DIGEST_HEX];
};

static void announce(struct announced *a)
{
    static int64_t later;  // each ticket is a statement of its own
    char lock[DIGEST_HEX];
    struct acceptance accepted;
    struct statement s;
    *a = (struct announced){.run = true_run("eve")};
    ticket_lock(TICKET_SECRET, lock);
    json_t *ticket = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:I}", "type", "ticket", "version",
                               1, "board", "test", "board_key", fixture_board_key, "handle", "eve", "task", "cifar10",
                               "target_micro", (json_int_t)canonical_int(a->run, "target_micro"), "model",
                               canonical_text(a->run, "model.name"), "recipe", canonical_text(a->run, "recipe.name"),
                               "recipe_digest", canonical_text(a->run, "recipe.digest"), "binary_digest",
                               canonical_text(a->run, "software.binary_digest"), "lock", lock, "made_ms",
                               (json_int_t)(FIXTURE_NOW_MS - ++later));
    fixture_must(statement_make(json_incref(ticket), &s));
    memcpy(a->ticket, s.digest, sizeof a->ticket);
    statement_free(&s);
    if (submit(ticket, &eve, &accepted) != PROBLEM_NONE) complain("a ticket", "it is refused", accepted.detail);
    ticket_proof(accepted.receipt_signature, a->proof);
    fixture_set(a->run, "ticket", json_pack("{s:s, s:s, s:s}", "statement", a->ticket, "board_key", fixture_board_key, "proof",
                                            a->proof));
    fixture_set(a->run, "seed", json_integer(ticket_seed(a->proof)));
    fixture_follow(a->run);
}

static void beat(const struct announced *a, const char *hash, int64_t ms)
{
    struct ticket_beat beat;
    struct beating out;
    snprintf(beat.hash, sizeof beat.hash, "%s", hash);
    snprintf(beat.secret, sizeof beat.secret, "%s", TICKET_SECRET);
    fixture_must(store_beat(board, a->ticket, &beat, FIXTURE_NOW_MS + ms, &out));
}

// Every state of a run, at `share` hundredths of the moment that it claims, and some milliseconds more.
static void beat_all(const struct announced *a, const json_t *run, int64_t share, int64_t more)
{
    const json_t *points = json_object_get(run, "points"), *segments = json_object_get(run, "segments");
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *p = json_array_get(points, i);
        beat(a, canonical_text(p, "hash"), canonical_int(p, "t_ns") / 1000000 * share / 100 + more);
    }
    const json_t *last = json_array_get(segments, json_array_size(segments) - 1);
    beat(a, canonical_text(run, "chain_end"), canonical_int(last, "end_ns") / 1000000 * share / 100 + more);
}

static void ticket_honest(struct announced *a) { beat_all(a, a->run, 100, 30); }
static void ticket_without_beats(struct announced *a) { (void)a; }
static void made_up_after_the_ticket(struct announced *a)  // only a replay would show it
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(a->run, i, "loss", point_get(a->run, i, "loss") - 7);
    fixture_follow(a->run);
    beat_all(a, a->run, 100, 30);
}
static void shorter_than_the_board_saw(struct announced *a) { beat_all(a, a->run, 120, 0); }
static void two_seconds_and_some_shorter(struct announced *a) { beat_all(a, a->run, 100, 2050); }
static void longer_than_the_board_saw(struct announced *a) { beat_all(a, a->run, 1, 0); }
static void held_back_until_the_end(struct announced *a)
{
    const json_t *segments = json_object_get(a->run, "segments");
    int64_t end = canonical_int(json_array_get(segments, json_array_size(segments) - 1), "end_ns");
    beat(a, canonical_text(a->run, "chain_end"), end / 1000000);
}
static void end_before_the_beginning(struct announced *a)
{
    beat(a, canonical_text(a->run, "chain_end"), 5);
    beat_all(a, a->run, 100, 30);
}
static void beats_replayed(struct announced *a) { beat_all(a, a->run, 100, 30), beat_all(a, a->run, 100, 50000); }
static void two_chains(struct announced *a)
{
    json_t *other = json_deep_copy(a->run);
    fixture_slow(other, 1000000);
    beat_all(a, a->run, 100, 30);
    beat_all(a, other, 100, 30);
    json_decref(other);
}
static void chain_before_the_ticket(struct announced *a)
{
    fixture_set(a->run, "ticket.proof", json_string(OTHER_HEX));
    fixture_set(a->run, "seed", json_integer(ticket_seed(OTHER_HEX)));
    fixture_follow(a->run);
}
static void seed_of_ones_own(struct announced *a) { fixture_set(a->run, "seed", json_integer(7)), fixture_follow(a->run); }
static void another_program(struct announced *a)
{
    fixture_set(a->run, "software.binary_digest", json_string(OTHER_HEX));
    fixture_follow(a->run);
}
static void ticket_of_nobody(struct announced *a)
{
    fixture_set(a->run, "ticket.statement", json_string(OTHER_HEX));
    fixture_follow(a->run);
}
static void ticket_of_another_key(struct announced *a)
{
    fixture_set(a->run, "handle", json_string("ada"));
    fixture_follow(a->run);
}
static void ticket_used_twice(struct announced *a)
{
    struct acceptance accepted;
    judge("the first run of a ticket", submit(json_deep_copy(a->run), &eve, &accepted), &accepted, PASSED, CHECKS);
    fixture_set(a->run, "nonce", json_string("cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd"));
    fixture_slow(a->run, 3000000);
}

static const struct {
    const char *name;
    void (*forge)(struct announced *);
    enum problem problem;
    bool witnessed;
} tickets[] = {
#define TICKET(forge, problem, witnessed) {#forge, forge, PROBLEM_##problem, witnessed}
    TICKET(ticket_honest, NONE, true), TICKET(made_up_after_the_ticket, NONE, true), TICKET(beats_replayed, NONE, true),
    TICKET(ticket_without_beats, NONE, false), TICKET(shorter_than_the_board_saw, NONE, false),
    TICKET(two_seconds_and_some_shorter, NONE, false),
    TICKET(longer_than_the_board_saw, NONE, false), TICKET(held_back_until_the_end, NONE, false),
    TICKET(end_before_the_beginning, NONE, false), TICKET(two_chains, NONE, false),
    TICKET(chain_before_the_ticket, CONFLICT, false), TICKET(seed_of_ones_own, CHECKS, false),
    TICKET(another_program, CONFLICT, false), TICKET(ticket_of_nobody, CONFLICT, false),
    TICKET(ticket_of_another_key, NOT_YOURS, false), TICKET(ticket_used_twice, CONFLICT, false),
};

static bool is_witnessed(int64_t sequence)
{
    struct reader *reader;
    int64_t by, ticket;
    fixture_must(store_reader(board, &reader));
    fixture_must(store_vouched_by(reader, sequence, &ticket, &by));
    store_reader_close(reader);
    return by != 0;
}

static void play_tickets(void)
{
    for (size_t i = 0; i < sizeof tickets / sizeof *tickets; i++) {
        struct announced a;
        struct acceptance accepted;
        struct statement s;
        announce(&a);
        tickets[i].forge(&a);
        bool others = strcmp(canonical_text(a.run, "handle"), "ada") == 0;
        json_object_set_new(a.run, "board_key", json_string(fixture_board_key));
        fixture_must(statement_make(json_incref(a.run), &s));
        enum problem problem = submit(a.run, others ? &ada : &eve, &accepted);
        if (problem != tickets[i].problem) complain(tickets[i].name, problem_code(problem), accepted.detail);
        if (problem == PROBLEM_NONE) fixture_must(store_vouch(board, &s, FIXTURE_NOW_MS));
        if (problem == PROBLEM_NONE && is_witnessed(accepted.sequence) != tickets[i].witnessed)
            complain(tickets[i].name, tickets[i].witnessed ? "it is not witnessed" : "it is witnessed", "");
        statement_free(&s);
    }
}
