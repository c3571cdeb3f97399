// SPDX-License-Identifier: Apache-2.0
// The CUDA device: open, memory, copies, facts and the table of operators. Opening checks the driver, the GPU and its compute
// capability first; each has its own error message. Cost: starting the driver (0.1 to 0.5 s).
#include "runtime/cuda/cuda.h"

#include "runtime/cuda/cuda_copy.h"
#include "runtime/cuda/cuda_lanes.h"
#include "runtime/cuda/cuda_meter.h"
#include "runtime/cuda/cuda_memory.h"
#include "runtime/cuda/cuda_program.h"
#include "runtime/cuda/cuda_stage.h"
#include "runtime/cuda/cuda_weights.h"
#include "runtime/cuda/dnn/dnn.h"

#include <cudnn_version.h>
#include <stdio.h>
#include <stdlib.h>

const struct cuda_op *const cuda_ops[OP_COUNT] = {
#define OP(ID, name, inputs, outputs, flags) [OP_##ID] = &cuda_##name,
#include "runtime/ops.def"
#undef OP
};

// ---- detection

enum { OLDEST = 8 };  // lowest compute capability that the PTX in this program supports

static bool cuda_present(void)
{
    int gpus = 0, major = 0;
    bool able = cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0 &&
                cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess && major >= OLDEST;
    if (!able) (void)cudaGetLastError();
    return able;
}

enum { MAJOR = 1000, MINOR = 10 };  // CUDA 13.0 is encoded as 13000

static int check_driver(void)
{
    int driver = 0, runtime = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0) {
        (void)cudaGetLastError();
        return fail(ERR_MISSING, "device cuda: no NVIDIA driver is installed (libcuda.so.1 was not found); "
                                 "use --device cpu");
    }
    TRY(cuda_check(cudaRuntimeGetVersion(&runtime), "reading the CUDA runtime's version"));
    if (driver / MAJOR < runtime / MAJOR)
        return fail(ERR_DEVICE, "device cuda: the NVIDIA driver is too old: it supports CUDA %d.%d, but this program was built "
                    "with CUDA %d.%d; install a newer driver or build with an older toolkit", driver / MAJOR,
                    driver % MAJOR / MINOR, runtime / MAJOR, runtime % MAJOR / MINOR);
    return 0;
}

static int check_index(int index)
{
    int gpus = 0;
    cudaError_t error = cudaGetDeviceCount(&gpus);
    if (error != cudaSuccess && error != cudaErrorNoDevice) return cuda_check(error, "counting the GPUs");
    if (gpus == 0) {
        (void)cudaGetLastError();
        return fail(ERR_MISSING, "device cuda: the NVIDIA driver finds no GPU (\"nvidia-smi -L\" lists them; "
                                 "CUDA_VISIBLE_DEVICES may hide some)");
    }
    if (index < gpus) return 0;
    if (gpus == 1) return fail(ERR_USAGE, "device cuda:%d: there is 1 GPU, cuda:0", index);
    if (gpus == 2) return fail(ERR_USAGE, "device cuda:%d: there are 2 GPUs, cuda:0 and cuda:1", index);
    return fail(ERR_USAGE, "device cuda:%d: there are %d GPUs, cuda:0 to cuda:%d", index, gpus, gpus - 1);
}

static int read_properties(struct cuda_device *cuda)
{
    struct cudaDeviceProp gpu;
    TRY(cuda_check(cudaGetDeviceProperties(&gpu, cuda->index), "reading the GPU's properties"));
    snprintf(cuda->name, sizeof cuda->name, "%.100s", gpu.name);
    cuda->major = gpu.major, cuda->minor = gpu.minor;
    cuda->processors = gpu.multiProcessorCount;
    cuda->memory = gpu.totalGlobalMem;
    if (cuda->major < OLDEST)
        return fail(ERR_UNSUPPORTED, "device cuda: %s has compute capability %d.%d; the kernels need 8.0 (Ampere) or newer",
                    cuda->name, cuda->major, cuda->minor);
    return 0;
}

enum { WORDS = 3 };
static const struct {
    const char *name;         // of the environment variable, after PREFIX
    const char *word[WORDS];  // for 0, 1, ...
    int normal;
    const char *choice;       // the words as an error message lists them
    size_t at;
} switches[] = {
#define SWITCH(field) offsetof(struct cuda_switches, field)
    {"GRAPHS", {"off", "on"}, 1, "on or off", SWITCH(graphs)},
    {"SYNC", {"off", "on"}, 0, "on or off", SWITCH(sync)},
    {"TUNE", {"off", "on"}, 0, "on or off", SWITCH(tune)},
    {"TF32", {"off", "on"}, 0, "on or off", SWITCH(tf32)},
    {"CACHE", {"off", "on"}, 1, "on or off", SWITCH(cache)},
    {"POOL", {"off", "on"}, 1, "on or off", SWITCH(pool)},
    {"CONV", {"auto", "own", "cudnn"}, CONV_AUTO, "auto, own or cudnn", SWITCH(conv)},
    {"BLAS", {"auto", "off", "always"}, BLAS_AUTO, "auto, off or always", SWITCH(blas)},
#undef SWITCH
};
enum { SWITCHES = sizeof switches / sizeof *switches };
_Static_assert(sizeof(struct cuda_switches) == SWITCHES * sizeof(int), "every switch is an int and in the table");

#define PREFIX "DAWN_CUDA_"

static int read_switch(int which, struct cuda_switches *set)
{
    char name[32];
    snprintf(name, sizeof name, PREFIX "%s", switches[which].name);
    const char *word = getenv(name);
    int *into = (int *)((char *)set + switches[which].at);
    *into = switches[which].normal;
    if (!word || !*word) return 0;
    for (int i = 0; i < WORDS && switches[which].word[i]; i++) {
        if (strcmp(word, switches[which].word[i]) != 0) continue;
        *into = i;
        return 0;
    }
    return fail(ERR_USAGE, "%s must be %s; got \"%.40s\"", name, switches[which].choice, word);
}

static int read_lanes(int *into)
{
    const char *word = getenv("DAWN_CUDA_LANES");
    *into = word && strcmp(word, "all") == 0 ? CUDA_LANES_ALL : 1;
    if (!word || !*word || *into != 1) return 0;
    if (word[1] || word[0] < '1' || word[0] > '0' + CUDA_LANES_MOST)
        return fail(ERR_USAGE, "DAWN_CUDA_LANES must be 1 to %d or all; got \"%.40s\"", CUDA_LANES_MOST, word);
    *into = word[0] - '0';
    return 0;
}

static int open_streams(struct cuda_device *cuda)
{
    int least = 0, greatest = 0;
    TRY(cuda_check(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking), "opening the GPU"));
    if (cuda->lanes == 1) return 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (error == cudaSuccess) error = cudaStreamCreateWithPriority(&cuda->urgent, cudaStreamNonBlocking, greatest);
    if (error != cudaSuccess) (void)cudaStreamDestroy(cuda->stream);
    return cuda_check(error, "opening the GPU");
}

static int start_device(struct cuda_device *cuda)
{
    for (int i = 0; i < SWITCHES; i++) TRY(read_switch(i, &cuda->set));
    cuda->sync = cuda->set.sync;
    cuda->graphs = cuda->set.graphs && !cuda->sync;
    TRY(read_lanes(&cuda->lanes));
    TRY(check_driver());
    TRY(check_index(cuda->index));
    TRY(read_properties(cuda));
    TRY(cuda_choose(cuda));
    return open_streams(cuda);
}

static int cuda_open(int index, int threads, struct device **into)
{
    (void)threads;
    struct cuda_device *cuda = zalloc(sizeof *cuda);
    cuda->base.type = &device_cuda;
    cuda->index = index;
    int rc = start_device(cuda);
    if (rc < 0) {
        free(cuda);
        return rc;
    }
    cuda->pool = cuda_memory_new(cuda->set.pool);
    *into = &cuda->base;
    return 0;
}

static void cuda_close(struct device *device)
{
    struct cuda_device *cuda = (struct cuda_device *)device;
    (void)cudaSetDevice(cuda->index);
    (void)cudaStreamSynchronize(cuda->stream);
    cuda_stage_close(cuda);
    cuda_copy_close(cuda);
    if (cuda->dnn_close) cuda->dnn_close(cuda);
    if (cuda->blas_close) cuda->blas_close(cuda);
    if (cuda->nccl_close) cuda->nccl_close(cuda);
    cuda_memory_free(cuda->pool);
    cuda_meter_close(cuda->meter);
    if (cuda->urgent) (void)cudaStreamDestroy(cuda->urgent);
    (void)cudaStreamDestroy(cuda->stream);
    free(cuda);
}

// ---- memory

static int cuda_alloc(struct device *device, size_t bytes, void **into)
{
    struct cuda_device *cuda = (struct cuda_device *)device;
    TRY(cuda_choose(cuda));
    return cuda_memory_take(cuda->pool, bytes, into);
}

static void cuda_free(struct device *device, void *block)
{
    cuda_stage_forget((struct cuda_device *)device);
    cuda_memory_give(((struct cuda_device *)device)->pool, block);
}

static int cuda_sync(struct device *device)
{
    return cuda_wait((struct cuda_device *)device);
}

// ---- planning: may load libraries and time engines on this GPU

static int cuda_supports(struct device *device, const struct graph *g, const struct node *n)
{
    const struct cuda_op *op = cuda_ops[n->op];
    TRY(cuda_choose((struct cuda_device *)device));
    if (!op->supports) return 0;
    int rc = op->supports((struct cuda_device *)device, g, n);
    return rc == 0 ? 0 : node_refuse(g, n, "cuda device", rc);
}

static int cuda_workspace(struct device *device, const struct graph *g, const struct node *n, size_t *bytes)
{
    const struct cuda_op *op = cuda_ops[n->op];
    TRY(cuda_choose((struct cuda_device *)device));
    *bytes = op->workspace ? op->workspace((struct cuda_device *)device, g, n) : 0;
    return 0;
}

// ---- facts

void cuda_driver_text(char *into, size_t capacity)
{
    into[0] = '\0';
    FILE *f = fopen("/sys/module/nvidia/version", "re");
    if (!f) return;
    if (!fgets(into, (int)capacity, f)) into[0] = '\0';
    into[strcspn(into, "\n")] = '\0';
    fclose(f);
}

// Appends the switches that differ from their defaults, because some change the results: "; TUNE=on, TF32=on".
static void switches_text(const struct cuda_device *cuda, char *into, size_t capacity)
{
    const char *between = "; ";
    for (int i = 0; i < SWITCHES; i++) {
        int value = *(const int *)((const char *)&cuda->set + switches[i].at);
        size_t used = strlen(into);
        if (value == switches[i].normal) continue;
        snprintf(into + used, capacity - used, "%s%s=%s", between, switches[i].name, switches[i].word[value]);
        between = ", ";
    }
    size_t used = strlen(into);
    if (cuda->lanes == CUDA_LANES_ALL) snprintf(into + used, capacity - used, "%sLANES=all", between);
    else if (cuda->lanes != 1) snprintf(into + used, capacity - used, "%sLANES=%d", between, cuda->lanes);
}

// The version of cuDNN and, if it differs, the version of the shipped engines: "cuDNN 9.21 with engines of 9.19".
static void dnn_text(const struct cuda_device *cuda, char *into, size_t capacity)
{
    const int major = (int)(cuda->dnn_version / 10000), minor = (int)(cuda->dnn_version / 100 % 100);  // 91900 is 9.19.0
    const int of_major = DNN_SHIPPED_VERSION / 10000, of_minor = DNN_SHIPPED_VERSION / 100 % 100;
    const bool shipped = cuda->set.cache && cuda->major == DNN_SHIPPED_MAJOR && cuda->minor == DNN_SHIPPED_MINOR;
    if (!shipped || (major == of_major && minor == of_minor)) snprintf(into, capacity, "cuDNN %d.%d", major, minor);
    else snprintf(into, capacity, "cuDNN %d.%d with engines of %d.%d", major, minor, of_major, of_minor);
}

static void library_text(const struct cuda_device *cuda, char *into, size_t capacity)
{
    int runtime = 0, driver = 0;
    char version[32], dnn[48];
    (void)cudaRuntimeGetVersion(&runtime);
    (void)cudaDriverGetVersion(&driver);
    cuda_driver_text(version, sizeof version);
    if (!*version) snprintf(version, sizeof version, "for CUDA %d.%d", driver / MAJOR, driver % MAJOR / MINOR);
    if (cuda->dnn_version) dnn_text(cuda, dnn, sizeof dnn);
    else snprintf(dnn, sizeof dnn, "built for cuDNN %d.%d", CUDNN_MAJOR, CUDNN_MINOR);
    snprintf(into, capacity, "CUDA %d.%d, %s, driver %s", runtime / MAJOR, runtime % MAJOR / MINOR, dnn, version);
    switches_text(cuda, into, capacity);
}

static int cuda_facts(struct device *device, struct device_facts *facts)
{
    struct cuda_device *cuda = (struct cuda_device *)device;
    memset(facts, 0, sizeof *facts);
    size_t free_bytes = 0, all = 0;
    TRY(cuda_choose(cuda));
    TRY(cuda_check(cudaMemGetInfo(&free_bytes, &all), "reading the GPU's free memory"));
    snprintf(facts->name, sizeof facts->name, "%.80s, compute capability %d.%d, %d processors", cuda->name, cuda->major,
             cuda->minor, cuda->processors);
    library_text(cuda, facts->library, sizeof facts->library);
    snprintf(facts->gpu, sizeof facts->gpu, "%.90s", cuda->name);
    cuda_driver_text(facts->driver, sizeof facts->driver);
    facts->threads = 1;
    facts->memory = free_bytes;
    facts->fast[F16] = facts->fast[BF16] = true;
    return 0;
}

static bool cuda_energy(struct device *device, int64_t *since_start)
{
    return cuda_meter_energy((struct cuda_device *)device, since_start);
}

static size_t cuda_taken(struct device *device)
{
    return cuda_memory_most(((struct cuda_device *)device)->pool);
}

const struct device_type device_cuda = {
    .name = "cuda",
    .about = "an NVIDIA GPU, with cuDNN, cuBLASLt and kernels of DAWN",
    .rounds_wgrad = true,
    .queues = true, .joins = true, .overlaps = true,
    .present = cuda_present,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .upload = cuda_copy_up,
    .download = cuda_copy_down,
    .host_alloc = cuda_stage_host_alloc,
    .host_free = cuda_stage_host_free,
    .stage = cuda_stage,
    .stage_done = cuda_stage_done,
    .supports = cuda_supports,
    .workspace = cuda_workspace,
    .kept = cuda_weights_kept,
    .shares_kept = true,
    .compile = cuda_program_compile,
    .run = cuda_program_run,
    .sync = cuda_sync,
    .profile = cuda_program_profile,
    .release = cuda_program_release,
    .facts = cuda_facts,
    .energy_uj = cuda_energy,
    .taken = cuda_taken,
};
