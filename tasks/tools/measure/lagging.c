// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/lagging.h"

#include <jansson.h>
#include <stdlib.h>

static double share_of_peak(const struct device_facts *f, const struct case_speed *s)
{
    double peak = f->peak_flops[s->type] > 0 ? f->peak_flops[s->type] : f->peak_flops[F32];
    if (!(peak > 0) || !(f->peak_bytes > 0) || !(s->seconds > 0)) return 0;
    double arithmetic = s->flops / peak;
    return arithmetic > s->bytes / f->peak_bytes ? arithmetic / s->seconds : 0;
}

double lagging_add(struct lagging *l, const struct device_facts *f, const struct case_speed *s)
{
    double share = share_of_peak(f, s);
    l->timed++;
    l->bound += share > 0;
    if (!(share > 0) || share >= LAGGING_SHARE) return share;
    l->row = grow(l->row, (size_t)(l->rows + 1) * sizeof *l->row);
    l->row[l->rows++] = (struct lagging_case){s->row->name, s->type, share};
    return share;
}

static int slowest_first(const void *x, const void *y)
{
    const struct lagging_case *a = x, *b = y;
    return a->share != b->share ? (a->share > b->share) - (a->share < b->share) : strcmp(a->name, b->name);
}

static void sort_lagging(struct lagging *l)
{
    if (l->rows) qsort(l->row, (size_t)l->rows, sizeof *l->row, slowest_first);
}

static int lines_of(const char *text)
{
    int lines = 1;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

// The first `count` names, broken into lines.
static void wrap_names(const struct lagging *l, int count, struct text *into)
{
    struct text words = {0};
    for (int i = 0; i < count; i++)
        text_add(&words, "%s%s (%s)", i ? ", " : "", l->row[i].name, dtype_name(l->row[i].type));
    if (count < l->rows) text_add(&words, " and %d more", l->rows - count);
    text_wrap(into, words.at, 2, 2);
    text_free(&words);
}

void lagging_text(struct lagging *l, struct text *into)
{
    enum { LINES = 2 };
    if (!l->bound) return;
    text_add(into, "%d of %d compute-bound cases below %.1f of the product rate%s\n", l->rows, l->bound, LAGGING_SHARE,
             l->rows > 1 ? ", slowest first:" : l->rows ? ":" : "");
    if (!l->rows) return;
    sort_lagging(l);
    for (int count = l->rows; count > 0; count--) {
        struct text names = {0};
        wrap_names(l, count, &names);
        const bool fits = count == 1 || lines_of(names.at) <= LINES;
        if (fits) text_add(into, "  %s\n", names.at);
        text_free(&names);
        if (fits) return;
    }
}

struct json_t *lagging_json(struct lagging *l)
{
    json_t *rows = json_array();
    sort_lagging(l);
    for (int i = 0; i < l->rows; i++)
        json_array_append_new(rows, json_pack("{ss ss sf}", "case", l->row[i].name, "precision", dtype_name(l->row[i].type),
                                              "of_peak", l->row[i].share));
    return json_pack("{si si sf so}", "timed", l->timed, "compute_bound", l->bound, "share", LAGGING_SHARE, "below", rows);
}

void lagging_free(struct lagging *l)
{
    free(l->row);
    *l = (struct lagging){0};
}
