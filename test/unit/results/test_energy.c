// SPDX-License-Identifier: Apache-2.0
// The energy of a run at its points, as the record keeps it.
#include "submit/results/record.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

// Joules to the target are counted up to the point that met it; points that are taken back take their energy with them.
TEST_WITH(test_energy_of_points, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(1, NULL);
    struct run *run;
    json_t *record;
    assert_int_equal(result_begin(r, &facts, &run), 0);
    const int64_t k[] = {9000, 9500, 9600};
    for (int i = 0; i < 3; i++) {
        struct run_point point = fixture_point(i + 1, k[i]);
        point.energy_uj = (i + 1) * 1000;
        assert_int_equal(result_point(run, &point), 0);
    }
    assert_int_equal(result_end(run, RUN_DONE, NULL, NULL), 0);
    assert_int_equal(record_read(r, 1, &record), 0);
    assert_int_equal(record_int(record, "reached_energy_uj"), 2000);
    assert_int_equal(json_array_size(json_object_get(record, "energy")), 3);
    json_decref(record);
    assert_int_equal(fixture_run(r, &facts, k, 3), 2);  // a machine without a counter
    assert_int_equal(record_read(r, 2, &record), 0);
    assert_false(record_has(record, "reached_energy_uj"));
    json_decref(record);
    results_close(r);
    sql_from_outside("PRAGMA foreign_keys = ON; DELETE FROM points WHERE run = 1 AND step > 30");
    r = open_db(RESULTS_READ);
    assert_int_equal(number(r, "SELECT count(*) FROM energy"), 1);
    results_close(r);
}
