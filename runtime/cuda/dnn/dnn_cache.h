// SPDX-License-Identifier: Apache-2.0
// The chosen cuDNN engines by problem, kept between runs: cuDNN's heuristics cost tens of milliseconds and load 60 MB, and
// timing engines costs more. A choice is an engine's number and its settings, so a cached choice is checked like a fresh one.
// One small JSON file per machine (GPU, driver, libraries).
//
// The file is untrusted input: a broken, foreign or truncated one is rejected whole and rewritten. Anything but a regular file
// in a folder owned by us alone is left alone: not read, not waited for, not written. This part needs no CUDA header, so that
// it can be fuzzed anywhere. Cost: microseconds per entry; a file holds at most DNN_CACHE_ENTRIES.
#pragma once

#include "runtime/common/base/error.h"

enum { DNN_KNOBS = 32, DNN_CACHE_ENTRIES = 4096, DNN_CACHE_BYTES = 4 << 20, DNN_PROBLEM_TEXT = 176 };

struct dnn_knob {
    int64_t type, value;  // cudnnBackendKnobType_t
};
struct dnn_choice {
    int64_t engine;       // CUDNN_ATTR_ENGINE_GLOBAL_INDEX
    int knobs;
    struct dnn_knob knob[DNN_KNOBS];
    int64_t ns;           // measured time on the GPU; 0: not timed
};
struct dnn_cache_entry {
    char problem[DNN_PROBLEM_TEXT];
    struct dnn_choice choice;
};
struct dnn_cache {
    struct dnn_cache_entry *entry;
    int count, capacity;
};

// Pure. Parses the bytes of a file written for `machine`. Fails with ERR_INPUT for anything else, and empties *into.
int dnn_cache_parse(const char *bytes, size_t count, const char *machine, struct dnn_cache *into) MUST_CHECK;
// The bytes of a file; the caller frees them.
char *dnn_cache_print(const struct dnn_cache *, const char *machine);
const struct dnn_choice *dnn_cache_find(const struct dnn_cache *, const char *problem);  // NULL: not known
void dnn_cache_put(struct dnn_cache *, const char *problem, const struct dnn_choice *);  // does nothing if full
void dnn_cache_free(struct dnn_cache *);

// $XDG_CACHE_HOME/dawn/cudnn-DIGEST.json, else under ~/.cache; NULL if neither is known. The caller frees it.
char *dnn_cache_path(const char *machine);
// Reads the choices for `machine`; none if the file cannot be trusted. Never fails.
void dnn_cache_read(const char *path, const char *machine, struct dnn_cache *into);
// A failure to write is ignored. The file and a created folder are private to their owner.
void dnn_cache_write(const struct dnn_cache *, const char *machine, const char *path);
