// SPDX-License-Identifier: Apache-2.0
// Streams, events and captures, as cudart.cc (doing work) and cudart_graph.cc (recording and replaying it) both see them.
#ifndef DAWN_CUDART_INSIDE_H
#define DAWN_CUDART_INSIDE_H

#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "test/emulate/emulate_inside.h"

struct capture {
    cudaStream_t origin;
    enum cudaStreamCaptureMode mode;
    bool broken = false;
    cudaGraph_t graph = NULL;  // what was recorded so far
};

struct CUstream_st {
    unsigned flags = 0;
    std::deque<std::function<void()>> queue;
    std::shared_ptr<struct capture> capture;
    std::vector<cudaGraphNode_t> last;     // while it captures: what the next work that it is given waits for
    std::vector<cudaGraphEdgeData> edges;  // one for each of them, as they are handed out
};

struct CUevent_st {
    unsigned flags = 0;
    uint64_t asked = 0, done = 0;  // records so far
    cudaStream_t stream = NULL;
    double ms = 0;
    std::shared_ptr<struct capture> capture;  // recorded while it was under way
    std::vector<cudaGraphNode_t> last;        // what its stream had recorded last by then
};

extern struct CUstream_st cudart_null_stream;
extern std::set<cudaStream_t> cudart_streams;
extern std::set<struct capture *> cudart_captures;  // under way

struct CUstream_st *cudart_stream(cudaStream_t, const char *who);  // dies if there is none
cudaEvent_t cudart_event(cudaEvent_t, const char *who);
// While the stream captures: takes the work; the part of cudaEventRecord and cudaStreamWaitEvent that says what waits for what.
cudaError_t cudart_capture_put(struct CUstream_st *, std::function<void()> work);
cudaError_t cudart_capture_record(struct CUstream_st *, cudaEvent_t);
cudaError_t cudart_capture_wait(struct CUstream_st *, cudaEvent_t);

#endif
