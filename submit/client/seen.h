// SPDX-License-Identifier: Apache-2.0
// The last checkpoint that this user saw of each board's log, by the board's key: a file in $XDG_DATA_HOME/dawn/logs or
// ~/.local/share/dawn/logs. It exposes a board that later shows a log without those entries.
#pragma once

#include "runtime/common/base/text.h"
#include "submit/format/ssh/sshkey.h"

int seen_read(const struct sshkey *board, struct text *note) MUST_CHECK;  // leaves it empty if nothing has been seen
int seen_keep(const struct sshkey *board, const struct text *note) MUST_CHECK;
