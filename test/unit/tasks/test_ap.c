// SPDX-License-Identifier: Apache-2.0
// Average precision: small sets whose 12 numbers pycocotools 2.0.11 computed, and truths and results that are refused.
#include "tasks/detection/coco.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

static int read_both(const char *truth, const char *results, bool masks, struct coco *c)
{
    int rc = coco_truth("t.json", truth, strlen(truth), masks, c);
    return rc < 0 ? rc : coco_results("r.json", results, strlen(results), c);
}

static const struct {
    bool masks;
    const char *truth, *results;
    double score[AP_SCORES];
} golden[] = {
    {false,
        "{\"images\":[{\"id\":9,\"height\":120,\"width\":160},{\"id\":3,\"height\":120,\"width\":160},"
        "{\"id\":5,\"height\":120,\"width\":160}],\"categories\":[{\"id\":2},{\"id\":1},"
        "{\"id\":7}],\"annotations\":[{\"id\":1,\"image_id\":9,\"category_id\":2,\"bbox\":[10,10,32,32],"
        "\"area\":1024,\"iscrowd\":0},{\"id\":2,\"image_id\":9,\"category_id\":2,\"bbox\":[12,10,32,32],"
        "\"area\":1024,\"iscrowd\":0},{\"id\":3,\"image_id\":9,\"category_id\":2,\"bbox\":[0,0,80,60],\"area\":4800,"
        "\"iscrowd\":1},{\"id\":4,\"image_id\":3,\"category_id\":2,\"bbox\":[20,20,96,96],\"area\":9216,"
        "\"iscrowd\":0},{\"id\":5,\"image_id\":3,\"category_id\":1,\"bbox\":[5,5,10,40],\"area\":400,\"iscrowd\":0},"
        "{\"id\":6,\"image_id\":5,\"category_id\":1,\"bbox\":[50,50,20,0],\"area\":0,\"iscrowd\":0},"
        "{\"id\":7,\"image_id\":5,\"category_id\":1,\"bbox\":[100,10,100,100],\"area\":10000,\"iscrowd\":0}]}",
        "[{\"image_id\":9,\"category_id\":2,\"score\":0.5,\"bbox\":[11,10,32,32]},"
        "{\"image_id\":9,\"category_id\":2,\"score\":0.5,\"bbox\":[10,10,32,30]},"
        "{\"image_id\":9,\"category_id\":2,\"score\":0.75,\"bbox\":[40,30,30,30]},"
        "{\"image_id\":9,\"category_id\":2,\"score\":0.25,\"bbox\":[2,2,20,20]},"
        "{\"image_id\":3,\"category_id\":2,\"score\":0.75,\"bbox\":[22,18,96,96]},"
        "{\"image_id\":3,\"category_id\":2,\"score\":0.5,\"bbox\":[20,20,96,64]},"
        "{\"image_id\":3,\"category_id\":1,\"score\":1,\"bbox\":[5,5,10,40]},"
        "{\"image_id\":5,\"category_id\":1,\"score\":0.5,\"bbox\":[100,10,90,100]},"
        "{\"image_id\":5,\"category_id\":1,\"score\":0.5,\"bbox\":[0,0,9,9]},"
        "{\"image_id\":3,\"category_id\":1,\"score\":0.5,\"bbox\":[6,5,10,39]},"
        "{\"image_id\":5,\"category_id\":7,\"score\":0.9,\"bbox\":[1,1,5,5]}]",
        {0.64170792079207917, 0.69430693069306915, 0.69430693069306915, 0.70247524752475243,
         0.75074257425742574, 0.89999999999999991, 0.46666666666666667, 0.76666666666666661,
         0.76666666666666661, 0.69999999999999996, 0.90000000000000002, 0.90000000000000002}},
    {true,
        "{\"images\":[{\"id\":1,\"height\":50,\"width\":60},"
        "{\"id\":2,\"height\":110,\"width\":120}],\"categories\":[{\"id\":4},"
        "{\"id\":6}],\"annotations\":[{\"id\":1,\"image_id\":1,\"category_id\":4,\"segmentation\":[[3,3,20,4.5,18.5,"
        "22,-2,15]],\"area\":300,\"iscrowd\":0},{\"id\":2,\"image_id\":1,\"category_id\":4,\"segmentation\":[[30,30,"
        "44,30,44,40,30,40],[28,44,50,46,40,49]],\"area\":190,\"iscrowd\":0},"
        "{\"id\":3,\"image_id\":1,\"category_id\":4,\"segmentation\":{\"size\":[50,60],\"counts\":[0,30,20,30,20,30,"
        "20,30,20,30,20,30,20,30,20,30,2620]},\"area\":240,\"iscrowd\":1},"
        "{\"id\":4,\"image_id\":2,\"category_id\":4,\"segmentation\":[[5,5,104,3,110,104,8,100]],\"area\":9800,"
        "\"iscrowd\":0},{\"id\":5,\"image_id\":2,\"category_id\":6,\"segmentation\":{\"size\":[110,120],"
        "\"counts\":\"fR1P1^20000000000000000000000000000000000000000000000000000000000000j[8\"},\"area\":1024,"
        "\"iscrowd\":0}]}",
        "[{\"image_id\":1,\"category_id\":4,\"score\":0.5,\"segmentation\":{\"size\":[50,60],"
        "\"counts\":\"f1a0Q1000000000000000000000000000000000no1\"}},"
        "{\"image_id\":1,\"category_id\":4,\"score\":0.5,\"segmentation\":{\"size\":[50,60],"
        "\"counts\":\"j_1:X1000mNIk07UOIk07UOIk07UOIk07UOIk07UOIk07UOIk07UOIk07UOIk07UOIk07UOIk07UOIZ1000_d0\"}},"
        "{\"image_id\":1,\"category_id\":4,\"score\":0.75,\"segmentation\":{\"size\":[50,60],"
        "\"counts\":\"1l0f0000000000[d2\"}},{\"image_id\":2,\"category_id\":4,\"score\":0.25,"
        "\"segmentation\":{\"size\":[110,120],"
        "\"counts\":\"id0P3>00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
        "o_1\"}},{\"image_id\":2,\"category_id\":6,\"score\":0.5,\"segmentation\":{\"size\":[110,120],"
        "\"counts\":\"hR1P1^2000000000000000000000000000000000000000000000000000000000db8\"}},"
        "{\"image_id\":2,\"category_id\":6,\"score\":0.75,\"segmentation\":{\"size\":[110,120],"
        "\"counts\":\"T`6d0j20000000000000000000000000000000000000dW4\"}}]",
        {0.57483498349834972, 0.75, 0.75, 0.55024752475247529,
         0.69999999999999984, 0.99999999999999978, 0.16666666666666669, 0.78333333333333333,
         0.78333333333333333, 0.75, 0.69999999999999996, 1}},
};

TEST(equals_pycocotools)
{
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        struct coco c;
        double score[AP_SCORES];
        OK(read_both(golden[i].truth, golden[i].results, golden[i].masks, &c));
        OK(ap_score(&c.truth, &c.found, c.masks, score));
        for (int k = 0; k < AP_SCORES; k++)
            if (!(fabs(score[k] - golden[i].score[k]) < 1e-12))
                fail_msg("set %zu, number %d: %.17g, not %.17g", i, k, score[k], golden[i].score[k]);
        coco_free(&c);
    }
}

// One detection more than 100, of the lowest score, changes nothing; without one of the 100 something changes.
TEST(the_best_hundred_count)
{
    static struct ap_item truth = {.image = 1, .category = 1, .area = 100, .box = {0, 0, 10, 10}}, found[101];
    double score[2][AP_SCORES];
    for (int i = 0; i < 101; i++)
        found[i] = (struct ap_item){.image = 1, .category = 1, .area = 100, .score = -i, .box = {i < 99 ? 50 : 0, 0, 10, 10}};
    for (int n = 0; n < 2; n++) OK(ap_score(&(struct ap_list){&truth, 1}, &(struct ap_list){found, 100 + n}, false, score[n]));
    assert_memory_equal(score[0], score[1], sizeof score[0]);
    assert_float_equal(score[0][AP_50], 0.01, 1e-12);
    assert_true(score[0][AR_100] == 1 && score[0][AR_10] == 0);
    found[99].box[0] = 50;
    OK(ap_score(&(struct ap_list){&truth, 1}, &(struct ap_list){found, 101}, false, score[0]));
    assert_true(score[0][AR_100] == 0);
}

// Of three truths in two categories, two are found: the first at once, the second after a wrong one.
TEST(precision_over_recall)
{
    static struct ap_item truth[] = {{.image = 1, .category = 1, .area = 100, .box = {0, 0, 10, 10}},
                                     {.image = 1, .category = 1, .area = 100, .box = {50, 0, 10, 10}},
                                     {.image = 2, .category = 2, .area = 100, .box = {0, 0, 10, 10}}},
                          found[] = {{.image = 1, .category = 1, .area = 100, .score = 0.9, .box = {0, 0, 10, 10}},
                                     {.image = 1, .category = 1, .area = 100, .score = 0.8, .box = {80, 0, 10, 10}},
                                     {.image = 1, .category = 1, .area = 100, .score = 0.7, .box = {50, 0, 10, 7}}};
    const struct ap_list first = {truth, 2}, all = {truth, 3}, boxes = {found, 3};
    double score[AP_SCORES], plain[AP_SCORES], precision[AP_RECALLS], sum = 0;
    OK(ap_curve(&first, &boxes, false, score, precision));
    for (int i = 0; i < AP_RECALLS; i++) {
        assert_float_equal(precision[i], i <= 50 ? 1 : 2.0 / 3, 1e-12);
        sum += precision[i];
    }
    assert_float_equal(sum / AP_RECALLS, score[AP_50], 1e-12);
    OK(ap_score(&first, &boxes, false, plain));
    assert_memory_equal(score, plain, sizeof score);
    OK(ap_curve(&all, &boxes, false, score, precision));  // the second category has no detection
    assert_float_equal(precision[0], 0.5, 1e-12);
    assert_float_equal(precision[100], 1.0 / 3, 1e-12);
    assert_float_equal(score[AP_50], sum / AP_RECALLS / 2, 1e-12);
}

TEST(a_score_that_is_no_number_is_refused)
{
    struct ap_item found[2] = {{.score = 1}, {.score = (double)NAN}};
    double score[AP_SCORES];
    const struct ap_list none = {NULL, 0}, two = {found, 2}, one = {found, 1};
    REFUSED(ap_score(&none, &two, false, score), "the score of detection 2 is no number");
    OK(ap_score(&none, &one, false, score));
    for (int i = 0; i < AP_SCORES; i++) assert_true(score[i] == -1);
}

#define TRUTH(annotations)                                                                                                     \
    "{\"images\": [{\"id\": 4, \"height\": 3, \"width\": 5}, {\"id\": 2}], \"categories\": [{\"id\": 7}],"                      \
    " \"annotations\": [" annotations "]}"
#define RIGHT "{\"id\": 1, \"image_id\": 4, \"category_id\": 7, \"area\": 1, \"bbox\": [0, 0, 1, 1], \"segmentation\": "         \
              "[[0, 0, 1, 0, 1, 1]]}"
#define NOTE(members) TRUTH("{\"id\": 1, \"image_id\": 4, \"category_id\": 7, " members "}")
#define RESULT(members) "[{\"image_id\": 4, \"category_id\": 7, \"score\": 0.5, " members "}]"
#define BOX "\"bbox\": [0, 0, 1, 1]"

TEST(wrong_files_are_refused)
{
    static const struct {
        bool masks;
        const char *truth, *results, *why;
    } rows[] = {
        {0, "[1", NULL, "t.json: line 1, byte 2: "},
        {0, "[]", NULL, "t.json: it has no list \"images\": this is not COCO's truth"},
        {0, "{\"images\": [7], \"categories\": [], \"annotations\": []}", NULL, "t.json: image 1: it has no whole number \"id\""},
        {0, "{\"images\": [{\"id\": 1, \"height\": 0, \"width\": 3}]}", NULL, "image 1: \"height\" is 0, not 1 to 32768"},
        {0, "{\"images\": [{\"id\": 1}, {\"id\": 2}, {\"id\": 1}]}", NULL, "t.json: two images have the id 1"},
        {0, "{\"images\": [], \"categories\": [{\"id\": 1}, {\"id\": 1}]}", NULL, "two categories have the id 1"},
        {0, TRUTH(RIGHT "," RIGHT), NULL, "t.json: two annotations have the id 1"},
        {0, TRUTH("{\"id\": 0}"), NULL, "annotation 1: \"id\" is 0, not 1 to"},
        {0, TRUTH(RIGHT ", {\"id\": 2, \"image_id\": 3, \"category_id\": 7}"), NULL, "annotation 2: the truth has no image 3"},
        {0, TRUTH("{\"id\": 2, \"image_id\": 4, \"category_id\": 3}"), NULL, "annotation 1: the truth has no category 3"},
        {0, NOTE(BOX), NULL, "annotation 1: it has no number \"area\""},
        {0, NOTE("\"area\": -1"), NULL, "annotation 1: \"area\" is -1, not 0 to 1e+18"},
        {0, NOTE("\"area\": 1, \"iscrowd\": 2"), NULL, "annotation 1: \"iscrowd\" is 2, not 0 to 1"},
        {0, NOTE("\"area\": 1"), NULL, "annotation 1: it has no \"bbox\" of four numbers"},
        {0, NOTE("\"area\": 1, \"bbox\": [1, 2, 3]"), NULL, "it has no \"bbox\" of four numbers"},
        {0, NOTE("\"area\": 1, \"bbox\": [1, 2, 3, null]"), NULL, "number 4 of its \"bbox\" is none"},
        {0, NOTE("\"area\": 1, \"bbox\": [1, 2, -3, 4]"), NULL, "t.json: annotation 1: its box has the width -3"},
        {0, NOTE("\"area\": 1, \"bbox\": [1, 2, 3, -0.5]"), NULL, "its box has the height -0.5"},
        {0, NOTE("\"area\": 1, \"bbox\": [1, 2e10, 3, 4]"), NULL, "its box reaches to 2e+10"},
        {1, NOTE("\"area\": 1, " BOX), NULL, "annotation 1: it has no \"segmentation\""},
        {1, NOTE("\"area\": 1, \"segmentation\": 1"), NULL, "is no list of polygons, and has no \"size\" and \"counts\""},
        {1, NOTE("\"area\": 1, \"segmentation\": []"), NULL, "its \"segmentation\" has no polygon"},
        {1, NOTE("\"area\": 1, \"segmentation\": [[0, 0, 1, 1]]"), NULL, "polygon 1 of its \"segmentation\": it is no list"},
        {1, NOTE("\"area\": 1, \"segmentation\": [[0, 0, 1, 1, 2]]"), NULL, "polygon 1 of its \"segmentation\": it is no list"},
        {1, NOTE("\"area\": 1, \"segmentation\": [[0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, \"2\"]]"), NULL,
         "polygon 2 of its \"segmentation\": number 6 is none"},
        {1, NOTE("\"area\": 1, \"segmentation\": [[0, 0, 1, 1, 2, 9]]"), NULL, "polygon 1 of its \"segmentation\": corner 3"},
        {1, NOTE("\"area\": 1, \"segmentation\": {\"size\": [5, 3], \"counts\": [15]}"), NULL,
         "the \"size\" of its mask is [5, 3], that of image 4 is [3, 5]"},
        {1, NOTE("\"area\": 1, \"segmentation\": {\"size\": [3, 5], \"counts\": [14]}"), NULL, "end 1 pixels before a mask"},
        {1, NOTE("\"area\": 1, \"segmentation\": {\"size\": [3, 5], \"counts\": [14, 2]}"), NULL, "is 2, where 1 pixels are"},
        {1, NOTE("\"area\": 1, \"segmentation\": {\"size\": [3, 5], \"counts\": [14, 1.0]}"), NULL,
         "count 2 of its mask is no whole number"},
        {1, NOTE("\"area\": 1, \"segmentation\": {\"size\": [3, 5], \"counts\": \"P\"}"), NULL, "number 1 is damaged"},
        {1, TRUTH("{\"id\": 1, \"image_id\": 2, \"category_id\": 7, \"area\": 1, \"segmentation\": [[0, 0, 1, 1, 2, 2]]}"), NULL,
         "image 2 has no \"height\" and \"width\""},
        {0, TRUTH(RIGHT), "{}", "r.json: it is no list"},
        {0, TRUTH(RIGHT), "[3]", "r.json: result 1: it is no object"},
        {0, TRUTH(RIGHT), "[{\"image_id\": 9, \"category_id\": 7}]", "r.json: result 1: the truth has no image 9"},
        {0, TRUTH(RIGHT), "[{\"image_id\": 4, \"category_id\": 9}]", "r.json: result 1: the truth has no category 9"},
        {0, TRUTH(RIGHT), "[{\"image_id\": 4, \"category_id\": 7, \"score\": null}]", "result 1: it has no number \"score\""},
        {0, TRUTH(RIGHT), "[{\"image_id\": 4,\n \"category_id\": 7, \"score\": NaN}]",
         "r.json: result 1: line 2, byte 48: invalid token near 'NaN'"},
        {0, TRUTH(RIGHT), "[{\"a\": \"}\\\"{\", \"b\": [{}]}, {\"score\": NaN",
         "r.json: result 2: line 1, byte 40: invalid token near 'NaN'"},
        {0, TRUTH(RIGHT), "[{}, NaN]", "r.json: line 1, byte 8: invalid token near 'NaN'"},
        {0, TRUTH("NaN"), NULL, "t.json: line 1, byte"},
        {0, TRUTH(RIGHT), RESULT("\"bbox\": [0, 0, -1, 1]"), "r.json: result 1: its box has the width -1"},
        {0, TRUTH(RIGHT), RESULT("\"keypoints\": []"), "r.json: result 1: it has no \"segmentation\""},
        {1, TRUTH(RIGHT), RESULT(BOX), "r.json: result 1: it has no \"segmentation\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct coco c;
        int rc = rows[i].results ? read_both(rows[i].truth, rows[i].results, rows[i].masks, &c)
                                 : coco_truth("t.json", rows[i].truth, strlen(rows[i].truth), rows[i].masks, &c);
        coco_free(&c);
        if (rc >= 0) fail_msg("row %zu was not refused: %s", i, rows[i].why);
        REFUSED(rc, rows[i].why);
    }
    static const char *const mixed = "[{\"image_id\": 4, \"category_id\": 7, \"score\": 0.5, " BOX "},"
                                     " {\"image_id\": 4, \"category_id\": 7, \"score\": 0.5, \"segmentation\": []}]";
    struct coco c;
    REFUSED(read_both(TRUTH(RIGHT), mixed, false, &c), "result 2: it has no \"bbox\", unlike the first");
    coco_free(&c);
    OK(read_both(TRUTH(RIGHT), "[]", true, &c));
    coco_free(&c);
}
