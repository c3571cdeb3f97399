// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/frechet/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/isa.h"
#include "runtime/common/base/threads.h"
#include "tasks/common/frechet/matrix_inside.h"

enum { CHUNK = 128, BLOCK = 64 };  // rows of a product, which fit into the L2 cache; rows of a factor

static const struct matrix_loops *loops(void)
{
    static const struct matrix_loops *const tables[ISA_SETS] = {
        &matrix_loops_base,
#ifndef ISA_ONLY_BASE
        &matrix_loops_avx2, &matrix_loops_avx512,
#endif
    };
    return tables[isa_choose()];
}

double *matrix_new(int64_t rows, int64_t columns)
{
    return calloc((size_t)(rows * columns) + 1, sizeof(double));
}

int matrix_no_memory(int64_t rows, int64_t columns)
{
    return fail(ERR_MEMORY, "not enough memory for a matrix of %lld x %lld numbers", (long long)rows, (long long)columns);
}

void matrix_mirror(double *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) a[i * n + j] = a[j * n + i];
}

// ---- products

struct packing {
    const double *from;
    double *to;
    int64_t rows, columns, step, width;  // width: of a panel
    double scale;
};

// Panels of `width` columns one after the other, each by rows, with zeros after the last column.
static void pack_panels(void *context, int64_t begin, int64_t end, int thread)
{
    const struct packing *p = context;
    (void)thread;
    for (int64_t panel = begin; panel < end; panel++)
        for (int64_t i = 0; i < p->rows; i++) {
            const int64_t left = panel * p->width;
            double *to = p->to + (panel * p->rows + i) * p->width;
            for (int64_t c = 0; c < p->width; c++)
                to[c] = left + c < p->columns ? p->scale * p->from[i * p->step + left + c] : 0;
        }
}

static int64_t panels_of(int64_t columns, int64_t width)
{
    return (columns + width - 1) / width;
}

struct multiplying {
    const struct matrix_product *p;
    const struct matrix_loops *loops;
    const double *a, *b;  // panels
    int64_t rows;         // of a panel
};

static void add_tile(const struct matrix_product *p, int64_t top, int64_t left, double tile[MATRIX_ROWS][MATRIX_COLUMNS])
{
    for (int64_t r = 0; r < MATRIX_ROWS && top + r < p->m; r++)
        for (int64_t c = 0; c < MATRIX_COLUMNS && left + c < p->n; c++) p->c[(top + r) * p->c_step + left + c] += tile[r][c];
}

static void multiply_panels(void *context, int64_t begin, int64_t end, int thread)
{
    const struct multiplying *m = context;
    (void)thread;
    for (int64_t j = 0; j < panels_of(m->p->n, MATRIX_COLUMNS); j++)
        for (int64_t i = begin; i < end; i++) {
            double tile[MATRIX_ROWS][MATRIX_COLUMNS];
            if (m->p->upper && (j + 1) * MATRIX_COLUMNS <= i * MATRIX_ROWS) continue;
            m->loops->tile(m->a + i * m->rows * MATRIX_ROWS, m->b + j * m->rows * MATRIX_COLUMNS, m->rows, tile);
            add_tile(m->p, i * MATRIX_ROWS, j * MATRIX_COLUMNS, tile);
        }
}

int matrix_add_product(const struct matrix_product *p)
{
    const int64_t down = panels_of(p->m, MATRIX_ROWS), across = panels_of(p->n, MATRIX_COLUMNS);
    double *a = matrix_new(down * MATRIX_ROWS, CHUNK), *b = matrix_new(across * MATRIX_COLUMNS, CHUNK);
    const int rc = a == NULL || b == NULL ? matrix_no_memory(p->m + p->n, CHUNK) : 0;
    for (int64_t k = 0; k < p->k && rc == 0; k += CHUNK) {
        const int64_t rows = p->k - k < CHUNK ? p->k - k : CHUNK;
        struct packing pack_a = {p->a + k * p->a_step, a, rows, p->m, p->a_step, MATRIX_ROWS, p->scale};
        struct packing pack_b = {p->b + k * p->b_step, b, rows, p->n, p->b_step, MATRIX_COLUMNS, 1};
        struct multiplying m = {p, loops(), a, b, rows};
        threads_for(down, 16, pack_panels, &pack_a);
        threads_for(across, 8, pack_panels, &pack_b);
        threads_for(down, 8, multiply_panels, &m);
    }
    free(a);
    free(b);
    return rc;
}

// ---- Cholesky's factor, with the largest pivot first: without that the noise of a small one reaches all that follow

struct factoring {
    double *a, *scale, *left;  // left: what earlier rows leave of the diagonal
    int64_t n, *from;          // from[j]: the column of the given matrix
};

static void swap_columns(struct factoring *f, int64_t i, int64_t j)
{
    const int64_t n = f->n, from = f->from[i];
    const double left = f->left[i];
    if (i == j) return;
    for (int64_t r = 0; r < n; r++) {
        const double x = f->a[r * n + i];
        f->a[r * n + i] = f->a[r * n + j], f->a[r * n + j] = x;
    }
    for (int64_t c = 0; c < n; c++) {
        const double x = f->a[i * n + c];
        f->a[i * n + c] = f->a[j * n + c], f->a[j * n + c] = x;
    }
    f->from[i] = f->from[j], f->from[j] = from;
    f->left[i] = f->left[j], f->left[j] = left;
}

// Finds rows begin..end and returns how many there are: fewer if the rest is rounding.
static int64_t factor_rows(struct factoring *f, int64_t begin, int64_t end)
{
    const int64_t n = f->n;
    for (int64_t k = begin; k < n; k++) f->left[k] = f->a[k * n + k];
    for (int64_t k = begin; k < end; k++) {
        int64_t most = k;
        for (int64_t j = k; j < n; j++)
            if (f->left[j] > f->left[most]) most = j;
        if (!(f->left[most] > (double)n * 0x1p-52)) return k - begin;
        swap_columns(f, k, most);
        double *row = f->a + k * n;
        for (int64_t r = begin; r < k; r++)
            for (int64_t j = k + 1; j < n; j++) row[j] -= f->a[r * n + k] * f->a[r * n + j];
        row[k] = sqrt(f->left[k]);
        for (int64_t j = k + 1; j < n; j++) {
            row[j] /= row[k];
            f->left[j] -= row[j] * row[j];
        }
    }
    return end - begin;
}

static int factor_all(struct factoring *f, int64_t *rank)
{
    const int64_t n = f->n;
    for (*rank = 0; *rank < n;) {
        const int64_t at = *rank, end = at + BLOCK < n ? at + BLOCK : n, found = factor_rows(f, at, end);
        *rank += found;
        if (found < end - at) return 0;
        const double *rows = f->a + at * n + end;
        TRY(matrix_add_product(&(struct matrix_product){rows, rows, f->a + end * n + end, end - at, n - end, n - end, n, n, n, -1,
                                                        false}));
    }
    return 0;
}

// Zeros for missing rows, and the columns where they were.
static void restore_columns(struct factoring *f, int64_t rank)
{
    const int64_t n = f->n;
    for (int64_t r = 0; r < n; r++) {
        double *row = f->a + r * n;
        for (int64_t j = 0; j < n; j++) f->left[f->from[j]] = r < rank && j >= r ? row[j] : 0;
        for (int64_t j = 0; j < n; j++) row[j] = f->left[j] * f->scale[j];
    }
}

int matrix_factor(double *a, int64_t n)
{
    int64_t rank;
    struct factoring f = {a, matrix_new(1, n), matrix_new(1, n), n, calloc((size_t)n + 1, sizeof *f.from)};
    int rc = f.scale == NULL || f.left == NULL || f.from == NULL ? matrix_no_memory(3, n) : 0;
    for (int64_t i = 0; i < n && rc == 0; i++) {
        f.from[i] = i;
        f.scale[i] = a[i * n + i] > 0 ? sqrt(a[i * n + i]) : 1;
    }
    for (int64_t i = 0; i < n && rc == 0; i++)
        for (int64_t j = 0; j < n; j++) a[i * n + j] /= f.scale[i] * f.scale[j];
    if (rc == 0) rc = factor_all(&f, &rank);
    if (rc == 0) restore_columns(&f, rank);
    free(f.scale);
    free(f.left);
    free(f.from);
    return rc;
}

// ---- eigenvalues: Householder's reflections to three diagonals, then implicit QR steps

struct reflecting {
    const struct matrix_loops *loops;
    double *a, *product;        // product[i]: of row i with the next reflection's vector
    const double *v, *w, *next;
    int64_t n, first;           // rows and columns from `first` on are left
};

// a -= v w^T + w v^T, and at once its product with the next vector.
static void reflect_rows(void *context, int64_t begin, int64_t end, int thread)
{
    const struct reflecting *r = context;
    (void)thread;
    const struct matrix_turn turn = {r->v + r->first, r->w + r->first, r->next + r->first, r->n - r->first};
    for (int64_t i = r->first + begin; i < r->first + end; i++)
        r->product[i] = r->loops->turn(r->a + i * r->n + r->first, &turn, r->v[i], r->w[i]);
}

static double sum_of_products(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

// The vector v of the reflection 1 - scale v v^T that leaves of x[n] only the first element, which is returned.
static double reflection(const double *x, int64_t n, double *v, double *scale)
{
    const double rest = sum_of_products(x + 1, x + 1, n - 1), length = sqrt(x[0] * x[0] + rest);
    memset(v, 0, (size_t)n * sizeof *v);
    *scale = 0;
    if (rest == 0) return x[0];
    const double left = x[0] > 0 ? -length : length;
    memcpy(v, x, (size_t)n * sizeof *v);
    v[0] -= left;
    *scale = 2 / (v[0] * v[0] + rest);
    return left;
}

// `work` holds four vectors.
static void reduce_to_diagonals(double *a, int64_t n, double *diagonal, double *off_diagonal, double *work)
{
    double *v = work, *w = work + n, *next = work + 2 * n, *product = work + 3 * n;
    struct reflecting r = {loops(), a, product, v, w, next, n, 0};
    for (int64_t k = 0; k + 1 < n; k++) {
        double *row = a + k * n, scale;
        for (int64_t j = k; j < n; j++) row[j] -= v[k] * w[j] + w[k] * v[j];
        diagonal[k] = row[k];
        off_diagonal[k] = reflection(row + k + 1, n - k - 1, next + k + 1, &scale);
        r.first = k + 1;
        threads_for(n - k - 1, 1 + (1 << 15) / (n - k), reflect_rows, &r);
        const double half = scale / 2 * scale * sum_of_products(product + k + 1, next + k + 1, n - k - 1);
        for (int64_t i = k + 1; i < n; i++) {
            v[i] = next[i];
            w[i] = scale * product[i] - half * next[i];
        }
    }
    diagonal[n - 1] = a[n * n - 1];
}

// One step with Wilkinson's shift on the rows first..last, whose elements next to the diagonal are not zero.
static void step_diagonals(double *d, double *e, int64_t first, int64_t last)
{
    const double half = (d[last - 1] - d[last]) / 2, off_diagonal = e[last - 1];
    const double far = half + copysign(hypot(half, off_diagonal), half);
    double x = d[first] - d[last] + (far != 0 ? off_diagonal * off_diagonal / far : 0), z = e[first];
    for (int64_t k = first; k < last; k++) {
        const double r = hypot(x, z), c = r > 0 ? x / r : 1, s = r > 0 ? z / r : 0;
        if (k > first) e[k - 1] = r;
        const double p = d[k], q = d[k + 1], m = e[k];
        d[k] = c * c * p + 2 * c * s * m + s * s * q;
        d[k + 1] = s * s * p - 2 * c * s * m + c * c * q;
        e[k] = c * s * (q - p) + (c * c - s * s) * m;
        if (k + 1 == last) return;
        x = e[k];
        z = s * e[k + 1];
        e[k + 1] *= c;
    }
}

static int solve_diagonals(double *d, double *e, int64_t n)
{
    int64_t steps = 0;
    for (int64_t last = n - 1; last > 0;) {
        int64_t first = last;
        while (first > 0 && !(fabs(e[first - 1]) <= 0x1p-53 * (fabs(d[first - 1]) + fabs(d[first])))) first--;
        if (first == last) {
            last--;
            continue;
        }
        if (++steps > 64 * n) return fail(ERR_INPUT, "the eigenvalues of a matrix of %lld x %lld numbers are not finite",
                                          (long long)n, (long long)n);
        step_diagonals(d, e, first, last);
    }
    return 0;
}

int matrix_eigenvalues(double *a, int64_t n, double *value)
{
    double *work = matrix_new(5, n);
    if (work == NULL) return matrix_no_memory(5, n);
    reduce_to_diagonals(a, n, value, work + 4 * n, work);
    const int rc = solve_diagonals(value, work + 4 * n, n);
    free(work);
    return rc;
}
