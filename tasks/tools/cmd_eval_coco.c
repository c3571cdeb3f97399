// SPDX-License-Identifier: Apache-2.0
// dawn eval coco: scores the detections of any program.
#include <stdio.h>

#include "runtime/common/base/text.h"
#include "runtime/common/cli/options.h"
#include "tasks/commands.h"
#include "tasks/detection/coco.h"

static const struct {
    const char *name, *key, *about;
} rows[AP_SCORES] = {
    [AP_ALL] = {"AP", "AP", "IoU 0.50 to 0.95"},
    [AP_50] = {"AP50", "AP50", "IoU 0.50"},
    [AP_75] = {"AP75", "AP75", "IoU 0.75"},
    [AP_SMALL] = {"AP small", "APs", "areas up to 32 x 32"},
    [AP_MEDIUM] = {"AP medium", "APm", "areas from 32 x 32 to 96 x 96"},
    [AP_LARGE] = {"AP large", "APl", "areas from 96 x 96 on"},
    [AR_1] = {"AR 1", "AR1", "recall with 1 detection per image and category"},
    [AR_10] = {"AR 10", "AR10", "recall with 10"},
    [AR_100] = {"AR 100", "AR100", "recall with 100"},
    [AR_SMALL] = {"AR small", "ARs", "areas up to 32 x 32"},
    [AR_MEDIUM] = {"AR medium", "ARm", "areas from 32 x 32 to 96 x 96"},
    [AR_LARGE] = {"AR large", "ARl", "areas from 96 x 96 on"},
};

static void print_json(const struct coco *c, const double score[AP_SCORES])
{
    printf("{");
    for (int i = 0; i < AP_SCORES; i++) printf("\"%s\": %.17g, ", rows[i].key, score[i]);
    printf("\"compared\": \"%s\", \"images\": %lld, \"categories\": %lld, \"truths\": %lld, \"detections\": %lld}\n",
           c->masks ? "segm" : "bbox", (long long)c->images, (long long)c->categories, (long long)c->truth.count,
           (long long)c->found.count);
}

static void print_scores(const struct coco *c, const double score[AP_SCORES])
{
    char images[TEXT_FIGURE], truths[TEXT_FIGURE], found[TEXT_FIGURE];
    for (int i = 0; i < AP_SCORES; i++) {
        if (score[i] < 0) printf("%-11s-        no truth: %s\n", rows[i].name, rows[i].about);
        else printf("%-11s%.4f   %s\n", rows[i].name, score[i], rows[i].about);
    }
    printf("%s of %s truths and %s detections in %s images\n", c->masks ? "masks" : "boxes", text_count(truths, c->truth.count),
           text_count(found, c->found.count), text_count(images, c->images));
}

int cmd_eval_coco(int argc, char **argv)
{
    bool json = false, masks = false;
    const struct option options[] = {
        {OPTION_FLAG, 's', "segm", NULL, "compare masks; else boxes", &masks, 0, 0},
        {OPTION_FLAG, 'j', "json", NULL, "one JSON object; -1 where there is no truth", &json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        "eval coco", "TRUTH.json RESULTS.json [OPTIONS]",
        "Scores detections by COCO's average precision and recall, as pycocotools 2.0.11 does. Both files have COCO's form: the "
        "truth an object with images, categories and annotations, the results a list of objects with image_id, category_id, "
        "score, and bbox or segmentation or both. A segmentation is a list of polygons, or run lengths as numbers or text.",
        options,
        "Examples:\n  dawn eval coco instances_val2017.json boxes.json\n"
        "  dawn eval coco instances_val2017.json masks.json --segm --json\n",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc < 3) return fail(ERR_USAGE, "expected a file with the truth and a file with results");
    if (argc > 3) return fail(ERR_USAGE, "eval coco does not take \"%.60s\"", argv[3]);
    struct coco coco = {0};
    double score[AP_SCORES];
    rc = coco_open(argv[1], argv[2], masks, &coco);
    if (rc == 0) rc = ap_score(&coco.truth, &coco.found, masks, score);
    if (rc == 0) (json ? print_json : print_scores)(&coco, score);
    coco_free(&coco);
    return rc;
}
