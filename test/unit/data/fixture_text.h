// SPDX-License-Identifier: Apache-2.0
// A set of sequences, as a task of reading text has it, without files: tokens of different lengths, two positions in them.
#pragma once

#include "data/kind.h"
#include "data/read/noise.h"

#include <stdlib.h>

enum { TEXT_LONGEST = 40, TEXT_TOKENS = 1000 };

static inline struct dataset *text_set(int64_t train, int64_t dev)
{
    struct dataset *ds = calloc(1, sizeof *ds);
    if (ds == NULL) abort();
    *ds = (struct dataset){.kind = &noise_kind,
                           .facts = {.name = "text", .count = {train, dev}, .fields = 3, .split_name = {"train", "dev"},
                                     .field = {{"tokens", I32, SHAPE(TEXT_LONGEST), 0, TEXT_TOKENS},
                                               {"start", I32, {0}, FIELD_FIXED, TEXT_LONGEST},
                                               {"row", F32, SHAPE(2, 3), FIELD_FIXED, 0}}}};
    return ds;
}
