// SPDX-License-Identifier: Apache-2.0
// Optimiser operators on the GPU: arguments of k_optim.h. Everything is f32 except assign.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_optim.h"

static const struct optim_attr *attr_of(const struct cuda_step *s) { return &s->node->attr.optim; }

static int momentum_prepare(struct cuda_step *s)
{
    const struct optim_attr *a = attr_of(s);
    CUDA_LAUNCH(s, k_momentum, .g = s->in[0], .m = s->in[1], .p = s->in[2], .clip = s->in[3], .u = s->out[0],
                .to_m = s->out[1], .count = cuda_count(cuda_in(s, 0)), .mu = a->mu, .decay = a->decay, .nesterov = a->nesterov);
    return 0;
}

static int adam_prepare(struct cuda_step *s)
{
    const struct optim_attr *a = attr_of(s);
    CUDA_LAUNCH(s, k_adam, .g = s->in[0], .m = s->in[1], .v = s->in[2], .step = s->in[3], .clip = s->in[4],
                .u = s->out[0], .to_m = s->out[1], .to_v = s->out[2], .count = cuda_count(cuda_in(s, 0)), .beta1 = a->beta1,
                .beta2 = a->beta2, .eps = a->eps, .root_eps = a->root_eps, .infinity = a->infinity);
    return 0;
}

static size_t squares_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    return k_squares_work(cuda_count(node_in(g, n, 0)));
}

static int squares_prepare(struct cuda_step *s)
{
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_squares, .x = s->in[0], .before = s->in[1], .to = s->out[0], .work = s->work,
                .count = cuda_count(cuda_in(s, 0)));
    return 0;
}

static int clip_factor_prepare(struct cuda_step *s)
{
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_clip_factor, .squares = s->in[0], .to = s->out[0], .target = attr_of(s)->target);
    return 0;
}

static int trust_prepare(struct cuda_step *s)
{
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_trust, .squares_p = s->in[0], .squares_u = s->in[1], .lr = s->in[2], .to = s->out[0]);
    return 0;
}

static int loss_scale_prepare(struct cuda_step *s)
{
    const struct loss_scale_attr *a = &s->node->attr.loss_scale;
    CUDA_LAUNCH(s, k_loss_scale, .squares = s->in[0], .scale = s->in[1], .counts = s->in[2],
                .clip = s->out[0], .take = s->out[1], .to_scale = s->out[2], .to_counts = s->out[3],
                .target = a->target, .least = a->least, .most = a->most, .every = a->every);
    return 0;
}

static size_t unit_norm_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    return k_unit_norm_work(cuda_count(node_in(g, n, 0)));
}

static int unit_norm_prepare(struct cuda_step *s)
{
    const struct optim_attr *a = attr_of(s);
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_unit_norm, .x = s->in[0], .factor = s->in[1], .y = s->out[0], .work = s->work,
                .count = cuda_count(cuda_in(s, 0)), .target = a->target, .eps = a->eps);
    return 0;
}

static int descend_prepare(struct cuda_step *s)
{
    const struct optim_attr *a = attr_of(s);
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_descend, .p = s->in[0], .u = s->in[1], .lr = s->in[2], .to = s->out[0],
                .count = cuda_count(cuda_in(s, 0)), .factor = a->factor, .decay = a->decay, .limit = a->limit);
    return 0;
}

static int lerp_prepare(struct cuda_step *s)
{
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_lerp, .e = s->in[0], .p = s->in[1], .t = s->in[2], .to = s->out[0],
                .count = cuda_count(cuda_in(s, 0)));
    return 0;
}

static int assign_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    enum dtype to = node_in(g, n, 0)->dtype, from = node_in(g, n, 1)->dtype;
    if (to == from || dtype_is_float(to)) return 0;
    return fail(ERR_UNSUPPORTED, "%s cannot be assigned to %s", dtype_name(from), dtype_name(to));
}

static int assign_prepare(struct cuda_step *s)
{
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_assign, .from = s->in[1], .to = s->out[0], .from_type = cuda_in(s, 1)->dtype,
                .to_type = cuda_out(s, 0)->dtype, .count = cuda_count(cuda_in(s, 1)));
    return 0;
}

const struct cuda_op cuda_momentum = {.prepare = momentum_prepare};
const struct cuda_op cuda_adam = {.prepare = adam_prepare};
const struct cuda_op cuda_squares = {.prepare = squares_prepare, .workspace = squares_workspace};
const struct cuda_op cuda_clip_factor = {.prepare = clip_factor_prepare};
const struct cuda_op cuda_loss_scale = {.prepare = loss_scale_prepare};
const struct cuda_op cuda_unit_norm = {.prepare = unit_norm_prepare, .workspace = unit_norm_workspace};
const struct cuda_op cuda_descend = {.prepare = descend_prepare};
const struct cuda_op cuda_trust = {.prepare = trust_prepare};
const struct cuda_op cuda_lerp = {.prepare = lerp_prepare};
const struct cuda_op cuda_assign = {.prepare = assign_prepare, .supports = assign_supports};
