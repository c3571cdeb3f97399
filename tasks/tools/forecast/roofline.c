// SPDX-License-Identifier: Apache-2.0
// Sums over the nodes of a plan. Cost: O(nodes * operators), a fraction of a millisecond.
#include "tasks/tools/forecast/roofline.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum dtype roofline_dtype(const struct graph *g, const struct node *n)
{
    for (int i = 0; i < 2; i++) {
        const struct value *v = node_in(g, n, i);
        if (v && dtype_is_float(v->dtype) && v->dtype != F32) return v->dtype;
    }
    return F32;
}

static struct roofline_row row_of(const struct graph *g, const struct node *n, const struct device_facts *f)
{
    struct cost cost = node_cost(g, n);
    struct roofline_row r = {.name = node_name(n),
                             .scope = n->scope,
                             .pass = n->phase,
                             .nodes = 1,
                             .flops = cost.flops,
                             .bytes = cost.read + cost.written};
    double peak = f->peak_flops[roofline_dtype(g, n)];
    if (!(peak > 0)) peak = f->peak_flops[F32];
    r.arithmetic = peak > 0 ? r.flops / peak : 0;
    r.moving = f->peak_bytes > 0 ? r.bytes / f->peak_bytes : 0;
    r.seconds = r.arithmetic > r.moving ? r.arithmetic : r.moving;
    return r;
}

static void sum_row(struct roofline_row *to, const struct roofline_row *more)
{
    to->nodes += more->nodes;
    to->flops += more->flops, to->bytes += more->bytes;
    to->arithmetic += more->arithmetic, to->moving += more->moving;
    to->seconds += more->seconds, to->measured += more->measured;
}

static int compare_descending(double a, double b)
{
    return (a < b) - (a > b);
}

static int dearest_first(const void *x, const void *y)
{
    const struct roofline_row *a = x, *b = y;
    if (a->measured != b->measured) return compare_descending(a->measured, b->measured);
    if (a->seconds != b->seconds) return compare_descending(a->seconds, b->seconds);
    if (a->flops != b->flops) return compare_descending(a->flops, b->flops);
    if (a->bytes != b->bytes) return compare_descending(a->bytes, b->bytes);
    return strcmp(a->name, b->name);
}

static bool same_row(const struct roofline_row *a, const struct roofline_row *b, enum roofline_group group)
{
    return a->name == b->name && (group == ROOFLINE_OPERATORS || a->pass == b->pass);
}

const char *roofline_pass(enum phase pass)
{
    static const char *const names[] = {[PHASE_FORWARD] = "forward", [PHASE_BACKWARD] = "backward", [PHASE_UPDATE] = "update"};
    return names[pass];
}

void roofline_of(const struct plan *p, const struct device_facts *f, enum roofline_group group, const int64_t *ns,
                 struct roofline *into)
{
    *into = (struct roofline){.row = zalloc((size_t)(p->count + 1) * sizeof *into->row), .all = {.name = "all"}};
    for (int at = 0; at < p->count; at++) {
        const struct node *n = &p->graph->node[p->order[at]];
        struct roofline_row one = row_of(p->graph, n, f);
        if (ns) one.measured = (double)ns[at] * 1e-9;
        sum_row(&into->all, &one);
        int i = group == ROOFLINE_NODES ? into->rows : 0;
        while (i < into->rows && !same_row(&into->row[i], &one, group)) i++;
        if (i < into->rows) {
            sum_row(&into->row[i], &one);
            into->row[i].scope = NULL;
        } else {
            into->row[into->rows++] = one;
        }
    }
    qsort(into->row, (size_t)into->rows, sizeof *into->row, dearest_first);
}

void roofline_free(struct roofline *r)
{
    free(r->row);
    *r = (struct roofline){0};
}

void roofline_shorten(struct roofline *r, int rows)
{
    if (r->rows <= rows || rows < 1) return;
    struct roofline_row rest = {.name = "others"};
    for (int i = rows - 1; i < r->rows; i++) sum_row(&rest, &r->row[i]);
    r->row[rows - 1] = rest;
    r->rows = rows;
}

double roofline_seconds(const struct plan *p, const struct device_facts *f)
{
    double sum = 0;
    for (int at = 0; at < p->count; at++) sum += row_of(p->graph, &p->graph->node[p->order[at]], f).seconds;
    return sum;
}

// ---- output

const char *roofline_figure(char into[TEXT_FIGURE], double value)
{
    return value > 0 ? text_si(into, value, "") : "-";
}

char *roofline_span(char into[TEXT_FIGURE], double seconds)
{
    if (!(seconds > 0)) return strcpy(into, "-");
    if (text_up(seconds * 1e3) < 1000 || text_up(seconds * 100) >= 1000) return text_span(into, seconds);
    snprintf(into, TEXT_FIGURE, "%.2f s", text_up(seconds * 100) / 100);
    return into;
}

const char *roofline_share(char into[TEXT_FIGURE], double part, double whole)
{
    if (!(whole > 0)) return "-";
    snprintf(into, TEXT_FIGURE, "%.1f%%", 100 * part / whole);
    return into;
}

static void add_text_row(const struct roofline *r, const struct roofline_row *row, struct text *into)
{
    char name[96], a[TEXT_FIGURE], b[TEXT_FIGURE], c[TEXT_FIGURE], d[TEXT_FIGURE], e[TEXT_FIGURE];
    if (row->scope)
        snprintf(name, sizeof name, "%s %s", row->name, row->scope);
    else
        snprintf(name, sizeof name, row->nodes == 1 ? "%s" : "%s (%d)", row->name, row->nodes);
    if (r->all.measured > 0) {
        double rate = row->measured > 0 ? 1 / row->measured : 0;
        text_add(into, "  %-28.28s %8s %7s %9s %9s %9s\n", name, roofline_span(a, row->measured),
                 roofline_share(b, row->measured, r->all.measured), roofline_span(c, row->seconds),
                 roofline_figure(d, row->flops * rate), roofline_figure(e, row->bytes * rate));
        return;
    }
    const char *bound = !(row->seconds > 0) ? "-" : row->arithmetic > row->moving ? "arithmetic" : "memory";
    text_add(into, "  %-28.28s %8s %8s  %-10s %9s %7s\n", name, roofline_figure(a, row->flops), roofline_figure(b, row->bytes),
             bound, roofline_span(c, row->seconds), roofline_share(d, row->seconds, r->all.seconds));
}

// A row that is faster than its bound has a reason, and the reader has to know which there are.
static void add_faster(const struct roofline *r, struct text *into)
{
    int faster = 0;
    for (int i = 0; i < r->rows; i++) faster += r->row[i].measured > 0 && r->row[i].measured < 0.95 * r->row[i].seconds;
    if (faster == 0) return;
    struct text words = {0};
    text_add(&words, "%d row%s faster than the roofline. Winograd computes fewer products than are counted, small tensors stay "
             "in a cache, and peaks that were measured while other programs ran are too low.", faster,
             faster == 1 ? " is" : "s are");
    text_add(into, "  ");
    text_wrap(into, words.at, 2, 2);
    text_add(into, "\n");
    text_free(&words);
}

void roofline_text(const struct roofline *r, struct text *into)
{
    if (r->all.measured > 0)
        text_add(into, "  %-28s %8s %7s %9s %9s %9s\n", "operator (nodes)", "time", "share", "roofline", "FLOP/s",
                 "B/s");
    else
        text_add(into, "  %-28s %8s %8s  %-10s %9s %7s\n", "operator (nodes)", "FLOP", "bytes", "bound by", "roofline",
                 "share");
    for (int i = 0; i < r->rows; i++) add_text_row(r, &r->row[i], into);
    add_text_row(r, &r->all, into);
    add_faster(r, into);
}

struct json_t *roofline_json(const struct roofline *r)
{
    json_t *rows = json_array();
    for (int i = 0; i < r->rows; i++) {
        const struct roofline_row *row = &r->row[i];
        json_t *o = json_pack("{ss ss* si sf sf sf}", "operator", row->name, "scope", row->scope, "nodes", row->nodes,
                              "flops", row->flops, "bytes", row->bytes, "roofline_s", row->seconds);
        if (r->all.measured > 0) json_object_set_new(o, "measured_s", json_real(row->measured));
        json_array_append_new(rows, o);
    }
    return rows;
}
