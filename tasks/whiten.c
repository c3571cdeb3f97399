// SPDX-License-Identifier: Apache-2.0
// The whitening layer: eigenvectors of the covariance of small patches, by Jacobi rotations (12 x 12: exact to
// rounding in a few sweeps, so no library for it). Cost: n * H * W * (s*s*C)^2 / 2 multiplications; 5,000 images, 0.1 s.
#include "runtime/base/threads.h"
#include "tasks/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };  // elements of a patch
#define EPSILON 5e-4

struct patches {
    const uint8_t *images;
    int64_t h, w, c, side, size;
    const float *mean, *std;
    double (*sum)[MOST * MOST];  // a thread each
};

// Adds x x' of every patch of images [begin, end). Patches overlap by a row, so each row of values is made once.
static void add_patches(void *context, int64_t begin, int64_t end, int thread)
{
    struct patches *p = context;
    float x[MOST];
    double *sum = p->sum[thread];
    for (int64_t n = begin; n < end; n++) {
        float part[MOST * MOST] = {0};  // one image's sum: small enough for f32
        for (int64_t y = 0; y + p->side <= p->h; y++)
            for (int64_t z = 0; z + p->side <= p->w; z++) {
                int64_t i = 0;
                for (int64_t r = 0; r < p->side; r++)
                    for (int64_t s = 0; s < p->side; s++)
                        for (int64_t c = 0; c < p->c; c++, i++) {
                            uint8_t pixel = p->images[((n * p->h + y + r) * p->w + z + s) * p->c + c];
                            x[i] = ((float)pixel / 255.0f - p->mean[c]) / p->std[c];
                        }
                for (int64_t a = 0; a < p->size; a++)
                    for (int64_t b = 0; b < p->size; b++) part[a * p->size + b] += x[a] * x[b];
            }
        for (int64_t i = 0; i < p->size * p->size; i++) sum[i] += (double)part[i];
    }
}

// One Jacobi rotation of the symmetric a[n,n] that makes a[p,q] zero; v collects the eigenvectors as columns.
static void rotate(double *a, double *v, int64_t n, int64_t p, int64_t q)
{
    double off = a[p * n + q];
    if (off == 0) return;
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * off);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
    for (int64_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y, a[k * n + q] = s * x + c * y;
    }
    for (int64_t k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y, a[q * n + k] = s * x + c * y;
        x = v[k * n + p], y = v[k * n + q];
        v[k * n + p] = c * x - s * y, v[k * n + q] = s * x + c * y;
    }
}

static void eigen(double *a, double *v, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++) v[i] = i / n == i % n;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, on = 0;
        for (int64_t i = 0; i < n * n; i++) *(i / n == i % n ? &on : &off) += a[i] * a[i];
        if (off <= 1e-24 * on) return;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) rotate(a, v, n, p, q);
    }
}

void model_whiten(const uint8_t *images, int64_t n, int64_t h, int64_t w, int64_t c, const float *mean, const float *std,
                  int64_t side, float *weight)
{
    int64_t size = side * side * c;
    BUG_IF(size > MOST || n < 1);
    struct patches p = {images, h, w, c, side, size, mean, std, zalloc((size_t)threads_count() * sizeof *p.sum)};
    threads_for(n, 1, add_patches, &p);
    double a[MOST * MOST] = {0}, v[MOST * MOST], count = (double)(n * (h - side + 1) * (w - side + 1));
    for (int t = 0; t < threads_count(); t++)
        for (int64_t i = 0; i < size * size; i++) a[i] += p.sum[t][i] / count;
    free(p.sum);
    eigen(a, v, size);
    for (int64_t k = 0; k < size; k++) {
        // The sign of an eigenvector is free; its largest element is made positive, so that it is one thing.
        int64_t largest = 0;
        for (int64_t i = 1; i < size; i++)
            if (fabs(v[i * size + k]) > fabs(v[largest * size + k])) largest = i;
        double scale = (v[largest * size + k] < 0 ? -1 : 1) / sqrt(fmax(a[k * size + k], 0) + EPSILON);
        for (int64_t i = 0; i < size; i++) {
            weight[k * size + i] = (float)(scale * v[i * size + k]);
            weight[(size + k) * size + i] = -weight[k * size + i];
        }
    }
}
