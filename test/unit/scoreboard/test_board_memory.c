// SPDX-License-Identifier: Apache-2.0
// A server that gets no more memory answers 503 and lives: the system gives N bytes more, for many N, so that every allocation
// of a request fails once. So does each allocation of its libraries, and of what else reads the operator's files.
#include "test/unit/fixture_lack.h"
#include "test/unit/scoreboard/fixture_client.h"

#include <sys/wait.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"
#include "scoreboard/dawnbench/dawnbench.h"
#include "scoreboard/rank/competition.h"

enum { BLOCK = 1 << 20 };

static const char page[] = "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
static const char missing[] = "GET /api/v1/nothing HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
static const char statement[] = "POST /api/v1/statements HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                                "Content-Length: 20\r\nConnection: close\r\n\r\n{\"payload\":\"abcdefg\"}";

// Each request is served from the rest of the reserve, or refused.
TEST_WITH(a_request_outlives_a_lack, set_up, tear_down)
{
    static const char *const requests[] = {page, missing, statement};
    reserve_keep(BLOCK);
    for (size_t r = 0; r < sizeof requests / sizeof *requests; r++) {
        const int usual = status_of(requests[r]);
        assert_in_range(usual, 200, 499);
        for (int64_t bytes = 0; bytes < 1 << 17; bytes = bytes * 5 / 4 + 40) {
            reserve_limit(bytes);
            for (int again = 0; again < 3; again++) {
                const int status = status_of(requests[r]);
                if (status != usual) assert_int_equal(status, 503);
            }
            reserve_limit(-1);
            assert_int_equal(status_of(requests[r]), usual);  // the reserve is filled again
        }
    }
    reserve_keep(0);
}

// While the system gives nothing for long, requests are refused before the reserve ends.
TEST_WITH(a_long_lack_is_refused, set_up, tear_down)
{
    reserve_keep(BLOCK / 8);
    assert_int_equal(status_of(page), 200);
    reserve_limit(0);
    int served = 0;
    while (served < 10000 && status_of(missing) == 404) served++;
    assert_in_range(served, 1, 9999);
    for (int i = 0; i < 20; i++) assert_int_equal(status_of(i % 2 ? page : statement), 503);
    reserve_limit(-1);
    assert_int_equal(status_of(page), 200);
    reserve_keep(0);
}

// An answer, a refusal, or a connection that the library of HTTP closes; and the next request is served as usual.
TEST_WITH(each_allocation_of_a_request_may_fail, set_up, tear_down)
{
    static const char *const requests[] = {page, missing, statement};
    program_memory();
    reserve_keep(BLOCK);
    for (size_t r = 0; r < sizeof requests / sizeof *requests; r++) {
        const int usual = status_of(requests[r]);
        long nth = 0;
        do {
            lack_struck = false;
            lack_at = ++nth;
            const int status = status_of(requests[r]);
            lack_at = 0;
            if (status != usual && status != 503 && status != 0) fail_msg("allocation %ld: %d: %s", nth, status, requests[r]);
            assert_int_equal(status_of(requests[r]), usual);
        } while (lack_struck);
        print_message("%ld allocations\n", nth - 1);
        assert_true(nth > 5);
    }
    reserve_keep(0);
}

// ---- the operator's files

static char *bytes;
static size_t count;

static int64_t read_history(void)
{
    struct dawnbench_archive it;
    if (history_read("it", bytes, count, &it) < 0) return -1;
    const int64_t found = it.count;
    dawnbench_archive_free(&it);
    return found;
}

static int64_t read_competition(void)
{
    json_t *it;
    if (competition_read(bytes, count, &it) < 0) return -1;
    const int64_t found = (int64_t)json_object_size(it);
    json_decref(it);
    return found;
}

TEST(each_allocation_of_a_reader_may_fail)
{
    assert_int_equal(file_read("test/fuzz/seeds/board_history/race.tsv", 1 << 20, &bytes, &count), 0);
    lack_each("a history", read_history);
    free(bytes);
    assert_int_equal(file_read("test/fuzz/seeds/board_competition/good.json", 1 << 20, &bytes, &count), 0);
    lack_each("a competition", read_competition);
    free(bytes);
}

// Without a reserve the same lack ends the program with a sentence, which proves that the limit is one.
TEST(without_a_reserve_the_program_ends)
{
    char said[128] = "";
    int status, to[2];
    assert_int_equal(pipe(to), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(to[1], STDERR_FILENO);
        reserve_keep(0);
        reserve_limit(100);
        free(zalloc(100));
        free(zalloc(1));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    assert_true(read(to[0], said, sizeof said - 1) > 0);
    assert_non_null(strstr(said, "not enough memory for 1 bytes more"));
    close(to[0]), close(to[1]);
}
