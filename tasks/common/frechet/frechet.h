// SPDX-License-Identifier: Apache-2.0
// The Frechet distance of two sets of features, each taken as a normal distribution (Heusel et al. 2017):
//     |m1 - m2|^2 + Tr(C1 + C2 - 2 (C1 C2)^(1/2)),
// m the mean and C the covariance of a set, with n - 1. The distance falls as n grows, so it is always stated with n.
//
// (C1 C2)^(1/2) has the same trace as (U C2 U^T)^(1/2) with C1 = U^T U, because U C2 U^T and C1 C2 have the same eigenvalues.
// Cost: 2 n d^2 + 6 d^3 operations.
#pragma once

#include "runtime/common/base/error.h"

struct frechet_set {
    const char *name;  // in errors
    int64_t n, d;      // samples; features of each
    void (*row)(const void *context, int64_t sample, double *into);  // several threads call it at once
    const void *context;
};
struct frechet_moments {
    int64_t n, d;
    double *mean, *covariance;  // [d], [d,d]
};
struct frechet {
    double means, spread, distance;  // the two terms and their sum
};
enum { FRECHET_FEATURES = 8192 };

// Refuses fewer samples than features, because the covariance is then singular, and features that are not finite.
int frechet_measure(const struct frechet_set *, struct frechet_moments *) MUST_CHECK;
void frechet_free(struct frechet_moments *);
int frechet_between(const struct frechet_moments *, const struct frechet_moments *, struct frechet *) MUST_CHECK;
