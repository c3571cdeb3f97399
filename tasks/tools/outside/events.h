// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: records (TFRecord: length, its checksum, bytes, their checksum) of events (protocol buffers), of
// which the scalars are taken. events_read is a pure parser; a folder of such files is followed while a program writes them.
#pragma once

#include "runtime/common/base/error.h"

enum { EVENTS_TAG = 128, EVENTS_RECORD = 16 << 20 };  // bytes of a tag with its NUL, and of a record
struct events_scalar {
    char tag[EVENTS_TAG];
    int64_t step;
    double wall, value;  // seconds since 1970 by the writer's clock, and the scalar
};
// A failure of it is returned at once.
typedef int events_take(void *context, const struct events_scalar *);

// Takes the scalars of all whole records, and sets *used to the end of the last one: a record that is being written stays for the
// next call. Longer tags are skipped. ERR_INPUT for wrong checksums, records above EVENTS_RECORD and bytes that are no event.
int events_read(const unsigned char *bytes, size_t count, size_t *used, events_take *, void *context) MUST_CHECK;

struct events_folder;
// Files that are there already belong to other runs, and are left alone. The folder need not exist yet.
struct events_folder *events_folder_new(const char *path);
// Reads the bytes written since the call before, file by file in the order of their names.
int events_folder_poll(struct events_folder *, events_take *, void *context) MUST_CHECK;
void events_folder_free(struct events_folder *);
