// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/sample/reader.h"

#include "tasks/squad/sample/encode.h"
#include "tasks/squad/sample/passages.h"

#include <string.h>

static const struct {
    const char *model;
    const struct reader *reader;
} readers[] = {
    {"bert", &encode_reader}, {"encoder", &encode_reader}, {"fastfusionnet", &passages_reader}, {"drqa", &passages_reader}};

const struct reader *reader_of(const struct setting *c)
{
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (!strcmp(readers[i].model, c->model->name)) return readers[i].reader;
    BUG("a model without a reader");
}
