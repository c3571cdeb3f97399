// SPDX-License-Identifier: Apache-2.0
// Cost: in each image and category, detections x truths overlaps once, and a matching for each of 4 ranges and 10 thresholds.
#include "tasks/detection/ap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"

enum { THRESHOLDS = 10, RANGES = 4, LIMITS = 3, FOUND_MOST = 100, AT_75 = 5 };
#define AREA_MOST 1e10
static const double ranges[RANGES][2] = {{0, AREA_MOST}, {0, 32 * 32}, {32 * 32, 96 * 96}, {96 * 96, AREA_MOST}};
static const int limits[LIMITS] = {1, 10, FOUND_MOST};

// As numpy.linspace computes them: the last digits decide whether a recall is reached.
static double threshold_at(int i)
{
    return i == THRESHOLDS - 1 ? 0.95 : i * ((0.95 - 0.5) / (THRESHOLDS - 1)) + 0.5;
}

static double recall_at(int i)
{
    return i == AP_RECALLS - 1 ? 1 : i * 0.01;
}

struct hit {  // a detection, a bit for each threshold
    double score;
    unsigned matched, ignored;
    int64_t sequence;  // among all of the category
    int rank;       // in its image
};
struct range {  // of areas, in a category
    struct hit *hit;
    int64_t hits, truths;
};
struct totals {
    struct range range[RANGES];
    int64_t categories[RANGES];  // that have a truth in the range
    double precision[RANGES][THRESHOLDS], recall[LIMITS][RANGES][THRESHOLDS];  // sums over these categories
    double at_50[AP_RECALLS];  // the parts of precision[0][0]
};
struct picture {  // one category of one image
    const struct ap_item **truth, **found;
    int truths, founds;
    double *overlap;  // [founds][truths]
};

// ---- order

static int compare_places(const struct ap_item *x, const struct ap_item *y)
{
    if (x->category != y->category) return x->category < y->category ? -1 : 1;
    return (x->image > y->image) - (x->image < y->image);
}

static int compare_truths(const void *a, const void *b)
{
    const struct ap_item *x = *(const struct ap_item *const *)a, *y = *(const struct ap_item *const *)b;
    int order = compare_places(x, y);
    return order != 0 ? order : (x > y) - (x < y);
}

static int compare_found(const void *a, const void *b)
{
    const struct ap_item *x = *(const struct ap_item *const *)a, *y = *(const struct ap_item *const *)b;
    int order = compare_places(x, y);
    if (order != 0) return order;
    return x->score != y->score ? (x->score < y->score ? 1 : -1) : (x > y) - (x < y);
}

static int compare_hits(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    return x->score != y->score ? (x->score < y->score ? 1 : -1) : (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static const struct ap_item **sort_items(const struct ap_list *list, int (*compare)(const void *, const void *))
{
    const struct ap_item **sorted = grow(NULL, (size_t)(list->count + 1) * sizeof *sorted);
    for (int64_t i = 0; i < list->count; i++) sorted[i] = list->item + i;
    qsort(sorted, (size_t)list->count, sizeof *sorted, compare);
    return sorted;
}

// ---- one category of one image

static double box_iou(const struct ap_item *found, const struct ap_item *truth)
{
    const double *f = found->box, *t = truth->box;
    double width = fmin(f[2] + f[0], t[2] + t[0]) - fmax(f[0], t[0]);
    double height = fmin(f[3] + f[1], t[3] + t[1]) - fmax(f[1], t[1]);
    if (width <= 0 || height <= 0) return 0;
    double both = width * height, area = f[2] * f[3];
    return both / (truth->crowd ? area : area + t[2] * t[3] - both);
}

static bool is_outside(const struct ap_item *item, int range)
{
    return item->area < ranges[range][0] || item->area > ranges[range][1];
}

// The truth that a detection takes, or -1. `order` has the ignored ones last.
static int choose_truth(const struct picture *p, const double *overlap, double threshold, const int *order, const bool *ignored,
                        const bool *taken)
{
    double best = fmin(threshold, 1 - 1e-10);
    int chosen = -1;
    for (int i = 0; i < p->truths; i++) {
        int t = order[i];
        if (taken[t] && !p->truth[t]->crowd) continue;
        if (chosen >= 0 && !ignored[chosen] && ignored[t]) break;
        if (overlap[t] < best) continue;
        best = overlap[t];
        chosen = t;
    }
    return chosen;
}

static void match_range(const struct picture *p, int range, struct range *into)
{
    size_t truths = (size_t)p->truths + 1;
    bool *ignored = zalloc(truths), *taken = grow(NULL, truths);
    int *order = grow(NULL, truths * sizeof *order), n = 0;
    for (int t = 0; t < p->truths; t++) ignored[t] = p->truth[t]->crowd || is_outside(p->truth[t], range);
    for (int pass = 0; pass < 2; pass++)
        for (int t = 0; t < p->truths; t++)
            if (ignored[t] == pass) order[n++] = t;
    for (int t = 0; t < p->truths; t++) into->truths += !ignored[t];
    into->hit = grow(into->hit, (size_t)(into->hits + p->founds + 1) * sizeof *into->hit);
    struct hit *hit = into->hit + into->hits;
    for (int f = 0; f < p->founds; f++) hit[f] = (struct hit){p->found[f]->score, 0, 0, into->hits + f, f};
    for (int i = 0; i < THRESHOLDS; i++) {
        memset(taken, 0, truths);
        for (int f = 0; f < p->founds; f++) {
            int t = choose_truth(p, p->overlap + (int64_t)f * p->truths, threshold_at(i), order, ignored, taken);
            if (t >= 0) taken[t] = true, hit[f].matched |= 1u << i;
            if (t >= 0 ? ignored[t] : is_outside(p->found[f], range)) hit[f].ignored |= 1u << i;
        }
    }
    into->hits += p->founds;
    free(ignored), free(taken), free(order);
}

static void match_picture(struct picture *p, bool masks, struct totals *totals)
{
    p->overlap = grow(p->overlap, ((size_t)p->founds * (size_t)p->truths + 1) * sizeof *p->overlap);
    for (int f = 0; f < p->founds; f++) {
        for (int t = 0; t < p->truths; t++) {
            const struct ap_item *found = p->found[f], *truth = p->truth[t];
            double iou = masks ? rle_iou(&found->mask, &truth->mask, truth->crowd) : box_iou(found, truth);
            p->overlap[(int64_t)f * p->truths + t] = iou;
        }
    }
    for (int range = 0; range < RANGES; range++) match_range(p, range, &totals->range[range]);
}

// ---- one category of all images

// Sum over recalls. `precision` and `recall` hold one number per hit. Adds the parts of the sum to `parts` unless NULL.
static double sum_precision(const struct range *r, unsigned bit, double *precision, double *recall, double *parts)
{
    double right = 0, wrong = 0, sum = 0;
    for (int64_t i = 0; i < r->hits; i++) {
        bool counts = !(r->hit[i].ignored & bit), matched = r->hit[i].matched & bit;
        right += counts && matched, wrong += counts && !matched;
        recall[i] = right / (double)r->truths;
        precision[i] = right / (wrong + right + DBL_EPSILON);
    }
    for (int64_t i = r->hits - 1; i > 0; i--) precision[i - 1] = fmax(precision[i - 1], precision[i]);
    for (int64_t at = 0, i = 0; i < AP_RECALLS; i++) {
        while (at < r->hits && recall[at] < recall_at((int)i)) at++;
        if (at < r->hits) sum += precision[at];
        if (at < r->hits && parts) parts[i] += precision[at];
    }
    return sum;
}

static void add_category(struct totals *totals, int range)
{
    struct range *r = &totals->range[range];
    if (r->truths > 0) {
        double *precision = grow(NULL, (size_t)(r->hits + 1) * sizeof *precision);
        double *recall = grow(NULL, (size_t)(r->hits + 1) * sizeof *recall);
        if (r->hits > 0) qsort(r->hit, (size_t)r->hits, sizeof *r->hit, compare_hits);
        totals->categories[range]++;
        for (int i = 0; i < THRESHOLDS; i++) {
            int64_t right[LIMITS] = {0};
            for (int64_t h = 0; h < r->hits; h++)
                for (int m = 0; m < LIMITS; m++)
                    right[m] += (r->hit[h].matched & ~r->hit[h].ignored) >> i & 1 && r->hit[h].rank < limits[m];
            for (int m = 0; m < LIMITS; m++) totals->recall[m][range][i] += (double)right[m] / (double)r->truths;
            double *parts = range == 0 && i == 0 ? totals->at_50 : NULL;
            totals->precision[range][i] += sum_precision(r, 1u << i, precision, recall, parts);
        }
        free(precision), free(recall);
    }
    r->hits = r->truths = 0;
}

// ---- all categories

static double mean_of(const double sum[THRESHOLDS], int first, int count, double each)
{
    double all = 0;
    for (int i = first; i < first + count; i++) all += sum[i];
    return each > 0 ? all / (count * each) : -1;
}

static void end_scores(const struct totals *t, double score[AP_SCORES])
{
    for (int range = 0; range < RANGES; range++) {
        double categories = (double)t->categories[range];
        bool all = range == 0;
        score[all ? AP_ALL : AP_SMALL + range - 1] = mean_of(t->precision[range], 0, THRESHOLDS, AP_RECALLS * categories);
        score[all ? AR_100 : AR_SMALL + range - 1] = mean_of(t->recall[LIMITS - 1][range], 0, THRESHOLDS, categories);
    }
    score[AP_50] = mean_of(t->precision[0], 0, 1, AP_RECALLS * (double)t->categories[0]);
    score[AP_75] = mean_of(t->precision[0], AT_75, 1, AP_RECALLS * (double)t->categories[0]);
    score[AR_1] = mean_of(t->recall[0][0], 0, THRESHOLDS, (double)t->categories[0]);
    score[AR_10] = mean_of(t->recall[1][0], 0, THRESHOLDS, (double)t->categories[0]);
}

static int64_t end_of(const struct ap_item **item, int64_t from, int64_t count, const struct ap_item *like)
{
    while (from < count && compare_places(item[from], like) == 0) from++;
    return from;
}

int ap_curve(const struct ap_list *truth, const struct ap_list *found, bool masks, double score[AP_SCORES],
             double precision[AP_RECALLS])
{
    for (int64_t i = 0; i < found->count; i++)
        if (isnan(found->item[i].score)) return fail(ERR_INPUT, "the score of detection %lld is no number", (long long)i + 1);
    const struct ap_item **truths = sort_items(truth, compare_truths), **founds = sort_items(found, compare_found), *last = NULL;
    struct totals totals = {0};
    struct picture p = {0};
    for (int64_t t = 0, f = 0; t < truth->count || f < found->count;) {
        bool first = f == found->count || (t < truth->count && compare_places(truths[t], founds[f]) <= 0);
        const struct ap_item *here = first ? truths[t] : founds[f];
        for (int range = 0; range < RANGES && last && last->category != here->category; range++) add_category(&totals, range);
        int64_t t_end = end_of(truths, t, truth->count, here), f_end = end_of(founds, f, found->count, here);
        p.truth = truths + t, p.truths = (int)(t_end - t), p.found = founds + f;
        p.founds = (int)(f_end - f < FOUND_MOST ? f_end - f : FOUND_MOST);
        match_picture(&p, masks, &totals);
        t = t_end, f = f_end, last = here;
    }
    for (int range = 0; range < RANGES; range++) add_category(&totals, range);
    end_scores(&totals, score);
    for (int i = 0; i < AP_RECALLS; i++) precision[i] = totals.at_50[i] / fmax((double)totals.categories[0], 1);
    for (int range = 0; range < RANGES; range++) free(totals.range[range].hit);
    free(p.overlap), free(truths), free(founds);
    return 0;
}

int ap_score(const struct ap_list *truth, const struct ap_list *found, bool masks, double score[AP_SCORES])
{
    double precision[AP_RECALLS];
    return ap_curve(truth, found, masks, score, precision);
}
