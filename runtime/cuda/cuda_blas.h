// SPDX-License-Identifier: Apache-2.0
// Large matrix products by cuBLASLt. It is 541 MB to load, so it is loaded when the first product that is worth it is
// prepared; the networks of CIFAR-10 have none. DAWN_CUDA_BLAS=off leaves everything to the own kernels; =always gives it
// products of any size, for tests and to compare.
#ifndef DAWN_CUDA_BLAS_H
#define DAWN_CUDA_BLAS_H

#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_matmul.h"

// What a product may use of scratch: cuBLASLt aligns it itself within these bytes.
enum { CUDA_BLAS_WORK = 32 << 20 };

// From 2^31 operations on, factors of one type, rows that begin at multiples of 16 bytes.
bool cuda_blas_takes(const struct cuda_device *, const struct k_matmul *);
// Chooses an algorithm, runs it once and sets the step to run it with the addresses and the scratch memory in `p`.
// ERR_UNSUPPORTED when the library has none for this product.
int cuda_blas_prepare(struct cuda_step *, const struct k_matmul *p) MUST_CHECK;

#endif
