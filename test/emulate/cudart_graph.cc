// SPDX-License-Identifier: Apache-2.0
// Capture and graphs of the emulated runtime. A graph is a list of closures with their dependencies: stream order, events
// waited for, and explicit ones (cudaStreamUpdateCaptureDependencies). A replay obeys nothing else: it runs in capture order,
// or in a new random order for every launch (emulate_replay), so that a missing dependency changes the result.
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "test/emulate/cudart_inside.h"

struct CUgraphNode_st {
    cudaGraph_t graph;
    size_t number;
    std::function<void()> work;
    std::vector<size_t> before;  // indices of its dependencies, all lower
};
struct CUgraph_st {
    std::deque<struct CUgraphNode_st> node;
};
struct CUgraphExec_st {
    std::shared_ptr<const std::deque<struct CUgraphNode_st>> node;
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

static void add_nodes(std::vector<cudaGraphNode_t> &to, const std::vector<cudaGraphNode_t> &from)
{
    for (cudaGraphNode_t n : from)
        if (std::find(to.begin(), to.end(), n) == to.end()) to.push_back(n);
}

cudaError_t cudart_capture_put(struct CUstream_st *s, std::function<void()> work)
{
    if (s->capture->broken) return emulate_error(cudaErrorStreamCaptureInvalidated);
    cudaGraph_t g = s->capture->graph;
    g->node.push_back({g, g->node.size(), std::move(work), {}});
    for (cudaGraphNode_t n : s->last) g->node.back().before.push_back(n->number);
    s->last = {&g->node.back()};
    return cudaSuccess;
}

cudaError_t cudart_capture_record(struct CUstream_st *s, cudaEvent_t event)
{
    if (s->capture->broken) return emulate_error(cudaErrorStreamCaptureInvalidated);
    event->last = s->last;
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
    if (!s->capture) s->capture = c, s->last.clear();  // the stream joins the capture
    add_nodes(s->last, event->last);
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
    s->capture->graph = new CUgraph_st;
    s->last.clear();
    cudart_captures.insert(s->capture.get());
    return cudaSuccess;
}

// True if origin has waited for all work that the other streams recorded.
static bool is_joined(const struct capture *c)
{
    std::vector<bool> reached(c->graph->node.size());
    for (cudaGraphNode_t n : c->origin->last) reached[n->number] = true;
    for (size_t i = reached.size(); i-- > 0;)
        for (size_t before : c->graph->node[i].before) reached[before] = reached[before] || reached[i];
    for (cudaStream_t s : cudart_streams)
        for (cudaGraphNode_t n : s->last)
            if (s->capture.get() == c && !reached[n->number]) return false;
    return true;
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
    cudaError_t error = c->broken    ? cudaErrorStreamCaptureInvalidated
                        : !is_joined(c.get()) ? cudaErrorStreamCaptureUnjoined
                                     : cudaSuccess;
    cudart_captures.erase(c.get());
    for (cudaStream_t other : cudart_streams)
        if (other->capture == c) other->capture = NULL, other->last.clear();
    if (error != cudaSuccess) {
        delete c->graph;
        return emulate_error(error);
    }
    *graph = c->graph;
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

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **last, const cudaGraphEdgeData **edges,
                                     size_t *count)
{
    ENTER("cudaStreamGetCaptureInfo");
    cudaError_t error = cudaStreamIsCapturing(stream, status);
    if (error != cudaSuccess || *status != cudaStreamCaptureStatusActive) return error;
    struct CUstream_st *s = cudart_stream(stream, "cudaStreamGetCaptureInfo");
    s->edges.assign(s->last.size(), cudaGraphEdgeData());
    if (id) *id = 1;
    if (graph) *graph = s->capture->graph;
    if (last) *last = s->last.data();
    if (edges) *edges = s->edges.data();
    if (count) *count = s->last.size();
    return cudaSuccess;
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *nodes, const cudaGraphEdgeData *,
                                                size_t count, unsigned flags)
{
    ENTER("cudaStreamUpdateCaptureDependencies");
    struct CUstream_st *s = cudart_stream(stream, "cudaStreamUpdateCaptureDependencies");
    if (!s->capture) return emulate_error(cudaErrorIllegalState);
    if (s->capture->broken) return emulate_error(cudaErrorStreamCaptureInvalidated);
    std::vector<cudaGraphNode_t> now;
    if (flags != cudaStreamSetCaptureDependencies) now = s->last;
    for (size_t i = 0; i < count; i++) {
        if (nodes[i]->graph != s->capture->graph) return emulate_error(cudaErrorInvalidValue);
        add_nodes(now, {nodes[i]});
    }
    s->last = now;
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

static int mixed = -1;   // set by emulate_replay(); -1: not set yet
static uint64_t drawn = 1;

void emulate_replay(int to) { mixed = to; }

static bool replay_mixed()
{
    const char *text = getenv("DAWN_EMULATE_REPLAY");
    if (mixed < 0) mixed = text && strcmp(text, "mixed") == 0;
    return mixed || emulate_order_now() == EMULATE_MIXED;
}

static uint64_t draw_below(uint64_t below)  // Knuth's generator: the same orders in every process
{
    drawn = drawn * 6364136223846793005u + 1442695040888963407u;
    return (drawn >> 33) % below;
}

static void replay_nodes(const std::deque<struct CUgraphNode_st> &node)
{
    bool any = replay_mixed();
    std::vector<size_t> waits(node.size()), ready;
    std::vector<std::vector<size_t>> behind(node.size());
    for (const auto &n : node) {
        waits[n.number] = n.before.size();
        for (size_t before : n.before) behind[before].push_back(n.number);
        if (!any) n.work();
        else if (n.before.empty()) ready.push_back(n.number);
    }
    while (!ready.empty()) {
        std::swap(ready[draw_below(ready.size())], ready.back());
        size_t next = ready.back();
        ready.pop_back();
        node[next].work();
        for (size_t b : behind[next])
            if (--waits[b] == 0) ready.push_back(b);
    }
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    ENTER("cudaGraphInstantiate");
    *exec = new CUgraphExec_st{std::make_shared<const std::deque<struct CUgraphNode_st>>(graph->node)};
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
    *count = graph->node.size();
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
    // The work itself, not the graph: a graph may be destroyed after its launch.
    return emulate_put(stream, [node = exec->node] { replay_nodes(*node); });
}
