// SPDX-License-Identifier: Apache-2.0
// c1 [28,28,6], p2 [14,14,6], c3 [10,10,16], p4 [5,5,16], c5 [120], f6 [84], f7 [10]; the innermost index is the channel.
#include "tasks/wgan/lenet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/threads.h"
#include "runtime/element.h"

enum { INPUT = 32, WINDOW = 5, AREA = WINDOW * WINDOW, C1 = 6, C1_ROOM = 8, C3 = 16, C5 = 120, F6 = LENET_FEATURES };
enum { DRAWN_SEED = 19981106 };
enum { P2 = (INPUT - WINDOW + 1) / 2, P4 = (P2 - WINDOW + 1) / 2, P4_ALL = P4 * P4 * C3 };
#define INLINE static inline __attribute__((always_inline))

struct lenet {  // weights by input, then output; c1 has two outputs of zeros, so that vectors are whole
    float c1[AREA * C1_ROOM], c1_bias[C1_ROOM], c3[AREA * C1_ROOM * C3], c3_bias[C3], c5[P4_ALL * C5], c5_bias[C5];
    float f6[C5 * F6], f6_bias[F6], f7[F6 * LENET_LABELS], f7_bias[LENET_LABELS];
};

// ---- the file

static const char published[] = "e4bed3817dd7723c605580e7b7393538a5dfc3508aacc4890b07e7f07c16bebf";

struct weights {  // of a layer, [out, in, window] in the file and [window, room, step] here
    const char *name;
    int64_t out, in, window, capacity, step;
    float *into;
};

static void take_weights(const struct safetensor *t, const struct weights *w)
{
    const char *from = t->bytes;
    for (int64_t k = 0; k < w->out; k++)
        for (int64_t c = 0; c < w->in; c++)
            for (int64_t i = 0; i < w->window; i++)
                memcpy(&w->into[(i * w->capacity + c) * w->step + k], from + 4 * ((k * w->in + c) * w->window + i), 4);
}

static void take_all(const struct safetensors_view *view, struct lenet *n)
{
    const struct weights all[] = {
        {"convnet.c1.weight", C1, 1, AREA, 1, C1_ROOM, n->c1}, {"convnet.c1.bias", C1, 1, 1, 1, C1_ROOM, n->c1_bias},
        {"convnet.c3.weight", C3, C1, AREA, C1_ROOM, C3, n->c3}, {"convnet.c3.bias", C3, 1, 1, 1, C3, n->c3_bias},
        {"convnet.c5.weight", C5, C3, AREA, C3, C5, n->c5}, {"convnet.c5.bias", C5, 1, 1, 1, C5, n->c5_bias},
        {"fc.f6.weight", F6, C5, 1, C5, F6, n->f6}, {"fc.f6.bias", F6, 1, 1, 1, F6, n->f6_bias},
        {"fc.f7.weight", LENET_LABELS, F6, 1, F6, LENET_LABELS, n->f7},
        {"fc.f7.bias", LENET_LABELS, 1, 1, 1, LENET_LABELS, n->f7_bias},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct weights *w = &all[i];
        int at = 0;
        while (at < view->tensors && strcmp(view->tensor[at].name, w->name) != 0) at++;
        BUG_IF(at == view->tensors || view->tensor[at].size != 4 * (size_t)(w->out * w->in * w->window));
        take_weights(&view->tensor[at], w);
    }
}

int lenet_open(const char *path, struct lenet **into)
{
    char *bytes, hex[DIGEST_HEX];
    size_t count;
    struct safetensors_view view;
    *into = NULL;
    TRY(file_read(path, 1 << 24, &bytes, &count));
    digest_bytes(bytes, count, hex);
    int rc = strcmp(hex, published) == 0
                 ? checkpoint_parse_pth(path, bytes, count, &view)
                 : fail(ERR_INPUT, "%s has SHA-256 %s; the network that scores has %s", path, hex, published);
    if (rc == 0) {
        *into = zalloc(sizeof **into);
        take_all(&view, *into);
        checkpoint_view_free(&view);
    }
    free(bytes);
    return rc;
}

static void draw_layer(uint32_t layer, float *into, int64_t in, int64_t out, int64_t used)
{
    const double scale = 2 / sqrt((double)in);
    for (int64_t i = 0; i < in; i++)
        for (int64_t k = 0; k < used; k++) {
            const struct rng4 drawn = rng_draw(DRAWN_SEED, RNG_SYNTHETIC, layer, (uint32_t)(i * out + k), 0);
            into[i * out + k] = (float)(scale * rng_normal(drawn));
        }
}

struct lenet *lenet_draw(void)
{
    struct lenet *n = zalloc(sizeof *n);
    draw_layer(1, n->c1, AREA, C1_ROOM, C1);
    draw_layer(2, n->c3, AREA * C1_ROOM, C3, C3);
    draw_layer(3, n->c5, P4_ALL, C5, C5);
    draw_layer(4, n->f6, C5, F6, F6);
    draw_layer(5, n->f7, F6, LENET_LABELS, LENET_LABELS);
    return n;
}

void lenet_free(struct lenet *n)
{
    free(n);
}

// ---- a picture

// Half of a pixel lies before the first centre in both grids; beyond the last centres values repeat.
static void resize_picture(const uint8_t *from, float to[INPUT * INPUT])
{
    int low[INPUT];
    float high_share[INPUT];
    for (int i = 0; i < INPUT; i++) {
        const float at = fmaxf((float)i * ((float)LENET_SIDE / INPUT) - 0.5f * (1 - (float)LENET_SIDE / INPUT), 0);
        low[i] = (int)at < LENET_SIDE - 2 ? (int)at : LENET_SIDE - 2;
        high_share[i] = fminf(at - (float)low[i], 1);
    }
    for (int y = 0; y < INPUT; y++)
        for (int x = 0; x < INPUT; x++) {
            const uint8_t *at = from + low[y] * LENET_SIDE + low[x];
            const float u = high_share[x], v = high_share[y];
            const float above = (1 - u) * at[0] + u * at[1], below = (1 - u) * at[LENET_SIDE] + u * at[LENET_SIDE + 1];
            to[y * INPUT + x] = ((1 - v) * above + v * below) * (1.0f / 255);
        }
}

// One output of a window: to[k] = bias[k] + sum of in * weight[.., k].
struct layer {
    const float *weight, *bias;
};

INLINE void add_window(const float *in, int64_t row, int64_t in_channels, struct layer layer, int out, float *to)
{
    for (int k = 0; k < out; k++) to[k] = layer.bias[k];
    for (int64_t r = 0; r < WINDOW; r++)
        for (int64_t i = 0; i < WINDOW * in_channels; i++) {
            const float x = in[r * row + i], *w = layer.weight + (r * WINDOW * in_channels + i) * out;
            for (int k = 0; k < out; k++) to[k] += x * w[k];
        }
}

// A convolution, the largest of each 2 x 2, and tanh of that.
INLINE void convolve_and_pool(const float *in, int side, int in_channels, struct layer layer, int out, float *to)
{
    const int half = (side - WINDOW + 1) / 2;
    for (int y = 0; y < half; y++)
        for (int x = 0; x < half; x++) {
            float *most = to + (y * half + x) * out, next[C3];
            for (int part = 0; part < 4; part++) {
                const float *corner = in + ((2 * y + part / 2) * side + 2 * x + part % 2) * in_channels;
                add_window(corner, (int64_t)side * in_channels, in_channels, layer, out, part == 0 ? most : next);
                for (int k = 0; k < out && part > 0; k++) most[k] = next[k] > most[k] ? next[k] : most[k];
            }
            for (int k = 0; k < out; k++) most[k] = element_tanh(most[k]);
        }
}

INLINE void multiply(const float *in, int64_t n, struct layer layer, int out, float *to)
{
    for (int k = 0; k < out; k++) to[k] = layer.bias[k];
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < out; k++) to[k] += in[i] * layer.weight[i * out + k];
}

struct featuring {
    const struct lenet *net;
    const uint8_t *pictures;
    float *features;
};

static void add_features(void *context, int64_t begin, int64_t end, int thread)
{
    const struct featuring *f = context;
    const struct lenet *n = f->net;
    float input[INPUT * INPUT], p2[P2 * P2 * C1_ROOM], p4[P4_ALL], c5[C5];
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        float *to = f->features + i * F6;
        resize_picture(f->pictures + i * LENET_PICTURE, input);
        convolve_and_pool(input, INPUT, 1, (struct layer){n->c1, n->c1_bias}, C1_ROOM, p2);
        convolve_and_pool(p2, P2, C1_ROOM, (struct layer){n->c3, n->c3_bias}, C3, p4);
        multiply(p4, P4_ALL, (struct layer){n->c5, n->c5_bias}, C5, c5);
        for (int k = 0; k < C5; k++) c5[k] = element_tanh(c5[k]);
        multiply(c5, C5, (struct layer){n->f6, n->f6_bias}, F6, to);
        for (int k = 0; k < F6; k++) to[k] = element_tanh(to[k]);
    }
}

void lenet_features(const struct lenet *net, const uint8_t *pictures, int64_t count, float *features)
{
    struct featuring f = {net, pictures, features};
    threads_for(count, 16, add_features, &f);
}

int lenet_label(const struct lenet *n, const float features[LENET_FEATURES])
{
    float logit[LENET_LABELS];
    int best = 0;
    multiply(features, F6, (struct layer){n->f7, n->f7_bias}, LENET_LABELS, logit);
    for (int k = 1; k < LENET_LABELS; k++)
        if (logit[k] > logit[best]) best = k;
    return best;
}
