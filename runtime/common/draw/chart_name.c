// SPDX-License-Identifier: Apache-2.0
// Names of points. Each takes the first free position of four around its point. A name without one is left out, because the
// table of the chart has it. Cost: each name is compared with every shape and every other name.
#include "runtime/common/draw/chart.h"

#include "runtime/common/draw/html.h"

enum { NAMES_MAX = 64, MARKS_MAX = 1024, LETTER = 7, HEIGHT = 14, GAP = 7 };
struct box {
    double left, top, right, bottom;
};

static bool overlap(const struct box *a, const struct box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static double letters_of(const char *text)
{
    double count = 0;
    for (; *text != 0; text++) count += ((unsigned char)*text & 0xc0) != 0x80;  // of a character its first byte alone
    return count;
}

// Place 0 to 3: above right, above left, below right, below left.
static struct box box_at(double x, double y, double width, int corner)
{
    double left = corner % 2 == 0 ? x + GAP : x - GAP - width, top = corner < 2 ? y - GAP - HEIGHT + 4 : y + GAP - 2;
    return (struct box){left, top, left + width, top + HEIGHT};
}

static bool is_free(const struct box *box, const struct chart_span *x, const struct chart_span *y, const struct box *taken,
                    int count)
{
    if (box->left < x->from + 2 || box->right > x->to || box->top < y->to - 4 || box->bottom > y->from - 2) return false;
    for (int i = 0; i < count; i++)
        if (overlap(box, &taken[i])) return false;
    return true;
}

// Names must not cover any shape, including shapes of points without a name.
static int take_marks(const struct chart *chart, const struct chart_span *x, const struct chart_span *y,
                      struct box taken[MARKS_MAX + NAMES_MAX])
{
    int count = 0;
    for (int s = chart->series_count; s-- > 0;) {  // later series are drawn over earlier ones
        for (int i = chart->series[s].count; i-- > 0 && count < MARKS_MAX;) {
            if (!chart->series[s].marks || !chart_drawn(chart, &chart->series[s].at[i])) continue;
            double px = chart_pixel(x, chart->series[s].at[i].x), py = chart_pixel(y, chart->series[s].at[i].y);
            taken[count++] = (struct box){px - 4, py - 4, px + 4, py + 4};
        }
    }
    return count;
}

void chart_names(struct text *out, const struct chart *chart, const struct chart_span *x, const struct chart_span *y)
{
    struct box taken[MARKS_MAX + NAMES_MAX];
    int count = take_marks(chart, x, y, taken), written = 0;
    for (int s = 0; s < chart->series_count; s++) {
        for (int i = chart->series[s].count; i-- > 0 && written < NAMES_MAX;) {
            const struct chart_point *point = &chart->series[s].at[i];
            if (point->name == NULL || !chart_drawn(chart, point)) continue;
            double px = chart_pixel(x, point->x), py = chart_pixel(y, point->y), width = letters_of(point->name) * LETTER;
            for (int corner = 0; corner < 4; corner++) {
                struct box box = box_at(px, py, width, corner);
                if (!is_free(&box, x, y, taken, count)) continue;
                if (corner % 2 == 0)
                    html_add(out, "<text class=\"point-name\" x=\"%.1f\" y=\"%.1f\">%s</text>", box.left, box.bottom - 3,
                             point->name);
                else
                    html_add(out, "<text class=\"point-name\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>", box.right,
                             box.bottom - 3, point->name);
                taken[count++] = box;
                written++;
                break;
            }
        }
    }
}
