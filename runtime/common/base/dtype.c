// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/dtype.h"

#include <stdio.h>

static const struct {
    const char *name;
    size_t size;
} dtypes[DTYPE_COUNT] = {
#define DTYPE(id, name, bytes) [id] = {name, bytes},
    DTYPE_LIST
#undef DTYPE
};

size_t dtype_size(enum dtype t)
{
    return dtypes[t].size;
}

const char *dtype_name(enum dtype t)
{
    return dtypes[t].name;
}

int dtype_parse(const char *name, enum dtype *into)
{
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (!strcmp(name, dtypes[i].name)) {
            *into = (enum dtype)i;
            return 0;
        }
    return fail(ERR_USAGE, "there is no precision \"%s\"; known are f32, bf16, f16, u8 and i32", name);
}

int64_t shape_count(const struct shape *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->dim[i];
    return n;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    if (a->rank != b->rank) return false;
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i]) return false;
    return true;
}

int64_t shape_last(const struct shape *s)
{
    return s->rank ? s->dim[s->rank - 1] : 1;
}

int64_t shape_rows(const struct shape *s)
{
    int64_t n = 1;
    for (int i = 0; i + 1 < s->rank; i++) n *= s->dim[i];
    return n;
}

char *shape_text(char into[SHAPE_TEXT], const struct shape *s)
{
    size_t at = 0;
    into[0] = 0;
    for (int i = 0; i < s->rank && at < SHAPE_TEXT; i++)
        at += (size_t)snprintf(into + at, SHAPE_TEXT - at, i ? "x%lld" : "%lld", (long long)s->dim[i]);
    return into;
}
