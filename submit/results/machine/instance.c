// SPDX-License-Identifier: Apache-2.0
// The price table describes an instance in words: "8 vCPU, 61 GiB, 1 x NVIDIA V100", "2 vCPU, 4 GiB, AMD Genoa". This file
// parses them.
#include "submit/results/machine/instance.h"

#include "runtime/common/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int contradict(const struct price *p, const char *here)
{
    return fail(ERR_USAGE, "--instance: %s has %s, but this machine %s (--cost-per-hour takes any price)", p->instance, p->what,
                here);
}

// Hardware threads may be switched off, and the system reserves some memory. So a machine may have less than its instance,
// but never more.
static int check_size(const struct price *p, const struct instance *is, const struct machine_facts *m)
{
    char here[128], size[TEXT_FIGURE];
    double memory = (double)m->memory_bytes;
    if (m->cores_online > is->threads || (m->cores_online > 0 && 2 * m->cores_online < is->threads)) {
        snprintf(here, sizeof here, "runs %lld hardware thread%s", (long long)m->cores_online, m->cores_online == 1 ? "" : "s");
        return contradict(p, here);
    }
    if (memory <= 1.02 * is->memory && (memory <= 0 || memory >= 0.75 * is->memory)) return 0;
    snprintf(here, sizeof here, "has %s of memory", text_size(size, memory));
    return contradict(p, here);
}

static int check_gpus(const struct price *p, const struct instance *is, const struct machine_facts *m)
{
    char here[MACHINE_TEXT + 32];
    int count = 1, length = 0;
    if (sscanf(m->gpu, "%d x %n", &count, &length) != 1 || length == 0) count = 1;
    if (!*m->gpu) count = 0;
    const char *model = strrchr(is->more, ' ');  // "V100" of "NVIDIA V100", because drivers write "Tesla V100-SXM2-16GB"
    bool same = count == is->gpus && (count == 0 || strstr(m->gpu, model ? model + 1 : is->more));
    if (same) return 0;
    snprintf(here, sizeof here, "%s%s", count ? "has " : "shows no GPU", m->gpu);
    return contradict(p, here);
}

static int check_maker(const struct price *p, const struct instance *is, const struct machine_facts *m)
{
    static const char *const makers[] = {"Intel", "AMD"};
    for (int i = 0; i < 2 && !is->gpus && *m->cpu; i++) {
        if (strncmp(is->more, makers[i], strlen(makers[i])) || strstr(m->cpu, makers[i])) continue;
        char here[MACHINE_TEXT + 16];
        snprintf(here, sizeof here, "has %s", m->cpu);
        return contradict(p, here);
    }
    return 0;
}

int instance_check(const struct price *p, const struct machine_facts *m)
{
    struct instance is;
    struct price own;
    if (!*p->instance) return 0;
    if (*m->product && strcmp(m->product, p->instance) && price_find(m->product, &own) == 0)
        return fail(ERR_USAGE, "--instance: this machine says that it is %s, not %s", m->product, p->instance);
    if (!read_instance(p->what, &is)) return 0;
    TRY(check_gpus(p, &is, m));
    TRY(check_size(p, &is, m));
    return check_maker(p, &is, m);
}

int instance_check_here(const struct price *p, const struct machine_facts *used)
{
    struct machine_facts whole;
    machine_read(&whole);
    if (!*whole.gpu) snprintf(whole.gpu, sizeof whole.gpu, "%s", used->gpu);
    return instance_check(p, &whole);
}
