// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/memory.h"

#include <stdio.h>

#include "runtime/common/base/cgroup.h"

size_t memory_available(void)
{
    long long kilobytes = 0;
    char line[128];
    int64_t left = cgroup_memory_left(&cgroup_here);
    FILE *f = fopen("/proc/meminfo", "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lld", &kilobytes) == 1) break;
    if (f) fclose(f);
    if (kilobytes > 0 && kilobytes * 1024 < left) left = kilobytes * 1024;
    return left == INT64_MAX ? 0 : (size_t)left;
}
