// SPDX-License-Identifier: Apache-2.0
// Parts of the checks: peaks by name, findings as text, and statements that are not runs.

#include "submit/format/check/check.h"
#include "test/unit/test.h"
#include "test/unit/fixture_statement.h"

static double peak_of(const char *gpu, const char *precision, int64_t devices)
{
    json_t *run = fixture_run();
    struct statement s;
    fixture_set(run, "hardware.gpu", json_string(gpu));
    fixture_set(run, "hardware.devices", json_integer(devices));
    fixture_set(run, "precision", json_string(precision));
    fixture_set(run, "device", json_string("outside"));
    assert_int_equal(statement_make(run, &s), 0);
    double peak = check_peak(&s);
    statement_free(&s);
    return peak * 1e-12;
}

TEST(peaks_are_found_by_name)
{
    assert_float_equal(peak_of("Tesla V100-SXM2-16GB", "f32", 1), 15.7, 1e-3);
    assert_float_equal(peak_of("8 x Tesla V100-SXM2-16GB", "f16", 8), 1000, 1e-3);
    assert_float_equal(peak_of("NVIDIA A100-SXM4-40GB", "f32", 1), 156, 1e-3);  // TF32 by custom
    assert_float_equal(peak_of("NVIDIA A10", "bf16", 1), 125, 1e-3);
    assert_float_equal(peak_of("NVIDIA H100 PCIe", "bf16", 1), 756.5, 1e-3);
    assert_float_equal(peak_of("NVIDIA H100 80GB HBM3", "unknown", 1), 1978.9, 1e-3);
    assert_float_equal(peak_of("8 x NVIDIA B300 SXM6 AC", "bf16", 8), 20000, 1e-3);
    assert_float_equal(peak_of("AMD Instinct MI355X 288GB HBM3e", "f32", 1), 157.3, 1e-3);
    assert_float_equal(peak_of("NVIDIA GeForce RTX 5090 D", "bf16", 1), 419, 1e-3);  // as f16, with sums in f16
    assert_float_equal(peak_of("NVIDIA T400 4GB", "f32", 1), 0, 0);  // not a T4
    assert_float_equal(peak_of("", "bf16", 1), 16 * 128 * 6e-3, 1e-3);
    assert_float_equal(peak_of("", "f32", 2), 2 * 16 * 64 * 6e-3, 1e-3);
}

TEST(long_findings_end_before_a_character)
{
    struct findings f = {0};
    char text[301];
    for (int i = 0; i < 300; i += 2) text[i] = '\xc3', text[i + 1] = '\xa4';
    text[300] = 0;
    finding_add(&f, CHECK_DATA, "x%s", text);
    assert_int_equal(strlen(f.at[0].text), FINDING_TEXT - 1);
    finding_add(&f, CHECK_DATA, "%s", text);
    assert_int_equal(strlen(f.at[1].text), FINDING_TEXT - 2);
    for (int i = 0; i < 2 * FINDINGS_MAX; i++) finding_add(&f, CHECK_EVEN, "%d", i);
    assert_int_equal(f.count, 2 + 2 * FINDINGS_MAX);
    assert_int_equal(f.rejects, 2);
    assert_int_equal(f.flags, 2 * FINDINGS_MAX);
}

TEST(targets_are_told_as_shares)
{
    static const struct {
        int64_t target_micro;
        const char *says;
    } cases[] = {
        {500000, "cifar10 has no board for a target of 50.00%; its board's target is 94.00%"},
        {500001, "cifar10 has no board for a target of 50.0001%; its board's target is 94.00%"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *run = fixture_run();
        struct statement s;
        struct findings f;
        bool said = false;
        fixture_set(run, "target_micro", json_integer(cases[i].target_micro));
        fixture_rules(run);
        assert_int_equal(statement_make(run, &s), 0);
        check_statement(&s, FIXTURE_NOW_MS, &f);
        for (int n = 0; n < f.count && n < FINDINGS_MAX; n++)
            said = said || (f.at[n].check == CHECK_TARGET && strcmp(f.at[n].text, cases[i].says) == 0);
        assert_true(said);
        statement_free(&s);
    }
}

TEST(other_types_have_a_date_only)
{
    struct statement s;
    struct findings f;
    json_t *json = json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "withdraw", "version", 1, "board", "test", "statement",
                             FIXTURE_HEX, "reason", "a mistake", "made_ms", (json_int_t)FIXTURE_NOW_MS);
    assert_int_equal(statement_make(json, &s), 0);
    check_statement(&s, FIXTURE_NOW_MS, &f);
    assert_int_equal(f.count, 0);
    check_statement(&s, FIXTURE_NOW_MS + ((int64_t)1 << 40), &f);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.at[0].check, CHECK_CLIENT_TIME);
    statement_free(&s);
}
