// SPDX-License-Identifier: Apache-2.0
// What the control groups of this process leave to it. A limit holds for a group and for all that it contains, so every group
// from the process's own up to the root counts. Linux's second version of control groups; without it nothing is limited.
#pragma once

#include <stdint.h>

// Where the groups are mounted, and the file that names the process's own. Tests have others.
struct cgroup_paths {
    const char *mount, *own;
};
extern const struct cgroup_paths cgroup_here;  // /sys/fs/cgroup, /proc/self/cgroup

int64_t cgroup_memory_left(const struct cgroup_paths *);  // bytes, at least 1; INT64_MAX: no limit
int64_t cgroup_processors(const struct cgroup_paths *);   // a share of processor time, rounded up; INT64_MAX: no limit
