// SPDX-License-Identifier: Apache-2.0
// The GPU's energy meter, read through NVML, which comes with the driver.
#pragma once

#include "runtime/cuda/cuda.h"

// Microjoules since a fixed moment. Returns false if the GPU or the driver does not report energy. Loads NVML on first use.
bool cuda_meter_energy(struct cuda_device *, int64_t *since_start);
void cuda_meter_close(struct cuda_meter *);  // NULL is allowed
