// SPDX-License-Identifier: Apache-2.0
// The emulated CUDA runtime: streams and events. Work is a closure; a stream executes it at once, queues it until something
// waits (emulate_late), or passes it to the graph that captures it (cudart_graph.cc).
//
// Invariant: calls that a GPU rejects return the same error here, above all during capture; calls whose result a GPU leaves
// undefined end the program with a message.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "test/emulate/cudart_inside.h"

std::recursive_mutex emulate_lock;
struct emulate_counts emulate_counted;
int emulate_lateness = -1;
struct CUstream_st cudart_null_stream;
std::set<cudaStream_t> cudart_streams;
std::set<struct capture *> cudart_captures;
static std::set<cudaEvent_t> events;

struct emulate_counts emulate_counts(void)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    return emulate_counted;
}

void emulate_late(int late)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    if (!late) emulate_finish_all();
    emulate_lateness = late;
}

struct CUstream_st *cudart_stream(cudaStream_t stream, const char *who)
{
    if (!stream || stream == cudaStreamLegacy || stream == &cudart_null_stream) return &cudart_null_stream;
    if (!cudart_streams.count(stream)) emulate_die("%s: there is no such stream", who);
    return stream;
}

cudaEvent_t cudart_event(cudaEvent_t event, const char *who)
{
    if (!events.count(event)) emulate_die("%s: there is no such event", who);
    return event;
}

// ---- executing work

static void run_next_work(struct CUstream_st *s)
{
    std::function<void()> work = std::move(s->queue.front());
    s->queue.pop_front();
    work();
}

void emulate_finish(cudaStream_t stream)
{
    struct CUstream_st *s = cudart_stream(stream, "a wait");
    while (!s->queue.empty()) run_next_work(s);
}

void emulate_finish_blocking(void)
{
    emulate_finish(NULL);
    for (cudaStream_t s : cudart_streams)
        if (!(s->flags & cudaStreamNonBlocking)) emulate_finish(s);
}

void emulate_finish_all(void)
{
    emulate_finish(NULL);
    for (cudaStream_t s : cudart_streams) emulate_finish(s);
}

bool emulate_capturing(cudaStream_t stream) { return cudart_stream(stream, "a stream")->capture != NULL; }

cudaError_t emulate_put(cudaStream_t stream, std::function<void()> work)
{
    struct CUstream_st *s = cudart_stream(stream, "work for a stream");
    if (s->capture) return cudart_capture_put(s, std::move(work));
    if (s == &cudart_null_stream)
        for (struct capture *c : cudart_captures)
            if (!(c->origin->flags & cudaStreamNonBlocking)) {
                c->broken = true;
                return emulate_error(cudaErrorStreamCaptureImplicit);
            }
    if (emulate_lateness < 0) emulate_lateness = getenv("DAWN_EMULATE_LATE") && strcmp(getenv("DAWN_EMULATE_LATE"), "1") == 0;
    if (emulate_lateness == EMULATE_NEVER) return cudaSuccess;
    // The null stream and blocking streams wait for each other.
    if (s == &cudart_null_stream) emulate_finish_blocking();
    else if (!(s->flags & cudaStreamNonBlocking)) emulate_finish(NULL);
    s->queue.push_back(std::move(work));
    if (!emulate_lateness) emulate_finish(s);
    return cudaSuccess;
}

// Waiting for a capturing stream invalidates the capture.
static cudaError_t refuse_capture_wait(struct CUstream_st *s)
{
    if (!s->capture) return cudaSuccess;
    s->capture->broken = true;
    return emulate_error(cudaErrorStreamCaptureUnsupported);
}

static int races = -1;
static const char *const order_names[] = {"up", "down", "mixed"};

void emulate_races(int look_for_them) { races = look_for_them; }

// Runs a kernel in every order from the same memory; the configured order comes last.
static void run_in_all_orders(const struct emulate_kernel &what, const void *k)
{
    int last = emulate_order_now(), before = last;
    std::vector<unsigned char> start, result;
    emulate_save(start);
    for (int i = 1; i <= 3; i++) {
        int order = (last + i) % 3;
        emulate_order(order);
        if (i > 1) emulate_restore(start);
        emulate_run(what, k);
        const void *at = i > 1 ? emulate_difference(result) : NULL;
        if (at)
            emulate_die("a race in %s: run in the orders %s and %s it leaves different bytes at %p",
                        emulate_facts_of(what.kernel).name.c_str(), order_names[before], order_names[order], at);
        if (i == 1) emulate_save(result);
        before = order;
    }
}

static void run_kernel(const struct emulate_kernel &what, const void *k)
{
    if (races < 0) races = getenv("DAWN_EMULATE_RACES") && strcmp(getenv("DAWN_EMULATE_RACES"), "1") == 0;
    if (races) run_in_all_orders(what, k);
    else emulate_run(what, k);
}

extern "C" cudaError_t emulate_launch(const void *kernel, void (*call)(const void *, const void *), const void *k, size_t bytes,
                                      dim3 grid, dim3 block, cudaStream_t stream)
{
    ENTER("cudaLaunchKernel");
    struct emulate_kernel what = {kernel, call, grid, block};
    emulate_check_launch(what);
    // Aligned like the struct; the bytes of a string might not be.
    std::shared_ptr<void> copy(aligned_alloc(64, (bytes + 63) / 64 * 64), free);
    memcpy(copy.get(), k, bytes);
    if (emulate_capturing(stream)) emulate_counted.launches_captured++;
    else emulate_counted.launches++;
    return emulate_put(stream, [what, copy] { run_kernel(what, copy.get()); });
}

cudaError_t emulate_enqueue(cudaStream_t stream, void (*work)(void *), const void *args, size_t bytes)
{
    ENTER("cudaLaunchKernel");
    if (!stream) emulate_die("a library's work is on the NULL stream: nothing orders it before the device's own");
    std::shared_ptr<void> copy(aligned_alloc(64, (bytes + 64) / 64 * 64), free);
    memcpy(copy.get(), args, bytes);
    if (emulate_capturing(stream)) emulate_counted.launches_captured++;
    else emulate_counted.launches++;
    return emulate_put(stream, [work, copy] { work(copy.get()); });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
    ENTER("cudaLaunchHostFunc");
    return emulate_put(stream, [function, data] { function(data); });
}

// ---- streams

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    ENTER("cudaStreamCreateWithFlags");
    *stream = new CUstream_st;
    (*stream)->flags = flags;
    cudart_streams.insert(*stream);
    emulate_counted.streams++;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    ENTER("cudaDeviceGetStreamPriorityRange");
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    cudaError_t entered = emulate_enter("cudaStreamDestroy");
    if (!cudart_streams.count(stream)) emulate_die("cudaStreamDestroy: there is no such stream");
    if (stream->capture) emulate_die("cudaStreamDestroy of a stream that captures");
    emulate_finish(stream);
    cudart_streams.erase(stream);
    delete stream;
    emulate_counted.streams--;
    return entered;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    ENTER("cudaStreamSynchronize");
    struct CUstream_st *s = cudart_stream(stream, "cudaStreamSynchronize");
    emulate_counted.synchronisations++;
    if (refuse_capture_wait(s) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    if (s == &cudart_null_stream) emulate_finish_blocking();
    else emulate_finish(s);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER("cudaStreamQuery");
    struct CUstream_st *s = cudart_stream(stream, "cudaStreamQuery");
    if (refuse_capture_wait(s) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    if (s->queue.empty()) return cudaSuccess;
    run_next_work(s);  // progress for callers that only query
    return cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize(void)
{
    ENTER("cudaDeviceSynchronize");
    emulate_counted.synchronisations++;
    for (struct capture *c : cudart_captures) c->broken = true;
    if (!cudart_captures.empty()) return emulate_error(cudaErrorStreamCaptureUnsupported);
    emulate_finish_all();
    return cudaSuccess;
}

// ---- events

static double now_ms()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    ENTER("cudaEventCreateWithFlags");
    *event = new CUevent_st;
    (*event)->flags = flags;
    events.insert(*event);
    emulate_counted.events++;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    cudaError_t entered = emulate_enter("cudaEventDestroy");
    cudart_event(event, "cudaEventDestroy");
    if (event->done < event->asked) emulate_finish(event->stream);
    events.erase(event);
    delete event;
    emulate_counted.events--;
    return entered;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER("cudaEventRecord");
    struct CUstream_st *s = cudart_stream(stream, "cudaEventRecord");
    cudart_event(event, "cudaEventRecord");
    event->stream = stream;
    event->capture = s->capture;
    if (s->capture) return cudart_capture_record(s, event);
    uint64_t record = ++event->asked;
    return emulate_put(stream, [event, record] {
        event->done = record;
        event->ms = now_ms();
    });
}

static void finish_until(cudaEvent_t event, uint64_t record)
{
    struct CUstream_st *s = cudart_stream(event->stream, "a wait for an event");
    while (event->done < record && !s->queue.empty()) run_next_work(s);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER("cudaEventSynchronize");
    cudart_event(event, "cudaEventSynchronize");
    emulate_counted.synchronisations++;
    if (event->capture) {
        event->capture->broken = true;
        return emulate_error(cudaErrorCapturedEvent);
    }
    if (emulate_unsafe() != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    finish_until(event, event->asked);
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    ENTER("cudaEventQuery");
    cudart_event(event, "cudaEventQuery");
    if (event->capture) return emulate_error(cudaErrorCapturedEvent);
    if (event->done == event->asked) return cudaSuccess;
    run_next_work(cudart_stream(event->stream, "cudaEventQuery"));
    return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    ENTER("cudaEventElapsedTime");
    cudart_event(start, "cudaEventElapsedTime");
    cudart_event(end, "cudaEventElapsedTime");
    if (start->capture || end->capture) return emulate_error(cudaErrorCapturedEvent);
    if (!start->asked || !end->asked || ((start->flags | end->flags) & cudaEventDisableTiming))
        return emulate_error(cudaErrorInvalidResourceHandle);
    if (start->done < start->asked || end->done < end->asked) return emulate_error(cudaErrorNotReady);
    *ms = (float)(end->ms - start->ms);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    ENTER("cudaStreamWaitEvent");
    struct CUstream_st *s = cudart_stream(stream, "cudaStreamWaitEvent");
    cudart_event(event, "cudaStreamWaitEvent");
    if (event->capture) return cudart_capture_wait(s, event);
    if (s->capture) {
        s->capture->broken = true;
        return emulate_error(cudaErrorStreamCaptureIsolation);
    }
    uint64_t record = event->asked;
    if (!record) return cudaSuccess;
    return emulate_put(stream, [event, record] { finish_until(event, record); });
}
