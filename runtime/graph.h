// SPDX-License-Identifier: Apache-2.0
// A static graph: values and the nodes that make them, in program order. Building is done with functions that read
// as mathematics and return value ids; the first error sticks (its sentence is kept), later calls do nothing, and
// graph_check() reports it once. Shapes never change inside a graph.
//
//   phase 1 build (graph.c, op_*.c)   2 fuse (fuse.c)   3 differentiate (grad.c)   4 update (optim.c)   5 plan (plan.c)
#pragma once

#include "runtime/slot.h"

enum op {
#define OP(ID, name, inputs, outputs, flags) OP_##ID,
#include "runtime/ops.def"
#undef OP
    OP_COUNT
};

enum { NONE = -1, MAX_IN = 10, MAX_OUT = 7 };
enum { FLAT = -2 };  // in place of a gradient: 0 everywhere, so no node makes it
// Activations, which many operators apply to their results: formulas of map.def with one input. gelu is the erf form.
#define ACT_LIST(ACT)                                                                                                  \
    ACT(RELU, relu) ACT(GELU, gelu) ACT(SILU, silu) ACT(TANH, tanh) ACT(GELU_TANH, gelu_tanh) ACT(SIGMOID, sigmoid)
#define ACT(ID, name) ACT_##ID,
enum act { ACT_NONE, ACT_LIST(ACT) ACT_KINDS };
#undef ACT
// An activation has the same number here; MAP_ADD + act is the sum with that activation.
#define MAP(ID, ...) MAP_##ID,
enum map { MAP_NONE,
#include "runtime/map.def"
    MAP_KINDS };
#undef MAP
enum phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_UPDATE };
enum winograd { WINOGRAD_NONE, WINOGRAD_DATA, WINOGRAD_ALL };  // data: results and their gradients; all: filter gradients, too
enum flip { FLIP_NEVER, FLIP_RANDOM, FLIP_ALTERNATE };  // alternate: decided once per image, then reversed every epoch

struct conv_attr {
    int stride[2], before[2], after[2];  // rows, columns; zero padding before and after
    int groups;
    enum act act;                        // applied to the result (fused), forward only
    enum winograd winograd;              // where a device may compute in bf16 with fewer products, which round more
    bool pool;                           // fused: the result is its 2x2 max pool, with positions; act comes behind it
    int64_t x_h, x_w;                    // CONV_DGRAD: size of dx.  (filter size for CONV_WGRAD: r, s)
    int64_t r, s;
};
struct matmul_attr {
    bool ta, tb;
    float alpha, beta;
    enum dtype out;
};
struct pool_attr {
    int64_t k[2], stride[2];
    int64_t pad[2];    // rows and columns on both sides that never win a maximum; smaller than the window
    bool counts_pad;   // AVGPOOL: the mean is over all positions of a window; else over those inside the image
    int64_t x_h, x_w;  // size of the input, for backward; windows that do not fit whole are dropped
};
struct norm_attr {
    float eps, momentum;  // running = momentum * running + (1 - momentum) * new; unbiased variance
    enum act act;
    int64_t x_h, x_w;     // POOL_NORM_GRAD: size of dx
    bool pooled;          // NORM: of a pooled convolution. Adds up and counts FLOPs as POOL_NORM does, so both give the same
};
struct layer_norm_attr {
    float eps, p;  // p: dropout of x before the residual
    int site;
    bool rms;      // RMS norm (Zhang and Sennrich 2019): the mean is taken as 0, and there is no bias
};
struct attention_attr {
    int heads;
    float p;   // dropout of the probabilities
    int site;  // number among all dropouts
    bool causal;
};
struct rotary_attr {
    float base;
    bool inverse;  // the gradient
};
enum { ROTARY_MOST = 256 };  // channels a head
struct recurrent_attr {
    int directions;  // 1, or 2: the second begins at the last word
    bool original;   // GRU: the reset gate acts before the product
    enum act act;    // SRU, of the state: none, relu or tanh
    float p;         // SRU: dropout of that, one draw per sample and hidden unit for all words
    int site;
};
struct act_attr {
    enum act act;
};
struct map_attr {
    enum map formula;
    float p, q;  // P and Q of the formula
};
struct cast_attr {
    enum dtype to;
};
struct dropout_attr {
    float p;
    int site;     // distinguishes the dropouts of one graph
    bool shared;  // one draw serves all dimensions between the first and the last
};
struct random_attr {
    struct shape shape;
    enum dtype to;
    bool normal;  // mean a and deviation b; else uniform in [a, b), before it is rounded to the type
    float a, b;
    int site;     // distinguishes the nodes of one graph; dropouts have numbers of their own
};
struct top_attr {
    int64_t k;
    int64_t n;  // TOP_GRAD: the last dimension of dx
    bool flat;  // indices count in x[.. * N], so that the rows of another tensor can be gathered by them
};
enum { TOP_MOST = 4096 };
// ROIAlign on the levels of a pyramid. The sides of a bin are scale * box / bins, minus half a pixel before that if aligned.
enum { ROI_LEVELS = 5 };
struct roi_attr {
    int levels, bins;          // bins along each axis of a box
    int sampling;              // samples along each axis of a bin; 0: as many as it has pixels (torchvision's -1)
    bool aligned;
    float scale[ROI_LEVELS];   // a level's side over the picture's
    float side;                // root of the area from which boxes read the second level; it doubles from level to level
    int64_t h[ROI_LEVELS], w[ROI_LEVELS];  // ROI_ALIGN_GRAD: sizes of the levels
};
struct boxes_attr {
    bool encode;
    float weight[2];  // of offsets and of sizes: codes are multiplied by them
};
struct nms_attr {
    int64_t k;
    float iou;          // a box that overlaps a better one of its class by more is dropped
    float score, side;  // candidates have a score above, and sides not below
};
struct match_attr {
    float low, high;  // a box with an overlap of at least `high` has the truth's class; below `low` it has none
    bool rescue;      // boxes that overlap a truth more than every other box, with any overlap
};
struct sample_attr {
    int64_t k, positive;  // k in all, at most `positive` of them positive
};
struct reorder_attr {
    int group;  // rows, at most REORDER_MOST
};
enum { REORDER_MOST = 16 };
struct mask_attr {
    float fill;
    int axis;  // dimension of the lengths; 0: the last
};
struct move_attr {
    struct shape shape;     // RESHAPE: to; BROADCAST, the gradients of slices and gathers: shape of dx; RESIZE(_GRAD): result
    int axis;               // CONCAT, SLICE, CLASS_SLICE(_GRAD)
    int64_t begin, end;     // SLICE
    int perm[MAX_RANK];     // TRANSPOSE: result dimension i is x dimension perm[i]
    unsigned axes;          // REDUCE, BROADCAST: bit i for dimension i of the large shape
    bool mean;              // REDUCE
    float factor;           // BROADCAST
    enum dtype to;          // REDUCE: type of the result
};
struct loss_attr {
    float smoothing;
    bool mean;          // else the sum over samples
    int k;              // CORRECT: top k
};
struct linear_xent_attr {
    float smoothing, cap;
    bool mean;
    int64_t bytes;  // of logits that exist at once, or one row
};
struct augment_attr {
    enum flip flip;
    int pad;                     // reflect-pad and crop at random by up to pad pixels; 0: none
    float brightness, contrast;  // amplitude of the jitter; 0: none
    bool view_flip;              // fixed views, for evaluation
    int view_dy, view_dx;        // shift with reflected border
    float mean[4], std[4];       // of pixel / 255, a channel
    enum dtype to;
    int64_t batch;
};
struct tick_attr {
    int32_t by;
};
// Dynamic scaling of the loss (Micikevicius et al. 2018). `squares` is of the gradients of scale * loss. If it is finite, clip is
// 1 / scale, or target / root of squares where that is smaller, and take is 1. Else clip is -1, take is 0, the scale is halved,
// and the step is skipped. After `every` good steps in a row the scale is doubled, up to `most`. At a scale of `least` nothing is
// skipped: numbers that are not finite then are no overflow of the scale.
struct loss_scale_attr {
    float target;  // norm that the gradients are clipped to, all together; 0: they are not
    float least, most;
    int32_t every;
};
struct optim_attr {
    float mu, decay;          // MOMENTUM; DESCEND: decay, factor, limit; CLIP_FACTOR: target
    bool nesterov;
    float beta1, beta2, eps;  // ADAM; UNIT_NORM: eps, target
    float root_eps;           // ADAM: added to v below the root
    bool infinity;            // ADAM: Adamax
    float target, factor;
    float limit;              // DESCEND: p is clamped to [-limit, limit]; 0: it is not
};
union attr {
    struct conv_attr conv;
    struct matmul_attr matmul;
    struct pool_attr pool;
    struct norm_attr norm;
    struct layer_norm_attr layer_norm;
    struct attention_attr attention;
    struct rotary_attr rotary;
    struct recurrent_attr recurrent;
    struct act_attr act;
    struct map_attr map;
    struct cast_attr cast;
    struct dropout_attr dropout;
    struct mask_attr mask;
    struct random_attr random;
    struct reorder_attr reorder;
    struct top_attr top;
    struct roi_attr roi;
    struct boxes_attr boxes;
    struct nms_attr nms;
    struct match_attr match;
    struct sample_attr sample;
    struct move_attr move;
    struct loss_attr loss;
    struct linear_xent_attr linear_xent;
    struct augment_attr augment;
    struct tick_attr tick;
    struct optim_attr optim;
    struct loss_scale_attr loss_scale;
};

struct value {
    struct shape shape;
    enum dtype dtype;
    struct slot *slot;  // persistent value; NULL for one that a node makes
    int producer;       // node that makes it; NONE for a persistent value
    bool trains;        // some gradient passes through it; never set for integers, which are constants to a gradient
};

struct node {
    enum op op;
    enum phase phase;
    union attr attr;
    int in[MAX_IN], out[MAX_OUT];  // value ids or NONE; an output nobody reads may become NONE
    const char *scope;             // "group1.conv1", for people
};

struct graph {
    const char *name;
    struct arena arena;
    struct slot_store *store;  // borrowed
    struct value *value;
    int values, value_capacity;
    int *value_of, value_ofs;  // by number of a slot in the store: its value + 1, 0 for none
    struct node *node;
    int nodes, node_capacity;
    enum phase phase;     // given to new nodes
    int group;            // given to new parameters (graph_group)
    uint32_t trains;      // bit i: parameters of group i train in this graph; 0 where nothing does
    bool sliced;          // batch norms move copies of the running statistics (graph_slice_copy)
    const char *scope;
    int error;            // first error; 0 none
    char *error_text;
};

struct graph *graph_new(struct slot_store *, const char *name);
void graph_free(struct graph *);
int graph_check(const struct graph *) MUST_CHECK;               // the sticky error, as fail() would
int graph_fail(struct graph *, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));  // sticks; returns NONE
void graph_scope(struct graph *, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Persistent values, by name in the store.
// A parameter, f32, of the graph's group at this moment; it trains where the graph trains that group. A second use must
// agree in role and group.
int graph_param(struct graph *, const char *name, struct shape, struct init, enum role);
void graph_group(struct graph *, int group);
int graph_state(struct graph *, const char *name, struct shape, enum dtype, enum memory_class, struct init);
// A persistent value that is in the store already.
int graph_slot(struct graph *, struct slot *);
// The value that a sliced graph moves instead of a running statistic: it begins each run as the statistic does, and the statistic
// stays. NONE: the graph does not move it.
int graph_slice_copy(const struct graph *, const struct slot *statistic);

// The one way to add a node: checks arity, infers shapes. out[] receives the value ids (may be NULL).
int graph_node(struct graph *, enum op, const int *in, int inputs, const union attr *, int *out);
// As graph_node for operators that overwrite persistent values: `over[i]` names the value that output i is, or NONE.
int graph_node_over(struct graph *, enum op, const int *in, int inputs, const union attr *, const int *over, int *out);

// ---- the language of models; each returns a value id
int g_conv(struct graph *, int x, int w, int stride, int pad);
int g_conv_full(struct graph *, int x, int w, int bias, const struct conv_attr *);
// Transposed convolution: x[N,P,Q,K] by w[K,R,S,C] -> [N,x_h,x_w,C], what conv with these attributes takes to the shape of x.
int g_deconv(struct graph *, int x, int w, const struct conv_attr *);
int g_matmul(struct graph *, int a, bool ta, int b, bool tb, enum dtype out);  // ta: a transposed; batches where both have rank 3
int g_matmul_full(struct graph *, int a, int b, int c, const struct matmul_attr *);  // alpha * a b + beta * c; c may be NONE
int g_linear(struct graph *, int x, int w, int bias, enum dtype out);  // x[..,C] w[K,C] -> [..,K]
int g_maxpool(struct graph *, int x, int k, int stride);
int g_maxpool_pad(struct graph *, int x, int k, int stride, int pad);  // padded with -infinity
int g_avgpool(struct graph *, int x, int k, int stride);
int g_avgpool_full(struct graph *, int x, const struct pool_attr *);
int g_maxpool_global(struct graph *, int x);  // [N,H,W,C] -> [N,1,1,C]
int g_avgpool_global(struct graph *, int x);
// `training`: by the statistics of the batch, which move the running ones; else by the running ones. Lengths are i32[B] of
// x[B,T,..,C], whose frames past them become zeros and do not count, or NONE.
struct norm_layer {
    bool training, scale, bias;
    float eps, momentum;
};
int g_norm(struct graph *, const char *name, int x, int lengths, const struct norm_layer *);
int g_layer_norm(struct graph *, const char *name, int x, float eps);  // parameters NAME.weight and NAME.bias
// x / sqrt(mean of x^2 over the last dimension + eps) * scale; scale: f32[C], or NONE.
int g_rms_norm(struct graph *, int x, int scale, float eps);
// q[B,T,H*D] and kv[B,S,2*H*D] -> [B,T,H*D]; or qkv[B,T,3*H*D] as q, and kv NONE. Lengths are i32[B] or NONE; q_lengths is NONE
// without kv. attr.p > 0 drops probabilities by (key, step); attr.site is one of its own among the dropouts of the graph.
struct attention {
    int q, kv, lengths, q_lengths, key, step;
    struct attention_attr attr;
};
int g_attention(struct graph *, const struct attention *);
// Rotary positions (Su et al. 2021) of queries or keys x[B,T,H,D], D even: channels i and i + D/2 of a head are rotated by the
// angle (at + t) * base^(-2i/D). at: i32[1] or i32[B], or NONE for 0.
int g_rotary(struct graph *, int x, int at, float base);
// Writes x[B,N,..] over cache[B,T,..] from position `at` on, i32[1] or i32[B]; returns cache.
int g_append(struct graph *, int cache, int x, int at);
// Moves rows of x[N,..] within groups of rows: what follows the hypotheses of a beam. `at`: i32[1], or NONE. Returns x.
int g_reorder(struct graph *, int x, int from, int at, int group);
// Simple recurrent units (Lei et al. 2017), of D directions and H hidden units each. For every direction u[B,T,D*K*H] holds the
// parts candidate u0, forget u1, reset u2 and, if x is NONE, the skip input u3 in x's place; bias[D*2*H] holds b0 and b1.
//   f = sigmoid(u1 + b0)  r = sigmoid(u2 + b1)  c = f c + (1 - f) u0  h[B,T,D*H] = r m act(c) + (1 - r) x
// m is a dropout if attr.p > 0: one draw by (key, step) per sample and hidden unit.
struct sru_layer {
    int lengths, key, step;  // lengths: i32[B], or NONE; key and step: read if attr.p > 0
    int64_t hidden;          // of a layer
    struct recurrent_attr attr;
};
int g_sru(struct graph *, int u, int x, int bias, const struct sru_layer *);
// A layer of them on x[B,T,C], with parameters NAME.weight[D*K*H,C] and NAME.bias. The skip input is x if x is as wide as the
// result. `dropped` is x as the product reads it: after a dropout, or x itself.
int g_sru_layer(struct graph *, const char *name, int x, int dropped, const struct sru_layer *);
// LSTM (Hochreiter and Schmidhuber 1997) without peepholes, in PyTorch's order of the gates: input, forget, cell, output.
// x[B,T,D*4*H] is the input's product with both biases, w[D*4*H,H] the recurrent weights -> h[B,T,D*H]. `states` are the initial
// ones (h[B,D*H] in the type of x and c[B,D*H] in f32, or NONE: zeros), and the final ones afterwards; NULL: neither.
struct lstm_states {
    int h, c;
};
struct lstm {
    int lengths, directions;     // lengths: i32[B], or NONE
    struct lstm_states *states;
    int64_t hidden;              // of a layer
    // Of a layer: its parameters begin uniform in +-range, but bias_hh at 0. 0: as PyTorch's, all in +-1 / sqrt(hidden).
    float range;
};
int g_lstm(struct graph *, int x, int w, const struct lstm *);
// A layer of it on x[B,T,C], with the parameters of torch.nn.LSTM: NAME.weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 and
// the same with _reverse, for layer 0.
int g_lstm_layer(struct graph *, const char *name, int layer, int x, const struct lstm *);
// Gated recurrent units (Cho et al. 2014) over a sequence, in PyTorch's order of the parts: reset, update, new. x[B,T,D*3*H] is
// the input's product with its bias, w[D*3*H,H] and bias[D*3*H] (f32, or NONE) are of the states -> h[B,T,D*H], type of x. With
// a = x and b = w h + bias of the state before, which begins at zero:
//   r = sigmoid(a0 + b0)  z = sigmoid(a1 + b1)  n = tanh(a2 + r b2), or original: tanh(a2 + w2 (r h) + bias2)  h' = n + z (h - n)
struct gru {
    int lengths, directions;  // lengths: i32[B], or NONE
    bool original;            // the reset gate acts on the state, as first published; else on its product, as PyTorch's
    bool sum;                 // of a layer of two directions: their sum [B,T,H], as Deep Speech 2; else [B,T,2*H]
    int64_t hidden;           // of a layer
};
int g_gru(struct graph *, int x, int w, int bias, const struct gru *);
// A layer of it on x[B,T,C], with the parameters of torch.nn.GRU: NAME.weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 and
// the same with _reverse, for layer 0. They begin uniform in +-1 / sqrt(hidden).
int g_gru_layer(struct graph *, const char *name, int layer, int x, const struct gru *);
// One step of a gated recurrent unit as torch.nn.GRUCell: x[B,C], h[B,H] -> h'[B,H]. Its parameters are, in
// this order, w_ih[3H,C], w_hh[3H,H], b_ih[3H] and b_hh[3H], each with the parts reset, update, new.
int g_gru_cell(struct graph *, int x, int h, const int parameter[4]);
// A formula of map.def: of one input with its attributes, or of two or three (in[2] NONE), of which all but the first may lack
// leading dimensions of the first.
int g_map(struct graph *, enum map formula, int x, float p, float q);
int g_map_of(struct graph *, enum map formula, const int in[3]);
int g_act(struct graph *, int x, enum act);
int g_bias(struct graph *, int x, int bias);
int g_add(struct graph *, int a, int b);
int g_mul(struct graph *, int a, int b);
int g_scale(struct graph *, int x, float factor);
int g_cast(struct graph *, int x, enum dtype);
int g_reshape(struct graph *, int x, struct shape);
int g_transpose(struct graph *, int x, const int perm[]);
int g_concat(struct graph *, const int x[], int count, int axis);
int g_slice(struct graph *, int x, int axis, int64_t begin, int64_t end);
int g_resize(struct graph *, int x, int64_t h, int64_t w);
int g_reduce(struct graph *, int x, unsigned axes, bool mean, enum dtype to);
int g_reduce_max(struct graph *, int x, unsigned axes);  // as g_reduce; the first maximum gets the gradient
int g_top(struct graph *, int x, int64_t k, int *index);  // x[..,N] -> the k largest [..,k], and their indices (i32)
// ROIAlign of boxes[B,R,4] on x[level][B,H,W,C], or on x[level][N,H,W,C] in the pictures that rows[B,R] name (i32; NONE: those
// of the box's batch) -> [B,R,bins,bins,C]. Of boxes without area and rows outside [0, N) zeros, without a gradient.
int g_roi_align(struct graph *, int boxes, int rows, const int x[], const struct roi_attr *);
// Codes relative to anchors -> boxes, and boxes -> codes (Girshick et al. 2014), as torchvision's BoxCoder. sizes: or NONE.
int g_boxes_decode(struct graph *, int codes, int anchors, int sizes, const float weight[2]);
int g_boxes_encode(struct graph *, int boxes, int anchors, const float weight[2]);
// What non-maximum suppression keeps, best first; of equal scores the first. Only boxes of one class drop one another (NONE:
// all). The threshold of overlaps is rounded down to f32, so that the comparison equals the double's.
struct nms {
    int boxes, scores, classes;
    int64_t k;
    double iou;
    float score, side;
};
struct nms_kept {
    int boxes, scores, at, count;
};
struct nms_kept g_nms(struct graph *, const struct nms *);
// The label of each box by its overlap with the truth; *at: the row of [BG] that it overlaps most, the first of equals.
int g_match(struct graph *, int boxes, int truth, int classes, const struct match_attr *, int *at);
// Draws k boxes per picture by the smallest random numbers: positive ones, then boxes of label 0, each in their order, then none
// (label -1, row of the picture's first box).
struct sampled {
    int at, labels, positive;
};
struct sampled g_sample(struct graph *, int labels, int random, const struct sample_attr *);
int g_top_flat(struct graph *, int x, int64_t k, int *index);  // as g_top; indices count over all rows
int g_class_slice(struct graph *, int x, int index, int axis);  // the slice of each row's own class
int g_argmax(struct graph *, int x);  // x[..,N] -> i32[..]; of equal elements the first
int g_gather(struct graph *, int x, int index);  // the uploader of the index checks its range (ops.def)
int g_dropout(struct graph *, int x, int key, int step, float p, int site);
int g_dropout_shared(struct graph *, int x, int key, int step, float p, int site);  // x[B,..,C] by one mask[B,C]
int g_random(struct graph *, const struct random_attr *, int key, int step);
// -65504, whose exponential is 0 and which every float type holds, where t of x[B,..,T] is not in [first, length). first: i32[B],
// or NONE for 0.
int g_mask(struct graph *, int x, int first, int lengths);
int g_mask_frames(struct graph *, int x, int lengths);  // x[B,T,..] with zeros where t is not below lengths[B]
int g_softmax(struct graph *, int x);
// Labels outside [0, K) are ignored.
int g_xent(struct graph *, int logits, int labels, float smoothing, bool mean);
// in: logits[..,K]; labels, or f32 probabilities[..,K]; weights of the rows (f32) or NONE. out: loss, losses of the rows, and
// what the mean divides the sum of these by: the number of rows that count, or their weight.
int g_xent_full(struct graph *, const int in[3], float smoothing, bool mean, int out[3]);
// g_linear and g_xent_full in one operator, whose logits (of the type of x) never stand whole in memory: at most
// LINEAR_XENT_BYTES of them, or one row. g_linear and g_xent are for logits that something else reads, too.
// The products for the gradient are made in the forward pass, where something trains. The gradient of `rows`, if something
// follows from single rows, computes everything once more.
enum { LINEAR_XENT_BYTES = 48 << 20 };
struct linear_xent {
    int x, w, bias, labels, weights;  // x[..,C], w[V,C], bias[V] or NONE, labels i32[..] or u8[..], weights of the rows or NONE
    float smoothing, cap;             // cap: logits become cap * tanh(logits / cap); 0: they do not
    bool mean;
    int *hit;                         // if not NULL: 1 for a row whose label's logit is the largest, else 0 (f32)
};
// out: loss, losses of the rows, and what the mean divides by, as of g_xent_full. Returns the loss.
int g_linear_xent(struct graph *, const struct linear_xent *, int out[3]);
// Connectionist temporal classification (Graves et al. 2006): minus the logarithm of the probability of a sample's labels, summed
// over all ways to place them in its frames, of logits[B,T,K] whose class 0 is the blank. Log-softmax is part of it.
// in: logits; lengths of the samples in T, i32[B] or NONE; labels[B,L] (i32 or u8); how many of these count, i32[B] or NONE.
// out, in f32: loss[1], the sum of the samples' losses; losses[B]; skipped[B]: 1 for a sample with fewer frames than labels and
// blanks between equal neighbours, or a label outside [1, K), else 0. The loss and the gradient of such a sample are 0.
int g_ctc(struct graph *, const int in[4], int out[3]);
int g_correct(struct graph *, int logits, int labels, int counter, int k);  // updates counter
int g_accumulate(struct graph *, int total, int x);
int g_window(struct graph *, int order, int cursor, int64_t batch);
// index NONE: all images in their order, as one batch that came through a feed. Then nothing is drawn: key is NONE.
int g_augment(struct graph *, int images, int index, int key, const struct augment_attr *);
int g_pick(struct graph *, int table, int step);
int g_tick(struct graph *, int counter, int32_t by);
int g_tick_unless(struct graph *, int counter, int32_t by, int clip);  // the counter stays where clip, f32[1], is below 0

// ---- the functions of an operator
struct op_info {
    const char *name;
    int inputs, outputs;
    unsigned flags;
    int (*infer)(struct graph *, struct node *);                                    // fills shapes of outputs
    // Appends nodes that make dx[i] for each input that trains, or sets it to FLAT. dy[o] is NONE or the gradient of output o:
    // without OP_FLAG_GRADS of output 0, which is given; with it of any, and at least one is given.
    int (*grad)(struct graph *, const struct node *, const int *dy, int *dx);
    double (*flops)(const struct graph *, const struct node *);
};
enum { OP_FLAG_INPLACE = 1, OP_FLAG_ALIAS = 2, OP_FLAG_GRADS = 4 };
extern const struct op_info op_table[OP_COUNT];

struct cost {
    double flops, read, written;  // bytes
};
struct cost node_cost(const struct graph *, const struct node *);
double node_forward_flops(const struct graph *, const struct node *);  // without gradients that it makes in the forward phase
// Fails with rc and the sentence of the error before, after the name of the node that `device` ("cpu") cannot run.
int node_refuse(const struct graph *, const struct node *, const char *device, int rc);
static inline const struct value *node_in(const struct graph *g, const struct node *n, int i)
{
    return n->in[i] == NONE ? NULL : &g->value[n->in[i]];
}
static inline const struct value *node_out(const struct graph *g, const struct node *n, int i)
{
    return n->out[i] == NONE ? NULL : &g->value[n->out[i]];
}
static inline size_t value_bytes(const struct value *v)
{
    return (size_t)shape_count(&v->shape) * dtype_size(v->dtype);
}
size_t value_bytes_below(const struct value *, int axis, int64_t *above);  // of one index of `axis`; how many runs of them
const char *act_name(enum act);
const char *node_name(const struct node *);  // of the operator, or of the formula of a map
// The angles per position of ROTARY: channels / 2 parts of a turn, times 2^64, for a base of at least 1. The angle at a position
// is a product of integers, whose overflow drops whole turns: up to position 2^22 it is right to 2^-31 of a turn.
void rotary_turns(const struct rotary_attr *, int64_t channels, uint64_t turn[ROTARY_MOST / 2]);
enum act node_act(const struct node *);  // of a map that is an activation alone; else ACT_NONE
