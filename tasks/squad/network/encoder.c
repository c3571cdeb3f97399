// SPDX-License-Identifier: Apache-2.0
// BERT (Devlin et al. 2019) with a head for answers. Slots have Hugging Face's tensor names without "bert.".
//
//   embeddings   word + position + segment, layer norm, dropout
//   layers       x = norm(x + dropout(attention(x))); x = norm(x + dropout(W2 gelu(W1 x)))
//   head         two scores for each place: beginning and end of the answer
//
// Queries, keys and values are one product with the three weights side by side. Matrices begin with a deviation of 0.02.
// tokens[B,T] -> x[B,T,C] -> two of f32[B,T]
#include "tasks/squad/keys.h"
#include "tasks/squad/network/networks.h"

#define NORM_EPS 1e-12f
static const struct init WEIGHT = {INIT_NORMAL, 0.02f}, ZERO = {INIT_ZERO, 0};

// Values that all parts of one forward pass need.
struct encoder {
    struct step *step;
    struct graph *g;
    int64_t width, feed_forward;
    int heads, lengths;
    int key, counter;         // of dropout; key NONE: no dropout
    float p;
};

static int dropout(struct encoder *e, int x)
{
    return e->key == NONE ? x : g_dropout(e->g, x, e->key, e->counter, e->p, step_site(e->step));
}

// ---- pieces

static int weight_of(struct encoder *e, const char *name, int64_t out, int64_t in)
{
    return graph_param(e->g, arena_text(&e->g->arena, "%s.weight", name), SHAPE(out, in), WEIGHT, ROLE_MATRIX);
}

static int bias_of(struct encoder *e, const char *name, int64_t out)
{
    return graph_param(e->g, arena_text(&e->g->arena, "%s.bias", name), SHAPE(out), ZERO, ROLE_BIAS);
}

static int dense(struct encoder *e, const char *name, int x, int64_t out, enum dtype to)
{
    struct graph *g = e->g;
    if (g->error) return NONE;
    int w = weight_of(e, name, out, shape_last(&g->value[x].shape));
    return g_linear(g, x, w, bias_of(e, name, out), to);
}

static int embed(struct encoder *e, const char *name, int64_t rows, int index)
{
    char *slot = arena_text(&e->g->arena, "embeddings.%s_embeddings.weight", name);
    int table = graph_param(e->g, slot, SHAPE(rows, e->width), WEIGHT, ROLE_EMBEDDING);
    if (index != NONE) return g_gather(e->g, table, index);
    return g_slice(e->g, table, 0, 0, e->step->is.length);
}

static int embeddings(struct encoder *e)
{
    struct graph *g = e->g;
    struct step *s = e->step;
    const struct field *tokens = &s->setting->data->field[0];
    graph_scope(g, "embeddings");
    int x = embed(e, "word", tokens->classes, step_input(s, "tokens"));
    x = g_add(g, x, embed(e, "token_type", 2, step_input(s, "segments")));
    x = g_add(g, x, embed(e, "position", squad_keys(s->setting->recipe)->positions, NONE));
    x = g_cast(g, x, s->setting->dtype);
    return dropout(e, g_layer_norm(g, "embeddings.LayerNorm", x, NORM_EPS));
}

// ---- a layer

static int attention(struct encoder *e, const char *layer, int x)
{
    static const char *const part[] = {"query", "key", "value"};
    struct graph *g = e->g;
    int weight[3], bias[3];
    graph_scope(g, "%s.attention", layer);
    for (int i = 0; i < 3; i++) {
        char *name = arena_text(&g->arena, "%s.attention.self.%s", layer, part[i]);
        weight[i] = weight_of(e, name, e->width, e->width), bias[i] = bias_of(e, name, e->width);
    }
    int qkv = g_linear(g, x, g_concat(g, weight, 3, 0), g_concat(g, bias, 3, 0), e->step->setting->dtype);
    float p = e->key == NONE ? 0 : e->p;
    struct attention a = {.q = qkv, .kv = NONE, .lengths = e->lengths, .q_lengths = NONE, .key = e->key, .step = e->counter,
                          .attr = {.heads = e->heads, .p = p, .site = step_site(e->step)}};
    int y = g_attention(g, &a);
    return dense(e, arena_text(&g->arena, "%s.attention.output.dense", layer), y, e->width, e->step->setting->dtype);
}

static int feed_forward(struct encoder *e, const char *layer, int x)
{
    struct graph *g = e->g;
    enum dtype to = e->step->setting->dtype;
    graph_scope(g, "%s.feed_forward", layer);
    x = dense(e, arena_text(&g->arena, "%s.intermediate.dense", layer), x, e->feed_forward, to);
    return dense(e, arena_text(&g->arena, "%s.output.dense", layer), g_act(g, x, ACT_GELU), e->width, to);
}

static int layer_of(struct encoder *e, int number, int x)
{
    struct graph *g = e->g;
    char *name = arena_text(&g->arena, "encoder.layer.%d", number);
    char *norm = arena_text(&g->arena, "%s.attention.output.LayerNorm", name);
    x = g_layer_norm(g, norm, g_add(g, x, dropout(e, attention(e, name, x))), NORM_EPS);
    norm = arena_text(&g->arena, "%s.output.LayerNorm", name);
    return g_layer_norm(g, norm, g_add(g, x, dropout(e, feed_forward(e, name, x))), NORM_EPS);
}

// ---- the whole

static struct encoder encoder_of(struct step *s)
{
    const struct squad_keys *own = squad_keys(s->setting->recipe);
    struct encoder e = {.step = s, .g = s->g, .width = own->width, .heads = (int)own->heads, .feed_forward = own->feed_forward,
                        .key = NONE, .counter = NONE, .p = (float)own->dropout};
    e.lengths = step_input(s, "tokens.length");
    if (!step_trains(s) || e.p <= 0) return e;
    e.key = step_key(s);
    e.counter = step_count(s);
    return e;
}

void encoder_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    (void)in;
    struct graph *g = s->g;
    struct encoder e = encoder_of(s);
    graph_group(g, GROUP_ENCODER);
    int x = embeddings(&e);
    for (int i = 0; i < squad_keys(s->setting->recipe)->layers; i++) x = layer_of(&e, i, x);
    graph_group(g, GROUP_HEAD);
    graph_scope(g, "qa_outputs");
    x = dense(&e, "qa_outputs", x, 2, F32);
    for (int i = 0; i < 2; i++) out[i] = g_reshape(g, g_slice(g, x, 2, i, i + 1), SHAPE(s->is.batch, s->is.length));
    graph_group(g, GROUP_ENCODER);
}
