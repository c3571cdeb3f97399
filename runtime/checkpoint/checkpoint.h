// SPDX-License-Identifier: Apache-2.0
// Trained weights as one safetensors file, so that every other tool can read them: eight bytes of little-endian
// header length, a JSON header (name -> type, shape, offsets; "__metadata__" -> texts), then the data.
// Parameters and running statistics (enum role) are saved; tables, counters, optimiser state and slots that can be computed
// again are not. The same weights and texts give the same bytes.
// A file is bytes from outside: when checkpoint_open returns 0, everything in it has been checked.
#pragma once

#include "runtime/common/base/file.h"
#include "runtime/session.h"

// A file beyond these limits is refused. A header of 16 MiB holds about 150,000 tensors.
#define CHECKPOINT_HEADER_LIMIT ((size_t)16 << 20)
#define CHECKPOINT_FILE_LIMIT ((size_t)4 << 30)
enum { CHECKPOINT_NAME_LIMIT = 256 };  // bytes of a tensor's name

struct checkpoint_meta {
    const char *key, *value;  // an array of these ends with key NULL
};

// Writes the session's weights, whole or not at all (file_write); meta may be NULL. The session must be ready.
// digest: SHA-256 of the whole file.
int checkpoint_save(const char *path, struct session *, const struct checkpoint_meta *meta,
                    char digest[DIGEST_HEX]) MUST_CHECK;

struct checkpoint;  // an open, fully checked file, with all of its bytes
int checkpoint_open(const char *path, struct checkpoint **) MUST_CHECK;
const char *checkpoint_meta(const struct checkpoint *, const char *key);  // NULL: none; lives as long as the checkpoint
const char *checkpoint_digest(const struct checkpoint *);                 // of the file's bytes
// Uploads every saved slot of the store. A tensor that is missing or of another shape or type is an error, and so is an unknown
// one unless `partly`: the session has some of the programs of a training. All checks come before the first upload, so that the
// session keeps its weights after an error.
// The caller must make folded filters (fuse_fold) again afterwards.
int checkpoint_load(const struct checkpoint *, struct session *, bool partly) MUST_CHECK;
void checkpoint_close(struct checkpoint *);

// Weights of another program or another model (checkpoint_import.c). A tensor goes to the slot of its name, else to the slot
// of its name without one of the prefixes. F32, BF16 and F16 become the slot's f32. Filters that DAWN did not write are
// [K,C,R,S] and are transposed to [K,R,S,C].
struct checkpoint_import {
    const char *const *prefixes;  // "bert."; ends with NULL; NULL: none
    const char *const *fresh;     // beginnings of names of slots that keep their values where no tensor fits; likewise
    const char *inside;            // a prefix of slots' names that tensors' names may lack ("backbone."); NULL: none
    const char *const (*older)[2]; // beginnings of slots' names, and what older files have instead; ends with NULL; NULL: none
};
struct checkpoint_imported {
    int taken, fresh, unused;     // slots that got a tensor, slots that kept their values, tensors that no slot used
    char text[512];               // the three figures and the first names, for people
};
// A slot without a tensor, or with one of another shape, is an error unless it may be fresh (a head for other classes); slots
// whose values were computed from data (INIT_UPLOAD) may always be missing. All checks come before the first upload.
int checkpoint_import(const struct checkpoint *, struct session *, const struct checkpoint_import *,
                      struct checkpoint_imported *) MUST_CHECK;
bool checkpoint_is_own(const struct checkpoint *);  // true if DAWN wrote it: it names its recipe

// The pure parser under checkpoint_open: no I/O, any bytes. `where` names them in error sentences.
struct safetensor {
    const char *name;
    enum dtype dtype;     // from DTYPE_COUNT on: a type of the format that no slot has; checkpoint_type_name names it
    struct shape shape;   // rank 0..MAX_RANK; rank 0 has one element
    const void *bytes;    // within the parsed bytes; not aligned
    size_t offset, size;  // from the start of the data; in bytes
};
struct safetensors_view {
    struct arena arena;          // names and texts
    struct safetensor *tensor;   // in the order of their data
    int tensors;
    struct checkpoint_meta *meta;
    int metas;
};
// On success the view borrows `bytes`, and checkpoint_view_free ends it; on failure there is nothing to free.
int checkpoint_parse(const char *where, const void *bytes, size_t count, struct safetensors_view *) MUST_CHECK;
// The same of files that torch.save wrote before PyTorch 1.6, whose tensors may share bytes. checkpoint_open takes both forms.
bool checkpoint_is_pth(const void *bytes, size_t count);
int checkpoint_parse_pth(const char *where, const void *bytes, size_t count, struct safetensors_view *) MUST_CHECK;
void checkpoint_view_free(struct safetensors_view *);
const char *checkpoint_type_name(enum dtype);  // as the format spells it: "F32"
size_t checkpoint_type_size(enum dtype);       // in bytes
