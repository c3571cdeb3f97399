// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/cgroup.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const struct cgroup_paths cgroup_here = {"/sys/fs/cgroup", "/proc/self/cgroup"};

// The first two numbers in a file of the group. Returns how many there are: 0 for a missing file and for "max".
static int read_group_file(const struct cgroup_paths *paths, const char *group, const char *name, int64_t number[2])
{
    char path[PATH_MAX];
    long long first = 0, second = 0;
    if (snprintf(path, sizeof path, "%s%s/%s", paths->mount, group, name) >= (int)sizeof path) return 0;
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    int got = fscanf(f, "%lld %lld", &first, &second);
    fclose(f);
    number[0] = first, number[1] = second;
    return got > 0 ? got : 0;
}

static int64_t memory_left(const struct cgroup_paths *paths, const char *group)
{
    int64_t limit[2], used[2];
    if (read_group_file(paths, group, "memory.max", limit) < 1 || read_group_file(paths, group, "memory.current", used) < 1)
        return INT64_MAX;
    return limit[0] > used[0] ? limit[0] - used[0] : 1;
}

static int64_t processors(const struct cgroup_paths *paths, const char *group)
{
    int64_t share[2];  // microseconds of processor time, and the period in which they may be used
    if (read_group_file(paths, group, "cpu.max", share) != 2 || share[0] <= 0 || share[1] <= 0) return INT64_MAX;
    return share[0] / share[1] + (share[0] % share[1] != 0);
}

static int64_t least_of_groups(const struct cgroup_paths *paths, int64_t (*left)(const struct cgroup_paths *, const char *))
{
    char line[PATH_MAX], group[PATH_MAX] = "";
    FILE *f = fopen(paths->own, "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "0::/", 4)) snprintf(group, sizeof group, "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
    if (f) fclose(f);
    int64_t least = INT64_MAX;
    for (char *end = group + strlen(group);; end = strrchr(group, '/')) {
        if (end) *end = 0;
        int64_t here = left(paths, group);
        if (here < least) least = here;
        if (!end || !*group) return least;
    }
}

int64_t cgroup_memory_left(const struct cgroup_paths *paths)
{
    return least_of_groups(paths, memory_left);
}

int64_t cgroup_processors(const struct cgroup_paths *paths)
{
    return least_of_groups(paths, processors);
}
