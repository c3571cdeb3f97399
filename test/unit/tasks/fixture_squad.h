// SPDX-License-Identifier: Apache-2.0
// Made-up articles in SQuAD's form, and the samples that a model makes of them.
#pragma once

#include "test/unit/test_data.h"

#include "runtime/common/base/text.h"
#include "tasks/squad/squad_keys.h"
#include "tasks/squad/squad.h"

enum { ARTICLES = 12 };  // two articles are for validation

static int misplaced;  // answers stand so many characters before the position that the file says

// Contexts of `words` words "Word17" with accents and signs between, then "Once7" in article 7 if `once`; and a question about
// the word before the answer.
static inline void write_articles(int words, bool once)
{
    struct text t = {0};
    text_add(&t, "{\"version\": \"1.1\", \"data\": [");
    for (int a = 0; a < ARTICLES; a++) {
        int at = 17 * (a + 1) % (words - 2), start = 0, count = 0;
        text_add(&t, "%s{\"title\": \"%02d\", \"paragraphs\": [{\"context\": \"", a ? ", " : "", a);
        for (int w = 0; w < words; w++) {
            char word[32];
            int n = snprintf(word, sizeof word, "%sWord%d\xc3\xa9%s ", w % 7 ? "" : "(", w, w % 5 ? "" : ",");
            if (w == at) start = count + (w % 7 == 0);
            count += n - 1;  // in code points
            text_add(&t, "%s", word);
        }
        if (once) text_add(&t, "Once%d", a);
        text_add(&t, "\", \"qas\": [{\"id\": \"q%d\", \"question\": \"What follows word%d, and why?\", \"answers\": "
                 "[{\"text\": \"Word%d\xc3\xa9\", \"answer_start\": %d}]}]}]}", a, at - 1, at, start + misplaced);
    }
    text_add(&t, "]}");
    put("dev-v1.1.json", t.at, t.length);
    text_free(&t);
}

struct samples {
    struct recipe recipe;
    struct setting setting;
    struct dataset *stored, *view;
};

static inline void open_samples_of(struct samples *s, const char *recipe, const char *set, const char *vectors)
{
    *s = (struct samples){0};
    OK(recipe_parse("test", recipe, strlen(recipe), &s->recipe));
    if (set) OK(recipe_set(&s->recipe, set));
    OK(recipe_check(&s->recipe));
    OK(dataset_open("squad-split", folder, &s->stored));
    s->setting = (struct setting){.task = &task_squad_split, .recipe = &s->recipe, .data = dataset_facts(s->stored),
                                  .files = {.vectors = vectors}};
    OK(task_find_model(&task_squad_split, s->recipe.model, &s->setting.model));
    OK(task_squad_split.view(&s->setting, s->stored, &s->view));
    s->setting.data = dataset_facts(s->view);
}

static inline void close_samples(struct samples *s)
{
    dataset_close(s->view);
    dataset_close(s->stored);
}

static inline int32_t number_of(struct samples *s, enum split split, const char *field, int64_t i)
{
    int32_t number;
    OK(dataset_item(s->view, split, field, i, &number, sizeof number, NULL));
    return number;
}
