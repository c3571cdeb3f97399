// SPDX-License-Identifier: Apache-2.0
// Facts of pictures with boxes for tasks, besides their fields.
#pragma once

#include "data/dataset.h"

struct text;
void voc_left_out(const struct dataset *, struct text *);  // adds which boxes of its files are left out
// A picture of a person as a data set of one test sample without objects, with the facts of `like`: the classes, and means and
// deviations of pixels. `name` names the JPEG or PNG in errors.
int voc_ask(const struct dataset_facts *like, const char *name, const char *bytes, size_t count, struct dataset **) MUST_CHECK;
