// SPDX-License-Identifier: Apache-2.0
// The chain against hashes that another program computed, and the rules of canonical JSON.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "submit/format/canonical.h"
#include "submit/format/chain.h"

#include <cmocka.h>

static const char *const data[] = {"d2", "d1"};  // hashed in sorted order
static const struct chain_root root = {.version = 1, .nonce = "00ff", .task_digest = "t", .binary_digest = "b",
                                       .data_digests = data, .data_count = 2, .seed = 7, .recipe_digest = "r"};
static const struct chain_point point = {.step = 1, .t_ns = 40, .classic_ns = 30, .warm_ns = 10, .warm_with_evaluation_ns = 20,
                                         .samples = 50000, .score = {9400}, .loss_micro = 1234567};

// The expected values come from Python: hashlib.sha256 of the texts in the comments.
static void hashes_are_as_documented(void **state)
{
    (void)state;
    struct chain chain;
    char hex[DIGEST_HEX];
    chain_begin(&chain, &root);
    chain_hex(&chain, hex);
    // {"binary":"b","data":["d1","d2"],"nonce":"00ff","recipe":"r","seed":7,"task":"t"}
    assert_string_equal(hex, "3afc42f5834ea9dd381d34f08c66bb3c862f69acb0796be5ee3a27eada3d8cda");
    chain_add(&chain, &point);
    chain_hex(&chain, hex);
    // 32 bytes of the hash above, then
    // {"classic_ns":30,"epoch":1,"k":9400,"loss":1234567,"samples":50000,"t_ns":40,"warm_ns":10,"warm_with_evaluation_ns":20}
    assert_string_equal(hex, "5aaf7e19d8c851f00b8213ac97a8bc8ad80e651699ca191e72cd72e98bbca339");
    struct chain_point second = point;
    second.step = 2;
    second.score[0] = RUN_SCORE_NONE;  // not evaluated: no k in the text
    chain_add(&chain, &second);
    chain_hex(&chain, hex);
    assert_string_equal(hex, "731be92c31d3b3ff03736e2e301178d683c89af02d8dd6ae1cb71555a8347fd4");
}

// Version 2: steps, fractions of an epoch, several metrics. Worked out in Python as above.
static const struct run_metric metrics[] = {{"top5", "%", false, 50000}, {"wer", "", true, 0}};
static const struct chain_root root_2 = {.version = 2, .nonce = "00ff", .task_digest = "t", .binary_digest = "b",
                                         .data_digests = data, .data_count = 2, .seed = 7, .recipe_digest = "r",
                                         .metrics = metrics, .metric_count = 2};
static const struct chain_point point_2 = {.step = 25, .epoch_micro = 500000, .t_ns = 40, .classic_ns = 30, .warm_ns = 10,
                                           .warm_with_evaluation_ns = 20, .samples = 50000, .stall_ns = 3,
                                           .loss_micro = 1234567, .metrics = metrics, .metric_count = 2, .score = {9400, -5}};

static void version_2_hashes_are_as_documented(void **state)
{
    (void)state;
    struct chain chain;
    char hex[DIGEST_HEX];
    chain_begin(&chain, &root_2);
    chain_hex(&chain, hex);
    // {"binary":"b","chain":2,"data":["d1","d2"],"metrics":[{"items":50000,"lower_is_better":0,"name":"top5","unit":"%"},
    // {"items":0,"lower_is_better":1,"name":"wer","unit":""}],"nonce":"00ff","recipe":"r","seed":7,"task":"t"}
    assert_string_equal(hex, "c293610af93dfc0f4019cb52f0ab5ec7ecb5f0c1a324944736ad294aae3cf089");
    chain_add(&chain, &point_2);
    chain_hex(&chain, hex);
    // {"classic_ns":30,"epoch_micro":500000,"loss":1234567,"samples":50000,"scores":[{"metric":"top5","score":9400},
    // {"metric":"wer","score":-5}],"stall_ns":3,"step":25,"t_ns":40,"warm_ns":10,"warm_with_evaluation_ns":20}
    assert_string_equal(hex, "5da0f9e5a44ddce81f19eef23015209cdf6e2d890fa9e3eec3027b7efdc2a34f");
    struct chain_point second = point_2;
    second.step = 26;
    second.score[0] = second.score[1] = RUN_SCORE_NONE;  // not evaluated: no scores in the text
    chain_add(&chain, &second);
    chain_hex(&chain, hex);
    assert_string_equal(hex, "2f223426637c0adbf52e823eb68deabf6f43f316f6486353489c4f1ec188b75e");
}

// Version 3: the root is over members of the statement, and so are the end and a latency. Worked out in Python as above.
static void version_3_hashes_are_as_documented(void **state)
{
    (void)state;
    struct chain chain;
    char hex[DIGEST_HEX], root_hex[DIGEST_HEX];
    json_t *run = json_pack("{s:s, s:i, s:{s:s, s:i, s:s}, s:{s:s, s:i}, s:s, s:i, s:i}", "nonce", "00ff", "seed", 7, "model",
                            "name", "m", "parameters", 5, "weights_digest", "w", "price", "date", "2026-01-01",
                            "total_micro_usd", 5, "status", "done", "ended_ms", 9, "chain", 3);
    json_t *latency = json_pack("{s:i, s:{s:s}, s:{s:s, s:i}, s:s}", "k", 3, "hardware", "cpu", "c", "price", "source", "user",
                                "total_micro_usd", 4, "hash", "h");
    assert_int_equal(chain_version(run), 3);
    assert_int_equal(chain_bind(&chain, run), 0);
    chain_hex(&chain, root_hex);
    // {"chain":3,"run":{"model.name":"m","model.parameters":5,"nonce":"00ff","price.date":"2026-01-01","seed":7}}
    assert_string_equal(root_hex, "6afc7109f2e0f01dbe6a89517c75cb1a5c62834c8b1a050f2f2f368aedfb4337");
    // 32 bytes of the hash above, then {"end":{"ended_ms":9,"model.weights_digest":"w","status":"done"}}
    assert_int_equal(chain_end(&chain, run, hex), 0);
    assert_string_equal(hex, "f682adfec5f3e82cdae9dd8a55123fce9b1a7e4c9fc6eed74e42bf6cabf506e2");
    // the same 32 bytes, then {"latency":{"hardware":{"cpu":"c"},"k":3,"price.source":"user"}}
    assert_int_equal(chain_latency(root_hex, latency, hex), 0);
    assert_string_equal(hex, "bb6a90362ce92f8429a595003792aa40c75df2e036e010634b0ff74a6ebcd6a0");
    assert_int_equal(chain_latency("abc", latency, hex), ERR_INPUT);
    json_object_set_new(run, "nonce", json_string("a\nb"));
    assert_int_equal(chain_bind(&chain, run), ERR_INPUT);
    json_decref(run);
    json_decref(latency);
}

static void every_field_of_version_2_matters(void **state)
{
    (void)state;
    struct chain_point variants[12];
    for (int i = 0; i < 12; i++) variants[i] = point_2;
    variants[1].step++, variants[2].t_ns++, variants[3].classic_ns++, variants[4].warm_ns++;
    variants[5].warm_with_evaluation_ns++, variants[6].samples++, variants[7].score[0]++, variants[8].loss_micro++;
    variants[9].epoch_micro++, variants[10].stall_ns++, variants[11].score[1] = RUN_SCORE_NONE;
    char seen[12][DIGEST_HEX];
    for (int i = 0; i < 12; i++) {
        struct chain chain;
        chain_begin(&chain, &root_2);
        chain_add(&chain, &variants[i]);
        chain_hex(&chain, seen[i]);
        for (int j = 0; j < i; j++) assert_string_not_equal(seen[i], seen[j]);
    }
}

static void every_field_matters(void **state)
{
    (void)state;
    struct chain_point variants[9];
    for (int i = 0; i < 9; i++) variants[i] = point;
    variants[1].step++, variants[2].t_ns++, variants[3].classic_ns++, variants[4].warm_ns++;
    variants[5].warm_with_evaluation_ns++, variants[6].samples++, variants[7].score[0]++, variants[8].loss_micro++;
    char seen[9][DIGEST_HEX];
    for (int i = 0; i < 9; i++) {
        struct chain chain;
        chain_begin(&chain, &root);
        chain_add(&chain, &variants[i]);
        chain_hex(&chain, seen[i]);
        for (int j = 0; j < i; j++) assert_string_not_equal(seen[i], seen[j]);
    }
}

static void a_chain_goes_on_from_its_head(void **state)
{
    (void)state;
    struct chain whole, resumed;
    char head[DIGEST_HEX], again[DIGEST_HEX];
    chain_begin(&whole, &root);
    chain_add(&whole, &point);
    chain_hex(&whole, head);
    assert_true(chain_from_hex(&resumed, 1, head));
    chain_add(&whole, &point);
    chain_add(&resumed, &point);
    chain_hex(&whole, head);
    chain_hex(&resumed, again);
    assert_string_equal(head, again);
    assert_false(chain_from_hex(&resumed, 1, "abc"));
    head[5] = 'x';
    assert_false(chain_from_hex(&resumed, 1, head));
}

static int canonical(const char *json, char **bytes)
{
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    size_t count = 0;
    int rc = canonical_write(value, bytes, &count);
    if (rc == 0) assert_int_equal(count, strlen(*bytes));
    json_decref(value);
    return rc;
}

static void canonical_json(void **state)
{
    (void)state;
    char *bytes;
    assert_int_equal(canonical(" { \"b\" : [ 1 , -2, {} ], \"a\":\"\\u00e9/\" ,\"B\":9007199254740993}", &bytes), 0);
    assert_string_equal(bytes, "{\"B\":9007199254740993,\"a\":\"é/\",\"b\":[1,-2,{}]}");
    free(bytes);
    static const char *const refused[] = {"{\"a\":0.1}", "[null]", "[true]", "[\"a\\n\"]", "{\"a b\":1}", "{\"\\u00e9\":1}",
                                          "[[[[[[[[[1]]]]]]]]]"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) assert_int_equal(canonical(refused[i], &bytes), ERR_INPUT);
    assert_int_equal(canonical("[[[[[[[1]]]]]]]", &bytes), 0);  // the number is the eighth level
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_as_documented),
        cmocka_unit_test(version_2_hashes_are_as_documented), cmocka_unit_test(version_3_hashes_are_as_documented),
        cmocka_unit_test(every_field_matters),
        cmocka_unit_test(every_field_of_version_2_matters),
        cmocka_unit_test(a_chain_goes_on_from_its_head),
        cmocka_unit_test(canonical_json),
    };
    return cmocka_run_group_tests_name("chain", tests, NULL, NULL);
}
