// SPDX-License-Identifier: Apache-2.0
// A person's name on the boards, stored next to the keys between submissions.
#ifndef DAWN_SUBMIT_HANDLE_H
#define DAWN_SUBMIT_HANDLE_H

#include "runtime/base/error.h"

enum { HANDLE_MAX = 40 };
// `given`, else $DAWN_HANDLE, else the one remembered. ERR_USAGE if there is none, or it is not a valid handle.
int handle_choose(const char *given, char into[HANDLE_MAX]) MUST_CHECK;
int handle_remember(const char *handle) MUST_CHECK;

#endif
