// SPDX-License-Identifier: Apache-2.0
// Damaged pictures of a run, as its record counts them and its end prints them.
#include "runtime/common/base/text.h"
#include "tasks/common/train/train_inside.h"

const int64_t *train_damaged(struct training *r)
{
    for (int s = 0; s < SPLIT_COUNT; s++) {
        struct damage_report report;
        if (!supply_damaged(&r->trainer->supply[s], &report)) return NULL;
        r->damaged[s] = report.count;
    }
    return r->damaged;
}

void train_damaged_text(const struct training *r, struct text *text)
{
    for (int s = 0; s < SPLIT_COUNT; s++) {
        struct text words = {0};
        supply_damaged_text(&r->trainer->supply[s], &words);
        if (words.at && text->length) text_add(text, "\n");
        if (words.at) text_wrap(text, words.at, 0, 2);
        text_free(&words);
    }
}
