// SPDX-License-Identifier: Apache-2.0
// Operators that are not there yet: weak, so that each one's own file takes its place.
#include "runtime/cuda/cuda.h"

static int no_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda, (void)g;
    return fail(ERR_UNSUPPORTED, "%s is not there yet", op_table[n->op].name);
}

static int no_prepare(struct cuda_step *s)
{
    return no_supports(s->cuda, s->graph, s->node);
}

#define OP(ID, name, inputs, outputs, flags)                                                                           \
    __attribute__((weak)) const struct cuda_op cuda_##name = {.supports = no_supports, .prepare = no_prepare};
#include "runtime/ops.def"
#undef OP
