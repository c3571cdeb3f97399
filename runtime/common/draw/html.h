// SPDX-License-Identifier: Apache-2.0
// The only way for text into a page: markup is a literal of DAWN's source, everything else is escaped.
#pragma once

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

// As printf, except that what %s brings is escaped, for text and for attributes in double quotes alike. Broken UTF-8,
// control characters and bidi overrides become U+FFFD; a NULL is nothing; a double that is not finite is 0. The first
// argument must be a literal (the compiler checks that), so no bytes from outside can ever be taken for markup.
// Understands %s %c %d %i %u %x %zu %ld %lld %f %g %e %% with flags, width and precision, also as *.
#define html_add(into, ...) html_add_literal(into, "" __VA_ARGS__)
void html_add_literal(struct text *into, const char *markup, ...) __attribute__((format(printf, 2, 3)));

void html_escape(struct text *into, const char *text, size_t count);
// Text of strangers: escaped, and isolated with <bdi>, so that its direction does not affect the text around it.
void html_words(struct text *into, const char *words);
// A link if `url` is an https or http address without blanks; any other text is shown without a link.
void html_link(struct text *into, const char *url, const char *label);
bool html_url_is_safe(const char *url);
// One part of a path, or a value of a query: everything but letters, digits and - . _ ~ percent-encoded.
const char *html_part(struct arena *, const char *text);
