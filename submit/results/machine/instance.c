// SPDX-License-Identifier: Apache-2.0
#include "submit/results/machine/instance.h"

#include <stdio.h>

#include "submit/format/score/price_machine.h"

int instance_check(const struct price *p, const struct machine_facts *m)
{
    char why[PRICE_MACHINE_WHY];
    const struct price_machine machine = {.cpu = m->cpu, .gpu = m->gpu, .product = m->product, .threads = m->cores_online,
                                          .memory_bytes = m->memory_bytes};
    if (!price_machine_differs(p, &machine, why)) return 0;
    return fail(ERR_USAGE, "--instance: %s has %s, but this machine %s (--cost-per-hour takes any price)", p->instance, p->what,
                why);
}

int instance_check_here(const struct price *p, const struct machine_facts *used)
{
    struct machine_facts whole;
    machine_read(&whole);
    if (!*whole.gpu) snprintf(whole.gpu, sizeof whole.gpu, "%s", used->gpu);
    return instance_check(p, &whole);
}
