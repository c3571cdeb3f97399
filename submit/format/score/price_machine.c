// SPDX-License-Identifier: Apache-2.0
// The price table describes an instance in words: "8 vCPU, 61 GiB, 1 x NVIDIA V100", "2 vCPU, 4 GiB, AMD Genoa". This file
// parses them.
#include "submit/format/score/price_machine.h"

#include <stdio.h>
#include <string.h>

#include "runtime/common/base/text.h"
#include "submit/format/score/accelerator.h"

struct instance {
    int threads, gpus;
    double memory;    // in bytes
    char more[64];    // "Intel Ice Lake", "NVIDIA V100"; "": not stated
};

static bool read_instance(const char *what, struct instance *into)
{
    double gib;
    *into = (struct instance){0};
    if (sscanf(what, "%d vCPU, %lf GiB, %63[^\n]", &into->threads, &gib, into->more) < 2) return false;
    into->memory = gib * (double)(1 << 30);
    int count, length = 0;
    if (sscanf(into->more, "%d x %n", &count, &length) == 1 && length > 0) {
        into->gpus = count;
        memmove(into->more, into->more + length, strlen(into->more + length) + 1);
    }
    return true;
}

// Hardware threads may be switched off, and the system reserves some memory. So a machine may have less than its instance,
// but never more.
static bool size_differs(const struct instance *is, const struct price_machine *m, char *why)
{
    char size[TEXT_FIGURE];
    const double memory = (double)m->memory_bytes;
    if (m->threads > is->threads || (m->threads > 0 && 2 * m->threads < is->threads)) {
        snprintf(why, PRICE_MACHINE_WHY, "runs %lld hardware thread%s", (long long)m->threads, m->threads == 1 ? "" : "s");
        return true;
    }
    if (memory <= 1.02 * is->memory && (memory <= 0 || memory >= 0.75 * is->memory)) return false;
    snprintf(why, PRICE_MACHINE_WHY, "has %s of memory", text_size(size, memory));
    return true;
}

// Drivers write "Tesla V100-SXM2-16GB" for the V100 of the table.
static bool gpus_differ(const struct instance *is, const struct price_machine *m, char *why)
{
    const int64_t count = accelerator_count(m->gpu);
    const bool part = m->devices > 0 && is->gpus > 0;
    const bool fits = part ? count > 0 && count <= is->gpus && m->devices <= is->gpus : count == is->gpus;
    if (fits && (count == 0 || accelerator_find(m->gpu) == accelerator_find(is->more))) return false;
    snprintf(why, PRICE_MACHINE_WHY, "%s%.160s", count != 0 ? "has " : "shows no GPU", m->gpu);
    return true;
}

static bool maker_differs(const struct instance *is, const struct price_machine *m, char *why)
{
    static const char *const makers[] = {"Intel", "AMD"};
    for (int i = 0; i < 2 && is->gpus == 0 && *m->cpu != 0; i++) {
        if (strncmp(is->more, makers[i], strlen(makers[i])) != 0 || strstr(m->cpu, makers[i]) != NULL) continue;
        snprintf(why, PRICE_MACHINE_WHY, "has %.160s", m->cpu);
        return true;
    }
    return false;
}

bool price_machine_differs(const struct price *p, const struct price_machine *m, char why[PRICE_MACHINE_WHY])
{
    struct instance is;
    struct price own;
    *why = 0;
    if (*p->instance == 0) return false;
    if (*m->product != 0 && strcmp(m->product, p->instance) != 0 && price_find(m->product, &own) == 0) {
        snprintf(why, PRICE_MACHINE_WHY, "says that it is %.63s", m->product);
        return true;
    }
    return read_instance(p->what, &is) && (gpus_differ(&is, m, why) || size_differs(&is, m, why) || maker_differs(&is, m, why));
}
