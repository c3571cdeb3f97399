// SPDX-License-Identifier: Apache-2.0
// Element types and shapes. Images are NHWC and sequences [B,T,C] everywhere; filters are [K,R,S,C].
#ifndef DAWN_TENSOR_H
#define DAWN_TENSOR_H

#include "runtime/base/error.h"

#include <string.h>

// DTYPE(id, name, bytes)
#define DTYPE_LIST                                                                                                     \
    DTYPE(F32, "f32", 4)                                                                                               \
    DTYPE(BF16, "bf16", 2)                                                                                             \
    DTYPE(F16, "f16", 2)                                                                                               \
    DTYPE(U8, "u8", 1)                                                                                                 \
    DTYPE(I32, "i32", 4)

enum dtype {
#define DTYPE(id, name, bytes) id,
    DTYPE_LIST
#undef DTYPE
        DTYPE_COUNT
};

enum { MAX_RANK = 5 };
struct shape {
    int rank;
    int64_t dim[MAX_RANK];
};
#define SHAPE(...)                                                                                                     \
    ((struct shape){.rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), .dim = {__VA_ARGS__}})

size_t dtype_size(enum dtype);
const char *dtype_name(enum dtype);
int dtype_parse(const char *name, enum dtype *) MUST_CHECK;
static inline bool dtype_is_float(enum dtype t) { return t == F32 || t == BF16 || t == F16; }

int64_t shape_count(const struct shape *);  // number of elements
bool shape_equal(const struct shape *, const struct shape *);
int64_t shape_rows(const struct shape *);   // all dimensions but the last
int64_t shape_last(const struct shape *);
enum { SHAPE_TEXT = 96 };
char *shape_text(char into[SHAPE_TEXT], const struct shape *);  // "2000x31x31x24"

// 16-bit storage. Rounding is to nearest even; a NaN stays one. Branch-free, so that loops over them vectorise.
static inline float bf16_to_f32(uint16_t h)
{
    uint32_t u = (uint32_t)h << 16;
    float f;
    memcpy(&f, &u, 4);
    return f;
}

static inline uint16_t f32_to_bf16(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    return (uint16_t)((u & 0x7fffffffu) > 0x7f800000u ? (u >> 16) | 0x40u : rounded);
}

float f16_to_f32(uint16_t);
uint16_t f32_to_f16(float);

// One element of any type, as a number. Slow: for `ref`, tests and files.
double element_get(enum dtype, const void *base, int64_t index);
void element_set(enum dtype, void *base, int64_t index, double value);  // rounds and saturates to the type

#endif
