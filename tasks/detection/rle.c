// SPDX-License-Identifier: Apache-2.0
// Cost: every function but rle_encode and rle_decode works on runs, not on pixels.
#include "tasks/detection/rle.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/sort.h"

void rle_free(struct rle *r)
{
    free(r->run);
    *r = (struct rle){0};
}

static void push_run(struct rle *r, uint32_t pixels)
{
    if ((r->runs & (r->runs - 1)) == 0) r->run = grow(r->run, (size_t)(r->runs > 0 ? 2 * r->runs : 1) * sizeof *r->run);
    r->run[r->runs++] = pixels;
}

// Joins a run to the last one if both are on one side.
static void add_run(struct rle *r, bool inside, int64_t pixels)
{
    if (pixels == 0) return;
    if (r->runs == 0 && inside) push_run(r, 0);
    if (r->runs > 0 && ((r->runs - 1) & 1) == inside) r->run[r->runs - 1] += (uint32_t)pixels;
    else push_run(r, (uint32_t)pixels);
}

struct rle rle_encode(const uint8_t *inside, int32_t height, int32_t width)
{
    struct rle r = {height, width, NULL, 0};
    int64_t pixels = (int64_t)height * width;
    for (int64_t at = 0, end; at < pixels; at = end) {
        for (end = at + 1; end < pixels && !inside[end] == !inside[at];) end++;
        add_run(&r, inside[at] != 0, end - at);
    }
    return r;
}

void rle_decode(const struct rle *r, uint8_t *inside)
{
    for (int64_t i = 0; i < r->runs; i++) {
        memset(inside, (int)(i & 1), r->run[i]);
        inside += r->run[i];
    }
}

// ---- COCO's counts and text

int rle_counts(const int64_t *count, int64_t counts, int32_t height, int32_t width, struct rle *r)
{
    int64_t left = (int64_t)height * width;
    *r = (struct rle){height, width, NULL, 0};
    for (int64_t i = 0; i < counts; i++) {
        if (count[i] < 0 || count[i] > left) {
            rle_free(r);
            return fail(ERR_INPUT, "count %lld of its mask is %lld, where %lld pixels are left", (long long)i + 1,
                        (long long)count[i], (long long)left);
        }
        add_run(r, i & 1, count[i]);
        left -= count[i];
    }
    if (left == 0) return 0;
    rle_free(r);
    return fail(ERR_INPUT, "the counts of its mask end %lld pixels before a mask of %d x %d pixels", (long long)left, width,
                height);
}

enum { GROUP = 5, SIGN = 1 << (GROUP - 1), MORE = 1 << GROUP, GROUPS_MOST = 7 };

// Reads one number, or fails with -1.
static int parse_number(const char *text, size_t bytes, size_t *at, int64_t *number)
{
    int shift = 0, digit;
    *number = 0;
    do {
        if (*at == bytes || text[*at] < '0' || text[*at] > 'o' || shift == GROUP * GROUPS_MOST) return -1;
        digit = text[(*at)++] - '0';
        *number |= (int64_t)(digit & (MORE - 1)) << shift;
        shift += GROUP;
    } while (digit & MORE);
    if (digit & SIGN) *number -= (int64_t)1 << shift;
    return 0;
}

int rle_parse(const char *text, size_t bytes, int32_t height, int32_t width, struct rle *r)
{
    int64_t *count = grow(NULL, (bytes + 1) * sizeof *count), counts = 0;
    int rc = 0;
    *r = (struct rle){0};
    for (size_t at = 0; at < bytes && rc == 0;) {
        rc = parse_number(text, bytes, &at, &count[counts]);
        if (counts > 2) count[counts] += count[counts - 2];
        counts++;
    }
    if (rc < 0) rc = fail(ERR_INPUT, "the text of its mask is no list of counts: number %lld is damaged", (long long)counts);
    else rc = rle_counts(count, counts, height, width, r);
    free(count);
    return rc;
}

void rle_text(const struct rle *r, struct text *into)
{
    text_bytes(into, "", 0);
    for (int64_t i = 0; i < r->runs; i++) {
        int64_t left = i > 2 ? (int64_t)r->run[i] - r->run[i - 2] : r->run[i];
        for (bool more = true; more;) {
            int digit = (int)(left & (MORE - 1));
            left >>= GROUP;
            more = left != (digit & SIGN ? -1 : 0);
            char byte = (char)('0' + (more ? digit | MORE : digit));
            text_bytes(into, &byte, 1);
        }
    }
}

// ---- polygons

enum { FINE = 5, CENTRE = 2 };  // steps per pixel, and the step between two of which a centre lies

// Crossings are positions in the mask at which it changes sides.
struct border {
    int32_t height, width;
    int x, y;  // of the last step; x is valid if `begun`
    bool begun;
    int64_t *crossing, crossings;
};

static void step_border(struct border *b, int x, int y)
{
    int column = x < b->x ? x : x - 1, row = y < b->y ? y : b->y;
    bool crosses = b->begun && x != b->x && column >= 0 && column % FINE == CENTRE && column / FINE < b->width;
    b->x = x, b->y = y, b->begun = true;
    if (!crosses) return;
    int64_t n = b->crossings;
    if ((n & (n - 1)) == 0) b->crossing = grow(b->crossing, (size_t)(n > 0 ? 2 * n : 1) * sizeof *b->crossing);
    row = row <= CENTRE ? 0 : (row + CENTRE) / FINE;  // the first pixel whose centre is not above
    b->crossing[b->crossings++] = (int64_t)(column / FINE) * b->height + (row < b->height ? row : b->height);
}

// Draws from (x0, y0) to (x1, y1). Steps are rounded from the end with the lesser coordinate, in either direction.
static void walk_edge(struct border *b, int x0, int y0, int x1, int y1)
{
    int dx = abs(x1 - x0), dy = abs(y1 - y0), steps = dx >= dy ? dx : dy;
    bool flat = dx >= dy, back = flat ? x0 > x1 : y0 > y1;
    int from_x = back ? x1 : x0, from_y = back ? y1 : y0;
    double rise = back ? y0 - y1 : y1 - y0, run = back ? x0 - x1 : x1 - x0, slope = 0;
    if (steps > 0) slope = flat ? rise / dx : run / dy;
    for (int i = 0; i <= steps; i++) {
        int t = back ? steps - i : i;
        if (flat) step_border(b, from_x + t, (int)(from_y + slope * t + .5));
        else step_border(b, (int)(from_x + slope * t + .5), from_y + t);
    }
}

struct rle rle_fifths(const int32_t *xy, int64_t corners, int32_t height, int32_t width)
{
    struct border b = {.height = height, .width = width};
    for (int64_t i = 0; i < corners; i++) {
        const int32_t *from = xy + 2 * i, *to = xy + 2 * ((i + 1) % corners);
        walk_edge(&b, from[0], from[1], to[0], to[1]);
    }
    if (b.crossings > 0) qsort(b.crossing, (size_t)b.crossings, sizeof *b.crossing, sort_i64);
    struct rle r = {height, width, NULL, 0};
    int64_t at = 0;
    for (int64_t i = 0; i < b.crossings; at = b.crossing[i++]) add_run(&r, i & 1, b.crossing[i] - at);
    add_run(&r, b.crossings & 1, (int64_t)height * width - at);
    free(b.crossing);
    return r;
}

int rle_polygon(const double *xy, int64_t corners, int32_t height, int32_t width, struct rle *r)
{
    for (int64_t i = 0; i < corners; i++) {
        double x = xy[2 * i], y = xy[2 * i + 1];
        if (!(x >= -width && x <= 2.0 * width && y >= -height && y <= 2.0 * height))
            return fail(ERR_INPUT, "corner %lld of its polygon, (%g, %g), is far outside of the %d x %d pixels of the image",
                        (long long)i + 1, x, y, width, height);
    }
    int32_t *fine = zalloc((size_t)(2 * corners + 1) * sizeof *fine);
    for (int64_t i = 0; i < 2 * corners; i++) fine[i] = (int32_t)(FINE * xy[i] + .5);
    *r = rle_fifths(fine, corners, height, width);
    free(fine);
    return 0;
}

// ---- two masks

struct walk {
    const struct rle *of;
    int64_t at;     // run
    uint32_t left;  // pixels of it
    bool inside;    // of the pixels that advance_both() passed
};

static struct walk begin_walk(const struct rle *r)
{
    return (struct walk){.of = r, .left = r->runs > 0 ? r->run[0] : 0};
}

static void skip_ended_run(struct walk *w)
{
    if (w->left > 0 || w->at + 1 >= w->of->runs) return;
    w->left = w->of->run[++w->at];
}

// Passes the pixels up to the next change of either mask. Returns their number, 0 at the end.
static uint32_t advance_both(struct walk *a, struct walk *b)
{
    skip_ended_run(a), skip_ended_run(b);
    uint32_t pixels = a->left < b->left ? a->left : b->left;
    a->left -= pixels, b->left -= pixels;
    a->inside = a->at & 1, b->inside = b->at & 1;
    return pixels;
}

struct rle rle_merge(const struct rle *a, const struct rle *b, bool both)
{
    BUG_IF(a->height != b->height || a->width != b->width);
    struct rle r = {a->height, a->width, NULL, 0};
    struct walk x = begin_walk(a), y = begin_walk(b);
    for (uint32_t pixels; (pixels = advance_both(&x, &y)) > 0;)
        add_run(&r, both ? x.inside && y.inside : x.inside || y.inside, pixels);
    return r;
}

double rle_iou(const struct rle *found, const struct rle *truth, bool crowd)
{
    BUG_IF(found->height != truth->height || found->width != truth->width);
    struct walk x = begin_walk(found), y = begin_walk(truth);
    int64_t both = 0, either = 0;
    for (uint32_t pixels; (pixels = advance_both(&x, &y)) > 0;) {
        both += x.inside && y.inside ? pixels : 0;
        either += x.inside || y.inside ? pixels : 0;
    }
    return both > 0 ? (double)both / (double)(crowd ? rle_area(found) : either) : 0;
}

int64_t rle_area(const struct rle *r)
{
    int64_t area = 0;
    for (int64_t i = 1; i < r->runs; i += 2) area += r->run[i];
    return area;
}

void rle_box(const struct rle *r, double box[4])
{
    int64_t left = r->width, top = r->height, right = -1, bottom = -1, at = 0;
    for (int64_t i = 0; i < r->runs; at += r->run[i++]) {
        if (!(i & 1)) continue;
        int64_t last = at + r->run[i] - 1, first_column = at / r->height, last_column = last / r->height;
        bool over = first_column < last_column;  // from the bottom of a column to the top of the next
        int64_t high = over ? 0 : at % r->height, low = over ? r->height - 1 : last % r->height;
        if (first_column < left) left = first_column;
        if (last_column > right) right = last_column;
        if (high < top) top = high;
        if (low > bottom) bottom = low;
    }
    if (right < 0) left = top = 0, right = bottom = -1;
    box[0] = (double)left, box[1] = (double)top, box[2] = (double)(right - left + 1), box[3] = (double)(bottom - top + 1);
}
