// SPDX-License-Identifier: Apache-2.0
// A profile as a Chrome trace (the "Trace Event Format") for Perfetto (ui.perfetto.dev) and chrome://tracing: the nodes of
// one step in their order, one track per pass; the memory of the slab above them; the steps through the feed.
#pragma once

#include "tasks/tools/profile/profile.h"

int trace_write(const struct trial *, const struct profile *, const char *path) MUST_CHECK;
