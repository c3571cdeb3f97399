// SPDX-License-Identifier: Apache-2.0
// An emulated NCCL for processes that each emulate a GPU. The program itself adds the numbers up (ranks_reduce), which it exports
// to the libraries that it loads. The signatures are NVIDIA's; 0 is success. It dies on a call that the real library would
// reject, and on a reduction outside of a group.
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ranks/ranks.h"
#include "test/emulate/emulate_library.h"

typedef struct {
    char bytes[128];
} ncclUniqueId;
typedef struct ncclComm *ncclComm_t;
struct ncclComm {
    int size, rank;
};
enum { FLOAT32 = 7, SUM = 0 };

int ncclGetUniqueId(ncclUniqueId *);
int ncclCommInitRank(ncclComm_t *, int size, ncclUniqueId, int rank);
int ncclCommDestroy(ncclComm_t);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *from, void *to, size_t count, int type, int how, ncclComm_t, cudaStream_t);
const char *ncclGetErrorString(int error);

static const char name[] = "an emulated group";
static int groups;  // that were begun and not ended

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "\nemulated NCCL: %s\n", what);
    abort();
}

int ncclGetUniqueId(ncclUniqueId *id)
{
    memcpy(id->bytes, name, sizeof name);
    return 0;
}

int ncclCommInitRank(ncclComm_t *into, int size, ncclUniqueId id, int rank)
{
    if (memcmp(id.bytes, name, sizeof name) != 0) die("a rank joins with another identity than the first one made");
    if (size != ranks_size() || rank != ranks_rank()) die("a rank joins in a place that is not its own");
    *into = malloc(sizeof **into);
    if (!*into) die("no memory");
    **into = (struct ncclComm){size, rank};
    return 0;
}

int ncclCommDestroy(ncclComm_t group)
{
    free(group);
    return 0;
}

int ncclGroupStart(void)
{
    groups++;
    return 0;
}

int ncclGroupEnd(void)
{
    if (groups-- < 1) die("a group is ended that was not begun");
    return 0;
}

struct work {
    const void *from;
    void *to;
    size_t count;
};

static void add_up(void *args)
{
    const struct work *w = args;
    size_t capacity = (size_t)ranks_scratch((int64_t)w->count);
    float *values = malloc(2 * capacity * sizeof *values);
    if (!values) die("no memory");
    memcpy(values, w->from, w->count * sizeof *values);
    if (ranks_reduce(values, values + capacity, (int64_t)w->count) < 0) die(error_text());
    memcpy(w->to, values, w->count * sizeof *values);
    free(values);
}

int ncclAllReduce(const void *from, void *to, size_t count, int type, int how, ncclComm_t group, cudaStream_t stream)
{
    if (!groups) die("a reduction outside of a group");
    if (!group || type != FLOAT32 || how != SUM) die("a reduction that is no sum of f32");
    emulate_check_range(from, count * sizeof(float), "the numbers of a reduction");
    emulate_check_range(to, count * sizeof(float), "the sums of a reduction");
    const struct work w = {from, to, count};
    return emulate_enqueue(stream, add_up, &w, sizeof w) == cudaSuccess ? 0 : 1;
}

const char *ncclGetErrorString(int error)
{
    return error ? "unhandled cuda error" : "no error";
}
