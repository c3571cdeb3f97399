// SPDX-License-Identifier: Apache-2.0
// SQuAD's JSON: places of bytes, wrong files and their sentences, the split by article; and the generated stories.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/read/squad/squad_kind.h"
#include "data/read/squad/squad_parse.h"
#include "runtime/common/base/text.h"

static struct squad squad;
static struct arena arena;

static int parse(const char *json)
{
    arena_free(&arena);
    return squad_parse("x.json", json, strlen(json), &arena, &squad);
}

static int tear_down_arena(void **state)
{
    arena_free(&arena);
    return leave(state);
}

#define QUESTION(id, answers) "{\"id\": \"" id "\", \"question\": \"Who?\", \"answers\": [" answers "]}"
#define ANSWER(text, start) "{\"text\": \"" text "\", \"answer_start\": " #start "}"
#define ONE(context, questions)                                                                                        \
    "{\"version\": \"1.1\", \"data\": [{\"title\": \"T\", \"paragraphs\": [{\"context\": \"" context           \
    "\", \"qas\": [" questions "]}]}]}"

TEST_WITH(places_are_bytes, set_up, tear_down_arena)
{
    // é is one character; e with U+0301 two; the emoji one of four bytes, written as a pair of surrogates.
    assert_int_equal(parse(ONE("caf\\u00e9 cafe\\u0301 \\ud83d\\ude00 Zo\xc3\xab",
                               QUESTION("a", ANSWER("caf\\u00e9", 0) "," ANSWER("cafe\\u0301", 5) ","
                                             ANSWER("Zo\xc3\xab", 13)) ","
                               QUESTION("b", ANSWER("\\ud83d\\ude00", 11)))), 0);
    assert_int_equal(squad.questions, 2);
    assert_int_equal(squad.answers, 4);
    assert_int_equal(squad.lost, 0);
    assert_null(squad.lost_first);
    const int64_t starts[] = {0, 6, 18};
    for (int i = 0; i < 3; i++) assert_int_equal(squad.question[0].answer[i].start, starts[i]);
    assert_int_equal(squad.question[1].answer[0].start, 13);
    assert_string_equal(squad.context[0] + 13, "\xf0\x9f\x98\x80 Zo\xc3\xab");
    assert_string_equal(squad.article[0].title, "T");
    assert_string_equal(squad.question[1].id, "b");
}

TEST_WITH(contexts_of_any_length, set_up, tear_down_arena)
{
    struct text json = {0};
    text_add(&json, "{\"data\": [{\"title\": \"long\", \"paragraphs\": [{\"context\": \"");
    for (int i = 0; i < 100000; i++) text_add(&json, "w\xc3\xb6rd%05d ", i);  // 10 characters, 11 bytes
    text_add(&json, "\", \"qas\": [");
    const int at[] = {0, 25, 26, 51, 99999};
    for (int i = 0; i < 5; i++)
        text_add(&json, "%s{\"id\": \"%d\", \"question\": \"?\", \"answers\": [{\"text\": \"%05d\", \"answer_start\": %d}]}",
                 i > 0 ? ", " : "", i, at[i], at[i] * 10 + 4);
    text_add(&json, "]}]}]}");
    assert_int_equal(parse(json.at), 0);
    assert_int_equal(squad.lost, 0);
    for (int i = 0; i < 5; i++) assert_int_equal(squad.question[i].answer[0].start, at[i] * 11 + 5);
    text_free(&json);
}

TEST_WITH(answers_that_stand_nowhere, set_up, tear_down_arena)
{
    assert_int_equal(parse(ONE("one two", QUESTION("a", ANSWER("two", 3) "," ANSWER("two", 4)) ","
                               QUESTION("b", ANSWER("", 0) "," ANSWER("two", 5)) ","
                               QUESTION("c", ANSWER("two!", 4) "," ANSWER("one", 4611686018427387904)))), 0);
    assert_int_equal(squad.lost, 5);
    assert_string_equal(squad.lost_first, "question a: \"two\" is not in its context at character 3");
    assert_int_equal(squad.question[0].answer[0].start, SQUAD_NOWHERE);
    assert_int_equal(squad.question[0].answer[1].start, 4);
    assert_int_equal(squad.question[2].answer[1].start, SQUAD_NOWHERE);
}

TEST_WITH(files_that_are_wrong, set_up, tear_down_arena)
{
    static const struct {
        const char *json, *words;
    } wrong[] = {
        {"", "x.json: byte 0: "},
        {"[1, 2]", "x.json: there is no list \"data\" of articles: this is not SQuAD's JSON"},
        {"{\"data\": {}}", "no list \"data\""},
        {"{\"data\": []}", "x.json: there is no question in it"},
        {"{\"data\": [], \"data\": []}", "duplicate"},
        {"{\"data\": [7]}", "x.json: article 1 has no list of paragraphs"},
        {"{\"data\": [{\"title\": \"T\", \"paragraphs\": [{\"qas\": []}]}]}",
         "article 1, paragraph 1: it has no text \"context\""},
        {"{\"data\": [{\"title\": \"T\", \"paragraphs\": [{\"context\": \"x\"}]}]}", "it has no list \"qas\" of questions"},
        {"{\"data\": [{\"paragraphs\": [{\"context\": \"x\", \"qas\": [1]}]}]}", "article 1: it has no title"},
        {ONE("", QUESTION("a", ANSWER("x", 0))), "x.json: article 1: \"T\", paragraph 1: its context is empty"},
        {ONE("x", "7"), "article 1: \"T\", paragraph 1: question 1: it has no id"},
        {ONE("x", "{\"id\": \"a\", \"answers\": []}"), "question 1: id a has no text \"question\""},
        {ONE("x", "{\"id\": \"a\", \"question\": \"?\"}"), "question 1: id a has no list of answers"},
        {ONE("x", QUESTION("a", "")), "question 1: id a has no answer: such questions are of SQuAD 2.0"},
        {ONE("x", QUESTION("a", ANSWER("x", 0)) ", {\"id\": \"b\", \"question\": \"?\", \"is_impossible\": true, \"answers\": ["
             ANSWER("x", 0) "]}"), "question 2: id b has no answer: such questions are of SQuAD 2.0"},
        {ONE("x", QUESTION("a", "{\"answer_start\": 0}")), "id a: answer 1 has no text"},
        {ONE("x", QUESTION("a", ANSWER("x", 0) ", {\"text\": \"x\"}")), "id a: answer 2 has no \"answer_start\" from 0 on"},
        {ONE("x", QUESTION("a", ANSWER("x", -1))), "has no \"answer_start\" from 0 on"},
        {ONE("x", QUESTION("a", ANSWER("x", 0.5))), "has no \"answer_start\""},
        {ONE("x", QUESTION("a", ANSWER("x", 0)) "," QUESTION("a", ANSWER("x", 0))), "two questions have the id a"},
        {ONE("x\xff", QUESTION("a", ANSWER("x", 0))), "unable to decode byte 0xff"},
        {ONE("x\\ud800", QUESTION("a", ANSWER("x", 0))), "x.json: byte "},
        {ONE("x\\u0000y", QUESTION("a", ANSWER("x", 0))), "x.json: byte "},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_fails(parse(wrong[i].json), ERR_INPUT, wrong[i].words);
    struct text many = {0};
    for (int i = 0; i <= SQUAD_ANSWERS; i++) text_add(&many, "%s%s", i > 0 ? "," : "", ANSWER("x", 0));
    struct text json = {0};
    text_add(&json, ONE("x", "{\"id\": \"a\", \"answers\": [%s]}"), many.at);
    assert_fails(parse(json.at), ERR_INPUT, "question 1 has more than 1024 answers");
    text_free(&json);
    text_free(&many);
}

// ---- data sets

// Articles with one paragraph each: titles "C12", "C11", ...; article i has i % 3 questions.
static void put_articles(const char *name, int count)
{
    struct text json = {0};
    text_add(&json, "{\"version\": \"1.1\", \"data\": [");
    for (int i = 0; i < count; i++) {
        text_add(&json, "%s{\"title\": \"%c%02d\", \"paragraphs\": [{\"context\": \"caf\xc3\xa9 number %d\", \"qas\": [",
                 i > 0 ? ", " : "", i % 2 ? 'b' : 'C', count - i, i);
        for (int k = 0; k < i % 3; k++)
            text_add(&json, "%s{\"id\": \"%d-%d\", \"question\": \"Which %d?\", \"answers\": [" ANSWER("number %d", 5) "]}",
                     k > 0 ? ", " : "", i, k, k, i);
        text_add(&json, "]}]}");
    }
    text_add(&json, "]}");
    put(name, json.at, json.length);
    text_free(&json);
}

TEST_WITH(both_files, set_up, leave)
{
    struct dataset *ds;
    enum dataset_verdict verdict;
    char hex[DIGEST_HEX], of_file[DIGEST_HEX], text[64];
    int32_t pair[4];
    int64_t length;
    assert_fails(dataset_open("squad", folder, &ds), ERR_MISSING,
                 "train-v1.1.json is missing; \"dawn data fetch squad\" gets it");
    make_folder("squad");
    put_articles("squad/train-v1.1.json", 6);
    assert_fails(dataset_open("squad", folder, &ds), ERR_IO, "dev-v1.1.json");
    put_articles("squad/dev-v1.1.json", 3);
    assert_int_equal(dataset_open("squad", folder, &ds), 0);
    const struct dataset_facts *facts = dataset_facts(ds);
    assert_string_equal(facts->split_name[SPLIT_TEST], "dev");
    assert_int_equal(facts->count[SPLIT_TRAIN], 6);
    assert_int_equal(facts->count[SPLIT_TEST], 3);
    assert_int_equal(dataset_field(ds, "contexts")->shape.dim[0], 14);
    assert_int_equal(dataset_field(ds, "questions")->shape.dim[0], 8);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "answers", 1, 2, pair), 0);
    assert_int_equal(pair[0], 6);
    assert_int_equal(pair[1], 14);
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "contexts", 2, text, sizeof text, &length), 0);
    assert_int_equal(length, 14);
    assert_memory_equal(text, "caf\xc3\xa9 number 2", 14);
    assert_fails(dataset_item(ds, SPLIT_TEST, "contexts", 2, text, 13, &length), ERR_USAGE, "the buffer holds 13");
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "questions", 2, text, sizeof text, &length), 0);
    assert_memory_equal(text, "Which 1?", 8);
    int32_t all[6];
    assert_int_equal(dataset_lengths(ds, SPLIT_TRAIN, "questions", all), 0);
    for (int i = 0; i < 6; i++) assert_int_equal(all[i], 8);
    assert_int_equal(dataset_lengths(ds, SPLIT_TEST, "contexts", all), 0);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    assert_false(facts->official);
    assert_int_equal(dataset_content_digest(ds, SPLIT_TEST, hex), 0);
    assert_int_equal(digest_file(in("squad/dev-v1.1.json"), of_file), 0);
    assert_string_equal(hex, of_file);
    dataset_close(ds);
}

TEST_WITH(split_by_article, set_up, leave)
{
    struct dataset *ds;
    put_articles("dev-v1.1.json", 13);
    assert_int_equal(dataset_open("squad-split", folder, &ds), 0);
    // Sorted by bytes: C01 C03 C05 C07 C09 C11 C13 b02 b04 b06 b08 b10 b12. Numbers 3 and 9 are C07 and b06.
    const struct squad *train = squad_of(ds, SPLIT_TRAIN), *test = squad_of(ds, SPLIT_TEST);
    assert_int_equal(test->articles, 2);
    assert_string_equal(test->article[0].title, "C07");  // article 6 of the file, which has no question
    assert_string_equal(test->article[1].title, "b06");  // article 7, which has one
    assert_int_equal(test->questions, 1);
    assert_int_equal(test->answers, 1);
    assert_string_equal(test->question[0].id, "7-0");
    assert_int_equal(test->question[0].paragraph, 1);
    assert_string_equal(test->context[1], "caf\xc3\xa9 number 7");
    assert_int_equal(train->articles, 11);
    assert_int_equal(train->questions, 11);
    for (int64_t i = 0; i < train->questions; i++) {
        const struct squad_question *q = &train->question[i];
        int article, k;
        assert_int_equal(sscanf(q->id, "%d-%d", &article, &k), 2);
        char context[32];
        snprintf(context, sizeof context, "caf\xc3\xa9 number %d", article);
        assert_string_equal(train->context[q->paragraph], context);
        assert_memory_equal(context + q->answer->start, q->answer->text, strlen(q->answer->text));
    }
    dataset_close(ds);
    put_articles("dev-v1.1.json", 3);
    assert_fails(dataset_open("squad-split", folder, &ds), ERR_INPUT, "too few articles to split");
}

// The digests of the boards are functions of the published file's.
TEST_WITH(digests_of_the_boards, set_up, leave)
{
    struct dataset *ds;
    char hex[DIGEST_HEX], line[160], expected[DIGEST_HEX], of_file[DIGEST_HEX];
    put_articles("dev-v1.1.json", 13);
    assert_int_equal(digest_file(in("dev-v1.1.json"), of_file), 0);
    assert_int_equal(dataset_open("squad-split", folder, &ds), 0);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        int n = snprintf(line, sizeof line, "squad-split 1 %s of %s", s == SPLIT_TRAIN ? "train" : "test", of_file);
        digest_bytes(line, (size_t)n, expected);
        assert_int_equal(dataset_digest(ds, s, hex), 0);
        assert_string_equal(hex, expected);
    }
    dataset_close(ds);
}

// ---- stories

TEST_WITH(stories_hold, set_up, leave)
{
    struct dataset *ds;
    struct text all = {0};
    int64_t accents = 0;
    assert_int_equal(dataset_open("stories", NULL, &ds), 0);
    const struct dataset_facts *facts = dataset_facts(ds);
    assert_true(facts->synthetic);
    assert_int_equal(facts->count[SPLIT_TRAIN], 3000);
    assert_int_equal(facts->count[SPLIT_TEST], 600);
    assert_true(dataset_field(ds, "contexts")->shape.dim[0] <= 640);
    assert_true(dataset_field(ds, "questions")->shape.dim[0] <= 96);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        const struct squad *set = squad_of(ds, s);
        assert_int_equal(set->paragraphs, set->questions / 5);
        for (int64_t i = 0; i < set->questions; i++) {
            const struct squad_question *q = &set->question[i];
            const char *context = set->context[q->paragraph], *text = q->answer->text;
            assert_memory_equal(context + q->answer->start, text, strlen(text));
            for (const char *c = context; *c != '\0'; c++) accents += (unsigned char)*c >= 0x80;
            text_add(&all, "%s\n%s\n%s\n%s %lld\n", context, q->id, q->text, text, (long long)q->answer->start);
        }
    }
    assert_true(accents > 1000);
    char hex[DIGEST_HEX];
    digest_bytes(all.at, all.length, hex);
    // If this value changes, the data set has changed: raise VERSION in stories.c.
    assert_string_equal(hex, "ee73ad96c25b9cd1ed210312378f5f02ed3147bb239b96221e44b98859661a6b");
    text_free(&all);
    dataset_close(ds);
    assert_int_equal(dataset_open_noise("stories", &ds), 0);
    assert_null(squad_of(ds, SPLIT_TRAIN));
    dataset_close(ds);
}
