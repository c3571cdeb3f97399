// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/train/facts.h"

#include <stdio.h>
#include <string.h>

#include "runtime/ranks/ranks.h"

static void add_library(struct software_facts *s, const char *library)
{
    size_t used = strlen(s->libraries);
    snprintf(s->libraries + used, sizeof s->libraries - used, "; %s", library);
}

int facts_read(const struct device_facts *device, struct machine_facts *machine, struct software_facts *software)
{
    char processes[MACHINE_TEXT];
    machine_read(machine);
    TRY(machine_software(software));
    // Several processes add numbers by another tree of threads than one with as many threads, so a replay must distinguish them.
    snprintf(processes, sizeof processes, "%s, %d processes", ranks_library(), ranks_size());
    if (ranks_size() > 1) add_library(software, processes);
    if (!*device->gpu) return 0;
    snprintf(machine->gpu, sizeof machine->gpu, "%s", device->gpu);
    if (*device->driver) snprintf(machine->driver, sizeof machine->driver, "%s", device->driver);
    add_library(software, device->library);
    return 0;
}
