// SPDX-License-Identifier: Apache-2.0
// Compares an instance of the price table with the machine that claims to be one. The price of other hardware would be a
// cost that was not paid.
#pragma once

#include "submit/format/score/price.h"

// The known facts of a machine. 0 and "": unknown, which contradicts nothing; but an instance with GPUs needs a machine that
// shows GPUs.
struct price_machine {
    const char *cpu, *gpu, *product;
    int64_t threads, memory_bytes;
    int64_t devices;  // GPUs in use, when `gpu` names these alone; 0: `gpu` names all GPUs of the machine
};
enum { PRICE_MACHINE_WHY = 256 };
// True if a fact of the machine contradicts the instance; `why` then goes on after "the machine ": "runs 4 hardware threads". A
// price without an instance fits every machine.
bool price_machine_differs(const struct price *, const struct price_machine *, char why[PRICE_MACHINE_WHY]);
