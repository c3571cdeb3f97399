// SPDX-License-Identifier: Apache-2.0
// A server that gets no more memory answers 503 and lives: the system gives N bytes more, for many N, so that every allocation
// of a request fails once.
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_client.h"

#include <signal.h>
#include <sys/wait.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/reserve.h"

enum { BLOCK = 1 << 20 };

static const char page[] = "GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
static const char missing[] = "GET /api/v1/nothing HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n";
static const char statement[] = "POST /api/v1/statements HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"
                                "Content-Length: 20\r\nConnection: close\r\n\r\n{\"payload\":\"abcdefg\"}";

// Each request is served by what is left of the reserve, or refused.
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

// Without a reserve the same lack ends the program, which proves that the limit is one.
TEST(without_a_reserve_the_program_ends)
{
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        fclose(stderr);
        reserve_limit(100);
        free(zalloc(100));
        free(zalloc(1));
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
