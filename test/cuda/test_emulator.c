// SPDX-License-Identifier: Apache-2.0
// Tests that the emulator detects faults. Each faulty kernel runs in its own process and must be reported by name; races must
// show as different bytes in another order; correct kernels must give correct results.
#include "fixture_emulator.h"
#include "test/unit/test.h"

static void run_faulty(void *arg)
{
    struct gpu c;
    open_gpu(&c);
    struct k_faulty k = {*(enum fault *)arg, c.x, c.y, COUNT};
    cudaError_t error = k_faulty(c.stream, &k);
    cudaStreamSynchronize(c.stream);
    if (error != cudaSuccess) fprintf(stderr, "refused: %s\n", cudaGetErrorName(error));
}

TEST(test_faults_are_caught)
{
    static const struct {
        enum fault fault;
        const char *text, *more;
    } cases[] = {
        {FAULT_HALF_BARRIER, "which not all threads of its block reach: thread 128,0,0 has ended", "badly_waiting(k_faulty)"},
        {FAULT_EARLY_END, "which not all threads of its block reach: thread 77,0,0 has ended", "block 0,0,0"},
        {FAULT_TWO_BARRIERS, "which not all threads of its block reach: thread 128,0,0 waits at __syncthreads", "k_faulty.cc"},
        {FAULT_MISSING_LANE, "which not all lanes of its mask reach: thread", "waits at __shfl_xor_sync with mask ffffffff"},
        {FAULT_OTHER_CALL, "lanes of a warp meet at different calls", "__shfl_down_sync"},
        {FAULT_MASK_WITHOUT_ME, "which does not contain the caller", "thread 16,0,0"},
        {FAULT_SHORT_WARP, "whose mask names lanes that the block does not have", "badly_waiting"},
        {FAULT_MUCH_SHARED, "65536 bytes of shared memory, but a block has 49152", "too_much(k_faulty)"},
        {FAULT_MANY_THREADS, "with blocks of 1025x1x1 threads", "reverse(k_faulty)"},
        {FAULT_NO_BLOCKS, "with a grid of 0x1x1 blocks", "reverse(k_faulty)"},
        {FAULT_HIGH_GRID, "with a grid of 1x65536x1 blocks", "reverse(k_faulty)"},
        {FAULT_NO_KERNEL, "a launch without a kernel", NULL},
        {FAULT_MISALIGNED, SANITIZED ? "misaligned address" : "a misaligned address", SANITIZED ? NULL : "thread 0,0,0"},
        {FAULT_NOWHERE, SANITIZED ? "" : "an address outside all memory", SANITIZED ? NULL : "badly_reaching(k_faulty)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum fault fault = cases[i].fault;
        dies(run_faulty, &fault, cases[i].text, cases[i].more);
    }
}

TEST(test_past_the_end_is_caught_by_the_sanitizer)
{
    if (!SANITIZED) skip();
    enum fault fault = FAULT_PAST_THE_END;
    dies(run_faulty, &fault, "heap-buffer-overflow", "badly_reaching");
}

// ---- orders

static bool orders_agree(enum fault fault)
{
    struct gpu c;
    static float up[COUNT], other[COUNT];
    bool agree = true;
    open_gpu(&c);
    for (int order = EMULATE_UP; order <= EMULATE_MIXED; order++) {
        struct k_faulty k = {fault, c.x, c.y, COUNT};
        emulate_order(order);
        CUDA(cudaMemsetAsync(c.y, 0, sizeof c.host, c.stream));
        CUDA(k_faulty(c.stream, &k));
        fetch_y(&c, order == EMULATE_UP ? up : other);
        if (order != EMULATE_UP) agree = agree && memcmp(up, other, sizeof up) == 0;
    }
    emulate_order(EMULATE_UP);
    if (fault == FAULT_NONE)
        for (int i = 0; i < COUNT; i++) assert_true(up[i] == c.host[i / 256 * 256 + 255 - i % 256]);
    close_gpu(&c);
    return agree;
}

TEST(test_races_show_in_another_order)
{
    assert_true(orders_agree(FAULT_NONE));
    assert_false(orders_agree(FAULT_NO_BARRIER));
    assert_false(orders_agree(FAULT_BLOCK_ORDER));
}

static void run_looking_for_races(void *fault)
{
    emulate_races(1);
    run_faulty(fault);
}

TEST(test_races_are_found_at_their_kernel)
{
    enum fault barrier = FAULT_NO_BARRIER, block = FAULT_BLOCK_ORDER;
    dies(run_looking_for_races, &barrier, "a race in reverse(k_faulty)", "the orders down and mixed");
    dies(run_looking_for_races, &block, "a race in reverse(k_faulty)", NULL);
    emulate_races(1);
    assert_true(orders_agree(FAULT_NONE));
    emulate_races(0);
}

TEST(test_shared_memory_is_not_zero_at_first)
{
    struct gpu c;
    open_gpu(&c);
    for (int again = 0; again < 2; again++) {
        struct k_faulty k = {FAULT_UNWRITTEN_SHARED, c.x, c.y, COUNT};
        CUDA(k_faulty(c.stream, &k));
        fetch_y(&c, c.host);
        for (int i = 0; i < COUNT; i++) assert_true(c.host[i] != c.host[i]);
    }
    close_gpu(&c);
}

// ---- right answers

TEST(test_lanes_exchange)
{
    struct gpu c;
    uint32_t y[EXCHANGES][32];
    open_gpu(&c);
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
    close_gpu(&c);
}

TEST(test_sums_and_indices)
{
    struct gpu c;
    static float y[COUNT];
    int32_t where[288];
    open_gpu(&c);
    CUDA(k_sums(c.stream, &(struct k_sums){c.x, c.y, COUNT}));
    fetch_y(&c, y);
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
    close_gpu(&c);
}
