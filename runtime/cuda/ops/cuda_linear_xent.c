// SPDX-License-Identifier: Apache-2.0
// An output layer and its cross-entropy on the GPU, some rows at a time: three products (cuBLASLt or DAWN's kernels, as MATMUL's)
// around the kernels of k_linear_xent.cu. w is read through a copy in the type of x where the products are large.
//
// The copy ends with rows of zeros (cuda_weight_zeros), so rows of logits are padded to a multiple of 8 classes and start at
// multiples of 16 bytes, which the library's fast algorithms require. The logits of these classes are 0, no sum counts them, and
// their gradients stay 0. dw has no rows for them: its last classes % 8 rows are a small product of their own. Results are those
// without padding.
#include "runtime/cuda/ops/cuda_blas.h"

#include "runtime/cuda/kernels/k_linear_xent.h"

#include <stdlib.h>

enum { X, W, LABELS, BIAS, WEIGHTS };
enum { LOSS, ROWS, COUNT, HIT, DX, DW, DBIAS };
enum { TO_LOGITS, TO_DX, TO_DW, TO_LAST_ROWS, PRODUCTS };
enum { PIECE, LAST, PARTS };  // the last piece of rows may be shorter

// A GPU takes pieces of four times the node's bytes. For 50,257 x 768 in 16 bits these are 2,000 rows instead of 500: dx is then
// 96 tiles of 128 x 128 instead of 24, for 132 processors, and reading and writing dw takes less time than its product.
enum { MORE = 4 };

struct linear {
    enum dtype type, w_type;
    int64_t rows, classes, channels;
    int64_t width;          // classes with padding: elements of a row of logits
    int64_t last;           // the last rows of dw that are not a multiple of 8; 0 without padding
    int64_t piece, pieces;  // rows of a piece
    bool wanted[PRODUCTS];
    size_t at_losses, at_counted, at_work, bytes;  // offsets in the work buffer, where the logits come first
    struct blas_plan *plan[PARTS][PRODUCTS];       // NULL: DAWN's kernel
    const void *w;
};

static int64_t rows_of(const struct linear *o, int part)
{
    return part == LAST ? o->rows - (o->pieces - 1) * o->piece : o->piece;
}

static struct k_matmul product_of(const struct linear *o, int part, int product)
{
    const int rows = (int)rows_of(o, part), v = (int)o->width, c = (int)o->channels;
    struct k_matmul p = {.batch = 1, .alpha = 1, .a_type = o->type, .b_type = o->w_type, .out = o->type};
    if (product == TO_LOGITS) p.m = rows, p.k = c, p.n = v, p.tb = true;
    if (product == TO_DX) p.m = rows, p.k = v, p.n = c;
    if (product < TO_DW) return p;
    p.m = (int)(product == TO_DW ? o->classes - o->last : o->last), p.k = rows, p.n = c, p.ta = true, p.pitch_a = v, p.beta = 1;
    p.b_type = o->type, p.out = F32;
    return p;
}

static void pad_classes(const struct graph *g, const struct node *n, struct linear *o)
{
    const int64_t zeros = cuda_weight_zeros(g, n->in[W]), width = o->classes + zeros / o->channels;
    if (zeros % o->channels || width % CUDA_WEIGHT_ROWS || o->classes < CUDA_WEIGHT_ROWS) return;  // w may be a part or a view
    o->width = width;
    o->last = o->classes % CUDA_WEIGHT_ROWS;
    o->wanted[TO_LAST_ROWS] = o->wanted[TO_DW] && o->last > 0;
}

static struct linear linear_of(const struct graph *g, const struct node *n)
{
    const struct value *x = node_in(g, n, X), *w = node_in(g, n, W);
    struct linear o = {.type = x->dtype, .w_type = F32, .rows = shape_rows(&x->shape), .classes = w->shape.dim[0],
                       .channels = w->shape.dim[1], .width = w->shape.dim[0],
                       .wanted = {true, n->out[DX] != NONE, n->out[DW] != NONE}};
    int64_t most = MORE * n->attr.linear_xent.bytes / (o.classes * (int64_t)dtype_size(o.type));
    most = most < 1 ? 1 : most < o.rows ? most : o.rows;
    o.pieces = (o.rows + most - 1) / most;
    o.piece = (o.rows + o.pieces - 1) / o.pieces;
    o.pieces = (o.rows + o.piece - 1) / o.piece;
    struct k_matmul p = product_of(&o, PIECE, TO_LOGITS);
    if (cuda_blas_is_large(&p)) o.w_type = o.type;
    if (o.w_type != F32) pad_classes(g, n, &o);
    return o;
}

static unsigned linear_copies(const struct graph *g, const struct node *n, enum dtype *to)
{
    struct linear o = linear_of(g, n);
    if (o.w_type == F32) return 0;
    *to = o.w_type;
    return 1u << W;
}

static int linear_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct value *x = node_in(g, n, X), *w = node_in(g, n, W);
    const int64_t most = INT32_MAX - 4096;
    if (shape_rows(&x->shape) <= most && w->shape.dim[0] <= most && w->shape.dim[1] <= most) return 0;
    return fail(ERR_UNSUPPORTED, "cuda: linear_xent does not support more than 2^31 rows, classes or channels");
}

static void size_linear(struct cuda_device *cuda, struct linear *o)
{
    size_t work = 0;
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i < PRODUCTS; i++) {
            struct k_matmul p = product_of(o, part, i);
            size_t own = k_matmul_work(&p), bytes = cuda_blas_takes(cuda, &p) && own < CUDA_BLAS_WORK ? CUDA_BLAS_WORK : own;
            if (o->wanted[i] && bytes > work) work = bytes;
        }
    o->at_losses = plan_round_up((size_t)(o->piece * o->width) * dtype_size(o->type));
    o->at_counted = o->at_losses + plan_round_up((size_t)o->rows * sizeof(float));
    o->at_work = o->at_counted + plan_round_up((size_t)o->rows * sizeof(float));
    o->bytes = o->at_work + work;
}

static size_t linear_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    struct linear o = linear_of(g, n);
    size_linear(cuda, &o);
    return o.bytes;
}

static int multiply(struct cuda_step *s, int64_t piece, int product)
{
    const struct linear *o = s->own;
    const int part = piece == o->pieces - 1 ? LAST : PIECE;
    struct k_matmul p = product_of(o, part, product);
    const int64_t row = piece * o->piece * o->channels * (int64_t)dtype_size(o->type);
    const void *x = (const char *)s->in[X] + row;
    if (product == TO_LOGITS) p.a = x, p.b = o->w, p.y = s->work;
    if (product == TO_DX) p.a = s->work, p.b = o->w, p.y = (char *)s->out[DX] + row;
    if (product >= TO_DW) p.a = s->work, p.b = x, p.y = s->out[DW];
    if (product == TO_LAST_ROWS) {
        const int64_t first = o->classes - o->last;
        p.a = (char *)s->work + first * (int64_t)dtype_size(o->type), p.y = (float *)s->out[DW] + first * o->channels;
    }
    if (product >= TO_DW && piece > 0) p.c = p.y;
    p.work = (char *)s->work + o->at_work;
    if (o->plan[part][product]) return cuda_blas_multiply(s->cuda, o->plan[part][product], s->stream, &p);
    return cuda_check(k_matmul(s->stream, &p), "launching a product");
}

static int run_piece(struct cuda_step *s, int64_t piece)
{
    const struct linear *o = s->own;
    const struct linear_xent_attr *a = &s->node->attr.linear_xent;
    struct k_linear_xent k = {.z = s->work, .labels = s->in[LABELS], .bias = s->in[BIAS], .weights = s->in[WEIGHTS],
                              .losses = (float *)((char *)s->work + o->at_losses),
                              .counted = (float *)((char *)s->work + o->at_counted), .hits = s->out[HIT],
                              .dbias = s->out[DBIAS], .type = o->type, .label = cuda_in(s, LABELS)->dtype,
                              .smoothing = a->smoothing, .cap = a->cap, .back = s->out[DX] || s->out[DW] || s->out[DBIAS],
                              .first = piece * o->piece, .rows = rows_of(o, piece == o->pieces - 1 ? LAST : PIECE),
                              .classes = o->classes, .width = o->width};
    TRY(multiply(s, piece, TO_LOGITS));
    TRY(cuda_check(k_linear_xent(s->stream, &k), "launching the losses of rows"));
    for (int i = PRODUCTS - 1; i >= TO_DX; i--)
        if (o->wanted[i]) TRY(multiply(s, piece, i));
    return 0;
}

static int linear_run(struct cuda_step *s)
{
    const struct linear *o = s->own;
    for (int64_t i = 0; i < o->pieces; i++) TRY(run_piece(s, i));
    struct k_linear_xent_sum k = {(const float *)((char *)s->work + o->at_losses),
                                  (const float *)((char *)s->work + o->at_counted), s->out[LOSS], s->out[ROWS], s->out[COUNT],
                                  o->rows, s->node->attr.linear_xent.mean};
    return cuda_check(k_linear_xent_sum(s->stream, &k), "launching the sum of losses");
}

static void linear_release(struct cuda_step *s)
{
    struct linear *o = s->own;
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i < PRODUCTS; i++) cuda_blas_plan_free(s->cuda, o->plan[part][i]);
    free(o);
    s->own = NULL;
}

static int plan_products(struct cuda_device *cuda, struct linear *o)
{
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; i < PRODUCTS; i++) {
            struct k_matmul p = product_of(o, part, i);
            if (!o->wanted[i] || (part == PIECE && o->pieces < 2) || !cuda_blas_takes(cuda, &p)) continue;
            int rc = cuda_blas_plan(cuda, &p, &o->plan[part][i]);
            if (rc < 0 && rc != ERR_UNSUPPORTED) return rc;
        }
    return 0;
}

// Runs once if a library takes part, so that it loads its kernels now and not inside a capture. The result is ignored.
static int linear_prepare(struct cuda_step *s)
{
    struct linear *o = zalloc(sizeof *o);
    *o = linear_of(s->graph, s->node);
    size_linear(s->cuda, o);
    o->w = cuda_weight(s, W, o->w_type);
    s->own = o, s->release = linear_release, s->run = linear_run;
    TRY(plan_products(s->cuda, o));
    bool library = false;
    for (int i = 0; i < PARTS * PRODUCTS; i++) library |= o->plan[i / PRODUCTS][i % PRODUCTS] != NULL;
    return library ? linear_run(s) : 0;
}

static int linear_grad_prepare(struct cuda_step *s)
{
    if (s->out[0])
        CUDA_LAUNCH(s, k_linear_xent_grad, .d = s->in[0], .dloss = s->in[1], .count = s->in[2], .to = s->out[0],
                    .type = cuda_in(s, 0)->dtype, .elements = cuda_count(cuda_in(s, 0)));
    return 0;
}

const struct cuda_op cuda_linear_xent = {.prepare = linear_prepare, .workspace = linear_workspace, .supports = linear_supports,
                                         .copies = linear_copies};
const struct cuda_op cuda_linear_xent_grad = {.prepare = linear_grad_prepare};
