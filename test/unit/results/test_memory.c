// SPDX-License-Identifier: Apache-2.0
// Memory that runs out while a run is recorded: whichever allocation fails, the program may end, but what was on the disk before
// is there and whole. A child process per allocation, whose malloc fails from that one on.
#include <sys/resource.h>
#include <sys/wait.h>

#include "submit/results/record.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

static _Atomic long allowed = -1;  // allocations until the failing one; below 0: none fails

#ifndef __SANITIZE_ADDRESS__  // it has a malloc of its own
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static bool fails(void) { return allowed >= 0 && (allowed == 0 || allowed-- == 0); }
void *malloc(size_t bytes) { return fails() ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return fails() ? NULL : __libc_calloc(count, bytes); }
void *realloc(void *at, size_t bytes) { return fails() ? NULL : __libc_realloc(at, bytes); }
#endif

// `at`: the allocation that fails, of the whole run or of its point alone; below 0: none.
static int64_t add_run(int64_t seed, long at, bool of_point)
{
    allowed = of_point ? -1 : at;
    struct results *r;
    struct run *run;
    struct run_facts facts = fixture_facts(seed, NULL);
    struct run_point point = fixture_point(1, 9500);
    if (results_open(db, RESULTS_WRITE, &r) < 0 || result_begin(r, &facts, &run) < 0) return -1;
    int64_t id = result_id(run);
    if (of_point) allowed = at;
    int rc = result_point(run, &point);
    if (of_point) allowed = -1;
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

// Each allocation of a point; of a whole run, which has many times more to open the file, those in growing distances.
static void fail_each(bool of_point)
{
    const struct rlimit no_core = {0, 0};
    int status = 1;
    long at = 0, step = 1;
    for (; status != 0; at += step, step = of_point ? 1 : 1 + at / 8) {
        pid_t child = fork();
        if (child == 0) {
            if (!freopen("/dev/null", "w", stderr) || setrlimit(RLIMIT_CORE, &no_core) < 0) _exit(2);
            _exit(add_run(2, at, of_point) < 0);
        }
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        record_is_whole(at);
    }
    print_message("%ld allocations\n", at);
    assert_true(at > 20);
}

TEST_WITH(no_failing_allocation_harms_a_record, setup, leave)
{
#ifdef __SANITIZE_ADDRESS__
    skip();
#endif
    assert_int_equal(add_run(1, -1, false), 1);
    fail_each(true);
    fail_each(false);
}
