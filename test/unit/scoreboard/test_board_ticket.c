// SPDX-License-Identifier: Apache-2.0
// Tickets on a board: an announced run whose clock agrees becomes witnessed, and attacks on that do not.
#include <pthread.h>

#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_board.h"

#define SECRET FIXTURE_HEX
#define GROUP "00112233445566778899aabbccddeeff"
enum { BEFORE_MS = 200000 };  // the ticket, before the run's end
#define ISSUED (FIXTURE_NOW_MS - BEFORE_MS)

struct given {  // what a ticket gives a run
    char statement[DIGEST_HEX], proof[DIGEST_HEX];
};

static json_t *ticket_of(const char *handle, const char *group, int index)
{
    char lock[DIGEST_HEX];
    json_t *run = fixture_run();
    ticket_lock(SECRET, lock);
    json_t *ticket = json_pack("{s:s, s:i, s:s, s:s, s:s, s:I, s:s, s:s, s:s, s:s, s:s, s:I}", "type", "ticket", "version", 1,
                               "board", "test", "handle", handle, "task", "cifar10", "target_micro", (json_int_t)940000, "model",
                               "airbench", "recipe", "cifar10", "recipe_digest", canonical_text(run, "recipe.digest"),
                               "binary_digest", FIXTURE_HEX, "lock", lock, "made_ms", (json_int_t)ISSUED);
    if (group != NULL)
        json_object_set_new(ticket, "group", json_pack("{s:s, s:i, s:i}", "nonce", group, "index", index, "planned", 5));
    json_decref(run);
    return to_board(ticket);
}

static struct given given_by(json_t *ticket, const struct sshkey_secret *key)
{
    struct given g;
    digest_of(ticket, g.statement);
    if (hand_in_at(ticket, key, NULL, ISSUED) != PROBLEM_NONE) fail_msg("%s", last.detail);
    ticket_proof(last.receipt_signature, g.proof);
    return g;
}

static void put_ticket(json_t *run, const struct given *g)
{
    char id[SSHKEY_ID];
    fixture_set(run, "ticket", json_pack("{s:s, s:s, s:s}", "statement", g->statement, "board_key",
                                         sshkey_id(store_key(store), id), "proof", g->proof));
    fixture_set(run, "seed", json_integer(ticket_seed(g->proof)));
    fixture_follow(run);
}

// A run of ada with that ticket, which ended now.
static json_t *run_with(const struct given *g, int number)
{
    json_t *run = run_of("ada", number);
    fixture_vary(run, number);
    put_ticket(run, g);
    return run;
}

static enum problem beat_at(const char *ticket, const char *secret, const char *hash, int64_t ms)
{
    struct ticket_beat beat;
    struct beating out;
    snprintf(beat.hash, sizeof beat.hash, "%s", hash);
    snprintf(beat.secret, sizeof beat.secret, "%s", secret);
    if (store_beat(store, ticket, &beat, ms, &out) < 0) fail_msg("%s", error_text());
    if (out.ruling.problem == PROBLEM_NONE) assert_true(out.again || out.stamped_ms == ms);
    return out.ruling.problem;
}

// Sends all states of a run at the moments that it claims.
static void beat_all(json_t *run, const struct given *g, int64_t late_ms)
{
    const json_t *segments = json_object_get(run, "segments");
    assert_int_equal(beat_at(g->statement, SECRET, canonical_text(run, "chain_root"), ISSUED + 50), PROBLEM_NONE);
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) {
        const json_t *p = fixture_item(run, "points", i);
        assert_int_equal(beat_at(g->statement, SECRET, canonical_text(p, "hash"),
                                 ISSUED + canonical_int(p, "t_ns") / 1000000 + late_ms), PROBLEM_NONE);
    }
    const json_t *end = json_array_get(segments, json_array_size(segments) - 1);
    assert_int_equal(beat_at(g->statement, SECRET, canonical_text(run, "chain_end"),
                             ISSUED + canonical_int(end, "end_ns") / 1000000 + late_ms), PROBLEM_NONE);
}

static enum problem report(json_t *run, const struct sshkey_secret *key)
{
    struct statement s;
    assert_int_equal(statement_make(to_board(json_incref(run)), &s), 0);
    enum problem problem = hand_in(run, key);
    if (problem == PROBLEM_NONE && store_vouch(store, &s, FIXTURE_NOW_MS) < 0) fail_msg("%s", error_text());
    statement_free(&s);
    return problem;
}

static struct stored stored_at(int64_t sequence)
{
    struct stored s;
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)sequence);
    assert_int_equal(store_statement(reader, id, &arena, &s), 0);
    return s;
}

static enum trust level(void)
{
    return stored_at(last.sequence).trust;
}

static void assert_counts(int announced, int finished, int open, int missing)
{
    struct ticket_counts c;
    assert_int_equal(store_tickets_by(reader, "ada", &c), 0);
    assert_int_equal(c.announced, announced);
    assert_int_equal(c.finished, finished);
    assert_int_equal(c.open, open);
    assert_int_equal(c.missing, missing);
    assert_int_equal(c.failed + c.withdrawn, announced - finished - open - missing);
}

TEST_WITH(witnessed, set_up, tear_down)
{
    struct ticket_stored t;
    int64_t by, ticket;
    const struct given g = given_by(ticket_of("ada", NULL, 0), &ada);  // a ticket may be the first that a key signs
    assert_counts(1, 0, 1, 0);
    json_t *run = run_with(&g, 1), *amended = json_deep_copy(run);
    char digest[DIGEST_HEX];
    digest_of(run, digest);
    beat_all(run, &g, 120);
    assert_int_equal(report(run, &ada), PROBLEM_NONE);
    assert_int_equal(last.findings.count, 0);
    assert_int_equal(level(), TRUST_WITNESSED);
    assert_int_equal(store_vouched_by(reader, 2, &ticket, &by), 0);
    assert_int_equal(by, 3);
    assert_int_equal(ticket, 1);
    assert_int_equal(stored_at(3).type, STATEMENT_VOUCH);
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).at[0].trust, TRUST_WITNESSED);
    assert_int_equal(store_ticket(reader, g.statement, &arena, &t), 0);
    assert_int_equal(t.run, 2);
    assert_int_equal(t.vouched, 3);
    assert_int_equal(t.stamp_count, FIXTURE_EPOCHS + 2);
    assert_counts(1, 1, 0, 0);
    assert_whole();
    // The same run with other latencies keeps its level, and the board says nothing twice.
    json_object_set_new(amended, "latencies", json_array());
    fixture_set(amended, "supersedes", json_string(digest));
    assert_int_equal(report(amended, &ada), PROBLEM_NONE);
    assert_int_equal(last.sequence, 4);
    assert_int_equal(level(), TRUST_WITNESSED);
    assert_int_equal(store_ticket(reader, g.statement, &arena, &t), 0);
    assert_int_equal(t.run, 4);
    assert_whole();
    close_all();
    open_all();
    assert_int_equal(stored_at(4).trust, TRUST_WITNESSED);
}

// What the clock does not allow lowers the level by one, and costs no more.
TEST_WITH(not_witnessed, set_up, tear_down)
{
    struct given given[3];
    for (int i = 0; i < 3; i++) {
        json_t *ticket = ticket_of("ada", NULL, 0);
        fixture_set(ticket, "made_ms", json_integer(ISSUED + i));  // each a statement of its own
        given[i] = given_by(ticket, &ada);
    }
    json_t *silent = run_with(&given[0], 1), *slow = run_with(&given[1], 2), *flagged = run_with(&given[2], 3);
    fixture_set(flagged, "software.dirty", json_integer(1));
    fixture_follow(flagged);
    beat_all(slow, &given[1], 30000);  // it took 30 s longer than it says
    beat_all(flagged, &given[2], 0);
    assert_int_equal(report(silent, &ada), PROBLEM_NONE);
    assert_int_equal(level(), TRUST_CHECKED);
    assert_int_equal(report(slow, &ada), PROBLEM_NONE);
    assert_int_equal(level(), TRUST_CHECKED);
    assert_int_equal(report(flagged, &ada), PROBLEM_NONE);
    assert_int_equal(stored_at(6).trust, TRUST_SIGNED);
    assert_whole();
}

// ---- attacks

TEST_WITH(tickets_of_others, set_up, tear_down)
{
    const struct given g = given_by(ticket_of("ada", NULL, 0), &ada);
    struct given wrong = g;
    json_t *run = run_with(&g, 1), *foreign = run_with(&g, 2);
    fixture_set(foreign, "handle", json_string("bob"));
    fixture_follow(foreign);
    assert_int_equal(report(foreign, &bob), PROBLEM_NOT_YOURS);
    digest_of(run, wrong.statement);
    assert_int_equal(report(run_with(&wrong, 3), &ada), PROBLEM_CONFLICT);  // no such ticket
    wrong = g;
    memset(wrong.proof, 'a', DIGEST_HEX - 1);
    assert_int_equal(report(run_with(&wrong, 4), &ada), PROBLEM_CONFLICT);  // a chain that began without the ticket
    json_t *seeded = run_with(&g, 5);
    fixture_set(seeded, "seed", json_integer(5));
    fixture_follow(seeded);
    assert_int_equal(report(seeded, &ada), PROBLEM_CHECKS);  // a seed of one's own
    json_t *other = run_with(&g, 6);
    fixture_set(other, "recipe.name", json_string("another"));
    fixture_follow(other);
    assert_int_equal(report(other, &ada), PROBLEM_CONFLICT);
    assert_int_equal(report(run, &ada), PROBLEM_NONE);
    assert_int_equal(report(run_with(&g, 7), &ada), PROBLEM_CONFLICT);  // a ticket used twice
    json_t *elsewhere = run_with(&g, 8);  // a ticket of another board is nothing here
    fixture_set(elsewhere, "ticket.board_key", json_string("SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"));
    fixture_follow(elsewhere);
    assert_int_equal(report(elsewhere, &ada), PROBLEM_NONE);
    assert_int_equal(level(), TRUST_CHECKED);
    assert_whole();
}

TEST_WITH(beats_of_others, set_up, tear_down)
{
    struct ticket_stored t;
    struct beating out;
    int64_t before, after;
    const struct given g = given_by(ticket_of("ada", NULL, 0), &ada);
    json_t *run = run_with(&g, 1);
    const char *root = canonical_text(run, "chain_root");
    const char *nothing = "0000000000000000000000000000000000000000000000000000000000000000";
    assert_int_equal(store_version(reader, &before), 0);
    assert_int_equal(beat_at(g.statement, nothing, root, ISSUED + 5), PROBLEM_NOT_YOURS);
    assert_int_equal(beat_at(nothing, SECRET, root, ISSUED + 5), PROBLEM_NOT_FOUND);
    assert_int_equal(beat_at(g.statement, SECRET, root, ISSUED + 5), PROBLEM_NONE);
    struct ticket_beat again = {.secret = SECRET};
    snprintf(again.hash, sizeof again.hash, "%s", root);
    assert_int_equal(store_beat(store, g.statement, &again, ISSUED + 900, &out), 0);  // a beat that is replayed
    assert_true(out.again);
    assert_int_equal(out.stamped_ms, ISSUED + 5);
    assert_int_equal(beat_at(g.statement, SECRET, nothing, ISSUED + STORE_TICKET_MS + 1), PROBLEM_CONFLICT);  // too late
    assert_int_equal(store_version(reader, &after), 0);
    assert_int_equal(before, after);  // caches keep what they have
    beat_all(run, &g, 10);
    assert_int_equal(beat_at(g.statement, SECRET, nothing, ISSUED + 100), PROBLEM_NONE);  // a state of another chain
    assert_int_equal(report(run, &ada), PROBLEM_NONE);
    assert_int_equal(level(), TRUST_CHECKED);
    assert_int_equal(beat_at(g.statement, SECRET, FIXTURE_HEX, ISSUED + 200), PROBLEM_CONFLICT);  // after the report
    assert_int_equal(store_ticket(reader, g.statement, &arena, &t), 0);
    assert_int_equal(t.stamp_count, FIXTURE_EPOCHS + 3);
    assert_whole();
}

enum { SAME_BEATS = 40 };

struct server {
    struct store *store;
    const char *ticket;
    pthread_barrier_t *start;
    int failed;
};

static void *beat_with_the_other(void *context)
{
    struct server *s = context;
    struct ticket_beat beat = {.secret = SECRET};
    struct beating out;
    for (int i = 0; i < SAME_BEATS; i++) {
        snprintf(beat.hash, sizeof beat.hash, "%064d", i);
        pthread_barrier_wait(s->start);
        s->failed += store_beat(s->store, s->ticket, &beat, ISSUED + i, &out) < 0 || out.ruling.problem != PROBLEM_NONE;
    }
    return NULL;
}

// Two servers on one record get the same beats at the same moment: one stamps, the other answers with its stamp.
TEST_WITH(beats_at_two_servers, set_up, tear_down)
{
    struct store *second;
    struct ticket_stored t;
    pthread_barrier_t start;
    pthread_t thread;
    const struct given g = given_by(ticket_of("ada", NULL, 0), &ada);
    assert_int_equal(store_open(&(struct store_settings){.path = path}, STORE_WRITE, &second), 0);
    struct server servers[] = {{store, g.statement, &start, 0}, {second, g.statement, &start, 0}};
    pthread_barrier_init(&start, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, beat_with_the_other, &servers[1]), 0);
    beat_with_the_other(&servers[0]);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&start);
    store_close(second);
    assert_int_equal(servers[0].failed + servers[1].failed, 0);
    assert_int_equal(store_ticket(reader, g.statement, &arena, &t), 0);
    assert_int_equal(t.stamp_count, SAME_BEATS);
    assert_whole();
}

TEST_WITH(groups, set_up, tear_down)
{
    json_t *first = ticket_of("ada", GROUP, 1), *run, *other;
    const struct given g = given_by(json_incref(first), &ada);
    json_decref(first);
    assert_int_equal(hand_in_at(ticket_of("bob", GROUP, 2), &bob, NULL, ISSUED), PROBLEM_CONFLICT);  // whose group it is
    other = ticket_of("ada", GROUP, 1);
    fixture_set(other, "made_ms", json_integer(ISSUED + 1));
    assert_int_equal(hand_in_at(other, &ada, NULL, ISSUED), PROBLEM_CONFLICT);  // the run once more
    other = ticket_of("ada", GROUP, 2);
    fixture_set(other, "group.planned", json_integer(6));
    assert_int_equal(hand_in_at(other, &ada, NULL, ISSUED), PROBLEM_CONFLICT);
    other = ticket_of("ada", GROUP, 6);
    assert_int_equal(hand_in_at(other, &ada, NULL, ISSUED), PROBLEM_MALFORMED);
    run = run_with(&g, 1);
    fixture_set(run, "group", json_pack("{s:s, s:i, s:i, s:I}", "nonce", GROUP, "index", 1, "planned", 5, "announced_ms",
                                        (json_int_t)(FIXTURE_NOW_MS - 300000)));
    other = json_deep_copy(run);
    json_object_del(other, "ticket");  // a better run in its place
    fixture_follow(other);
    assert_int_equal(report(other, &ada), PROBLEM_CONFLICT);
    fixture_follow(run);
    assert_int_equal(report(run, &ada), PROBLEM_NONE);
    int64_t sequence;
    assert_int_equal(store_ticket_of_group(reader, GROUP, 1, &sequence), 0);
    assert_int_equal(sequence, 1);
    assert_int_equal(store_ticket_of_group(reader, GROUP, 2, &sequence), 0);
    assert_int_equal(sequence, 0);
    assert_whole();
}

// A ticket shows the nonce of its group before a run of it stands here. A stranger's run with that nonce takes nothing.
TEST_WITH(a_stranger_takes_no_announced_group, set_up, tear_down)
{
    const struct given g = given_by(ticket_of("ada", GROUP, 1), &ada);
    json_t *run = run_with(&g, 1), *taken = run_of("eve", 2);
    fixture_set(run, "group", json_pack("{s:s, s:i, s:i, s:I}", "nonce", GROUP, "index", 1, "planned", 5, "announced_ms",
                                        (json_int_t)(FIXTURE_NOW_MS - 300000)));
    fixture_follow(run);
    fixture_vary(taken, 2);
    fixture_set(taken, "group", json_deep_copy(json_object_get(run, "group")));
    fixture_set(taken, "group.index", json_integer(5));  // a number that has no ticket yet
    fixture_follow(taken);
    assert_int_equal(report(taken, &eve), PROBLEM_CONFLICT);
    assert_non_null(strstr(last.detail, "belongs to another person"));
    assert_int_equal(report(run, &ada), PROBLEM_NONE);
    assert_int_equal(hand_in_at(ticket_of("ada", GROUP, 2), &ada, NULL, FIXTURE_NOW_MS), PROBLEM_NONE);
    assert_whole();
}

// The nonce of a group without tickets is public after its first run. Nobody else can announce the rest of it.
TEST_WITH(groups_of_others, set_up, tear_down)
{
    for (int i = 1; i <= 2; i++) {
        json_t *run = run_of("ada", i);
        fixture_vary(run, i);
        fixture_set(run, "group", json_pack("{s:s, s:i, s:i, s:I}", "nonce", GROUP, "index", i, "planned", 5, "announced_ms",
                                            (json_int_t)(FIXTURE_NOW_MS - 300000)));
        fixture_follow(run);
        assert_int_equal(report(run, &ada), PROBLEM_NONE);
        assert_int_equal(hand_in_at(ticket_of("bob", GROUP, i + 1), &bob, NULL, ISSUED), PROBLEM_CONFLICT);
    }
    assert_whole();
}

// A ticket without a run counts as failed after a month: by the newest statement, so that a page depends on the record alone.
TEST_WITH(unreported, set_up, tear_down)
{
    struct ticket_stored t;
    const struct given g = given_by(ticket_of("ada", NULL, 0), &ada);
    json_t *run = run_of("bob", 9);
    assert_counts(1, 0, 1, 0);
    assert_int_equal(store_ticket(reader, g.statement, &arena, &t), 0);
    assert_false(t.failed);
    assert_int_equal(hand_in_at(run, &bob, NULL, FIXTURE_NOW_MS + STORE_TICKET_MS - BEFORE_MS), PROBLEM_NONE);
    assert_counts(1, 0, 1, 0);
    json_t *late = ticket_of("eve", NULL, 0);
    fixture_set(late, "made_ms", json_integer(ISSUED + STORE_TICKET_MS));
    assert_int_equal(hand_in_at(late, &eve, NULL, ISSUED + STORE_TICKET_MS + 1), PROBLEM_NONE);
    assert_counts(1, 0, 0, 1);
    assert_int_equal(store_ticket(reader, g.statement, &arena, &t), 0);
    assert_true(t.failed);
    assert_int_equal(hand_in_at(run_with(&g, 1), &ada, NULL, ISSUED + STORE_TICKET_MS + 2), PROBLEM_CONFLICT);
    assert_non_null(strstr(last.detail, "counts as failed"));
}

// Runs that failed or were withdrawn do not pass for results of the announced run.
TEST_WITH(reports_are_counted_apart, set_up, tear_down)
{
    struct ticket_counts c;
    char digest[DIGEST_HEX];
    for (int i = 0; i < 3; i++) {
        json_t *ticket = ticket_of("ada", NULL, 0), *run;
        fixture_set(ticket, "made_ms", json_integer(ISSUED + i));
        const struct given g = given_by(ticket, &ada);
        run = run_with(&g, 1 + i);
        if (i == 1) fixture_set(run, "status", json_string("failed"));
        digest_of(run, digest);
        assert_int_equal(report(run, &ada), PROBLEM_NONE);
    }
    assert_int_equal(hand_in(about("withdraw", digest), &ada), PROBLEM_NONE);
    assert_int_equal(store_tickets_by(reader, "ada", &c), 0);
    assert_int_equal(c.finished, 1);
    assert_int_equal(c.failed, 1);
    assert_int_equal(c.withdrawn, 1);
    assert_counts(3, 1, 0, 0);
    assert_whole();
}

// Takes tickets until the board takes no more, and returns how many.
static int take_tickets(const char *handle, const struct sshkey_secret *key, int from)
{
    for (int i = 0; i < 20; i++) {
        json_t *ticket = ticket_of(handle, NULL, 0);
        fixture_set(ticket, "made_ms", json_integer(ISSUED + from + i));
        enum problem problem = hand_in_at(ticket, key, NULL, FIXTURE_NOW_MS);
        if (problem == PROBLEM_RATE) return i;
        assert_int_equal(problem, PROBLEM_NONE);
    }
    return 20;
}

// A group announces its runs as fast as it trains them, so there may be more tickets than runs: fewer of somebody without a run.
TEST_WITH(many_tickets, set_up, tear_down)
{
    close_all();
    const struct store_settings settings = {.path = path, .origin = "test", .submissions_per_hour = 1};
    assert_int_equal(store_open(&settings, STORE_WRITE, &store), 0);
    assert_int_equal(store_reader(store, &reader), 0);
    assert_int_equal(take_tickets("ada", &ada, 0), 3);
    assert_int_equal(hand_in(run_of("ada", 1), &ada), PROBLEM_NONE);
    assert_int_equal(take_tickets("ada", &ada, 100), 7);
    assert_non_null(strstr(last.detail, "10 statements of type \"ticket\""));
}

// Nobody but the board vouches for a clock.
TEST_WITH(own_word, set_up, tear_down)
{
    char digest[DIGEST_HEX];
    const struct given g = given_by(ticket_of("ada", NULL, 0), &ada);
    json_t *run = run_with(&g, 1), *word;
    digest_of(run, digest);
    assert_int_equal(report(run, &ada), PROBLEM_NONE);
    word = json_pack("{s:s, s:i, s:s, s:s, s:s, s:I, s:[{s:s, s:I}], s:I}", "type", "vouch", "version", 1, "board", "test",
                     "statement", digest, "ticket", g.statement, "issued_ms", (json_int_t)ISSUED, "stamps", "hash", FIXTURE_HEX,
                     "ms", (json_int_t)FIXTURE_NOW_MS, "made_ms", (json_int_t)FIXTURE_NOW_MS);
    assert_int_equal(hand_in(word, &ada), PROBLEM_NOT_YOURS);
    assert_int_equal(stored_at(2).trust, TRUST_CHECKED);
}
