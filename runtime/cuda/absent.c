// SPDX-License-Identifier: Apache-2.0
// The CUDA device of a build without CUDA: it can be asked for, and says why it is not there and how to get it.
#include "runtime/device.h"

#ifndef CUDA_MISSING
#define CUDA_MISSING ""
#endif

static bool absent_present(void)
{
    return false;
}

static int absent_open(int index, int threads, struct device **into)
{
    (void)index, (void)threads, (void)into;
    const char *why = CUDA_MISSING;  // what the build found wanting; "no" where CUDA was not wanted
    if (strcmp(why, "no") == 0) why = "CUDA=no was asked for";
    return fail(ERR_UNSUPPORTED, "device cuda: this program was built without CUDA: %s. Install the CUDA Toolkit 13.0 or "
                "newer with cuDNN 9 and run make again; --device cpu needs none", *why ? why : "the toolkit was not found");
}

static void absent_close(struct device *device)
{
    (void)device;
}

const struct device_type device_cuda = {
    .name = "cuda",
    .about = "an NVIDIA card; not in this build",
    .present = absent_present,
    .open = absent_open,
    .close = absent_close,
};
