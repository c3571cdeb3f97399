// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/frechet/frechet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/threads.h"
#include "tasks/common/frechet/matrix.h"

enum { ROWS = 512 };  // read at once

struct reading {
    const struct frechet_set *set;
    const double *mean;
    double *rows;
    int64_t first;
};

static void read_rows(void *context, int64_t begin, int64_t end, int thread)
{
    const struct reading *r = context;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        double *row = r->rows + i * r->set->d;
        r->set->row(r->set->context, r->first + i, row);
        for (int64_t j = 0; j < r->set->d; j++) row[j] -= r->mean[j];
    }
}

static int check_rows(const struct reading *r, int64_t count)
{
    for (int64_t i = 0; i < count * r->set->d; i++)
        if (!isfinite(r->rows[i]))
            return fail(ERR_INPUT, "%s: feature %lld of sample %lld is %s", r->set->name, (long long)(i % r->set->d + 1),
                        (long long)(r->first + i / r->set->d + 1), isnan(r->rows[i]) ? "not a number" : "infinite");
    return 0;
}

// The first pass finds the mean, the second the covariance around it.
static int pass_over(struct reading *r, struct frechet_moments *into, bool second)
{
    const int64_t d = into->d;
    for (r->first = 0; r->first < into->n; r->first += ROWS) {
        const int64_t count = into->n - r->first < ROWS ? into->n - r->first : ROWS;
        threads_for(count, 16, read_rows, r);
        if (second) {
            const double scale = 1 / (double)(into->n - 1);
            TRY(matrix_add_product(
                &(struct matrix_product){r->rows, r->rows, into->covariance, count, d, d, d, d, d, scale, true}));
            continue;
        }
        TRY(check_rows(r, count));
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < d; j++) into->mean[j] += r->rows[i * d + j];
    }
    for (int64_t j = 0; j < d && !second; j++) into->mean[j] /= (double)into->n;
    return 0;
}

static int check_set(const struct frechet_set *set)
{
    if (set->d < 1 || set->d > FRECHET_FEATURES)
        return fail(ERR_INPUT, "%s has %lld features per sample; 1 to %d are compared", set->name, (long long)set->d,
                    FRECHET_FEATURES);
    if (set->n < set->d || set->n < 2)
        return fail(ERR_INPUT, "%s has %lld samples of %lld features: their covariance needs at least as many samples as "
                    "features, and two", set->name, (long long)set->n, (long long)set->d);
    return 0;
}

int frechet_measure(const struct frechet_set *set, struct frechet_moments *into)
{
    *into = (struct frechet_moments){.n = set->n, .d = set->d};
    TRY(check_set(set));
    double *rows = matrix_new(ROWS, set->d), *zeros = matrix_new(1, set->d);
    into->mean = matrix_new(1, set->d), into->covariance = matrix_new(set->d, set->d);
    struct reading r = {set, zeros, rows, 0};
    const bool lacks = rows == NULL || zeros == NULL || into->mean == NULL || into->covariance == NULL;
    int rc = lacks ? matrix_no_memory(set->d, set->d) : 0;
    if (rc == 0) rc = pass_over(&r, into, false);
    r.mean = into->mean;
    if (rc == 0) rc = pass_over(&r, into, true);
    if (rc == 0) matrix_mirror(into->covariance, set->d);
    else frechet_free(into);
    free(rows);
    free(zeros);
    return rc;
}

void frechet_free(struct frechet_moments *m)
{
    free(m->mean);
    free(m->covariance);
    *m = (struct frechet_moments){0};
}

// The sum of the square roots of the eigenvalues of a b. `work` has three matrices.
static int shared_spread(const double *a, const double *b, int64_t d, double *work[3], double *sum)
{
    double *u = work[0], *l = work[1], *product = work[2];
    const size_t bytes = (size_t)(d * d) * sizeof *u;
    memcpy(u, a, bytes);
    TRY(matrix_factor(u, d));
    for (int64_t i = 0; i < d; i++)
        for (int64_t j = 0; j < d; j++) l[i * d + j] = u[j * d + i];
    TRY(matrix_add_product(&(struct matrix_product){b, l, product, d, d, d, d, d, d, 1, false}));
    memset(u, 0, bytes);
    TRY(matrix_add_product(&(struct matrix_product){l, product, u, d, d, d, d, d, d, 1, true}));
    matrix_mirror(u, d);
    TRY(matrix_eigenvalues(u, d, l));
    *sum = 0;
    for (int64_t i = 0; i < d; i++) *sum += l[i] > 0 ? sqrt(l[i]) : 0;
    return 0;
}

int frechet_between(const struct frechet_moments *a, const struct frechet_moments *b, struct frechet *into)
{
    const int64_t d = a->d;
    BUG_IF(a->d != b->d);
    double *work[3], shared = 0;
    for (int i = 0; i < 3; i++) work[i] = matrix_new(d, d);
    int rc = work[0] == NULL || work[1] == NULL || work[2] == NULL ? matrix_no_memory(d, d) : 0;
    if (rc == 0) rc = shared_spread(a->covariance, b->covariance, d, work, &shared);
    for (int i = 0; i < 3; i++) free(work[i]);
    TRY(rc);
    *into = (struct frechet){.spread = -2 * shared};
    for (int64_t i = 0; i < d; i++) {
        const double apart = a->mean[i] - b->mean[i];
        into->means += apart * apart;
        into->spread += a->covariance[i * d + i] + b->covariance[i * d + i];
    }
    into->distance = into->means + into->spread;
    if (!isfinite(into->distance)) return fail(ERR_INPUT, "the distance is not finite: the features are too large");
    return 0;
}
