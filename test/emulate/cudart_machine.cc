// SPDX-License-Identifier: Apache-2.0
// The properties of the emulated machine, and its errors: a GPU with an H200's figures and a name that says it is emulated;
// other machines and failing calls at a test's request.
#include <stdio.h>
#include <string.h>

#include <map>
#include <string>

extern "C" {
#include "runtime/common/base/build.h"
}
#include "test/emulate/emulate_inside.h"

extern "C" const char *build_emulates(void) { return "a GPU"; }  // the program's own says NULL (runtime/common/base/build.h)

static enum emulate_machine machine = EMULATE_H200;
static std::map<std::string, std::pair<int, cudaError_t>> failing;  // number of calls that still succeed, then the error
static cudaError_t sticky = cudaSuccess;
static thread_local cudaError_t last;

void emulate_machine(enum emulate_machine to)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    machine = to;
}

void emulate_fail_after(const char *function, int after, cudaError_t error)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    if (function) failing[function] = {after, error};
    else failing.clear(), sticky = last = cudaSuccess;
}

void emulate_fail(const char *function, cudaError_t error) { emulate_fail_after(function, 0, error); }

// Sticky errors: after them every call fails until the process ends.
static bool is_sticky(cudaError_t e)
{
    return e == cudaErrorECCUncorrectable || e == cudaErrorNvlinkUncorrectable || e == cudaErrorContained ||
           e == cudaErrorIllegalAddress || e == cudaErrorLaunchTimeout || e == cudaErrorContextIsDestroyed ||
           (e >= cudaErrorAssert && e <= cudaErrorLaunchFailure && e != cudaErrorTooManyPeers &&
            e != cudaErrorHostMemoryAlreadyRegistered && e != cudaErrorHostMemoryNotRegistered);
}

cudaError_t emulate_error(cudaError_t error)
{
    last = error;
    return error;
}

cudaError_t emulate_enter(const char *function)
{
    if (machine == EMULATE_NO_DRIVER || machine == EMULATE_OLD_DRIVER) return emulate_error(cudaErrorInsufficientDriver);
    if (machine == EMULATE_NO_DEVICE) return emulate_error(cudaErrorNoDevice);
    if (sticky != cudaSuccess) return emulate_error(sticky);
    auto found = failing.find(function);
    if (found == failing.end()) return cudaSuccess;
    if (found->second.first-- > 0) return cudaSuccess;
    cudaError_t error = found->second.second;
    failing.erase(found);
    if (is_sticky(error)) sticky = error;
    return emulate_error(error);
}

size_t emulate_gpu_memory(void) { return machine == EMULATE_SMALL ? (size_t)64 << 20 : (size_t)143771 << 20; }

// ---- versions and devices

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = machine == EMULATE_NO_DRIVER ? 0 : machine == EMULATE_OLD_DRIVER ? 11040 : CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 0;
    ENTER("cudaGetDeviceCount");
    *count = 1;
    return cudaSuccess;
}

static cudaError_t of_device(int device) { return device == 0 ? cudaSuccess : emulate_error(cudaErrorInvalidDevice); }

cudaError_t cudaSetDevice(int device)
{
    ENTER("cudaSetDevice");
    return of_device(device);
}

cudaError_t cudaGetDevice(int *device)
{
    ENTER("cudaGetDevice");
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned)
{
    ENTER("cudaInitDevice");
    return of_device(device);
}

cudaError_t cudaSetDeviceFlags(unsigned)
{
    ENTER("cudaSetDeviceFlags");
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    ENTER("cudaDeviceReset");
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    ENTER("cudaGetDeviceProperties");
    if (of_device(device) != cudaSuccess) return cudaErrorInvalidDevice;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Emulated H200 (emulated card)");
    p->totalGlobalMem = emulate_gpu_memory();
    p->major = machine == EMULATE_OLD_GPU ? 7 : 9;
    p->minor = machine == EMULATE_OLD_GPU ? 5 : 0;
    p->multiProcessorCount = 132;
    p->warpSize = 32;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->maxThreadsPerMultiProcessor = 2048;
    p->maxBlocksPerMultiProcessor = 32;
    p->sharedMemPerBlock = 48 << 10;
    p->sharedMemPerBlockOptin = 227 << 10;
    p->sharedMemPerMultiprocessor = 228 << 10;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->totalConstMem = 64 << 10;
    p->l2CacheSize = 50 << 20;
    p->memoryBusWidth = 6144;
    p->ECCEnabled = 1;
    p->pciBusID = 1;
    p->concurrentKernels = p->unifiedAddressing = p->canMapHostMemory = 1;
    p->asyncEngineCount = 3;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    ENTER("cudaDeviceGetAttribute");
    if (of_device(device) != cudaSuccess) return cudaErrorInvalidDevice;
    switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = machine == EMULATE_OLD_GPU ? 7 : 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = machine == EMULATE_OLD_GPU ? 5 : 0; break;
    case cudaDevAttrMultiProcessorCount: *value = 132; break;
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = 48 << 10; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = 227 << 10; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = 228 << 10; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = 65536; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrClockRate: *value = 1980000; break;
    case cudaDevAttrMemoryClockRate: *value = 3201000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = 6144; break;
    case cudaDevAttrL2CacheSize: *value = 50 << 20; break;
    case cudaDevAttrPciBusId: *value = 1; break;
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrComputeMode: *value = 0; break;
    case cudaDevAttrEccEnabled:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrUnifiedAddressing: *value = 1; break;
    default: emulate_die("cudaDeviceGetAttribute: attribute %d is not known to the emulator", (int)attribute);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    ENTER("cudaDeviceGetPCIBusId");
    if (of_device(device) != cudaSuccess) return cudaErrorInvalidDevice;
    snprintf(text, (size_t)size, "0000:01:00.0");
    return cudaSuccess;
}

// ---- errors

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last;
    last = sticky;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last; }

#define ERRORS(X)                                                                                                      \
    X(Success, "no error")                                                                                             \
    X(ErrorInvalidValue, "invalid argument")                                                                           \
    X(ErrorMemoryAllocation, "out of memory")                                                                          \
    X(ErrorInitializationError, "initialization error")                                                                \
    X(ErrorInvalidConfiguration, "invalid configuration argument")                                                     \
    X(ErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")                                                \
    X(ErrorStubLibrary, "CUDA driver is a stub library")                                                               \
    X(ErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version")                         \
    X(ErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable")                                    \
    X(ErrorInvalidDeviceFunction, "invalid device function")                                                           \
    X(ErrorNoDevice, "no CUDA-capable device is detected")                                                             \
    X(ErrorInvalidDevice, "invalid device ordinal")                                                                    \
    X(ErrorNoKernelImageForDevice, "no kernel image is available for execution on the device")                         \
    X(ErrorECCUncorrectable, "uncorrectable ECC error encountered")                                                    \
    X(ErrorUnsupportedPtxVersion, "the provided PTX was compiled with an unsupported toolchain.")                      \
    X(ErrorInvalidResourceHandle, "invalid resource handle")                                                           \
    X(ErrorIllegalState, "the operation cannot be performed in the present state")                                     \
    X(ErrorNotReady, "device not ready")                                                                               \
    X(ErrorIllegalAddress, "an illegal memory access was encountered")                                                 \
    X(ErrorLaunchOutOfResources, "too many resources requested for launch")                                            \
    X(ErrorLaunchTimeout, "the launch timed out and was terminated")                                                   \
    X(ErrorAssert, "device-side assert triggered")                                                                     \
    X(ErrorIllegalInstruction, "an illegal instruction was encountered")                                               \
    X(ErrorMisalignedAddress, "misaligned address")                                                                    \
    X(ErrorLaunchFailure, "unspecified launch failure")                                                                \
    X(ErrorNotPermitted, "operation not permitted")                                                                    \
    X(ErrorNotSupported, "operation not supported")                                                                    \
    X(ErrorSystemNotReady, "system not yet initialized")                                                               \
    X(ErrorSystemDriverMismatch, "system has unsupported display driver / cuda driver combination")                    \
    X(ErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")                               \
    X(ErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture")                        \
    X(ErrorStreamCaptureMerge, "operation would result in a merge of separate capture sequences")                      \
    X(ErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began")                             \
    X(ErrorStreamCaptureUnjoined, "capturing stream has unjoined work")                                                \
    X(ErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream")                          \
    X(ErrorStreamCaptureImplicit, "operation would make the legacy stream depend on a capturing blocking stream")      \
    X(ErrorCapturedEvent, "operation not permitted on an event last recorded in a capturing stream")                   \
    X(ErrorUnknown, "unknown error")

const char *cudaGetErrorName(cudaError_t error)
{
    switch ((int)error) {
#define X(name, text) case cuda##name: return "cuda" #name;
        ERRORS(X)
#undef X
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch ((int)error) {
#define X(name, text) case cuda##name: return text;
        ERRORS(X)
#undef X
    }
    return "unrecognized error code";
}
