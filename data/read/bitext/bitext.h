// SPDX-License-Identifier: Apache-2.0
// Parallel text: two files per split, one per language, whose lines with the same number translate each other.
//
// The kinds: "multi30k" (English to German, captions of photographs, tokenised and in lower case), "wmt16" and "wmt17" (news, as
// MLPerf's GNMT and Transformer read them) and "phrases" (drawn, for tests and trials). A sample is a pair of lines. Its fields
// are "source" and "target" (u8, UTF-8, ragged), without the line's end.
//
// A line ends with LF or CR LF; no other character ends one. Every line is valid UTF-8 with at least one character that is no
// blank (space, tab, CR). Both files of a split have the same number of lines. Cost: files are read whole and kept, 4.5 MB for
// Multi30k, 1.5 GB for WMT.
#pragma once

#include "data/dataset.h"
#include "runtime/common/base/error.h"

enum { BITEXT_BYTES = INT32_MAX, BITEXT_LINE = 1 << 16 };
enum bitext_side { BITEXT_SOURCE, BITEXT_TARGET, BITEXT_SIDES };

struct bitext_line {
    const char *at;
    int32_t length;  // bytes
};
struct bitext_lines {
    struct bitext_line *line;  // they point into the parsed text; free() ends the table
    int64_t lines;
    int32_t longest;
};
// Pure. `name` names the text in errors, which name the line, too. Nothing is left to free after a failure.
int bitext_parse(const char *name, const char *text, size_t n, struct bitext_lines *) MUST_CHECK;
// The parts of bitext_parse, for texts that may have lines without a sentence. bitext_cut takes at most BITEXT_BYTES bytes, and
// lines of any content; bitext_check refuses too long ones, and bytes that are no text. A blank line passes it.
int bitext_cut(const char *name, const char *text, size_t n, struct bitext_lines *) MUST_CHECK;
int bitext_check(const char *name, int64_t number, const struct bitext_line *) MUST_CHECK;
bool bitext_is_blank(const struct bitext_line *);

// The file of the set's vocabulary of subtokens (data/text/subtokens.h); NULL: it has none.
const char *bitext_subtokens(const struct dataset *);
// The file of a side of a split in errors; of a set that has none, the set's name.
const char *bitext_file_name(const struct dataset *, enum split, enum bitext_side);
// A data set whose test split, "text", has these lines on both sides, blank ones, too. Its training split comes from `like`,
// which is borrowed; NULL: an empty one.
int bitext_ask(const struct dataset *like, const char *text, size_t n, struct dataset **) MUST_CHECK;
