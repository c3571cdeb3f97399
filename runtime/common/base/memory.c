// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/memory.h"

#include <stdio.h>

static size_t read_number(const char *path, const char *format)  // 0: absent, or a word such as "max"
{
    unsigned long long n = 0;
    char line[128];
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, format, &n) == 1) break;
    fclose(f);
    return (size_t)n;
}

size_t memory_available(void)
{
    size_t free_bytes = read_number("/proc/meminfo", "MemAvailable: %llu") * 1024;
    size_t limit = read_number("/sys/fs/cgroup/memory.max", "%llu"), used = read_number("/sys/fs/cgroup/memory.current", "%llu");
    if (!limit) return free_bytes;
    size_t left = limit > used ? limit - used : 1;
    return free_bytes && free_bytes < left ? free_bytes : left;
}
