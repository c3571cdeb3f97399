// SPDX-License-Identifier: Apache-2.0
// Any bytes as a truth and results of COCO, with a zero byte between. Scores lie in 0 .. 1 or are -1; masks survive their text.
#include "tasks/detection/coco.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static void check_mask(const struct rle *r)
{
    struct text text = {0};
    struct rle again;
    int64_t pixels = 0;
    for (int64_t i = 0; i < r->runs; i++) {
        BUG_IF(i > 0 && r->run[i] == 0);
        pixels += r->run[i];
    }
    BUG_IF(pixels != (int64_t)r->height * r->width || rle_area(r) > pixels);
    rle_text(r, &text);
    BUG_IF(rle_parse(text.at, text.length, r->height, r->width, &again) < 0 || again.runs != r->runs);
    BUG_IF(memcmp(again.run, r->run, (size_t)r->runs * sizeof *r->run) != 0);
    BUG_IF(rle_iou(r, r, false) != (rle_area(r) > 0 ? 1 : 0));
    rle_free(&again);
    text_free(&text);
}

static void check_list(const struct ap_list *list, bool masks)
{
    for (int64_t i = 0; i < list->count && masks; i++) check_mask(&list->item[i].mask);
}

static void check_scores(const struct coco *c)
{
    double score[AP_SCORES];
    BUG_IF(ap_score(&c->truth, &c->found, c->masks, score) < 0);
    for (int i = 0; i < AP_SCORES; i++) BUG_IF(score[i] != -1 && !(score[i] >= 0 && score[i] <= 1));
    check_list(&c->truth, c->masks);
    check_list(&c->found, c->masks);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    const uint8_t *zero = count > 0 ? memchr(bytes, 0, count) : NULL;
    size_t truth = zero ? (size_t)(zero - bytes) : count;
    for (int masks = 0; masks < 2; masks++) {
        struct coco c;
        int rc = coco_truth("truth", (const char *)bytes, truth, masks, &c);
        BUG_IF(rc < 0 && strncmp(error_text(), "truth", 5) != 0);
        if (rc == 0 && zero) {
            rc = coco_results("results", (const char *)zero + 1, count - truth - 1, &c);
            BUG_IF(rc < 0 && strncmp(error_text(), "results", 7) != 0);
        }
        if (rc == 0) check_scores(&c);
        coco_free(&c);
    }
    return 0;
}
