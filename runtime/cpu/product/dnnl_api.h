// SPDX-License-Identifier: Apache-2.0
// The calls of oneDNN's C API that differ between its versions 2 and 3, as one set. Only dnnl_prim.c and the yardstick
// test/bench/bench_convs.c include this file; docs/decisions/onednn-version.md explains it.
//
// Version 2 describes an operation first, then makes a primitive descriptor of it, and its memory descriptors are plain structs.
// Version 3 makes primitive descriptors at once, and its memory descriptors are handles. So a layout is a pointer here, which
// api_layout_free frees; one that dnnl_primitive_desc_query_md returns is borrowed.
#pragma once

#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>

#if DNNL_VERSION_MAJOR == 2
typedef const dnnl_memory_desc_t *api_layout;
#elif DNNL_VERSION_MAJOR == 3
typedef const_dnnl_memory_desc_t api_layout;
#else
#error "DAWN uses versions 2 and 3 of oneDNN's C API; see docs/decisions/onednn-version.md"
#endif

// A convolution or one of its gradients. The two gradients need the descriptor of the forward pass.
struct api_conv {
    dnnl_prop_kind_t pass;
    api_layout x, w, bias, y;  // bias: or NULL
    dnnl_dims_t stride, before, after;
    dnnl_primitive_desc_t forward;
};

#if DNNL_VERSION_MAJOR == 2

static inline dnnl_status_t api_layout_keep(dnnl_status_t status, const dnnl_memory_desc_t *md, api_layout *into)
{
    dnnl_memory_desc_t *kept = status == dnnl_success ? malloc(sizeof *kept) : NULL;
    if (kept) *kept = *md;
    *into = kept;
    return status == dnnl_success && !kept ? dnnl_out_of_memory : status;
}

static inline dnnl_status_t api_layout_strided(api_layout *into, int rank, const int64_t *dim, dnnl_data_type_t type,
                                               const int64_t *stride)
{
    dnnl_memory_desc_t md;
    return api_layout_keep(dnnl_memory_desc_init_by_strides(&md, rank, dim, type, stride), &md, into);
}

static inline dnnl_status_t api_layout_tagged(api_layout *into, int rank, const int64_t *dim, dnnl_data_type_t type,
                                              dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t md;
    return api_layout_keep(dnnl_memory_desc_init_by_tag(&md, rank, dim, type, tag), &md, into);
}

static inline void api_layout_free(api_layout layout) { free((void *)layout); }

static inline dnnl_status_t api_conv_describe(dnnl_primitive_desc_t *into, dnnl_engine_t engine, const struct api_conv *c,
                                              dnnl_primitive_attr_t attr)
{
    dnnl_convolution_desc_t desc;
    dnnl_alg_kind_t direct = dnnl_convolution_direct;
    dnnl_status_t s =
        c->pass == dnnl_backward_data
            ? dnnl_convolution_backward_data_desc_init(&desc, direct, c->x, c->w, c->y, c->stride, c->before, c->after)
        : c->pass == dnnl_backward_weights
            ? dnnl_convolution_backward_weights_desc_init(&desc, direct, c->x, c->w, NULL, c->y, c->stride, c->before, c->after)
            : dnnl_convolution_forward_desc_init(&desc, c->pass, direct, c->x, c->w, c->bias, c->y, c->stride, c->before,
                                                 c->after);
    return s == dnnl_success ? dnnl_primitive_desc_create(into, &desc, attr, engine, c->forward) : s;
}

// The last of the four is a bias, or NULL.
static inline dnnl_status_t api_matmul_describe(dnnl_primitive_desc_t *into, dnnl_engine_t engine, const api_layout aby[4],
                                                dnnl_primitive_attr_t attr)
{
    dnnl_matmul_desc_t desc;
    dnnl_status_t s = dnnl_matmul_desc_init(&desc, aby[0], aby[1], aby[3], aby[2]);
    return s == dnnl_success ? dnnl_primitive_desc_create(into, &desc, attr, engine, NULL) : s;
}

// Adds to the attributes: y = alpha result + sum y.
static inline dnnl_status_t api_scale(dnnl_primitive_attr_t attr, dnnl_post_ops_t post, float alpha, float sum)
{
    dnnl_status_t s = alpha != 1.0f ? dnnl_primitive_attr_set_output_scales(attr, 1, 0, &alpha) : dnnl_success;
    return s == dnnl_success && sum != 0.0f ? dnnl_post_ops_append_sum(post, sum) : s;
}

static inline dnnl_status_t api_eltwise(dnnl_post_ops_t post, dnnl_alg_kind_t kind, float alpha)
{
    return dnnl_post_ops_append_eltwise(post, 1.0f, kind, alpha, 0.0f);
}

#else

static inline dnnl_status_t api_layout_strided(api_layout *into, int rank, const int64_t *dim, dnnl_data_type_t type,
                                               const int64_t *stride)
{
    return dnnl_memory_desc_create_with_strides((dnnl_memory_desc_t *)into, rank, dim, type, stride);
}

static inline dnnl_status_t api_layout_tagged(api_layout *into, int rank, const int64_t *dim, dnnl_data_type_t type,
                                              dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_create_with_tag((dnnl_memory_desc_t *)into, rank, dim, type, tag);
}

static inline void api_layout_free(api_layout layout)
{
    if (layout) dnnl_memory_desc_destroy((dnnl_memory_desc_t)layout);
}

static inline dnnl_status_t api_conv_describe(dnnl_primitive_desc_t *into, dnnl_engine_t engine, const struct api_conv *c,
                                              dnnl_primitive_attr_t attr)
{
    dnnl_alg_kind_t direct = dnnl_convolution_direct;
    if (c->pass == dnnl_backward_data)
        return dnnl_convolution_backward_data_primitive_desc_create(into, engine, direct, c->x, c->w, c->y, c->stride, NULL,
                                                                    c->before, c->after, c->forward, attr);
    if (c->pass == dnnl_backward_weights)
        return dnnl_convolution_backward_weights_primitive_desc_create(into, engine, direct, c->x, c->w, NULL, c->y, c->stride,
                                                                       NULL, c->before, c->after, c->forward, attr);
    return dnnl_convolution_forward_primitive_desc_create(into, engine, c->pass, direct, c->x, c->w, c->bias, c->y, c->stride,
                                                          NULL, c->before, c->after, attr);
}

static inline dnnl_status_t api_matmul_describe(dnnl_primitive_desc_t *into, dnnl_engine_t engine, const api_layout aby[4],
                                                dnnl_primitive_attr_t attr)
{
    return dnnl_matmul_primitive_desc_create(into, engine, aby[0], aby[1], aby[3], aby[2], attr);
}

static inline dnnl_status_t api_eltwise(dnnl_post_ops_t post, dnnl_alg_kind_t kind, float alpha)
{
    return dnnl_post_ops_append_eltwise(post, kind, alpha, 0.0f);
}

// Version 3 has no output scales, so the scale is a post-operation.
static inline dnnl_status_t api_scale(dnnl_primitive_attr_t attr, dnnl_post_ops_t post, float alpha, float sum)
{
    (void)attr;
    dnnl_status_t s = alpha != 1.0f ? api_eltwise(post, dnnl_eltwise_linear, alpha) : dnnl_success;
    return s == dnnl_success && sum != 0.0f ? dnnl_post_ops_append_sum(post, sum, 0, dnnl_data_type_undef) : s;
}

#endif
