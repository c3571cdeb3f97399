// SPDX-License-Identifier: Apache-2.0
// Arrays as numpy.save writes them (.npy, versions 1 and 2): two dimensions of f32 or f64, little-endian, by rows or by columns.
#pragma once

#include "runtime/common/base/error.h"

struct npy {
    int64_t rows, columns;
    const char *values;  // in the file's bytes, at any alignment
    bool wide;           // f64, else f32
    bool by_columns;     // Fortran's order
};
// Pure: the bytes of a whole file, which `name` names in errors.
int npy_parse(const char *name, const char *bytes, size_t size, struct npy *) MUST_CHECK;
void npy_row(const struct npy *, int64_t row, double *into);
