// SPDX-License-Identifier: Apache-2.0
// Capture and graphs of the pretend runtime. A capture is a list of closures in the order in which they were put, whatever
// the stream (an order that every way through the graph allows); a graph replays the list.
#include "test/emulate/cudart_inside.h"

struct CUgraph_st {
    std::vector<std::function<void()>> work;
};
struct CUgraphExec_st {
    std::vector<std::function<void()>> work;
};

static std::set<cudaGraphExec_t> executables;

// ---- capture

cudaError_t emulate_unsafe(void)
{
    bool any = false;
    for (struct capture *c : cudart_captures)
        if (c->mode != cudaStreamCaptureModeRelaxed) any = c->broken = true;
    return any ? emulate_error(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t cudart_capture_record(struct CUstream_st *s, cudaEvent_t event)
{
    if (s->capture->broken) return emulate_error(cudaErrorStreamCaptureInvalidated);
    event->position = s->capture->last;
    return cudaSuccess;
}

cudaError_t cudart_capture_wait(struct CUstream_st *s, cudaEvent_t event)
{
    std::shared_ptr<struct capture> c = event->capture;
    if (!cudart_captures.count(c.get())) return emulate_error(cudaErrorCapturedEvent);
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

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    ENTER("cudaStreamBeginCapture");
    struct CUstream_st *s = cudart_stream(stream, "cudaStreamBeginCapture");
    if (s == &cudart_null_stream) return emulate_error(cudaErrorStreamCaptureUnsupported);
    if (s->capture) return emulate_error(cudaErrorIllegalState);
    s->capture = std::shared_ptr<struct capture>(new capture);
    s->capture->origin = s;
    s->capture->mode = mode;
    cudart_captures.insert(s->capture.get());
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    ENTER("cudaStreamEndCapture");
    struct CUstream_st *s = cudart_stream(stream, "cudaStreamEndCapture");
    *graph = NULL;
    if (!s->capture) return emulate_error(cudaErrorIllegalState);
    std::shared_ptr<struct capture> c = s->capture;
    if (c->origin != s) {
        c->broken = true;
        return emulate_error(cudaErrorStreamCaptureUnmatched);
    }
    cudart_captures.erase(c.get());
    s->capture = NULL;
    for (cudaStream_t other : cudart_streams)
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
    struct CUstream_st *s = cudart_stream(stream, "cudaStreamIsCapturing");
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
