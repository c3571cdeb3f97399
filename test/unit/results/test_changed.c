// SPDX-License-Identifier: Apache-2.0
// A record that somebody changed is marked wherever it is read.

#include "submit/results/export.h"
#include "submit/results/record.h"
#include "tasks/tools/show/show.h"
#include "test/unit/test.h"
#include "test/unit/fixture_record.h"

static void assert_says(const struct text *text, const char *words)
{
    if (text->at == NULL || strstr(text->at, words) == NULL) fail_msg("\"%s\" is not in:\n%s", words, text->at);
}

// k = 24,000 of 10,000 items used to be shown as 240.00%, and as nothing else.
TEST_WITH(a_changed_record_is_noticed, setup, leave)
{
    static const struct {
        const char *deed, *fault;
    } cases[] = {
        {"UPDATE scores SET score = 24000 WHERE run = 1", "point 0, epoch 1, step 25: its hash is"},
        {"UPDATE points SET t_ns = t_ns - 1 WHERE run = 1", "point 0, epoch 1, step 25: its hash is"},
        {"UPDATE points SET step = 2 WHERE run = 1; UPDATE scores SET step = 2 WHERE run = 1", "its hash is"},
        {"UPDATE runs SET seed = 5 WHERE id = 1", "the root is"},
        {"UPDATE runs SET reached_ns = reached_ns - 1 WHERE id = 1", "reached_ns does not follow"},
        {"UPDATE runs SET reached_step = NULL WHERE id = 1", "reached_step does not follow"},
        {"UPDATE runs SET recipe_json = '{}' WHERE id = 1", "the recipe does not match its digest"},
        {"UPDATE runs SET target_micro = 900000 WHERE id = 1", "the task's digest does not follow"},
        {"UPDATE metrics SET items = 9900 WHERE run = 1", "the task's digest does not follow"},
        {"UPDATE runs SET nonce = char(10) || 'x' WHERE id = 1", "is not text that DAWN writes"},
        {"UPDATE runs SET recipe_published = 1 WHERE id = 1", "the root is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct results *r = open_db(RESULTS_WRITE);
        struct run_facts facts = fixture_facts(9, NULL);
        fixture_run(r, &facts, (const int64_t[]){9540}, 1);
        results_close(r);
        sql_from_outside(cases[i].deed);
        r = open_db(RESULTS_READ);
        struct text text = {0};
        json_t *run;
        assert_int_equal(record_read(r, 1, &run), 0);
        if (record_chain(run) != ERR_INPUT || strstr(error_text(), cases[i].fault) == NULL)
            fail_msg("%s: %s", cases[i].deed, error_text());
        json_decref(run);
        assert_int_equal(show_run(r, 1, &(struct plain_style){0}, &text), 0);
        assert_says(&text, "BROKEN");
        text_free(&text);
        assert_int_equal(show_list(r, &show_everything, &(struct plain_style){0}, &text), 0);
        assert_says(&text, " BROKEN\n");
        assert_says(&text, "1 run was changed since");
        text_free(&text);
        assert_int_equal(export_json(r, 1, &text), 0);
        assert_says(&text, "\"broken\": ");
        text_free(&text);
        results_close(r);
        unlink(db);
    }
}
