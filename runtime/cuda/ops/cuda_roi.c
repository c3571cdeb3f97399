// SPDX-License-Identifier: Apache-2.0
// ROIAlign on the GPU: arguments of k_roi.cu. No scratch.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_roi.h"

static void launch_roi(struct cuda_step *s, const struct k_roi *k, cudaError_t (*launch)(cudaStream_t, const void *))
{
    s->launch = launch;
    s->args = memcpy(arena_alloc(s->arena, sizeof *k), k, sizeof *k);
}

static int roi_align_prepare(struct cuda_step *s)
{
    if (!s->out[0]) return 0;
    const struct value *x = cuda_in(s, 2), *boxes = cuda_in(s, 0);
    struct k_roi k = {.boxes = s->in[0], .rows = s->in[1], .y = s->out[0], .type = x->dtype, .batch = boxes->shape.dim[0],
                      .each = boxes->shape.dim[1], .images = x->shape.dim[0], .channels = x->shape.dim[3],
                      .attr = s->node->attr.roi};
    for (int l = 0; l < k.attr.levels; l++) {
        const int64_t *d = cuda_in(s, 2 + l)->shape.dim;
        k.x[l] = s->in[2 + l], k.attr.h[l] = d[1], k.attr.w[l] = d[2];
    }
    launch_roi(s, &k, k_roi_align);
    return 0;
}

static int roi_align_grad_prepare(struct cuda_step *s)
{
    const int64_t *d = cuda_in(s, 1)->shape.dim;
    struct k_roi k = {.boxes = s->in[0], .dy = s->in[1], .type = cuda_in(s, 1)->dtype, .batch = d[0], .each = d[1],
                      .images = d[0], .channels = d[4], .attr = s->node->attr.roi};
    bool any = false;
    for (int l = 0; l < k.attr.levels; l++) k.dx[l] = s->out[l], any |= s->out[l] != NULL;
    if (any) launch_roi(s, &k, k_roi_align_grad);
    return 0;
}

static int check_images(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    if (node_in(g, n, 0)->shape.dim[0] <= K_ROI_IMAGES) return 0;
    return fail(ERR_UNSUPPORTED, "cuda: roi_align_grad supports at most %d pictures", K_ROI_IMAGES);
}

const struct cuda_op cuda_roi_align = {.prepare = roi_align_prepare};
const struct cuda_op cuda_roi_align_grad = {.prepare = roi_align_grad_prepare, .supports = check_images};
