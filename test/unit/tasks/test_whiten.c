// SPDX-License-Identifier: Apache-2.0
// The whitening filters: their outputs are uncorrelated with variance one, except in directions of nearly no variance, which
// epsilon reduces.
#include "runtime/common/base/threads.h"
#include "tasks/cifar10/cifar10_networks.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

enum { N = 40, SIDE = 10, C = 3, SIZE = 12, WIDE = 24 };
static const float MEAN[] = {0.49f, 0.48f, 0.45f}, STD[] = {0.25f, 0.24f, 0.26f};

// Neighbouring pixels and colours are similar, as in photographs.
static uint8_t *photographs(void)
{
    uint8_t *images = zalloc(N * SIDE * SIDE * C);
    for (int n = 0; n < N; n++)
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                for (int c = 0; c < C; c++) {
                    int64_t at = ((n * SIDE + y) * SIDE + x) * C + c;
                    float smooth = 60 * sinf(0.7f * (float)n + 0.5f * (float)y) + 30 * cosf(0.4f * (float)(x * n + c));
                    images[at] = (uint8_t)(127 + smooth + 30 * draw(1, at / C) + 6 * draw(2, at));
                }
    return images;
}

static void patch(const uint8_t *images, int n, int y, int x, double *into)
{
    int i = 0;
    for (int r = 0; r < 2; r++)
        for (int s = 0; s < 2; s++)
            for (int c = 0; c < C; c++)
                into[i++] = (images[((n * SIDE + y + r) * SIDE + x + s) * C + c] / 255.0 - (double)MEAN[c]) / (double)STD[c];
}

// The second moments of the first SIZE outputs, and of the patches themselves.
static void moments(const uint8_t *images, const float *w, double out[SIZE][SIZE], double in[SIZE][SIZE])
{
    int count = 0;
    memset(out, 0, SIZE * SIZE * sizeof(double));
    memset(in, 0, SIZE * SIZE * sizeof(double));
    for (int n = 0; n < N; n++)
        for (int y = 0; y + 2 <= SIDE; y++)
            for (int x = 0; x + 2 <= SIDE; x++, count++) {
                double p[SIZE], z[SIZE] = {0};
                patch(images, n, y, x, p);
                for (int k = 0; k < SIZE; k++)
                    for (int i = 0; i < SIZE; i++) z[k] += (double)w[k * SIZE + i] * p[i];
                for (int a = 0; a < SIZE; a++)
                    for (int b = 0; b < SIZE; b++) out[a][b] += z[a] * z[b], in[a][b] += p[a] * p[b];
            }
    for (int a = 0; a < SIZE; a++)
        for (int b = 0; b < SIZE; b++) out[a][b] /= count, in[a][b] /= count;
}

TEST(test_decorrelates)
{
    uint8_t *images = photographs();
    float w[WIDE * SIZE];
    double out[SIZE][SIZE], in[SIZE][SIZE], correlated = 0;
    whiten(&(struct whiten_images){images, N, SIDE, SIDE, C, MEAN, STD}, 2, w);
    moments(images, w, out, in);
    for (int a = 0; a < SIZE; a++)
        for (int b = 0; b < a; b++) correlated = fmax(correlated, fabs(in[a][b]) / sqrt(in[a][a] * in[b][b]));
    assert_true(correlated > 0.8);  // there was something to do
    for (int a = 0; a < SIZE; a++) {
        // w = v / sqrt(l + eps): the variance is l / (l + eps), and |w| gives l + eps.
        double squares = 0;
        for (int i = 0; i < SIZE; i++) squares += (double)w[a * SIZE + i] * (double)w[a * SIZE + i];
        assert_float_equal(out[a][a], 1 - 5e-4 * squares, 1e-4);
        for (int b = 0; b < a; b++) assert_float_equal(out[a][b], 0, 1e-4);
    }
    for (int i = 0; i < SIZE * SIZE; i++) assert_true(w[SIZE * SIZE + i] == -w[i]);
    free(images);
}

TEST(test_same_bytes)
{
    uint8_t *images = photographs();
    float a[WIDE * SIZE], b[WIDE * SIZE];
    whiten(&(struct whiten_images){images, N, SIDE, SIDE, C, MEAN, STD}, 2, a);
    whiten(&(struct whiten_images){images, N, SIDE, SIDE, C, MEAN, STD}, 2, b);
    assert_memory_equal(a, b, sizeof a);
    for (int threads = 1; threads <= 3; threads++) {  // sums are of whole numbers: no split changes them
        threads_set(threads);
        whiten(&(struct whiten_images){images, N, SIDE, SIDE, C, MEAN, STD}, 2, b);
        assert_memory_equal(a, b, sizeof a);
    }
    images[5] ^= 128;
    whiten(&(struct whiten_images){images, N, SIDE, SIDE, C, MEAN, STD}, 2, b);
    assert_memory_not_equal(a, b, sizeof a);
    free(images);
}

// Images of one colour have variance in one direction only; the others must not become infinite.
TEST(test_flat_images)
{
    uint8_t images[4 * SIDE * SIDE * C];
    float w[WIDE * SIZE];
    memset(images, 200, sizeof images);
    whiten(&(struct whiten_images){images, 4, SIDE, SIDE, C, MEAN, STD}, 2, w);
    double most = 1 / sqrt(5e-4) * 1.001;
    for (int i = 0; i < WIDE * SIZE; i++) assert_true(isfinite(w[i]) && fabs((double)w[i]) < most);
}
