// SPDX-License-Identifier: Apache-2.0
// Competitions: the operator's file, acceptance by date, the attacks on commit and reveal, the order of the entries, and what
// pages and API show of it.
#include "scoreboard/api/api.h"
#include "scoreboard/pages/pages.h"
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_page.h"

#define HOUR ((int64_t)3600 * 1000)
#define COMMITS_UNTIL (FIXTURE_NOW_MS + HOUR)
#define REVEALS_UNTIL (FIXTURE_NOW_MS + 2 * HOUR)
#define SALT "00112233445566778899aabbccddeeff"

// ---- the file
static const char good[] =
    "{\"name\": \"winter-2026\", \"title\": \"Winter\", \"rules\": \"One machine.\", \"task\": \"cifar10\", \"ranked_by\": "
    "\"training-time\", \"rank\": \"classic\", \"division\": \"open\", \"begins\": \"2026-12-01T00:00:00Z\", \"commits_until\": "
    "\"2026-12-02T00:00:00Z\", \"reveals_until\": \"2026-12-03T12:30:15Z\"}";

TEST(the_file_is_read)
{
    json_t *members;
    assert_int_equal(competition_read(good, strlen(good), &members), 0);
    assert_int_equal(canonical_int(members, "begins_ms"), 1796083200000);
    assert_int_equal(canonical_int(members, "reveals_until_ms"), 1796083200000 + (2 * 24 + 12) * HOUR + (30 * 60 + 15) * 1000);
    assert_int_equal(canonical_int(members, "target_micro"), 940000);
    assert_string_equal(canonical_text(members, "trust"), "checked");
    assert_null(json_object_get(members, "begins"));
    json_decref(members);
}

TEST(broken_files_are_refused)
{
    static const char *const edits[][3] = {
        {"\"name\": \"winter-2026\", ", "", "has no \"name\""},
        {"\"rank\": \"classic\"", "\"rank\": 1", "\"rank\" is text"},
        {"\"rank\"", "\"ranks\"", "has no member \"ranks\""},
        {"\"begins\"", "\"begins_ms\"", "has no member \"begins_ms\""},
        {"12-01T00:00:00Z", "12-01 00:00:00Z", "a moment in UTC"},
        {"12-01T00:00:00Z", "12-32T00:00:00Z", "a moment in UTC"},
        {"2026-12-01T", "2026-02-29T", "a moment in UTC"},
        {"12-01T00:00:00Z", "12-01T24:00:00Z", "a moment in UTC"},
        {"12-01T00:00:00Z", "12-01T00:00:00+01:00", "a moment in UTC"},
        {"2026-12-01T", "1969-12-01T", "a moment in UTC"},
        {"{", "{\"target_micro\": \"94\", ", "whole number"},
        {"{", "{\"target_micro\": 9.5, ", "whole number"},
        {"{", "{\"title\": \"twice\", ", "not JSON"},
        {"{", "[", "not JSON"},
        {"\"Winter\"", "null", "\"title\" is text"},
    };
    json_t *members;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct text file = {0};
        const char *at = strstr(good, edits[i][0]);
        assert_non_null(at);
        text_add(&file, "%.*s%s%s", (int)(at - good), good, edits[i][1], at + strlen(edits[i][0]));
        if (competition_read(file.at, file.length, &members) == 0) fail_msg("taken: %s", file.at);
        if (strstr(error_text(), edits[i][2]) == NULL) fail_msg("%s says: %s", edits[i][1], error_text());
        text_free(&file);
    }
    assert_int_equal(competition_read("[]", 2, &members), ERR_INPUT);
    assert_int_equal(competition_read("", 0, &members), ERR_INPUT);
    assert_int_equal(competition_read(good, COMPETITION_FILE + 1, &members), ERR_INPUT);
}

// ---- opening
static json_t *members_of(const char *name, enum rank rank)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I}", "name", name, "title", "Winter <2026>",
                     "rules", "One machine.", "task", "cifar10", "ranked_by", "training-time", "rank", rank_word(rank),
                     "division", "open", "trust", "checked", "target_micro", 940000, "begins_ms", (json_int_t)FIXTURE_NOW_MS,
                     "commits_until_ms", (json_int_t)COMMITS_UNTIL, "reveals_until_ms", (json_int_t)REVEALS_UNTIL);
}

static enum problem open_with(json_t *members, int64_t now_ms)
{
    free(last.receipt);
    last = (struct acceptance){0};
    if (store_competition_open(store, members, now_ms, &last) < 0) return PROBLEM_MALFORMED;
    return last.problem;
}

TEST_WITH(competitions_that_cannot_be, set_up, end)
{
    static const struct {
        const char *member;
        int64_t value;
    } cases[] = {{"target_micro", 950000}, {"begins_ms", COMMITS_UNTIL}, {"commits_until_ms", REVEALS_UNTIL},
                 {"reveals_until_ms", COMMITS_UNTIL}, {"reveals_until_ms", FIXTURE_NOW_MS + 31 * 24 * HOUR}, {"begins_ms", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *members = members_of("bad", RANK_CLASSIC);
        json_object_set_new(members, cases[i].member, json_integer(cases[i].value));
        assert_int_equal(open_with(members, FIXTURE_NOW_MS), PROBLEM_MALFORMED);
    }
    json_t *members = members_of("bad", RANK_CLASSIC);
    json_object_set_new(members, "task", json_string("chess"));
    assert_int_equal(open_with(members, FIXTURE_NOW_MS), PROBLEM_MALFORMED);
    assert_int_equal(open_with(members_of("late", RANK_CLASSIC), COMMITS_UNTIL), PROBLEM_COMPETITION);
    assert_int_equal(open_with(members_of("Winter", RANK_CLASSIC), FIXTURE_NOW_MS), PROBLEM_NONE);
    assert_int_equal(open_with(members_of("winter", RANK_CLASSIC), FIXTURE_NOW_MS), PROBLEM_CONFLICT);
    json_t *own = members_of("mine", RANK_CLASSIC);  // nobody but the operator
    json_object_set_new(own, "type", json_string("competition"));
    json_object_set_new(own, "version", json_integer(1));
    json_object_set_new(own, "board", json_string("test"));
    json_object_set_new(own, "made_ms", json_integer(FIXTURE_NOW_MS));
    assert_int_equal(hand_in(own, &ada), PROBLEM_NOT_YOURS);
    assert_whole();
}

// ---- committing and revealing
static char competition[DIGEST_HEX];

static void open_one(enum rank rank)
{
    struct competition_stored c;
    assert_int_equal(open_with(members_of("winter", rank), FIXTURE_NOW_MS), PROBLEM_NONE);
    assert_int_equal(store_competition(reader, "WINTER", &arena, &c), 0);
    snprintf(competition, sizeof competition, "%s", c.digest);
}

static json_t *entering(json_t *run)
{
    fixture_set(run, "competition", json_pack("{s:s, s:s}", "statement", competition, "salt", SALT));
    return run;
}

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static json_t *commitment_of(const char *handle, const char *const *digests, int count)
{
    json_t *runs = json_array();
    const char *sorted[16];
    assert_true(count <= 16);
    memcpy(sorted, digests, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_words);
    for (int i = 0; i < count; i++) json_array_append_new(runs, json_pack("{s:s}", "statement", sorted[i]));
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:o, s:I}", "type", "commit", "version", 1, "board", "test", "handle", handle,
                     "competition", competition, "runs", runs, "made_ms", (json_int_t)FIXTURE_NOW_MS);
}

static json_t *commitment_to(const char *handle, json_t *run)
{
    char digest[DIGEST_HEX];
    digest_of(run, digest);
    json_decref(run);
    return commitment_of(handle, (const char *const[]){digest}, 1);
}

static void assert_refused(enum problem problem, const char *says)
{
    assert_int_equal(problem, PROBLEM_COMPETITION);
    if (strstr(last.detail, says) == NULL) fail_msg("no \"%s\" in: %s", says, last.detail);
}

static struct contender *contenders_of(int *count)
{
    struct competition_stored c;
    struct contender *list;
    assert_int_equal(store_competition(reader, "winter", &arena, &c), 0);
    assert_int_equal(store_contenders(reader, &c, &arena, &list, count), 0);
    assert_int_equal(c.contenders, *count);
    return list;
}

TEST_WITH(commit_then_reveal, set_up, end)
{
    int count;
    open_one(RANK_CLASSIC);
    assert_refused(hand_in(entering(run_of("ada", 1)), &ada), "takes runs from 2027-01-15 09:00:00 UTC on");
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 1))), &ada), PROBLEM_NONE);  // a new key, too
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 1))), &ada), PROBLEM_NONE);
    assert_true(last.again);
    struct contender *list = contenders_of(&count);
    assert_int_equal(count, 1);
    assert_string_equal(competition_mark(&(struct competition){0}, &list[0]), "not revealed");
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).total, 0);
    assert_refused(hand_in_at(entering(run_of("ada", 1)), &ada, NULL, COMMITS_UNTIL - 1), "takes runs from");
    assert_int_equal(hand_in_at(entering(run_of("ada", 1)), &ada, NULL, COMMITS_UNTIL), PROBLEM_NONE);
    list = contenders_of(&count);
    assert_int_equal(list[0].place, 1);
    assert_true(list[0].entry.value > 0);
    assert_int_equal(board_of(BOARD_TRAINING_TIME, RANK_CLASSIC).total, 1);
    assert_whole();
}

TEST_WITH(attacks, set_up, end)
{
    int count;
    open_one(RANK_CLASSIC);
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 1))), &ada), PROBLEM_NONE);
    assert_refused(hand_in(commitment_to("ada", entering(run_of("ada", 2))), &ada), "a commitment is final");
    assert_refused(hand_in(commitment_to("bob", entering(run_of("ada", 1))), &bob), "was committed before, by statement 2");
    assert_int_equal(hand_in(run_of("eve", 9), &eve), PROBLEM_NONE);
    assert_refused(hand_in(commitment_to("eve", run_of("eve", 9)), &eve), "is public");  // everybody has seen it
    json_t *run = entering(run_of("bob", 3));
    char digest[DIGEST_HEX];
    digest_of(run, digest);
    assert_refused(hand_in(commitment_of("bob", (const char *const[]){digest, FIXTURE_HEX}, 2), &bob), "is one run");
    assert_int_equal(hand_in(commitment_of("ada", (const char *const[]){digest}, 1), &bob), PROBLEM_HANDLE);
    assert_int_equal(hand_in(commitment_of("bob", (const char *const[]){digest}, 1), &bob), PROBLEM_NONE);

    assert_refused(hand_in_at(commitment_to("eve", entering(run_of("eve", 4))), &eve, NULL, COMMITS_UNTIL),
                   "took commitments until");
    assert_refused(hand_in_at(entering(run_of("ada", 2)), &ada, NULL, COMMITS_UNTIL), "did not commit to this statement");
    assert_int_equal(hand_in_at(entering(run_of("ada", 1)), &bob, NULL, COMMITS_UNTIL), PROBLEM_KEY_TAKEN);
    json_t *nearly = entering(run_of("ada", 1));
    fixture_set(nearly, "note", json_string("another word"));
    assert_refused(hand_in_at(nearly, &ada, NULL, COMMITS_UNTIL), "did not commit to this statement");
    json_t *elsewhere = run_of("ada", 1);
    fixture_set(elsewhere, "competition", json_pack("{s:s, s:s}", "statement", FIXTURE_HEX, "salt", SALT));
    assert_int_equal(hand_in_at(elsewhere, &ada, NULL, COMMITS_UNTIL), PROBLEM_NOT_FOUND);
    assert_int_equal(hand_in_at(entering(run_of("ada", 1)), &ada, NULL, REVEALS_UNTIL - 1), PROBLEM_NONE);
    assert_refused(hand_in_at(run, &bob, NULL, REVEALS_UNTIL), "took runs until 2027-01-15 10:00:00 UTC");
    struct contender *list = contenders_of(&count);
    assert_int_equal(count, 2);
    assert_string_equal(list[0].handle, "ada");
    assert_string_equal(list[1].handle, "bob");
    assert_int_equal(list[1].place, 0);
    assert_whole();
}

// What entered stays as it is; it can only be taken back, and that shows.
TEST_WITH(an_entry_is_not_replaced, set_up, end)
{
    int count;
    char digest[DIGEST_HEX];
    open_one(RANK_CLASSIC);
    json_t *run = entering(run_of("ada", 1)), *better = run_of("ada", 1);
    digest_of(run, digest);
    assert_int_equal(hand_in(commitment_of("ada", (const char *const[]){digest}, 1), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in_at(run, &ada, NULL, COMMITS_UNTIL), PROBLEM_NONE);
    fixture_set(better, "supersedes", json_string(digest));
    assert_int_equal(hand_in_at(better, &ada, NULL, COMMITS_UNTIL), PROBLEM_CONFLICT);
    assert_int_equal(hand_in_at(about("amend", digest), &ada, NULL, COMMITS_UNTIL), PROBLEM_NONE);
    assert_int_equal(contenders_of(&count)[0].place, 1);
    assert_int_equal(hand_in_at(about("withdraw", digest), &ada, NULL, COMMITS_UNTIL), PROBLEM_NONE);
    struct contender *list = contenders_of(&count);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].place, 0);
    assert_string_equal(competition_mark(&(struct competition){0}, &list[0]), "withdrawn");
    assert_whole();
}

static int cancel(const char *name, const char *reason, int64_t now_ms)
{
    free(last.receipt);
    last = (struct acceptance){0};
    return store_decide(store, &(struct decision){"cancelled", name, "Ann Lee", reason, NULL}, now_ms, &last);
}

TEST_WITH(a_cancelled_competition_takes_nothing, set_up, end)
{
    struct competition_stored c;
    open_one(RANK_CLASSIC);
    assert_int_equal(cancel("nothing", "a slip", FIXTURE_NOW_MS), ERR_MISSING);
    assert_int_equal(cancel("winter", "a slip", FIXTURE_NOW_MS), 0);
    assert_int_equal(last.problem, PROBLEM_NONE);
    assert_int_equal(cancel("winter", "again", FIXTURE_NOW_MS + 1), 0);
    assert_int_equal(last.problem, PROBLEM_CONFLICT);
    assert_refused(hand_in(commitment_to("ada", entering(run_of("ada", 1))), &ada), "was cancelled by statement 2");
    assert_int_equal(store_competition(reader, "winter", &arena, &c), 0);
    assert_int_equal(c.cancelled, 2);
    json_t *forged = about("audit", competition);
    fixture_edit(forged, "'verdict': 'cancelled', 'by': 'Eve', 'reason': 'I lose'");
    assert_int_equal(hand_in(forged, &eve), PROBLEM_NOT_YOURS);
    assert_whole();
}

TEST_WITH(a_closed_division_is_closed, set_up, end)
{
    json_t *members = members_of("winter", RANK_CLASSIC), *run;
    struct competition_stored c;
    json_object_set_new(members, "division", json_string("closed"));
    assert_int_equal(open_with(members, FIXTURE_NOW_MS), PROBLEM_NONE);
    assert_int_equal(store_competition(reader, "winter", &arena, &c), 0);
    snprintf(competition, sizeof competition, "%s", c.digest);
    run = entering(run_of("ada", 1));
    fixture_set(run, "division", json_string("open"));
    assert_int_equal(hand_in(commitment_to("ada", json_deep_copy(run)), &ada), PROBLEM_NONE);
    assert_refused(hand_in_at(run, &ada, NULL, COMMITS_UNTIL), "is for the closed division");
}

// ---- groups
TEST_WITH(a_group_enters_whole, set_up, end)
{
    enum { RUNS = 5 };
    char digest[RUNS][DIGEST_HEX];
    const char *digests[RUNS];
    int count;
    open_one(RANK_GROUP);
    for (int i = 0; i < RUNS; i++) {
        json_t *run = entering(group_run_of("ada", i + 1, i + 1));
        digest_of(run, digest[i]);
        digests[i] = digest[i];
        json_decref(run);
    }
    assert_refused(hand_in(commitment_of("ada", digests, 4), &ada), "a group of at least 5 runs");
    json_t *twice = commitment_of("ada", digests, RUNS);
    json_array_append_new(json_object_get(twice, "runs"), json_pack("{s:s}", "statement", digest[0]));
    assert_int_equal(hand_in(twice, &ada), PROBLEM_MALFORMED);
    assert_int_equal(hand_in(commitment_of("ada", digests, RUNS), &ada), PROBLEM_NONE);
    for (int i = 0; i < RUNS; i++) {
        struct contender *list = contenders_of(&count);
        assert_int_equal(list[0].revealed, i);
        assert_int_equal(list[0].place, 0);
        assert_int_equal(hand_in_at(entering(group_run_of("ada", i + 1, i + 1)), &ada, NULL, COMMITS_UNTIL + i), PROBLEM_NONE);
    }
    struct contender *list = contenders_of(&count);
    if (list[0].place != 1) fail_msg("%s", competition_mark(&(struct competition){.rank = RANK_GROUP}, &list[0]));
    assert_int_equal(list[0].entry.runs, RUNS);
    assert_string_equal(list[0].group, FIXTURE_GROUP);
    assert_whole();
}

TEST_WITH(single_runs_are_no_group, set_up, end)
{
    enum { RUNS = 5 };
    char digest[RUNS][DIGEST_HEX];
    const char *digests[RUNS];
    open_one(RANK_GROUP);
    for (int i = 0; i < RUNS; i++) {
        json_t *run = entering(run_of("ada", i + 1));
        digest_of(run, digest[i]);
        digests[i] = digest[i];
        json_decref(run);
    }
    assert_int_equal(hand_in(commitment_of("ada", digests, RUNS), &ada), PROBLEM_NONE);
    assert_refused(hand_in_at(entering(run_of("ada", 1)), &ada, NULL, COMMITS_UNTIL), "are not the 5 runs of one group");
}

// ---- the order
TEST(places_follow_values)
{
    const struct competition c = {.least = TRUST_CHECKED};
    struct contender at[] = {
        {.sequence = 1, .runs = 1},
        {.sequence = 2, .runs = 1, .revealed = 1, .listed = true, .entry = {.value = 3, .trust = TRUST_CHECKED}},
        {.sequence = 3, .runs = 1, .revealed = 1, .listed = true, .entry = {.value = 1, .trust = TRUST_SIGNED, .self = 1}},
        {.sequence = 4, .runs = 1, .revealed = 1, .listed = true, .entry = {.value = 2, .trust = TRUST_AUDITED}},
        {.sequence = 6, .runs = 1, .revealed = 1, .listed = true, .entry = {.value = 2, .trust = TRUST_CHECKED}},
        {.sequence = 5, .runs = 1, .revealed = 1, .listed = true, .entry = {.value = 1, .trust = TRUST_SIGNED}},
        {.sequence = 7, .runs = 2, .revealed = 1},
        {.sequence = 8, .runs = 1, .revealed = 1},
        {.sequence = 9, .runs = 1, .revealed = 1, .withdrawn = 1},
        {.sequence = 10, .runs = 1, .revealed = 1, .upheld = 1, .listed = true, .entry = {.value = 1.5, .trust = TRUST_AUDITED}},
    };
    static const int order[] = {4, 6, 2, 3, 5, 10, 1, 7, 8, 9}, places[] = {1, 2, 3};
    static const char *const marks[] = {"", "", "", "self-evaluated", "flagged", "objection upheld", "not revealed",
                                        "not all runs revealed", "no figure at the target", "withdrawn"};
    enum { COUNT = sizeof at / sizeof at[0] };
    competition_rank(&c, at, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(at[i].sequence, order[i]);
        assert_int_equal(at[i].place, i < 3 ? places[i] : 0);
        assert_string_equal(competition_mark(&c, &at[i]), marks[i]);
    }
    competition_rank(&c, at, 0);
}

// ---- what others see
// Its page at a moment: static copies are of one.
static const char *page_at(int64_t ms)
{
    const struct server_settings copy = {.copy_ms = ms};
    assert_int_equal(ask_page(page_competition, (struct request){.path = "/", .word = {"winter"}, .settings = &copy}), 0);
    assert_true(answer.live);  // never cached
    return answer.body.at;
}

TEST_WITH(a_page_says_the_phase_and_who_leads, set_up, end)
{
    static const char head[] = "<dt>1. <a href=\"/people/ada\">";
    open_one(RANK_CLASSIC);
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 1))), &ada), PROBLEM_NONE);
    assert_shows(page_at(COMMITS_UNTIL - HOUR / 2), "<strong>Open for commitments.</strong> Time left: 0 h 30 min<");
    assert_hides(page_at(COMMITS_UNTIL - 1), head);
    assert_int_equal(hand_in_at(entering(run_of("ada", 1)), &ada, NULL, COMMITS_UNTIL), PROBLEM_NONE);
    assert_shows(page_at(COMMITS_UNTIL), "Runs are being published.");
    assert_shows(page_at((int64_t)4102444800000), "<strong>Over.</strong>");
    assert_shows(page_at((int64_t)4102444800000), head);
    assert_shows(page_at(1000), "<strong>Not open yet.</strong> Opens in ");
}

TEST_WITH(pages_show_it, set_up, end)
{
    open_one(RANK_CLASSIC);
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 1))), &ada), PROBLEM_NONE);
    assert_int_equal(ask_page(page_competitions, (struct request){.path = "/"}), 0);
    assert_shows(answer.body.at, "Winter &lt;2026&gt;");
    assert_int_equal(ask_page(page_competition, (struct request){.path = "/", .word = {"winter"}}), 0);
    assert_shows(answer.body.at, "Winter &lt;2026&gt;");
    assert_shows(answer.body.at, "2027-01-15 09:00:00 UTC");
    assert_shows(answer.body.at, "not revealed");
    assert_hides(answer.body.at, "Test CPU");
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"1"}}), 0);
    assert_shows(answer.body.at, "/competitions/winter");
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"2"}}), 0);
    assert_shows(answer.body.at, "Commitment (statement 2)");
    assert_int_equal(hand_in_at(entering(run_of("ada", 1)), &ada, NULL, COMMITS_UNTIL), PROBLEM_NONE);
    assert_int_equal(ask_page(page_competition, (struct request){.path = "/", .word = {"winter"}}), 0);
    assert_shows(answer.body.at, "Test CPU");
    assert_hides(answer.body.at, "not revealed");
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"3"}}), 0);
    assert_shows(answer.body.at, "/competitions/winter");
    assert_int_equal(cancel("winter", "a <slip>", COMMITS_UNTIL), 0);
    assert_int_equal(ask_page(page_competition, (struct request){.path = "/", .word = {"winter"}}), 0);
    assert_shows(answer.body.at, "Cancelled");
    assert_shows(answer.body.at, "a &lt;slip&gt;");
    assert_int_equal(ask_page(page_run, (struct request){.path = "/", .word = {"4"}}), 0);
    assert_shows(answer.body.at, "Decision of statement 1");
    assert_int_equal(ask_page(page_competition, (struct request){.path = "/", .word = {"summer"}}), ERR_MISSING);
    assert_int_equal(ask_page(api_competition, (struct request){.path = "/", .word = {"winter"}}), 0);
    assert_shows(answer.body.at, "\"cancelled_by\":4");
}

static void limit_to(int64_t statements)
{
    const struct store_settings settings = {.path = path, .origin = "test", .submissions_per_hour = statements};
    close_all();
    assert_int_equal(store_open(&settings, STORE_WRITE, &store), 0);
    assert_int_equal(store_reader(store, &reader), 0);
}

// Somebody without a run here, whose handle costs nothing, commits a quarter as often.
TEST_WITH(newcomers_commit_seldom, set_up, end)
{
    struct competition_stored spring;
    limit_to(4);
    open_one(RANK_CLASSIC);
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 1))), &ada), PROBLEM_NONE);
    assert_int_equal(open_with(members_of("spring", RANK_CLASSIC), FIXTURE_NOW_MS), PROBLEM_NONE);
    assert_int_equal(store_competition(reader, "spring", &arena, &spring), 0);
    snprintf(competition, sizeof competition, "%s", spring.digest);
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 2))), &ada), PROBLEM_RATE);
    assert_int_equal(hand_in(run_of("ada", 3), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 2))), &ada), PROBLEM_NONE);
}

// Runs that were committed are no part of the limit: nobody can commit to more than can be revealed in time.
TEST_WITH(entries_are_not_counted, set_up, end)
{
    enum { RUNS = 11 };
    char digest[RUNS][DIGEST_HEX], nonce[33] = "abababababababababababababababab";
    const char *digests[RUNS];
    json_t *runs[RUNS];
    limit_to(1);
    open_one(RANK_GROUP);
    for (int i = 0; i < RUNS; i++) {
        runs[i] = entering(group_run_of("ada", i + 1, i + 1));
        fixture_set(runs[i], "group.nonce", json_string(nonce));
        fixture_set(runs[i], "group.planned", json_integer(RUNS));
        fixture_follow(runs[i]);
        digest_of(runs[i], digest[i]);
        digests[i] = digest[i];
    }
    assert_int_equal(hand_in(commitment_of("ada", digests, RUNS), &ada), PROBLEM_NONE);
    for (int i = 0; i < RUNS; i++) assert_int_equal(hand_in_at(runs[i], &ada, NULL, COMMITS_UNTIL), PROBLEM_NONE);
    assert_int_equal(hand_in_at(run_of("ada", 20), &ada, NULL, COMMITS_UNTIL), PROBLEM_NONE);
    assert_int_equal(hand_in_at(entering(run_of("ada", 21)), &ada, NULL, COMMITS_UNTIL), PROBLEM_RATE);  // never committed
}

// A later program may have dropped a board: everything else is shown, and nothing more enters.
TEST_WITH(a_dropped_board_hides_nothing, set_up, end)
{
    int count;
    struct competition_stored *list;
    open_one(RANK_CLASSIC);
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 1))), &ada), PROBLEM_NONE);
    assert_int_equal(open_with(members_of("spring", RANK_CLASSIC), FIXTURE_NOW_MS), PROBLEM_NONE);
    do_sql("UPDATE statements SET payload = CAST(replace(replace(CAST(payload AS TEXT), '\"task\":\"cifar10\"', "
           "'\"task\":\"cifar11\"'), '\"rank\":\"classic\"', '\"rank\":\"group\"') AS BLOB) WHERE sequence = 1");
    assert_int_equal(store_competitions(reader, &arena, &list, &count), 0);
    assert_int_equal(count, 2);
    assert_string_equal(list[1].about.name, "winter");
    assert_int_equal(list[1].about.rank, RANK_GROUP);
    assert_int_equal(list[1].about.target_micro, 940000);
    assert_int_equal(ask_page(page_competitions, (struct request){.path = "/"}), 0);
    assert_shows(answer.body.at, "/competitions/spring");
    assert_shows(answer.body.at, "cifar11, training-time");
    assert_int_equal(ask_page(page_competition, (struct request){.path = "/", .word = {"winter"}}), 0);
    assert_shows(answer.body.at, "not revealed");
    assert_hides(answer.body.at, "How to enter");
    assert_int_equal(ask_page(api_competitions, (struct request){.path = "/"}), 0);
    assert_shows(answer.body.at, "\"task\":\"cifar11\"");
    assert_refused(hand_in(commitment_to("bob", entering(run_of("bob", 2))), &bob), "does not have the board");
    assert_int_equal(cancel("winter", "its board is gone", FIXTURE_NOW_MS), 0);
    assert_int_equal(last.problem, PROBLEM_NONE);
}

TEST_WITH(check_notices_altered_tables, set_up, end)
{
    static const char *const edits[] = {"UPDATE committed SET run = 0", "UPDATE competitions SET cancelled = 3",
                                        "UPDATE commitments SET handle = 'eve'"};
    open_one(RANK_CLASSIC);
    assert_int_equal(hand_in(commitment_to("ada", entering(run_of("ada", 1))), &ada), PROBLEM_NONE);
    assert_int_equal(hand_in_at(entering(run_of("ada", 1)), &ada, NULL, COMMITS_UNTIL), PROBLEM_NONE);
    assert_whole();
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        struct text said = {0};
        do_sql(edits[i]);
        assert_int_equal(faults_of(&said), (int)i + 1);
        text_free(&said);
    }
}
