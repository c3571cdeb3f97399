// SPDX-License-Identifier: Apache-2.0
// Element types and shapes, shared by graphs (runtime/), fields of data sets (data/) and tasks. Images
// are NHWC and sequences [B,T,C] everywhere; filters are [K,R,S,C].
#pragma once

#include "runtime/common/base/error.h"

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
