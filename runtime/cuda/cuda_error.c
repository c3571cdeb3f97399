// SPDX-License-Identifier: Apache-2.0
// What the CUDA runtime says, as sentences for people: what was being done, what happened, what may help, and at the end
// the runtime's own name of the error, for a search.
#include "runtime/cuda/cuda.h"

struct sentence {
    cudaError_t error;
    int code;
    const char *says;
};

static const struct sentence sentences[] = {
    {cudaErrorMemoryAllocation, ERR_MEMORY, "the card has not enough free memory; a smaller --batch needs less"},
    {cudaErrorInsufficientDriver, ERR_DEVICE, "the NVIDIA driver is older than this program's CUDA runtime needs"},
    {cudaErrorNoDevice, ERR_MISSING, "the NVIDIA driver sees no card"},
    {cudaErrorInvalidDevice, ERR_USAGE, "there is no card with that number"},
    {cudaErrorDevicesUnavailable, ERR_DEVICE, "the card is taken by another process, or closed to computing "
                                              "(nvidia-smi shows its processes and its compute mode)"},
    {cudaErrorDeviceAlreadyInUse, ERR_DEVICE, "another process has the card for itself (nvidia-smi shows which)"},
    {cudaErrorNoKernelImageForDevice, ERR_UNSUPPORTED,
     "this program has no code for this card: it was built for compute capability 9.0, with PTX for 8.0 and newer"},
    {cudaErrorInvalidPtx, ERR_DEVICE, "the driver can not translate this program's PTX for this card"},
    {cudaErrorUnsupportedPtxVersion, ERR_DEVICE,
     "the driver is too old to translate this program's PTX for this card; a newer driver can"},
    {cudaErrorJitCompilerNotFound, ERR_DEVICE, "the driver's PTX translator (libnvidia-ptxjitcompiler) is not installed"},
    {cudaErrorInvalidValue, ERR_DEVICE, "an argument was refused: this is a fault of this program"},
    {cudaErrorInvalidConfiguration, ERR_DEVICE, "a grid of blocks was refused: this is a fault of this program"},
    {cudaErrorLaunchOutOfResources, ERR_DEVICE, "a kernel needs more registers or shared memory than the card has"},
    {cudaErrorIllegalAddress, ERR_DEVICE, "a kernel touched memory that is not its own"},
    {cudaErrorMisalignedAddress, ERR_DEVICE, "a kernel read or wrote at an address that is not aligned"},
    {cudaErrorInvalidPc, ERR_DEVICE, "a kernel ran into nothing"},
    {cudaErrorIllegalInstruction, ERR_DEVICE, "a kernel met an instruction that the card does not know"},
    {cudaErrorInvalidAddressSpace, ERR_DEVICE, "a kernel used an address of the wrong kind of memory"},
    {cudaErrorHardwareStackError, ERR_DEVICE, "a kernel ran out of its stack"},
    {cudaErrorAssert, ERR_DEVICE, "a kernel found that something can not be"},
    {cudaErrorLaunchFailure, ERR_DEVICE, "a kernel failed while it ran"},
    {cudaErrorLaunchTimeout, ERR_DEVICE,
     "a kernel ran longer than the card allows, as on one that drives a screen"},
    {cudaErrorECCUncorrectable, ERR_DEVICE, "the card's memory has an error that can not be corrected: look at nvidia-smi -q"},
    {cudaErrorNvlinkUncorrectable, ERR_DEVICE, "NVLink has an error that can not be corrected: look at nvidia-smi -q"},
    {cudaErrorSystemNotReady, ERR_DEVICE,
     "a service that the card needs does not run (on NVSwitch machines: the fabric manager)"},
    {cudaErrorSystemDriverMismatch, ERR_DEVICE,
     "libcuda and the kernel's NVIDIA module are of different versions: restart the machine"},
    {cudaErrorInitializationError, ERR_DEVICE, "the NVIDIA driver could not be started"},
    {cudaErrorOperatingSystem, ERR_DEVICE, "the system refused the driver something"},
    {cudaErrorStreamCaptureUnsupported, ERR_DEVICE, "something was called that can not be captured in a CUDA graph"},
    {cudaErrorStreamCaptureInvalidated, ERR_DEVICE, "the capture of a CUDA graph was spoilt by an earlier failure"},
};

int cuda_check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return 0;
    (void)cudaGetLastError();  // what has been told is not told again by a later call
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        if (sentences[i].error == error)
            return fail(sentences[i].code, "cuda: %s: %s (%s)", what, sentences[i].says, cudaGetErrorName(error));
    return fail(ERR_DEVICE, "cuda: %s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
}
