// SPDX-License-Identifier: Apache-2.0
// The note of a state, which gives back all its fields unchanged, and how often a state is written.
#include "tasks/common/train/resume.h"
#include "test/unit/test.h"

static void assert_refused(int rc, const char *part)
{
    if (rc >= 0) fail_msg("taken, though \"%s\" was expected", part);
    if (!strstr(error_text(), part)) fail_msg("\"%s\" is not in: %s", part, error_text());
}

TEST(test_pace)
{
    static const struct { const char *word; int64_t steps, ns; } good[] = {
        {"1", 1, 0}, {"500", 500, 0}, {"1000000", 1000000, 0}, {"30s", 0, 30000000000},
        {"10min", 0, 600000000000}, {"2h", 0, 7200000000000},
    };
    static const char *const bad[] = {"", "s", "0", "0s", "-1", "+5", "1.5h", "10 min", "10m", "10minutes", "10MIN", "1000001",
                                      "99999999999999999999", "99999999999999999999s"};
    struct resume_pace pace;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(resume_pace_read(good[i].word, &pace), 0);
        assert_int_equal(pace.steps, good[i].steps);
        assert_int_equal(pace.ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(resume_pace_read(bad[i], &pace), "--checkpoint-every must be a number of steps");
        assert_true(!pace.steps && !pace.ns);
    }
}

static const int32_t DAMAGED[] = {3, 70000};
static const struct resume_note NOTE = {
    .damaged = {DAMAGED, NULL}, .damaged_count = {2, 0},
    .nonce = "00ff", .device = "cuda:1", .folder = "/data", .pace = {7, 0}, .evaluated = true, .score = {9400, -1, 2, 3},
    .reached = {4, 3, 2, 1}, .crossed = {8, 7, 6, 5}, .crossed_score = 17,
    .point_samples = 10, .point_warm_ns = 11, .point_terms = 15, .stall_ns = 16, .energy_uj = 12,
    .saved = {13, 14},
};

TEST(test_note)
{
    struct arena arena = {0};
    struct resume_note n;
    char *text = resume_note_text(&NOTE);
    if (resume_note_read("note", text, &arena, &n) < 0) fail_msg("%s", error_text());
    assert_string_equal(n.nonce, NOTE.nonce);
    assert_string_equal(n.device, NOTE.device);
    assert_string_equal(n.folder, NOTE.folder);
    assert_null(n.save);
    assert_true(n.evaluated);
    assert_memory_equal(&n.pace, &NOTE.pace, sizeof n.pace);
    assert_memory_equal(n.score, NOTE.score, sizeof n.score);
    assert_memory_equal(&n.reached, &NOTE.reached, sizeof n.reached);
    assert_memory_equal(&n.crossed, &NOTE.crossed, sizeof n.crossed);
    assert_memory_equal(&n.saved, &NOTE.saved, sizeof n.saved);
    assert_int_equal(n.point_samples, 10);
    assert_int_equal(n.point_warm_ns, 11);
    assert_int_equal(n.point_terms, 15);
    assert_int_equal(n.stall_ns, 16);
    assert_int_equal(n.energy_uj, 12);
    assert_int_equal(n.crossed_score, 17);
    assert_true(n.damaged_count[SPLIT_TRAIN] == 2 && n.damaged_count[SPLIT_TEST] == 0);
    assert_memory_equal(n.damaged[SPLIT_TRAIN], DAMAGED, sizeof DAMAGED);
    arena_free(&arena);
    free(text);
}

TEST(test_damaged_notes)
{
    static const char *const edits[][3] = {
        {"{", "[", "not a JSON object"},
        {"\"nonce\"", "\"nunce\"", "the note does not name its run"},
        {"\"device\":\"cuda:1\"", "\"device\":1", "the note does not name its run"},
        {"\"every_steps\":7", "\"every_steps\":-7", "no count \"every_steps\""},
        {"\"point_samples\":10", "\"point_samples\":\"10\"", "no count \"point_samples\""},
        {"[9400,", "[", "no list \"score\""},
        {"[4,3,2,1]", "[4,3,2.5,1]", "the list \"reached\" of the note has other entries"},
        {"\"crossed\"", "\"crossing\"", "no list \"crossed\""},
        {"[[3,70000],[]]", "[[3,70000]]", "no list \"damaged\""},
    };
    char *text = resume_note_text(&NOTE);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct arena arena = {0};
        struct resume_note n;
        char *at = strstr(text, edits[i][0]), *edited;
        if (!at) fail_msg("%s is not in %s", edits[i][0], text);
        if (asprintf(&edited, "%.*s%s%s", (int)(at - text), text, edits[i][1], at + strlen(edits[i][0])) < 0) fail_msg("failed");
        assert_refused(resume_note_read("note", edited, &arena, &n), edits[i][2]);
        arena_free(&arena);
        free(edited);
    }
    free(text);
}
