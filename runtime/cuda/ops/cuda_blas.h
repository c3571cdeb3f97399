// SPDX-License-Identifier: Apache-2.0
// Large matrix products by cuBLASLt. The library is 541 MB, so it is loaded when the first large product is prepared; the
// CIFAR-10 networks have none. DAWN_CUDA_BLAS=off uses only DAWN's kernels; =always sends products of any size to the library,
// for tests and comparisons.
#pragma once

#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_matmul.h"

// Scratch size of a product; cuBLASLt aligns within it.
enum { CUDA_BLAS_WORK = 32 << 20 };

// A product of 2^31 operations or more.
bool cuda_blas_is_large(const struct k_matmul *);
// True for a large product, if both factors have one type.
bool cuda_blas_takes(const struct cuda_device *, const struct k_matmul *);
// Chooses an algorithm, runs it once and sets the step to run it with the addresses and scratch in `p`. Fails with
// ERR_UNSUPPORTED if the library has no algorithm for the product. bias: in the type of the result, or NULL; p's is not read.
int cuda_blas_prepare(struct cuda_step *, const struct k_matmul *p, const void *bias) MUST_CHECK;

// The same for a step of several products without a bias, whose addresses move: a plan for products of these sizes and types,
// and one of them.
struct blas_plan;
int cuda_blas_plan(struct cuda_device *, const struct k_matmul *p, struct blas_plan **into) MUST_CHECK;
int cuda_blas_multiply(struct cuda_device *, const struct blas_plan *, cudaStream_t, const struct k_matmul *) MUST_CHECK;
void cuda_blas_plan_free(struct cuda_device *, struct blas_plan *);  // NULL: nothing
