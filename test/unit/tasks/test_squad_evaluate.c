// SPDX-License-Identifier: Apache-2.0
// The evaluation of SQuAD: normalised texts, scores, sums, and files of predictions. The expected values come from
// evaluate-v1.1.py.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "tasks/squad/predictions.h"

TEST(what_is_left)
{
    static const struct {
        const char *text, *left;
    } cases[] = {
        {"", ""},
        {"The  Cat,\tsat!", "cat sat"},
        {"a an the", ""},
        {"theatre an-d A. \"the\"", "theatre and"},
        {"U.S.A.", "usa"},
        {"a_b the_x", "ab thex"},                                  // the underscore is deleted before words are found
        {"\xe2\x80\x94the\xe2\x80\x94""cat", "\xe2\x80\x94 \xe2\x80\x94""cat"},  // a dash stays, and bounds words
        {"the\xcc\x81 x", "\xcc\x81 x"},                           // a mark is no part of a word
        {"x\xc2\xa0y\xe3\x80\x80z\xc2\x85\x1cw", "x y z w"},       // spaces of Unicode and of ASCII
        {"x\xe2\x80\x8by\xef\xbb\xbf", "x\xe2\x80\x8by\xef\xbb\xbf"},  // U+200B and U+FEFF are none
        {"\xc3\x80\xc3\x89 STRASSE \xe1\xba\x9e", "\xc3\xa0\xc3\xa9 strasse \xc3\x9f"},
        {"\xc4\xb0", "i\xcc\x87"},                                 // one character becomes two
        // Final sigma.
        {"\xce\x91\xce\xa3 \xce\x91\xce\xa3\xce\x91 \xce\xa3", "\xce\xb1\xcf\x82 \xce\xb1\xcf\x83\xce\xb1 \xcf\x83"},
        {"\xce\x91\xce\xa3. \xce\x91\xce\xa3.\xce\x91", "\xce\xb1\xcf\x82 \xce\xb1\xcf\x83\xce\xb1"},  // a point is ignorable
        {"\xd0\x90 a \xef\xbd\x81", "\xd0\xb0 \xef\xbd\x81"},      // only the Latin letter is an article
        {"$1,000.5 (10%)", "10005 10"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text left = {0};
        evaluate_normalise(cases[i].text, &left);
        assert_string_equal(left.at, cases[i].left);
        text_free(&left);
    }
}

TEST(scores)
{
    static const struct {
        const char *prediction, *truth;
        double f1;
        bool exact;
    } cases[] = {
        {"Denver Broncos", "the denver broncos!", 1, true},
        {"Denver", "Denver Broncos", 2.0 / 3, false},
        {"broncos denver", "Denver Broncos", 1, false},
        {"x x y", "x y y", 2 * (2 / 3.0) * (2 / 3.0) / (2 / 3.0 + 2 / 3.0), false},
        {"cat", "dog", 0, false},
        {"", "", 0, true},      // both empty: no word is shared
        {"the", "!", 0, true},
        {"", "x", 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct evaluate_score score = evaluate_pair(cases[i].prediction, cases[i].truth);
        assert_true(score.f1 == cases[i].f1);
        assert_int_equal(score.exact, cases[i].exact);
    }
    const struct squad_answer answers[] = {{"a b c d", 0}, {"c", 0}, {"the", 0}};
    struct evaluate_score best = evaluate_answers("b c d", answers, 3);
    assert_true(best.f1 == 1);  // "a" is an article
    assert_true(best.exact);
    best = evaluate_answers("c d", answers, 3);
    assert_true(best.f1 == 2 * 1.0 * (2 / 3.0) / (1.0 + 2 / 3.0));
    assert_false(best.exact);
    best = evaluate_answers("", answers, 3);
    assert_true(best.f1 == 0);
    assert_true(best.exact);
}

TEST(sums)
{
    const struct squad_answer answer = {"one two three", 0};
    const struct squad_question questions[] = {{"a", "?", 0, &answer, 1}, {"b", "?", 0, &answer, 1}, {"c", "?", 0, &answer, 1}};
    const struct squad squad = {.question = questions, .questions = 3};
    struct predictions *p;
    static const char json[] = "{\"a\": \"one\", \"c\": \"One two three.\", \"other\": \"x\"}";
    assert_int_equal(predictions_parse("p", json, sizeof json - 1, &p), 0);
    struct evaluate_total total = predictions_score(p, &squad);
    assert_int_equal(total.questions, 3);
    assert_int_equal(total.missing, 1);
    assert_int_equal(total.exact, 1);
    assert_true(evaluate_f1(&total) == 100.0 * (2 * 1.0 * (1 / 3.0) / (1.0 + 1 / 3.0) + 1) / 3);
    assert_true(evaluate_exact(&total) == 100.0 * 1 / 3);
    predictions_free(p);
    const struct evaluate_total none = {0};
    assert_true(evaluate_f1(&none) == 0 && evaluate_exact(&none) == 0);
}

TEST_WITH(files_of_predictions, set_up, leave)
{
    struct predictions *p;
    static const struct {
        const char *json, *words;
    } wrong[] = {
        {"", "p: line 1"},
        {"[]", "p is not an object of ids and texts"},
        {"{\"a\": 1}", "p: the prediction of a is not a text"},
        {"{\"a\": \"x\", \"a\": \"y\"}", "duplicate"},
        {"{\"a\": \"\xff\"}", "p: line 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(predictions_parse("p", wrong[i].json, strlen(wrong[i].json), &p), ERR_INPUT, wrong[i].words);
        assert_null(p);
    }
    const char json[] = "{\"z\": \"\\\"\\n\", \"a\": \"\"}";
    assert_int_equal(file_write(in("p.json"), json, strlen(json)), 0);
    assert_int_equal(predictions_open(in("p.json"), &p), 0);
    assert_int_equal(predictions_count(p), 2);
    assert_string_equal(predictions_of(p, "z"), "\"\n");
    assert_string_equal(predictions_of(p, "a"), "");
    assert_null(predictions_of(p, "b"));
    predictions_free(p);
}
