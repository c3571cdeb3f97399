// SPDX-License-Identifier: Apache-2.0
// The large products of training at full size: every one is cuBLASLt's, and rows are what its fast algorithms require,
// but for logits of a search for single words. Programs are compiled for addresses without memory and never run. The emulated
// library counts its operations.
#include "runtime/op/op.h"
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

// Operations of the library, and of *search those that make logits of single words in rows of any length.
static double large_operations(const struct session *s, double *search)
{
    double sum = *search = 0;
    for (int p = 0; p < s->programs; p++)
        for (int i = 0; i < s->graph[p]->nodes; i++) {
            const struct graph *g = s->graph[p];
            const struct node *n = &g->node[i];
            double flops = node_cost(g, n).flops;
            if (n->op == OP_MATMUL && n->in[3] != NONE) flops -= FLOPS_OF_ACT * (double)shape_count(&node_out(g, n, 0)->shape);
            const bool large = n->op == OP_MATMUL && flops >= 0x1p31;
            if (n->op == OP_LINEAR_XENT) sum += linear_xent_operations(g, n);
            if (large) sum += flops;
            if (large && !g->trains && shape_last(&node_out(g, n, 0)->shape) % 8) *search += flops;
        }
    return sum;
}

// Every product is called twice: once while it is prepared, once while it is captured.
static void compile_recipe(const char *task_name, const char *recipe, const char *data)
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
    double search;
    const double all = read_operations("lt_operations") - before, want = 2 * large_operations(b->trainer->session, &search);
    const double odd = read_operations("lt_unaligned") - unaligned_before;
    print_message("%s: %.4g operations of %.4g by the library, %.4f in unaligned rows\n", recipe, all, want, odd / all);
    placed_close(&p);
    assert_float_equal(all / want, 1, 1e-9);
    assert_true(odd == 2 * search);
}

TEST(the_library_multiplies_all_that_is_large)
{
    compile_recipe("fineweb-gpt", "gpt2", "fineweb");
    compile_recipe("fineweb-gpt", "gpt2-modern", "fineweb");
    compile_recipe("squad", "bert-base", "squad");
    compile_recipe("wmt17-transformer", "transformer-big", "wmt17");
    compile_recipe("wmt16-gnmt", "gnmt", "wmt16");
}
