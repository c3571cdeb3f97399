// SPDX-License-Identifier: Apache-2.0
// Not every toolkit has NVML's header, so the four calls are declared here. NVML and CUDA number GPUs differently: the GPU is
// found by its PCI address.
#include "runtime/cuda/cuda_meter.h"

#include "runtime/cuda/cuda_library.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct nvmlDevice_st *nvml_gpu;
struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_bus)(const char *bus, nvml_gpu *);
    int (*energy)(nvml_gpu, unsigned long long *millijoules);
};

static const struct cuda_library library = {
    .title = "NVML",
    .package = "the NVIDIA driver",
    .files = (const char *const[]){"libnvidia-ml.so.1", NULL},
    .functions = (const char *const[]){"nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetHandleByPciBusId_v2",
                                       "nvmlDeviceGetTotalEnergyConsumption", NULL},
};

struct cuda_meter {
    struct nvml nvml;
    bool started;
    nvml_gpu gpu;  // NULL: energy is not available
};

static bool read_bus_address(int index, char *into, size_t capacity)
{
    int domain, bus, device;
    if (cudaDeviceGetAttribute(&domain, cudaDevAttrPciDomainId, index) != cudaSuccess ||
        cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, index) != cudaSuccess ||
        cudaDeviceGetAttribute(&device, cudaDevAttrPciDeviceId, index) != cudaSuccess)
        return false;
    snprintf(into, capacity, "%08x:%02x:%02x.0", (unsigned)domain, (unsigned)bus, (unsigned)device);
    return true;
}

static struct cuda_meter *meter_open(int index)
{
    struct cuda_meter *m = zalloc(sizeof *m);
    char bus_address[32];
    if (!read_bus_address(index, bus_address, sizeof bus_address) || cuda_library_load(&library, &m->nvml) < 0) return m;
    m->started = m->nvml.init() == 0;
    if (!m->started || m->nvml.by_bus(bus_address, &m->gpu) != 0) m->gpu = NULL;
    return m;
}

bool cuda_meter_energy(struct cuda_device *cuda, int64_t *since_start)
{
    if (!cuda->meter) cuda->meter = meter_open(cuda->index);
    unsigned long long millijoules;
    if (!cuda->meter->gpu || cuda->meter->nvml.energy(cuda->meter->gpu, &millijoules) != 0) return false;
    *since_start = (int64_t)millijoules * 1000;
    return true;
}

void cuda_meter_close(struct cuda_meter *m)
{
    if (m && m->started) m->nvml.shutdown();
    free(m);
}
