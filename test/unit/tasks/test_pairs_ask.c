// SPDX-License-Identifier: Apache-2.0
// Lines as people type them, in the form of each task's training text; and the noise that stands for a text that is not here.
#include "data/dataset.h"
#include "runtime/common/base/arena.h"
#include "tasks/common/recipe/recipe.h"
#include "data/feed/pair_buckets.h"
#include "tasks/translation/pairs.h"
#include "test/unit/test.h"

#include <stdlib.h>

static void assert_source(struct dataset *ds, int64_t index, const char *expected)
{
    char line[128];
    int64_t length;
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "source", index, line, sizeof line - 1, &length), 0);
    line[length] = 0;
    assert_string_equal(line, expected);
}

TEST(marks_are_apart_and_escaped)
{
    static const char sentence[] = "A [dog|cat]'s \"<B>\" & C.";
    struct dataset *ds;
    assert_int_equal(pairs_ask(NULL, NULL, 0, sentence, &ds), 0);
    assert_source(ds, 0, "a &#91; dog &#124; cat &#93; &apos;s &quot; &lt; b &gt; &quot; &amp; c .");
    dataset_close(ds);
    assert_int_equal(pairs_ask_cased(NULL, NULL, 0, sentence, &ds), 0);
    assert_source(ds, 0, "A &#91; dog &#124; cat &#93; &apos;s &quot; &lt; B &gt; &quot; &amp; C .");
    dataset_close(ds);
    assert_int_equal(pairs_ask_plain(NULL, NULL, 0, sentence, &ds), 0);
    assert_source(ds, 0, sentence);
    dataset_close(ds);
}

TEST(blank_lines_stay)
{
    static const char text[] = "A\r\n\n \t\r\nb";
    struct dataset *ds;
    assert_int_equal(pairs_ask(NULL, text, sizeof text - 1, NULL, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 4);
    assert_source(ds, 0, "a");
    assert_source(ds, 1, "");
    assert_source(ds, 3, "b");
    dataset_close(ds);
    assert_int_equal(pairs_ask(NULL, NULL, 0, " \t", &ds), ERR_USAGE);
    assert_int_equal(pairs_ask(NULL, "", 0, NULL, &ds), ERR_INPUT);
    assert_fails(pairs_ask_plain(NULL, "a\nb\xff", 4, NULL, &ds), ERR_INPUT, "the text:2: byte 2 of the line is not UTF-8");
    assert_fails(pairs_ask(NULL, "a\nb\xff", 4, NULL, &ds), ERR_INPUT, "the text:2: byte 2 of the line is not UTF-8");
}

// Nothing but lengths is stored of noise (WMT17 has 4.5 million pairs): both ways to learn a length agree, and the symbols are
// those of the program that stored them.
TEST(noise_stays_what_it_was)
{
    struct dataset *stored, *view;
    struct recipe recipe;
    assert_int_equal(recipe_embedded("transformer-tiny", &recipe), 0);
    assert_int_equal(dataset_open_noise("multi30k", &stored), 0);
    struct setting setting = {.recipe = &recipe, .data = dataset_facts(stored)};
    assert_int_equal(pairs_view(&setting, stored, &view), 0);
    int32_t *lengths = zalloc((size_t)dataset_facts(view)->count[SPLIT_TRAIN] * sizeof *lengths);
    int32_t id[PAIRS_LONGEST];
    uint32_t sum = 0;
    for (int side = 0; side < PAIR_SIDES; side++) {
        assert_int_equal(dataset_lengths(view, SPLIT_TRAIN, side ? "target" : "source", lengths), 0);
        for (int i = 0; i < 1000; i++) {
            int64_t length;
            assert_int_equal(dataset_item(view, SPLIT_TRAIN, side ? "target" : "source", i, id, sizeof id, &length), 0);
            assert_int_equal(length, lengths[i]);
            assert_int_equal(id[length - 1], BPE_EOS);
            for (int64_t j = 0; j < length; j++) sum = 31 * sum + (uint32_t)id[j];
        }
    }
    assert_int_equal(sum, 0xb4f1ee8);
    free(lengths);
    dataset_close(view);
    dataset_close(stored);
}
