// SPDX-License-Identifier: Apache-2.0
// Streams, events and captures, shared by cudart.cc (execution) and cudart_graph.cc (recording and replay).
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "test/emulate/emulate_inside.h"

struct capture {
    cudaStream_t origin;
    enum cudaStreamCaptureMode mode;
    bool broken = false;
    cudaGraph_t graph = NULL;  // the nodes recorded so far
};

struct CUstream_st {
    unsigned flags = 0;
    std::deque<std::function<void()>> queue;
    std::shared_ptr<struct capture> capture;
    std::vector<cudaGraphNode_t> last;     // during capture: the dependencies of the stream's next work
    std::vector<cudaGraphEdgeData> edges;  // one per element of `last`, as returned to callers
};

struct CUevent_st {
    unsigned flags = 0;
    uint64_t asked = 0, done = 0;  // records so far
    cudaStream_t stream = NULL;
    double ms = 0;
    std::shared_ptr<struct capture> capture;  // the capture that recorded it
    std::vector<cudaGraphNode_t> last;        // the stream's last nodes at that moment
};

extern struct CUstream_st cudart_null_stream;
extern std::set<cudaStream_t> cudart_streams;
extern std::set<struct capture *> cudart_captures;  // active captures

struct CUstream_st *cudart_stream(cudaStream_t, const char *who);  // dies if the stream does not exist
cudaEvent_t cudart_event(cudaEvent_t, const char *who);
// During capture: records work, and the dependencies set by cudaEventRecord and cudaStreamWaitEvent.
cudaError_t cudart_capture_put(struct CUstream_st *, std::function<void()> work);
cudaError_t cudart_capture_record(struct CUstream_st *, cudaEvent_t);
cudaError_t cudart_capture_wait(struct CUstream_st *, cudaEvent_t);
