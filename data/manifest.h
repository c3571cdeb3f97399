// SPDX-License-Identifier: Apache-2.0
// Digests of files, remembered in the user's cache folder. So a run need not read hundreds of gigabytes to know which bytes it
// trains on.
//
// A digest belongs to a path with its device, inode, size and time of change. A file is read again if one of them differs. Values
// that cost more to derive (a digest that does not depend on the order) are remembered under a key, which is a digest of the
// files' digests. Limit: a changed file whose time was set back, or a forged cache, misleads a check. `dawn data verify` reads
// everything and does not use the cache. Cost: one small JSON file, read and written whole; a folder or file that others may
// write is neither read nor written.
#pragma once

#include "runtime/common/base/error.h"
#include "runtime/common/base/file.h"

enum { MANIFEST_FILES = 4096, MANIFEST_VALUES = 1024, MANIFEST_BYTES = 4 << 20, MANIFEST_PATH = 4096 };

struct manifest_key {
    int64_t device, inode, size, mtime_ns;
};

struct manifest_file {
    char *path;
    struct manifest_key key;
    int64_t read_ms;  // when its bytes were read, since 1970
    char hex[DIGEST_HEX];
};

struct manifest_value {
    char key[DIGEST_HEX], hex[DIGEST_HEX];
    int64_t read_ms;
};

struct manifest {
    struct manifest_file *file;
    struct manifest_value *value;
    int files, values;
};

// Pure. `name` is for the sentence. Nothing is left to free after a failure.
int manifest_parse(const char *name, const char *bytes, size_t count, struct manifest *) MUST_CHECK;
char *manifest_print(const struct manifest *);  // free() it
void manifest_free(struct manifest *);

const struct manifest_file *manifest_find(const struct manifest *, const char *path, const struct manifest_key *);
const struct manifest_value *manifest_find_value(const struct manifest *, const char *key);
// Replaces the entry of that path or key, or, if the list is full, the entry that was read longest ago.
void manifest_put(struct manifest *, const char *path, const struct manifest_key *, int64_t read_ms, const char *hex);
void manifest_put_value(struct manifest *, const char *key, int64_t read_ms, const char *hex);

void manifest_load(struct manifest *);        // empty if there is no cache that can be trusted and parsed
void manifest_save(const struct manifest *);  // a cache: failures to write are ignored

// The SHA-256 of one file: remembered if the file is unchanged, else read and remembered. Reads and writes the cache.
int manifest_digest(const char *path, char hex[DIGEST_HEX], bool *remembered) MUST_CHECK;

// Other files in that folder, with the same checks. free() the path and the bytes. False if the file is missing or others
// may write it.
char *manifest_cache_path(const char *name);
bool manifest_cache_read(const char *path, size_t limit, char **bytes, size_t *count);
void manifest_cache_write(const char *path, const void *bytes, size_t count);

int manifest_key_of(const char *path, struct manifest_key *) MUST_CHECK;
struct stat;
struct manifest_key manifest_key_from(const struct stat *);
// True if the file did not change just before. A recent change may be followed by another one with the same time: the
// coarsest clock of a file system (FAT) counts 2 s.
bool manifest_key_settled(const struct manifest_key *, int64_t now_ms);
