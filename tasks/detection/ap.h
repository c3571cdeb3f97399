// SPDX-License-Identifier: Apache-2.0
// Average precision and recall of detections, equal to pycocotools 2.0.11 with its defaults.
//
// In each image and category the 100 detections with the highest scores take, in this order, the free truth of largest overlap,
// if that reaches the threshold; of equal ones the later. Crowds are never used up. A truth that is a crowd or outside of the
// range of areas does not count, nor does a detection that takes such a truth, or that takes none and is outside of the range.
// Precision at a recall is the best at that recall or a higher one, at recalls 0, 0.01, .. 1. A score is the mean over
// thresholds, recalls and categories; categories without a truth are left out.
#pragma once

#include "tasks/detection/rle.h"

enum { AP_RECALLS = 101 };
enum ap_score {
    AP_ALL, AP_50, AP_75, AP_SMALL, AP_MEDIUM, AP_LARGE,  // precision: IoU 0.50 to 0.95; 0.50; 0.75; by area
    AR_1, AR_10, AR_100, AR_SMALL, AR_MEDIUM, AR_LARGE,   // recall with so many detections in an image; by area, with 100
    AP_SCORES
};
// Areas, borders included: small up to 32 x 32, medium up to 96 x 96, large up to 10^5 x 10^5, as is the largest of all.

struct ap_item {  // a truth or a detection
    int64_t image, category;
    double area;
    double score;     // of a detection
    double box[4];    // x, y, width, height
    struct rle mask;  // where masks are compared
    bool crowd;       // of a truth
};
struct ap_list {
    struct ap_item *item;  // equal scores keep their order; those of different images follow their numbers
    int64_t count;
};
// -1 is a score without any truth. Fails if the score of a detection is no number.
int ap_score(const struct ap_list *truth, const struct ap_list *found, bool masks, double score[AP_SCORES]) MUST_CHECK;
// The same, and precision at recalls 0, 0.01, .. 1 for IoU 0.50 and all areas, as the mean over categories: its mean is AP_50.
int ap_curve(const struct ap_list *truth, const struct ap_list *found, bool masks, double score[AP_SCORES],
             double precision[AP_RECALLS]) MUST_CHECK;
