// SPDX-License-Identifier: Apache-2.0
// The name a person has on the boards, remembered between submissions beside the keys.
#ifndef DAWN_SUBMIT_HANDLE_H
#define DAWN_SUBMIT_HANDLE_H

#include "runtime/base/error.h"

enum { HANDLE_MAX = 40 };
// `given`, else $DAWN_HANDLE, else the one remembered. ERR_USAGE when there is none, or it is no handle.
int handle_choose(const char *given, char into[HANDLE_MAX]) MUST_CHECK;
int handle_remember(const char *handle) MUST_CHECK;

#endif
