// SPDX-License-Identifier: Apache-2.0
// An emulated cuBLASLt. It does exactly what layouts, attributes and preferences say, and dies on any call that the real
// library might reject: unknown attributes, wrong attribute sizes, an algorithm of another product, too little scratch,
// addresses that are less aligned than promised or outside of any allocation. Its algorithms need 1 MiB of scratch and leave
// NaN in it. Sums are f32.
#include <cublasLt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tensor.h"
#include "test/emulate/emulate_library.h"

enum kind { HANDLE = 0x4c740001, PRODUCT, LAYOUT, WISH, ALGORITHM };
enum { SCRATCH = 1 << 20 };

struct lt_handle {
    enum kind kind;
};
struct lt_product {
    enum kind kind;
    int32_t transposed[2];  // cublasOperation_t
    cublasLtEpilogue_t epilogue;
    const void *bias;
};
struct lt_layout {
    enum kind kind;
    cudaDataType type;
    uint64_t rows, columns;
    int64_t pitch, apart;
    int32_t order, batch;
};
struct lt_wish {
    enum kind kind;
    uint64_t scratch;
    uint32_t schemes, aligned[4];
};
struct lt_algorithm {  // at most 64 bytes: it is stored in a cublasLtMatmulAlgo_t
    uint64_t kind, problem;
    uint32_t aligned[4];
};

// Counters for tests (found by dlsym).
extern int lt_products, lt_objects;
int lt_products, lt_objects;
extern double lt_operations, lt_unaligned;  // of the products; of those with a column or a pitch of no multiple of 16 bytes
double lt_operations, lt_unaligned;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "\nemulated cuBLASLt: %s\n", what);
    abort();
}

static void *make_object(enum kind kind, size_t bytes)
{
    enum kind *o = calloc(1, bytes);
    if (!o) die("no memory");
    *o = kind;
    lt_objects++;
    return o;
}

static void *as_kind(enum kind kind, const void *object, const char *what)
{
    if (!object || *(const enum kind *)object != kind) die(what);
    return (void *)(uintptr_t)object;
}

static cublasStatus_t end_kind(enum kind kind, void *object, const char *what)
{
    memset(as_kind(kind, object, what), 0, sizeof kind);
    free(object);
    lt_objects--;
    return CUBLAS_STATUS_SUCCESS;
}

static void copy_attribute(void *into, size_t capacity, const void *from, size_t bytes)
{
    if (!from || bytes != capacity) die("wrong size of an attribute");
    memcpy(into, from, bytes);
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *into)
{
    *into = make_object(HANDLE, sizeof(struct lt_handle));
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return end_kind(HANDLE, handle, "not a handle"); }

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_SUCCESS ? "success" : status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported" : "failed";
}

// ---- descriptors

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *into, cublasComputeType_t compute, cudaDataType_t scale)
{
    if (compute != CUBLAS_COMPUTE_32F || scale != CUDA_R_32F) die("sums and scales must be f32");
    struct lt_product *p = make_object(PRODUCT, sizeof *p);
    p->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    *into = (cublasLtMatmulDesc_t)p;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) { return end_kind(PRODUCT, product, "not a product"); }

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t which,
                                              const void *from, size_t bytes)
{
    struct lt_product *p = as_kind(PRODUCT, product, "not a product");
    if (which == CUBLASLT_MATMUL_DESC_EPILOGUE) {
        copy_attribute(&p->epilogue, sizeof p->epilogue, from, bytes);
        if (p->epilogue != CUBLASLT_EPILOGUE_DEFAULT && p->epilogue != CUBLASLT_EPILOGUE_BIAS) die("an unknown epilogue");
        return CUBLAS_STATUS_SUCCESS;
    }
    if (which == CUBLASLT_MATMUL_DESC_BIAS_POINTER) {
        copy_attribute(&p->bias, sizeof p->bias, from, bytes);
        return CUBLAS_STATUS_SUCCESS;
    }
    if (which != CUBLASLT_MATMUL_DESC_TRANSA && which != CUBLASLT_MATMUL_DESC_TRANSB) die("an unknown attribute of a product");
    int32_t *transposed = &p->transposed[which == CUBLASLT_MATMUL_DESC_TRANSB];
    copy_attribute(transposed, sizeof *transposed, from, bytes);
    if (*transposed != CUBLAS_OP_N && *transposed != CUBLAS_OP_T) die("an unknown operation on a factor");
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *into, cudaDataType type, uint64_t rows, uint64_t columns,
                                          int64_t pitch)
{
    struct lt_layout *l = make_object(LAYOUT, sizeof *l);
    if (type != CUDA_R_32F && type != CUDA_R_16BF && type != CUDA_R_16F) die("an unknown type of a matrix");
    if (pitch < (int64_t)rows) die("columns overlap");
    l->type = type, l->rows = rows, l->columns = columns, l->pitch = pitch;
    l->order = CUBLASLT_ORDER_COL, l->batch = 1;
    *into = (cublasLtMatrixLayout_t)l;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return end_kind(LAYOUT, layout, "not a layout"); }

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which,
                                                const void *from, size_t bytes)
{
    struct lt_layout *l = as_kind(LAYOUT, layout, "not a layout");
    switch (which) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: copy_attribute(&l->batch, sizeof l->batch, from, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: copy_attribute(&l->apart, sizeof l->apart, from, bytes); break;
    case CUBLASLT_MATRIX_LAYOUT_ORDER: copy_attribute(&l->order, sizeof l->order, from, bytes); break;
    default: die("an unknown attribute of a layout");
    }
    if (l->batch < 1) die("an empty batch");
    if (l->order != CUBLASLT_ORDER_COL) die("matrices must be column-major");
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *into)
{
    struct lt_wish *w = make_object(WISH, sizeof *w);
    w->schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
    for (int i = 0; i < 4; i++) w->aligned[i] = 256;
    *into = (cublasLtMatmulPreference_t)w;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t wish)
{
    return end_kind(WISH, wish, "not a preference");
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t wish,
                                                    cublasLtMatmulPreferenceAttributes_t which, const void *from, size_t bytes)
{
    struct lt_wish *w = as_kind(WISH, wish, "not a preference");
    switch (which) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: copy_attribute(&w->scratch, sizeof w->scratch, from, bytes); break;
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK: copy_attribute(&w->schemes, sizeof w->schemes, from, bytes); break;
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
        copy_attribute(&w->aligned[which - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], sizeof w->aligned[0], from, bytes);
        break;
    default: die("an unknown preference");
    }
    return CUBLAS_STATUS_SUCCESS;
}

// ---- products

static uint64_t mix_hash(uint64_t hash, uint64_t x) { return (hash ^ x) * 0x100000001b3u; }

// A hash of the product and the layouts of a, b, c and d, which identifies an algorithm's problem. Dies on inconsistent
// arguments.
static uint64_t problem_of(const struct lt_product *p, struct lt_layout *const l[4])
{
    bool ta = p->transposed[0] == CUBLAS_OP_T, tb = p->transposed[1] == CUBLAS_OP_T;
    uint64_t m = ta ? l[0]->columns : l[0]->rows, k = ta ? l[0]->rows : l[0]->columns;
    uint64_t k2 = tb ? l[1]->columns : l[1]->rows, n = tb ? l[1]->rows : l[1]->columns;
    if (k != k2) die("the depths of the factors differ");
    if (l[0]->type != l[1]->type || l[2]->type != l[3]->type) die("incompatible types");
    if (l[3]->type != CUDA_R_32F && l[3]->type != l[0]->type) die("the type of the result does not fit the factors");
    if ((p->epilogue == CUBLASLT_EPILOGUE_BIAS) != (p->bias != NULL)) die("a bias without its epilogue, or one without a bias");
    uint64_t hash = mix_hash(mix_hash(mix_hash(0xcbf29ce484222325u, ta), tb), p->epilogue);
    for (int i = 0; i < 4; i++) {
        if (i > 1 && (l[i]->rows != m || l[i]->columns != n)) die("wrong size of the result");
        if (l[i]->batch != l[0]->batch) die("batches of different sizes");
        const uint64_t facts[] = {l[i]->type, l[i]->rows, l[i]->columns, (uint64_t)l[i]->pitch, (uint64_t)l[i]->apart,
                                  (uint64_t)l[i]->batch};
        for (size_t f = 0; f < sizeof facts / sizeof facts[0]; f++) hash = mix_hash(hash, facts[f]);
    }
    return hash;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t wish, int wanted,
                                              cublasLtMatmulHeuristicResult_t found[], int *count)
{
    as_kind(HANDLE, handle, "not a handle");
    const struct lt_wish *w = as_kind(WISH, wish, "not a preference");
    struct lt_layout *const l[4] = {as_kind(LAYOUT, a, "a has no layout"), as_kind(LAYOUT, b, "b has no layout"),
                                    as_kind(LAYOUT, c, "c has no layout"), as_kind(LAYOUT, d, "d has no layout")};
    if (wanted < 1 || !found || !count) die("no room for an algorithm");
    if (w->schemes & CUBLASLT_REDUCTION_SCHEME_INPLACE) die("the in-place reduction is not deterministic");
    *count = 0;
    if (w->scratch < SCRATCH) return CUBLAS_STATUS_NOT_SUPPORTED;
    struct lt_algorithm algorithm = {ALGORITHM, problem_of(as_kind(PRODUCT, product, "not a product"), l), {0}};
    memcpy(algorithm.aligned, w->aligned, sizeof w->aligned);
    memset(found, 0, sizeof found[0]);
    memcpy(&found->algo, &algorithm, sizeof algorithm);
    found->workspaceSize = SCRATCH;
    found->state = CUBLAS_STATUS_SUCCESS;
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

struct work {
    struct lt_layout layout[4];
    const void *from[3], *bias;  // a, b, c
    void *to, *scratch;
    float alpha, beta;
    bool transposed[2];
};

static enum dtype dtype_of(const struct lt_layout *l)
{
    return l->type == CUDA_R_32F ? F32 : l->type == CUDA_R_16BF ? BF16 : F16;
}

static float *read_all(const struct lt_layout *l, const void *from, int batch, bool transposed)  // [row][column] of op(matrix)
{
    float *into = malloc(l->rows * l->columns * sizeof *into);
    if (!into) die("no memory");
    for (uint64_t c = 0; c < l->columns; c++)
        for (uint64_t r = 0; r < l->rows; r++) {
            float x = (float)element_get(dtype_of(l), from, batch * l->apart + (int64_t)c * l->pitch + (int64_t)r);
            into[transposed ? c * l->rows + r : r * l->columns + c] = x;
        }
    return into;
}

static void multiply_one(const struct work *o, int batch)
{
    const struct lt_layout *d = &o->layout[3], *c = &o->layout[2];
    uint64_t m = d->rows, n = d->columns, k = o->transposed[0] ? o->layout[0].rows : o->layout[0].columns;
    float *a = read_all(&o->layout[0], o->from[0], batch, o->transposed[0]);
    float *b = read_all(&o->layout[1], o->from[1], batch, o->transposed[1]);
    float *row = malloc(n * sizeof *row);
    if (!row) die("no memory");
    for (uint64_t i = 0; i < m; i++) {
        memset(row, 0, n * sizeof *row);
        for (uint64_t t = 0; t < k; t++)
            for (uint64_t j = 0; j < n; j++) row[j] += a[i * k + t] * b[t * n + j];
        for (uint64_t j = 0; j < n; j++) {
            int64_t at = batch * c->apart + (int64_t)j * c->pitch + (int64_t)i;
            float y = o->alpha * row[j];
            if (o->bias) y += (float)element_get(dtype_of(d), o->bias, (int64_t)i);  // of the result's type
            if (o->beta != 0.0f) y += o->beta * (float)element_get(dtype_of(c), o->from[2], at);
            element_set(dtype_of(d), o->to, batch * d->apart + (int64_t)j * d->pitch + (int64_t)i, y);
        }
    }
    free(a), free(b), free(row);
}

static void multiply_batches(void *context)
{
    const struct work *o = context;
    memset(o->scratch, 0xff, SCRATCH);
    for (int i = 0; i < o->layout[0].batch; i++) multiply_one(o, i);
}

static void check_address(const struct lt_layout *l, const void *at, uint32_t aligned, const char *what)
{
    const size_t size = dtype_size(dtype_of(l));
    if (!at || (uintptr_t)at % aligned) die("an address is less aligned than was promised");
    if (l->columns > 1 && (size_t)l->pitch * size % aligned) die("columns are less aligned than was promised");
    int64_t count = (l->batch - 1) * l->apart + ((int64_t)l->columns - 1) * l->pitch + (int64_t)l->rows;
    emulate_check_range(at, (size_t)count * size, what);
}

static void count_product(const struct lt_product *p, struct lt_layout *const l[4])
{
    const uint64_t k = p->transposed[0] == CUBLAS_OP_T ? l[0]->rows : l[0]->columns;
    const double operations = 2.0 * (double)l[3]->rows * (double)l[3]->columns * (double)k * l[3]->batch;
    bool aligned = true;
    for (int i = 0; i < 4; i++) {
        const size_t size = dtype_size(dtype_of(l[i]));
        aligned &= l[i]->rows * size % 16 == 0 && (size_t)l[i]->pitch * size % 16 == 0;
    }
    lt_products++;
    lt_operations += operations;
    if (!aligned) lt_unaligned += operations;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout,
                              const void *beta, const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t *algo, void *scratch,
                              size_t scratch_bytes, cudaStream_t stream)
{
    as_kind(HANDLE, handle, "not a handle");
    const struct lt_product *p = as_kind(PRODUCT, product, "not a product");
    struct lt_layout *const l[4] = {as_kind(LAYOUT, a_layout, "a has no layout"), as_kind(LAYOUT, b_layout, "b has no layout"),
                                    as_kind(LAYOUT, c_layout, "c has no layout"), as_kind(LAYOUT, d_layout, "d has no layout")};
    struct lt_algorithm algorithm;
    if (!algo) die("no algorithm was chosen");
    memcpy(&algorithm, algo, sizeof algorithm);
    if (algorithm.kind != ALGORITHM || algorithm.problem != problem_of(p, l)) die("the algorithm belongs to another product");
    const void *const at[4] = {a, b, c, d};
    const char *const whose[] = {"cuBLASLt's a", "cuBLASLt's b", "cuBLASLt's c", "cuBLASLt's result"};
    for (int i = 0; i < 4; i++) check_address(l[i], at[i], algorithm.aligned[i], whose[i]);
    if (scratch_bytes < SCRATCH || (uintptr_t)scratch % 256) die("scratch memory that is too small or not aligned");
    emulate_check_range(scratch, SCRATCH, "cuBLASLt's scratch memory");
    if (p->bias) emulate_check_range(p->bias, l[3]->rows * dtype_size(dtype_of(l[3])), "cuBLASLt's bias");
    struct work o = {.from = {a, b, c}, .bias = p->bias, .to = d, .scratch = scratch, .alpha = *(const float *)alpha,
                     .beta = *(const float *)beta,
                     .transposed = {p->transposed[0] == CUBLAS_OP_T, p->transposed[1] == CUBLAS_OP_T}};
    for (int i = 0; i < 4; i++) o.layout[i] = *l[i];
    count_product(p, l);
    return emulate_enqueue(stream, multiply_batches, &o, sizeof o) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                         : CUBLAS_STATUS_EXECUTION_FAILED;
}
