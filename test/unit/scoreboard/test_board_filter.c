// SPDX-License-Identifier: Apache-2.0
// Query strings of boards: what they mean, their canonical form, every refusal; values as people read them; the words.

#include "scoreboard/rank/board.h"
#include "scoreboard/store/problem.h"
#include "test/unit/test.h"

TEST(test_narrowing)
{
    static const struct {
        const char *query;
        int count;
    } cases[] = {
        {"", 0},
        {"rank=group&sort=cost&order=desc&limit=7&cursor=12", 0},
        {"hardware=V100", 1},
        {"model_part=net", 1},
        {"trust=imported&target=0.75", 0},  // the contest's own target leaves nothing out
        {"trust=signed&target=0.73", 1},    // nor does a level below the default
        {"trust=reproduced", 1},
        {"source=dawnbench", 1},
        {"source=dawnbench&trust=checked", 2},
        {"devices=8&devices_max=16&views_max=2&since=2018-02-28&until=2020-02-29&source=dawn&division=open", 7},
        {"energy_max=25000&sort=energy", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct filter f = {.contest = contest_find("squad")};
        assert_int_equal(filter_read(cases[i].query, &f), 0);
        assert_int_equal(filter_narrowing(&f), cases[i].count);
    }
}

TEST(test_canonical_form)
{
    static const struct {
        const char *query, *canonical;
    } cases[] = {
        {"", ""},
        {"&&", ""},
        {"rank=classic&sort=proof&order=asc&limit=50&trust=checked", ""},
        {"trust=imported", "trust=imported"},
        {"trust=", ""},
        {"source=dawnbench&trust=imported", "source=dawnbench"},
        {"trust=checked&source=dawnbench", "trust=checked&source=dawnbench"},
        {"source=dawn", "source=dawn"},
        {"rank=group", "rank=group"},
        {"author=&devices=&cursor=&rank", ""},
        {"limit=7&rank=group&author=a%20b", "rank=group&author=a+b&limit=7"},
        {"hardware=~V100&framework=PyTorch+1.0&model=ResNet%2B", "hardware=~V100&framework=PyTorch+1.0&model=ResNet%2B"},
        {"author=++trimmed++", "author=trimmed"},
        {"author=%C3%A9t%c3%a9", "author=%C3%A9t%C3%A9"},
        {"author=%3Cb%3E%22%26%3D%23", "author=%3Cb%3E%22%26%3D%23"},
        {"precision=bf16&division=open&trust=signed", "precision=bf16&division=open&trust=signed"},
        {"devices=8&devices_max=16&views_max=2", "devices=8&devices_max=16&views_max=2"},
        {"sort=energy&energy_max=1099511627776", "energy_max=1099511627776&sort=energy"},
        {"model_part=+net+1&model=", "model=~net+1"},
        {"model_part=~x", "model=~x"},
        {"model_part=", ""},
        {"since=2018-02-28&until=2020-02-29", "since=2018-02-28&until=2020-02-29"},
        {"target=0.730000", "target=0.73"},
        {"target=0.94", "target=0.94"},
        {"target=1", "target=1.0"},
        {"target=1.0", "target=1.0"},
        {"target=0.000001", "target=0.000001"},
        {"source=dawnbench&sort=cost&order=desc", "source=dawnbench&sort=cost&order=desc"},
        {"sort=accuracy", "sort=score"},
        {"cursor=123", "cursor=123"},
        {"limit=200", "limit=200"},
        {"r%61nk=group", "rank=group"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct filter f = {0}, again = {0};
        struct text text = {0}, second = {0};
        if (filter_read(cases[i].query, &f) < 0) print_error("%s: %s\n", cases[i].query, error_text()), _fail(__FILE__, __LINE__);
        filter_write(&f, &text);
        assert_string_equal(text.at != NULL ? text.at : "", cases[i].canonical);
        assert_int_equal(filter_read(text.at, &again), 0);
        filter_write(&again, &second);
        assert_string_equal(second.at != NULL ? second.at : "", cases[i].canonical);
        assert_memory_equal(&f, &again, sizeof f);
        text_free(&text);
        text_free(&second);
    }
}

TEST(test_meaning)
{
    struct filter f = {.contest = contest_find("cifar10"), .board = BOARD_INFERENCE_COST};
    assert_int_equal(filter_read(NULL, &f), 0);
    assert_ptr_equal(f.contest, contest_find("cifar10"));  // what the address says is left alone
    assert_int_equal(f.board, BOARD_INFERENCE_COST);
    assert_int_equal(f.limit, 50);
    assert_int_equal(f.trust, TRUST_CHECKED);
    assert_int_equal(filter_read("target=0.73&trust=reproduced&sort=hardware&order=desc&limit=1&views_max=3", &f), 0);
    assert_int_equal(f.target_micro, 730000);
    assert_int_equal(f.trust, TRUST_REPRODUCED);
    assert_int_equal(f.sort, SORT_HARDWARE);
    assert_true(f.descending);
    assert_int_equal(f.limit, 1);
    assert_int_equal(f.views_max, 3);
    assert_int_equal(filter_read("", &f), 0);  // nothing of before is left
    assert_int_equal(f.target_micro, 0);
}

TEST(test_refusals)
{
    static const struct {
        const char *query, *names;
    } cases[] = {
        {"colour=red", "colour"},
        {"rank=best", "rank is classic or group"},
        {"author=a&author=b", "author is given twice"},
        {"devices=&devices=2", "devices"},
        {"devices=0", "devices"},
        {"devices=-1", "devices"},
        {"devices=1e3", "devices"},
        {"devices=99999999999999999999", "devices"},
        {"limit=201", "limit"},
        {"limit=0", "limit"},
        {"trust=high", "trust"},
        {"since=2018-02-29", "since"},
        {"since=2018-2-1", "since"},
        {"until=2018-13-01", "until"},
        {"until=2018-01-01x", "until"},
        {"target=94", "target"},
        {"target=0", "target"},
        {"target=0.", "target"},
        {"target=0.0000001", "target"},
        {"target=1.5", "target"},
        {"target=.5", "target"},
        {"division=half", "division is closed or open"},
        {"source=me", "source is dawn or dawnbench"},
        {"order=up", "order"},
        {"sort=speed", "sort"},
        {"cursor=abc", "cursor"},
        {"cursor=-1", "cursor"},
        {"cursor=99999999999999999999", "cursor"},
        {"author=%", "author"},
        {"author=%4", "author"},
        {"author=%zz", "author"},
        {"author=%00", "author"},
        {"author=a%0Ab", "author"},
        {"author=%7f", "author"},
        {"author=%ff", "author"},
        {"author=%E2%80%AE", "author"},
        {"author=~part", "author"},
        {"model=~", "model"},
        {"precision=a%20b", "precision"},
        {"%ff=1", "the key of a filter holds characters that cannot be shown"},
        {"hard%E2%80%AEware=1", "the key of a filter holds"},
        {"averylongkeythatnofiltereverhas=1", "averylong"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct filter f = {0};
        if (filter_read(cases[i].query, &f) != ERR_INPUT) fail_msg("%s is accepted", cases[i].query);
        if (strstr(error_text(), cases[i].names) == NULL)
            print_error("%s: %s\n", cases[i].query, error_text()), _fail(__FILE__, __LINE__);
    }
    struct filter f = {0};
    char *query = calloc(1, 5000);
    memset(query, '&', 4097);
    assert_int_equal(filter_read(query, &f), ERR_INPUT);
    memset(query, 'a', 4000);
    memcpy(query, "author=", 7);
    query[7 + FILTER_TEXT] = 0;
    assert_int_equal(filter_read(query, &f), ERR_INPUT);
    query[7 + FILTER_TEXT - 1] = 0;
    assert_int_equal(filter_read(query, &f), 0);
    free(query);
}

TEST(test_values)
{
    static const struct {
        enum board board;
        double value;
        const char *text;
    } cases[] = {
        {BOARD_TRAINING_TIME, 0, "0.00 s"},
        {BOARD_TRAINING_TIME, 12.345, "12.35 s"},
        {BOARD_TRAINING_TIME, 59.991, "1 min 00 s"},
        {BOARD_TRAINING_TIME, 60, "1 min 00 s"},
        {BOARD_TRAINING_TIME, 296.2, "4 min 57 s"},
        {BOARD_TRAINING_TIME, 297, "4 min 57 s"},
        {BOARD_TRAINING_TIME, 3599.5, "1 h 00 min 00 s"},
        {BOARD_TRAINING_TIME, 7384, "2 h 03 min 04 s"},
        {BOARD_TRAINING_TIME, 1.1 * 3600, "1 h 06 min 00 s"},  // 3960.0000000000005
        {BOARD_TRAINING_TIME, 36000, "10 h 00 min"},
        {BOARD_TRAINING_TIME, 1385652.5, "384 h 55 min"},
        {BOARD_TRAINING_COST, 0.0212, "$0.0212"},
        {BOARD_TRAINING_COST, 42.351, "$42.36"},
        {BOARD_TRAINING_COST, 1e-9, "$0.00000001"},
        {BOARD_TRAINING_COST, 0, "$0.00"},
        {BOARD_TRAINING_COST, 0.1051, "$0.106"},
        {BOARD_TRAINING_COST, 0.99951, "$1.000"},
        {BOARD_TRAINING_COST, 7.4255, "$7.43"},
        {BOARD_TRAINING_COST, 1500, "$1500.00"},
        {BOARD_INFERENCE_LATENCY, 0.2674, "0.268 ms"},
        {BOARD_INFERENCE_LATENCY, 22.5, "22.50 ms"},
        {BOARD_INFERENCE_LATENCY, 22000, "22000 ms"},
        {BOARD_INFERENCE_COST, 2e-6, "$0.0200 per 10,000"},
        {BOARD_TRAINING_TIME, -1, "-"},
        {BOARD_TRAINING_COST, -1, "-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[BOARD_VALUE];
        assert_string_equal(board_value(cases[i].board, cases[i].value, text), cases[i].text);
    }
    static const double hostile[] = {1e300, 1e12, 9.2e18, 1e-300, 0.0 / 1.0};
    for (int board = 0; board < BOARDS; board++)
        for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
            char text[BOARD_VALUE];
            assert_true(strlen(board_value((enum board)board, hostile[i], text)) < BOARD_VALUE);
        }
}

TEST(test_words)
{
    for (int i = 0; i < BOARDS; i++) {
        enum board board;
        assert_true(board_find(board_word((enum board)i), &board));
        assert_int_equal(board, i);
        assert_true(*board_title(board) != 0 && *board_unit(board) != 0);
        for (int r = 0; r < RANKS; r++) assert_true(strlen(board_counts(board, (enum rank)r)) > 20);
    }
    for (int i = 0; i < TRUSTS; i++)
        assert_true(*trust_word((enum trust)i) != 0 && *trust_title((enum trust)i) != 0 && *trust_what((enum trust)i) != 0);
    enum board board;
    assert_false(board_find("speed", &board));
}

TEST(test_problems)
{
    struct findings findings = {0};
    struct text text = {0};
    finding_add(&findings, CHECK_CHAIN, "point %d", 3);
    finding_add(&findings, CHECK_DIRTY, "changed");
    problem_write(PROBLEM_CHECKS, "2 \"checks\"", &findings, &text);
    json_t *value = json_loads(text.at, 0, NULL);
    assert_non_null(value);
    assert_string_equal(canonical_text(value, "type"), "about:blank");
    assert_int_equal(canonical_int(value, "status"), 422);
    assert_string_equal(canonical_text(value, "code"), "checks-failed");
    assert_string_equal(canonical_text(value, "detail"), "2 \"checks\"");
    const json_t *first = json_array_get(canonical_at(value, "checks"), 0),
                 *second = json_array_get(canonical_at(value, "checks"), 1);
    assert_string_equal(canonical_text(first, "code"), "chain-broken");
    assert_string_equal(canonical_text(first, "level"), "reject");
    assert_string_equal(canonical_text(second, "level"), "flag");
    json_decref(value);
    text_free(&text);
    for (int i = 0; i < PROBLEMS; i++) {
        problem_write((enum problem)i, "broken \xff text", NULL, &text);  // never more than JSON can hold
        value = json_loads(text.at, 0, NULL);
        assert_non_null(value);
        assert_int_equal(canonical_int(value, "status"), problem_status((enum problem)i));
        json_decref(value);
        text_free(&text);
    }
}
