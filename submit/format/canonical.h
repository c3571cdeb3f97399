// SPDX-License-Identifier: Apache-2.0
// Canonical JSON: the one byte string of a value, so that it can be hashed and signed. ASCII keys sorted, compact,
// integers and strings only (JSON libraries rewrite 0.1), at most 8 levels, at most 1 MiB. A receiver parses, writes
// again and demands identical bytes.
#pragma once

#include <jansson.h>

#include "runtime/common/base/error.h"
#include "runtime/common/base/file.h"

enum { CANONICAL_MAX = 1 << 20, CANONICAL_DEPTH = 8 };

// free() ends the bytes. ERR_INPUT for a fraction, a null, a boolean, a control character, too many levels or too many bytes.
int canonical_write(const json_t *value, char **bytes, size_t *count) MUST_CHECK;
// SHA-256 of those bytes. Takes over the reference. NULL (text that is not UTF-8) is an error.
int canonical_digest(json_t *value, char hex[DIGEST_HEX]) MUST_CHECK;
// The pure parser of bytes from outside: refuses duplicate keys, broken UTF-8, and all bytes that canonical_write would not have
// written. json_decref ends the value.
int canonical_read(const char *bytes, size_t count, json_t **value) MUST_CHECK;

// Accessors for values whose shape has been checked: 0, "" or NULL if the member is missing or of another kind. A path joins
// members with dots: "model.name".
int64_t canonical_int(const json_t *, const char *path);
const char *canonical_text(const json_t *, const char *path);
const json_t *canonical_at(const json_t *, const char *path);

// Checks text for people: valid UTF-8 without control characters, bidi overrides or isolates, zero-width characters, line
// separators, private use or unassigned planes, and without blanks at its ends. ERR_INPUT names the character.
int canonical_check_words(const char *text, size_t count) MUST_CHECK;
// The same for text that programs wrote, such as a recipe: it may begin and end with blanks.
int canonical_check_text(const char *text, size_t count) MUST_CHECK;
// Refuses invisible characters, and piles of combining marks, which overprint neighbouring lines. It uses Unicode's properties
// and needs valid UTF-8. Older accepted statements may hold such characters, so only text that is typed, signed or accepted is
// checked.
int canonical_check_marks(const char *text, size_t count) MUST_CHECK;
// The same for an address that pages link to: it begins with https:// and a host, and has no blank and no user.
int canonical_check_url(const char *text, size_t count) MUST_CHECK;
