// SPDX-License-Identifier: Apache-2.0
// The emulator of the card: that it can fail. Kernels with one fault each are run in a process of their own and must be
// caught, by name; races must show as other bytes in another order; the pretend runtime must refuse what a card refuses.
#include "test/emulate/emulate_test.h"
#include "test/emulate/faulty/k_faulty.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CUDA(call) assert_int_equal(call, cudaSuccess)
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
enum { COUNT = 256 * 40 };

struct card {
    cudaStream_t stream;
    float *x, *y;  // COUNT and COUNT elements on the card
    float host[COUNT];
};

static void open_card(struct card *c)
{
    memset(c, 0, sizeof *c);
    CUDA(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc((void **)&c->x, sizeof c->host));
    CUDA(cudaMalloc((void **)&c->y, sizeof c->host));
    for (int i = 0; i < COUNT; i++) c->host[i] = (float)(i % 1000) * 0.37f - 100.0f;
    CUDA(cudaMemcpyAsync(c->x, c->host, sizeof c->host, cudaMemcpyHostToDevice, c->stream));
    CUDA(cudaMemsetAsync(c->y, 0, sizeof c->host, c->stream));
    CUDA(cudaStreamSynchronize(c->stream));
}

static void close_card(struct card *c)
{
    CUDA(cudaFree(c->x));
    CUDA(cudaFree(c->y));
    CUDA(cudaStreamDestroy(c->stream));
    assert_int_equal(emulate_memory_in_use(), 0);
}

static void fetch(struct card *c, float *into)
{
    CUDA(cudaMemcpyAsync(into, c->y, sizeof c->host, cudaMemcpyDeviceToHost, c->stream));
    CUDA(cudaStreamSynchronize(c->stream));
}

// ---- dying, in a process of its own

// Runs `act` in a child, which must be ended by a signal or a sanitizer after it wrote `text`, and all of `more`.
static void dies(void (*act)(void *), void *arg, const char *text, const char *more)
{
    char said[8192];
    size_t length = 0;
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        for (int s = 1; s < 32; s++) signal(s, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        act(arg);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; length < sizeof said - 1 && (n = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)n;
    said[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) fail_msg("it did not die, but was to say: %s", text);
    if (!strstr(said, text)) fail_msg("it was to say: %s\nbut said: %s", text, said);
    if (more && !strstr(said, more)) fail_msg("it was to say: %s\nbut said: %s", more, said);
}

static void run_faulty(void *arg)
{
    struct card c;
    open_card(&c);
    struct k_faulty k = {*(enum fault *)arg, c.x, c.y, COUNT};
    cudaError_t error = k_faulty(c.stream, &k);
    cudaStreamSynchronize(c.stream);
    if (error != cudaSuccess) fprintf(stderr, "refused: %s\n", cudaGetErrorName(error));
}

static void test_faults_are_caught(void **state)
{
    (void)state;
    static const struct {
        enum fault fault;
        const char *text, *more;
    } cases[] = {
        {FAULT_HALF_BARRIER, "which not all of its block reach: thread 128,0,0 has ended", "badly_waiting(k_faulty)"},
        {FAULT_EARLY_END, "which not all of its block reach: thread 77,0,0 has ended", "block 0,0,0"},
        {FAULT_TWO_BARRIERS, "which not all of its block reach: thread 128,0,0 waits at __syncthreads", "k_faulty.cc"},
        {FAULT_MISSING_LANE, "which not all of its mask's lanes reach: thread", "waits at __shfl_xor_sync with mask ffffffff"},
        {FAULT_OTHER_CALL, "lanes of a warp meet at different calls", "__shfl_down_sync"},
        {FAULT_MASK_WITHOUT_ME, "which lacks the caller itself", "thread 16,0,0"},
        {FAULT_SHORT_WARP, "whose mask names lanes that the block does not have", "badly_waiting"},
        {FAULT_MUCH_SHARED, "65536 bytes of shared memory, but a block has 49152", "too_much(k_faulty)"},
        {FAULT_MANY_THREADS, "with blocks of 1025x1x1 threads", "reverse(k_faulty)"},
        {FAULT_NO_BLOCKS, "with a grid of 0x1x1 blocks", "reverse(k_faulty)"},
        {FAULT_HIGH_GRID, "with a grid of 1x65536x1 blocks", "reverse(k_faulty)"},
        {FAULT_NO_KERNEL, "a launch of no kernel", NULL},
        {FAULT_MISALIGNED, SANITIZED ? "misaligned address" : "no multiple of its size", SANITIZED ? NULL : "thread 0,0,0"},
        {FAULT_NOWHERE, SANITIZED ? "" : "an address outside all memory", SANITIZED ? NULL : "badly_reaching(k_faulty)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum fault fault = cases[i].fault;
        dies(run_faulty, &fault, cases[i].text, cases[i].more);
    }
}

static void test_past_the_end_is_caught_by_the_sanitizer(void **state)
{
    (void)state;
    if (!SANITIZED) skip();
    enum fault fault = FAULT_PAST_THE_END;
    dies(run_faulty, &fault, "heap-buffer-overflow", "badly_reaching");
}

// ---- orders

static bool orders_agree(enum fault fault)
{
    struct card c;
    static float up[COUNT], other[COUNT];
    bool agree = true;
    open_card(&c);
    for (int order = EMULATE_UP; order <= EMULATE_MIXED; order++) {
        struct k_faulty k = {fault, c.x, c.y, COUNT};
        emulate_order(order);
        CUDA(cudaMemsetAsync(c.y, 0, sizeof c.host, c.stream));
        CUDA(k_faulty(c.stream, &k));
        fetch(&c, order == EMULATE_UP ? up : other);
        if (order != EMULATE_UP) agree = agree && memcmp(up, other, sizeof up) == 0;
    }
    emulate_order(EMULATE_UP);
    if (fault == FAULT_NONE)
        for (int i = 0; i < COUNT; i++) assert_true(up[i] == c.host[i / 256 * 256 + 255 - i % 256]);
    close_card(&c);
    return agree;
}

static void test_races_show_in_another_order(void **state)
{
    (void)state;
    assert_true(orders_agree(FAULT_NONE));
    assert_false(orders_agree(FAULT_NO_BARRIER));
    assert_false(orders_agree(FAULT_BLOCK_ORDER));
}

static void test_shared_memory_is_not_zero_at_first(void **state)
{
    (void)state;
    struct card c;
    open_card(&c);
    for (int again = 0; again < 2; again++) {
        struct k_faulty k = {FAULT_UNWRITTEN_SHARED, c.x, c.y, COUNT};
        CUDA(k_faulty(c.stream, &k));
        fetch(&c, c.host);
        for (int i = 0; i < COUNT; i++) assert_true(c.host[i] != c.host[i]);
    }
    close_card(&c);
}

// ---- right answers

static void test_lanes_exchange(void **state)
{
    (void)state;
    struct card c;
    uint32_t y[EXCHANGES][32];
    open_card(&c);
    for (int order = EMULATE_UP; order <= EMULATE_MIXED; order++) {
        emulate_order(order);
        CUDA(k_exchange(c.stream, &(struct k_exchange){c.x, (uint32_t *)c.y}));
        CUDA(cudaMemcpyAsync(y, c.y, sizeof y, cudaMemcpyDeviceToHost, c.stream));
        CUDA(cudaStreamSynchronize(c.stream));
        float sum = 0.0f;
        for (int i = 0; i < 32; i++) sum += c.host[i];
        for (int i = 0; i < 32; i++) {
#define BITS(f) (((union { float x; uint32_t bits; }){.x = (f)}).bits)
            assert_int_equal(y[EXCHANGE_LANE][i], BITS(c.host[5]));
            assert_int_equal(y[EXCHANGE_XOR][i], BITS(c.host[i ^ 6]));
            assert_int_equal(y[EXCHANGE_DOWN][i], BITS(c.host[i + 3 < 32 ? i + 3 : i]));
            assert_int_equal(y[EXCHANGE_UP][i], BITS(c.host[i >= 3 ? i - 3 : i]));
            assert_int_equal(y[EXCHANGE_QUARTER][i], BITS(c.host[i % 8 + 2 < 8 ? i + 2 : i]));
            assert_int_equal(y[EXCHANGE_HALF_WARP][i], i < 16 ? BITS(c.host[i ^ 8]) : 20);
            assert_int_equal(y[EXCHANGE_BALLOT][i], 0x49249249u);
            assert_int_equal(y[EXCHANGE_ANY][i], 1);
            assert_int_equal(y[EXCHANGE_ALL][i], 1);
            assert_int_equal(y[EXCHANGE_GATHER][i], BITS(c.host[(i * 7 + 1) % 32]));
            assert_int_equal(y[EXCHANGE_MOST][i], BITS(c.host[31]));
            float got;
            memcpy(&got, &y[EXCHANGE_SUM][i], 4);
            assert_true(got - sum < 0.01f && sum - got < 0.01f);
        }
    }
    emulate_order(EMULATE_UP);
    close_card(&c);
}

static void test_sums_and_indices(void **state)
{
    (void)state;
    struct card c;
    static float y[COUNT];
    int32_t where[288];
    open_card(&c);
    CUDA(k_sums(c.stream, &(struct k_sums){c.x, c.y, COUNT}));
    fetch(&c, y);
    double all = 0;
    for (int b = 0; b < COUNT / 256; b++) {
        double sum = 0;
        for (int i = 0; i < 256; i++) sum += c.host[b * 256 + i];
        assert_true(y[b] - sum < 0.05 && sum - y[b] < 0.05);
        all += sum;
    }
    assert_true(y[COUNT / 256] - all < 2.0 && all - y[COUNT / 256] < 2.0);
    CUDA(k_indices(c.stream, &(struct k_indices){(int32_t *)c.y}));
    CUDA(cudaMemcpyAsync(where, c.y, sizeof where, cudaMemcpyDeviceToHost, c.stream));
    CUDA(cudaStreamSynchronize(c.stream));
    for (int i = 0; i < 288; i++) assert_int_equal(where[i], i);
    close_card(&c);
}

// ---- streams and graphs

static void test_capture_records_and_graphs_replay(void **state)
{
    (void)state;
    struct card c;
    static float y[COUNT];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    open_card(&c);
    struct emulate_counts before = emulate_counts();
    struct k_sums k = {c.x, c.y, COUNT};
    CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed));
    CUDA(k_sums(c.stream, &k));
    k = (struct k_sums){0};  // the graph has the arguments as they were
    CUDA(cudaStreamEndCapture(c.stream, &graph));
    fetch(&c, y);
    assert_true(y[0] == 0.0f);  // recorded, not run
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    for (int again = 0; again < 3; again++) {
        CUDA(cudaMemsetAsync(c.y, 0, sizeof y, c.stream));
        CUDA(cudaGraphLaunch(exec, c.stream));
        fetch(&c, y);
        assert_true(y[0] != 0.0f && y[COUNT / 256] != 0.0f);
    }
    struct emulate_counts after = emulate_counts();
    assert_int_equal(after.launches - before.launches, 0);
    assert_int_equal(after.launches_captured - before.launches_captured, 2);
    assert_int_equal(after.graph_launches - before.graph_launches, 3);
    CUDA(cudaGraphExecDestroy(exec));
    assert_int_equal(emulate_counts().graphs, 0);
    close_card(&c);
}

static cudaError_t end_capture(cudaStream_t stream)
{
    cudaGraph_t graph;
    cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (error == cudaSuccess) CUDA(cudaGraphDestroy(graph));
    return error;
}

static void test_capture_refuses(void **state)
{
    (void)state;
    struct card c;
    float *more;
    cudaEvent_t event;
    enum cudaStreamCaptureStatus status;
    open_card(&c);
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDefault));

    CUDA(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed));
    assert_int_equal(cudaStreamBeginCapture(c.stream, cudaStreamCaptureModeRelaxed), cudaErrorIllegalState);
    CUDA(cudaMalloc((void **)&more, 16));  // allowed when relaxed
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
    close_card(&c);
}

static void test_capture_forks_and_joins(void **state)
{
    (void)state;
    struct card c;
    cudaStream_t side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    static float y[COUNT];
    open_card(&c);
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
    fetch(&c, y);
    assert_true(y[COUNT / 256] != 0.0f);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaEventDestroy(fork));
    CUDA(cudaEventDestroy(join));
    CUDA(cudaStreamDestroy(side));
    close_card(&c);
}

static void test_late_work_waits_for_a_wait(void **state)
{
    (void)state;
    struct card c;
    cudaStream_t other;
    cudaEvent_t event;
    float *pinned;
    open_card(&c);
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(cudaEventCreateWithFlags(&event, cudaEventDefault));
    CUDA(cudaHostAlloc((void **)&pinned, sizeof c.host, cudaHostAllocDefault));
    emulate_late(1);
    memcpy(pinned, c.host, sizeof c.host);
    CUDA(cudaMemcpyAsync(c.x, pinned, sizeof c.host, cudaMemcpyHostToDevice, c.stream));
    pinned[0] += 1.0f;  // too early: the copy has not been made yet
    CUDA(k_sums(c.stream, &(struct k_sums){c.x, c.y, COUNT}));
    CUDA(cudaEventRecord(event, c.stream));
    CUDA(cudaStreamWaitEvent(other, event, 0));
    pinned[1] = 0.0f;
    CUDA(cudaMemcpyAsync(pinned + 1, c.y + COUNT / 256, 4, cudaMemcpyDeviceToHost, other));
    assert_true(pinned[1] == 0.0f);
    CUDA(cudaStreamSynchronize(other));
    assert_true(pinned[1] != 0.0f);
    CUDA(cudaMemcpyAsync(c.host + 1, c.x, 4, cudaMemcpyDeviceToHost, c.stream));  // not pinned: waits
    assert_true(c.host[1] == c.host[0] + 1.0f);
    emulate_late(0);
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaEventDestroy(event));
    CUDA(cudaStreamDestroy(other));
    close_card(&c);
}

// ---- memory

static void copy_too_much(void *arg)
{
    struct card *c = arg;
    cudaMemcpyAsync(c->x + 1, c->host, sizeof c->host, cudaMemcpyHostToDevice, c->stream);
}
static void copy_wrong_way(void *arg)
{
    struct card *c = arg;
    cudaMemcpyAsync(c->x, c->y, 16, cudaMemcpyHostToDevice, c->stream);
}
static void fill_host(void *arg)
{
    struct card *c = arg;
    cudaMemsetAsync(c->host, 0, 16, c->stream);
}
static void free_twice(void *arg)
{
    struct card *c = arg;
    cudaFree(c->x);
    cudaFree(c->x);
}
static void free_inside(void *arg)
{
    struct card *c = arg;
    cudaFree(c->x + 64);
}

static void test_memory_is_checked(void **state)
{
    (void)state;
    static struct card c;
    unsigned char *fresh, bytes[100];
    open_card(&c);
    dies(copy_too_much, &c, "bytes before the end of its allocation", "cudaMemcpyAsync");
    dies(copy_wrong_way, &c, "reads from the device as if it were the host", NULL);
    dies(fill_host, &c, "is no memory of the device", "cudaMemsetAsync");
    dies(free_twice, &c, "cudaMalloc did not give or which was freed", NULL);
    dies(free_inside, &c, "cudaMalloc did not give or which was freed", NULL);
    size_t before = emulate_memory_in_use();
    CUDA(cudaMalloc((void **)&fresh, 100));
    assert_int_equal((uintptr_t)fresh % 256, 0);
    assert_int_equal(emulate_memory_in_use() - before, 100);
    CUDA(cudaMemcpy(bytes, fresh, 100, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++) assert_int_equal(bytes[i], 0xff);
    CUDA(cudaFree(fresh));
    assert_true(emulate_memory_peak() >= before + 100);
    close_card(&c);
}

// ---- other machines, and calls that fail

static void test_other_machines(void **state)
{
    (void)state;
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
    emulate_machine(EMULATE_OLD_CARD);
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    assert_int_equal(major, 7);
    emulate_machine(EMULATE_SMALL);
    CUDA(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(total, 64 << 20);
    assert_int_equal(cudaMalloc(&at, ((size_t)64 << 20) + 1), cudaErrorMemoryAllocation);
    emulate_machine(EMULATE_H200);
    (void)cudaGetLastError();
}

static void test_calls_fail_when_asked(void **state)
{
    (void)state;
    struct card c;
    void *at;
    open_card(&c);
    emulate_fail_after("cudaMalloc", 1, cudaErrorMemoryAllocation);
    CUDA(cudaMalloc(&at, 16));
    CUDA(cudaFree(at));
    assert_int_equal(cudaMalloc(&at, 16), cudaErrorMemoryAllocation);
    CUDA(cudaMalloc(&at, 16));  // once
    CUDA(cudaFree(at));
    emulate_fail("cudaStreamSynchronize", cudaErrorIllegalAddress);
    assert_int_equal(cudaStreamSynchronize(c.stream), cudaErrorIllegalAddress);
    assert_int_equal(cudaMemsetAsync(c.x, 0, 4, c.stream), cudaErrorIllegalAddress);  // a card does not forget this one
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    emulate_fail(NULL, cudaSuccess);
    close_card(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_are_caught),
        cmocka_unit_test(test_past_the_end_is_caught_by_the_sanitizer),
        cmocka_unit_test(test_races_show_in_another_order),
        cmocka_unit_test(test_shared_memory_is_not_zero_at_first),
        cmocka_unit_test(test_lanes_exchange),
        cmocka_unit_test(test_sums_and_indices),
        cmocka_unit_test(test_capture_records_and_graphs_replay),
        cmocka_unit_test(test_capture_refuses),
        cmocka_unit_test(test_capture_forks_and_joins),
        cmocka_unit_test(test_late_work_waits_for_a_wait),
        cmocka_unit_test(test_memory_is_checked),
        cmocka_unit_test(test_other_machines),
        cmocka_unit_test(test_calls_fail_when_asked),
    };
    return cmocka_run_group_tests_name("emulator", tests, NULL, NULL);
}
