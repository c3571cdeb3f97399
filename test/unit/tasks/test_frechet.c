// SPDX-License-Identifier: Apache-2.0
// The Frechet distance: matrices against plain loops and known eigenvalues, distances that can be written down, those that scipy
// 1.17 has (test/bench/frechet_scores.py compares more), sets that are refused; NumPy's arrays.
#include "test/unit/test.h"
#include "test/unit/fixture_folder.h"

#include <math.h>

#include "runtime/common/base/file.h"
#include "runtime/common/base/rng.h"
#include "tasks/common/frechet/frechet.h"
#include "tasks/common/frechet/matrix.h"
#include "tasks/common/frechet/npy.h"

static double number(uint32_t i)
{
    return rng_normal(rng_draw(1, RNG_TEST, 0, i, 0));
}

// ---- matrices

static void check_product(int64_t k, int64_t m, int64_t n, bool upper)
{
    double *a = matrix_new(k, m + 3), *b = matrix_new(k, n), *c = matrix_new(m, n + 1), *same = matrix_new(m, n + 1);
    for (int64_t i = 0; i < k * (m + 3); i++) a[i] = number((uint32_t)i);
    for (int64_t i = 0; i < k * n; i++) b[i] = number((uint32_t)i + 100000);
    for (int64_t i = 0; i < m * (n + 1); i++) c[i] = same[i] = (double)i;
    assert_int_equal(matrix_add_product(&(struct matrix_product){a, b, c, k, m, n, m + 3, n, n + 1, -0.5, upper}), 0);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < k && j < n; l++) sum += a[l * (m + 3) + i] * b[l * n + j];
            if (upper && j < i) continue;
            assert_true(fabs(c[i * (n + 1) + j] - same[i * (n + 1) + j] + 0.5 * sum) < 1e-11);
        }
    free(same);
    free(c);
    free(b);
    free(a);
}

static void for_each_isa(void (*check)(void))
{
    static const char *const sets[] = {"base", "avx2", "avx512"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(setenv("DAWN_ISA", sets[i], 1), 0);
        check();
    }
    assert_int_equal(unsetenv("DAWN_ISA"), 0);
}

static void check_products(void)
{
    check_product(1, 1, 1, false);
    check_product(0, 5, 5, false);
    check_product(129, 33, 17, false);
    check_product(300, 4, 8, false);
    check_product(131, 41, 41, true);
}

TEST(products_are_those_of_plain_loops)
{
    for_each_isa(check_products);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// a = q diag(value) q, q a reflection, so that every element counts.
static void make_symmetric(double *a, int64_t n, const double *value)
{
    double *q = matrix_new(1, n), square = 0;
    for (int64_t i = 0; i < n; i++) q[i] = number((uint32_t)i), square += q[i] * q[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += ((i == k) - 2 * q[i] * q[k] / square) * value[k] * ((j == k) - 2 * q[j] * q[k] / square);
            a[i * n + j] = sum;
        }
    free(q);
}

static void check_eigenvalues(int64_t n, double (*wanted)(int64_t i))
{
    double *value = matrix_new(1, n), *found = matrix_new(1, n), *a = matrix_new(n, n), most = 0;
    for (int64_t i = 0; i < n; i++) value[i] = wanted(i), most = fmax(most, fabs(value[i]));
    make_symmetric(a, n, value);
    assert_int_equal(matrix_eigenvalues(a, n, found), 0);
    qsort(value, (size_t)n, sizeof *value, by_size);
    qsort(found, (size_t)n, sizeof *found, by_size);
    for (int64_t i = 0; i < n; i++) assert_true(fabs(found[i] - value[i]) <= 1e-14 * (double)n * most);
    free(a);
    free(found);
    free(value);
}

static double spread(int64_t i) { return (double)(i * i % 37) - 11; }
static double equal(int64_t i) { return i < 0 ? 0 : 2; }
static double falling(int64_t i) { return pow(10, -(double)i); }
static double nothing(int64_t i) { return i < 0 ? 1 : 0; }

static void check_values(void)
{
    check_eigenvalues(1, spread);
    check_eigenvalues(2, spread);
    check_eigenvalues(3, falling);
    check_eigenvalues(130, spread);
    check_eigenvalues(60, equal);
    check_eigenvalues(40, falling);
    check_eigenvalues(20, nothing);
}

TEST(eigenvalues_are_found)
{
    for_each_isa(check_values);
    enum { N = 300 };
    static double a[N * N], value[N];
    for (int i = 0; i < N; i++) {
        a[i * N + i] = 2;
        if (i > 0) a[i * N + i - 1] = a[(i - 1) * N + i] = -1;
    }
    assert_int_equal(matrix_eigenvalues(a, N, value), 0);
    qsort(value, N, sizeof *value, by_size);
    for (int i = 0; i < N; i++) assert_true(fabs(value[i] - 2 + 2 * cos(M_PI * (i + 1) / (N + 1))) < 1e-13);
    double wrong[4] = {NAN, 1, 1, 1};
    assert_fails(matrix_eigenvalues(wrong, 2, value), ERR_INPUT, "not finite");
}

TEST(a_factor_has_the_matrix_as_its_square)
{
    enum { N = 150 };
    double *a = matrix_new(N, N), *u = matrix_new(N, N), *rows = matrix_new(N, N);
    for (int round = 0; round < 2; round++) {  // of full rank, and of rank 100 with a row of zeros
        const int64_t rank = round == 0 ? N : 100;
        for (int64_t i = 0; i < rank * N; i++) rows[i] = round == 1 && i % N == 7 ? 0 : number((uint32_t)i);
        memset(a, 0, N * N * sizeof *a);
        assert_int_equal(matrix_add_product(&(struct matrix_product){rows, rows, a, rank, N, N, N, N, N, 1, false}), 0);
        memcpy(u, a, N * N * sizeof *a);
        assert_int_equal(matrix_factor(u, N), 0);
        for (int64_t i = rank; i < N; i++)
            for (int64_t j = 0; j < N; j++) assert_true(u[i * N + j] == 0);
        assert_int_equal(matrix_add_product(&(struct matrix_product){u, u, a, N, N, N, N, N, N, -1, false}), 0);
        for (int64_t i = 0; i < N * N; i++) assert_true(fabs(a[i]) < 1e-10);
    }
    free(rows);
    free(u);
    free(a);
}

// ---- distances

struct table {
    const double *at;
    int64_t columns;
};
static void row_of(const void *context, int64_t sample, double *into)
{
    const struct table *t = context;
    memcpy(into, t->at + sample * t->columns, (size_t)t->columns * sizeof *into);
}

static int measure(const double *at, int64_t n, int64_t d, struct frechet_moments *m)
{
    return frechet_measure(&(struct frechet_set){"x", n, d, row_of, &(struct table){at, d}}, m);
}

static struct frechet compare(const double *a, int64_t na, const double *b, int64_t nb, int64_t d)
{
    struct frechet_moments m[2];
    struct frechet f, back;
    assert_int_equal(measure(a, na, d, &m[0]), 0);
    assert_int_equal(measure(b, nb, d, &m[1]), 0);
    assert_int_equal(frechet_between(&m[0], &m[1], &f), 0);
    assert_int_equal(frechet_between(&m[1], &m[0], &back), 0);
    assert_true(fabs(f.distance - back.distance) <= 1e-7 * (1 + f.distance));
    for (int i = 0; i < 2; i++) frechet_free(&m[i]);
    return f;
}

// Samples at +-size[j] along axis j have the covariance diag(2 size^2 / (n - 1)).
TEST(distances_of_axes_are_exact)
{
    enum { D = 5, N = 2 * D };
    static const double size[2][D] = {{1, 2, 3, 0.5, 0}, {2, 2, 1, 0.25, 4}}, apart[D] = {1, 0, -2, 0.5, 0};
    double set[2][N * D] = {{0}}, spread_of = 0, means = 0;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < D; j++)
                set[s][i * D + j] = (i / 2 == j ? (i % 2 ? -1 : 1) * size[s][j] : 0) + (s ? apart[j] : 0);
    for (int j = 0; j < D; j++) {
        means += apart[j] * apart[j];
        spread_of += 2 * (size[0][j] - size[1][j]) * (size[0][j] - size[1][j]) / (N - 1);
    }
    const struct frechet f = compare(set[0], N, set[1], N, D), same = compare(set[0], N, set[0], N, D);
    assert_true(fabs(f.means - means) < 1e-13);
    assert_true(fabs(f.spread - spread_of) < 1e-13);
    assert_true(fabs(f.distance - means - spread_of) < 1e-13);
    assert_true(fabs(same.distance) < 1e-13);
}

// Sets that are written down as formulas of whole numbers, and what numpy 2 and scipy.linalg.sqrtm make of them.
static double formula(int64_t i, int64_t j, int64_t salt)
{
    return (double)((i * i * 7 + i * j * 13 + j * j * 5 + i * salt + salt) % 1009) / 1009;
}

// TWINS: feature 3 is feature 1 but for 1e-7. CONSTANT: feature 0 has one value. SUM: feature 1 is of others but for 1e-7.
enum { PLAIN, TWINS, CONSTANT, SUM };
static void make_formula(double *into, int64_t n, int64_t d, int64_t salt, int kind)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) {
            double x = formula(i, j, salt);
            if (kind == TWINS && j == 3) x = formula(i, 1, salt) + 1e-7 * x;
            if (kind == CONSTANT && j == 0) x = 0.25;
            if (kind == SUM && j == 1) x = 2 * formula(i, 0, salt) - formula(i, 2, salt) + 1e-7 * x;
            into[i * d + j] = x;
        }
}

TEST(distances_are_scipys)
{
    static const struct {
        int64_t n, more, d;
        int kind;
        double distance;
    } rows[] = {
        {200, 300, 5, PLAIN, 0.0131997025894267},
        {40, 40, 40, PLAIN, 1.37392389441555},
        {500, 300, 84, PLAIN, 0.68008638563559},
        {130, 260, 130, PLAIN, 3.75647988570232},
        {100, 90, 20, TWINS, 0.192904893193609},
        {84, 700, 84, TWINS, 2.14970156221942},
        {120, 60, 12, CONSTANT, 0.076371264591228},
        {300, 300, 64, CONSTANT, 0.459088601563614},
        {24, 57, 19, SUM, 0.42409959478052},
        {28, 69, 23, SUM, 0.573903065294493},
        {31, 78, 26, SUM, 0.680728005987999},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double *a = matrix_new(rows[i].n, rows[i].d), *b = matrix_new(rows[i].more, rows[i].d);
        make_formula(a, rows[i].n, rows[i].d, 3, rows[i].kind);
        make_formula(b, rows[i].more, rows[i].d, 11, rows[i].kind);
        const double found = compare(a, rows[i].n, b, rows[i].more, rows[i].d).distance;
        if (!(fabs(found - rows[i].distance) <= 1e-6 * (1 + rows[i].distance)))
            fail_msg("set %zu: %.17g, scipy has %.17g", i, found, rows[i].distance);
        free(b);
        free(a);
    }
}

TEST(too_few_samples_and_infinite_features_are_refused)
{
    double at[12];
    struct frechet_moments m;
    for (int i = 0; i < 12; i++) at[i] = number((uint32_t)i);
    assert_fails(measure(at, 3, 4, &m), ERR_INPUT, "x has 3 samples of 4 features: their covariance needs at least as many");
    assert_fails(measure(at, 1, 1, &m), ERR_INPUT, "x has 1 samples of 1 features");
    assert_fails(measure(at, 12, 0, &m), ERR_INPUT, "x has 0 features per sample; 1 to 8192");
    assert_int_equal(measure(at, 3, 3, &m), 0);
    frechet_free(&m);
    at[7] = NAN;
    assert_fails(measure(at, 4, 3, &m), ERR_INPUT, "x: feature 2 of sample 3 is not a number");
    at[7] = -INFINITY;
    assert_fails(measure(at, 4, 3, &m), ERR_INPUT, "x: feature 2 of sample 3 is infinite");
}

// ---- NumPy's arrays

static int parse_seed(const char *name, struct npy *npy, char **bytes)
{
    size_t count;
    char path[64];
    snprintf(path, sizeof path, "test/fuzz/seeds/npy/%s", name);
    assert_int_equal(file_read(path, 1 << 20, bytes, &count), 0);
    return npy_parse(name, *bytes, count, npy);
}

TEST(arrays_are_read_in_both_orders)
{
    struct npy npy;
    char *bytes;
    double row[2];
    assert_int_equal(parse_seed("f4", &npy, &bytes), 0);
    assert_true(npy.rows == 3 && npy.columns == 2 && !npy.wide && !npy.by_columns);
    npy_row(&npy, 2, row);
    assert_true(row[0] == 5.5 && row[1] == -6);
    free(bytes);
    assert_int_equal(parse_seed("f8_columns", &npy, &bytes), 0);
    assert_true(npy.rows == 3 && npy.columns == 2 && npy.wide && npy.by_columns);
    npy_row(&npy, 1, row);
    assert_true(row[0] == 2 && row[1] == 5);
    free(bytes);
    assert_int_equal(parse_seed("version2", &npy, &bytes), 0);
    assert_true(npy.rows == 2 && npy.columns == 1);
    free(bytes);
    assert_fails(parse_seed("vector", &npy, &bytes), ERR_INPUT, "vector has 1 dimensions; two are read");
    free(bytes);
    assert_fails(parse_seed("records", &npy, &bytes), ERR_INPUT, "records is an array of records");
    free(bytes);
    assert_fails(parse_seed("huge", &npy, &bytes), ERR_INPUT, "huge says that it has 1000000000000 x 1000000000 numbers");
    free(bytes);
}

TEST(wrong_arrays_are_named)
{
    static const struct {
        const char *head, *sentence;
    } rows[] = {
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (1, 1)}", "x has numbers of type \">f4\""},
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1)}", "x has numbers of type \"<i8\"; \"<f4\" (f32) or"},
        {"{'descr': '<f4', 'shape': (1, 1), }", "x: its head does not have \"fortran_order\""},
        {"{'descr': '<f4', 'descr': '<f4'}", "x: its head is not an array's: it has a key twice"},
        {"{'type': '<f4'}", "it has another key"},
        {"{'descr' '<f4'}", "a colon was expected"},
        {"{'descr': '<f4' 'shape': (1, 1)}", "a comma was expected"},
        {"{'fortran_order': 0}", "fortran_order is neither True nor False"},
        {"{'shape': (1, 2, 3), 'descr': '<f4', 'fortran_order': True}", "x has 3 dimensions"},
        {"{'shape': (-1, 2)}", "a size is not a number"},
        {"{'shape': (99999999999999999999, 2)}", "a size is not a number below 2^40"},
        {"{'shape': (1, 2", "the shape has no end"},
        {"{'shape': 3}", "a shape in brackets was expected"},
        {"{'descr", "a text has no end"},
        {"{", "a text in quotes was expected"},
        {"", "it does not begin with {"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), } x", "something follows it"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }", NULL},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }", "x has 4 bytes of numbers, and 1 x 2 of them need 8"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 2), }", "and 0 x 2 of them need 0: it is too long"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char file[256] = "\x93NUMPY\1";
        struct npy npy;
        const size_t n = strlen(rows[i].head);
        file[8] = (char)n;
        memcpy(file + 10, rows[i].head, n);
        if (rows[i].sentence == NULL) assert_int_equal(npy_parse("x", file, 14 + n, &npy), 0);
        else assert_fails(npy_parse("x", file, 14 + n, &npy), ERR_INPUT, rows[i].sentence);
        assert_fails(npy_parse("x", file, 9 + n, &npy), ERR_INPUT, n > 0 ? "x ends within its head" : "x");
    }
    struct npy npy;
    assert_fails(npy_parse("x", "\x93NUMPY\3\0\0\0", 10, &npy), ERR_INPUT, "x is an array of version 3.0; versions 1 and 2");
    assert_fails(npy_parse("x", "\x93NUMPY\2\0\0\0", 10, &npy), ERR_INPUT, "x ends within its head");
    assert_fails(npy_parse("x", "PK\3\4", 4, &npy), ERR_INPUT, "x is not an array that NumPy saved (.npy)");
}
