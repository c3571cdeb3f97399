// SPDX-License-Identifier: Apache-2.0
// FastFusionNet (Wu et al. 2019): FusionNet (Huang et al. 2018) with SRU (Lei et al. 2018) instead of LSTM.
//
//   words          vectors of both texts; each word of the context also gets the aligned question and its features
//   reading        two layers of BiSRU for each text: a low and a high level
//   understanding  two more layers: for the question over both levels, for the context over both levels and the fusion
//   fusion         each word of the context gets the question's low level, high level and understanding; each of the three has
//                  its own attention over the whole history of a word: vector, low, high
//   self           attention of the context's understanding to itself over its whole history, then two more layers
//   answer         a bilinear product finds the beginning; the context there moves the question's vector through a GRU cell;
//                  another product finds the end
//
// tokens[B,T], question[B,Q] -> two of f32[B,T]
#include "tasks/squad/network/layers.h"

#include <math.h>

enum { LEVELS_MOST = LAYERS_MOST + 1 };

// ---- fully-aware attention: softmax(relu(U x) D relu(U y)') v; D is a diagonal

struct aware {
    int u, d;  // [levels * 2H, C], [levels * 2H]
    int64_t width;
};

static struct aware aware_of(struct reading *r, const char *name, int64_t levels, int64_t in)
{
    struct graph *g = r->g;
    char *linear = arena_text(&g->arena, "%s.linear", name), *final = arena_text(&g->arena, "%s.linear_final", name);
    struct aware a = {.width = 2 * r->hidden};
    a.u = layers_matrix(r, linear, levels * a.width, in);
    a.d = g_cast(g, graph_param(g, final, SHAPE(levels * a.width), (struct init){INIT_CONSTANT, 1}, ROLE_SCALE), r->dtype);
    return a;
}

static int rows_of_level(struct reading *r, int x, const struct aware *a, int64_t level)
{
    return g_slice(r->g, x, 0, level * a->width, (level + 1) * a->width);
}

static int project_level(struct reading *r, const struct aware *a, int64_t level, int x)
{
    return g_act(r->g, g_linear(r->g, x, rows_of_level(r, a->u, a, level), NONE, r->dtype), ACT_RELU);
}

// history_x[B,T,C], history_y[B,Q,C], levels of y -> a tensor [B,T,2H] for each level
static void fuse_levels(struct reading *r, int history_x, int history_y, const int level[], int levels, int out[])
{
    struct graph *g = r->g;
    graph_scope(g, "multi_level_fusion");
    if (g->error) return;
    struct aware a = aware_of(r, "multi_level_fusion", levels, shape_last(&g->value[history_x].shape));
    int x = layers_dropout(r, history_x, r->p), y = layers_dropout(r, history_y, r->p);
    for (int i = 0; i < levels; i++) {
        int key = g_mul(g, project_level(r, &a, i, y), rows_of_level(r, a.d, &a, i));
        out[i] = layers_attend(r, project_level(r, &a, i, x), key, level[i], r->asked);
    }
}

// Both sides use one draw of the dropout, so the history is projected once.
static int fuse_with_itself(struct reading *r, int history, int x)
{
    struct graph *g = r->g;
    graph_scope(g, "self_boost_fusions");
    if (g->error) return NONE;
    struct aware a = aware_of(r, "self_boost_fusions.0", 1, shape_last(&g->value[history].shape));
    int projected = project_level(r, &a, 0, layers_dropout(r, history, r->p));
    return layers_attend(r, projected, g_mul(g, projected, a.d), x, r->lengths);
}

// ---- the answer

static int move_question(struct reading *r, int x, int y)
{
    static const char *const part[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
    struct graph *g = r->g;
    int64_t n = 2 * r->hidden;
    float bound = 1.0f / sqrtf((float)n);
    int p[4];
    for (int i = 0; i < 4; i++)
        p[i] = graph_param(g, arena_text(&g->arena, "end_gru.%s", part[i]), i < 2 ? SHAPE(3 * n, n) : SHAPE(3 * n),
                           (struct init){INIT_UNIFORM, bound}, i < 2 ? ROLE_MATRIX : ROLE_BIAS);
    x = layers_dropout(r, x, r->p), y = layers_dropout(r, y, r->p);  // in this order, because each uses the next draws
    return g_gru_cell(g, x, y, p);
}

static void find_answer(struct reading *r, int x, int y, int out[MODEL_VALUES])
{
    graph_scope(r->g, "pointer");
    y = layers_summary(r, "self_attn.linear", layers_dropout(r, y, r->p), y);
    int context = layers_dropout(r, x, r->p), question = layers_dropout(r, y, r->p);
    out[0] = layers_point(r, "start_attn.linear", context, question);
    int moved = move_question(r, layers_average(r, out[0], x, r->lengths), y);
    context = layers_dropout(r, x, r->p), question = layers_dropout(r, moved, r->p);
    out[1] = layers_point(r, "end_attn.linear", context, question);
}

// ---- the network

// Returns the last layer of an encoder.
static int understand(struct reading *r, const char *name, int x, int lengths)
{
    int layer[LAYERS_MOST];
    layers_encode(r, layers_sru, name, x, lengths, layer);
    return layer[r->layers - 1];
}

static int join_history(struct reading *r, int words, const int level[], int levels)
{
    int all[1 + LAYERS_MOST] = {words};
    for (int i = 0; i < levels; i++) all[1 + i] = level[i];
    return layers_join(r, all, 1 + levels);
}

void fusion_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    (void)in;
    struct reading r = layers_reading(s);
    int n = (int)r.layers, x[LAYERS_MOST + LEVELS_MOST], y[LEVELS_MOST];
    int context = layers_words(&r, "tokens"), question = layers_words(&r, "question");
    int read[] = {context, layers_align(&r, context, question), layers_features(&r)};
    layers_encode(&r, layers_sru, "doc_rnn", layers_join(&r, read, 3), r.lengths, x);
    layers_encode(&r, layers_sru, "question_rnn", question, r.asked, y);
    y[n] = understand(&r, "question_urnn", layers_join(&r, y, n), r.asked);
    fuse_levels(&r, join_history(&r, context, x, n), join_history(&r, question, y, n), y, n + 1, x + n);
    int fused = layers_join(&r, x, 2 * n + 1), understood = understand(&r, "doc_urnn", fused, r.lengths);
    int history = layers_join(&r, (int[]){context, fused, understood}, 3);
    int final[] = {understood, fuse_with_itself(&r, history, understood)};
    int last = understand(&r, "doc_final_rnns.0", layers_join(&r, final, 2), r.lengths);
    graph_group(s->g, GROUP_HEAD);
    find_answer(&r, last, y[n], out);
    graph_group(s->g, GROUP_ENCODER);
}
