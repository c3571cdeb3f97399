// SPDX-License-Identifier: Apache-2.0
// Memory that runs out while a run is recorded: if an allocation fails, the program may end, but everything on the disk before
// is there and whole. A child process per allocation, whose malloc fails from that one on, each with the same file as the others.
#include "test/unit/fixture_lack.h"
#include "test/unit/fixture_record.h"

#include <sys/wait.h>

#include "runtime/common/base/file.h"
#include "submit/results/record.h"

// `at`: the allocation that fails, of the whole run or of its point alone; 0: none.
static int64_t add_run(int64_t seed, long at, bool of_point)
{
    lack_at = of_point ? 0 : at;
    struct results *r;
    struct run *run;
    struct run_facts facts = fixture_facts(seed, NULL);
    struct run_point point = fixture_point(1, 9500);
    if (results_open(db, RESULTS_WRITE, &r) < 0 || result_begin(r, &facts, &run) < 0) return -1;
    int64_t id = result_id(run);
    if (of_point) lack_at = at;
    int rc = result_point(run, &point);
    if (of_point) lack_at = 0;
    if (rc < 0 || result_end(run, RUN_DONE, NULL, NULL) < 0) return -1;
    results_close(r);
    return id;
}

// The first run as it was, and nothing half-written: the chain of every run that ended holds.
static void record_is_whole(long at)
{
    json_t *record;
    struct results *r = open_db(RESULTS_READ);
    int64_t runs = number(r, "SELECT count(*) FROM runs");
    for (int64_t id = 1; id <= runs; id++) {
        if (record_read(r, id, &record) < 0 || record_chain(record) < 0) fail_msg("allocation %ld: %s", at, error_text());
        if (id == 1) assert_string_equal(record_text(record, "status"), "done");
        json_decref(record);
    }
    results_close(r);
}

// The file as it was before the last child, without the journals of that one.
static void restore_db(const char *bytes, size_t count)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    char journal[128];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(journal, sizeof journal, "%s%s", db, endings[i]);
        unlink(journal);
    }
    FILE *file = fopen(db, "wb");  // file_write refuses to replace a record
    assert_true(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

// Each allocation of a point; of a whole run, which has many times more to open the file, those in growing distances.
static void fail_each(bool of_point, const char *bytes, size_t count)
{
    int status = 1;
    long at = 1, step = 1;
    lack_lasts = true;
    for (; status != 0; at += step, step = of_point ? 1 : 1 + at / 8) {
        restore_db(bytes, count);
        pid_t child = fork();
        if (child == 0) {
            lack_child();
            _exit(add_run(2, at, of_point) < 0);
        }
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        record_is_whole(at);
    }
    print_message("%ld allocations\n", at);
    assert_true(at > 20);
}

TEST_WITH(no_failing_allocation_harms_a_record, setup, leave)
{
    char *bytes;
    size_t count;
    program_memory();
    assert_int_equal(add_run(1, 0, false), 1);
    assert_int_equal(file_read(db, 64 << 20, &bytes, &count), 0);
    fail_each(true, bytes, count);
    fail_each(false, bytes, count);
    free(bytes);
}

static struct results *open_record;

static int64_t read_record(void)
{
    json_t *record;
    if (record_read(open_record, 1, &record) < 0) return -1;
    const int64_t found = (int64_t)json_array_size(json_object_get(record, "points")) + record_chain(record);
    json_decref(record);
    return found;
}

static int64_t read_db(void)
{
    struct results *r;
    if (results_open(db, RESULTS_READ, &r) < 0) return -1;
    results_close(r);
    return 1;
}

TEST_WITH(a_record_is_read_or_refused, setup, leave)
{
    assert_int_equal(add_run(1, 0, false), 1);
    lack_lasts = false;
    open_record = open_db(RESULTS_READ);
    assert_true(lack_each("a record", read_record) > 0);
    results_close(open_record);
    lack_dense = 100;
    assert_true(lack_each("results.db", read_db) > 0);
}
