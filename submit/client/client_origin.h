// SPDX-License-Identifier: Apache-2.0
// Addresses of scoreboards: accepts or refuses them, and compares their servers.
#pragma once

#include "runtime/common/base/error.h"

// The address without slashes at its end; free() ends it. ERR_USAGE unless it is https, or http to this machine, without
// a user, a query or a fragment.
int origin_address(const char *address, char **clean) MUST_CHECK;
bool origin_same(const char *a, const char *b);  // scheme, host and port
