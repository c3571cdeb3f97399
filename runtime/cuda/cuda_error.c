// SPDX-License-Identifier: Apache-2.0
// CUDA errors as sentences: the action, the cause, a remedy if there is one, and the runtime's name of the error for a search.
#include "runtime/cuda/cuda.h"

#include <stdio.h>

struct sentence {
    cudaError_t error;
    int code;
    const char *says;
};

static const struct sentence sentences[] = {
    {cudaErrorMemoryAllocation, ERR_MEMORY, "the GPU has not enough free memory; a smaller --batch needs less"},
    {cudaErrorInsufficientDriver, ERR_DEVICE, "the NVIDIA driver is older than this program's CUDA runtime needs"},
    {cudaErrorNoDevice, ERR_MISSING, "the NVIDIA driver finds no GPU"},
    {cudaErrorInvalidDevice, ERR_USAGE, "there is no GPU with that number"},
    {cudaErrorDevicesUnavailable, ERR_DEVICE, "the GPU is in use by another process or its compute mode forbids computing "
                                              "(nvidia-smi shows its processes and its compute mode)"},
    {cudaErrorDeviceAlreadyInUse, ERR_DEVICE, "another process has exclusive use of the GPU (nvidia-smi shows which)"},
    {cudaErrorNoKernelImageForDevice, ERR_UNSUPPORTED,
     "this program has no code for this GPU: it was built for compute capability 9.0, with PTX for 8.0 and newer"},
    {cudaErrorInvalidPtx, ERR_DEVICE, "the driver cannot compile this program's PTX for this GPU"},
    {cudaErrorUnsupportedPtxVersion, ERR_DEVICE,
     "the driver is too old to compile this program's PTX for this GPU; install a newer driver"},
    {cudaErrorJitCompilerNotFound, ERR_DEVICE, "the driver's PTX compiler (libnvidia-ptxjitcompiler) is not installed"},
    {cudaErrorInvalidValue, ERR_DEVICE, "an argument was rejected: this is a defect of this program"},
    {cudaErrorInvalidConfiguration, ERR_DEVICE, "a launch configuration was rejected: this is a defect of this program"},
    {cudaErrorLaunchOutOfResources, ERR_DEVICE, "a kernel needs more registers or shared memory than the GPU has"},
    {cudaErrorIllegalAddress, ERR_DEVICE, "a kernel accessed memory outside of its buffers"},
    {cudaErrorMisalignedAddress, ERR_DEVICE, "a kernel accessed a misaligned address"},
    {cudaErrorInvalidPc, ERR_DEVICE, "a kernel jumped to an invalid address"},
    {cudaErrorIllegalInstruction, ERR_DEVICE, "a kernel contains an instruction that the GPU does not support"},
    {cudaErrorInvalidAddressSpace, ERR_DEVICE, "a kernel used an address of the wrong memory space"},
    {cudaErrorHardwareStackError, ERR_DEVICE, "a kernel overflowed its stack"},
    {cudaErrorAssert, ERR_DEVICE, "an assertion in a kernel failed"},
    {cudaErrorLaunchFailure, ERR_DEVICE, "a kernel failed while it ran"},
    {cudaErrorLaunchTimeout, ERR_DEVICE,
     "a kernel ran longer than the GPU allows, as on one that drives a display"},
    {cudaErrorECCUncorrectable, ERR_DEVICE, "the GPU's memory has an uncorrectable error: see nvidia-smi -q"},
    {cudaErrorNvlinkUncorrectable, ERR_DEVICE, "NVLink has an uncorrectable error: see nvidia-smi -q"},
    {cudaErrorSystemNotReady, ERR_DEVICE,
     "a service that the GPU needs does not run (on NVSwitch machines: the fabric manager)"},
    {cudaErrorSystemDriverMismatch, ERR_DEVICE,
     "libcuda and the kernel's NVIDIA module are of different versions: reboot the machine"},
    {cudaErrorInitializationError, ERR_DEVICE, "the NVIDIA driver could not be started"},
    {cudaErrorOperatingSystem, ERR_DEVICE, "a system call of the driver failed"},
    {cudaErrorStreamCaptureUnsupported, ERR_DEVICE, "a call cannot be captured in a CUDA graph"},
    {cudaErrorStreamCaptureInvalidated, ERR_DEVICE, "the capture of a CUDA graph was invalidated by an earlier error"},
};

int cuda_check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return 0;
    (void)cudaGetLastError();  // clears the error, so that no later call reports it again
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (sentences[i].error == error)
            return fail(sentences[i].code, "cuda: %s: %s (%s)", what, sentences[i].says, cudaGetErrorName(error));
    return fail(ERR_DEVICE, "cuda: %s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
}

int cuda_choose(struct cuda_device *cuda)
{
    return cuda_check(cudaSetDevice(cuda->index), "selecting the GPU");
}

// The error may come from an earlier run. The message names that graph and says how to find the node.
int cuda_late_failure(const struct cuda_device *cuda, cudaError_t error, const char *what)
{
    int rc = cuda_check(error, what);
    if (error == cudaErrorMemoryAllocation || !*cuda->ran || cuda->sync) return rc;
    char why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", error_text());
    return fail(rc, "%s; graph %s ran last: set DAWN_CUDA_GRAPHS=off DAWN_CUDA_SYNC=on in the environment to name the "
                "node that fails", why, cuda->ran);
}

int cuda_wait(struct cuda_device *cuda)
{
    cudaError_t error = cudaStreamSynchronize(cuda->stream);
    if (error != cudaSuccess) return cuda_late_failure(cuda, error, "waiting for the GPU");
    cuda->ring_used = 0;  // no copy is under way (cuda_copy.h)
    return 0;
}
