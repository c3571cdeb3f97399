// SPDX-License-Identifier: Apache-2.0
// Finds older runs whose points have the intervals of a new run. A key is how four consecutive intervals relate, so a
// copy has most keys of its original, also if it is slower by a factor, begins later, or leaves out points. A run is stored under
// a sample of its keys: the least by a fixed draw, so that a copy has the same sample.
// Workload: each run once. Cost: some look-ups per point, and at most 96 rows per run.
#include <math.h>
#include <stdlib.h>

#include "scoreboard/store/types/types.h"

// BINS for the unit: a ratio of two intervals that agree within 5 millionths is in the same bin or the next. STRIDES: every
// point, every second, every third. SAMPLE: keys of each. CROWD: runs that are looked at under one key.
// WINDOW: intervals of a key. With three, every submission found other runs by chance, and read their payloads.
enum { BINS = 20000, STRIDES = 3, SAMPLE = 32, CROWD = 64, WINDOW = 4, FEWEST = 4 };
#define SLACK 1.1e-5

struct keys {
    int64_t *at;
    size_t count;
};

static void add_key(struct keys *k, int64_t key)
{
    k->at = grow(k->at, (k->count + 1) * sizeof *k->at);
    k->at[k->count++] = key;
}

// From -1 to 1, 0 if both are equal. Divisions alone, so that every machine gets the same bits.
static double relate(int64_t a, int64_t b)
{
    int64_t longer = a > b ? a : b;
    return longer > 0 ? (double)(b - a) / (double)longer : 0;
}

// `key`: of the intervals so far.
static void add_window(struct keys *k, const int64_t *t, size_t intervals, double slack, int64_t key)
{
    if (intervals == 1) return add_key(k, key);
    const double x = relate(t[1] - t[0], t[2] - t[1]);
    for (int64_t bin = (int64_t)floor((x - slack) * BINS); bin <= (int64_t)floor((x + slack) * BINS); bin++)
        add_window(k, t + 1, intervals - 1, slack, key * 4 * BINS + bin + 2 * BINS);
}

// Fewer points have no such intervals: their number and the end of the last is the key.
static void add_short(struct keys *k, size_t points, int64_t last, double slack)
{
    int exponent;
    const double low = (double)last * (1 - slack), high = (double)last * (1 + slack);
    for (double at = low; at <= high; at += (double)last * 1e-5) {
        const double part = frexp(at, &exponent);
        add_key(k, -(((int64_t)points * 64 + exponent) * 4 * BINS + (int64_t)floor(part * BINS)) - 1);
        if (slack == 0) break;
    }
}

static uint64_t draw_of(int64_t key)
{
    uint64_t x = (uint64_t)key * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 31) * 0x94d049bb133111ebu;
    return x ^ x >> 29;
}

static int by_draw(const void *a, const void *b)
{
    uint64_t x = draw_of(*(const int64_t *)a), y = draw_of(*(const int64_t *)b);
    return (x > y) - (x < y);
}

static void drop_equal(struct keys *k)
{
    size_t kept = 0;
    if (k->count > 0) qsort(k->at, k->count, sizeof *k->at, by_draw);
    for (size_t i = 0; i < k->count; i++)
        if (i == 0 || k->at[i] != k->at[kept - 1]) k->at[kept++] = k->at[i];
    k->count = kept;
}

static void add_keys(struct keys *k, const json_t *run, size_t stride, double slack)
{
    const json_t *points = json_object_get(run, "points");
    const size_t count = json_array_size(points), intervals = count == FEWEST ? WINDOW - 1 : WINDOW;
    for (size_t i = 0; i + intervals * stride < count; i++) {
        int64_t t[WINDOW + 1];
        bool grows = true;
        for (size_t n = 0; n <= intervals; n++) {
            t[n] = canonical_int(json_array_get(points, i + n * stride), "t_ns");
            grows = grows && (n == 0 || t[n - 1] < t[n]);
        }
        if (grows) add_window(k, t, intervals, slack, 0);
    }
    const int64_t last = count > 0 ? canonical_int(json_array_get(points, count - 1), "t_ns") : 0;
    if (stride == 1 && count < FEWEST && last > 0) add_short(k, count, last, slack);
}

int run_pace_put(struct sql *sql, int64_t sequence, const json_t *run)
{
    int rc = 0;
    for (size_t stride = 1; stride <= STRIDES && rc == 0; stride++) {
        struct keys k = {0};
        add_keys(&k, run, stride, 0);
        drop_equal(&k);
        for (size_t i = 0; i < k.count && i < SAMPLE && rc == 0; i++)
            rc = sql_do(sql, "INSERT OR IGNORE INTO paces (key, run) VALUES (?, ?)", "ii", k.at[i], sequence);
        free(k.at);
    }
    return rc;
}

// ---- looking up

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The runs that were found most often, the older one first among equals.
static void choose(int64_t *found, size_t count, struct run_likely *out)
{
    size_t times[RUN_LIKELY];
    if (count > 0) qsort(found, count, sizeof *found, by_number);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i; next < count && found[next] == found[i];) next++;
        int at = out->count < RUN_LIKELY ? out->count++ : RUN_LIKELY;
        for (; at > 0 && times[at - 1] < next - i; at--)
            if (at < RUN_LIKELY) times[at] = times[at - 1], out->at[at] = out->at[at - 1];
        if (at < RUN_LIKELY) times[at] = next - i, out->at[at] = found[i];
    }
}

int run_pace_find(struct sql *sql, const json_t *run, int64_t superseded, int64_t after, struct run_likely *out)
{
    struct keys k = {0}, found = {0};
    const char *nonce = canonical_text(run, "nonce");
    int rc = 0;
    out->count = 0;
    add_keys(&k, run, 1, SLACK);
    drop_equal(&k);
    for (size_t i = 0; i < k.count && rc >= 0; i++) {
        sqlite3_stmt *row;
        rc = sql_start(sql, &row, "SELECT r.sequence FROM paces p JOIN runs r ON r.sequence = p.run WHERE p.key = ?1 AND "
                       "r.superseded = 0 AND r.nonce <> ?2 AND "
                       "(?3 = 0 OR r.first < (SELECT first FROM runs WHERE sequence = ?3)) AND p.run > ?5 ORDER BY p.run "
                       "LIMIT ?4", "itiii", k.at[i], nonce, superseded, (int64_t)CROWD, after);
        if (rc < 0) break;
        while ((rc = sql_next(sql, row)) > 0) add_key(&found, sql_column(row, 0));
        sql_end(row);
    }
    if (rc == 0) choose(found.at, found.count, out);
    free(k.at);
    free(found.at);
    return rc;
}
