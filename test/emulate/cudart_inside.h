// SPDX-License-Identifier: Apache-2.0
// Streams, events and captures, as cudart.cc (doing work) and cudart_graph.cc (recording and replaying it) both see them.
#ifndef DAWN_CUDART_INSIDE_H
#define DAWN_CUDART_INSIDE_H

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "test/emulate/emulate_inside.h"

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

extern struct CUstream_st cudart_null_stream;
extern std::set<cudaStream_t> cudart_streams;
extern std::set<struct capture *> cudart_captures;  // under way

struct CUstream_st *cudart_stream(cudaStream_t, const char *who);  // dies if there is none
cudaEvent_t cudart_event(cudaEvent_t, const char *who);
// While the stream captures: the part of cudaEventRecord and cudaStreamWaitEvent that says what waits for what.
cudaError_t cudart_capture_record(struct CUstream_st *, cudaEvent_t);
cudaError_t cudart_capture_wait(struct CUstream_st *, cudaEvent_t);

#endif
