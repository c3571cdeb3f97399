// SPDX-License-Identifier: Apache-2.0
// Scaling over devices: the model of a reduction, the table, and the line that a measuring process prints.
#include "runtime/common/base/text.h"
#include "tasks/tools/measure/scaling.h"
#include "test/unit/test.h"

#include <jansson.h>

static const double ALPHA = 20e-6, BETA = 1e-9;

static struct scaling_row row_of(int processes, double step)
{
    struct scaling_row r = {.processes = processes, .machines = 1, .threads = 1, .batch = 100, .step = step, .gradients = 8e6,
                            .exchanges = 2};
    double others = processes - 1;
    for (int i = 0; i < SCALING_SIZES; i++) {
        r.reduce.bytes[i] = 4096 << 3 * i;
        r.reduce.seconds[i] = 2 * others * ALPHA + 2 * others / processes * BETA * r.reduce.bytes[i];
    }
    return r;
}

TEST(a_model_is_found_again)
{
    for (int processes = 2; processes <= 8; processes *= 2) {
        struct scaling_row r = row_of(processes, 1);
        struct scaling_model m;
        assert_true(scaling_fit(&r, &m));
        assert_true(fabs(m.alpha / ALPHA - 1) < 1e-6 && fabs(m.beta / BETA - 1) < 1e-6 && m.r2 > 0.999999);
        for (int i = 0; i < SCALING_SIZES; i++)
            assert_true(fabs(scaling_reduction(&m, processes, 1, r.reduce.bytes[i]) / r.reduce.seconds[i] - 1) < 1e-6);
    }
    struct scaling_row alone = row_of(1, 1), flat = row_of(2, 1);
    struct scaling_model m;
    assert_false(scaling_fit(&alone, &m));
    for (int i = 0; i < SCALING_SIZES; i++) flat.reduce.seconds[i] = 1;
    assert_false(scaling_fit(&flat, &m));
}

TEST(the_table_has_speedup_and_efficiency)
{
    const struct scaling_row row[] = {row_of(1, 0.1), row_of(2, 0.125), row_of(4, 0.2)};
    struct text text = {0};
    scaling_text(row, 3, "images", &text);
    assert_non_null(strstr(text.at, "images/s"));
    assert_non_null(strstr(text.at, "1.60       80.0%"));
    assert_non_null(strstr(text.at, "2.00       50.0%"));
    assert_non_null(strstr(text.at, "1024 processes"));
    assert_non_null(strstr(text.at, "by 4 processes: 4"));
    // 2 x 6 messages of 20 us, and 1.5 times 8 MB at 1 GB/s
    assert_non_null(strstr(text.at, "with 4 processes the model gives a step of 113 ms; "));
    assert_non_null(strstr(text.at, "trust its predictions"));
    text_free(&text);
    assert_string_equal(scaling_doubt(0.113, 0.125), "");
    assert_string_equal(scaling_doubt(0.125, 0.113), "");
    assert_string_not_equal(scaling_doubt(0.2, 0.1), "");
    json_t *o = scaling_json(row, 3);
    const json_t *last = json_array_get(json_object_get(o, "rows"), 2);
    assert_true(fabs(json_number_value(json_object_get(last, "efficiency")) - 0.5) < 1e-9);
    assert_true(fabs(json_number_value(json_object_get(last, "samples_per_s")) - 2000) < 1e-9);
    json_decref(o);
}

TEST(a_row_passes_through_its_line)
{
    struct scaling_row r = row_of(4, 0.25), back;
    strcpy(r.model, "airbench"), strcpy(r.size, "32 x 32");
    r.noise = true;
    json_t *o = scaling_row_json(&r);
    char *line = json_dumps(o, JSON_COMPACT);
    struct text said = {0};
    text_add(&said, "words of the launcher\n%s\nand more", line);
    assert_int_equal(scaling_row_parse(said.at, &back), 0);
    assert_true(back.processes == 4 && back.batch == 100 && back.step == r.step);
    assert_true(back.gradients == r.gradients && back.exchanges == 2);
    assert_memory_equal(&back.reduce, &r.reduce, sizeof r.reduce);
    assert_true(back.noise && !strcmp(back.model, "airbench") && !strcmp(back.size, "32 x 32") && !*back.device);
    text_free(&said);
    free(line);
    json_decref(o);
    static const char *const broken[] = {"", "{", "{}", "{\"processes\": \"4\"}", "[1]", "{\"processes\": 2, \"step_s\": -1}"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) assert_true(scaling_row_parse(broken[i], &back) < 0);
}
