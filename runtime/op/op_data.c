// SPDX-License-Identifier: Apache-2.0
// Data on the device: the next window of the epoch's order, samples gathered and augmented, scalars from tables.
#include "runtime/op/op.h"

int op_window_infer(struct graph *g, struct node *n)
{
    struct value *order = op_in(g, n, 0);
    NEED(order->dtype == I32 && order->shape.rank == 1, g, "window requires an i32 order");
    TRY(op_scalar(g, n, 1, I32));
    int64_t batch = n->attr.augment.batch;
    NEED(batch > 0 && batch <= order->shape.dim[0], g, "a batch of %lld from %lld samples", (long long)batch,
         (long long)order->shape.dim[0]);
    op_out(g, n, 0, SHAPE(batch), I32);
    return 0;
}

int op_augment_infer(struct graph *g, struct node *n)
{
    struct value *x = op_in(g, n, 0), *index = op_in(g, n, 1), *key = op_in(g, n, 2);
    const struct augment_attr *a = &n->attr.augment;
    NEED(x->dtype == U8 && x->shape.rank == 4 && x->shape.dim[3] <= 4, g, "augment requires u8 images[N,H,W,C], C <= 4");
    NEED(!index || (index->dtype == I32 && index->shape.rank == 1), g, "augment requires an i32 index");
    NEED(index || !key, g, "augment draws by the numbers of the samples: a key requires an index");
    NEED(!key || (key->dtype == I32 && shape_count(&key->shape) == 4), g, "augment requires a key of four i32");
    int reach_y = a->pad + (a->view_dy < 0 ? -a->view_dy : a->view_dy);
    int reach_x = a->pad + (a->view_dx < 0 ? -a->view_dx : a->view_dx);
    NEED(a->pad >= 0 && reach_y < x->shape.dim[1] && reach_x < x->shape.dim[2], g, "augment shifts further than an image");
    NEED(dtype_is_float(a->to), g, "augment makes floats");
    for (int c = 0; c < x->shape.dim[3]; c++) NEED(a->std[c] > 0, g, "augment requires positive deviations");
    struct shape batch = x->shape;
    if (index) batch.dim[0] = index->shape.dim[0];
    op_out(g, n, 0, batch, a->to);
    return 0;
}

int op_pick_infer(struct graph *g, struct node *n)
{
    NEED(op_in(g, n, 0)->dtype == F32, g, "pick requires an f32 table");
    TRY(op_scalar(g, n, 1, I32));
    op_out(g, n, 0, SHAPE(1), F32);
    return 0;
}

int op_tick_infer(struct graph *g, struct node *n)
{
    TRY(op_scalar(g, n, 0, I32));
    if (n->in[1] != NONE) TRY(op_scalar(g, n, 1, F32));
    op_out(g, n, 0, op_in(g, n, 0)->shape, I32);
    return 0;
}

NO_GRAD(window)
NO_GRAD(augment)
NO_GRAD(pick)
NO_GRAD(tick)
FLOPS_EACH(window, 0)
double op_augment_flops(const struct graph *g, const struct node *n)
{
    return 4.0 * (double)shape_count(&g->value[n->out[0]].shape);
}
double op_pick_flops(const struct graph *g, const struct node *n)
{
    (void)g, (void)n;
    return 0;
}
FLOPS_EACH(tick, 1)

int g_window(struct graph *g, int order, int cursor, int64_t batch)
{
    union attr a = {.augment = {.batch = batch}};
    return graph_node(g, OP_WINDOW, (int[]){order, cursor}, 2, &a, NULL);
}

int g_augment(struct graph *g, int images, int index, int key, const struct augment_attr *a)
{
    return graph_node(g, OP_AUGMENT, (int[]){images, index, key}, 3, &(union attr){.augment = *a}, NULL);
}

int g_pick(struct graph *g, int table, int step)
{
    return graph_node(g, OP_PICK, (int[]){table, step}, 2, NULL, NULL);
}

int g_tick(struct graph *g, int counter, int32_t by)
{
    return g_tick_unless(g, counter, by, NONE);
}

int g_tick_unless(struct graph *g, int counter, int32_t by, int clip)
{
    return graph_node_over(g, OP_TICK, (int[]){counter, clip}, 2, &(union attr){.tick = {by}}, &counter, NULL);
}
