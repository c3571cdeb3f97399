// SPDX-License-Identifier: Apache-2.0
// The card's energy meter, read through NVML, which comes with the driver.
#ifndef DAWN_CUDA_METER_H
#define DAWN_CUDA_METER_H

#include "runtime/cuda/cuda.h"

// Microjoules since some fixed moment; false: this card or driver does not say. Loads NVML when first asked.
bool cuda_meter_energy(struct cuda_device *, int64_t *since_start);
void cuda_meter_close(struct cuda_meter *);  // NULL: nothing

#endif
