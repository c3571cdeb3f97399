// SPDX-License-Identifier: Apache-2.0
// The one list of operator cases. A case builds a small graph around one operator (or a pattern of them) over slots
// that are filled by seeded draws, and serves four ends: a device against `ref` in every type it claims, gradients
// against finite differences, fused against unfused, and speed (`dawn bench ops`). An operator without a row fails
// test_ops. To add one: write a row in the cases_*.c file of its family, and a build function if none there fits.
#ifndef DAWN_CASES_H
#define DAWN_CASES_H

#include "runtime/session.h"

enum { CASE_PARAMS = 14, CASE_INPUTS = 16, CASE_OUTPUTS = 16 };

// How an input is filled, with its one number `a`.
enum draw {
    DRAW_NORMAL,    // standard deviation a
    DRAW_POSITIVE,  // [a/2, 3a/2)
    DRAW_DISTINCT,  // a shuffled ladder around zero, rungs a apart: no two alike (in f32)
    DRAW_AWAY,      // normal, but never nearer to zero than a
    DRAW_FAR,       // normal of deviation 1 around a
    DRAW_INDEX,     // whole numbers 0 .. a-1
    DRAW_WHOLE,     // any 32 bits
    DRAW_CONSTANT,  // a
};

enum case_flags {
    CASE_HALF = 1,       // in bf16 and f16 too
    CASE_GRADIENT = 2,   // its gradient is held against finite differences
    CASE_SUM = 4,        // results are sums of products: |error| is measured against the sum of absolute products
    CASE_PATTERN = 8,    // there to be fused
    CASE_FOLD = 16,      // there to be folded (fuse_fold)
    CASE_LARGE = 32,     // for speed, not for tests
    CASE_SLOW = 64,      // takes ref a second or two: once is enough
};

struct case_build;
struct op_case {
    const char *name;
    enum op op;
    void (*build)(struct case_build *);
    unsigned flags;
    int p[CASE_PARAMS];  // what the build function makes of them stands at its head
    double slack;        // roundings of f32, relative to the size of a result, that a device may be off; 0: 16
};
// One list a family, each ended by a row without a name.
extern const struct op_case cases_conv[], cases_pool[], cases_norm[], cases_element[], cases_move[], cases_loss[],
    cases_data[], cases_optim[], cases_pattern[];
const struct op_case *case_next(const struct op_case *after);  // walks all lists; NULL begins and ends

struct case_options {
    enum dtype type;     // of the activations
    bool gradient;       // differentiates sum(y * weights); outputs are y, then the gradients
    unsigned patterns;   // fuse_graph before differentiating
    bool fold;           // fuse_fold
    bool through;        // inputs and outputs go through temporaries, so that results may be made in place
    bool absolute;       // every float input by its absolute value
    int unwanted;        // bit i: output i of the operator becomes NONE
};

struct case_input {
    struct slot *slot;
    enum draw draw;
    double a;
    bool differentiable;
    void *host;          // what is uploaded before each run
};
struct case_output {
    struct slot *slot;
    bool update;         // an input too, overwritten in place
    int number;          // of the operator; CASE_OUTPUTS + i for the gradient of input i
    void *host;          // what the last run left
};
struct case_build {
    const struct op_case *row;
    struct case_options options;
    struct graph *g;
    struct case_input input[CASE_INPUTS];
    struct case_output output[CASE_OUTPUTS];
    int inputs, outputs;
    int result, node;    // value to differentiate; the operator's node, or NONE
};

// ---- for build functions
int case_input(struct case_build *, const char *name, struct shape, enum dtype, enum draw, double a);
int case_param(struct case_build *, const char *name, struct shape, enum dtype, enum draw, double a);  // differentiable
// Fills a slot that a model function made (the bias of g_norm), and lets it train when `differentiable`.
void case_adopt(struct case_build *, const char *slot, enum draw, double a, bool differentiable);
// The operator itself. over[i]: the input that output i overwrites, or NONE; NULL: none does.
void case_node(struct case_build *, const int *in, int inputs, const union attr *, const int *over);
void case_result(struct case_build *, int value);      // of a pattern
void case_watch(struct case_build *, const char *slot); // a slot that the graph updates, compared as an output

// ---- running
struct case_live {
    struct case_build build;
    struct device *device;
    struct session *session;
    int program, prepare;  // prepare: NONE, or the program that folds
};
// ERR_UNSUPPORTED when the device does not claim a node.
int case_open(struct device *, const struct op_case *, const struct case_options *, struct case_live **) MUST_CHECK;
// Uploads the inputs, poisons outputs and slab (all bits set: NaN in every float type), runs, reads the outputs.
int case_run(struct case_live *) MUST_CHECK;
void case_close(struct case_live *);
// The output with that number, or NULL.
const struct case_output *case_output(const struct case_live *, int number);

// ---- comparing
struct case_worst {
    double ratio;  // largest |got - want| / allowed: at most 1 is a pass
    const char *slot;
    int64_t index;
    double got, want, allowed;
};
// Allowed is one rounding to the stored type, plus `slack` roundings of f32 relative to the size of the result:
// `magnitude` where given (the same case with absolute inputs), else the largest of the tensor. Whole numbers are
// exact. A filter gradient has one rounding to the type of the activations where the device says so (rounds_wgrad).
int case_compare(const struct case_live *got, const struct case_live *want, const struct case_live *magnitude,
                 double slack, struct case_worst *) MUST_CHECK;
double case_slack(const struct op_case *);

// ---- speed
struct case_speed {
    const struct op_case *row;
    enum dtype type;
    int repeats;
    double seconds;      // median of the operator's own time
    double flops, bytes; // of one run
};
// Every large case whose name contains `filter` (NULL: all), in `type`; what the device does not claim is left out.
int cases_bench(struct device *, enum dtype type, const char *filter,
                int (*each)(void *context, const struct case_speed *), void *context) MUST_CHECK;

#endif
