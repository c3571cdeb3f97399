// SPDX-License-Identifier: Apache-2.0
// LSTMs with more hidden units than a block holds (K_LSTM_UNITS): per word a product of all states and the recurrent weights
// (k_matmul.h) and a launch for its gates. States lie in global memory, [D,B,..], so that a product's batch is a direction.
#pragma once

#include "runtime/cuda/kernels/k_recurrent.h"

#ifdef __cplusplus
extern "C" {
#endif

struct k_lstm_wide {
    struct k_lstm lstm;    // with weights
    void *rows;            // the product's left factor, in the type of the activations: states; backward gradients of gates
    float *product, *cell; // forward gates without x, backward gradients of states; cells, backward their gradients
    void *work;            // of the product
    int word;              // of a launch
    bool multiplied;       // `product` holds the states times the weights; else the states are zeros
};
K_LAUNCHER(k_lstm_wide);
K_LAUNCHER(k_lstm_wide_grad);

// Sets rows to work in `base`, behind `lstm.packed`; base NULL: only the size is wanted. Returns the size.
size_t k_lstm_wide_carve(struct k_lstm_wide *, void *base, bool back);

#ifdef __cplusplus
}
#endif
