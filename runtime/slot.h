// SPDX-License-Identifier: Apache-2.0
// Everything that outlives a step: parameters, optimiser state, running statistics, tables and resident data.
// Graphs refer to slots by name, so that the training graphs of every resolution, the evaluation graph and the
// inference graph share one set of weights.
#pragma once

#include "runtime/common/base/arena.h"
#include "runtime/tensor.h"

// Every byte of a run has one of these classes, persistent ones first.
#define MEMORY_LIST                                                                                                    \
    MEMORY(WEIGHTS, "weights")                                                                                         \
    MEMORY(OPTIMISER, "optimiser state")                                                                               \
    MEMORY(STATE, "running statistics")                                                                   \
    MEMORY(DATA, "data set, tables, counters")                                                                                \
    MEMORY(GRADIENTS, "weight gradients")                                                                              \
    MEMORY(ACTIVATIONS, "activations saved for backward")                                                              \
    MEMORY(TEMPORARIES, "temporaries")                                                                                 \
    MEMORY(WORKSPACE, "workspace")                                                                                     \
    MEMORY(SLACK, "slab not in use at the peak")
enum memory_class {
#define MEMORY(id, text) MEMORY_##id,
    MEMORY_LIST
#undef MEMORY
        MEMORY_CLASSES
};
const char *memory_class_name(enum memory_class);

// Initial values of a slot. Draws are keyed by (seed, name of the slot, index): the order of building does not change them.
enum init_kind {
    INIT_ZERO,
    INIT_CONSTANT,    // a
    INIT_COUNT,       // element i is the whole part of i / a: 0, 1, 2, .. if a is 1
    INIT_UNIFORM,     // [-a, a)
    INIT_NORMAL,      // standard deviation a
    INIT_DIRAC,       // filters [K,R,S,C]: identity on the first C outputs, the rest uniform [-a, a)
    INIT_UNIT_UNIFORM,// uniform, then divided by its own standard deviation
    INIT_UPLOAD,      // the caller uploads it (data, tables, whitening filters); zero until then
};
struct init {
    enum init_kind kind;
    float a;
};

// The purpose of a slot. Code that treats slots differently decides by role and group, never by name or rank.
enum role {
    ROLE_PLAIN,      // data, tables, counters, optimiser state
    ROLE_FILTER,     // parameters: of a convolution [K,R,S,C]
    ROLE_MATRIX,     // of a linear or recurrent layer [K,C]
    ROLE_EMBEDDING,  // [V,C], rows picked by index
    ROLE_BIAS,
    ROLE_SCALE,      // of a norm
    ROLE_STATISTIC,  // running mean or variance
    ROLE_DERIVED,    // can be computed again: folded filters
};
static inline bool role_is_parameter(enum role r)
{
    return r >= ROLE_FILTER && r <= ROLE_SCALE;
}
enum { GROUPS_MAX = 32 };  // groups of parameters; a model numbers its own, 0 is the rest

struct slot {
    const char *name;  // "group1.conv1.weight"; unique
    struct shape shape;
    enum dtype dtype;
    enum memory_class memory;
    struct init init;
    enum role role;
    int group;         // of parameters: which trained set and which optimiser rule
    int number;        // its index in the store
    void *device;      // set by the session once allocated
    uint64_t version;  // grows whenever its bytes may have changed, so that a device detects stale packed copies
};

struct slot_store {
    struct arena arena;
    struct slot **slot;  // pointers stay valid as the store grows
    int count, capacity;
    int *bucket, buckets;  // open addressing by name: the number of a slot, or -1; a power of two, at most half full
};

struct slot_store *slot_store_new(void);
void slot_store_free(struct slot_store *);
struct slot *slot_find(const struct slot_store *, const char *name);  // NULL: none
// Finds the slot or makes it; a second use with another shape or type is an error that names the slot.
int slot_make(struct slot_store *, const char *name, struct shape, enum dtype, enum memory_class, struct init,
               struct slot **) MUST_CHECK;
// The bytes a slot begins with, computed on the host.
void slot_initial(const struct slot *, uint64_t seed, void *into);
size_t slot_bytes(const struct slot *);
