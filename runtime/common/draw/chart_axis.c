// SPDX-License-Identifier: Apache-2.0
// Axes: spans with round ends and ticks with round labels. Invariant: for any values, a span has low < high, both finite, and
// every position lies between its two pixels. Workload: four axes a chart. Cost: some hundred operations.
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "runtime/common/draw/chart.h"

static const double second_steps[] = {0.1, 0.2, 0.5,  1,    2,    5,     10,    15,    30,    60,     120,    300,
                                      600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000};
enum { SECOND_STEPS = sizeof second_steps / sizeof second_steps[0], MINUTE = 60, DAY = 86400 };

// The smallest round number that gives at most `wanted` steps over `range`.
static double round_step(double range, int wanted)
{
    double rough = range / wanted, power = pow(10, floor(log10(rough)));
    double ratio = rough / power;
    return power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

static double seconds_step(double range, int wanted)
{
    for (int i = 0; i < SECOND_STEPS; i++)
        if (range / second_steps[i] <= wanted) return second_steps[i];
    return round_step(range, wanted);
}

static bool is_log(enum chart_scale scale)
{
    return scale == CHART_LOG || scale == CHART_LOG_SECONDS;
}

static struct chart_span log_span(double low, double high)
{
    if (!(low > 0)) low = high > 0 ? high / 10 : 0.1;
    low = fmax(low, 1e-15);  // without a bound, a tiny value would need thousands of decades
    if (!(high > low)) high = low;
    double margin = fmax(0.06 * log10(high / low), 0.06);
    if (high / low < 1.2) margin = 0.15;
    return (struct chart_span){.low = low * pow(10, -margin), .high = high * pow(10, margin)};
}

struct chart_span chart_span(enum chart_scale scale, double low, double high)
{
    if (!isfinite(low) || fabs(low) > 1e15) low = is_log(scale) ? 0.1 : 0;
    if (!isfinite(high) || fabs(high) > 1e15) high = low + 1;
    if (is_log(scale)) {
        struct chart_span span = log_span(low, high);
        span.scale = scale;
        return span;
    }
    if (scale == CHART_SECONDS) low = fmin(low, 0);  // half a time must look like half
    if (scale == CHART_DATES && high > low && high - low < MINUTE) {  // uploads sent together happened together
        double middle = (low + high) / 2;
        low = middle - MINUTE / 2.0, high = middle + MINUTE / 2.0;
    }
    if (!(high > low)) {
        double margin = scale == CHART_DATES ? 15 * DAY : scale == CHART_SECONDS ? 1 : fmax(fabs(low) * 0.05, 1e-3);
        high = low + margin;
        if (scale != CHART_SECONDS) low -= margin;
    }
    double margin = (high - low) * (scale == CHART_SECONDS ? 0.03 : 0.06);
    return (struct chart_span){.scale = scale, .low = scale == CHART_SECONDS ? low : low - margin, .high = high + margin};
}

double chart_pixel(const struct chart_span *span, double value)
{
    double share = is_log(span->scale) ? log(fmax(value, 1e-300) / span->low) / log(span->high / span->low)
                                       : (value - span->low) / (span->high - span->low);
    if (!isfinite(share)) share = 0;
    return span->from + (span->to - span->from) * fmin(fmax(share, 0), 1);
}

bool chart_drawn(const struct chart *chart, const struct chart_point *point)
{
    bool log_x = chart->x.scale == CHART_LOG || chart->x.scale == CHART_LOG_SECONDS;
    bool log_y = chart->y.scale == CHART_LOG || chart->y.scale == CHART_LOG_SECONDS;
    return isfinite(point->x) && isfinite(point->y) && (!log_x || point->x > 0) && (!log_y || point->y > 0);
}

static void add_tick(struct chart_ticks *ticks, double at)
{
    if (ticks->count < CHART_TICKS) ticks->at[ticks->count++] = at;
}

static void even_ticks(const struct chart_span *span, double step, struct chart_ticks *ticks)
{
    double first = ceil(span->low / step - 1e-9);
    for (int i = 0; i < CHART_TICKS && (first + i) * step <= span->high * (1 + 1e-12) + 1e-12; i++)
        add_tick(ticks, fabs((first + i) * step) < step * 1e-6 ? 0 : (first + i) * step);
}

// Whole decades, or 1, 2, 5 of each; even steps if the span holds none of those.
static void log_ticks(const struct chart_span *span, int wanted, struct chart_ticks *ticks)
{
    static const double dense[] = {1, 2, 5};
    double decades = log10(span->high / span->low);
    int every = (int)ceil(decades / wanted), each = decades * 3 <= wanted + 1 ? 3 : 1;
    if (every < 1) every = 1;
    int first = (int)floor(log10(span->low)), last = (int)ceil(log10(span->high));
    for (int d = first; d <= last; d++) {
        if (((d % every) + every) % every != 0) continue;
        for (int i = 0; i < each; i++) {
            double at = pow(10, d) * dense[i];
            if (at >= span->low && at <= span->high) add_tick(ticks, at);
        }
    }
    if (ticks->count >= 2) return;
    ticks->count = 0;
    even_ticks(span, round_step(span->high - span->low, wanted), ticks);
}

// The densest of these lists that is not too dense; even steps if all are too sparse.
static void log_seconds_ticks(const struct chart_span *span, int wanted, struct chart_ticks *ticks)
{
    static const double lists[][24] = {
        {0.1, 0.2, 0.5,  1,    2,    5,    10,    20,    30,    60,     120,
         300, 600, 1200, 1800, 3600, 7200, 18000, 36000, 72000, 180000, 360000},
        {0.1, 0.3, 1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10800, 36000, 108000, 360000, 1080000, 3600000},
        {0.01, 0.1, 1, 10, 60, 600, 3600, 36000, 360000, 3600000, 36000000, 3.6e8},
        {0.001, 1, 60, 3600, 360000, 3.6e7, 3.6e9, 3.6e11},
    };
    for (size_t list = 0; list < sizeof lists / sizeof lists[0]; list++) {
        ticks->count = 0;
        for (const double *at = lists[list]; at < lists[list] + 24 && *at > 0; at++)
            if (*at >= span->low && *at <= span->high) add_tick(ticks, *at);
        if (ticks->count <= wanted) break;
    }
    if (ticks->count >= 2) return;
    ticks->count = 0;
    even_ticks(span, seconds_step(span->high - span->low, wanted), ticks);
}

static double month_start(int year, int month)  // months from 0; may exceed 11
{
    struct tm day = {.tm_year = year - 1900 + month / 12, .tm_mon = month % 12, .tm_mday = 1};
    return (double)timegm(&day);
}

// Within two days: times of the day.
static void clock_ticks(const struct chart_span *span, int wanted, struct chart_ticks *ticks)
{
    static const int steps[] = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
    size_t step = 0;
    while (step + 1 < sizeof steps / sizeof *steps && (span->high - span->low) / steps[step] > wanted) step++;
    even_ticks(span, steps[step], ticks);
    for (int i = 0; i < ticks->count; i++) {
        time_t at = (time_t)ticks->at[i];
        struct tm day;
        if (gmtime_r(&at, &day) == NULL) continue;
        strftime(ticks->label[i], CHART_LABEL, steps[step] < 60 ? "%H:%M:%S" : "%m-%d %H:%M", &day);
    }
}

static void date_ticks(const struct chart_span *span, int wanted, struct chart_ticks *ticks)
{
    double days = (span->high - span->low) / DAY;
    if (days < 2) {
        clock_ticks(span, wanted * 3 / 4, ticks);  // their labels are long
        return;
    }
    if (days <= 31.0 * wanted) {
        double step = fmax(ceil(days / fmax(wanted * 3 / 4, 1)), 1) * DAY;  // their labels are long, too
        even_ticks(span, step, ticks);
    } else {
        static const int steps[] = {1, 2, 3, 6, 12, 24, 60, 120, 600};
        int step = 0;
        while (step < 8 && days / 30.4 / steps[step] > wanted) step++;
        struct tm begin;
        time_t low = (time_t)span->low;
        if (gmtime_r(&low, &begin) == NULL) return;
        for (int month = 0;; month += steps[step]) {
            double at = month_start(begin.tm_year + 1900, month);
            if (at > span->high || ticks->count == CHART_TICKS) break;
            if (at >= span->low) add_tick(ticks, at);
        }
    }
    for (int i = 0; i < ticks->count; i++) {
        time_t at = (time_t)ticks->at[i];
        struct tm day;
        if (gmtime_r(&at, &day) == NULL) continue;
        bool months = days > 31.0 * wanted, years = days > 366.0 * wanted;
        strftime(ticks->label[i], CHART_LABEL, years ? "%Y" : months ? "%Y-%m" : "%Y-%m-%d", &day);
    }
}

void chart_number(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.4g", value);
}

void chart_percent(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.4g%%", value);
}

static void seconds_label(double s, double unit, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.4g%s", s / unit, s == 0 ? "" : unit >= 3600 ? " h" : unit >= 60 ? " min" : " s");
}

// One for a whole axis, so that its ticks can be compared; `most`: the end of the axis.
static double unit_of_seconds(double most)
{
    return most >= 2 * 3600 ? 3600 : most >= 120 ? 60 : 1;
}

void chart_ticks(const struct chart_span *span, const struct chart_axis *axis, int wanted, struct chart_ticks *ticks)
{
    ticks->count = 0;
    double range = span->high - span->low, step;
    switch (span->scale) {
    case CHART_DATES: date_ticks(span, wanted, ticks); return;
    case CHART_SECONDS:
        step = seconds_step(range, wanted);
        even_ticks(span, step, ticks);
        for (int i = 0; i < ticks->count; i++) seconds_label(ticks->at[i], unit_of_seconds(span->high), ticks->label[i]);
        return;
    case CHART_LOG_SECONDS:
        log_seconds_ticks(span, wanted, ticks);
        for (int i = 0; i < ticks->count; i++) {
            double at = ticks->at[i];
            seconds_label(at, at < 60 ? 1 : at < 3600 ? 60 : 3600, ticks->label[i]);
        }
        return;
    case CHART_LOG: log_ticks(span, wanted, ticks); break;
    default:
        step = round_step(range, wanted);
        even_ticks(span, span->scale == CHART_WHOLE ? fmax(step, 1) : step, ticks);
        break;
    }
    for (int i = 0; i < ticks->count; i++) axis->label(ticks->at[i], ticks->label[i]);
}
