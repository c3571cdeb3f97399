// SPDX-License-Identifier: Apache-2.0
// A person's name on the boards, stored next to the keys.
#pragma once

#include <stdbool.h>

#include "runtime/common/base/error.h"

enum { HANDLE_MAX = 40 };
// `given`, else $DAWN_HANDLE, else the stored one. ERR_USAGE if none is known or it is not a valid handle.
int handle_choose(const char *given, char into[HANDLE_MAX]) MUST_CHECK;
bool handle_known(void);  // $DAWN_HANDLE is set, or one is stored
int handle_remember(const char *handle) MUST_CHECK;
