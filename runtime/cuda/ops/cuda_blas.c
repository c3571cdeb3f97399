// SPDX-License-Identifier: Apache-2.0
// cuBLASLt uses column-major matrices: a row-major matrix is its transpose there. So the library computes y' = op(b)' op(a)': b
// comes first, the sizes are swapped, and a factor that is transposed here is transposed there.
//
// The algorithm is the first one that the heuristics return, chosen in prepare. Algorithms that accumulate split sums in place
// are excluded, because their order of additions varies. f32 is multiplied in f32. Rows that do not start at multiples of 16
// bytes leave the library fewer and slower algorithms: the stated alignment excludes the others. k_matmul.cu reads such rows
// element by element, too.
#include "runtime/cuda/ops/cuda_blas.h"

#include "runtime/cuda/cuda_library.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>

#define BLAS_FUNCTIONS                                                                                                 \
    FUNCTION(cublasLtCreate)                                                                                           \
    FUNCTION(cublasLtDestroy)                                                                                          \
    FUNCTION(cublasLtGetStatusString)                                                                                  \
    FUNCTION(cublasLtMatmul)                                                                                           \
    FUNCTION(cublasLtMatmulAlgoGetHeuristic)                                                                           \
    FUNCTION(cublasLtMatmulDescCreate)                                                                                 \
    FUNCTION(cublasLtMatmulDescDestroy)                                                                                \
    FUNCTION(cublasLtMatmulDescSetAttribute)                                                                           \
    FUNCTION(cublasLtMatmulPreferenceCreate)                                                                           \
    FUNCTION(cublasLtMatmulPreferenceDestroy)                                                                          \
    FUNCTION(cublasLtMatmulPreferenceSetAttribute)                                                                     \
    FUNCTION(cublasLtMatrixLayoutCreate)                                                                               \
    FUNCTION(cublasLtMatrixLayoutDestroy)                                                                              \
    FUNCTION(cublasLtMatrixLayoutSetAttribute)

struct blas_functions {
#define FUNCTION(name) __typeof__(&name) name;
    BLAS_FUNCTIONS
#undef FUNCTION
};

#define WORD_OF(number) #number
#define WORD(number) WORD_OF(number)

static const struct cuda_library library = {
    .title = "cuBLASLt " WORD(CUBLAS_VER_MAJOR),
    .package = "the CUDA Toolkit (libcublas)",
    .files = (const char *const[]){"libcublasLt.so." WORD(CUBLAS_VER_MAJOR), NULL},
#define FUNCTION(name) #name,
    .functions = (const char *const[]){BLAS_FUNCTIONS NULL},
#undef FUNCTION
};

struct blas {
    struct blas_functions call;
    cublasLtHandle_t handle;
};

// One product; first and second in the library's order (b and a).
struct blas_plan {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t first, second, result;
    cublasLtMatmulPreference_t wish;
    cublasLtMatmulAlgo_t algorithm;
    const void *bias;  // in the type of the result, or NULL
    struct k_matmul p;
};

enum { ALIGNED = 16, WORK_ALIGNED = 256 };

bool cuda_blas_is_large(const struct k_matmul *p) { return 2.0 * p->m * p->n * p->k * (double)p->batch >= 0x1p31; }

bool cuda_blas_takes(const struct cuda_device *cuda, const struct k_matmul *p)
{
    if (cuda->set.blas == BLAS_OFF) return false;
    if (!cuda_blas_is_large(p) && cuda->set.blas != BLAS_ALWAYS) return false;
    if (p->a_type != p->b_type || p->batch > INT32_MAX) return false;
    return p->out == F32 || p->out == p->a_type;
}

// ---- the library

static int check_blas(const struct blas *b, cublasStatus_t status, const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS) return 0;
    int code = status == CUBLAS_STATUS_NOT_SUPPORTED ? ERR_UNSUPPORTED : ERR_DEVICE;
    return fail(code, "cuBLASLt, %s: %s", what, b->call.cublasLtGetStatusString(status));
}

static void close_blas(struct cuda_device *cuda)
{
    if (cuda->blas && cuda->blas->handle) (void)cuda->blas->call.cublasLtDestroy(cuda->blas->handle);
    free(cuda->blas);
    cuda->blas = NULL;
}

static int open_blas(struct cuda_device *cuda)
{
    if (cuda->blas) return 0;
    struct blas *b = zalloc(sizeof *b);
    int rc = cuda_library_load(&library, &b->call);
    if (rc == 0) rc = check_blas(b, b->call.cublasLtCreate(&b->handle), "starting");
    if (rc < 0) {
        char why[ERROR_TEXT_MAX];
        snprintf(why, sizeof why, "%s", error_text());
        free(b);
        return rc == ERR_MISSING ? fail(rc, "%s; DAWN_CUDA_BLAS=off in the environment avoids it, but is slower", why) : rc;
    }
    cuda->blas = b;
    cuda->blas_close = close_blas;
    return 0;
}

// ---- one product

static cudaDataType_t type_of(enum dtype type)
{
    return type == F32 ? CUDA_R_32F : type == BF16 ? CUDA_R_16BF : CUDA_R_16F;
}

static int set_transposed(const struct blas *b, cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t which,
                          bool transposed)
{
    int32_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    return check_blas(b, b->call.cublasLtMatmulDescSetAttribute(product, which, &operation, sizeof operation), "setting op()");
}

// One number for each row in the library's order, in the type of the result.
static int set_bias(const struct blas *b, cublasLtMatmulDesc_t product, const void *bias)
{
    const cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    TRY(check_blas(b, b->call.cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue),
              "adding a bias"));
    return check_blas(b, b->call.cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias),
                 "adding a bias");
}

// A row-major matrix as it is in memory; its columns are the library's rows.
struct matrix {
    enum dtype type;
    int64_t rows, columns, pitch;
};

static struct matrix first_of(const struct k_matmul *p)
{
    const int64_t columns = p->tb ? p->k : p->n;
    return (struct matrix){p->b_type, p->tb ? p->n : p->k, columns, columns};
}

static struct matrix second_of(const struct k_matmul *p)
{
    const int64_t columns = p->ta ? p->m : p->k;
    return (struct matrix){p->a_type, p->ta ? p->k : p->m, columns, p->pitch_a ? p->pitch_a : columns};
}

static struct matrix result_of(const struct k_matmul *p) { return (struct matrix){p->out, p->m, p->n, p->n}; }

static int make_layout(const struct blas *b, struct matrix m, int64_t batch, cublasLtMatrixLayout_t *into)
{
    const struct blas_functions *c = &b->call;
    TRY(check_blas(b, c->cublasLtMatrixLayoutCreate(into, type_of(m.type), (uint64_t)m.columns, (uint64_t)m.rows, m.pitch),
              "describing a matrix"));
    int32_t count = (int32_t)batch;
    int64_t apart = m.rows * m.pitch;
    TRY(check_blas(b, c->cublasLtMatrixLayoutSetAttribute(*into, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
              "describing a batch"));
    return check_blas(b, c->cublasLtMatrixLayoutSetAttribute(*into, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart,
                                                        sizeof apart), "describing a batch");
}

static int describe_product(const struct blas *b, struct blas_plan *o)
{
    const struct k_matmul *p = &o->p;
    TRY(check_blas(b, b->call.cublasLtMatmulDescCreate(&o->product, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a product"));
    TRY(set_transposed(b, o->product, CUBLASLT_MATMUL_DESC_TRANSA, p->tb));
    TRY(set_transposed(b, o->product, CUBLASLT_MATMUL_DESC_TRANSB, p->ta));
    if (o->bias) TRY(set_bias(b, o->product, o->bias));
    TRY(make_layout(b, first_of(p), p->batch, &o->first));
    TRY(make_layout(b, second_of(p), p->batch, &o->second));
    return make_layout(b, result_of(p), p->batch, &o->result);
}

// The power of two, up to ALIGNED, at whose multiples rows start. Every matrix starts at a multiple of ALIGNED or at a row.
static uint32_t aligned_to(struct matrix m)
{
    const uint64_t bytes = (uint64_t)m.pitch * dtype_size(m.type), lowest = bytes & -bytes;
    return lowest && lowest < ALIGNED ? (uint32_t)lowest : ALIGNED;
}

static int make_preference(const struct blas *b, struct blas_plan *o)
{
    static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const struct blas_functions *c = &b->call;
    const char *what = "stating preferences";
    const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE, result = aligned_to(result_of(&o->p));
    const uint32_t bytes[] = {aligned_to(first_of(&o->p)), aligned_to(second_of(&o->p)), result, result};
    uint64_t capacity = CUDA_BLAS_WORK - WORK_ALIGNED;
    TRY(check_blas(b, c->cublasLtMatmulPreferenceCreate(&o->wish), what));
    TRY(check_blas(b, c->cublasLtMatmulPreferenceSetAttribute(o->wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &capacity,
                                                         sizeof capacity), what));
    TRY(check_blas(b, c->cublasLtMatmulPreferenceSetAttribute(o->wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                                                         sizeof schemes), what));
    for (int i = 0; i < 4; i++)
        TRY(check_blas(b, c->cublasLtMatmulPreferenceSetAttribute(o->wish, aligned[i], &bytes[i], sizeof bytes[i]), what));
    return 0;
}

static int choose_algorithm(const struct blas *b, struct blas_plan *o)
{
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    memset(&found, 0, sizeof found);
    TRY(check_blas(b, b->call.cublasLtMatmulAlgoGetHeuristic(b->handle, o->product, o->first, o->second, o->result, o->result,
                                                        o->wish, 1, &found, &count), "choosing an algorithm"));
    if (count < 1 || found.state != CUBLAS_STATUS_SUCCESS || found.workspaceSize > CUDA_BLAS_WORK - WORK_ALIGNED)
        return fail(ERR_UNSUPPORTED, "cuBLASLt has no algorithm for a product of %d x %d x %d", o->p.m, o->p.n, o->p.k);
    o->algorithm = found.algo;
    return 0;
}

int cuda_blas_multiply(struct cuda_device *cuda, const struct blas_plan *o, cudaStream_t stream, const struct k_matmul *p)
{
    const struct blas *b = cuda->blas;
    size_t skip = (WORK_ALIGNED - (uintptr_t)p->work % WORK_ALIGNED) % WORK_ALIGNED;
    float beta = p->c ? p->beta : 0.0f;
    const void *c = p->c ? p->c : p->y;
    return check_blas(b, b->call.cublasLtMatmul(b->handle, o->product, &p->alpha, p->b, o->first, p->a, o->second, &beta, c,
                                           o->result, p->y, o->result, &o->algorithm, (char *)p->work + skip,
                                           CUDA_BLAS_WORK - WORK_ALIGNED, stream), "multiplying");
}

static int blas_run(struct cuda_step *s)
{
    const struct blas_plan *o = s->own;
    return cuda_blas_multiply(s->cuda, o, s->stream, &o->p);
}

void cuda_blas_plan_free(struct cuda_device *cuda, struct blas_plan *o)
{
    if (!o) return;
    const struct blas_functions *c = &cuda->blas->call;
    if (o->wish) (void)c->cublasLtMatmulPreferenceDestroy(o->wish);
    if (o->result) (void)c->cublasLtMatrixLayoutDestroy(o->result);
    if (o->second) (void)c->cublasLtMatrixLayoutDestroy(o->second);
    if (o->first) (void)c->cublasLtMatrixLayoutDestroy(o->first);
    if (o->product) (void)c->cublasLtMatmulDescDestroy(o->product);
    free(o);
}

static void blas_release(struct cuda_step *s)
{
    cuda_blas_plan_free(s->cuda, s->own);
    s->own = NULL;
}

static int make_plan(struct cuda_device *cuda, const struct k_matmul *p, const void *bias, struct blas_plan **into)
{
    TRY(open_blas(cuda));
    const struct blas *b = cuda->blas;
    struct blas_plan *o = zalloc(sizeof *o);
    o->p = *p, o->bias = bias;
    int rc = describe_product(b, o);
    if (rc == 0) rc = make_preference(b, o);
    if (rc == 0) rc = choose_algorithm(b, o);
    if (rc < 0) cuda_blas_plan_free(cuda, o);
    else *into = o;
    return rc;
}

int cuda_blas_plan(struct cuda_device *cuda, const struct k_matmul *p, struct blas_plan **into)
{
    return make_plan(cuda, p, NULL, into);
}

// Runs the product once during prepare, so that the library loads its kernels then and not inside a capture. The memory holds
// no valid values yet; the result is ignored.
int cuda_blas_prepare(struct cuda_step *s, const struct k_matmul *p, const void *bias)
{
    struct blas_plan *o = NULL;
    TRY(make_plan(s->cuda, p, bias, &o));
    int rc = cuda_blas_multiply(s->cuda, o, s->stream, p);
    if (rc < 0) {
        cuda_blas_plan_free(s->cuda, o);
        return rc;
    }
    s->own = o;
    s->run = blas_run;
    s->release = blas_release;
    return 0;
}
