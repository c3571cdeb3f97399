// SPDX-License-Identifier: Apache-2.0
// A training that does not fit into the memory of its device is refused before anything is taken, and the batch that is named
// is the largest that fits.
#include "runtime/null/null.h"
#include "tasks/common/train/memory_fit.h"
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"

static void open_planned(struct bench *b, const char *const *settings)
{
    bench_open(b, "null", 1, 2000, 100, "cifar10", settings);
    assert_int_equal(trainer_new(&b->choice, &b->trainer), 0);
}

static size_t bytes_with_batch(struct bench *b, int64_t batch)
{
    struct trainer_choice choice = b->choice;
    struct trainer *t;
    choice.recipe.batch = batch;
    assert_int_equal(trainer_new(&choice, &t), 0);
    size_t bytes = t->session->memory_total;
    trainer_free(t);
    return bytes;
}

// Plans a whole batch, and one in parts.
TEST(the_largest_batch_is_named)
{
    static const char *const settings[2][6] = {{"widths=8,8,16", "batch=1000", "epochs=2", "resolution=24,32", NULL},
                                               {"widths=8,8,16", "batch=900", "epochs=2", "accumulate=3", NULL}};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        char words[64];
        int64_t step = i ? 3 : 1;
        open_planned(&b, settings[i]);
        size_t most = b.trainer->session->memory_total;
        assert_int_equal(memory_fit_check(b.trainer), 0);
        for (int64_t batch = 300; batch <= 600; batch += 150) {
            size_t capacity = bytes_with_batch(&b, batch) + 100;
            assert_true(capacity < bytes_with_batch(&b, batch + step));
            assert_int_equal(memory_fit_largest_batch(b.trainer, capacity), batch);
            null_limit(b.device, capacity);
            assert_int_equal(memory_fit_check(b.trainer), ERR_MEMORY);
            snprintf(words, sizeof words, "the largest batch that fits is %d (--batch %d)", (int)batch, (int)batch);
            if (!strstr(error_text(), words)) fail_msg("\"%s\" is not in: %s", words, error_text());
        }
        null_limit(b.device, most);
        assert_int_equal(memory_fit_check(b.trainer), 0);
        null_limit(b.device, most - 1);
        assert_int_equal(memory_fit_check(b.trainer), ERR_MEMORY);
        null_limit(b.device, 1000);
        assert_int_equal(memory_fit_check(b.trainer), ERR_MEMORY);
        if (!strstr(error_text(), "no batch is small enough")) fail_msg("%s", error_text());
        bench_close(&b);
    }
}
