// SPDX-License-Identifier: Apache-2.0
// The network as deepspeech.pytorch has it, with its names of tensors:
//
//   conv   11 frames x 41 bins, strides 2 and 2; 11 x 21, strides 1 or 2 and 2; after each a batch norm, and a clip to [0, 20]
//   rnns   bidirectional GRUs, the sum of both directions; a batch norm before all but the first
//   fc     batch norm, and the logits of letters without a bias
//
// After each part the frames past an utterance's end are set to zero. The statistics of a batch norm exclude them
// (deepspeech.pytorch includes them). Parameters are initialised as in PyTorch: uniform within 1 / sqrt(inputs).
// Filters have PyTorch's order [K,bins,frames,C] in the store, so that its weights can be read, and are transposed in each step.
#include "tasks/speech/deepspeech.h"

#include "data/audio/letters.h"
#include "tasks/common/layers/net.h"
#include "tasks/speech/speech_keys.h"

#include <math.h>

enum { FRAMES = 11, BINS_FIRST = 41, BINS_SECOND = 21, MOST = 20 };
struct shape_of_model {
    int64_t channels, stride, layers, width;
};
static const struct shape_of_model mini = {16, 4, 3, 256}, full = {32, 2, 5, 800}, tbd = {32, 2, 3, 2560};

static struct shape_of_model shape_of(const struct setting *c)
{
    const struct speech_keys *k = speech_keys(c->recipe);
    struct shape_of_model m = *(const struct shape_of_model *)c->model->own;
    if (k->channels) m.channels = k->channels;
    if (k->stride) m.stride = k->stride;
    if (k->layers) m.layers = k->layers;
    if (k->width) m.width = k->width;
    return m;
}

int64_t deepspeech_steps(const struct setting *c, int64_t frames)
{
    int64_t half = deepspeech_half(frames);
    return shape_of(c).stride == 4 ? deepspeech_half(half) : half;
}

static int norm(struct net *n, const char *name, int x, int lengths)
{
    const struct norm_layer how = {.training = step_trains(n->step), .scale = true, .bias = true, .eps = 1e-5f, .momentum = 0.9f};
    return g_norm(n->g, name, x, lengths, &how);
}

struct convolution {
    int number, bins, stride;  // position among the modules, of 3 each; stride of time
    int64_t channels;
};
static int convolve(struct net *n, int x, int lengths, const struct convolution *how)
{
    struct graph *g = n->g;
    const char *name = arena_text(&g->arena, "conv.seq_module.%d", how->number);
    int64_t in = net_channels(n, x);
    const struct init init = {INIT_UNIFORM, 1 / sqrtf((float)(in * how->bins * FRAMES))};
    const int side = FRAMES / 2, around = how->bins / 2;
    const struct conv_attr a = {.stride = {how->stride, 2}, .before = {side, around}, .after = {side, around}, .groups = 1};
    graph_scope(g, "%s", name);
    int w = graph_param(g, net_join(n, name, "weight"), SHAPE(how->channels, how->bins, FRAMES, in), init, ROLE_FILTER);
    int b = graph_param(g, net_join(n, name, "bias"), SHAPE(how->channels), init, ROLE_BIAS);
    x = g_conv_full(g, x, g_transpose(g, w, (int[]){0, 2, 1, 3}), b, &a);
    x = norm(n, arena_text(&g->arena, "conv.seq_module.%d", how->number + 1), x, lengths);
    return g_map(g, MAP_CLAMP, x, 0, MOST);
}

// [B,T,bins,C] -> [B,T,C * bins], in PyTorch's order.
static int flatten_bins(struct graph *g, int x)
{
    if (g->error) return NONE;
    struct shape is = g->value[x].shape;
    return g_reshape(g, g_transpose(g, x, (int[]){0, 1, 3, 2}), SHAPE(is.dim[0], is.dim[1], is.dim[2] * is.dim[3]));
}

static void forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    struct net n = net_of(s);
    struct graph *g = s->g;
    const struct shape_of_model m = shape_of(s->setting);
    const int half = in[DEEPSPEECH_HALF], steps = in[DEEPSPEECH_STEPS];
    if (g->error) return;
    struct shape is = g->value[in[DEEPSPEECH_FRAMES]].shape;
    int x = g_reshape(g, in[DEEPSPEECH_FRAMES], SHAPE(is.dim[0], is.dim[1], is.dim[2], 1));
    x = g_cast(g, x, s->setting->dtype);
    x = convolve(&n, x, half, &(struct convolution){0, BINS_FIRST, 2, m.channels});
    x = convolve(&n, x, steps, &(struct convolution){3, BINS_SECOND, (int)m.stride / 2, m.channels});
    x = flatten_bins(g, x);
    for (int i = 0; i < m.layers; i++) {
        const char *name = arena_text(&g->arena, "rnns.%d", i);
        const struct gru how = {.lengths = steps, .directions = 2, .sum = true, .hidden = m.width};
        graph_scope(g, "%s", name);
        if (i > 0) x = norm(&n, net_join(&n, name, "batch_norm.module"), x, steps);
        x = g_gru_layer(g, net_join(&n, name, "rnn"), 0, x, &how);
    }
    graph_scope(g, "fc");
    x = norm(&n, "fc.0.module.0", x, steps);
    graph_group(g, SPEECH_HEAD);
    const struct init init = {INIT_UNIFORM, 1 / sqrtf((float)m.width)};
    out[0] = net_dense(&n, "fc.0.module.1", x, &(struct net_dense){LETTERS, F32, init, init, true});
    graph_group(g, SPEECH_BODY);
}

const struct model deepspeech_models[] = {
    {.name = "deepspeech2-mini", .about = "Deep Speech 2 with 3 layers x 256 and a step of 40 ms, for two cores",
     .forward = forward, .own = &mini},
    {.name = "deepspeech2", .about = "Deep Speech 2 with 5 layers x 800, as deepspeech.pytorch trains it (Amodei et al. 2016)",
     .recipe = "deepspeech2", .forward = forward, .own = &full},
    {.name = "deepspeech2-tbd", .about = "Deep Speech 2 with 3 layers x 2560, as TBD and MLPerf had it",
     .recipe = "deepspeech2-tbd", .forward = forward, .own = &tbd},
    {0},
};
