// SPDX-License-Identifier: Apache-2.0
// Shared by the files of this folder.
#pragma once

#include "runtime/common/base/text.h"

// ---- site_links.c: pure
struct site_link {
    size_t begin, value, end;  // of the attribute with the blank before it; of its value; after its closing quote
};
// The next href="..." or src="..." from `*at` on, in markup that DAWN wrote itself. False: there is none.
bool site_next_link(const char *body, size_t count, size_t *at, struct site_link *);
// The address on this board that a value means, "/runs/12#curve", on a page of `page`; "" if it leads elsewhere. `absolute`: it
// was written with the board's whole address (`base`).
void site_address_of(const char *value, size_t count, const char *page, const char *base, struct text *into, bool *absolute);
// The relative link from one path to another: "../../style.css".
void site_relative(const char *from, const char *to, struct text *into);
// The file's name of a path: percent signs decoded. False if it could lead out of the folder.
bool site_file_name(const char *path, struct text *into);
// True if an address belongs to the copy, no matter which page links to it: without a query, the next part of a list, or with
// single runs or groups and a level of trust as its whole query.
bool site_is_followed(const char *address);

// ---- site_folder.c: a folder that is put in place whole
struct site_folder {
    char *path, *part;  // where it goes, and where it is written
    int64_t files, bytes;
};
int site_folder_begin(struct site_folder *, const char *path) MUST_CHECK;
int site_folder_add(struct site_folder *, const char *name, const void *bytes, size_t count) MUST_CHECK;  // name: from a slash on
int site_folder_commit(struct site_folder *) MUST_CHECK;
void site_folder_end(struct site_folder *);  // removes an uncommitted copy
