// SPDX-License-Identifier: Apache-2.0
// What a person says of a run when it begins: a name, a remark and tags. They are no figures, so the chain does not bind them.
// `dawn submit` publishes the remark and the tags, unless it is given others; the name stays in the record.
#pragma once

#include "runtime/common/base/error.h"

struct results;
struct run_labels {
    const char *name, *note;  // NULL: none
    const char *const *tags;
    int tag_count;
};
// The options of a command that begins runs; `list` is a struct option_list.
#define LABEL_OPTIONS(labels, list)                                                                                    \
    {OPTION_TEXT, 0, "name", "WORD", "a name of the run, which every command takes for its number", &(labels).name, 0, 0}, \
    {OPTION_TEXT, 0, "note", "TEXT", "a remark; \"dawn submit\" publishes it", &(labels).note, 0, 0},                  \
    {OPTION_LIST, 0, "tag", "WORD", "a word to find runs by; \"dawn submit\" publishes it", &(list), 0, 0}

int labels_check(const struct run_labels *) MUST_CHECK;  // ERR_USAGE names the text that cannot be one
int labels_store(struct results *, int64_t run, const struct run_labels *) MUST_CHECK;
