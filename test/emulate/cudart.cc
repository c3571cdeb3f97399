// SPDX-License-Identifier: Apache-2.0
// The pretend CUDA runtime: streams, events, capture and graphs. Work is a closure; a stream does it at once, keeps it
// until somebody waits (emulate_late), or hands it to the graph that it is captured for, which replays it.
//
// Invariant: what a card would refuse is refused here with the same error, above all while a stream captures; what a
// card would leave undefined ends the program with a sentence.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/emulate/emulate_inside.h"

struct CUgraph_st {
    std::vector<std::function<void()>> work;
};
struct CUgraphExec_st {
    std::vector<std::function<void()>> work;
};

struct capture {
    cudaStream_t origin;
    enum cudaStreamCaptureMode mode;
    bool broken = false;
    std::vector<std::function<void()>> work;
    std::map<cudaStream_t, uint64_t> unjoined;  // streams that were drawn in: what they did last that origin has not waited for
    uint64_t last = 0;
};

struct CUstream_st {
    unsigned flags = 0;
    std::deque<std::function<void()>> queue;
    std::shared_ptr<struct capture> capture;
};

struct CUevent_st {
    unsigned flags = 0;
    uint64_t asked = 0, done = 0;  // records so far
    cudaStream_t stream = NULL;
    double ms = 0;
    std::shared_ptr<struct capture> capture;  // recorded while it was under way
    uint64_t position = 0;                    // in the capture
};

std::recursive_mutex emulate_lock;
struct emulate_counts emulate_counted;
int emulate_lateness = -1;
static struct CUstream_st null_stream;
static std::set<cudaStream_t> streams;
static std::set<cudaEvent_t> events;
static std::set<struct capture *> captures;

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

static struct CUstream_st *stream_of(cudaStream_t stream, const char *who)
{
    if (!stream || stream == cudaStreamLegacy || stream == &null_stream) return &null_stream;
    if (!streams.count(stream)) emulate_die("%s: there is no such stream", who);
    return stream;
}

static cudaEvent_t event_of(cudaEvent_t event, const char *who)
{
    if (!events.count(event)) emulate_die("%s: there is no such event", who);
    return event;
}

// ---- doing work

static void step(struct CUstream_st *s)
{
    std::function<void()> work = std::move(s->queue.front());
    s->queue.pop_front();
    work();
}

void emulate_finish(cudaStream_t stream)
{
    struct CUstream_st *s = stream_of(stream, "a wait");
    while (!s->queue.empty()) step(s);
}

void emulate_finish_blocking(void)
{
    emulate_finish(NULL);
    for (cudaStream_t s : streams)
        if (!(s->flags & cudaStreamNonBlocking)) emulate_finish(s);
}

void emulate_finish_all(void)
{
    emulate_finish(NULL);
    for (cudaStream_t s : streams) emulate_finish(s);
}

bool emulate_capturing(cudaStream_t stream) { return stream_of(stream, "a stream")->capture != NULL; }

cudaError_t emulate_put(cudaStream_t stream, std::function<void()> work)
{
    struct CUstream_st *s = stream_of(stream, "work for a stream");
    if (s->capture) {
        if (s->capture->broken) return emulate_error(cudaErrorStreamCaptureInvalidated);
        s->capture->work.push_back(std::move(work));
        s->capture->last++;
        if (s != s->capture->origin) s->capture->unjoined[s] = s->capture->last;
        return cudaSuccess;
    }
    if (s == &null_stream)
        for (struct capture *c : captures)
            if (!(c->origin->flags & cudaStreamNonBlocking)) {
                c->broken = true;
                return emulate_error(cudaErrorStreamCaptureImplicit);
            }
    if (emulate_lateness < 0) emulate_lateness = getenv("DAWN_EMULATE_LATE") && strcmp(getenv("DAWN_EMULATE_LATE"), "1") == 0;
    // The null stream and those that block wait for each other.
    if (s == &null_stream) emulate_finish_blocking();
    else if (!(s->flags & cudaStreamNonBlocking)) emulate_finish(NULL);
    s->queue.push_back(std::move(work));
    if (!emulate_lateness) emulate_finish(s);
    return cudaSuccess;
}

cudaError_t emulate_unsafe(void)
{
    bool any = false;
    for (struct capture *c : captures)
        if (c->mode != cudaStreamCaptureModeRelaxed) any = c->broken = true;
    return any ? emulate_error(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

// Waiting for a stream that captures breaks the capture.
static cudaError_t unwaitable(struct CUstream_st *s)
{
    if (!s->capture) return cudaSuccess;
    s->capture->broken = true;
    return emulate_error(cudaErrorStreamCaptureUnsupported);
}

extern "C" cudaError_t emulate_launch(const void *kernel, void (*call)(const void *, const void *), const void *k, size_t bytes,
                                      dim3 grid, dim3 block, cudaStream_t stream)
{
    ENTER("cudaLaunchKernel");
    struct emulate_kernel what = {kernel, call, grid, block};
    emulate_check_launch(what);
    // Aligned as the struct was; a string's own bytes need not be.
    std::shared_ptr<void> copy(aligned_alloc(64, (bytes + 63) / 64 * 64), free);
    memcpy(copy.get(), k, bytes);
    if (emulate_capturing(stream)) emulate_counted.launches_captured++;
    else emulate_counted.launches++;
    return emulate_put(stream, [what, copy] { emulate_run(what, copy.get()); });
}

cudaError_t emulate_enqueue(cudaStream_t stream, void (*work)(void *), const void *args, size_t bytes)
{
    ENTER("cudaLaunchKernel");
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
    streams.insert(*stream);
    emulate_counted.streams++;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    cudaError_t entered = emulate_enter("cudaStreamDestroy");
    if (!streams.count(stream)) emulate_die("cudaStreamDestroy: there is no such stream");
    if (stream->capture) emulate_die("cudaStreamDestroy of a stream that captures");
    emulate_finish(stream);
    streams.erase(stream);
    delete stream;
    emulate_counted.streams--;
    return entered;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    ENTER("cudaStreamSynchronize");
    struct CUstream_st *s = stream_of(stream, "cudaStreamSynchronize");
    emulate_counted.synchronisations++;
    if (unwaitable(s) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    if (s == &null_stream) emulate_finish_blocking();
    else emulate_finish(s);
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    ENTER("cudaStreamQuery");
    struct CUstream_st *s = stream_of(stream, "cudaStreamQuery");
    if (unwaitable(s) != cudaSuccess) return cudaErrorStreamCaptureUnsupported;
    if (s->queue.empty()) return cudaSuccess;
    step(s);  // it gets done some time, also when nobody waits but many ask
    return cudaErrorNotReady;
}

cudaError_t cudaDeviceSynchronize(void)
{
    ENTER("cudaDeviceSynchronize");
    emulate_counted.synchronisations++;
    for (struct capture *c : captures) c->broken = true;
    if (!captures.empty()) return emulate_error(cudaErrorStreamCaptureUnsupported);
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
    event_of(event, "cudaEventDestroy");
    if (event->done < event->asked) emulate_finish(event->stream);
    events.erase(event);
    delete event;
    emulate_counted.events--;
    return entered;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    ENTER("cudaEventRecord");
    struct CUstream_st *s = stream_of(stream, "cudaEventRecord");
    event_of(event, "cudaEventRecord");
    event->stream = stream;
    event->capture = s->capture;
    if (s->capture) {
        if (s->capture->broken) return emulate_error(cudaErrorStreamCaptureInvalidated);
        event->position = s->capture->last;
        return cudaSuccess;
    }
    uint64_t record = ++event->asked;
    return emulate_put(stream, [event, record] {
        event->done = record;
        event->ms = now_ms();
    });
}

static void finish_until(cudaEvent_t event, uint64_t record)
{
    struct CUstream_st *s = stream_of(event->stream, "a wait for an event");
    while (event->done < record && !s->queue.empty()) step(s);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    ENTER("cudaEventSynchronize");
    event_of(event, "cudaEventSynchronize");
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
    event_of(event, "cudaEventQuery");
    if (event->capture) return emulate_error(cudaErrorCapturedEvent);
    if (event->done == event->asked) return cudaSuccess;
    step(stream_of(event->stream, "cudaEventQuery"));
    return cudaErrorNotReady;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    ENTER("cudaEventElapsedTime");
    event_of(start, "cudaEventElapsedTime");
    event_of(end, "cudaEventElapsedTime");
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
    struct CUstream_st *s = stream_of(stream, "cudaStreamWaitEvent");
    event_of(event, "cudaStreamWaitEvent");
    if (event->capture) {
        std::shared_ptr<struct capture> c = event->capture;
        if (!captures.count(c.get())) return emulate_error(cudaErrorCapturedEvent);
        if (c->broken) return emulate_error(cudaErrorStreamCaptureInvalidated);
        if (s->capture && s->capture != c) {
            s->capture->broken = c->broken = true;
            return emulate_error(cudaErrorStreamCaptureMerge);
        }
        if (s == c->origin) {  // waits for all that the other had done then
            auto other = c->unjoined.find(event->stream);
            if (other != c->unjoined.end() && other->second <= event->position) c->unjoined.erase(other);
        } else {
            s->capture = c;
            if (!c->unjoined.count(s)) c->unjoined[s] = event->position;
        }
        return cudaSuccess;
    }
    if (s->capture) {
        s->capture->broken = true;
        return emulate_error(cudaErrorStreamCaptureIsolation);
    }
    uint64_t record = event->asked;
    if (!record) return cudaSuccess;
    return emulate_put(stream, [event, record] { finish_until(event, record); });
}

// ---- capture

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    ENTER("cudaStreamBeginCapture");
    struct CUstream_st *s = stream_of(stream, "cudaStreamBeginCapture");
    if (s == &null_stream) return emulate_error(cudaErrorStreamCaptureUnsupported);
    if (s->capture) return emulate_error(cudaErrorIllegalState);
    s->capture = std::shared_ptr<struct capture>(new capture);
    s->capture->origin = s;
    s->capture->mode = mode;
    captures.insert(s->capture.get());
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    ENTER("cudaStreamEndCapture");
    struct CUstream_st *s = stream_of(stream, "cudaStreamEndCapture");
    *graph = NULL;
    if (!s->capture) return emulate_error(cudaErrorIllegalState);
    std::shared_ptr<struct capture> c = s->capture;
    if (c->origin != s) {
        c->broken = true;
        return emulate_error(cudaErrorStreamCaptureUnmatched);
    }
    captures.erase(c.get());
    s->capture = NULL;
    for (cudaStream_t other : streams)
        if (other->capture == c) other->capture = NULL;
    if (c->broken) return emulate_error(cudaErrorStreamCaptureInvalidated);
    if (!c->unjoined.empty()) return emulate_error(cudaErrorStreamCaptureUnjoined);
    *graph = new CUgraph_st{std::move(c->work)};
    emulate_counted.graphs++;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    ENTER("cudaStreamIsCapturing");
    struct CUstream_st *s = stream_of(stream, "cudaStreamIsCapturing");
    *status = !s->capture          ? cudaStreamCaptureStatusNone
              : s->capture->broken ? cudaStreamCaptureStatusInvalidated
                                   : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

static thread_local enum cudaStreamCaptureMode own_mode = cudaStreamCaptureModeGlobal;

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    ENTER("cudaThreadExchangeStreamCaptureMode");
    std::swap(*mode, own_mode);
    return cudaSuccess;
}

// ---- graphs

static std::set<cudaGraphExec_t> executables;

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    ENTER("cudaGraphInstantiate");
    *exec = new CUgraphExec_st{graph->work};
    executables.insert(*exec);
    emulate_counted.graphs++;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    cudaError_t entered = emulate_enter("cudaGraphDestroy");
    delete graph;
    emulate_counted.graphs--;
    return entered;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    std::lock_guard<std::recursive_mutex> locked(emulate_lock);
    cudaError_t entered = emulate_enter("cudaGraphExecDestroy");
    if (!executables.erase(exec)) emulate_die("cudaGraphExecDestroy: there is no such graph");
    delete exec;
    emulate_counted.graphs--;
    return entered;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    ENTER("cudaGraphGetNodes");
    if (nodes) return emulate_error(cudaErrorNotSupported);
    *count = graph->work.size();
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t)
{
    ENTER("cudaGraphUpload");
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    ENTER("cudaGraphLaunch");
    if (!executables.count(exec)) emulate_die("cudaGraphLaunch: there is no such graph");
    emulate_counted.graph_launches++;
    // The work itself, not the graph: a graph may be destroyed once it is launched.
    return emulate_put(stream, [work = exec->work] {
        for (const auto &w : work) w();
    });
}
