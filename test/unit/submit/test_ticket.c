// SPDX-License-Identifier: Apache-2.0
// Tickets: the seed, the parser of beats, what a ticket announced, and what the stamps of a board say of a run's clock.

#include "submit/format/score/ticket.h"
#include "test/unit/test.h"
#include "test/unit/fixture_statement.h"

#define ISSUED ((int64_t)1800000000000)
enum { STATES = FIXTURE_EPOCHS + 2 };  // root, points, end

TEST(seeds_and_proofs)
{
    char hex[DIGEST_HEX], other[DIGEST_HEX];
    assert_int_equal(ticket_seed("0123456789abcdef"), 0x0123456789ab);
    assert_int_equal(ticket_seed("ffffffffffffffff"), ((int64_t)1 << 48) - 1);
    ticket_proof("a signature", hex);
    ticket_proof("another", other);
    assert_string_not_equal(hex, other);
    ticket_lock("", hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(beats)
{
    struct ticket_beat beat, again;
    char bytes[TICKET_BEAT_BYTES + 1], broken[TICKET_BEAT_BYTES + 1];
    snprintf(beat.hash, sizeof beat.hash, "%s", FIXTURE_HEX);
    ticket_lock("secret", beat.secret);
    ticket_write_beat(&beat, bytes);
    assert_int_equal(strlen(bytes), TICKET_BEAT_BYTES);
    assert_int_equal(ticket_read_beat(bytes, TICKET_BEAT_BYTES, &again), 0);
    assert_string_equal(again.hash, beat.hash);
    assert_string_equal(again.secret, beat.secret);
    for (size_t count = 0; count < TICKET_BEAT_BYTES; count++)
        assert_int_equal(ticket_read_beat(bytes, count, &again), ERR_INPUT);
    assert_int_equal(ticket_read_beat(bytes, TICKET_BEAT_BYTES + 1, &again), ERR_INPUT);
    for (size_t i = 0; i < TICKET_BEAT_BYTES; i++) {
        static const char wrong[] = {'G', 'A', ' ', 0, (char)0xff};
        for (size_t w = 0; w < sizeof wrong; w++) {
            memcpy(broken, bytes, sizeof broken);
            broken[i] = wrong[w];
            assert_int_equal(ticket_read_beat(broken, TICKET_BEAT_BYTES, &again), ERR_INPUT);
        }
    }
}

// ---- the clock

static json_t *bound_run(void)
{
    json_t *run = fixture_run();
    return run;
}

// The states of a run, each stamped `late_ms` after its moment.
static void stamp_all(json_t *run, struct ticket_stamp stamps[STATES], int64_t late_ms)
{
    const json_t *segments = json_object_get(run, "segments");
    stamps[0] = (struct ticket_stamp){canonical_text(run, "chain_root"), ISSUED + late_ms};
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) {
        const json_t *p = fixture_item(run, "points", i);
        stamps[i + 1] = (struct ticket_stamp){canonical_text(p, "hash"), ISSUED + canonical_int(p, "t_ns") / 1000000 + late_ms};
    }
    const json_t *last = json_array_get(segments, json_array_size(segments) - 1);
    stamps[STATES - 1] = (struct ticket_stamp){canonical_text(run, "chain_end"),
                                               ISSUED + canonical_int(last, "end_ns") / 1000000 + late_ms};
}

static void assert_refused(const json_t *run, const struct ticket_stamp *stamps, int count, const char *why)
{
    struct ticket_judged judged;
    ticket_judge(run, ISSUED, stamps, count, &judged);
    if (judged.witnessed || strstr(judged.why, why) == NULL) print_error("wanted \"%s\", got \"%s\"\n", why, judged.why);
    assert_false(judged.witnessed);
    assert_non_null(strstr(judged.why, why));
    assert_int_equal(judged.decide_count, 0);
}

static void assert_taken(const json_t *run, const struct ticket_stamp *stamps, int count, int decide)
{
    struct ticket_judged judged, again;
    ticket_judge(run, ISSUED, stamps, count, &judged);
    if (!judged.witnessed) print_error("%s\n", judged.why);
    assert_true(judged.witnessed);
    assert_string_equal(judged.why, "");
    assert_int_equal(judged.decide_count, decide);
    ticket_judge(run, ISSUED, judged.decide, judged.decide_count, &again);  // what decides is enough to repeat it
    assert_true(again.witnessed);
    assert_int_equal(again.decide_count, decide);
}

static int64_t a_fortieth(const int64_t *context, const char *name, size_t i, int64_t ns)
{
    (void)context, (void)name, (void)i;
    return ns / 40;
}

TEST(clocks_that_agree)
{
    struct ticket_stamp stamps[STATES], turned[STATES];
    json_t *run = bound_run();
    stamp_all(run, stamps, 40);
    assert_taken(run, stamps, STATES, 3);
    stamp_all(run, stamps, TICKET_LATE_MS);
    assert_taken(run, stamps, STATES, 3);
    stamp_all(run, stamps, -TICKET_BEGIN_MS + 1000);  // the ticket came late
    assert_taken(run, stamps, STATES, 3);
    for (int i = 0; i < STATES; i++) turned[i] = stamps[STATES - 1 - i];  // any order
    assert_taken(run, turned, STATES, 3);
    const struct ticket_stamp few[] = {stamps[FIXTURE_REACHED], stamps[FIXTURE_EPOCHS], stamps[STATES - 1]};
    assert_taken(run, few, 3, 3);
    stamp_all(run, stamps, 0);
    assert_taken(run, stamps + FIXTURE_REACHED, 3, 3);
    stamps[FIXTURE_EPOCHS].ms = stamps[STATES - 1].ms + 100000;  // a later state holds the ones before it
    assert_taken(run, stamps, STATES, 2);
    json_decref(run);
}

// The claimed clock sets the limit: a short run may not be late by much of its time.
TEST(clocks_of_a_short_run)
{
    struct ticket_stamp stamps[STATES];
    struct ticket_judged judged;
    json_t *run = bound_run();
    fixture_retime(run, a_fortieth, NULL);
    const int64_t reached = canonical_int(run, "reached.t_ns") / 1000000;
    assert_true(reached > 1000 && reached < 4000);
    assert_int_equal(ticket_late_ms(reached), reached / 20);
    assert_int_equal(ticket_late_ms(40001), 2000);
    assert_int_equal(ticket_late_ms((int64_t)1 << 43), 2000);
    stamp_all(run, stamps, reached / 20);
    assert_taken(run, stamps, STATES, 3);
    ticket_judge(run, ISSUED, stamps, STATES, &judged);
    assert_int_equal(judged.late_ms, reached / 20);
    stamp_all(run, stamps, reached / 20 + 1);
    assert_refused(run, stamps, STATES, "the state that met the target 0.1");
    stamp_all(run, stamps, 1900);  // two thirds of what it took
    assert_refused(run, stamps, STATES, "s are allowed");
    json_decref(run);
}

TEST(clocks_that_do_not)
{
    struct ticket_stamp stamps[STATES];
    json_t *run = bound_run(), *other = bound_run();
    assert_refused(run, stamps, 0, "got no beat");
    stamp_all(run, stamps, TICKET_LATE_MS + 1);  // a claimed time that is shorter than what the board saw
    assert_refused(run, stamps, STATES, "s after the moment");
    stamp_all(run, stamps, -TICKET_BEGIN_MS - 1);  // longer than what it saw
    assert_refused(run, stamps, STATES, "after the ticket");
    for (int i = 0; i < STATES; i++) stamps[i].ms = ISSUED + 1;  // all at once
    assert_refused(run, stamps, STATES, "it claims");
    stamp_all(run, stamps, 10);
    assert_refused(run, stamps, STATES - 1, "never got the end");
    assert_refused(run, stamps + STATES - 1, 1, "the state that met the target");  // the end alone comes too late for it
    fixture_set(other, "nonce", json_string("abababababababababababababababab"));
    fixture_follow(other);
    stamps[3].hash = canonical_text(fixture_item(other, "points", 2), "hash");  // a second chain under the same ticket
    assert_refused(run, stamps, STATES, "not of this run's chain");
    stamp_all(run, stamps, 10);
    fixture_set(run, "resumed", json_integer(1));
    assert_refused(run, stamps, STATES, "resumed");
    fixture_edit(run, "'resumed': 0, 'evaluated_by': 'self'");
    assert_refused(run, stamps, STATES, "harness");
    json_object_del(run, "chain_end");
    assert_refused(run, stamps, STATES, "finish");
    json_decref(run);
    json_decref(other);
}

// Members have any value within their bounds.
TEST(clocks_without_sense)
{
    struct ticket_judged judged;
    json_t *run = bound_run();
    const struct ticket_stamp far[] = {{canonical_text(run, "chain_root"), (int64_t)1 << 43},
                                       {canonical_text(run, "chain_end"), 0}};
    ticket_judge(run, 0, far, 2, &judged);
    ticket_judge(run, (int64_t)1 << 43, far, 2, &judged);
    json_object_del(run, "points");
    json_object_del(run, "segments");
    ticket_judge(run, 0, far, 2, &judged);
    json_decref(run);
    run = json_object();
    ticket_judge(run, 0, NULL, 0, &judged);
    assert_false(judged.witnessed);
    json_decref(run);
}

static json_t *ticket_for(const json_t *run)
{
    return json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:{s:s, s:I, s:I}}", "task", canonical_text(run, "task"), "target_micro",
                     (json_int_t)canonical_int(run, "target_micro"), "model", canonical_text(run, "model.name"), "recipe",
                     canonical_text(run, "recipe.name"), "recipe_digest", canonical_text(run, "recipe.digest"), "binary_digest",
                     canonical_text(run, "software.binary_digest"), "group", "nonce", canonical_text(run, "group.nonce"), "index",
                     (json_int_t)canonical_int(run, "group.index"), "planned", (json_int_t)canonical_int(run, "group.planned"));
}

TEST(announcements)
{
    static const char *const texts[][2] = {{"task", "task"}, {"model", "model.name"}, {"recipe", "recipe.name"},
                                           {"recipe_digest", "recipe.digest"}, {"binary_digest", "software.binary_digest"},
                                           {"group.nonce", "group.nonce"}};
    static const char *const numbers[][2] = {{"target_micro", "target_micro"}, {"group.index", "group.index"},
                                             {"group.planned", "group.planned"}};
    json_t *run = bound_run();
    json_t *ticket = ticket_for(run);
    assert_null(ticket_differs(run, ticket));
    json_decref(ticket);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ticket = ticket_for(run);
        fixture_set(ticket, texts[i][0], json_string("another"));
        assert_string_equal(ticket_differs(run, ticket), texts[i][1]);
        json_decref(ticket);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        ticket = ticket_for(run);
        fixture_set(ticket, numbers[i][0], json_integer(77));
        assert_string_equal(ticket_differs(run, ticket), numbers[i][1]);
        json_decref(ticket);
    }
    ticket = ticket_for(run);
    json_object_del(ticket, "group");
    assert_string_equal(ticket_differs(run, ticket), "group.nonce");
    json_decref(ticket);
    json_decref(run);
}
