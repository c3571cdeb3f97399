// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification in logarithms: forward and backward variables of Graves et al. 2006 for each frame and
// state.
#include "runtime/ref/ref.h"

#include <math.h>

struct sample {
    int64_t frames, labels, states, classes;
    const double *label;
    const double *log_y;  // [frames, classes]
};

static double log_add(double a, double b)
{
    double most = fmax(a, b);
    return most == -INFINITY ? most : most + log1p(exp(fmin(a, b) - most));
}

static int64_t limited(const double *count, int64_t b, int64_t most)
{
    double n = count ? count[b] : (double)most;
    return n < 0.0 ? 0 : n > (double)most ? most : (int64_t)n;
}

static int64_t class_of(const struct sample *o, int64_t s) { return s % 2 ? (int64_t)o->label[s / 2] : 0; }

// A label may follow another one without a blank between them.
static bool skips(const struct sample *o, int64_t s) { return s % 2 && s > 1 && o->label[s / 2] != o->label[s / 2 - 1]; }

static bool fits(const struct sample *o)
{
    int64_t least = o->labels;
    for (int64_t i = 0; i < o->labels; i++) {
        if (o->label[i] < 1.0 || o->label[i] >= (double)o->classes) return false;
        least += i > 0 && o->label[i] == o->label[i - 1];
    }
    return least <= o->frames;
}

// a[t,s]: alignments of frames 0 .. t that end in state s; b[t,s]: of the frames after t, from state s at t on.
static double align(const struct sample *o, double *a, double *b)
{
    int64_t n = o->states;
    for (int64_t i = 0; i < o->frames * n; i++) a[i] = b[i] = -INFINITY;
    for (int64_t t = 0; t < o->frames; t++)
        for (int64_t s = 0; s < n; s++) {
            double sum = t == 0 && s < 2 ? 0.0 : -INFINITY;
            if (t > 0) sum = a[(t - 1) * n + s];
            if (t > 0 && s > 0) sum = log_add(sum, a[(t - 1) * n + s - 1]);
            if (t > 0 && skips(o, s)) sum = log_add(sum, a[(t - 1) * n + s - 2]);
            a[t * n + s] = sum + o->log_y[t * o->classes + class_of(o, s)];
        }
    for (int64_t t = o->frames - 1; t >= 0; t--)
        for (int64_t s = 0; s < n; s++) {
            const double *after = b + (t + 1) * n, *y = o->log_y + (t + 1) * o->classes;
            double sum = t == o->frames - 1 && s >= n - 2 ? 0.0 : -INFINITY;
            for (int64_t to = s; t < o->frames - 1 && to < n && to <= s + 2; to++)
                if (to < s + 2 || skips(o, to)) sum = log_add(sum, after[to] + y[class_of(o, to)]);
            b[t * n + s] = sum;
        }
    if (o->frames == 0) return 0.0;
    const double *last = a + (o->frames - 1) * n;
    return n > 1 ? log_add(last[n - 1], last[n - 2]) : last[0];
}

static void log_softmax(double *x, int64_t n)
{
    double top = x[0], sum = 0.0;
    for (int64_t i = 1; i < n; i++) top = fmax(top, x[i]);
    for (int64_t i = 0; i < n; i++) sum += exp(x[i] - top);
    for (int64_t i = 0; i < n; i++) x[i] -= top + log(sum);
}

void ref_ctc(const struct ref_step *s)
{
    const int64_t *dim = ref_in(s, 0)->shape.dim, batch = dim[0], frames = dim[1], k = dim[2], most = ref_in(s, 2)->shape.dim[1];
    double *x = ref_read(s, 0), *length = ref_read(s, 1), *label = ref_read(s, 2), *count = ref_read(s, 3), loss = 0.0;
    double *losses = ref_zeros(s, batch), *skipped = ref_zeros(s, batch), *d = ref_zeros(s, batch * frames * k);
    double *a = ref_zeros(s, frames * (2 * most + 1)), *b = ref_zeros(s, frames * (2 * most + 1));
    for (int64_t i = 0; i < batch; i++) {
        struct sample o = {limited(length, i, frames), limited(count, i, most), 0, k, label + i * most, x + i * frames * k};
        o.states = 2 * o.labels + 1;
        for (int64_t t = 0; t < o.frames; t++) log_softmax(x + (i * frames + t) * k, k);
        const double all = fits(&o) ? align(&o, a, b) : -INFINITY;
        if (all == -INFINITY) {
            skipped[i] = 1.0;
            continue;
        }
        loss += losses[i] = -all;
        for (int64_t t = 0; t < o.frames; t++) {
            double *to = d + (i * frames + t) * k;
            for (int64_t c = 0; c < k; c++) to[c] = exp(o.log_y[t * k + c]);
            for (int64_t j = 0; j < o.states; j++) to[class_of(&o, j)] -= exp(a[t * o.states + j] + b[t * o.states + j] - all);
        }
    }
    ref_write(s, 0, &loss);
    ref_write(s, 1, losses);
    ref_write(s, 2, skipped);
    ref_write(s, 3, d);
}
