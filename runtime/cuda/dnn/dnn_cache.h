// SPDX-License-Identifier: Apache-2.0
// Which engine of cuDNN took which problem, kept between runs: asking cuDNN's heuristics costs tens of milliseconds and
// loads 60 MB, and timing engines costs more. What is kept is an engine's number and its settings, so a choice that is
// read back goes through the same doors as a fresh one. One small JSON file for each machine (card, driver, libraries).
//
// The file comes from outside: a broken, foreign or cut-off one is refused whole and written anew. What is not a plain
// file and folder of ours alone is left as it is: neither read, waited for nor written. This part needs no
// CUDA header, so that it can be fuzzed anywhere. Cost: microseconds an entry; a file holds at most DNN_CACHE_ENTRIES.
#ifndef DAWN_DNN_CACHE_H
#define DAWN_DNN_CACHE_H

#include "runtime/base/error.h"

enum { DNN_KNOBS = 32, DNN_CACHE_ENTRIES = 4096, DNN_CACHE_BYTES = 4 << 20, DNN_PROBLEM_TEXT = 176 };

struct dnn_knob {
    int64_t type, value;  // cudnnBackendKnobType_t
};
struct dnn_choice {
    int64_t engine;       // CUDNN_ATTR_ENGINE_GLOBAL_INDEX
    int knobs;
    struct dnn_knob knob[DNN_KNOBS];
    int64_t ns;           // what it took when it was timed on the card; 0: not timed
};
struct dnn_cache_entry {
    char problem[DNN_PROBLEM_TEXT];
    struct dnn_choice choice;
};
struct dnn_cache {
    struct dnn_cache_entry *entry;
    int count, room;
};

// Pure. Takes the bytes of a file that was written for `machine`; ERR_INPUT for anything else, and *into is then empty.
int dnn_cache_parse(const char *bytes, size_t count, const char *machine, struct dnn_cache *into) MUST_CHECK;
// The bytes of a file; free() ends them.
char *dnn_cache_print(const struct dnn_cache *, const char *machine);
const struct dnn_choice *dnn_cache_find(const struct dnn_cache *, const char *problem);  // NULL: not known
void dnn_cache_put(struct dnn_cache *, const char *problem, const struct dnn_choice *);  // full: does nothing
void dnn_cache_free(struct dnn_cache *);

// $XDG_CACHE_HOME/dawn/cudnn-DIGEST.json, else under ~/.cache; NULL where neither is known. free() ends it.
char *dnn_cache_path(const char *machine);
// What the file holds for `machine`; nothing, where it can not be trusted. Never a failure.
void dnn_cache_read(const char *path, const char *machine, struct dnn_cache *into);
// That it can not be written is no failure. A folder that is made is for its owner only, as the file is.
void dnn_cache_write(const struct dnn_cache *, const char *machine, const char *path);

#endif
