// SPDX-License-Identifier: Apache-2.0
// Reference runs: the table, the test with figures worked out by hand, and the pairs that are compared.

#include "runtime/common/base/embed.h"
#include "submit/format/score/reference.h"
#include "tasks/common/recipe/recipe.h"
#include "test/unit/submit/fixture_findings.h"

static const json_t *member(const json_t *row, const char *name)
{
    const json_t *value = json_object_get(row, name);
    if (value == NULL) fail_msg("a row has no %s", name);
    return value;
}

TEST(every_row_is_whole)
{
    const struct embedded *file = embedded_find("submit/format/score/references.json");
    json_t *table = json_loadb(file->at, file->size, JSON_REJECT_DUPLICATES, NULL), *row;
    size_t i;
    assert_true(json_array_size(table) > 0);
    json_array_foreach(table, i, row)
    {
        const struct contest *contest = contest_find(json_string_value(member(row, "task")));
        size_t runs = json_array_size(member(row, "scores"));
        assert_non_null(contest);
        assert_int_equal(json_integer_value(member(row, "items")), contest->board.items);
        assert_true(runs > 0 && runs <= 64);
        assert_int_equal(json_array_size(member(row, "seeds")), runs);
        assert_true(json_array_size(member(row, "epochs_micro")) <= runs);
        assert_true(json_array_size(member(row, "recipe_digests")) > 0);
        assert_true(*json_string_value(member(row, "source")) != 0);
        assert_true(*json_string_value(member(row, "recipe")) != 0 && *json_string_value(member(row, "model")) != 0);
    }
    json_decref(table);
}

// t(0.99, 2) = 6.9646, t(0.99, 5) = 3.3649
TEST(p_is_students_with_the_real_n)
{
    assert_true(fabs(reference_p(6.9646 * sqrt(4.0 / 3), 1, 3, 1) - 0.01) < 1e-5);
    assert_true(fabs(reference_p(3.3649 * sqrt(1.0 / 6 + 1.0 / 5), 1, 6, 5) - 0.01) < 1e-5);
    assert_true(fabs(reference_p(0, 1, 6, 5) - 0.5) < 1e-12);
    assert_true(reference_p(-3, 1, 6, 5) > 0.98);
    assert_float_equal(reference_p(100, 1, 2, 1), 1, 0);  // two runs say nothing
    assert_float_equal(reference_p(1, 0, 5, 1), 0, 0);
    assert_float_equal(reference_p(0, 0, 5, 1), 1, 0);
    struct reference r = {.runs = 6, .score = {.mean = 3, .sigma = 0.1}};
    assert_true(reference_score_p(&r, 4, 1) < REFERENCE_P);
    r.board.lower_is_better = true;
    assert_true(reference_score_p(&r, 4, 1) > 0.5);
    assert_true(reference_score_p(&r, 2, 1) < REFERENCE_P);
}

TEST(the_recipe_decides_what_is_compared)
{
    struct reference r;
    json_t *run = fixture_run();
    assert_true(reference_find(run, &r));  // the closed division's word
    assert_int_equal(r.runs, 6);
    assert_true(fabs(r.score.mean - 0.9421) < 1e-12);
    assert_true(fabs(r.score.sigma - 0.0019514) < 1e-7);
    assert_false(r.same_text);
    fixture_set(run, "division", json_string("open"));
    assert_false(reference_find(run, &r));
    fixture_set(run, "recipe.digest", json_string("1a5406e94edd49951b543334ce6faf2d947b47e5da5d7c91b2969a09317b68f5"));
    assert_true(reference_find(run, &r));
    assert_true(r.same_text);
    assert_int_equal(r.reached, 5);
    fixture_set(run, "recipe.digest", json_string("e609377cac9f4188235b5b008f83672eeb3dbc6d46e9373f98fe14a40d6465ec"));
    assert_true(reference_find(run, &r));  // a later text of the same recipe has runs of its own
    assert_true(r.same_text);
    assert_int_equal(r.runs, 13);
    fixture_set(run, "model.name", json_string("resnet9"));
    assert_false(reference_find(run, &r));
    fixture_edit(run, "'model.name': 'airbench', 'evaluated_by': 'self'");
    assert_false(reference_find(run, &r));
    fixture_edit(run, "'evaluated_by': 'harness', 'synthetic': 1");
    assert_false(reference_find(run, &r));
    json_decref(run);
}

static bool is_flagged(json_t *run) { return finds_check(json_deep_copy(run), CHECK_BETTER); }

// 94.21% + 3.3649 x 0.19514% x sqrt(7 / 6) = 94.919%.
TEST(a_score_beyond_the_bound_is_flagged)
{
    json_t *run = fixture_run();
    assert_false(is_flagged(run));
    fixture_score(run, FIXTURE_EPOCHS - 1, 0, 9491);
    fixture_follow(run);
    assert_false(is_flagged(run));
    fixture_score(run, FIXTURE_EPOCHS - 1, 0, 9493);
    fixture_follow(run);
    assert_true(is_flagged(run));
    fixture_set(run, "status", json_string("failed"));
    fixture_chain(run);
    assert_false(is_flagged(run));
    json_decref(run);
}

// It met the target after 9 epochs, and that very text evaluates at its end alone, after 9.5.
TEST(a_text_that_evaluates_once_meets_its_target_at_its_end)
{
    static const int64_t scores[] = {6000, 7500, 8200, 8700, 9000, 9200, 9330, 9390, 9410};
    json_t *run = fixture_run();
    struct recipe recipe;
    assert_int_equal(recipe_embedded("cifar10", &recipe), 0);
    char *text = recipe_line(&recipe);
    fixture_set(run, "batch", json_integer(recipe.batch));
    fixture_set(run, "stop_at_target", json_integer(1));
    fixture_curve(run, scores, 9);
    assert_false(finds_check(json_deep_copy(run), CHECK_CONTRADICTION));  // of another text
    fixture_recipe(run, text);
    fixture_chain(run);
    assert_true(finds_check(json_deep_copy(run), CHECK_CONTRADICTION));
    free(text);
    json_decref(run);
}

// 94.21% + 3.3649 x 0.19514% x sqrt(1 / 6 + 1 / 5) = 94.608%.
TEST(a_groups_mean_has_a_nearer_bound)
{
    struct findings f = {0};
    json_t *run = fixture_run();
    check_group_mean(run, 0.9460, 5, &f);
    assert_int_equal(f.count, 0);
    check_group_mean(run, 0.9462, 5, &f);
    check_group_mean(run, 0.9470, 5, &f);
    assert_int_equal(f.count, 1);
    assert_int_equal(f.at[0].check, CHECK_BETTER);
    assert_non_null(strstr(f.at[0].text, "of 6 runs of recipe cifar10"));
    json_decref(run);
}
