// SPDX-License-Identifier: Apache-2.0
// Sums over the GPUs that train together, by NCCL. It is loaded when the first such node is planned by one of several processes.
// MPI carries the identity of the group of GPUs once, and nothing else of a step. NCCL chooses the order of the additions: the
// same GPUs in the same places give the same bytes, another number of GPUs need not.
//
// The calls are declared here, because not every toolkit has nccl.h.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/cuda_library.h"
#include "runtime/ranks/ranks.h"

#include <stdlib.h>

struct nccl_id {
    char bytes[128];
};
typedef struct ncclComm *nccl_group;
enum { NCCL_F32 = 7, NCCL_SUM = 0, NCCL_OK = 0 };

struct nccl {
    int (*new_id)(struct nccl_id *);
    int (*join)(nccl_group *, int size, struct nccl_id, int rank);
    int (*leave)(nccl_group);
    int (*begin)(void);
    int (*end)(void);
    int (*reduce)(const void *from, void *to, size_t count, int type, int how, nccl_group, cudaStream_t);
    const char *(*text)(int error);
    nccl_group group;
};

static const struct cuda_library library = {
    .title = "NCCL 2",
    .package = "libnccl2",
    .files = (const char *const[]){"libnccl.so.2", NULL},
    .functions = (const char *const[]){"ncclGetUniqueId", "ncclCommInitRank", "ncclCommDestroy", "ncclGroupStart", "ncclGroupEnd",
                                       "ncclAllReduce", "ncclGetErrorString", NULL},
};

static int check_nccl(const struct nccl *n, int error, const char *what)
{
    return error == NCCL_OK ? 0 : fail(ERR_DEVICE, "rank %d: NCCL failed while %s: %s", ranks_rank(), what, n->text(error));
}

static void close_nccl(struct cuda_device *cuda)
{
    if (cuda->nccl->group) (void)cuda->nccl->leave(cuda->nccl->group);
    free(cuda->nccl);
    cuda->nccl = NULL;
}

// All processes plan the same graphs, so they all come here.
static int open_nccl(struct cuda_device *cuda)
{
    struct nccl *n = cuda->nccl = zalloc(sizeof *n);
    struct nccl_id id = {{0}};
    cuda->nccl_close = close_nccl;
    TRY(ranks_agree(cuda_library_load(&library, n)));
    int rc = ranks_rank() == 0 ? check_nccl(n, n->new_id(&id), "naming the group of GPUs") : 0;
    TRY(ranks_agree(rc));
    TRY(ranks_broadcast(&id, sizeof id, 0));
    TRY(cuda_choose(cuda));
    return check_nccl(n, n->join(&n->group, ranks_size(), id, ranks_rank()), "joining the GPUs");
}

static int all_reduce_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)g, (void)n;
    return ranks_size() > 1 && !cuda->nccl ? open_nccl(cuda) : 0;
}

static int copy_alone(struct cuda_step *s)
{
    for (int i = 0; i < op_table[OP_ALL_REDUCE].inputs; i++) {
        if (!s->in[i] || !s->out[i]) continue;
        size_t bytes = (size_t)cuda_count(cuda_in(s, i)) * sizeof(float);
        TRY(cuda_check(cudaMemcpyAsync(s->out[i], s->in[i], bytes, cudaMemcpyDeviceToDevice, s->stream), "copying a gradient"));
    }
    return 0;
}

// A bucket is one exchange. Every sum of a step has a reader.
static int reduce_together(struct cuda_step *s)
{
    const struct nccl *n = s->cuda->nccl;
    TRY(check_nccl(n, n->begin(), "beginning a bucket"));
    for (int i = 0; i < op_table[OP_ALL_REDUCE].inputs; i++) {
        if (!s->in[i]) continue;
        BUG_IF(!s->out[i]);
        size_t count = (size_t)cuda_count(cuda_in(s, i));
        TRY(check_nccl(n, n->reduce(s->in[i], s->out[i], count, NCCL_F32, NCCL_SUM, n->group, s->stream), "adding gradients"));
    }
    return check_nccl(n, n->end(), "ending a bucket");
}

static int all_reduce_prepare(struct cuda_step *s)
{
    s->run = ranks_size() > 1 ? reduce_together : copy_alone;
    return 0;
}

const struct cuda_op cuda_all_reduce = {.prepare = all_reduce_prepare, .supports = all_reduce_supports};
