// SPDX-License-Identifier: Apache-2.0
// The emulated runtime: capture records and graphs replay, calls that a GPU rejects are rejected, copies are checked against
// allocations, calls fail and machines change at a test's request.
#include "fixture_emulator.h"
#include "test/unit/test.h"

// ---- streams and graphs

TEST(test_capture_records_and_graphs_replay)
{
    struct gpu c;
    static float y[COUNT];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    open_gpu(&c);
    struct emulate_counts before = emulate_counts();
    struct k_sums k = {c.x, c.y, COUNT};
    CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed));
    CUDA(k_sums(c.stream, &k));
    k = (struct k_sums){0};  // the graph has the arguments from the time of capture
    CUDA(cudaStreamEndCapture(c.stream, &graph));
    fetch_y(&c, y);
    assert_true(y[0] == 0.0f);  // recorded, not run
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    for (int again = 0; again < 3; again++) {
        CUDA(cudaMemsetAsync(c.y, 0, sizeof y, c.stream));
        CUDA(cudaGraphLaunch(exec, c.stream));
        fetch_y(&c, y);
        assert_true(y[0] != 0.0f && y[COUNT / 256] != 0.0f);
    }
    struct emulate_counts after = emulate_counts();
    assert_int_equal(after.launches - before.launches, 0);
    assert_int_equal(after.launches_captured - before.launches_captured, 2);
    assert_int_equal(after.graph_launches - before.graph_launches, 3);
    CUDA(cudaGraphExecDestroy(exec));
    assert_int_equal(emulate_counts().graphs, 0);
    close_gpu(&c);
}

static cudaError_t end_capture(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess) CUDA(cudaGraphDestroy(graph));
    return error;
}

TEST(test_capture_refuses)
{
    struct gpu c;
    float *more;
    cudaEvent_t event;
    enum cudaStreamCaptureStatus status;
    open_gpu(&c);
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDefault));

    CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed));
    assert_int_equal(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed), cudaErrorIllegalState);
    CUDA(cudaMalloc((void **)&more, 16));  // allowed in relaxed mode
    CUDA(cudaFree(more));
    CUDA(cudaStreamIsCapturing(c.stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    assert_int_equal(cudaStreamSynchronize(c.stream), cudaErrorStreamCaptureUnsupported);
    CUDA(cudaStreamIsCapturing(c.stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusInvalidated);
    assert_int_equal(k_sums(c.stream, &(struct k_sums){c.x, c.y, COUNT}), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(end_capture(c.stream), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(cudaGetLastError(), cudaSuccess);

    CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(cudaMalloc((void **)&more, 16), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(end_capture(c.stream), cudaErrorStreamCaptureInvalidated);

    CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeGlobal));
    assert_int_equal(cudaMemcpy(c.host, c.x, 16, cudaMemcpyDeviceToHost), cudaErrorStreamCaptureUnsupported);
    assert_int_equal(end_capture(c.stream), cudaErrorStreamCaptureInvalidated);

    CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed));
    CUDA(cudaEventRecord(event, c.stream));
    assert_int_equal(cudaEventSynchronize(event), cudaErrorCapturedEvent);
    assert_int_equal(end_capture(c.stream), cudaErrorStreamCaptureInvalidated);
    assert_int_equal(end_capture(c.stream), cudaErrorIllegalState);

    CUDA(cudaEventDestroy(event));
    close_gpu(&c);
}

TEST(test_capture_forks_and_joins)
{
    struct gpu c;
    cudaStream_t side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    static float y[COUNT];
    open_gpu(&c);
    CUDA(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    for (int joined = 0; joined < 2; joined++) {
        CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed));
        CUDA(cudaEventRecord(fork, c.stream));
        CUDA(cudaStreamWaitEvent(side, fork, 0));
        CUDA(k_sums(side, &(struct k_sums){c.x, c.y, COUNT}));
        if (!joined) {
            assert_int_equal(end_capture(c.stream), cudaErrorStreamCaptureUnjoined);
            continue;
        }
        CUDA(cudaEventRecord(join, side));
        CUDA(cudaStreamWaitEvent(c.stream, join, 0));
        CUDA(cudaStreamEndCapture(c.stream, &graph));
    }
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, c.stream));
    fetch_y(&c, y);
    assert_true(y[COUNT / 256] != 0.0f);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaEventDestroy(fork));
    CUDA(cudaEventDestroy(join));
    CUDA(cudaStreamDestroy(side));
    close_gpu(&c);
}

// Two streams: the sums of x are written to y, and y is cleared. In the right order the graph leaves zeros. Without the
// dependency between the two, some orders leave the sums. Returns the number of such launches.
enum { LAUNCHES = 40, WAITING, LACKING, SAID_OUTRIGHT };
static int sums_left(int how)
{
    struct gpu c;
    cudaStream_t side;
    cudaEvent_t fork, join, between;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    static float y[COUNT];
    int left = 0;
    open_gpu(&c);
    CUDA(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    CUDA(cudaEventCreateWithFlags(&between, cudaEventDisableTiming));
    CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed));
    CUDA(cudaEventRecord(fork, c.stream));
    CUDA(cudaStreamWaitEvent(side, fork, 0));
    CUDA(k_sums(c.stream, &(struct k_sums){c.x, c.y, COUNT}));
    CUDA(cudaEventRecord(between, c.stream));
    if (how == WAITING) CUDA(cudaStreamWaitEvent(side, between, 0));
    if (how == SAID_OUTRIGHT) {
        const cudaGraphNode_t *last;
        const cudaGraphEdgeData *edge;
        size_t count;
        enum cudaStreamCaptureStatus status;
        CUDA(cudaStreamGetCaptureInfo(c.stream, &status, NULL, NULL, &last, &edge, &count));
        assert_int_equal(status, cudaStreamCaptureStatusActive);
        assert_int_equal(count, 1);
        cudaGraphNode_t node = *last;
        CUDA(cudaStreamUpdateCaptureDependencies(side, &node, edge, 1, cudaStreamSetCaptureDependencies));
    }
    CUDA(cudaMemsetAsync(c.y, 0, sizeof y, side));
    CUDA(cudaEventRecord(join, side));
    CUDA(cudaStreamWaitEvent(c.stream, join, 0));
    CUDA(cudaStreamEndCapture(c.stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < LAUNCHES; i++) {
        CUDA(cudaGraphLaunch(exec, c.stream));
        fetch_y(&c, y);
        left += y[COUNT / 256] != 0.0f;
    }
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaEventDestroy(fork));
    CUDA(cudaEventDestroy(join));
    CUDA(cudaEventDestroy(between));
    CUDA(cudaStreamDestroy(side));
    close_gpu(&c);
    return left;
}

TEST(test_a_missing_wait_is_found)
{
    assert_int_equal(sums_left(LACKING), 0);  // in capture order it does not show
    emulate_replay(1);
    assert_int_equal(sums_left(WAITING), 0);
    assert_int_equal(sums_left(SAID_OUTRIGHT), 0);
    assert_in_range(sums_left(LACKING), LAUNCHES / 4, LAUNCHES * 3 / 4);
    emulate_replay(0);
    emulate_order(EMULATE_MIXED);
    assert_in_range(sums_left(LACKING), LAUNCHES / 4, LAUNCHES * 3 / 4);
    emulate_order(EMULATE_UP);
}

TEST(test_dependencies_are_refused)
{
    struct gpu c;
    cudaStream_t other;
    cudaGraphNode_t node, foreign;
    const cudaGraphNode_t *last;
    size_t count = 9;
    enum cudaStreamCaptureStatus status;
    struct k_sums k;
    open_gpu(&c);
    k = (struct k_sums){c.x, c.y, COUNT};
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(cudaStreamGetCaptureInfo(c.stream, &status, NULL, NULL, NULL, NULL, &count));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    assert_int_equal(cudaStreamUpdateCaptureDependencies(c.stream, NULL, NULL, 0, 1), cudaErrorIllegalState);
    CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed));
    CUDA(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
    CUDA(k_sums(c.stream, &k));
    CUDA(k_sums(other, &k));
    CUDA(cudaStreamGetCaptureInfo(c.stream, &status, NULL, NULL, &last, NULL, &count));
    node = *last;
    CUDA(cudaStreamGetCaptureInfo(other, &status, NULL, NULL, &last, NULL, &count));
    foreign = *last;
    assert_int_equal(cudaStreamUpdateCaptureDependencies(c.stream, &foreign, NULL, 1, 1), cudaErrorInvalidValue);
    CUDA(cudaStreamUpdateCaptureDependencies(c.stream, &node, NULL, 1, 0));
    CUDA(cudaStreamGetCaptureInfo(c.stream, &status, NULL, NULL, &last, NULL, &count));
    assert_int_equal(count, 1);  // it was already a dependency
    CUDA(cudaStreamUpdateCaptureDependencies(c.stream, NULL, NULL, 0, cudaStreamSetCaptureDependencies));
    CUDA(k_sums(c.stream, &k));
    CUDA(end_capture(c.stream));  // a removed dependency need not be joined
    CUDA(end_capture(other));
    CUDA(cudaStreamDestroy(other));
    close_gpu(&c);
}

TEST(test_late_work_waits_for_a_wait)
{
    struct gpu c;
    cudaStream_t other;
    cudaEvent_t event;
    float *pinned;
    open_gpu(&c);
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDefault));
    CUDA(cudaHostAlloc((void **)&pinned, sizeof c.host, cudaHostAllocDefault));
    emulate_late(1);
    memcpy(pinned, c.host, sizeof c.host);
    CUDA(cudaMemcpyAsync(c.x, pinned, sizeof c.host, cudaMemcpyHostToDevice, c.stream));
    pinned[0] += 1.0f;  // too early: the copy has not happened yet
    CUDA(k_sums(c.stream, &(struct k_sums){c.x, c.y, COUNT}));
    CUDA(cudaEventRecord(event, c.stream));
    CUDA(cudaStreamWaitEvent(other, event, 0));
    pinned[1] = 0.0f;
    CUDA(cudaMemcpyAsync(pinned + 1, c.y + COUNT / 256, 4, cudaMemcpyDeviceToHost, other));
    assert_true(pinned[1] == 0.0f);
    CUDA(cudaStreamSynchronize(other));
    assert_true(pinned[1] != 0.0f);
    CUDA(cudaMemcpyAsync(c.host + 1, c.x, 4, cudaMemcpyDeviceToHost, c.stream));  // pageable: waits
    assert_true(c.host[1] == c.host[0] + 1.0f);
    emulate_late(0);
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaEventDestroy(event));
    CUDA(cudaStreamDestroy(other));
    close_gpu(&c);
}

// ---- memory

static void copy_too_much(void *arg)
{
    struct gpu *c = arg;
    cudaMemcpyAsync(c->x + 1, c->host, sizeof c->host, cudaMemcpyHostToDevice, c->stream);
}
static void copy_wrong_way(void *arg)
{
    struct gpu *c = arg;
    cudaMemcpyAsync(c->x, c->y, 16, cudaMemcpyHostToDevice, c->stream);
}
static void fill_host(void *arg)
{
    struct gpu *c = arg;
    cudaMemsetAsync(c->host, 0, 16, c->stream);
}
static void free_twice(void *arg)
{
    struct gpu *c = arg;
    cudaFree(c->x);
    cudaFree(c->x);
}
static void free_inside(void *arg)
{
    struct gpu *c = arg;
    cudaFree(c->x + 64);
}

TEST(test_memory_is_checked)
{
    static struct gpu c;
    unsigned char *fresh, bytes[100];
    open_gpu(&c);
    dies(copy_too_much, &c, "bytes before the end of its allocation", "cudaMemcpyAsync");
    dies(copy_wrong_way, &c, "reads from the device as if it were the host", NULL);
    dies(fill_host, &c, "is not device memory", "cudaMemsetAsync");
    dies(free_twice, &c, "cudaMalloc did not return or which was freed", NULL);
    dies(free_inside, &c, "cudaMalloc did not return or which was freed", NULL);
    size_t before = emulate_memory_in_use();
    CUDA(cudaMalloc((void **)&fresh, 100));
    assert_int_equal((uintptr_t)fresh % 256, 0);
    assert_int_equal(emulate_memory_in_use() - before, 100);
    CUDA(cudaMemcpy(bytes, fresh, 100, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++) assert_int_equal(bytes[i], 0xff);
    CUDA(cudaFree(fresh));
    assert_true(emulate_memory_peak() >= before + 100);
    close_gpu(&c);
}

// ---- other machines, and calls that fail

TEST(test_other_machines)
{
    int count, version, major;
    size_t free_bytes, total;
    void *at;
    struct cudaDeviceProp facts;
    CUDA(cudaGetDeviceCount(&count));
    assert_int_equal(count, 1);
    CUDA(cudaGetDeviceProperties(&facts, 0));
    assert_non_null(strstr(facts.name, "emulated card"));
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    emulate_machine(EMULATE_NO_DRIVER);
    assert_int_equal(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
    CUDA(cudaDriverGetVersion(&version));
    assert_int_equal(version, 0);
    emulate_machine(EMULATE_OLD_DRIVER);
    assert_int_equal(cudaGetDeviceCount(&count), cudaErrorInsufficientDriver);
    CUDA(cudaDriverGetVersion(&version));
    assert_true(version > 0 && version < CUDART_VERSION);
    emulate_machine(EMULATE_NO_DEVICE);
    assert_int_equal(cudaGetDeviceCount(&count), cudaErrorNoDevice);
    assert_int_equal(count, 0);
    emulate_machine(EMULATE_OLD_GPU);
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    assert_int_equal(major, 7);
    emulate_machine(EMULATE_SMALL);
    CUDA(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(total, 64 << 20);
    assert_int_equal(cudaMalloc(&at, ((size_t)64 << 20) + 1), cudaErrorMemoryAllocation);
    emulate_machine(EMULATE_H200);
    (void)cudaGetLastError();
}

TEST(test_calls_fail_when_asked)
{
    struct gpu c;
    void *at;
    open_gpu(&c);
    emulate_fail_after("cudaMalloc", 1, cudaErrorMemoryAllocation);
    CUDA(cudaMalloc(&at, 16));
    CUDA(cudaFree(at));
    assert_int_equal(cudaMalloc(&at, 16), cudaErrorMemoryAllocation);
    CUDA(cudaMalloc(&at, 16));  // once
    CUDA(cudaFree(at));
    emulate_fail("cudaStreamSynchronize", cudaErrorIllegalAddress);
    assert_int_equal(cudaStreamSynchronize(c.stream), cudaErrorIllegalAddress);
    assert_int_equal(cudaMemsetAsync(c.x, 0, 4, c.stream), cudaErrorIllegalAddress);  // a sticky error
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    emulate_fail(NULL, cudaSuccess);
    close_gpu(&c);
}
