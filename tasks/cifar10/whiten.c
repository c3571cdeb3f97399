// SPDX-License-Identifier: Apache-2.0
// The whitening layer: eigenvectors of the covariance of small patches, by Jacobi rotations. A 12 x 12 matrix is exact to
// rounding after a few sweeps, so no library is needed. Pixels are bytes, and their products are summed as integers. So the
// sums are exact and independent of the number of threads. Cost: n * H * W * (s*s*C)^2 / 2 vectorised multiplications of 16
// bits: 5,000 images of 32 x 32 take about 60 ms on one thread.
#include "runtime/common/base/threads.h"
#include "tasks/cifar10/cifar10_networks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATCH_MAX = 64 };  // elements of a patch
#define EPSILON 5e-4

// Element (r, s, c) of the patch at (y, z) is pixel (y + r, z + s, c): plane (s, c), row y + r, column z.
struct moments {
    int64_t first[PATCH_MAX], second[PATCH_MAX * PATCH_MAX];
};
struct patches {
    const uint8_t *images;
    int64_t h, w, c, side, size;
    int64_t high, wide;    // positions of a patch
    int16_t *planes;       // [thread, s, c, h, wide]
    struct moments *sum;   // one for each thread
};

static void fill_planes(const struct patches *p, const uint8_t *image, int16_t *plane)
{
    for (int64_t s = 0; s < p->side; s++)
        for (int64_t c = 0; c < p->c; c++)
            for (int64_t y = 0; y < p->h; y++)
                for (int64_t z = 0; z < p->wide; z++) *plane++ = image[(y * p->w + z + s) * p->c + c];
}

enum { PIECE = 32768 };  // the sum of this many products of two bytes is below 2^31
static int64_t sum_products(const int16_t *a, const int16_t *b, int64_t n)
{
    int64_t all = 0;
    for (int64_t begin = 0; begin < n; begin += PIECE) {
        int64_t end = n - begin < PIECE ? n : begin + PIECE;
        int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = begin; i < end; i++) sum += (int32_t)a[i] * b[i];
        all += sum;
    }
    return all;
}

static int64_t sum_elements(const int16_t *a, int64_t n)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i];
    return sum;
}

// Adds x and x x' of every patch in images [begin, end).
static void add_patches(void *context, int64_t begin, int64_t end, int thread)
{
    const struct patches *p = context;
    int64_t plane = p->h * p->wide, row = p->side * p->c, count = p->high * p->wide;
    int16_t *planes = p->planes + thread * row * plane;
    struct moments *sum = &p->sum[thread];
    for (int64_t n = begin; n < end; n++) {
        fill_planes(p, p->images + n * p->h * p->w * p->c, planes);
        for (int64_t i = 0; i < p->size; i++) {
            const int16_t *a = planes + i % row * plane + i / row * p->wide;
            sum->first[i] += sum_elements(a, count);
            for (int64_t j = 0; j <= i; j++)
                sum->second[i * p->size + j] += sum_products(a, planes + j % row * plane + j / row * p->wide, count);
        }
    }
}

// The mean of x x' over all patches, x = (pixel / 255 - mean) / std.
static void find_covariance(struct patches *p, int64_t n, const float *mean, const float *std, double *a)
{
    struct moments all = {0};
    int threads = threads_count();
    p->planes = zalloc((size_t)(threads * p->side * p->c * p->h * p->wide) * sizeof *p->planes);
    p->sum = zalloc((size_t)threads * sizeof *p->sum);
    threads_for(n, 1, add_patches, p);
    for (int t = 0; t < threads; t++) {
        for (int64_t i = 0; i < p->size; i++) all.first[i] += p->sum[t].first[i];
        for (int64_t i = 0; i < p->size * p->size; i++) all.second[i] += p->sum[t].second[i];
    }
    free(p->planes);
    free(p->sum);
    double count = (double)(n * p->high * p->wide);
    for (int64_t i = 0; i < p->size; i++)
        for (int64_t j = 0; j <= i; j++) {
            double mi = mean[i % p->c], mj = mean[j % p->c], scale = (double)std[i % p->c] * (double)std[j % p->c];
            double first_i = (double)all.first[i] / count / 255, first_j = (double)all.first[j] / count / 255;
            double both = (double)all.second[i * p->size + j] / count / (255 * 255);
            a[i * p->size + j] = a[j * p->size + i] = (both - mj * first_i - mi * first_j + mi * mj) / scale;
        }
}

// One Jacobi rotation of the symmetric a[n,n] that makes a[p,q] zero; v collects the eigenvectors as columns.
static void rotate_to_zero(double *a, double *v, int64_t n, int64_t p, int64_t q)
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

static void find_eigenvectors(double *a, double *v, int64_t n)
{
    for (int64_t i = 0; i < n * n; i++) v[i] = i / n == i % n;
    for (int sweep = 0; sweep < 60; sweep++) {
        double off = 0, on = 0;
        for (int64_t i = 0; i < n * n; i++) *(i / n == i % n ? &on : &off) += a[i] * a[i];
        if (off <= 1e-24 * on) return;
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++) rotate_to_zero(a, v, n, p, q);
    }
}

void whiten(const struct whiten_images *from, int64_t side, float *weight)
{
    int64_t size = side * side * from->c;
    BUG_IF(size > PATCH_MAX || from->n < 1);
    struct patches p = {.images = from->at, .h = from->h, .w = from->w, .c = from->c, .side = side, .size = size,
                        .high = from->h - side + 1, .wide = from->w - side + 1};
    double a[PATCH_MAX * PATCH_MAX] = {0}, v[PATCH_MAX * PATCH_MAX];
    find_covariance(&p, from->n, from->mean, from->std, a);
    find_eigenvectors(a, v, size);
    for (int64_t k = 0; k < size; k++) {
        // The sign of an eigenvector is arbitrary. Its largest element is made positive, so that the result is unique.
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
