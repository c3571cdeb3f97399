// SPDX-License-Identifier: Apache-2.0
// The intervals of runs that have nothing to do with each other: none may look like a copy, however many or few they are, and
// however steady the machine. And of copies, which all must.

#include "submit/format/check/check_inside.h"
#include "test/unit/test.h"

static uint64_t drawn;
static double draw(void)  // about normal, with a deviation of 1
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        drawn = drawn * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(drawn >> 11) / 9007199254740992.0;
    }
    return sum - 6;
}

// Epochs of a second, the same work in each.
static json_t *run_of(int points, double scatter)
{
    json_t *list = json_array();
    double t = 3e9 * (1 + 0.01 * draw());
    for (int i = 0; i < points; i++) {
        t += 1e9 * (1 + scatter * draw());
        json_array_append_new(list, json_pack("{s:i, s:I}", "step", 50 * (i + 1), "t_ns", (json_int_t)t));
    }
    return json_pack("{s:o}", "points", list);
}

TEST(honest_runs_are_apart)
{
    static const struct {
        int points, pairs;
        double scatter;
    } cases[] = {{1, 2000, 1e-3}, {2, 2000, 1e-3}, {3, 5000, 1e-3}, {4, 5000, 1e-3}, {5, 5000, 1e-3}, {6, 5000, 1e-3},
                 {10, 5000, 1e-3}, {40, 500, 1e-3}, {400, 50, 1e-3}, {5, 1000, 1e-4}, {10, 5000, 1e-4}, {40, 500, 1e-4},
                 {400, 50, 1e-4}, {4000, 5, 1e-4}};
    int wrong = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int i = 0; i < cases[c].pairs; i++) {
            json_t *a = run_of(cases[c].points, cases[c].scatter), *b = run_of(cases[c].points, cases[c].scatter);
            enum check_pace found = check_pace(a, b);
            if (found != PACE_APART) wrong++, print_error("%d points, scatter %g: %d\n", cases[c].points, cases[c].scatter,
                                                          found);
            json_decref(a);
            json_decref(b);
        }
    assert_int_equal(wrong, 0);
}

// The intervals of a run, from the last to the first, a hundredth longer.
static json_t *turned(const json_t *run)
{
    const json_t *points = json_object_get(run, "points");
    json_t *list = json_array();
    double t = 5e9;
    for (size_t i = json_array_size(points); i-- > 0;) {
        const json_t *before = json_array_get(points, i - 1);
        json_array_append_new(list, json_pack("{s:I, s:I}", "step", (json_int_t)(49 * (json_array_size(list) + 1)), "t_ns",
                                              (json_int_t)t));
        if (i > 0) t += floor(1.01 * (double)(canonical_int(json_array_get(points, i), "t_ns") - canonical_int(before, "t_ns")));
    }
    return json_pack("{s:o}", "points", list);
}

TEST(copies_in_another_order_are_found)
{
    static const int points[] = {7, 10, 40, 400};
    for (size_t c = 0; c < sizeof points / sizeof *points; c++)
        for (int i = 0; i < 50; i++) {
            json_t *run = run_of(points[c], 1e-3), *copy = turned(run);
            if (check_pace(copy, run) != PACE_COPIED) fail_msg("%d points: %d", points[c], check_pace(copy, run));
            json_decref(run);
            json_decref(copy);
        }
}
