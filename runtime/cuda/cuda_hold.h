// SPDX-License-Identifier: Apache-2.0
// Holds a stream back until the host has queued the work to be timed. A launch takes the host some microseconds, and cuDNN's
// calls take more: longer than a small kernel takes the GPU. Events around launches on an idle GPU would time the host.
//
// The pause has a fixed length, because the queue of launches is limited: a GPU that waited for the last of many launches would
// wait forever. Cost: the pause, and about 0.1 ms.
#pragma once

#include "runtime/common/base/error.h"

#include <cuda_runtime_api.h>

enum { CUDA_HOLD_LAUNCH_NS = 10000 /* for a launch and an event */, CUDA_HOLD_CALL_NS = 100000 /* for a call of cuDNN */ };

int cuda_hold(cudaStream_t, int64_t ns) MUST_CHECK;
