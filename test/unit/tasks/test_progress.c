// SPDX-License-Identifier: Apache-2.0
// When a training into a file or a pipe writes a line, and the line's text.
#include "tasks/common/train/progress.h"
#include "test/unit/test.h"

#define SECOND 1000000000LL

// 100 steps per epoch; the last line was printed at time 0 after step 30.
static const struct progress plain = {.steps = 400, .steps_per_epoch = 100, .step_samples = 8, .last_step = 30};

TEST(a_minute_or_a_tenth_of_an_epoch)
{
    assert_false(progress_wants(&plain, 39, 59 * SECOND));
    assert_true(progress_wants(&plain, 39, 60 * SECOND));
    assert_true(progress_wants(&plain, 31, 60 * SECOND));
    assert_true(progress_wants(&plain, 40, 10 * SECOND));
    assert_false(progress_wants(&plain, 40, 9 * SECOND));   // epochs of seconds: their rows are enough
    assert_false(progress_wants(&plain, 130, 9 * SECOND));
}

TEST(none_where_it_is_not_read)
{
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

// Calls progress_step, or progress_end if `end` is given, with standard output in a file, and returns what it wrote.
static char *written_by(struct progress *p, const struct progress_end *end, double loss, double accuracy)
{
    static char line[512];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int out = dup(STDOUT_FILENO);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    if (end) progress_end(p, end);
    else progress_step(p, 40, loss, accuracy);
    fflush(stdout);
    assert_true(dup2(out, STDOUT_FILENO) >= 0);
    close(out);
    rewind(file);
    line[fread(line, 1, sizeof line - 1, file)] = 0;
    fclose(file);
    return line;
}

TEST(one_whole_line)
{
    struct progress p = plain;
    char *line = written_by(&p, NULL, 1.25, 0.5);
    assert_ptr_equal(strstr(line, "   0.40     1.2500    50.00%  step 40/400, "), line);
    assert_string_equal(line + strlen(line) - 6, " left\n");
    assert_null(strchr(line, '\r'));
    assert_null(strchr(line, '#'));
    assert_int_equal(p.last_step, 40);
    assert_false(progress_wants(&p, 50, p.last_ns + 9 * SECOND));
    assert_true(progress_wants(&p, 50, p.last_ns + 10 * SECOND));
    line = written_by(&p, NULL, NAN, -1);  // a device that is not read between points
    assert_ptr_equal(strstr(line, "   0.40          -         -  step 40/400, "), line);
}

// The score and the time of a sentence belong to one moment: the target's; then the end, if training went on.
TEST(score_and_time_of_one_moment)
{
    static const struct run_metric accuracy = {"top1", "%", false, 10000};
    struct progress p = plain;
    p.metrics = &accuracy, p.metric_count = 1, p.target = 0.9;
    struct progress_end e = {.status = "done", .scale = "",
                             .reported = {9145, {16400000000, 15 * SECOND, 14 * SECOND, 0}},
                             .last = {9945, {40 * SECOND, 38 * SECOND, 35 * SECOND, 0}}};
    char *said = written_by(&p, &e, 0, 0);
    assert_non_null(strstr(said, "done: 91.45% top-1 accuracy (target 90.00%) after 16.4 s end to end\nclassic clock 15.0 s"));
    assert_non_null(strstr(said, "\nlast evaluation: 99.45% after 40.0 s end to end\n"));
    p.json = true;
    said = written_by(&p, &e, 0, 0);
    assert_non_null(strstr(said, "\"end_to_end_ns\":16400000000,"));
    assert_non_null(strstr(said, "\"score\":0.9145,\"accuracy\":0.9145,"));
    assert_non_null(strstr(said, "\"last\":{\"end_to_end_ns\":40000000000,\"score\":0.9945}"));
    e.last = e.reported;
    assert_null(strstr(written_by(&p, &e, 0, 0), "last"));
    p.json = false;
    assert_null(strstr(written_by(&p, &e, 0, 0), "last"));
}
