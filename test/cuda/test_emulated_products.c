// SPDX-License-Identifier: Apache-2.0
// The large products of training at full size: every one is cuBLASLt's, and the rows of nearly all are what its fast algorithms
// require. Programs are compiled for addresses without memory and never run. The emulated library counts its operations.
#include "test/unit/test.h"
#include "test/cuda/fixture_placed.h"

#include <dlfcn.h>

static double read_operations(const char *name)
{
    void *library = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_NOLOAD);
    return library ? *(const double *)dlsym(library, name) : 0;
}

// Three products; rows of logits are padded to a multiple of 8, and the last rows of dw, fewer than 8, are a small product.
static double linear_xent_operations(const struct graph *g, const struct node *n)
{
    const double rows = (double)shape_rows(&node_in(g, n, 0)->shape), channels = (double)shape_last(&node_in(g, n, 1)->shape);
    const int64_t classes = node_in(g, n, 1)->shape.dim[0];
    const double wide = (double)((classes + 7) / 8 * 8), whole = (double)(classes / 8 * 8);
    return 2 * rows * channels * (wide + (n->out[4] != NONE ? wide : 0) + (n->out[5] != NONE ? whole : 0));
}

static double large_operations(const struct session *s)
{
    double sum = 0;
    for (int p = 0; p < s->programs; p++)
        for (int i = 0; i < s->graph[p]->nodes; i++) {
            const struct graph *g = s->graph[p];
            const struct node *n = &g->node[i];
            const double flops = node_cost(g, n).flops;
            if (n->op == OP_LINEAR_XENT) sum += linear_xent_operations(g, n);
            else if (n->op == OP_MATMUL && flops >= 0x1p31) sum += flops;
        }
    return sum;
}

// Every product is called twice: once while it is prepared, once while it is captured.
static void compile_recipe(const char *task_name, const char *recipe, const char *data, double *unaligned)
{
    const struct task *task;
    struct placed p = {0};
    struct bench *b = &p.bench;
    const double before = read_operations("lt_operations"), unaligned_before = read_operations("lt_unaligned");
    OK(task_find(task_name, &task));
    bench_choose(b, task, recipe, (const char *const[]){"precision=bf16", NULL});
    OK(device_open("cuda", 1, &b->device));
    OK(dataset_open_noise(data, &b->data));
    bench_new(b);
    emulate_late(EMULATE_NEVER);
    placed_session(b->trainer->session);
    const double all = read_operations("lt_operations") - before, want = 2 * large_operations(b->trainer->session);
    *unaligned = (read_operations("lt_unaligned") - unaligned_before) / all;
    print_message("%s: %.4g operations of %.4g by the library, %.3f of them in rows that are not aligned\n", recipe, all, want,
                  *unaligned);
    placed_close(&p);
    assert_float_equal(all / want, 1, 1e-9);
}

TEST(the_library_multiplies_all_that_is_large)
{
    double unaligned;
    compile_recipe("fineweb-gpt", "gpt2", "fineweb", &unaligned);
    assert_true(unaligned == 0);
    compile_recipe("fineweb-gpt", "gpt2-modern", "fineweb", &unaligned);
    assert_true(unaligned == 0);
    compile_recipe("squad", "bert-base", "squad", &unaligned);
    assert_true(unaligned == 0);
    compile_recipe("wmt17-transformer", "transformer-big", "wmt17", &unaligned);
    assert_in_range((long)(unaligned * 1000), 100, 300);  // the output layer of 33,710 symbols
    compile_recipe("wmt16-gnmt", "gnmt", "wmt16", &unaligned);
    assert_in_range((long)(unaligned * 1000), 200, 500);  // of 32,050 symbols, a third of all
}
