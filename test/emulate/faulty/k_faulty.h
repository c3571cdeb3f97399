// SPDX-License-Identifier: Apache-2.0
// Kernels for the test of the emulator; most are deliberately wrong, each in one way.
#pragma once

#include "runtime/cuda/kernel.h"

enum fault {
    FAULT_NONE,              // y[i] = x[i] of the block, reversed, through shared memory
    FAULT_NO_BARRIER,        // the same without the barrier
    FAULT_BLOCK_ORDER,       // every block writes y[0]
    FAULT_HALF_BARRIER,      // only half of the block reaches the barrier
    FAULT_EARLY_END,         // some threads end before the barrier
    FAULT_TWO_BARRIERS,      // two halves wait at two barriers
    FAULT_MISSING_LANE,      // a shuffle with a full mask that lane 3 does not reach
    FAULT_OTHER_CALL,        // lanes of a warp meet at different shuffles
    FAULT_MASK_WITHOUT_ME,   // a shuffle by a lane that is not in its own mask
    FAULT_SHORT_WARP,        // a full mask in a block of 20 threads
    FAULT_PAST_THE_END,      // writes one element past the end
    FAULT_MISALIGNED,        // a load of 16 bytes from an address that is a multiple of 4
    FAULT_NOWHERE,           // reads address 16
    FAULT_UNWRITTEN_SHARED,  // y = the initial content of shared memory
    FAULT_MUCH_SHARED,       // 64 KiB of shared memory
    FAULT_MANY_THREADS,      // 1025 threads per block
    FAULT_NO_BLOCKS,         // an empty grid
    FAULT_HIGH_GRID,         // 65536 blocks in y
    FAULT_NO_KERNEL,
};

// Blocks of 256 threads over count elements, a multiple of 256.
struct k_faulty {
    enum fault fault;
    const float *x;
    float *y;
    int64_t count;
};
K_LAUNCHER(k_faulty);

// The result of each lane for x[32] through every collective: y[EXCHANGES][32], as bits.
enum { EXCHANGE_LANE, EXCHANGE_XOR, EXCHANGE_DOWN, EXCHANGE_UP, EXCHANGE_QUARTER, EXCHANGE_HALF_WARP, EXCHANGE_BALLOT,
       EXCHANGE_ANY, EXCHANGE_ALL, EXCHANGE_GATHER, EXCHANGE_SUM, EXCHANGE_MOST, EXCHANGES };
struct k_exchange {
    const float *x;
    uint32_t *y;
};
K_LAUNCHER(k_exchange);

// Sums of blocks of 256, y[count / 256], then their sum at y[count / 256].
struct k_sums {
    const float *x;
    float *y;
    int64_t count;
};
K_LAUNCHER(k_sums);

// The position of every thread of a grid of 3 x 2 x 2 blocks of 4 x 3 x 2 threads: y[i] = i for i computed from the indices.
struct k_indices {
    int32_t *y;
};
K_LAUNCHER(k_indices);
