// SPDX-License-Identifier: Apache-2.0
// An emulated NVML: one GPU at 0000:01:00.0, whose energy counter grows at 100 W. The signatures are NVIDIA's, declared here
// because the toolkit has no nvml.h; 0 is success.
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct nvmlDevice_st *gpu;
enum { OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };
enum { MILLIWATTS = 100000 };

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, gpu *);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, gpu *);
int nvmlDeviceGetTotalEnergyConsumption(gpu, unsigned long long *millijoules);
int nvmlDeviceGetPowerUsage(gpu, unsigned *milliwatts);
int nvmlDeviceGetClockInfo(gpu, int clock, unsigned *megahertz);
int nvmlSystemGetDriverVersion(char *text, unsigned size);

static int users;  // each user calls init and shutdown once
static char the_gpu;

int nvmlInit_v2(void)
{
    users++;
    return OK;
}

int nvmlShutdown(void)
{
    if (!users) return UNINITIALIZED;
    users--;
    return OK;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, gpu *into)
{
    unsigned domain, number, device;
    if (!users) return UNINITIALIZED;
    if (sscanf(bus, "%x:%x:%x.0", &domain, &number, &device) != 3) return INVALID_ARGUMENT;
    if (domain != 0 || number != 1 || device != 0) return NOT_FOUND;
    *into = (gpu)&the_gpu;
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, gpu *into)
{
    if (!users) return UNINITIALIZED;
    if (index != 0) return INVALID_ARGUMENT;
    *into = (gpu)&the_gpu;
    return OK;
}

static int check_gpu(gpu c) { return !users ? UNINITIALIZED : c != (gpu)&the_gpu ? INVALID_ARGUMENT : OK; }

int nvmlDeviceGetTotalEnergyConsumption(gpu c, unsigned long long *millijoules)
{
    struct timespec t;
    if (check_gpu(c) != OK) return check_gpu(c);
    clock_gettime(CLOCK_MONOTONIC, &t);
    *millijoules = (unsigned long long)(((double)t.tv_sec + (double)t.tv_nsec * 1e-9) * MILLIWATTS);
    return OK;
}

int nvmlDeviceGetPowerUsage(gpu c, unsigned *milliwatts)
{
    if (check_gpu(c) != OK) return check_gpu(c);
    *milliwatts = MILLIWATTS;
    return OK;
}

int nvmlDeviceGetClockInfo(gpu c, int clock, unsigned *megahertz)
{
    if (check_gpu(c) != OK) return check_gpu(c);
    *megahertz = clock == 2 ? 3201 : 1980;  // 2: memory clock
    return OK;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    static const char version[] = "0.0 (emulated)";
    if (!users) return UNINITIALIZED;
    if (size < sizeof version) return INSUFFICIENT_SIZE;
    memcpy(text, version, sizeof version);
    return OK;
}
