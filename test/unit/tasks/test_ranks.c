// SPDX-License-Identifier: Apache-2.0
// Processes that train together, as far as one process can test: slices and their tree, buckets, and the exchanges of a process
// that is alone. test/cli/ranks.sh starts several.
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"
#include "test/unit/fixture_trainer.h"

#include "runtime/common/base/rng.h"
#include "runtime/ranks/ranks.h"
#include "submit/results/record.h"

enum { SLICES_MOST = 16, COUNT = 5 };

static void fill(float *values, int slice)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = (float)rng_draw(3, RNG_TEST, 0, (uint32_t)slice, (uint32_t)i).v[0] * (slice % 3 ? 1e-3f : 1e4f);
}

// As the programs of a step do: each slice joins the sums that its kind says.
static void add_slices(const struct slices *s, float *sum)
{
    static float level[8][COUNT];
    for (int slice = 0; slice < s->count; slice++) {
        float value[COUNT];
        int kind = slices_kind(s, slice);
        unsigned joins = slices_joins(s, kind);
        assert_in_range(kind, 0, slices_kinds(s) - 1);
        fill(value, s->first + slice);
        for (int k = 0; joins >> k; k++)
            for (int i = 0; i < COUNT && joins >> k & 1; i++) value[i] = level[k][i] + value[i];
        memcpy(slice == s->count - 1 ? sum : level[kind], value, sizeof value);
    }
}

TEST(any_number_of_processes_adds_alike)
{
    int tried = 0;
    for (int all = 1; all <= SLICES_MOST; all++) {
        float want[COUNT], sums[SLICES_MOST * COUNT];
        struct slices s;
        assert_int_equal(slices_share(all, 1, 0, &s), 0);
        assert_true(s.all == all && s.first == 0 && s.count == all && slices_whole(&s) == (all == 1));
        add_slices(&s, want);
        for (int ranks = 2; ranks <= all; ranks++) {
            int rank = 0;
            for (; rank < ranks && slices_share(all, ranks, rank, &s) == 0; rank++) add_slices(&s, sums + rank * COUNT);
            int each = all / ranks;
            assert_int_equal(rank, all % ranks || (each & (each - 1)) ? 0 : ranks);
            if (rank == 0) continue;
            ranks_tree_add(sums, COUNT, ranks);
            assert_memory_equal(sums, want, sizeof want);
            tried++;
        }
    }
    assert_true(tried > 25);
}

TEST(slices_that_cannot_be_shared_are_refused)
{
    struct slices s;
    assert_fails(slices_share(6, 4, 0, &s), ERR_USAGE, "6 slices of a batch cannot be shared by 4");
    assert_fails(slices_share(6, 2, 0, &s), ERR_USAGE, "3 for each of 2");
    assert_int_equal(slices_share(1, 2, 0, &s), ERR_USAGE);
}

TEST(buckets_end_when_full)
{
    const int64_t small[20] = {8, 8, 8, 8, 8, 8, 8, 8}, mega = 1 << 20;
    const int64_t large[] = {3 * mega, mega, 1, 9 * mega, 4 * mega, 8};
    assert_int_equal(slices_bucket(small, 20, 0), BUCKET_VALUES);
    assert_int_equal(slices_bucket(small, 20, BUCKET_VALUES), 2 * BUCKET_VALUES);
    assert_int_equal(slices_bucket(small, 3, 1), 3);
    assert_int_equal(slices_bucket(large, 6, 0), 2);
    assert_int_equal(slices_bucket(large, 6, 2), 3);
    assert_int_equal(slices_bucket(large, 6, 3), 4);  // larger than a bucket: one of its own
    assert_int_equal(slices_bucket(large, 6, 4), 5);
    assert_int_equal(slices_bucket(large, 6, 5), 6);
}

TEST(a_process_alone_has_what_it_gives)
{
    int64_t count = 7, got = 0;
    float values[] = {1, 2}, capacity[2];
    int most = -1;
    assert_int_equal(ranks_open(), 0);
    assert_true(ranks_size() == 1 && ranks_rank() == 0 && ranks_machines() == 1 && !*ranks_library());
    assert_int_equal(ranks_gather(&count, sizeof count, &got), 0);
    assert_int_equal(got, 7);
    assert_int_equal(ranks_add(&count, 1), 0);
    assert_int_equal(count, 7);
    assert_int_equal(ranks_reduce(values, capacity, 2), 0);
    assert_true(values[0] == 1 && values[1] == 2 && ranks_scratch(2) == 2);
    assert_int_equal(ranks_most_begin(3), 0);
    assert_int_equal(ranks_most_end(&most), 0);
    assert_int_equal(most, 3);
    assert_int_equal(ranks_same("seed", "1"), 0);
    assert_int_equal(ranks_agree(fail(ERR_IO, "a reason")), ERR_IO);
    assert_string_equal(error_text(), "a reason");
    assert_int_equal(ranks_close(ERR_IO, NULL, NULL), RANKS_SPEAKS);
}

// The processes that a run began with and those it went on with.
TEST_WITH(processes_are_stored, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct machine_facts other = fixture_machine;
    snprintf(other.cpu, sizeof other.cpu, "Another CPU");
    const struct run_process places[] = {
        {&fixture_machine, 0, "Test CPU", 2}, {&fixture_machine, 0, "Test CPU", 2}, {&other, 1, "Another CPU", 2},
    };
    struct run_facts facts = fixture_facts(7, NULL);
    struct run *run;
    json_t *record;
    int machines;
    facts.places = places, facts.process_count = 3, facts.threads = 6;
    assert_int_equal(result_begin(r, &facts, &run), 0);
    int64_t id = result_id(run);
    assert_int_equal(record_read(r, id, &record), 0);
    assert_int_equal(record_processes(record, &machines), 3);
    assert_int_equal(machines, 2);
    assert_false(record_moved(record));
    const json_t *last = json_array_get(json_object_get(record, "places"), 2);
    assert_true(record_int(last, "rank") == 2 && record_int(last, "threads") == 2);
    assert_int_not_equal(record_int(last, "machine"), record_int(record, "machine"));
    assert_string_equal(record_text(last, "device"), "Another CPU");
    json_decref(record);
    assert_int_equal(result_places(run, 50, places, 2), 0);
    assert_int_equal(record_read(r, id, &record), 0);
    assert_true(record_moved(record) && record_processes(record, &machines) == 3 && machines == 2);
    json_decref(record);
    assert_int_equal(result_end(run, RUN_FAILED, NULL, NULL), 0);
    facts = fixture_facts(8, NULL);
    id = fixture_run(r, &facts, (const int64_t[]){9400}, 1);
    assert_int_equal(record_read(r, id, &record), 0);
    assert_true(record_processes(record, &machines) == 1 && machines == 1 && !record_moved(record));
    json_decref(record);
    results_close(r);
}
