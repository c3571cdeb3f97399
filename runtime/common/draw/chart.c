// SPDX-License-Identifier: Apache-2.0
// Drawing. Invariant: every coordinate is a finite number inside the picture, and every text is escaped. Workload: at most some
// thousand points a chart; a line is thinned to its pixels, so a picture stays small.
#include "runtime/common/draw/chart.h"

#include <math.h>
#include <string.h>

#include "runtime/common/draw/html.h"

// Sizes in the units that letters of 13 are drawn in; the stylesheet never shrinks them much.
struct frame {
    const char *name;
    int width, height, ticks_x, ticks_y;
};
static const struct frame frames_half[] = {{"half", 600, 300, 6, 5}, {"narrow", 330, 270, 4, 5}},
                          frames_across[] = {{"across", 1160, 380, 11, 6}, {"wide", 720, 330, 7, 6}, {"narrow", 330, 270, 4, 5}};
enum { FRAMES_HALF = 2, FRAMES_ACROSS = 3 };
enum { LETTER = 8, TOP = 34, BOTTOM = 48, RIGHT = 30, LEVEL_ROOM = 6 };

static void spans(const struct chart *chart, struct chart_span *x, struct chart_span *y)
{
    double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
    for (int s = 0; s < chart->series_count; s++) {
        for (int i = 0; i < chart->series[s].count; i++) {
            const struct chart_point *point = &chart->series[s].at[i];
            if (!chart_drawn(chart, point)) continue;
            low_x = fmin(low_x, point->x), high_x = fmax(high_x, point->x);
            low_y = fmin(low_y, point->y), high_y = fmax(high_y, point->y);
            if (!chart->series[s].band) continue;
            low_y = fmin(low_y, point->low), high_y = fmax(high_y, point->high);
        }
    }
    for (int i = 0; i < chart->level_count; i++)
        low_y = fmin(low_y, chart->levels[i].y), high_y = fmax(high_y, chart->levels[i].y);
    *x = chart_span(chart->x.scale, low_x, high_x);
    *y = chart_span(chart->y.scale, low_y, high_y);
}

static void begin(struct text *out, const struct frame *frame, int height, const char *id, const char *title,
                  const char *about)
{
    html_add(out,
             "<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"%s-%s-t %s-%s-d\">"
             "<title id=\"%s-%s-t\">%s</title><desc id=\"%s-%s-d\">%s</desc>",
             frame->name, frame->width, height, id, frame->name, id, frame->name, id, frame->name, title, id,
             frame->name, about);
}

static void axes(struct text *out, const struct frame *frame, const struct chart *chart, const struct chart_span *x,
                 const struct chart_span *y, const struct chart_ticks *ticks_x, const struct chart_ticks *ticks_y)
{
    for (int i = 0; i < ticks_y->count; i++) {
        double at = chart_pixel(y, ticks_y->at[i]);
        html_add(out,
                 "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                 "text-anchor=\"end\">%s</text>",
                 x->from, at, x->to, x->from - 8, at + 4, ticks_y->label[i]);
    }
    for (int i = 0; i < ticks_x->count; i++) {
        double at = chart_pixel(x, ticks_x->at[i]), half = (double)strlen(ticks_x->label[i]) * LETTER / 2;
        double middle = fmin(fmax(at, half), frame->width - half);
        html_add(out,
                 "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text class=\"tick\" x=\"%.1f\" y=\"%.1f\" "
                 "text-anchor=\"middle\">%s</text>",
                 at, y->to, y->from, middle, y->from + 18, ticks_x->label[i]);
    }
    html_add(out, "<path class=\"axis\" d=\"M%.1f %.1fV%.1fH%.1f\"/>", x->from, y->to, y->from, x->to);
    html_add(out, "<text class=\"name\" x=\"2\" y=\"15\">%s</text>", chart->y.title);
    html_add(out, "<text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", frame->width - 2,
             frame->height - 8, chart->x.title);
}

// One pixel column: only its first, lowest, highest and last point are drawn, because the others cannot be seen.
struct column {
    int at;
    double first, low, high, last;
    bool any;
};

static void flush(struct text *out, const struct column *column)
{
    if (!column->any) return;
    if (column->low < fmin(column->first, column->last)) text_add(out, "L%d %.1f", column->at, column->low);
    if (column->high > fmax(column->first, column->last)) text_add(out, "L%d %.1f", column->at, column->high);
    if (column->last != column->first) text_add(out, "L%d %.1f", column->at, column->last);
}

static void thin_line(struct text *out, const struct chart *chart, const struct chart_series *series,
                      const struct chart_span *x, const struct chart_span *y)
{
    struct column column = {0};
    bool first = true;
    for (int i = 0; i < series->count; i++) {
        if (!chart_drawn(chart, &series->at[i])) continue;
        int at = (int)lround(chart_pixel(x, series->at[i].x));
        double height = chart_pixel(y, series->at[i].y);
        if (!column.any || at != column.at) {
            flush(out, &column);
            text_add(out, "%s%d %.1f", first ? "M" : "L", at, height);
            column =
                (struct column){.at = at, .first = height, .low = height, .high = height, .last = height, .any = true};
            first = false;
        }
        column.low = fmin(column.low, height), column.high = fmax(column.high, height), column.last = height;
    }
    flush(out, &column);
}

static void line(struct text *out, const struct chart *chart, const struct chart_series *series,
                 const struct chart_span *x, const struct chart_span *y)
{
    if (series->line == CHART_NONE) return;
    html_add(out, "<path class=\"line look-%d\" d=\"", series->look % CHART_LOOKS);
    if (series->count > 400 && series->line == CHART_STRAIGHT) {
        thin_line(out, chart, series, x, y);
    } else {
        bool first = true;
        for (int i = 0; i < series->count; i++) {
            if (!chart_drawn(chart, &series->at[i])) continue;
            double at = chart_pixel(x, series->at[i].x), height = chart_pixel(y, series->at[i].y);
            if (series->line == CHART_STEPS && !first)
                text_add(out, "H%.1fV%.1f", at, height);
            else
                text_add(out, "%s%.1f %.1f", first ? "M" : "L", at, height);
            first = false;
        }
        if (first)
            text_add(out, "M0 0");
        else if (series->line == CHART_STEPS)
            text_add(out, "H%.1f", x->to);
    }
    text_add(out, "\"/>");
}

// There along the upper ends, back along the lower ones.
static void band(struct text *out, const struct chart *chart, const struct chart_series *series, const struct chart_span *x,
                 const struct chart_span *y)
{
    bool first = true;
    if (!series->band || series->count < 2) return;
    html_add(out, "<path class=\"band look-%d\" d=\"", series->look % CHART_LOOKS);
    for (int i = 0; i < 2 * series->count; i++) {
        bool back = i >= series->count;
        const struct chart_point *point = &series->at[back ? 2 * series->count - 1 - i : i];
        double end = back ? point->low : point->high;
        if (!chart_drawn(chart, point) || !isfinite(end)) continue;
        text_add(out, "%s%.1f %.1f", first ? "M" : "L", chart_pixel(x, point->x), chart_pixel(y, end));
        first = false;
    }
    text_add(out, "%s\"/>", first ? "M0 0" : "Z");
}

// Shapes differ with the look, so that colour alone never carries meaning.
static void mark(struct text *out, double x, double y, int look, const char *what)
{
    html_add(out, "<g class=\"mark look-%d\">", look);
    if (what != NULL) html_add(out, "<title>%s</title>", what);
    switch (look) {
    case 0: html_add(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></g>", x, y); break;
    case 1: html_add(out, "<path d=\"M%.1f %.1fh8v8h-8z\"/></g>", x - 4, y - 4); break;
    case 2: html_add(out, "<path d=\"M%.1f %.1fl5 9h-10z\"/></g>", x, y - 5.5); break;
    default: html_add(out, "<path d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\"/></g>", x, y - 5); break;
    }
}

static void level_lines(struct text *out, const struct chart *chart, const struct chart_span *x,
                        const struct chart_span *y)
{
    for (int i = 0; i < chart->level_count; i++)
        html_add(out, "<path class=\"level level-%d\" d=\"M%.1f %.1fH%.1f\"/>", i, x->from,
                 chart_pixel(y, chart->levels[i].y), x->to);
}

// Above the line if the letters fit there. The first at the left, because curves come from below and end at the right; the
// second at the right, so that two lines near each other keep their names apart.
static void level_names(struct text *out, const struct chart *chart, const struct chart_span *x,
                        const struct chart_span *y)
{
    for (int i = 0; i < chart->level_count; i++) {
        double at = chart_pixel(y, chart->levels[i].y), base = at - LEVEL_ROOM < y->to + 10 ? at + 15 : at - LEVEL_ROOM;
        const char *name = chart->levels[i].label;
        if (i % 2 == 0)
            html_add(out, "<text class=\"level-name\" x=\"%.1f\" y=\"%.1f\">%s</text>", x->from + 8, base, name);
        else
            html_add(out, "<text class=\"level-name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", x->to - 8,
                     base, name);
    }
}

static void draw(struct text *out, const struct frame *frame, const struct chart *chart)
{
    struct chart_span x, y;
    struct chart_ticks ticks_x, ticks_y;
    spans(chart, &x, &y);
    chart_ticks(&y, &chart->y, frame->ticks_y, &ticks_y);
    size_t widest = 2;
    for (int i = 0; i < ticks_y.count; i++)
        if (strlen(ticks_y.label[i]) > widest) widest = strlen(ticks_y.label[i]);
    x.from = (double)widest * LETTER + 14, x.to = frame->width - RIGHT;
    y.from = frame->height - BOTTOM, y.to = TOP;
    chart_ticks(&x, &chart->x, frame->ticks_x, &ticks_x);
    begin(out, frame, frame->height, chart->id, chart->title, chart->about);
    axes(out, frame, chart, &x, &y, &ticks_x, &ticks_y);
    level_lines(out, chart, &x, &y);
    for (int s = 0; s < chart->series_count; s++) band(out, chart, &chart->series[s], &x, &y);
    for (int s = 0; s < chart->series_count; s++) line(out, chart, &chart->series[s], &x, &y);
    level_names(out, chart, &x, &y);  // over lines and below marks: a point behind letters would be lost
    for (int s = 0; s < chart->series_count; s++) {
        const struct chart_series *series = &chart->series[s];
        for (int i = 0; series->marks && i < series->count; i++) {
            if (chart_drawn(chart, &series->at[i]))
                mark(out, chart_pixel(&x, series->at[i].x), chart_pixel(&y, series->at[i].y),
                     series->look % CHART_LOOKS, frame->name[0] != 'n' ? series->at[i].what : NULL);
        }
    }
    chart_names(out, chart, &x, &y);
    text_add(out, "</svg>");
}

static void key(struct text *out, const struct chart *chart)
{
    if (chart->series_count < 2) return;
    text_add(out, "<ul class=\"key\">");
    for (int s = 0; s < chart->series_count; s++) {
        const struct chart_series *series = &chart->series[s];
        int look = series->look % CHART_LOOKS;
        text_add(out, "<li><svg viewBox=\"0 0 28 14\" width=\"28\" height=\"14\" aria-hidden=\"true\">");
        if (series->line != CHART_NONE) html_add(out, "<path class=\"line look-%d\" d=\"M1 7H27\"/>", look);
        if (series->marks) mark(out, 14, 7, look, NULL);
        html_add(out, "</svg><bdi>%s</bdi></li>", series->label);
    }
    text_add(out, "</ul>");
}

void chart_draw(struct text *out, const struct chart *chart)
{
    bool across = chart->size == CHART_ACROSS;
    html_add(out, "<figure class=\"chart%s\"><figcaption>%s</figcaption>", across ? " full" : "", chart->title);
    for (int i = 0; i < (across ? FRAMES_ACROSS : FRAMES_HALF); i++)
        draw(out, across ? &frames_across[i] : &frames_half[i], chart);
    key(out, chart);
    text_add(out, "</figure>");
}

// The colours are literals, because programs other than browsers do not support variables of style sheets.
void chart_picture(struct text *out, const char *about, const struct chart *const chart[], int count)
{
    const struct frame *frame = &frames_across[1];
    html_add(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n"
             "<style>svg{font:13px sans-serif;background:#fff;fill:#333}.name{font-weight:bold}.grid,.axis{fill:none;stroke:#ddd}"
             ".axis{stroke:#888}.line{fill:none;stroke:#06c;stroke-width:2}.mark{fill:#06c}.band{fill:#06c;opacity:.22}"
             ".level{fill:none;stroke:#b00;stroke-dasharray:6 4}.level-name{fill:#b00}</style>\n",
             frame->width, frame->height * count, about);
    for (int i = 0; i < count; i++) {
        html_add(out, "<svg y=\"%d\" width=\"%d\" height=\"%d\">", i * frame->height, frame->width, frame->height);
        draw(out, frame, chart[i]);
        text_add(out, "</svg>\n");
    }
    text_add(out, "</svg>\n");
}

static double whole_of(const struct chart_part *parts, int count)
{
    double whole = 0;
    for (int i = 0; i < count; i++) whole += isfinite(parts[i].value) && parts[i].value > 0 ? parts[i].value : 0;
    return whole > 0 && isfinite(whole) ? whole : 1;
}

static double share_of(const struct chart_part *part, double whole)
{
    return isfinite(part->value) && part->value > 0 ? fmin(part->value / whole, 1) : 0;
}

void chart_stack(struct text *out, const char *id, const char *title, const char *about, const struct chart_part *parts,
                 int count)
{
    enum { HEIGHT = 44 };
    double whole = whole_of(parts, count);
    html_add(out, "<figure class=\"chart\"><figcaption>%s</figcaption>", title);
    for (int f = 0; f < FRAMES_HALF; f++) {
        begin(out, &frames_half[f], HEIGHT, id, title, about);
        double at = 0;
        for (int i = 0; i < count; i++) {
            double width = share_of(&parts[i], whole) * frames_half[f].width;
            html_add(
                out,
                "<rect class=\"part-%d\" x=\"%.2f\" y=\"0\" width=\"%.2f\" height=\"%d\"><title>%s: %s</title></rect>",
                parts[i].look, at, fmin(width, frames_half[f].width - at), HEIGHT, parts[i].label, parts[i].figure);
            if (width > (double)strlen(parts[i].label) * LETTER + 16)
                html_add(out, "<text class=\"inside in-%d\" x=\"%.1f\" y=\"27\">%s</text>", parts[i].look, at + 8,
                         parts[i].label);
            at = fmin(at + width, frames_half[f].width);
        }
        text_add(out, "</svg>");
    }
    text_add(out, "<ul class=\"key\">");
    for (int i = 0; i < count; i++)
        html_add(out,
                 "<li><svg viewBox=\"0 0 14 14\" width=\"14\" height=\"14\" aria-hidden=\"true\"><rect "
                 "class=\"part-%d\" width=\"14\" height=\"14\"/></svg>"
                 "%s <span class=\"quiet\">%s</span></li>",
                 parts[i].look, parts[i].label, parts[i].figure);
    text_add(out, "</ul></figure>");
}

void chart_bars(struct text *out, const char *id, const char *title, const char *about, const struct chart_part *parts,
                int count)
{
    enum { ROW = 42, BAR = 18, FIGURE = 90 };
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, isfinite(parts[i].value) ? parts[i].value : 0);
    if (!(most > 0)) most = 1;
    html_add(out, "<figure class=\"chart\"><figcaption>%s</figcaption>", title);
    for (int f = 0; f < FRAMES_HALF; f++) {
        begin(out, &frames_half[f], ROW * count + 2, id, title, about);
        for (int i = 0; i < count; i++) {
            int top = i * ROW;
            double width = share_of(&parts[i], most) * (frames_half[f].width - FIGURE);
            html_add(out,
                     "<text class=\"tick\" x=\"0\" y=\"%d\">%s</text><rect class=\"part-%d\" x=\"0\" y=\"%d\" "
                     "width=\"%.1f\" height=\"%d\"/>"
                     "<text class=\"figure\" x=\"%.1f\" y=\"%d\">%s</text>",
                     top + 14, parts[i].label, parts[i].look, top + 19, width, BAR, width + 6, top + 33,
                     parts[i].figure);
        }
        text_add(out, "</svg>");
    }
    text_add(out, "</figure>");
}
