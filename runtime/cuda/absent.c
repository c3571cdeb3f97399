// SPDX-License-Identifier: Apache-2.0
// The CUDA device in a build without CUDA: opening it fails with the reason and the remedy.
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
    const char *why = CUDA_MISSING;  // the build's reason; "no" if CUDA=no was given
    if (strcmp(why, "no driver") == 0)
        return fail(ERR_UNSUPPORTED, "device cuda: this program was built without CUDA, because the machine had no "
                    "NVIDIA driver. Run make again where there is one, or make cuda, or use --device cpu");
    if (strcmp(why, "no") == 0) why = "CUDA=no was given";
    return fail(ERR_UNSUPPORTED, "device cuda: this program was built without CUDA: %s. Install the CUDA Toolkit 13.0 or "
                "newer with cuDNN 9 and run make again, or use --device cpu", *why ? why : "the toolkit was not found");
}

static void absent_close(struct device *device)
{
    (void)device;
}

const struct device_type device_cuda = {
    .name = "cuda",
    .about = "an NVIDIA GPU; not in this build",
    .present = absent_present,
    .open = absent_open,
    .close = absent_close,
};
