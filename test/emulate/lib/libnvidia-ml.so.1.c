// SPDX-License-Identifier: Apache-2.0
// A pretend NVML for emulated programs: one card at 0000:01:00.0, whose counter of energy grows as if it drew 100 W.
// The signatures are NVIDIA's, written down here because the toolkit has no nvml.h; 0 is success.
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct nvmlDevice_st *card;
enum { OK = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };
enum { MILLIWATTS = 100000 };

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, card *);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, card *);
int nvmlDeviceGetTotalEnergyConsumption(card, unsigned long long *millijoules);
int nvmlDeviceGetPowerUsage(card, unsigned *milliwatts);
int nvmlDeviceGetClockInfo(card, int clock, unsigned *megahertz);
int nvmlSystemGetDriverVersion(char *text, unsigned size);

static int users;  // of whom each calls init and shutdown once
static char the_card;

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

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, card *into)
{
    unsigned domain, number, device;
    if (!users) return UNINITIALIZED;
    if (sscanf(bus, "%x:%x:%x.0", &domain, &number, &device) != 3) return INVALID_ARGUMENT;
    if (domain != 0 || number != 1 || device != 0) return NOT_FOUND;
    *into = (card)&the_card;
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, card *into)
{
    if (!users) return UNINITIALIZED;
    if (index != 0) return INVALID_ARGUMENT;
    *into = (card)&the_card;
    return OK;
}

static int check(card c) { return !users ? UNINITIALIZED : c != (card)&the_card ? INVALID_ARGUMENT : OK; }

int nvmlDeviceGetTotalEnergyConsumption(card c, unsigned long long *millijoules)
{
    struct timespec t;
    if (check(c) != OK) return check(c);
    clock_gettime(CLOCK_MONOTONIC, &t);
    *millijoules = (unsigned long long)(((double)t.tv_sec + (double)t.tv_nsec * 1e-9) * MILLIWATTS);
    return OK;
}

int nvmlDeviceGetPowerUsage(card c, unsigned *milliwatts)
{
    if (check(c) != OK) return check(c);
    *milliwatts = MILLIWATTS;
    return OK;
}

int nvmlDeviceGetClockInfo(card c, int clock, unsigned *megahertz)
{
    if (check(c) != OK) return check(c);
    *megahertz = clock == 2 ? 3201 : 1980;  // 2: of the memory
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
