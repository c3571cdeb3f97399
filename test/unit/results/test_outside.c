// SPDX-License-Identifier: Apache-2.0
// Lines of outside programs: every accepted form, every error with its sentence, and the splitting of bytes into lines,
// wherever the reads end.
#include "runtime/common/base/text.h"
#include "submit/format/score/contest.h"
#include "tasks/tools/outside/outside.h"
#include "test/unit/test.h"

enum { ITEMS = 10000 };
static const struct contest counts = {.board = {.unit = "%", .items = ITEMS}, .items = ITEMS, .most_micro = 1000000};
static const struct contest bleu = {.board = {.unit = "BLEU"}, .items = 1000000, .most_micro = 100000000};

static struct outside_line read_ok(const char *line)
{
    struct outside_line said;
    if (outside_read(line, strlen(line), &counts, &said) < 0) fail_msg("%s: %s", line, error_text());
    return said;
}

// ---- accepted lines

static const struct {
    const char *line;
    int64_t epoch, samples, k;
    double loss;  // negative: none
} epochs[] = {
    {"{\"dawn\":\"epoch\",\"epoch\":3,\"samples\":150000,\"correct\":9412,\"items\":10000,\"loss\":0.41}", 3, 150000, 9412, 0.41},
    {"{\"dawn\":\"epoch\",\"epoch\":3}", 3, -1, -1, -1},
    {"  { \t\"dawn\": \"epoch\", \"correct\": 0, \"epoch\": 1, \"loss\": 2}  ", 1, -1, 0, 2},
    {"{\"dawn\":\"epoch\",\"epoch\":1,\"correct\":10000}", 1, -1, 10000, -1},
    {"{\"dawn\":\"epoch\",\"epoch\":1,\"score\":0.9412}", 1, -1, 9412, -1},
    {"{\"dawn\":\"epoch\",\"epoch\":1,\"score\":0.94119998812675476}", 1, -1, 9412, -1},  // 9412 / 10000 as a float
    {"{\"dawn\":\"epoch\",\"epoch\":1,\"score\":0.94129}", 1, -1, 9412, -1},              // down, never up
    {"{\"dawn\":\"epoch\",\"epoch\":1,\"score\":0.93999}", 1, -1, 9399, -1},
    {"{\"dawn\":\"epoch\",\"epoch\":1,\"score\":0.9399999}", 1, -1, 9399, -1},  // no float of 9400 / 10000
    {"{\"dawn\":\"epoch\",\"epoch\":1,\"score\":1}", 1, -1, 10000, -1},
    {"{\"dawn\":\"epoch\",\"epoch\":1,\"score\":0}", 1, -1, 0, -1},
    {":::MLLOG {\"namespace\": \"\", \"time_ms\": 1, \"event_type\": \"POINT_IN_TIME\", \"key\": \"eval_accuracy\", \"value\": "
     "0.9412, \"metadata\": {\"file\": \"train.py\", \"lineno\": 1, \"epoch_num\": 4, \"samples_count\": 200000}}",
     4, 200000, 9412, -1},
    {"7: :::MLLOG {\"key\": \"eval_accuracy\", \"value\": 0.5, \"metadata\": {\"epoch_num\": 1.25}}", 2, -1, 5000, -1},
    {":::MLLOG {\"key\": \"eval_accuracy\", \"value\": 1, \"metadata\": {\"epoch_num\": 0}}", 0, -1, 10000, -1},
    {":::MLLOG{\"key\": \"eval_accuracy\", \"value\": 0.1}", -1, -1, 1000, -1},
    {":::MLLOG {\"key\": \"eval_accuracy\", \"value\": 0.1, \"metadata\": 7}", -1, -1, 1000, -1},
};

TEST(test_epochs)
{
    for (size_t i = 0; i < sizeof epochs / sizeof *epochs; i++) {
        struct outside_line said = read_ok(epochs[i].line);
        assert_int_equal(said.kind, OUTSIDE_EPOCH);
        assert_int_equal(said.epoch.epoch, epochs[i].epoch);
        assert_int_equal(said.epoch.samples, epochs[i].samples);
        assert_int_equal(said.epoch.k, epochs[i].k);
        if (epochs[i].loss < 0) assert_true(isnan(said.epoch.loss));
        else assert_true(said.epoch.loss == epochs[i].loss);
    }
}

// Every count of every contest, printed as a share in double and in single precision, is read back unchanged.
TEST(test_every_share)
{
    int count;
    const struct contest *contests = contest_table(&count);
    for (int c = 0; c < count; c++) {
        bool counted = contests[c].items <= 50000;
        for (int64_t k = 0; k <= contests[c].items; k += counted ? 1 : 997) {
            char line[128];
            struct outside_line said;
            double share = (double)k / (double)contests[c].items;
            for (int single = 0; single <= counted; single++) {
                snprintf(line, sizeof line, "{\"dawn\":\"epoch\",\"epoch\":1,\"score\":%.*g}", single ? 9 : 17,
                         single ? (double)(float)share : share);
                if (outside_read(line, strlen(line), &contests[c], &said) < 0) fail_msg("%s: %s", line, error_text());
                assert_int_equal(said.epoch.k, k);
            }
        }
    }
}

static const struct {
    const char *line;
    enum segment segment;
} segments[] = {
    {"{\"dawn\":\"segment\",\"segment\":\"init\"}", SEGMENT_INIT},
    {"{\"dawn\":\"segment\",\"segment\":\"data\"}", SEGMENT_DATA},
    {"{\"dawn\":\"segment\",\"segment\":\"compile\"}", SEGMENT_COMPILE},
    {"{\"dawn\":\"segment\",\"segment\":\"warmup\"}", SEGMENT_WARMUP},
    {"{\"dawn\":\"segment\",\"segment\":\"train\"}", SEGMENT_TRAIN},
    {"{\"dawn\":\"segment\",\"segment\":\"evaluate\"}", SEGMENT_EVALUATE},
    {"{\"dawn\":\"segment\",\"segment\":\"checkpoint\"}", SEGMENT_CHECKPOINT},
    {"{\"dawn\":\"segment\",\"segment\":\"idle\"}", SEGMENT_IDLE},
    {":::MLLOG {\"key\": \"init_start\", \"value\": null, \"metadata\": {}}", SEGMENT_INIT},
    {":::MLLOG {\"key\": \"run_start\", \"value\": null, \"metadata\": {}}", SEGMENT_TRAIN},
    {":::MLLOG {\"key\": \"epoch_start\", \"metadata\": {\"epoch_num\": 1}}", SEGMENT_TRAIN},
    {":::MLLOG {\"key\": \"eval_start\"}", SEGMENT_EVALUATE},
    {":::MLLOG {\"key\": \"eval_stop\"}", SEGMENT_TRAIN},
    {":::MLLOG {\"key\": \"run_stop\"}", SEGMENT_IDLE},
};

TEST(test_segments)
{
    for (size_t i = 0; i < sizeof segments / sizeof *segments; i++) {
        struct outside_line said = read_ok(segments[i].line);
        assert_int_equal(said.kind, OUTSIDE_SEGMENT);
        assert_int_equal(said.segment, segments[i].segment);
    }
}

TEST(test_about)
{
    struct outside_line said = read_ok("{\"dawn\":\"about\",\"model\":\"ResNet-9\",\"parameters\":6573120,\"flops_per_sample\":7,"
                                       "\"framework\":\"PyTorch 2.4\",\"precision\":\"f16\",\"batch\":512,\"views\":2,"
                                       "\"input_size\":32,\"seed\":-3}");
    assert_int_equal(said.kind, OUTSIDE_ABOUT);
    assert_string_equal(said.about.model, "ResNet-9");
    assert_string_equal(said.about.framework, "PyTorch 2.4");
    assert_string_equal(said.about.precision, "f16");
    assert_string_equal(said.about.weights, "");
    assert_int_equal(said.about.parameters, 6573120);
    assert_int_equal(said.about.flops_per_sample, 7);
    assert_int_equal(said.about.batch, 512);
    assert_int_equal(said.about.views, 2);
    assert_int_equal(said.about.input_size, 32);
    assert_true(said.about.has_seed);
    assert_int_equal(said.about.seed, -3);
    said = read_ok("{\"dawn\":\"about\"}");
    assert_false(said.about.has_seed);
    assert_int_equal(said.about.parameters, -1);
    assert_int_equal(said.about.input_size, -1);
}

// ---- foreign lines, and faults

static const char *const others[] = {
    "",
    "epoch 3: 94.1%",
    "{}",
    "{\"dawning\":1}",
    "{\"event\":\"dawn\"}",
    "[{\"dawn\":\"epoch\",\"epoch\":1}]",
    "see {\"dawn\":\"epoch\",\"epoch\":1}",
    "{\"model\":1,\"dawn\":\"epoch\"}",  // the first member marks it
    ":::MLLOG",
    ":::MLLOG {\"key\": \"eval_accuracy\", \"value\": 0.9",  // two processes wrote into one line
    ":::MLLOG [1]",
    ":::MLLOG {\"key\": \"submission_org\", \"value\": \"x\"}",
    ":::MLLOG {\"key\": 7}",
    "\x80\xff\xfe{",
};

TEST(test_others)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_int_equal(read_ok(others[i]).kind, OUTSIDE_NOTHING);
}

#define EPOCH(members) "{\"dawn\":\"epoch\"," members "}"
#define ABOUT(members) "{\"dawn\":\"about\"," members "}"
#define MLLOG(members) ":::MLLOG {\"key\":\"eval_accuracy\"," members "}"
static const struct {
    const char *line, *says;
} wrong[] = {
    {"{\"dawn\"", "not valid JSON"},
    {"{\"dawn\":\"epoch\",\"epoch\":1", "not valid JSON"},
    {"{\"dawn\":\"epoch\",\"epoch\":1} and more", "not valid JSON"},
    {EPOCH("\"epoch\":1,\"epoch\":2"), "not valid JSON"},
    {EPOCH("\"epoch\":1,\"loss\":NaN"), "not valid JSON"},
    {EPOCH("\"epoch\":99999999999999999999"), "not valid JSON"},
    {"{\"dawn\":\"epoch\",\"epoch\":1,\"x\":\"\xff\"}", "not valid JSON"},
    {"{\"dawn\":\"epochs\"}", "\"epoch\", \"segment\" or \"about\""},
    {"{\"dawn\":1}", "\"epoch\", \"segment\" or \"about\""},
    {EPOCH("\"loss\":1"), "\"epoch\" is missing"},
    {EPOCH("\"epoch\":0"), "\"epoch\" must be between 1 and 1125899906842624; got 0"},
    {EPOCH("\"epoch\":-1"), "\"epoch\" must be between 1 and 1125899906842624; got -1"},
    {EPOCH("\"epoch\":1.5"), "\"epoch\" must be a whole number"},
    {EPOCH("\"epoch\":\"1\""), "\"epoch\" must be a whole number"},
    {EPOCH("\"epoch\":1,\"samples\":-1"), "\"samples\" must be between 0 and 1125899906842624; got -1"},
    {EPOCH("\"epoch\":1,\"samples\":1125899906842625"), "\"samples\" must be between"},
    {EPOCH("\"epoch\":1,\"correct\":10001,\"items\":10000"), "\"correct\" must be at most 10000, the number of items; got 10001"},
    {EPOCH("\"epoch\":1,\"correct\":9412,\"items\":9999"), "\"items\" must be 10000, as many as the contest has; got 9999"},
    {EPOCH("\"epoch\":1,\"correct\":0.94"), "\"correct\" must be a whole number"},
    {EPOCH("\"epoch\":1,\"items\":10000"), "\"items\" needs \"correct\""},
    {EPOCH("\"epoch\":1,\"correct\":9412,\"score\":0.94"), "exclude each other"},
    {EPOCH("\"epoch\":1,\"score\":94.12"), "(divide a percentage by 100)"},
    {EPOCH("\"epoch\":1,\"score\":1e300"), "between 0 and 1"},
    {EPOCH("\"epoch\":1,\"score\":-0.1"), "between 0 and 1"},
    {EPOCH("\"epoch\":1,\"score\":\"0.94\""), "\"score\" must be a number"},
    {EPOCH("\"epoch\":1,\"loss\":null"), "\"loss\" must be a number"},
    {EPOCH("\"epoch\":1,\"sample\":50000"), "there is no member \"sample\"; did you mean \"samples\"?"},
    {EPOCH("\"epoch\":1,\"zzz\":50000"), "there is no member \"zzz\""},
    {"{\"dawn\":\"segment\"}", "\"segment\" is missing"},
    {"{\"dawn\":\"segment\",\"segment\":7}", "\"segment\" is missing"},
    {"{\"dawn\":\"segment\",\"segment\":\"validate\"}", "there is no segment \"validate\"; there are init, data, compile"},
    {"{\"dawn\":\"segment\",\"segment\":\"process\"}", "there is no segment \"process\""},
    {"{\"dawn\":\"segment\",\"segment\":\"train\",\"epoch\":1}", "there is no member \"epoch\""},
    {ABOUT("\"model\":\"\""), "\"model\" must have 1 to 96 bytes; got 0"},
    {ABOUT("\"model\":7"), "\"model\" must be text"},
    {ABOUT("\"model\":\"a\\u202eb\""), "\"model\" cannot be shown"},
    {ABOUT("\"framework\":\"a\\nb\""), "\"framework\" cannot be shown"},
    {ABOUT("\"precision\":\"half of 32\""), "\"precision\" must be a word"},
    {ABOUT("\"precision\":\"a-word-of-17-chars\""), "\"precision\" must have 1 to 16 bytes; got 18"},
    {ABOUT("\"weights\":\"abc\""), "\"weights\" must be a SHA-256"},
    {ABOUT("\"views\":5000"), "\"views\" must be between 0 and 4096; got 5000"},
    {ABOUT("\"parameter\":5000"), "did you mean \"parameters\"?"},
    {MLLOG("\"value\":\"high\""), "eval_accuracy must be a number"},
    {MLLOG("\"value\":76.2"), "(divide a percentage by 100)"},
    {MLLOG("\"value\":0.5,\"metadata\":{\"epoch_num\":-1}"), "epoch_num is -1"},
    {MLLOG("\"value\":0.5,\"metadata\":{\"epoch_num\":1e30}"), "epoch_num is 1e+30"},
    {MLLOG("\"value\":0.5,\"metadata\":{\"samples_count\":-5}"), "samples_count is -5"},
};

// BLEU is a value up to 100, and a share of 1 in MLPerf's logs.
TEST(test_values)
{
    static const struct {
        const char *line;
        int64_t k;
    } right[] = {{"{\"dawn\":\"epoch\",\"epoch\":1,\"score\":38.76}", 38760000},
                 {"{\"dawn\":\"epoch\",\"epoch\":1,\"score\":100}", 100000000}, {MLLOG("\"value\":0.2512"), 25120000}};
    struct outside_line said;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        if (outside_read(right[i].line, strlen(right[i].line), &bleu, &said) < 0) fail_msg("%s: %s", right[i].line, error_text());
        assert_int_equal(said.epoch.k, right[i].k);
    }
    static const char more[] = "{\"dawn\":\"epoch\",\"epoch\":1,\"score\":100.5}", percent[] = MLLOG("\"value\":25.12");
    assert_int_equal(outside_read(more, sizeof more - 1, &bleu, &said), ERR_INPUT);
    assert_string_equal(error_text(), "\"score\" must be between 0 and 100; got 100.5");
    assert_int_equal(outside_read(percent, sizeof percent - 1, &bleu, &said), ERR_INPUT);
}

TEST(test_wrong)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct outside_line said;
        if (outside_read(wrong[i].line, strlen(wrong[i].line), &counts, &said) != ERR_INPUT) fail_msg("taken: %s", wrong[i].line);
        if (!strstr(error_text(), wrong[i].says)) fail_msg("%s: \"%s\" lacks \"%s\"", wrong[i].line, error_text(), wrong[i].says);
        assert_int_equal(said.kind, OUTSIDE_NOTHING);
    }
}

// ---- lines

static int note(void *context, const char *line, size_t count, int64_t number)
{
    struct text *seen = context;
    if (count > 100) text_add(seen, "%lld:(%zu)|", (long long)number, count);
    else text_add(seen, "%lld:%.*s|", (long long)number, (int)count, line);
    return 0;
}

TEST(test_cutting)
{
    static const char bytes[] = "one\ntwo\r\n\n 10%\r 20%\rthree\nend";
    size_t count = sizeof bytes - 1;
    for (size_t step = 1; step <= count; step++) {
        struct outside_stream s = {0};
        struct text seen = {0};
        for (size_t at = 0; at < count; at += step)
            assert_int_equal(outside_feed(&s, bytes + at, at + step < count ? step : count - at, note, &seen), 0);
        assert_int_equal(outside_finish(&s, note, &seen), 0);
        assert_string_equal(seen.at, "1:one|2:two|4: 10%|4: 20%|4:three|5:end|");
        assert_int_equal(outside_finish(&s, note, &seen), 0);  // nothing is reported twice
        assert_string_equal(seen.at, "1:one|2:two|4: 10%|4: 20%|4:three|5:end|");
        outside_free(&s);
        text_free(&seen);
    }
}

TEST(test_long_lines)
{
    const size_t all = 3 * OUTSIDE_LINE;
    char *bytes = malloc(all);
    memset(bytes, 'x', all);
    bytes[OUTSIDE_LINE] = '\n';          // just fits
    bytes[2 * OUTSIDE_LINE + 2] = '\n';  // one too many
    bytes[2 * OUTSIDE_LINE + 5] = '\n';
    for (size_t step = 1000; step <= all; step *= 7) {
        struct outside_stream s = {0};
        struct text seen = {0};
        for (size_t at = 0; at < all; at += step)
            assert_int_equal(outside_feed(&s, bytes + at, at + step < all ? step : all - at, note, &seen), 0);
        assert_int_equal(outside_finish(&s, note, &seen), 0);
        assert_string_equal(seen.at, "1:(65536)|3:xx|4:(65530)|");
        outside_free(&s);
        text_free(&seen);
    }
    free(bytes);
}

static int refuse(void *context, const char *line, size_t count, int64_t number)
{
    (void)line, (void)count;
    ++*(int *)context;
    return fail(ERR_INPUT, "line %lld", (long long)number);
}

TEST(test_failing)
{
    struct outside_stream s = {0};
    int calls = 0;
    assert_int_equal(outside_feed(&s, "a\nb\n", 4, refuse, &calls), ERR_INPUT);
    assert_int_equal(calls, 1);
    outside_free(&s);
}
