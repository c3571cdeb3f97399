// SPDX-License-Identifier: Apache-2.0
// When a training into a file or a pipe writes a line, and what is in it.
#include "tasks/common/train/progress.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>  // after error.h: it makes a macro of fail

#define SECOND 1000000000LL

// 100 steps per epoch; the last line was printed at time 0 after step 30.
static const struct progress plain = {.steps = 400, .steps_per_epoch = 100, .batch = 8, .last_step = 30};

static void a_minute_or_a_tenth_of_an_epoch(void **state)
{
    (void)state;
    assert_false(progress_wants(&plain, 39, 59 * SECOND));
    assert_true(progress_wants(&plain, 39, 60 * SECOND));
    assert_true(progress_wants(&plain, 31, 60 * SECOND));
    assert_true(progress_wants(&plain, 40, 10 * SECOND));
    assert_false(progress_wants(&plain, 40, 9 * SECOND));   // epochs of seconds: their rows are enough
    assert_false(progress_wants(&plain, 130, 9 * SECOND));
}

static void none_where_it_is_not_read(void **state)
{
    (void)state;
    struct progress p = plain;
    p.quiet = true;
    assert_false(progress_wants(&p, 100, 100 * SECOND));
    p = plain;
    p.json = true;
    assert_false(progress_wants(&p, 100, 100 * SECOND));
    p = plain;
    p.live = true;
    assert_true(progress_wants(&p, 30, SECOND / 4));
    assert_false(progress_wants(&p, 30, SECOND / 5));
}

// Calls progress_step with standard output in a file, and returns what it wrote.
static char *line_of(struct progress *p, double loss, double accuracy)
{
    static char line[256];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int out = dup(STDOUT_FILENO);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    progress_step(p, 40, loss, accuracy);
    fflush(stdout);
    assert_true(dup2(out, STDOUT_FILENO) >= 0);
    close(out);
    rewind(file);
    line[fread(line, 1, sizeof line - 1, file)] = 0;
    fclose(file);
    return line;
}

static void one_whole_line(void **state)
{
    (void)state;
    struct progress p = plain;
    char *line = line_of(&p, 1.25, 0.5);
    assert_ptr_equal(strstr(line, "   0.40     1.2500    50.00%  step 40/400, "), line);
    assert_string_equal(line + strlen(line) - 6, " left\n");
    assert_null(strchr(line, '\r'));
    assert_null(strchr(line, '#'));
    assert_int_equal(p.last_step, 40);
    assert_false(progress_wants(&p, 50, p.last_ns + 9 * SECOND));
    assert_true(progress_wants(&p, 50, p.last_ns + 10 * SECOND));
    line = line_of(&p, NAN, -1);  // a device that is not read between points
    assert_ptr_equal(strstr(line, "   0.40          -         -  step 40/400, "), line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_minute_or_a_tenth_of_an_epoch),
        cmocka_unit_test(none_where_it_is_not_read),
        cmocka_unit_test(one_whole_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
