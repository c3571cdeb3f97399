// SPDX-License-Identifier: Apache-2.0
// The end of a command that several processes run together (runtime/ranks): one of them says why it failed, and all end.
#pragma once

#include "runtime/common/base/error.h"

// As the last act of the command. Returns rc; the sentence is emptied where another process says it. A process that fails while
// the others go on says so here and ends them all.
int cmd_finish(const char *command, int rc) MUST_CHECK;
