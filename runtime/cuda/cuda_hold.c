// SPDX-License-Identifier: Apache-2.0
// The length travels in the pointer: nothing has to outlive the call.
#include "runtime/cuda/cuda_hold.h"

#include "runtime/cuda/cuda.h"

#include <time.h>

enum { MOST_NS = 100000000 };

static void CUDART_CB sleep_for(void *ns)
{
    const struct timespec pause = {.tv_nsec = (long)(intptr_t)ns};
    (void)nanosleep(&pause, NULL);
}

int cuda_hold(cudaStream_t stream, int64_t ns)
{
    void *pause = (void *)(intptr_t)(ns < MOST_NS ? ns : MOST_NS);
    return cuda_check(cudaLaunchHostFunc(stream, sleep_for, pause), "holding the stream back");
}
