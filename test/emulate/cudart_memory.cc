// SPDX-License-Identifier: Apache-2.0
// Memory of the emulated GPU is host memory; every allocation is separate and of the exact size, so that AddressSanitizer sees
// accesses past its end. It is filled with 0xff bytes (NaN in every type), as a GPU's memory holds arbitrary old bytes. Copies
// and fills are checked against the list of allocations.
#include <stdlib.h>
#include <string.h>

#include <map>
#include <memory>

#include "test/emulate/emulate_inside.h"

enum { ALIGNMENT = 256 };  // guaranteed by cudaMalloc

static std::map<uintptr_t, size_t> on_device, pinned;
static size_t in_use, peak;

size_t emulate_memory_in_use(void)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    return in_use;
}
size_t emulate_memory_peak(void)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    return peak;
}

// Number of bytes of an allocation at and after `at`; 0: not in any allocation.
static size_t left_in(const std::map<uintptr_t, size_t> &list, const void *at)
{
    auto after = list.upper_bound((uintptr_t)at);
    if (after == list.begin()) return 0;
    --after;
    uintptr_t end = after->first + after->second;
    return (uintptr_t)at < end ? end - (uintptr_t)at : 0;
}

void emulate_check_range(const void *at, size_t bytes, const char *what)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    if (emulate_lateness == EMULATE_NEVER) return;
    size_t left = left_in(on_device, at);
    if (!bytes || left >= bytes) return;
    if (!left) emulate_die("%s: %p is not device memory", what, at);
    emulate_die("%s: %zu bytes at %p, which is %zu bytes before the end of its allocation", what, bytes, at, left);
}

void emulate_save(std::vector<unsigned char> &into)
{
    into.clear();
    for (const auto &a : on_device) into.insert(into.end(), (unsigned char *)a.first, (unsigned char *)a.first + a.second);
}

void emulate_restore(const std::vector<unsigned char> &from)
{
    const unsigned char *at = from.data();
    for (const auto &a : on_device) {
        memcpy((void *)a.first, at, a.second);
        at += a.second;
    }
}

const void *emulate_difference(const std::vector<unsigned char> &to)
{
    const unsigned char *at = to.data();
    for (const auto &a : on_device) {
        const unsigned char *here = (const unsigned char *)a.first;
        if (memcmp(here, at, a.second) != 0) {
            while (*here == *at) here++, at++;
            return here;
        }
        at += a.second;
    }
    return NULL;
}

cudaError_t cudaMalloc(void **at, size_t bytes)
{
    ENTER("cudaMalloc");
    if (emulate_unsafe() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    *at = NULL;
    if (!bytes) return cudaSuccess;
    if (bytes > emulate_gpu_memory() - in_use || posix_memalign(at, ALIGNMENT, bytes) != 0)
        return emulate_error(cudaErrorMemoryAllocation);
    memset(*at, 0xff, bytes);
    on_device[(uintptr_t)*at] = bytes;
    in_use += bytes;
    if (in_use > peak) peak = in_use;
    emulate_counted.allocations++;
    return cudaSuccess;
}

cudaError_t cudaFree(void *at)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    cudaError_t entered = emulate_enter("cudaFree");
    if (!at) return entered;
    if (entered == cudaSuccess && emulate_unsafe() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    auto found = on_device.find((uintptr_t)at);
    if (found == on_device.end()) emulate_die("cudaFree of %p, which cudaMalloc did not return or which was freed", at);
    emulate_finish_all();  // as a GPU does
    in_use -= found->second;
    on_device.erase(found);
    free(at);
    return entered;
}

cudaError_t cudaHostAlloc(void **at, size_t bytes, unsigned)
{
    ENTER("cudaHostAlloc");
    if (emulate_unsafe() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    *at = NULL;
    if (!bytes) return cudaSuccess;
    if (posix_memalign(at, ALIGNMENT, bytes) != 0) return emulate_error(cudaErrorMemoryAllocation);
    memset(*at, 0xff, bytes);
    pinned[(uintptr_t)*at] = bytes;
    emulate_counted.host_allocations++;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **at, size_t bytes) { return cudaHostAlloc(at, bytes, cudaHostAllocDefault); }

cudaError_t cudaFreeHost(void *at)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    cudaError_t entered = emulate_enter("cudaFreeHost");
    if (!at) return entered;
    if (!pinned.count((uintptr_t)at))
        emulate_die("cudaFreeHost of %p, which cudaHostAlloc did not return or which was freed", at);
    emulate_finish_all();
    pinned.erase((uintptr_t)at);
    free(at);
    return entered;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    ENTER("cudaMemGetInfo");
    *total = emulate_gpu_memory();
    *free_bytes = *total - in_use;
    return cudaSuccess;
}

// ---- copies

struct copy {
    bool from_device, to_device;
};

static struct copy check_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, const char *who)
{
    struct copy c = {kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice,
                     kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice};
    if (kind == cudaMemcpyDefault) c = {left_in(on_device, from) != 0, left_in(on_device, to) != 0};
    if (c.from_device) emulate_check_range(from, bytes, who);
    else if (left_in(on_device, from)) emulate_die("%s: reads from the device as if it were the host", who);
    if (c.to_device) emulate_check_range(to, bytes, who);
    else if (left_in(on_device, to)) emulate_die("%s: writes to the device as if it were the host", who);
    return c;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    ENTER("cudaMemcpy");
    if (emulate_unsafe() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    check_copy(to, from, bytes, kind, "cudaMemcpy");
    emulate_counted.copies++;
    cudaError_t error = emulate_put(NULL, [=] { memmove(to, from, bytes); });
    if (error == cudaSuccess) emulate_finish(NULL);
    return error;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    ENTER("cudaMemcpyAsync");
    struct copy c = check_copy(to, from, bytes, kind, "cudaMemcpyAsync");
    bool capturing = emulate_capturing(stream);
    if (!capturing) emulate_counted.copies++;
    // Pageable host memory is copied before the call returns, or written before it returns.
    if (!capturing && !c.from_device && !left_in(pinned, from)) {
        std::shared_ptr<void> aside(malloc(bytes + 1), free);
        memcpy(aside.get(), from, bytes);
        return emulate_put(stream, [=] { memcpy(to, aside.get(), bytes); });
    }
    cudaError_t error = emulate_put(stream, [=] { memmove(to, from, bytes); });
    if (error == cudaSuccess && !capturing && !c.to_device && !left_in(pinned, to)) emulate_finish(stream);
    return error;
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t stream)
{
    ENTER("cudaMemsetAsync");
    emulate_check_range(at, bytes, "cudaMemsetAsync");
    if (!emulate_capturing(stream)) emulate_counted.copies++;
    return emulate_put(stream, [=] { memset(at, value, bytes); });
}

cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
    ENTER("cudaMemset");
    if (emulate_unsafe() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    emulate_check_range(at, bytes, "cudaMemset");
    emulate_counted.copies++;
    return emulate_put(NULL, [=] { memset(at, value, bytes); });
}
