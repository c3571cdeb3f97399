// SPDX-License-Identifier: Apache-2.0
// An output layer, its cross-entropy with label smoothing, and the gradients of the sum of the losses.
#include "runtime/ref/ref.h"

#include <math.h>

enum { X, W, LABELS, BIAS, WEIGHTS };
enum { LOSS, ROWS, COUNT, HIT, DX, DW, DBIAS };

struct output_layer {
    int64_t classes, channels;
    double *x, *w, *bias, *dx, *dw, *dbias;
    double smoothing, cap;
};

static void compute_logits(const struct output_layer *o, int64_t row, double *z)
{
    for (int64_t i = 0; i < o->classes; i++) {
        z[i] = o->bias ? o->bias[i] : 0.0;
        for (int64_t c = 0; c < o->channels; c++) z[i] += o->x[row * o->channels + c] * o->w[i * o->channels + c];
        if (o->cap > 0.0) z[i] = o->cap * tanh(z[i] / o->cap);
    }
}

static double target_of(const struct output_layer *o, int64_t i, int64_t label)
{
    return (1.0 - o->smoothing) * (i == label) + o->smoothing / (double)o->classes;
}

static double loss_of(const struct output_layer *o, const double *z, int64_t label, double log_sum)
{
    double loss = 0.0;
    for (int64_t i = 0; i < o->classes; i++)  // what cannot be costs nothing where nothing is asked of it
        if (target_of(o, i, label) != 0.0) loss += target_of(o, i, label) * (log_sum - z[i]);
    return loss;
}

// The row's label has the largest logit, and no class before it an equal one.
static bool is_hit(const struct output_layer *o, const double *z, int64_t label)
{
    bool hit = !isnan(z[label]);
    for (int64_t i = 0; i < o->classes; i++) hit &= !(z[i] > z[label] || (z[i] == z[label] && i < label));
    return hit;
}

static void add_gradients(const struct output_layer *o, int64_t row, const double *z, int64_t label, double log_sum,
                          double weight)
{
    for (int64_t i = 0; i < o->classes; i++) {
        double slope = o->cap > 0.0 ? 1.0 - (z[i] / o->cap) * (z[i] / o->cap) : 1.0;
        double d = weight * (exp(z[i] - log_sum) - target_of(o, i, label)) * slope;
        o->dbias[i] += d;
        for (int64_t c = 0; c < o->channels; c++) {
            o->dx[row * o->channels + c] += d * o->w[i * o->channels + c];
            o->dw[i * o->channels + c] += d * o->x[row * o->channels + c];
        }
    }
}

static struct output_layer layer_of(const struct ref_step *s, int64_t rows)
{
    const struct shape *w = &ref_in(s, W)->shape;
    const struct linear_xent_attr *a = &s->node->attr.linear_xent;
    struct output_layer o = {.classes = w->dim[0], .channels = w->dim[1], .x = ref_read(s, X), .w = ref_read(s, W),
                             .bias = ref_read(s, BIAS), .smoothing = a->smoothing, .cap = a->cap};
    ref_round_all(ref_in(s, X)->dtype, o.w, shape_count(w));
    o.dx = ref_zeros(s, rows * o.channels), o.dw = ref_zeros(s, shape_count(w)), o.dbias = ref_zeros(s, o.classes);
    return o;
}

void ref_linear_xent(const struct ref_step *s)
{
    const int64_t rows = shape_rows(&ref_in(s, X)->shape);
    const struct output_layer o = layer_of(s, rows);
    const double *labels = ref_read(s, LABELS), *weights = ref_read(s, WEIGHTS);
    double *z = ref_zeros(s, o.classes), *losses = ref_zeros(s, rows), *hits = ref_zeros(s, rows), loss = 0.0, count = 0.0;
    for (int64_t r = 0; r < rows; r++) {
        if (labels[r] < 0.0 || labels[r] >= (double)o.classes) continue;
        const int64_t label = (int64_t)labels[r];
        const double weight = weights ? weights[r] : 1.0;
        double top = -INFINITY, sum = 0.0;
        compute_logits(&o, r, z);
        for (int64_t i = 0; i < o.classes; i++) top = fmax(top, z[i]);
        for (int64_t i = 0; i < o.classes; i++) sum += exp(z[i] - top);
        losses[r] = weight * loss_of(&o, z, label, top + log(sum));
        hits[r] = is_hit(&o, z, label);
        loss += losses[r], count += weight;
        if (s->out[DX] || s->out[DW] || s->out[DBIAS]) add_gradients(&o, r, z, label, top + log(sum), weight);
    }
    if (s->node->attr.linear_xent.mean && count != 0.0) loss /= count;
    ref_write(s, LOSS, &loss);
    ref_write(s, ROWS, losses);
    ref_write(s, COUNT, &count);
    ref_write(s, HIT, hits);
    ref_write(s, DX, o.dx);
    ref_write(s, DW, o.dw);
    ref_write(s, DBIAS, o.dbias);
}

void ref_linear_xent_grad(const struct ref_step *s)
{
    double *d = ref_read(s, 0), factor = ref_get(s, 1, 0), count = ref_in(s, 2) ? ref_get(s, 2, 0) : 0.0;
    if (count != 0.0) factor /= count;
    for (int64_t i = 0; i < shape_count(&ref_in(s, 0)->shape); i++) d[i] *= factor;
    ref_write(s, 0, d);
}
