// SPDX-License-Identifier: Apache-2.0
// Measurements as statements: what the parser refuses, and what each check finds.

#include "submit/format/fields.h"
#include "test/unit/fixture_bench.h"
#include "test/unit/submit/fixture_findings.h"

// One finding of that check; the statement is refused if it is at that level.
static void finds(json_t *bench, enum check wanted)
{
    struct findings f = findings_at(bench, FIXTURE_NOW_MS);
    if (f.count != 1 || f.at[0].check != wanted)
        fail_msg("%s wanted, %d findings: %s", check_code(wanted), f.count, f.count > 0 ? f.at[0].text : "");
}

static json_t *with(size_t i, const char *name, json_t *value)
{
    json_t *bench = fixture_bench("ada", 1);
    fixture_set_setting(bench, i, name, value);
    return bench;
}

static json_t *bench_with(const char *path, json_t *value)
{
    json_t *bench = fixture_bench("ada", 1);
    fixture_set(bench, path, value);
    return bench;
}

TEST(an_honest_one_has_no_finding)
{
    assert_int_equal(findings_at(fixture_bench("ada", 1), FIXTURE_NOW_MS).count, 0);
}

// What is said of an energy of that setting; NULL: nothing.
static void finds_energy(size_t i, int64_t uj, const char *what)
{
    json_t *bench = with(i, "energy_uj", json_integer(uj));
    fixture_set_setting(bench, i, "flops", json_integer(100));
    struct findings f = findings_at(bench, FIXTURE_NOW_MS);
    bool found = false;
    for (int n = 0; n < f.count; n++)
        found = found || (f.at[n].check == CHECK_CONTRADICTION && (what == NULL || strstr(f.at[n].text, what) != NULL));
    if (found != (what != NULL)) fail_msg("%lld: %s", (long long)uj, f.count > 0 ? f.at[0].text : "nothing is said");
}

TEST(figures_that_exclude_each_other)
{
    finds(with(0, "step_low_ns", json_integer(60000001)), CHECK_CONTRADICTION);
    finds(with(1, "step_high_ns", json_integer(399999999)), CHECK_CONTRADICTION);
    finds(with(1, "accepted", json_integer(8)), CHECK_CONTRADICTION);
    finds(with(1, "others_micro", json_integer(17000001)), CHECK_CONTRADICTION);
    finds(with(1, "energy_uj", json_integer((json_int_t)1 << 50)), CHECK_CONTRADICTION);
    finds(with(1, "energy_uj", json_integer(1)), CHECK_CONTRADICTION);
    finds_energy(0, 14999, "less than half a watt");  // of 60 ms; twice the time is allowed
    finds_energy(0, 15000, NULL);
    finds_energy(1, 800000000, NULL);  // of 400 ms, one socket
    finds_energy(1, 800000001, "more energy than");
    finds(with(1, "memory_bytes", json_integer(((json_int_t)1 << 35) + 1)), CHECK_CONTRADICTION);
    json_t *arm = with(0, "energy_uj", json_integer(600000));
    fixture_set(arm, "hardware.cpu_flags", json_string("neon asimd"));
    finds(arm, CHECK_CONTRADICTION);
    finds(bench_with("threads", json_integer(17)), CHECK_CONTRADICTION);
    finds(bench_with("hardware.cores_usable", json_integer(17)), CHECK_CONTRADICTION);
    finds(bench_with("hardware.gpu", json_string("NVIDIA H200 (emulated)")), CHECK_CONTRADICTION);
    finds(bench_with("hardware.devices", json_integer(8)), CHECK_CONTRADICTION);
    finds(bench_with("measured_ms", json_integer(FIXTURE_NOW_MS - (int64_t)31 * 24 * 3600 * 1000)), CHECK_CLIENT_TIME);
    finds(bench_with("measured_ms", json_integer(FIXTURE_NOW_MS + 11 * 60 * 1000)), CHECK_CLIENT_TIME);
}

static json_t *scaled_with(size_t i, const char *name, json_t *value)
{
    json_t *bench = fixture_scaling("ada", 1);
    json_object_set_new(fixture_item(bench, "scaling", i), name, value);
    return bench;
}

static void refuses_to_parse(json_t *bench, const char *what)
{
    struct statement s;
    assert_int_equal(statement_make(bench, &s), ERR_INPUT);
    if (strstr(error_text(), what) == NULL) fail_msg("no \"%s\" in: %s", what, error_text());
}

// Throughput and efficiency are not stated, so they cannot be forged. What they follow from can.
TEST(scalings_that_are_none)
{
    finds(fixture_scaling("ada", 1), CHECK_SPEED_UNKNOWN);  // it states no arithmetic
    finds(scaled_with(1, "processes", json_integer(1)), CHECK_CONTRADICTION);
    finds(scaled_with(2, "processes", json_integer(2)), CHECK_CONTRADICTION);
    finds(scaled_with(1, "machines", json_integer(3)), CHECK_CONTRADICTION);
    finds(scaled_with(0, "machines", json_integer(2)), CHECK_CONTRADICTION);
    finds(scaled_with(1, "batch", json_integer(128)), CHECK_CONTRADICTION);
    finds(scaled_with(2, "precision", json_string("f32")), CHECK_CONTRADICTION);
    finds(scaled_with(2, "size", json_string("16 x 16")), CHECK_CONTRADICTION);
    finds(scaled_with(2, "gradient_bytes", json_integer(1)), CHECK_CONTRADICTION);
    finds(scaled_with(2, "step_ns", json_integer(1)), CHECK_SUPERLINEAR);         // 4 x 10^9 percent
    finds(scaled_with(0, "step_ns", json_integer(70000000)), CHECK_SUPERLINEAR);  // the first row was slowed: 140%
    refuses_to_parse(scaled_with(0, "processes", json_integer(0)), "scaling[0].processes");
    refuses_to_parse(scaled_with(0, "step_ns", json_integer(0)), "scaling[0].step_ns");
    refuses_to_parse(scaled_with(0, "efficiency", json_integer(100)), "efficiency");
    json_t *empty = fixture_bench("ada", 1), *both = fixture_scaling("ada", 1), *none = fixture_scaling("ada", 1);
    json_object_set_new(empty, "settings", json_array());
    finds(empty, CHECK_CONTRADICTION);
    json_object_set_new(both, "settings", json_pack("[o]", fixture_setting(64, 60000000)));
    struct findings f = findings_at(both, FIXTURE_NOW_MS);
    assert_int_equal(f.rejects, 1);
    json_object_set_new(none, "scaling", json_array());
    refuses_to_parse(none, "scaling");
}

TEST(arithmetic_against_the_hardware)
{
    json_t *fast = with(1, "step_ns", json_integer(2000000)), *near = with(1, "step_ns", json_integer(33000000));
    fixture_set_setting(fast, 1, "step_low_ns", json_integer(2000000));
    fixture_set_setting(near, 1, "step_low_ns", json_integer(33000000));
    finds(fast, CHECK_SPEED);
    finds(near, CHECK_SPEED_HIGH);
    finds(bench_with("hardware.cpu_flags", json_string("")), CHECK_SPEED_UNKNOWN);
    finds(bench_with("model", json_string("another")), CHECK_SPEED_UNKNOWN);
    finds(with(0, "flops", json_integer(1000)), CHECK_SPEED_UNKNOWN);
    // A setting that is above the peak counts even if the peak of an earlier one is not known.
    json_t *both = bench_with("device", json_string("cuda"));
    fixture_set(both, "hardware.gpu", json_string("NVIDIA H100"));
    fixture_set_setting(both, 0, "flops", json_integer(0));
    fixture_set_setting(both, 1, "flops", json_integer((json_int_t)1 << 50));
    struct findings f = findings_at(both, FIXTURE_NOW_MS);
    assert_true(f.rejects == 1 && f.flags > 0);
}

TEST(programs_of_unknown_sources)
{
    finds(bench_with("software.dirty", json_integer(1)), CHECK_DIRTY);
    finds(bench_with("software.commit", json_string("")), CHECK_SOURCES);
}

// Each member is missed, and refused with another kind of value, by its name.
TEST(the_parser_names_every_member)
{
    for (const struct field *f = statement_fields[STATEMENT_BENCH]; f->name != NULL; f++) {
        for (int wrong = 0; wrong < 2; wrong++) {
            struct statement s;
            json_t *bench = fixture_bench("ada", 1);
            json_object_del(bench, f->name);
            if (wrong) json_object_set_new(bench, f->name, json_pack("[[]]"));
            int rc = statement_make(bench, &s);
            if (!wrong && (f->presence & FIELD_OPTIONAL) && rc == 0) statement_free(&s);
            else if (rc != ERR_INPUT) fail_msg("%s is not needed", f->name);
            else if (strcmp(f->name, "type") != 0 && strstr(error_text(), f->name) == NULL) fail_msg("%s", error_text());
        }
    }
    static const struct {
        const char *name;
        json_int_t value;
    } bad[] = {{"step_ns", 0}, {"batch", 0}, {"timed", 0}, {"repeats", 0}, {"flops", -1}, {"others_micro", -1}, {"energy_uj", 0},
               {"nobody", 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct statement s;
        assert_fails(statement_make(with(1, bad[i].name, json_integer(bad[i].value)), &s), ERR_INPUT, "settings[1]");
    }
    struct statement s;
    json_t *many = json_array();
    for (int i = 0; i <= BENCH_SETTINGS; i++) json_array_append_new(many, fixture_setting(64, 60000000));
    assert_fails(statement_make(bench_with("settings", many), &s), ERR_INPUT, "256");
}
