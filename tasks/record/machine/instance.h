// SPDX-License-Identifier: Apache-2.0
// Holds an instance of the price table against the machine that claims to be one. A price that belongs to other hardware would
// make a cost that nobody paid.
#ifndef DAWN_TASKS_INSTANCE_H
#define DAWN_TASKS_INSTANCE_H

#include "submit/format/score/price.h"
#include "tasks/record/machine/machine.h"

// ERR_USAGE with a sentence if a fact of the machine contradicts the instance. A fact that is not known contradicts nothing, but
// an instance with GPUs needs a machine that shows them. A price without an instance fits every machine.
int instance_check(const struct price *, const struct machine_facts *) MUST_CHECK;
// The same of the whole machine that this is. `used`: what a run states of it, in which only the GPU that it uses has a name.
int instance_check_here(const struct price *, const struct machine_facts *used) MUST_CHECK;

#endif
