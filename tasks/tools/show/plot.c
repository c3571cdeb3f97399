// SPDX-License-Identifier: Apache-2.0
// A Unicode terminal shows a single curve in Braille dots, two columns and four rows of dots a character. Otherwise each
// point is the mark of its series, and dots connect the points.
#include "tasks/tools/show/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/score/curve.h"

enum { ROW_DOTS = 4, COLUMN_DOTS = 2, LABEL_WIDTH = 9 };

struct canvas {
    const struct plot *plot;
    int rows, width;                 // in characters
    double x_high, low, high;        // x starts at 0
    bool dots;                       // Braille
    char mark[PLOT_ROWS_MAX][PLOT_WIDTH_MAX];  // 0: empty
    unsigned char braille[PLOT_ROWS_MAX][PLOT_WIDTH_MAX];
};

static void find_range(struct canvas *c)
{
    const struct plot *p = c->plot;
    c->low = INFINITY, c->high = -INFINITY;
    for (int s = 0; s < p->count; s++) {
        const struct plot_series *of = &p->series[s];
        for (int i = 0; i < of->count; i++) c->low = fmin(c->low, of->y[i]), c->high = fmax(c->high, of->y[i]);
        if (of->count > 0) c->x_high = fmax(c->x_high, of->x[of->count - 1]);
    }
    if (!isnan(p->target)) c->low = fmin(c->low, p->target), c->high = fmax(c->high, p->target);
    double margin = c->high > c->low ? 0 : fabs(c->high) * 0.05 + 1e-6;  // a flat curve is centred
    c->low -= margin, c->high += margin;
    if (!(c->x_high > 0)) c->x_high = 1;
}

static int cell_of(double share, int steps)
{
    int at = (int)lround(share * (steps - 1));
    return at < 0 ? 0 : at >= steps ? steps - 1 : at;
}

static int row_of(const struct canvas *c, double y, int rows)
{
    return cell_of((y - c->low) / (c->high - c->low), rows);
}

// A value that misses the target is drawn off the target's line, however close it is, if the canvas has a row there.
static int side_of_target(const struct canvas *c, double y, int row, int rows)
{
    const struct plot *p = c->plot;
    if (isnan(p->target)) return row;
    bool lower = p->metric && p->metric->lower_is_better, above = lower ? y > p->target : y >= p->target;
    int dots = rows / c->rows, line = row_of(c, p->target, c->rows) * dots;
    int edge = lower ? line + dots : line;  // the lowest row above
    if (above && row < edge && edge < rows) return edge;
    return !above && row >= edge && edge > 0 ? edge - 1 : row;
}

static void set_dot(struct canvas *c, int column, int row, char mark)
{
    static const unsigned char bit[ROW_DOTS][COLUMN_DOTS] = {{0x40, 0x80}, {0x04, 0x20}, {0x02, 0x10}, {0x01, 0x08}};
    if (c->dots) {
        c->braille[row / ROW_DOTS][column / COLUMN_DOTS] |= bit[row % ROW_DOTS][column % COLUMN_DOTS];
        return;
    }
    char *at = &c->mark[row][column];
    if (mark == '.' && *at) return;  // a connecting dot hides no point
    *at = *at && *at != '.' && *at != mark ? '*' : mark;
}

// Draws a dot in each column between two points, by linear interpolation.
static void draw_series(struct canvas *c, const struct plot_series *s)
{
    int columns = c->dots ? c->width * COLUMN_DOTS : c->width, rows = c->dots ? c->rows * ROW_DOTS : c->rows;
    for (int i = 0; i < s->count; i++) {
        int column = cell_of(s->x[i] / c->x_high, columns), before = i > 0 ? cell_of(s->x[i - 1] / c->x_high, columns) : column;
        for (int at = before + 1; at < column; at++) {
            double share = (double)(at - before) / (double)(column - before);
            double y = s->y[i - 1] + share * (s->y[i] - s->y[i - 1]);
            set_dot(c, at, side_of_target(c, y, row_of(c, y, rows), rows), '.');
        }
        set_dot(c, column, side_of_target(c, s->y[i], row_of(c, s->y[i], rows), rows), s->mark);
    }
}

static void add_label(struct text *t, const struct plot *p, double value)
{
    bool percent = p->metric && !strcmp(p->metric->unit, "%");
    char figure[32];
    snprintf(figure, sizeof figure, "%.*f%s", percent ? 2 : 4, p->metric ? run_metric_shown(p->metric, value) : value,
             percent ? "%" : "");
    text_add(t, "  %*s ", LABEL_WIDTH - 1, figure);
}

static void add_canvas_row(struct text *t, const struct canvas *c, int row, bool unicode)
{
    const struct plot *p = c->plot;
    bool target = !isnan(p->target) && row_of(c, p->target, c->rows) == row;
    if (row == c->rows - 1) add_label(t, p, c->high);
    else if (row == 0) add_label(t, p, c->low);
    else text_add(t, "  %*s ", LABEL_WIDTH - 1, "");
    text_add(t, unicode ? "│" : "|");
    for (int column = 0; column < c->width; column++) {
        int dots = c->braille[row][column];
        char mark = c->mark[row][column];
        if (dots) text_add(t, "%c%c%c", 0xe2, 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));  // U+2800 plus the bits of the dots
        else if (mark) text_add(t, unicode && mark == '.' ? "·" : "%c", mark);
        else text_add(t, "%s", !target ? " " : unicode ? "┄" : "-");
    }
    while (t->length > 0 && t->at[t->length - 1] == ' ') t->at[--t->length] = 0;
    text_add(t, target ? " target\n" : "\n");
}

// The smallest of 1, 2 and 5 times a power of ten that gives at most `most` steps.
static double nice_step(double range, int most)
{
    static const double factor[] = {1, 2, 5};
    for (double power = pow(10, floor(log10(range / most))); ; power *= 10)
        for (int i = 0; i < 3; i++)
            if (range / (factor[i] * power) <= most) return factor[i] * power;
}

static void add_axis(struct text *t, const struct canvas *c, bool unicode)
{
    enum { TICKS = 8 };
    char labels[PLOT_WIDTH_MAX + 16];
    bool tick[PLOT_WIDTH_MAX] = {false};
    double step = nice_step(c->x_high, TICKS);
    memset(labels, ' ', sizeof labels);
    int end = 0;
    for (int i = 0; i * step <= c->x_high * (1 + 1e-9); i++) {
        char figure[16];
        int column = cell_of(i * step / c->x_high, c->width), length = snprintf(figure, sizeof figure, "%g", i * step);
        tick[column] = i > 0;  // the corner has a tick already
        if (column + length > (int)sizeof labels || (i > 0 && column <= end)) continue;
        memcpy(labels + column, figure, (size_t)length);
        end = column + length;
    }
    text_add(t, "  %*s %s", LABEL_WIDTH - 1, "", unicode ? "└" : "+");
    for (int column = 0; column < c->width; column++)
        text_add(t, "%s", tick[column] ? (unicode ? "┬" : "+") : unicode ? "─" : "-");
    text_add(t, "\n  %*s  %.*s epoch\n", LABEL_WIDTH - 1, "", end, labels);
}

void plot_text(struct text *t, const struct plot *p, int rows, int width, const struct plain_style *style)
{
    int points = 0;
    for (int s = 0; s < p->count; s++) points = p->series[s].count > points ? p->series[s].count : points;
    if (points < 2) return;
    struct canvas *c = zalloc(sizeof *c);
    *c = (struct canvas){.plot = p, .rows = rows < PLOT_ROWS_MAX ? rows : PLOT_ROWS_MAX,
                         .width = width < PLOT_WIDTH_MAX ? width : PLOT_WIDTH_MAX, .dots = style->unicode && p->count == 1};
    find_range(c);
    for (int s = 0; s < p->count; s++) draw_series(c, &p->series[s]);
    for (int row = c->rows - 1; row >= 0; row--) add_canvas_row(t, c, row, style->unicode);
    add_axis(t, c, style->unicode);
    free(c);
}

int plot_points(const json_t *run, const struct run_metric *metric, double **x, double **y)
{
    const json_t *points = json_object_get(run, "points");
    size_t capacity = json_array_size(points) + 1, i;
    json_t *point;
    int count = 0;
    *x = zalloc(capacity * sizeof **x), *y = zalloc(capacity * sizeof **y);
    json_array_foreach((json_t *)points, i, point)
    {
        int64_t score = metric ? curve_score(point, metric) : RUN_SCORE_NONE;
        double loss = curve_loss(point, NULL);
        if (metric ? score == RUN_SCORE_NONE : isnan(loss)) continue;
        (*x)[count] = (double)curve_epoch_micro(point) / 1e6;
        (*y)[count++] = metric ? run_metric_value(metric, score) : loss;
    }
    return count;
}
