// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cuda.h"

static int refuse(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda, (void)g;
    return fail(ERR_UNSUPPORTED, "cuda: %s is not supported", op_table[n->op].name);
}
static int prepare(struct cuda_step *s)
{
    (void)s;
    return 0;
}
const struct cuda_op cuda_mask = {.prepare = prepare, .supports = refuse};
