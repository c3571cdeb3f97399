// SPDX-License-Identifier: Apache-2.0
// Charts as SVG, made by the server: no script, no inline style, looks by class alone. Each is drawn for several widths, so
// that letters keep their size; the stylesheet shows one. A page also has a table with the same figures.
#pragma once

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

enum { CHART_LABEL = 32, CHART_LOOKS = 4, CHART_TICKS = 16 };

// CHART_SECONDS and CHART_LOG_SECONDS: values in seconds, ticks where people expect them (15 s, 10 min). CHART_DATES: values in
// Unix seconds. CHART_WHOLE: ticks at whole numbers only.
enum chart_scale { CHART_LINEAR, CHART_WHOLE, CHART_LOG, CHART_SECONDS, CHART_LOG_SECONDS, CHART_DATES };
struct chart_axis {
    const char *title;  // with its unit
    enum chart_scale scale;
    void (*label)(double value, char into[CHART_LABEL]);  // of a tick; not called for seconds and dates
};
void chart_number(double value, char into[CHART_LABEL]);   // labels of four digits: "0.9412"
void chart_percent(double value, char into[CHART_LABEL]);  // "94.12%"
struct chart_point {
    double x, y;       // points that are not finite, or not positive on a log axis, are left out
    const char *what;  // shown when a pointer rests on it; may be NULL
    const char *name;  // written next to it where it fits, the last point of a series first; may be NULL
    double low, high;  // of a band
};
enum chart_line { CHART_STRAIGHT, CHART_STEPS, CHART_NONE };  // STEPS: y holds until the next x
struct chart_series {
    const char *label;
    const struct chart_point *at;
    int count;
    enum chart_line line;
    bool marks;  // a shape at each point
    bool band;   // the ground between low and high is shaded
    int look;    // 0 to CHART_LOOKS - 1: colour, dash and shape
};
struct chart_level {
    double y;
    const char *label;
};
enum chart_size { CHART_HALF, CHART_ACROSS };  // half or the whole width of a page; both shrink with the window
struct chart {
    enum chart_size size;
    const char *id;            // of this chart in its page
    const char *title, *about;  // its title; a description for people who cannot see it
    struct chart_axis x, y;
    const struct chart_series *series;
    int series_count;
    const struct chart_level *levels;  // horizontal lines
    int level_count;
};
void chart_draw(struct text *into, const struct chart *);
// Charts below each other as one SVG file of its own. `about` describes it for people who cannot see it.
void chart_picture(struct text *into, const char *about, const struct chart *const chart[], int count);

struct chart_part {
    const char *label;
    const char *figure;  // its value in words
    double value;        // not negative
    int look;            // of chart_stack: 0 to 8, class part-N
};
// One bar of parts that sum to a whole, and a key that names each.
void chart_stack(struct text *into, const char *id, const char *title, const char *about, const struct chart_part *, int count);
// Bars below each other, from zero, with label and figure.
void chart_bars(struct text *into, const char *id, const char *title, const char *about, const struct chart_part *, int count);

// ---- chart_name.c: names near points, none over another, over a point, or outside the picture
struct chart_span;
void chart_names(struct text *into, const struct chart *, const struct chart_span *x, const struct chart_span *y);

// ---- chart_axis.c: places of values and ticks
struct chart_span {
    enum chart_scale scale;
    double low, high;  // values at both ends, low < high
    double from, to;   // pixels of these ends
};
// Chooses ends that hold all values from low to high with a small margin, and ticks inside them.
struct chart_span chart_span(enum chart_scale, double low, double high);
double chart_pixel(const struct chart_span *, double value);  // pixel, kept between the ends
bool chart_drawn(const struct chart *, const struct chart_point *);  // false: it cannot be placed, and is left out
struct chart_ticks {
    int count;
    double at[CHART_TICKS];
    char label[CHART_TICKS][CHART_LABEL];
};
void chart_ticks(const struct chart_span *, const struct chart_axis *, int wanted, struct chart_ticks *);
