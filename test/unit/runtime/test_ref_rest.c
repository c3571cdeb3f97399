// SPDX-License-Identifier: Apache-2.0
// Compares ref with numbers worked out by hand, second half: moving bytes, losses, data on the device, optimisers.
#include "test/unit/test.h"
#include "test/unit/runtime/fixture_hand.h"

// ---- moving

TEST_WITH(test_moves, begin, end)
{
    int x = IN(F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    int transposed = out(g_transpose(g, x, (const int[]){1, 0}));
    int shaped = out(g_reshape(g, x, SHAPE(3, 2)));
    int y = IN(F32, SHAPE(2, 1), 7, 8);
    int joined = out(g_concat(g, (const int[]){x, y, x}, 3, 1));
    int cut = out(g_slice(g, x, 1, 1, 3));
    union attr a = {.move = {.shape = SHAPE(2, 3), .axis = 1, .begin = 1, .end = 2}};
    int back = out(node(OP_SLICE_GRAD, &y, 1, &a, NULL));
    int cube = IN(F32, SHAPE(2, 2, 2), 0, 1, 2, 3, 4, 5, 6, 7);
    int cycled = out(g_transpose(g, cube, (const int[]){2, 0, 1}));  // result (i, j, k) is x (j, k, i)
    run();
    WANT(transposed, 1, 4, 2, 5, 3, 6);
    WANT(shaped, 1, 2, 3, 4, 5, 6);
    WANT(joined, 1, 2, 3, 7, 1, 2, 3, 4, 5, 6, 8, 4, 5, 6);
    WANT(cut, 2, 3, 5, 6);
    WANT(back, 0, 7, 0, 0, 8, 0);
    WANT(cycled, 0, 2, 4, 6, 1, 3, 5, 7);
}

TEST_WITH(test_gather, begin, end)
{
    int x = IN(U8, SHAPE(3, 2), 1, 2, 3, 4, 5, 6), index = IN(I32, SHAPE(5), 2, 0, 2, 3, -1);
    int rows = out(g_gather(g, x, index));
    int floats = IN(F32, SHAPE(3, 1), 7, 8, 9), picked = out(g_gather(g, floats, index));
    int dy = IN(F32, SHAPE(5, 2), 1, 2, 10, 20, 100, 200, 1000, 2000, 1000, 2000);
    union attr a = {.move = {.shape = SHAPE(3, 2)}};
    int back = out(node(OP_GATHER_GRAD, (int[]){index, dy}, 2, &a, NULL));
    run();
    WANT(rows, 5, 6, 1, 2, 5, 6, 255, 255, 255, 255);  // there is no row 3 and no row -1
    WANT(picked, 9, 7, 9, NAN, NAN);
    WANT(back, 10, 20, 0, 0, 101, 202);
}

TEST_WITH(test_resize, begin, end)
{
    int x = IN(F32, SHAPE(1, 1, 4, 1), 0, 8, 16, 24);
    int half = out(g_resize(g, x, 1, 2));   // centres at .5 and 2.5
    int twice = out(g_resize(g, x, 1, 8));  // centres at -.25 (the border), .25, .75, ..
    int two = IN(F32, SHAPE(1, 2, 2, 1), 0, 4, 8, 12);
    int one = out(g_resize(g, two, 1, 1));
    int dy = IN(F32, SHAPE(1, 1, 2, 1), 2, 6);
    union attr a = {.move = {.shape = SHAPE(1, 1, 4, 1)}};
    int back = out(node(OP_RESIZE_GRAD, &dy, 1, &a, NULL));
    run();
    WANT(half, 4, 20);
    WANT(twice, 0, 2, 6, 10, 14, 18, 22, 24);
    WANT(one, 6);
    WANT(back, 1, 1, 3, 3);
}

TEST_WITH(test_reduce, begin, end)
{
    int x = IN(F32, SHAPE(2, 3), 1, 2, 3, 4, 5, 6);
    int rows = out(g_reduce(g, x, 1, false, F32)), columns = out(g_reduce(g, x, 2, true, F32));
    int all = out(g_reduce(g, x, 3, true, F32));
    int y = IN(F32, SHAPE(2, 1), 1, 2);
    union attr a = {.move = {.shape = SHAPE(2, 3), .axes = 2, .factor = 10}};
    int spread = out(node(OP_BROADCAST, &y, 1, &a, NULL));
    run();
    WANT(rows, 5, 7, 9);
    WANT(columns, 2, 5);
    WANT(all, 3.5);
    WANT(spread, 10, 10, 10, 20, 20, 20);
}

// ---- losses

TEST_WITH(test_softmax_and_xent, begin, end)
{
    const double l3 = log(3.0), l4 = log(4.0);  // e^0 : e^log 3 = 1 : 3
    int x = IN(F32, SHAPE(2, 2), 0, l3, 1000, 1000), labels = IN(U8, SHAPE(2), 0, 1), o[MAX_OUT], p[MAX_OUT];
    int soft = out(g_softmax(g, x));
    node(OP_XENT, (int[]){x, labels, NONE}, 3, &(union attr){.loss = {.smoothing = 0, .mean = false}}, o);
    int loss = out(o[0]), rows = out(o[1]), count = out(o[2]);
    node(OP_XENT, (int[]){x, labels, NONE}, 3, &(union attr){.loss = {.smoothing = 0.5f, .mean = true}}, p);
    int smooth = out(p[0]);
    int dloss = IN(F32, SHAPE(1), 2);
    union attr a = {.loss = {.smoothing = 0.5f, .mean = true}};
    int grad = out(node(OP_XENT_GRAD, (int[]){x, labels, NONE, p[2], p[3], dloss, NONE}, 7, &a, NULL));
    int dy = IN(F32, SHAPE(1, 2), 1, 0), y = IN(F32, SHAPE(1, 2), 0.25, 0.75);
    int back = out(node(OP_SOFTMAX_GRAD, (int[]){y, dy}, 2, NULL, NULL));
    run();
    WANT(soft, 0.25, 0.75, 0.5, 0.5);
    WANT(rows, l4, log(2.0));
    WANT(count, 2);
    WANT(loss, l4 + log(2.0));
    // Targets .75 and .25: .75 log 4 + .25 (log 4 - log 3), and log 2; the mean of both.
    WANT(smooth, (0.75 * l4 + 0.25 * (l4 - l3) + log(2.0)) / 2.0);
    WANT(grad, -0.5, 0.5, 0.25, -0.25);  // (p - target) * 2 / 2
    WANT(back, 0.1875, -0.1875);
}

TEST_WITH(test_counters, begin, end)
{
    int x = IN(F32, SHAPE(4, 3), 1, 2, 3, /**/ 5, 5, 0, /**/ 0, 5, 5, /**/ 1, 2, 3);
    int labels = IN(I32, SHAPE(4), 2, 0, 2, 0), counter = IN(I32, SHAPE(1), 100), second = IN(I32, SHAPE(1), 0);
    g_correct(g, x, labels, counter, 1);  // of equal logits the lower class counts as above
    g_correct(g, x, labels, second, 2);
    int total = IN(F32, SHAPE(1), 1.5), more = IN(F32, SHAPE(1), 2);
    g_accumulate(g, total, more);
    int clock = IN(I32, SHAPE(1), 2147483647);
    g_tick(g, clock, 1);
    run();
    WANT_IN(2, 102);
    WANT_IN(3, 3);
    WANT_IN(4, 3.5);
    WANT_IN(6, -2147483648.0);  // wraps
}

// ---- data

TEST_WITH(test_window_and_pick, begin, end)
{
    int order = IN(I32, SHAPE(5), 10, 11, 12, 13, 14), cursor = IN(I32, SHAPE(1), 8);
    int w = out(g_window(g, order, cursor, 4));
    int table = IN(F32, SHAPE(3), 0.5, 0.25, 0.125);
    int first = out(g_pick(g, table, IN(I32, SHAPE(1), 0))), last = out(g_pick(g, table, IN(I32, SHAPE(1), 77)));
    run();
    WANT(w, 13, 14, 10, 11);
    WANT(first, 0.5);
    WANT(last, 0.125);
}

TEST_WITH(test_augment_views, begin, end)
{
    // Image 1 is 0 51 102 / 153 204 255: fifths of 255. mean .2, std .2: value = fifth - 1.
    int images = IN(U8, SHAPE(2, 2, 3, 1), 51, 51, 51, 51, 51, 51, 0, 51, 102, 153, 204, 255);
    int index = IN(I32, SHAPE(1), 1);
    struct augment_attr a = {.mean = {0.2f}, .std = {0.2f}, .to = F32};
    int plain = out(g_augment(g, images, index, NONE, &a));
    int all = out(g_augment(g, images, NONE, NONE, &a));
    a.view_flip = true;
    int mirrored = out(g_augment(g, images, index, NONE, &a));
    a.view_dx = 1, a.view_dy = -1;
    int both = out(g_augment(g, images, index, NONE, &a));
    run();
    WANT(plain, -1, 0, 1, 2, 3, 4);
    WANT(all, 0, 0, 0, 0, 0, 0, -1, 0, 1, 2, 3, 4);
    WANT(mirrored, 1, 0, -1, 4, 3, 2);
    // Read at (y - 1, x + 1) of the mirrored image, reflected: rows 1, 0; columns 1, 2, 1.
    WANT(both, 3, 2, 3, 0, -1, 0);
}

TEST_WITH(test_augment_draws, begin, end)
{
    enum { SIDE = 4 };
    double pixels[2 * SIDE * SIDE];
    for (int i = 0; i < 2 * SIDE * SIDE; i++) pixels[i] = i * 5;
    int images = in_typed(SHAPE(2, SIDE, SIDE, 1), U8, pixels), index = IN(I32, SHAPE(1), 1);
    int key = IN(I32, SHAPE(4), 3, 4, 5, 0);
    struct augment_attr a = {.flip = FLIP_ALTERNATE, .pad = 1, .brightness = 0.2f, .contrast = 0.1f,
                             .mean = {0}, .std = {1}, .to = F32};
    int y = out(g_augment(g, images, index, key, &a));
    run();
    struct augment_draw d = element_augment((const int32_t[]){3, 4, 5, 0}, 1, 2, 1, 0.2f, 0.1f);  // image 1, not row 0
    double want[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        int row = element_reflect(i / SIDE + d.dy, SIDE), column = element_reflect(i % SIDE + d.dx, SIDE);
        double pixel = pixels[SIDE * SIDE + row * SIDE + (d.flip ? SIDE - 1 - column : column)] / 255.0;
        want[i] = (pixel + (double)d.shift) * (double)d.gain;
    }
    want_many(y, SIDE * SIDE, want);
}

// ---- RMS norm and rotary positions, as PyTorch computes them in double: torch.nn.functional.rms_norm and its gradients, and
// x cos + rotated x sin for the angles position * base^(-2i/D)

TEST_WITH(test_rms_norm, begin, end)
{
    int x = IN(F32, SHAPE(2, 4), 1, -2, 3, 4, 0.5, 0.25, -0.125, 2), scale = IN(F32, SHAPE(4), 0.5, 1, 2, -1);
    int dy = IN(F32, SHAPE(2, 4), 1, 2, -1, 0.5, 3, -2, 1, 1), o[4];
    union attr a = {.layer_norm = {.eps = 1e-2f, .rms = true}};
    int y = out(g_rms_norm(g, x, scale, 1e-2f)), plain = out(g_rms_norm(g, x, NONE, 1e-2f));
    node(OP_LAYER_NORM, (int[]){x, NONE, scale}, 3, &a, o);
    assert_true(o[1] == NONE && o[2] == NONE);
    int rstd = o[3];
    node(OP_LAYER_NORM_GRAD, (int[]){dy, x, NONE, rstd, scale}, 5, &a, o);
    assert_int_equal(o[3], NONE);
    int dx = out(o[0]), dscale = out(o[2]);
    node(OP_LAYER_NORM_GRAD, (int[]){dy, x, NONE, rstd, NONE}, 5, &a, o);
    assert_int_equal(o[2], NONE);
    int dplain = out(o[0]);
    run();
    WANT(y, 0.182452591, -0.729810365, 2.189431096, -1.459620730, 0.239233765, 0.239233765, -0.239233765, -1.913870121);
    WANT(plain, 0.364905183, -0.729810365, 1.094715548, 1.459620730, 0.478467530, 0.239233765, -0.119616883, 1.913870121);
    WANT(dx, 0.322146653, 0.450422243, -0.310728181, 0.376323654, 1.654474861, -1.804333986, 1.859102054, -0.080645979);
    WANT(dscale, 1.800307774, -1.938088261, -1.214332430, 2.643680486);
    WANT(dplain, 0.413494421, 0.632631888, -0.219137467, 0.376809546, 2.555888793, -2.071328316, 1.035664158, -0.302730493);
}

TEST_WITH(test_rotary, begin, end)
{
    int x = IN(F32, SHAPE(2, 2, 1, 4), 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4), at = IN(I32, SHAPE(2), 0, 8190);
    int y = g_rotary(g, x, at, 10000), each = out(y), start = out(g_rotary(g, x, NONE, 10000));
    int one = out(g_rotary(g, x, IN(I32, SHAPE(1), 8190), 10000));
    int back = out(node(OP_ROTARY, (int[]){y, at}, 2, &(union attr){.rotary = {.base = 10000, .inverse = true}}, NULL));
#define AT_0 1, 2, 3, 4, -1.984110649, 1.959900667, 2.462377902, 4.019799668
#define AT_8190 -1.386287828, 1.084990434, -2.842218510, 4.338524606, 1.642629898, 1.041551662, -2.702178199, 4.349157405
    run();
    WANT(each, AT_0, AT_8190);
    WANT(start, AT_0, AT_0);
    WANT(one, AT_8190, AT_8190);
    WANT(back, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4);
}

// ---- optimisers

TEST_WITH(test_momentum_and_descend, begin, end)
{
    int grad = IN(F32, SHAPE(2), 1, 2), m = IN(F32, SHAPE(2), 4, 8), p = IN(F32, SHAPE(2), 10, 20), o[2];
    union attr a = {.optim = {.mu = 0.5f, .decay = 0.5f, .nesterov = true}};
    graph_node_over(g, OP_MOMENTUM, (int[]){grad, m, p}, 3, &a, (int[]){NONE, m}, o);
    int u = out(o[0]);
    int m2 = IN(F32, SHAPE(2), 4, 8);
    a.optim.nesterov = false;
    graph_node_over(g, OP_MOMENTUM, (int[]){grad, m2}, 2, &a, (int[]){NONE, m2}, o);
    int plain = out(o[0]);
    int w = IN(F32, SHAPE(2), 10, 20), step = IN(F32, SHAPE(2), 1, 2), lr = IN(F32, SHAPE(1), 0.5);
    union attr d = {.optim = {.decay = 0.25f, .factor = 2}};
    graph_node_over(g, OP_DESCEND, (int[]){w, step, lr}, 3, &d, &w, NULL);
    run();
    WANT_IN(1, 8, 16);   // g + .5 p = 6, 12; .5 * 4 + 6, .5 * 8 + 12
    WANT(u, 10, 20);     // 6 + .5 * 8, 12 + .5 * 16
    WANT(plain, 3, 6);   // without p nothing decays
    WANT_IN(3, 3, 6);
    WANT_IN(4, 6.5, 13); // 10 - .5 * 2 * (1 + .25 * 10)
}

TEST_WITH(test_adam_and_the_rest, begin, end)
{
    // The first step of Adam is the sign of the gradient, for any size.
    int grad = IN(F32, SHAPE(2), 3, -0.5), m = IN(F32, SHAPE(2), 0, 0), v = IN(F32, SHAPE(2), 0, 0);
    int step = IN(I32, SHAPE(1), 0), o[3];
    union attr a = {.optim = {.beta1 = 0.5f, .beta2 = 0.75f, .eps = 0}};
    graph_node_over(g, OP_ADAM, (int[]){grad, m, v, step}, 4, &a, (int[]){NONE, m, v}, o);
    int u = out(o[0]);
    int x = IN(F32, SHAPE(2, 1), 3, 4);
    union attr n = {.optim = {.target = 10}};
    int unit = out(node(OP_UNIT_NORM, &x, 1, &n, NULL));
    int before = IN(F32, SHAPE(1), 11), squares = node(OP_SQUARES, (int[]){x, before}, 2, NULL, NULL);  // 11 + 25
    int sum = out(squares), clip = out(node(OP_CLIP_FACTOR, &squares, 1, &(union attr){.optim = {.target = 1.5f}}, NULL));
    int e = IN(F32, SHAPE(2), 0, 10), t = IN(F32, SHAPE(1), 0.25), target = IN(F32, SHAPE(2), 4, 2);
    graph_node_over(g, OP_LERP, (int[]){e, target, t}, 3, NULL, &e, NULL);
    run();
    WANT(u, 1, -1);
    WANT_IN(1, 1.5, -0.25);
    WANT_IN(2, 2.25, 0.0625);
    WANT(unit, 6, 8);
    WANT(sum, 36);
    WANT(clip, 0.25);
    WANT_IN(6, 1, 8);
}
