// SPDX-License-Identifier: Apache-2.0
// The one list of operator cases. A case builds a small graph around one operator (or a pattern of operators) over slots that
// are filled by seeded draws. It serves four purposes: a device against `ref` in every type that it supports, gradients against
// finite differences, fused against unfused, and speed (`dawn bench ops`). An operator without a row fails test_ops. To add a
// case, write a row in the cases_*.c file of its family, and a build function if none there fits.
#pragma once

#include "runtime/session.h"

enum { CASE_PARAMS = 15, CASE_INPUTS = 16, CASE_OUTPUTS = 16 };

// The distribution of an input, with one parameter `a`.
enum draw {
    DRAW_NORMAL,    // standard deviation a
    DRAW_POSITIVE,  // [a/2, 3a/2)
    DRAW_DISTINCT,  // a shuffled ladder around zero with steps of a: no two are equal (in f32)
    DRAW_AWAY,      // normal, but never closer to zero than a
    DRAW_FAR,       // normal with standard deviation 1 around a
    DRAW_INDEX,     // integers 0 .. a-1
    DRAW_WHOLE,     // any 32 bits
    DRAW_CONSTANT,  // a
    DRAW_BOX,       // boxes x1, y1, x2, y2 that begin in [-a/8, a) and are up to a long; one in eight has no area
};

enum case_flags {
    CASE_HALF = 1,       // also in bf16 and f16
    CASE_GRADIENT = 2,   // test_gradients compares the gradient with finite differences
    CASE_SUM = 4,        // results are sums of products: |error| is relative to the sum of absolute products
    CASE_PATTERN = 8,    // to be fused
    CASE_FOLD = 16,      // to be folded (fuse_fold)
    CASE_LARGE = 32,     // for speed, not for tests
    CASE_SLOW = 64,      // takes ref a second or two: run only once
    CASE_CHOSEN = 256,   // made by a fusion for some devices alone (fuse_device): others may refuse it in any type
    CASE_INSIDE = 128,   // may round to the type of the activations inside: a few more such roundings are allowed
};

struct case_build;
struct op_case {
    const char *name;
    enum op op;
    void (*build)(struct case_build *);
    unsigned flags;
    int p[CASE_PARAMS];  // parameters; the build function's comment lists them
    double slack;        // allowed error in roundings of f32, relative to the size of a result; 0: 16
};
// One list per family, each ended by a row without a name.
extern const struct op_case cases_conv[], cases_pool[], cases_norm[], cases_element[], cases_map[], cases_top[],
    cases_move[], cases_loss[], cases_data[], cases_optim[], cases_attention[], cases_recurrent[], cases_pattern[],
    cases_linear_xent[], cases_ctc[], cases_roi[], cases_boxes[];
const struct op_case *case_next(const struct op_case *after);  // walks all lists; NULL starts and ends

struct case_options {
    enum dtype type;     // of the activations
    bool gradient;       // differentiate sum(y * weights); outputs are y, then the gradients
    unsigned patterns;   // fuse_graph before differentiating
    bool fold;           // fuse_fold
    bool through;        // inputs and outputs go through temporaries, so that results may be computed in place
    bool absolute;       // take the absolute value of every float input
    int unwanted;        // bit i: output i of the operator becomes NONE
};

struct case_input {
    struct slot *slot;
    enum draw draw;
    double a;
    bool differentiable;
    void *host;          // uploaded before each run
};
struct case_output {
    struct slot *slot;
    bool update;         // also an input, overwritten in place
    int number;          // the operator's output number; CASE_OUTPUTS + i for the gradient of input i
    void *host;          // result of the last run
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
void case_dropout(struct case_build *, int *key, int *step);  // its two inputs
// Fills a slot that a model function created (the bias of g_norm), and makes it trainable if `differentiable`.
void case_adopt(struct case_build *, const char *slot, enum draw, double a, bool differentiable);
// The operator itself. over[i]: the input that output i overwrites, or NONE; NULL if none does.
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
// Fails with ERR_UNSUPPORTED if the device does not support a node.
int case_open(struct device *, const struct op_case *, const struct case_options *, struct case_live **) MUST_CHECK;
// Uploads the inputs, poisons outputs and slab (all bits set: NaN in every float type), runs, downloads the outputs.
int case_run(struct case_live *) MUST_CHECK;
void case_close(struct case_live *);
// The output with that number, or NULL.
const struct case_output *case_output(const struct case_live *, int number);

// ---- comparing
struct case_worst {
    double ratio;  // largest |got - want| / allowed; passes up to 1
    const char *slot;
    int64_t index;
    double got, want, allowed;
};
// Allowed is one rounding to the stored type, plus `slack` roundings of f32 relative to the size of the result: `magnitude` if
// given (the same case with absolute inputs), else the largest element of the tensor. Integers must be equal. A filter gradient
// has one more rounding, to the type of the activations, if the device declares it (rounds_wgrad).
int case_compare(const struct case_live *got, const struct case_live *want, const struct case_live *magnitude,
                 double slack, struct case_worst *) MUST_CHECK;
double case_slack(const struct op_case *);

// ---- speed
struct case_speed {
    const struct op_case *row;
    enum dtype type;
    int repeats;
    double seconds;      // median of the operator's own time
    double flops, bytes; // per run
};
// Times every large case whose name contains `filter` (NULL: all), in `type`; unsupported cases are left out.
int cases_bench(struct device *, enum dtype type, const char *filter,
                int (*each)(void *context, const struct case_speed *), void *context) MUST_CHECK;
