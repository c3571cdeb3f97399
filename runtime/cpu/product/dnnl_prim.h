// SPDX-License-Identifier: Apache-2.0
// One oneDNN primitive with its operands: described, sized, bound to fixed addresses, run. The CPU device uses oneDNN only
// through this header, and only dnnl_api.h behind dnnl_prim.c depends on its version.
#pragma once

#include "runtime/cpu/cpu.h"

enum { PRIM_ARGS = 6, PRIM_RANK = DNNL_MAX_NDIMS };  // oneDNN reads that many dimensions, used or not

struct dnnl_prim {
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[PRIM_ARGS];
    int id[PRIM_ARGS];  // DNNL_ARG_* of memory[i]
    int args;
    size_t scratch;  // bytes of the scratchpad, bound as DNNL_ARG_SCRATCHPAD
};

// An array as DAWN stores it. Dimensions are in oneDNN's logical order; strides give the order in memory.
struct dnnl_array {
    enum dtype dtype;
    int rank;
    int64_t dim[PRIM_RANK], stride[PRIM_RANK];
};

enum dnnl_pass { DNNL_FORWARD, DNNL_DGRAD, DNNL_WGRAD };

// x[N,h,w,c] * w[k,r,s,c/groups] -> y[N,p,q,k]; x and y are NHWC, the filters in the format that oneDNN prefers.
struct dnnl_conv {
    enum dnnl_pass pass;
    enum dtype dtype;  // of x, y and the filters; DNNL_WGRAD's filters are f32
    int64_t n, h, w, c, k, r, s, p, q;
    int groups, stride[2], before[2], after[2];
    bool bias;
    enum act act;
    bool tiles;               // the processor multiplies tiles (tiles.h)
    bool x_pooled, y_pooled;  // stored as the 2x2 max pool with positions, by winograd*.c and tiles*.c; sizes are those before it
};

// The arrays of y = act(x * w + bias). If y is pooled, only the largest of the four outputs of a window and its position are
// written; the activation comes behind the pool. If x is pooled, the other three values of a window are zeros.
struct conv_data {
    const void *x;
    const uint8_t *x_at;  // positions, if x is pooled
    const float *bias;    // or NULL
    void *y;              // NULL: only positions are computed
    uint8_t *y_at;        // positions, if y is pooled and they are needed; else NULL
};

// Filters [k,r,s,c/groups] in memory, in f32; `swap` describes the same bytes with c and k exchanged.
struct dnnl_array dnnl_prim_filters(const struct dnnl_conv *, bool swap);

// These describe a primitive; only dnnl_prim_build generates code. After an error there is nothing to free.
int dnnl_prim_conv(struct cpu_device *, struct dnnl_prim *, const struct dnnl_conv *) MUST_CHECK;
// dst = alpha a b + beta dst, or with a bias in f32 for each column: a b + bias
struct dnnl_adding {
    float alpha, beta;
    bool bias;
};
int dnnl_prim_matmul(struct cpu_device *, struct dnnl_prim *, const struct dnnl_array *a, const struct dnnl_array *b,
                     const struct dnnl_array *y, struct dnnl_adding) MUST_CHECK;
// Copies between the format of operand `arg` of `of` and a plain array: into the format (pack) or out of it.
int dnnl_prim_pack(struct cpu_device *, struct dnnl_prim *, const struct dnnl_array *plain, const struct dnnl_prim *of,
                   int arg) MUST_CHECK;
int dnnl_prim_unpack(struct cpu_device *, struct dnnl_prim *, const struct dnnl_prim *of, int arg,
                     const struct dnnl_array *plain) MUST_CHECK;
int dnnl_prim_copy(struct cpu_device *, struct dnnl_prim *, const struct dnnl_array *from,
                   const struct dnnl_array *to) MUST_CHECK;

size_t dnnl_prim_bytes(const struct dnnl_prim *, int arg);  // size of operand `arg` in its format
int dnnl_prim_build(struct dnnl_prim *) MUST_CHECK;         // generates the code
int dnnl_prim_bind(struct cpu_device *, struct dnnl_prim *, int arg, void *address) MUST_CHECK;  // binds or moves
int dnnl_prim_run(struct cpu_device *, struct dnnl_prim *);
void dnnl_prim_end(struct dnnl_prim *);  // also for an all-zero struct

// The library itself.
int dnnl_prim_open(struct cpu_device *) MUST_CHECK;  // engine and stream
void dnnl_prim_close(struct cpu_device *);
bool dnnl_prim_has_avx512(void);           // and ONEDNN_MAX_CPU_ISA permits it
bool dnnl_prim_multiplies_bf16(void);  // by instructions (avx512_bf16 or amx), and ONEDNN_MAX_CPU_ISA permits them
void dnnl_prim_facts(char *library, size_t library_bytes, char *isa, size_t isa_bytes);
