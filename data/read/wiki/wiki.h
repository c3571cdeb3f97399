// SPDX-License-Identifier: Apache-2.0
// Articles of Wikipedia as sentences: the texts on which BERT is trained before it is given a task.
//
// The kinds: "wiki-sample" (MLPerf's sample, four files of WikiExtractor), "wiki" (the whole of it in MLPerf's own form) and
// "articles" (drawn, for tests and trials). A sample is an article. Its field "text" (u8, UTF-8, ragged) has its sentences, each
// with a line feed at the end.
//
// Two forms of files. WikiExtractor's: an article is the lines between "<doc ...>" and "</doc>", first its title, which is left
// out, then paragraphs, which are cut into sentences after ".", "!" or "?" before blanks and one of A to Z. Lines: one sentence
// per line, and empty lines between articles. Every line is valid UTF-8. Cost: the text is kept in memory, 2.9 MB for the sample,
// 13.4 GB for the whole.
#pragma once

#include "runtime/common/base/error.h"

enum { WIKI_LINE = 1 << 19 };  // the longest line in bytes

struct wiki_articles {
    char *text;
    size_t bytes, capacity;
    int64_t *at;       // article i is the bytes [at[i], at[i+1]) of the text
    int64_t articles, at_capacity, longest;
    int64_t empty;     // articles left out: they have a title and no text
};
// Adds the articles of a file. Pure; `name` names it in errors, which name the line, too. After a failure the articles are as
// they were.
int wiki_parse(const char *name, const char *text, size_t n, struct wiki_articles *) MUST_CHECK;        // WikiExtractor's form
int wiki_parse_lines(const char *name, const char *text, size_t n, struct wiki_articles *) MUST_CHECK;  // a sentence per line
void wiki_free(struct wiki_articles *);

struct dataset;
// A data set whose test split has these lines, each an article that must not be empty. Its training split comes from `like`,
// which is borrowed; NULL: an empty one.
int wiki_ask(const struct dataset *like, const char *text, size_t n, struct dataset **) MUST_CHECK;
bool wiki_is_asked(const struct dataset *);
