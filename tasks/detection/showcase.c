// SPDX-License-Identifier: Apache-2.0
// Cost: an AP per picture and class, and the decoding of at most three pictures.
#include "tasks/detection/showcase.h"

#include "data/image/draw.h"
#include "data/image/encoder.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "runtime/common/draw/chart.h"
#include "runtime/common/draw/html.h"

#include <stdio.h>
#include <stdlib.h>

enum { QUALITY = 85, CURVES = CHART_LOOKS };

// ---- parts of the lists

static struct ap_list part_of(const struct ap_list *all, int64_t image)  // a slice: lists are in the order of images
{
    int64_t begin = 0, end;
    while (begin < all->count && all->item[begin].image < image) begin++;
    for (end = begin; end < all->count && all->item[end].image == image;) end++;
    return (struct ap_list){all->item + begin, end - begin};
}

static struct ap_list list_category(const struct ap_list *all, int64_t category)
{
    struct ap_list of = {.item = zalloc((size_t)(all->count + 1) * sizeof *of.item)};
    for (int64_t i = 0; i < all->count; i++)
        if (all->item[i].category == category) of.item[of.count++] = all->item[i];
    return of;
}

// ---- classes

struct class_curve {
    const char *name;
    int64_t truths, found;
    double score[AP_SCORES], precision[AP_RECALLS];
    struct chart_point point[AP_RECALLS];
};

static int score_class(const struct showcase *s, int class, struct class_curve *into)
{
    struct ap_list truth = list_category(s->truth, class + 1), found = list_category(s->found, class + 1);
    *into = (struct class_curve){.name = s->class_names[class], .truths = truth.count, .found = found.count};
    int rc = ap_curve(&truth, &found, s->masks, into->score, into->precision);
    free(truth.item);
    free(found.item);
    return rc;
}

// All classes together, then each.
static int score_classes(const struct showcase *s, int classes, struct class_curve *into)
{
    *into = (struct class_curve){.name = "all classes", .truths = s->truth->count, .found = s->found->count};
    TRY(ap_curve(s->truth, s->found, s->masks, into->score, into->precision));
    for (int i = 0; i < classes; i++) TRY(score_class(s, i, &into[i + 1]));
    return 0;
}

static void draw_curves(struct class_curve *curve, int count, struct exhibit *e)
{
    struct chart_series series[CURVES];
    char id[64];
    int drawn = 0;
    snprintf(id, sizeof id, "precision-%.40s", e->name);
    for (int i = 0; i < (count > CURVES ? 1 : count); i++) {  // more curves than looks: all classes alone
        struct class_curve *c = &curve[i];
        if (c->truths == 0) continue;
        for (int k = 0; k < AP_RECALLS; k++) c->point[k] = (struct chart_point){.x = k * 0.01, .y = c->precision[k]};
        series[drawn++] = (struct chart_series){.label = c->name, .at = c->point, .count = AP_RECALLS, .look = i};
    }
    const struct chart chart = {
        .id = id, .title = "Precision over recall at IoU 0.50",
        .about = "The best precision at this recall or a higher one; 0 where no score reaches the recall.",
        .x = {.title = "recall", .scale = CHART_LINEAR, .label = chart_number},
        .y = {.title = "precision", .scale = CHART_LINEAR, .label = chart_number}, .series = series, .series_count = drawn,
    };
    if (drawn > 0) chart_draw(e->html, &chart);
}

static void add_number(double value, struct text *html)
{
    if (value < 0) html_add(html, "<td class=\"number value\">-</td>");
    else html_add(html, "<td class=\"number value\">%.4f</td>", value);
}

static void add_classes(const struct class_curve *curve, int count, struct text *html)
{
    html_add(html, "<div class=\"scroll\" role=\"region\" aria-label=\"Classes\" tabindex=\"0\"><table class=\"small sheet\">"
             "<caption>Classes</caption>\n<thead><tr><th>class</th><th class=\"number value\">truths</th>"
             "<th class=\"number value\">found</th><th class=\"number value\">AP</th><th class=\"number value\">AP50</th>"
             "<th class=\"number value\">AP75</th></tr></thead>\n<tbody>");
    for (int i = 0; i < count; i++) {
        html_add(html, "<tr><td><bdi>%s</bdi></td><td class=\"number value\">%lld</td><td class=\"number value\">%lld</td>",
                 curve[i].name, (long long)curve[i].truths, (long long)curve[i].found);
        add_number(curve[i].score[AP_ALL], html);
        add_number(curve[i].score[AP_50], html);
        add_number(curve[i].score[AP_75], html);
        html_add(html, "</tr>\n");
    }
    html_add(html, "</tbody></table></div>\n");
}

// ---- pictures

struct ranked {
    int64_t image;
    double ap;
};

static int by_ap(const void *a, const void *b)  // the worst first; of equal ones the first image last
{
    const struct ranked *x = a, *y = b;
    if (x->ap != y->ap) return x->ap < y->ap ? -1 : 1;
    return (x->image < y->image) - (x->image > y->image);
}

// Ranks the pictures with a truth. Returns their number or an error.
static int64_t rank_pictures(const struct showcase *s, struct ranked *into)
{
    int64_t count = 0;
    for (int64_t i = 0; i < s->truth->count; i++) {
        int64_t image = s->truth->item[i].image;
        double score[AP_SCORES];
        if (count > 0 && into[count - 1].image == image) continue;
        struct ap_list truth = part_of(s->truth, image), found = part_of(s->found, image);
        TRY(ap_score(&truth, &found, s->masks, score));
        if (score[AP_ALL] >= 0) into[count++] = (struct ranked){image, score[AP_ALL]};
    }
    if (count > 0) qsort(into, (size_t)count, sizeof *into, by_ap);
    return count;
}

static void draw_inside(const struct ap_item *item, int colour, struct image *image)
{
    const struct rle *mask = &item->mask;
    if (mask->height != image->height || mask->width != image->width) return;
    uint8_t *inside = zalloc((size_t)mask->height * (size_t)mask->width);
    rle_decode(mask, inside);
    draw_mask(image, &(struct draw_mask){.labels = inside, .columns = true, .label = 1, .colour = colour});
    free(inside);
}

void showcase_draw(const struct showcase *s, const struct ap_item *item, int number, bool found, struct image *image)
{
    const double *box = item->box;
    const char *class = s->class_names[item->category - 1];
    const int colour = s->masks ? number : (int)item->category - 1;
    char label[64];
    if (found) snprintf(label, sizeof label, "%.40s %.2f", class, item->score);
    else snprintf(label, sizeof label, "%.40s", class);
    if (s->masks) draw_inside(item, colour, image);
    draw_box(image, &(struct draw_box){box[0], box[1], box[0] + box[2], box[1] + box[3], label, colour});
}

// Draws the last item first: detections are sorted by score, so the best one is on top. Returns how many are drawn.
static int64_t draw_items(const struct showcase *s, const struct ap_list *of, bool found, struct image *image)
{
    int64_t drawn = 0;
    for (int64_t i = of->count - 1; i >= 0; i--) {
        if (found && of->item[i].score < SHOWCASE_LEAST) continue;
        showcase_draw(s, &of->item[i], (int)i, found, image);
        drawn++;
    }
    return drawn;
}

static int add_picture(const struct showcase *s, const char *what, const struct ranked *r, bool found, struct exhibit *e)
{
    struct ap_list of = part_of(found ? s->found : s->truth, r->image);
    struct text caption = {0};
    struct image image;
    const uint8_t *bytes;
    size_t count;
    TRY(s->decode(s->context, r->image, &image));
    int64_t drawn = draw_items(s, &of, found, &image);
    text_add(&caption, "%s: ", what);
    s->name(s->context, r->image, &caption);
    if (found) text_add(&caption, ", AP %.4f, %lld found", r->ap, (long long)drawn);
    else text_add(&caption, ", the truth: %lld", (long long)drawn);
    struct encoder *encoder = encoder_new();
    int rc = encoder_draw(encoder, caption.at, image.pixels, image.height, image.width, QUALITY, &bytes, &count);
    if (rc == 0) e->picture(e, caption.at, bytes, count);
    encoder_free(encoder);
    image_free(&image);
    text_free(&caption);
    return rc;
}

static int add_pictures(const struct showcase *s, struct exhibit *e)
{
    struct ranked *ranked = zalloc((size_t)(s->truth->count + 1) * sizeof *ranked);
    int64_t count = rank_pictures(s, ranked);
    const struct {
        const char *what;
        int64_t at;
        bool is;
    } shown[] = {{"best", count - 1, count > 0}, {"typical", count / 2, count > 2}, {"worst", 0, count > 1}};
    int rc = count < 0 ? (int)count : 0;
    if (rc == 0)
        html_add(e->html, "<p>%lld of the %lld test pictures are ranked, by the AP of their own boxes in the classes of "
                 "their truth. Boxes with a score of %.1f or more are drawn; all are scored.</p>\n",
                 (long long)count, (long long)s->samples, SHOWCASE_LEAST);
    for (int i = 0; i < 3; i++)
        for (int found = 1; found >= 0 && rc == 0 && shown[i].is; found--)
            rc = add_picture(s, shown[i].what, &ranked[shown[i].at], found, e);
    free(ranked);
    return rc;
}

int showcase_add(const struct showcase *s, struct exhibit *e)
{
    int classes = 0;
    while (s->class_names[classes]) classes++;
    struct class_curve *curve = zalloc((size_t)(classes + 1) * sizeof *curve);
    int rc = score_classes(s, classes, curve);
    if (rc == 0) {
        draw_curves(curve, classes + 1, e);
        add_classes(curve, classes + 1, e->html);
        rc = add_pictures(s, e);
    }
    free(curve);
    return rc;
}
