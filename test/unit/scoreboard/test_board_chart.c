// SPDX-License-Identifier: Apache-2.0
// Charts: for any values, only finite numbers inside the picture, labels inside, text escaped, each element closed.

#include "runtime/common/draw/chart.h"
#include "test/unit/test.h"

static void plain(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.3g", value);
}

static double attribute(const char *element, const char *name)
{
    char mark[32];
    snprintf(mark, sizeof mark, " %s=\"", name);
    const char *end = strchr(element, '>'), *at = strstr(element, mark);
    return at != NULL && at < end ? strtod(at + strlen(mark), NULL) : -1;
}

// Every number of a path's absolute commands lies inside; relative ones are the small shapes of marks.
static void check_path(const char *d, double width, double height)
{
    bool relative = false, vertical = false;
    int number = 0;
    while (*d != '"') {
        if (strchr("MLHVZzhvl", *d) != NULL) {
            relative = *d == 'h' || *d == 'v' || *d == 'l' || *d == 'z';
            vertical = *d == 'V';
            number = *d == 'V' ? 1 : 0;
            d++;
            continue;
        }
        if (*d == ' ') {
            d++;
            continue;
        }
        char *end;
        double value = strtod(d, &end);
        assert_ptr_not_equal(end, d);  // anything else (nan, inf) is no number of a path
        assert_true(isfinite(value));
        if (!relative) assert_true(value >= -8 && value <= (number % 2 == 1 || vertical ? height : width) + 8);
        number++;
        d = end;
    }
}

static void check_text(const char *element, double width, double height)
{
    const char *words = strchr(element, '>') + 1;
    size_t length = strcspn(words, "<");
    double x = attribute(element, "x"), y = attribute(element, "y");
    const char *anchor = strstr(element, "text-anchor=\"");
    bool at_end = anchor != NULL && anchor < words && strncmp(anchor + 13, "end", 3) == 0;
    bool middle = anchor != NULL && anchor < words && strncmp(anchor + 13, "middle", 6) == 0;
    double wide = (double)length * 6, left = at_end ? x - wide : middle ? x - wide / 2 : x;
    assert_true(y >= 8 && y <= height);
    assert_true(left >= -4 && left + wide <= width + 4);
}

static void check(const char *page)
{
    assert_null(strstr(page, "nan"));
    assert_null(strstr(page, "inf\""));
    assert_null(strstr(page, "style="));
    assert_null(strstr(page, "<script"));
    int pictures = 0;
    for (const char *svg = page; (svg = strstr(svg, "role=\"img\"")) != NULL; svg++) {
        const char *box = svg;
        while (strncmp(box, "viewBox", 7) != 0) box--;
        double width, height;
        assert_int_equal(sscanf(box, "viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
        const char *end = strstr(svg, "</svg>");
        assert_non_null(end);
        assert_non_null(strstr(svg, "<title id="));
        assert_non_null(strstr(svg, "<desc id="));
        for (const char *at = svg; at < end; at++) {
            if (strncmp(at, " d=\"", 4) == 0)
                check_path(at + 4, width, height);
            else if (strncmp(at, "<text", 5) == 0)
                check_text(at, width, height);
            else if (strncmp(at, "<circle", 7) == 0)
                assert_true(attribute(at, "cx") >= 0 && attribute(at, "cx") <= width && attribute(at, "cy") >= 0 &&
                            attribute(at, "cy") <= height);
            else if (strncmp(at, "<rect", 5) == 0)
                assert_true(attribute(at, "x") >= 0 && attribute(at, "width") >= 0 &&
                            attribute(at, "x") + attribute(at, "width") <= width + 0.1);
        }
        pictures++;
    }
    assert_in_range(pictures, 2, 3);
}

static const double odd[] = {0,     -1,   1,   1e-300,   1e300,     -1e300, 93.99, 94,   1e9,
                             1.6e9, 1e-9, NAN, INFINITY, -INFINITY, 3600,   0.5,   1e15, 5e-324};
enum { ODD = sizeof odd / sizeof odd[0] };

static struct chart chart_of(const struct chart_series *series)
{
    return (struct chart){.id = "c", .title = "t", .about = "a", .x = {"x", CHART_LINEAR, plain}, .y = {"y", CHART_LINEAR, plain},
                          .series = series, .series_count = 1};
}

TEST(any_values_stay_inside)
{
    struct chart_point at[40];
    unsigned seed = 12345;
    for (int round = 0; round < 3000; round++) {
        int count = round % 40;
        for (int i = 0; i < count; i++) {
            seed = seed * 1103515245u + 12345u;
            at[i].x = odd[(seed >> 16) % ODD] * (round % 3 ? 1 : (double)(i + 1));
            seed = seed * 1103515245u + 12345u;
            at[i].y = odd[(seed >> 16) % ODD];
            at[i].what = "<&\">";
            at[i].name = i % 3 != 0 ? "12 min 30 s, somebody" : NULL;
            at[i].low = odd[(seed >> 8) % ODD], at[i].high = odd[(seed >> 4) % ODD];
        }
        struct chart_series series = {.label = "s",
                                      .at = at,
                                      .count = count,
                                      .line = (enum chart_line)(round % 3),
                                      .marks = true,
                                      .band = round % 2 != 0,
                                      .look = round % 4};
        struct chart_level level = {odd[round % ODD], "target"};
        struct chart chart = chart_of(&series);
        chart.size = (enum chart_size)(round / 2 % 2);
        chart.x.scale = (enum chart_scale)(round % 5), chart.y.scale = (enum chart_scale)(round / 5 % 5);
        chart.levels = &level, chart.level_count = round % 2;
        struct text out = {0};
        chart_draw(&out, &chart);
        check(out.at);
        text_free(&out);
    }
}

TEST(a_long_curve_is_thinned)
{
    enum { MANY = 4000 };
    struct chart_point *at = calloc(MANY, sizeof *at);
    for (int i = 0; i < MANY; i++) at[i] = (struct chart_point){.x = i * 0.5, .y = 50 + 40 * sin(i * 0.7)};
    struct chart_series series = {.label = "s", .at = at, .count = MANY};
    struct chart chart = chart_of(&series);
    chart.x = (struct chart_axis){"x", CHART_SECONDS, NULL};
    struct text out = {0};
    chart_draw(&out, &chart);
    check(out.at);
    assert_true(out.length < 60000);
    text_free(&out);
    free(at);
}

TEST(ticks_are_round_and_few)
{
    static const struct {
        enum chart_scale scale;
        double low, high;
        const char *holds;
    } cases[] = {
        {CHART_SECONDS, 0, 300, "1 min"},    {CHART_SECONDS, 14, 111, "30 s"},
        {CHART_SECONDS, 0, 40000, "2 h"},    {CHART_LINEAR, 60, 94.3, "70"},
        {CHART_LOG, 0.001, 50, "0.1"},       {CHART_LOG_SECONDS, 40, 400000, "1 h"},
        {CHART_DATES, 1.5e9, 1.6e9, "2019"}, {CHART_DATES, 1.6e9, 1.6e9, "2020-09-"},
        {CHART_LOG_SECONDS, 61, 62, " "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct chart_span span = chart_span(cases[i].scale, cases[i].low, cases[i].high);
        struct chart_axis axis = {"a", cases[i].scale, plain};
        struct chart_ticks ticks;
        chart_ticks(&span, &axis, 7, &ticks);
        assert_true(span.low < span.high && span.low <= cases[i].low && span.high >= cases[i].high);
        assert_in_range(ticks.count, 2, 10);
        bool found = false;
        for (int t = 0; t < ticks.count; t++) {
            assert_true(ticks.at[t] >= span.low && ticks.at[t] <= span.high * (1 + 1e-9));
            found |= strstr(ticks.label[t], cases[i].holds) != NULL;
        }
        if (!found)
            print_message("no tick \"%s\" from %g to %g: %s, %s\n", cases[i].holds, cases[i].low, cases[i].high,
                          ticks.label[0], ticks.label[1]);
        assert_true(found);
    }
}

TEST(time_begins_at_nothing_and_has_one_unit)
{
    static const double ends[][2] = {{28, 31}, {89, 95}, {40, 150}, {3500, 3600}, {1, 7300}, {0, 0}, {9e4, 1e5}};
    static const char *const units[] = {" s", " s", " min", " min", " h", " s", " h"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct chart_span span = chart_span(CHART_SECONDS, ends[i][0], ends[i][1]);
        struct chart_axis axis = {"a", CHART_SECONDS, plain};
        struct chart_ticks ticks;
        assert_true(span.low >= 0 && span.low <= 0 && span.high >= ends[i][1]);
        chart_ticks(&span, &axis, 7, &ticks);
        assert_in_range(ticks.count, 2, 10);
        assert_string_equal(ticks.label[0], "0");
        for (int t = 1; t < ticks.count; t++) {
            assert_non_null(strchr(ticks.label[t], ' '));
            assert_string_equal(strchr(ticks.label[t], ' '), units[i]);
        }
    }
}

// An axis of dates has two labels at least, which differ and fit on the narrowest picture.
TEST(dates_have_labels_with_room)
{
    static const double ranges[] = {0, 0.005, 20, 90, 4000, 90000, 3 * 86400.0, 33 * 86400.0, 86400 * 400.0, 86400 * 4000.0};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        struct chart_span span = chart_span(CHART_DATES, 1795377600, 1795377600 + ranges[i]);
        struct chart_axis axis = {"a", CHART_DATES, NULL};
        struct chart_ticks ticks;
        span.from = 0, span.to = 250;
        chart_ticks(&span, &axis, 4, &ticks);
        if (ticks.count < 2 || ticks.count > 5) fail_msg("range %g: %d labels", ranges[i], ticks.count);
        for (int t = 1; t < ticks.count; t++) {
            assert_string_not_equal(ticks.label[t], ticks.label[t - 1]);
            double gap = chart_pixel(&span, ticks.at[t]) - chart_pixel(&span, ticks.at[t - 1]);
            if (gap < 7.5 * (double)strlen(ticks.label[t])) fail_msg("range %g: %s has %g", ranges[i], ticks.label[t], gap);
        }
    }
}

TEST(bars_and_stacks)
{
    static const double values[][4] = {
        {1, 2, 3, 4}, {0, 0, 0, 0}, {NAN, 1, INFINITY, -3}, {1e300, 1e300, 1e300, 1e300}, {1e-9, 5, 0.1, 3}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct chart_part parts[4];
        for (int p = 0; p < 4; p++) parts[p] = (struct chart_part){"<train>", "1.0 s", values[i][p], p};
        for (int kind = 0; kind < 2; kind++) {
            struct text out = {0};
            if (kind)
                chart_stack(&out, "c", "t", "a", parts, 4);
            else
                chart_bars(&out, "c", "t", "a", parts, 4);
            check(out.at);
            assert_null(strstr(out.at, "<train>"));
            text_free(&out);
        }
    }
}

TEST(shapes_differ_with_the_look)
{
    struct chart_point at = {.x = 1, .y = 1};
    char *pictures[CHART_LOOKS];
    for (int look = 0; look < CHART_LOOKS; look++) {
        struct chart_series series = {
            .label = "s", .at = &at, .count = 1, .line = CHART_NONE, .marks = true, .look = look};
        struct chart chart = chart_of(&series);
        struct text out = {0};
        chart_draw(&out, &chart);
        const char *mark = strstr(out.at, "<g class=\"mark");
        assert_non_null(mark);
        pictures[look] = copy_text(strchr(mark, '>') + 1);
        strstr(pictures[look], "</g>")[0] = 0;
        for (int other = 0; other < look; other++) assert_string_not_equal(pictures[other], pictures[look]);
        text_free(&out);
    }
    for (int look = 0; look < CHART_LOOKS; look++) free(pictures[look]);
}
