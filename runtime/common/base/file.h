// SPDX-License-Identifier: Apache-2.0
// Whole files, folders and digests.
#pragma once

#include "runtime/common/base/error.h"

// Reads all of a regular file; refuses one larger than `limit`. The bytes are followed by a NUL that is not
// counted. free() ends them.
int file_read(const char *path, size_t limit, char **bytes, size_t *count) MUST_CHECK;
// The same of standard input where the path is NULL or "-".
int file_read_or_input(const char *path, size_t limit, char **bytes, size_t *count) MUST_CHECK;
// Through whole.h: the file is whole or not there. An existing pipe or device is written into.
int file_write(const char *path, const void *bytes, size_t count) MUST_CHECK;
int file_check_target(const char *path) MUST_CHECK;  // before the work: whether file_write could write it (whole.h)
bool file_exists(const char *path);
int file_make_folder(const char *path) MUST_CHECK;  // with its parents
// Where the bytes of this program are, and the file that starts it again. They are the same file, unless a dynamic loader was
// started to load it: an archive of `make release` carries its own C library, and its bin/NAME starts lib/dawn/NAME.
enum { FILE_PROGRAM = 4096 };
int file_program(char bytes[FILE_PROGRAM], char starter[FILE_PROGRAM]) MUST_CHECK;

enum { DIGEST_HEX = 65 };
int digest_file(const char *path, char hex[DIGEST_HEX]) MUST_CHECK;  // SHA-256, streamed
void digest_bytes(const void *bytes, size_t count, char hex[DIGEST_HEX]);
void digest_hex(const unsigned char digest[32], char hex[DIGEST_HEX]);
bool digest_is_hex(const char *text);  // 64 hex digits in lower case, and no more
