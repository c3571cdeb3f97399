// SPDX-License-Identifier: Apache-2.0
// How a step scales over devices, each with the same share of the batch: throughput, speedup and efficiency, and a line through
// measured reductions that says what more devices would give (docs/scaling.md).
#pragma once

#include "tasks/tools/measure/fit.h"

enum { SCALING_MOST = 16, SCALING_SIZES = 5 };

// Times of ranks_reduce for growing messages; all processes call it.
struct scaling_reduce {
    double bytes[SCALING_SIZES], seconds[SCALING_SIZES];
};
int scaling_reduce(struct scaling_reduce *) MUST_CHECK;

enum { SCALING_WORD = 64 };
struct scaling_row {
    char data[SCALING_WORD], model[SCALING_WORD], recipe[SCALING_WORD], precision[SCALING_WORD], device[SCALING_WORD];
    char size[SCALING_WORD];   // of a sample
    bool noise;
    int processes, machines;
    int64_t threads, batch;    // of each
    double step;               // seconds
    double gradients;          // bytes that a step reduces
    int exchanges;             // reductions among which they are divided; 0: of one process
    struct scaling_reduce reduce;  // of several processes
};

// Reductions of n bytes together over R processes take 2 (R - 1) alpha for each of them and 2 (R - 1) / R n beta: each process
// sends R - 1 messages twice, and all but its own part of the bytes twice.
struct scaling_model {
    double alpha, beta;        // seconds per message, seconds per byte
    double r2;
};
bool scaling_fit(const struct scaling_row *, struct scaling_model *);  // false: the times do not grow with the size
double scaling_reduction(const struct scaling_model *, int processes, int exchanges, double bytes);
// Words for a step that differs by more than a quarter from what the model gives for it; else "".
const char *scaling_doubt(double modelled, double measured);
enum { SCALING_PREDICTED = 3 };
extern const int scaling_predicted[SCALING_PREDICTED];  // numbers of processes

double scaling_rate(const struct scaling_row *);  // samples per second, of all processes
double scaling_speedup(const struct scaling_row *, const struct scaling_row *first);  // 0: unknown

struct text;
// The table of the rows, each compared with the first, and predictions from the last one.
void scaling_text(const struct scaling_row *, int count, const char *samples, struct text *);
struct json_t *scaling_json(const struct scaling_row *, int count);
struct json_t *scaling_row_json(const struct scaling_row *);
int scaling_row_parse(const char *text, struct scaling_row *) MUST_CHECK;  // of another process of this program
