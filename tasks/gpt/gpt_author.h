// SPDX-License-Identifier: Apache-2.0
// Writing with a GPT, and the mark of the characters that it was trained on.
#pragma once

#include "tasks/common/step/author.h"
#include "tasks/common/step/step.h"

// Weights for other characters are refused (step_mark).
void gpt_mark_symbols(struct step *, const struct dataset *);
extern const struct author gpt_author;
