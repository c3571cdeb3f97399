// SPDX-License-Identifier: Apache-2.0
// Airbench's programs at full size: how many nodes a captured step has, and that no library is loaded for them that
// is larger than they are worth. A convolution of cuDNN is one node on the emulator.
#include "test/unit/test.h"
#include "test/cuda/fixture_placed.h"

#include <dlfcn.h>

static bool is_loaded(const char *library)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_NOLOAD);
    if (handle) dlclose(handle);
    return handle != NULL;
}

// The emulated cuDNN loads cuBLASLt when its heuristics are asked, as the real one does (test_dnn_plans).
TEST(no_heuristics_are_asked)
{
    static const char *const recipes[] = {"cifar10", "fulcrum-e1", "airbench94"};
    static const char *const precisions[] = {"precision=f16", "precision=bf16"};
    assert_false(is_loaded("libcudnn.so.9"));
    for (int i = 0; i < 6; i++) {
        struct placed p;
        placed_open(&p, recipes[i / 2], (const char *const[]){precisions[i % 2], NULL}, true);
        placed_close(&p);
        if (is_loaded("libcublasLt.so.13")) fail_msg("%s, %s: cuBLASLt was loaded", recipes[i / 2], precisions[i % 2]);
    }
    assert_true(is_loaded("libcudnn.so.9"));
    struct placed p;
    setenv("DAWN_CUDA_CACHE", "off", 1);
    placed_open(&p, "cifar10", (const char *const[]){"precision=f16", NULL}, true);
    unsetenv("DAWN_CUDA_CACHE");
    placed_close(&p);
    assert_true(is_loaded("libcublasLt.so.13"));
}

// The most nodes that a step may have. With a launch for each node of the update it had 195.
enum { NODES = 110 };

// Counts the nodes of the default recipe's largest step. `apart`: plans keep the chains of the update apart.
static size_t most_nodes(bool apart, size_t *bytes)
{
    struct placed p;
    size_t most = 0;
    placed_open(&p, "cifar10", (const char *const[]){"precision=f16", NULL}, apart);
    const struct trainer *t = p.bench.trainer;
    for (int v = 0; v < t->variants; v++) {
        int program = t->variant[v].program;
        size_t nodes = cuda_program_nodes(t->session->program[program]);
        print_message("%zu nodes: %s, %lld x %lld\n", nodes, t->session->graph[program]->name,
                      (long long)t->variant[v].is.height, (long long)t->variant[v].is.width);
        if (nodes > most) most = nodes;
    }
    *bytes = t->session->memory_total;
    placed_close(&p);
    return most;
}

// Chains that share bytes wait for each other and cannot be merged, so separate chains need more memory.
TEST(a_step_has_few_nodes)
{
    size_t apart_bytes, shared_bytes, apart = most_nodes(true, &apart_bytes), shared = most_nodes(false, &shared_bytes);
    print_message("%zu nodes in %.1f MB; with shared memory %zu in %.1f MB\n", apart, (double)apart_bytes / 1e6, shared,
                  (double)shared_bytes / 1e6);
    assert_in_range(apart, 40, NODES);
    assert_true(shared > apart + 20);
    assert_true((double)apart_bytes < 1.05 * (double)shared_bytes);
}
