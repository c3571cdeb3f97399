// SPDX-License-Identifier: Apache-2.0
// Compares an instance of the price table with this machine (submit/format/score/price_machine.h).
#pragma once

#include "submit/format/score/price.h"
#include "submit/results/machine/machine.h"

// ERR_USAGE with a sentence if a fact of the machine contradicts the instance. An unknown fact contradicts nothing, but an
// instance with GPUs needs a machine that shows GPUs. A price without an instance fits every machine.
int instance_check(const struct price *, const struct machine_facts *) MUST_CHECK;
// The same check for the whole of this machine. `used`: the facts that a run states, which name only the GPU in use.
int instance_check_here(const struct price *, const struct machine_facts *used) MUST_CHECK;
