// SPDX-License-Identifier: Apache-2.0
// Shared by the files behind checkpoint.h.
#pragma once

#include "runtime/checkpoint/checkpoint.h"

struct checkpoint {
    char *path, *bytes;
    struct safetensors_view view;
    char digest[DIGEST_HEX];
};

// A file of weights holds parameters and running statistics.
static inline bool checkpoint_has(const struct slot *slot)
{
    return role_is_parameter(slot->role) || slot->role == ROLE_STATISTIC;
}

int checkpoint_check_name(const char *where, const char *name) MUST_CHECK;  // of a tensor
