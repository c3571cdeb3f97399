// SPDX-License-Identifier: Apache-2.0
// The chain against hashes that another program computed, and the rules of canonical JSON.
#include <jansson.h>

#include "submit/format/canonical.h"
#include "submit/format/chain.h"
#include "test/unit/test.h"

static const struct run_metric metrics[] = {{"top5", "%", false, 50000}, {"wer", "", true, 0}};
static const struct chain_point point = {.step = 25, .epoch_micro = 500000, .t_ns = 40, .classic_ns = 30, .warm_ns = 10,
                                         .warm_with_evaluation_ns = 20, .samples = 50000, .stall_ns = 3, .loss_micro = 1234567,
                                         .metrics = metrics, .metric_count = 2, .score = {9400, -5}};

static json_t *facts(void)
{
    return json_pack("{s:s, s:i, s:{s:s, s:i, s:s}, s:{s:s, s:i}, s:{s:i, s:s}, s:s, s:i}", "nonce", "00ff", "seed", 7, "model",
                     "name", "m", "parameters", 5, "weights_digest", "w", "price", "date", "2026-01-01", "total_micro_usd", 5,
                     "recipe", "published", 1, "text", "t", "status", "done", "ended_ms", 9);
}

static void begin(struct chain *chain)
{
    json_t *run = facts();
    assert_int_equal(chain_bind(chain, run), 0);
    json_decref(run);
}

// The expected values come from Python: hashlib.sha256 of the texts in the comments.
TEST(hashes_are_as_documented)
{
    struct chain chain;
    struct chain_point second = point;
    char hex[DIGEST_HEX], root[DIGEST_HEX], named[DIGEST_HEX];
    json_t *run = facts();
    json_t *latency = json_pack("{s:i, s:{s:s}, s:{s:s, s:i}, s:s}", "k", 3, "hardware", "cpu", "c", "price", "source", "user",
                                "total_micro_usd", 4, "hash", "h");
    assert_int_equal(chain_bind(&chain, run), 0);
    chain_hex(&chain, root);
    // {"run":{"model.name":"m","model.parameters":5,"nonce":"00ff","price.date":"2026-01-01","recipe.published":1,"seed":7}}
    assert_string_equal(root, "fc22b4a7d7514e0f38b1ddce06e8fd0d2e60e5d0d5fd383d5ea36d8eb3426fe5");
    chain_add(&chain, &point);
    chain_hex(&chain, hex);
    // 32 bytes of the hash above, then
    // {"classic_ns":30,"epoch_micro":500000,"loss":1234567,"samples":50000,"scores":[{"metric":"top5","score":9400},
    // {"metric":"wer","score":-5}],"stall_ns":3,"step":25,"t_ns":40,"warm_ns":10,"warm_with_evaluation_ns":20}
    assert_string_equal(hex, "2ae4e8f135f6588daed9a58ad84e945c6c2fea4887e52e3523d8a3e18be73ca3");
    begin(&chain);
    second.losses = json_pack("[{s:s, s:i}, {s:s, s:i}]", "name", "real", "loss", 693147, "name", "fake", "loss", -7);
    chain_add(&chain, &second);
    chain_hex(&chain, named);
    // The same with "losses":[{"loss":693147,"name":"real"},{"loss":-7,"name":"fake"}], behind the loss
    assert_string_equal(named, "67bdd416e187398b6a0bc0f11d0c2a89b1457d386b04528177824a291c68fe50");
    json_decref((json_t *)second.losses);
    second.losses = NULL;
    assert_true(chain_from_hex(&chain, hex));
    second.step = 26;
    second.score[0] = second.score[1] = RUN_SCORE_NONE;  // not evaluated: no scores in the text
    chain_add(&chain, &second);
    chain_hex(&chain, hex);
    assert_string_equal(hex, "18920cc8c3e9207eef9c85a2cb90649462136ddc1d6ef06173505eb12d83d61c");
    // 32 bytes of the hash above, then {"end":{"ended_ms":9,"model.weights_digest":"w","status":"done"}}
    assert_int_equal(chain_end(&chain, run, hex), 0);
    assert_string_equal(hex, "4d5caadf29ac4b840f18fb167e8af4d69d8cd808f4c09e12d4ccf553dcee45d9");
    // 32 bytes of the root, then {"latency":{"hardware":{"cpu":"c"},"k":3,"price.source":"user"}}
    assert_int_equal(chain_latency(root, latency, hex), 0);
    assert_string_equal(hex, "a5f36c73921e49cb45aae05b970f307ca7397cf5ade214470a1fea498cda231c");
    assert_int_equal(chain_latency("abc", latency, hex), ERR_INPUT);
    json_object_set_new(run, "nonce", json_string("a\nb"));
    assert_int_equal(chain_bind(&chain, run), ERR_INPUT);
    json_decref(run);
    json_decref(latency);
}

TEST(every_field_matters)
{
    struct chain_point variants[12];
    for (int i = 0; i < 12; i++) variants[i] = point;
    variants[1].step++, variants[2].t_ns++, variants[3].classic_ns++, variants[4].warm_ns++;
    variants[5].warm_with_evaluation_ns++, variants[6].samples++, variants[7].score[0]++, variants[8].loss_micro++;
    variants[9].epoch_micro++, variants[10].stall_ns++, variants[11].score[1] = RUN_SCORE_NONE;
    char seen[12][DIGEST_HEX];
    for (int i = 0; i < 12; i++) {
        struct chain chain;
        begin(&chain);
        chain_add(&chain, &variants[i]);
        chain_hex(&chain, seen[i]);
        for (int j = 0; j < i; j++) assert_string_not_equal(seen[i], seen[j]);
    }
}

TEST(a_chain_goes_on_from_its_head)
{
    struct chain whole, resumed;
    char head[DIGEST_HEX], again[DIGEST_HEX];
    begin(&whole);
    chain_add(&whole, &point);
    chain_hex(&whole, head);
    assert_true(chain_from_hex(&resumed, head));
    chain_add(&whole, &point);
    chain_add(&resumed, &point);
    chain_hex(&whole, head);
    chain_hex(&resumed, again);
    assert_string_equal(head, again);
    assert_false(chain_from_hex(&resumed, "abc"));
    head[5] = 'x';
    assert_false(chain_from_hex(&resumed, head));
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

TEST(canonical_json)
{
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
