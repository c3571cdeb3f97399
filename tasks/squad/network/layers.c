// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/network/layers.h"

#include "tasks/common/layers/net.h"
#include "tasks/squad/squad_keys.h"
#include "tasks/squad/sample/passages.h"

#include <math.h>
#include <stdlib.h>

static const struct init ZERO = {INIT_ZERO, 0}, UPLOAD = {INIT_UPLOAD, 0};
static const struct init VECTOR = {INIT_NORMAL, 0.1f};  // docs/decisions/squad-words.md
static const char FIXED[] = "embedding.fixed", TUNED_ROW[] = "embedding.tuned_row";

struct reading layers_reading(struct step *s)
{
    const struct setting *c = s->setting;
    const struct squad_keys *own = squad_keys(c->recipe);
    struct reading r = {.step = s, .g = s->g, .dtype = c->dtype, .hidden = own->hidden, .layers = own->recurrent, .key = NONE,
                        .counter = NONE, .p = (float)own->dropout, .word_p = (float)own->word_dropout};
    graph_group(s->g, GROUP_ENCODER);
    r.lengths = step_input(s, "tokens.length");
    r.asked = step_input(s, "question.length");
    if (!step_trains(s)) r.p = r.word_p = 0;
    if (r.p <= 0 && r.word_p <= 0) return r;
    r.key = step_key(s);
    r.counter = step_count(s);
    return r;
}

// ---- pieces

int layers_dropout(struct reading *r, int x, float p)
{
    return p > 0 ? g_dropout_shared(r->g, x, r->key, r->counter, p, step_site(r->step)) : x;
}

// PyTorch's bounds: uniform in +-1 / sqrt(in).
static struct init uniform_of(int64_t in)
{
    return (struct init){INIT_UNIFORM, (float)(1 / sqrt((double)in))};
}

int layers_matrix(struct reading *r, const char *name, int64_t out, int64_t in)
{
    return graph_param(r->g, arena_text(&r->g->arena, "%s.weight", name), SHAPE(out, in), uniform_of(in), ROLE_MATRIX);
}

static int add_linear(struct reading *r, const char *name, int x, int64_t out, enum dtype to)
{
    struct net n = net_of(r->step);
    struct init init = uniform_of(net_channels(&n, x));
    return net_dense(&n, name, x, &(struct net_dense){out, to, init, init, false});
}

int layers_join(struct reading *r, const int x[], int count)
{
    return g_concat(r->g, x, count, 2);
}

// Scores are not divided by a root, so they stay in f32 until the softmax.
int layers_attend(struct reading *r, int q, int k, int v, int lengths)
{
    struct graph *g = r->g;
    int scores = g_matmul(g, q, false, k, true, F32);
    int p = g_cast(g, g_softmax(g, g_mask(g, scores, NONE, lengths)), r->dtype);
    return g_matmul(g, p, false, v, false, r->dtype);
}

int layers_average(struct reading *r, int scores, int x, int lengths)
{
    struct graph *g = r->g;
    if (g->error) return NONE;
    const struct shape is = g->value[x].shape;
    int p = g_cast(g, g_softmax(g, g_mask(g, scores, NONE, lengths)), r->dtype);
    int sum = g_matmul(g, g_reshape(g, p, SHAPE(is.dim[0], 1, is.dim[1])), false, x, false, r->dtype);
    return g_reshape(g, sum, SHAPE(is.dim[0], is.dim[2]));
}

int layers_summary(struct reading *r, const char *name, int weighed, int y)
{
    struct graph *g = r->g;
    int scores = add_linear(r, name, weighed, 1, F32);
    if (g->error) return NONE;
    const struct shape is = g->value[y].shape;
    return layers_average(r, g_reshape(g, scores, SHAPE(is.dim[0], is.dim[1])), y, r->asked);
}

int layers_point(struct reading *r, const char *name, int x, int y)
{
    struct graph *g = r->g;
    if (g->error) return NONE;
    const struct shape is = g->value[x].shape;
    int wy = add_linear(r, name, y, is.dim[2], r->dtype);
    int scores = g_matmul(g, x, false, g_reshape(g, wy, SHAPE(is.dim[0], is.dim[2], 1)), false, F32);
    return g_reshape(g, scores, SHAPE(is.dim[0], is.dim[1]));
}

// ---- words

static int64_t tuned_rows(const struct setting *c)
{
    return WORDLIST_FIRST + squad_keys(c->recipe)->tuned;
}

// Numbers of a row: a file's vectors end in zeros if a multiple is required.
static int64_t vector_width(const struct setting *c)
{
    return (int64_t)arena_round_up((size_t)squad_keys(c->recipe)->vectors, (size_t)squad_keys(c->recipe)->multiple);
}

// The vectors of a file stay fixed. A table of its own holds the changes that training makes to the most frequent words. All
// other words read the row of zeros after that table, whose gradient is discarded.
static int given_vectors(struct reading *r, int index, int64_t rows, int64_t width)
{
    struct graph *g = r->g;
    int64_t tuned = tuned_rows(r->step->setting);
    int fixed = graph_state(g, FIXED, SHAPE(rows, width), F32, MEMORY_DATA, UPLOAD);
    int row_of = graph_state(g, TUNED_ROW, SHAPE(rows), I32, MEMORY_DATA, UPLOAD);
    int added[] = {graph_param(g, "embedding.tuned", SHAPE(tuned, width), ZERO, ROLE_EMBEDDING),
                   graph_state(g, "embedding.zeros", SHAPE(1, width), F32, MEMORY_DATA, ZERO)};
    return g_add(g, g_gather(g, fixed, index), g_gather(g, g_concat(g, added, 2, 0), g_gather(g, row_of, index)));
}

int layers_words(struct reading *r, const char *field)
{
    struct graph *g = r->g;
    const struct setting *c = r->step->setting;
    int64_t rows = c->data->field[0].classes, width = vector_width(c);
    int index = step_input(r->step, field), x;
    graph_scope(g, "%s", field);
    step_mark(r->step, "words", passages_words(r->step->setting->feed[r->step->program->feed]->data)->digest);
    if (c->files.vectors) {
        x = given_vectors(r, index, rows, width);
    } else {
        x = g_gather(g, graph_param(g, "embedding.weight", SHAPE(rows, width), VECTOR, ROLE_EMBEDDING), index);
    }
    return layers_dropout(r, g_cast(g, x, r->dtype), r->word_p);
}

int layers_begin(const struct setting *c, struct session *session, struct dataset *view)
{
    const struct wordlist *words = passages_words(view);
    if (!words->vectors) return 0;
    size_t rows = (size_t)words->rows, numbers = rows * (size_t)vector_width(c);
    float *vectors = zalloc(numbers * sizeof *vectors);
    int32_t *row = zalloc(rows * sizeof *row), tuned = (int32_t)tuned_rows(c);
    wordlist_vectors(words, vector_width(c), vectors);
    for (int32_t i = 0; i < words->rows; i++) row[i] = i == WORDLIST_PADDING || i >= tuned ? tuned : i;
    int rc = session_put(session, FIXED, vectors, 0, numbers * sizeof *vectors);
    if (rc == 0) rc = session_put(session, TUNED_ROW, row, 0, rows * sizeof *row);
    free(vectors);
    free(row);
    return rc;
}

int layers_features(struct reading *r)
{
    return g_cast(r->g, step_input(r->step, "features"), r->dtype);
}

int layers_align(struct reading *r, int x, int y)
{
    struct graph *g = r->g;
    if (g->error) return NONE;
    int64_t width = shape_last(&g->value[x].shape);
    graph_scope(g, "qemb_match");
    x = layers_dropout(r, x, r->p), y = layers_dropout(r, y, r->p);
    int q = g_act(g, add_linear(r, "qemb_match.linear", x, width, r->dtype), ACT_RELU);
    int k = g_act(g, add_linear(r, "qemb_match.linear", y, width, r->dtype), ACT_RELU);
    return layers_attend(r, q, k, y, r->asked);
}

// ---- sequences

int layers_lstm(struct reading *r, const char *name, int x, int lengths)
{
    struct lstm how = {.lengths = lengths, .directions = 2, .hidden = r->hidden};
    return g_lstm_layer(r->g, name, 0, layers_dropout(r, x, r->p), &how);
}

// The skip path has no dropout. The product has dropout, and so has the state before its gate.
int layers_sru(struct reading *r, const char *name, int x, int lengths)
{
    struct sru_layer how = {.lengths = lengths, .key = r->key, .step = r->counter, .hidden = r->hidden};
    how.attr = (struct recurrent_attr){.directions = 2, .act = ACT_TANH, .p = r->p, .site = step_site(r->step)};
    return g_sru_layer(r->g, name, x, layers_dropout(r, x, r->p), &how);
}

void layers_encode(struct reading *r, layers_cell *cell, const char *name, int x, int lengths, int out[LAYERS_MOST])
{
    graph_scope(r->g, "%s", name);
    for (int i = 0; i < r->layers; i++) {
        char *layer = arena_text(&r->g->arena, "%s.rnns.%d", name, i);
        out[i] = x = cell(r, layer, x, lengths);
    }
}
