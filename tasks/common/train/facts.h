// SPDX-License-Identifier: Apache-2.0
// Collects the facts of machine, program, device and processes for the record.
#pragma once

#include "runtime/device.h"
#include "submit/results/machine/machine.h"

// The device states its libraries, and its GPU and driver, which a container may hide from /proc. The libraries of several
// processes include MPI and the number of processes.
int facts_read(const struct device_facts *, struct machine_facts *, struct software_facts *) MUST_CHECK;
