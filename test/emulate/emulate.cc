// SPDX-License-Identifier: Apache-2.0
// Runs the threads of a block on one core. A thread is a plain call on a fiber. When it must wait (a barrier, a meeting of its
// warp), the fiber is suspended and the next thread of the block runs. A thread that ends without waiting leaves its fiber to
// the next one, so a block without waits costs little more than its calls.
//
// Invariant: the threads of a block run only between barriers that all of them reach, in the order set by emulate_order(). If
// a thread does not arrive, the program aborts and names it. Blocks run one after another, so a block that waits for another
// would wait forever; no kernel of DAWN does.
#include "test/emulate/emulate.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <string>
#include <utility>

#include "test/emulate/emulate_inside.h"
#include "test/emulate/emulate_test.h"
#include "test/emulate/fiber.h"

enum { THREADS_MAX = 1024 };

enum state { FRESH, READY, AT_BARRIER, AT_MEETING, ENDED };

struct thread {
    enum state state;
    struct fiber *fiber;  // while it waits
    const char *what, *file;
    int line;
    unsigned mask;
    void *mine;
};

struct emulate_thread emulate_here;

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static struct thread threads[THREADS_MAX];
static unsigned warps_waiting[THREADS_MAX / 32];  // lanes at a meeting
static int turns[THREADS_MAX];                    // the order of the threads
static int thread_count, cursor, ready, at_barrier, ended;
static int current;  // the running thread
static int running;  // true while a kernel runs
static struct emulate_kernel kernel;
static const void *kernel_args;
static struct fiber *idle_fibers, *this_fiber, main_fiber;
static int order = -1;
static uint32_t mix;

// ---- error reports

static uint3 index_of(int thread)
{
    unsigned t = (unsigned)thread, x = kernel.block.x, y = kernel.block.y;
    return uint3{t % x, t / x % y, t / (x * y)};
}

static void say_where()
{
    const struct emulate_thread &h = emulate_here;
    const char *name = emulate_facts_of(kernel.kernel).name.c_str();
    fprintf(stderr, "  in %s, grid %ux%ux%u of blocks %ux%ux%u\n", name, h.blocks.x, h.blocks.y, h.blocks.z, h.threads.x,
            h.threads.y, h.threads.z);
    fprintf(stderr, "  block %u,%u,%u thread %u,%u,%u\n", h.block.x, h.block.y, h.block.z, h.thread.x, h.thread.y, h.thread.z);
}

void emulate_die(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "\nemulator: ");
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    if (running) say_where();
    abort();
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
#ifndef EMULATE_ASAN
static struct sigaction before[sizeof signals / sizeof *signals];
static char *signal_stack;
#endif

// Not async-signal-safe, but the program is about to end, and the message must name the thread.
static void on_signal(int number)
{
    fprintf(stderr, "\nemulator: %s\n",
            number == SIGILL ? "a wide load or store at a misaligned address (or an illegal instruction)"
                             : "an address outside all memory, or an invalid division");
    say_where();
    signal(number, SIG_DFL);
    raise(number);
}

static void watch_signals(bool on)
{
#ifndef EMULATE_ASAN  // ASan reports these itself, with more detail
    if (!signal_stack) {
        signal_stack = (char *)malloc(1 << 16);
        stack_t alternate = {};
        alternate.ss_sp = signal_stack;
        alternate.ss_size = 1 << 16;
        sigaltstack(&alternate, NULL);
    }
    struct sigaction ours = {};
    ours.sa_handler = on_signal;
    ours.sa_flags = SA_ONSTACK | SA_NODEFER;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (on) sigaction(signals[i], &ours, &before[i]);
        else sigaction(signals[i], &before[i], NULL);
#else
    (void)on;
    (void)on_signal;
    (void)signals;
#endif
}

// ---- scheduling

static uint32_t draw_below(uint32_t below)
{
    mix ^= mix << 13;
    mix ^= mix >> 17;
    mix ^= mix << 5;
    return (uint32_t)(((uint64_t)mix * below) >> 32);
}

static void set_turns()
{
    for (int i = 0; i < thread_count; i++) turns[i] = order == EMULATE_DOWN ? thread_count - 1 - i : i;
    if (order == EMULATE_MIXED)
        for (int i = thread_count - 1; i > 0; i--) std::swap(turns[i], turns[draw_below((uint32_t)i + 1)]);
    cursor = 0;
}

static std::string describe_thread(int thread)
{
    const struct thread &t = threads[thread];
    uint3 at = index_of(thread);
    char text[400], mask[32] = "";
    if (t.state == AT_MEETING) snprintf(mask, sizeof mask, " with mask %08x", t.mask);
    if (t.state == ENDED) snprintf(text, sizeof text, "thread %u,%u,%u has ended", at.x, at.y, at.z);
    else snprintf(text, sizeof text, "thread %u,%u,%u waits at %s%s (%s:%d)", at.x, at.y, at.z, t.what, mask, t.file, t.line);
    return text;
}

// Deadlock: names a waiting thread and one that it waits for.
[[noreturn]] static void die_of_deadlock()
{
    int waits = 0;
    while (threads[waits].state == ENDED) waits++;
    for (int i = 0; i < thread_count; i++)
        if (threads[i].state == AT_MEETING) waits = i;  // the more specific fault, if there is one
    const struct thread &w = threads[waits];
    emulate_here.thread = index_of(waits);
    for (int i = 0; i < thread_count; i++) {
        bool wanted = w.state == AT_BARRIER || (i / 32 == waits / 32 && w.mask >> i % 32 & 1);
        bool there = threads[i].state == w.state && threads[i].line == w.line && threads[i].mask == w.mask &&
                     strcmp(threads[i].file, w.file) == 0;
        if (wanted && !there)
            emulate_die("%s, which not all %s reach: %s", describe_thread(waits).c_str(),
                        w.state == AT_BARRIER ? "threads of its block" : "lanes of its mask", describe_thread(i).c_str());
    }
    emulate_die("%s, whose mask names lanes that the block does not have", describe_thread(waits).c_str());
}

// Nearly always the same literal.
static bool same_text(const char *a, const char *b) { return a == b || strcmp(a, b) == 0; }

static void open_barrier()
{
    for (int i = 0; i < thread_count; i++)
        if (threads[i].line != threads[0].line || !same_text(threads[i].file, threads[0].file)) die_of_deadlock();
    for (int i = 0; i < thread_count; i++) threads[i].state = READY;
    at_barrier = 0;
    ready = thread_count;
    set_turns();
}

// Returns the next thread to run, or -1 if all have ended.
static int next_thread()
{
    for (;;) {
        if (ended == thread_count) return -1;
        if (at_barrier == thread_count) open_barrier();
        if (!ready) die_of_deadlock();
        for (; cursor < thread_count; cursor++) {
            int t = turns[cursor];
            if (threads[t].state != FRESH && threads[t].state != READY) continue;
            cursor++;
            return t;
        }
        cursor = 0;
    }
}

static void fiber_main(void);

static void switch_from(struct fiber *from, struct fiber *to)
{
    this_fiber = to;
    fiber_switch(from, to);
}

static void put_aside(struct fiber *fiber)
{
    fiber->next = idle_fibers;
    idle_fibers = fiber;
}

// Suspends the running thread, which waits or has ended, and runs the next one. Returns when this thread runs again, or when
// the fiber was given another thread.
static void take_turns(bool has_ended)
{
    struct fiber *me = this_fiber, *to;
    int t = next_thread();
    if (t < 0) {
        put_aside(me);
        switch_from(me, &main_fiber);
        return;
    }
    current = t;
    emulate_here.thread = index_of(t);
    ready--;
    bool fresh = threads[t].state == FRESH;
    if (fresh && has_ended) return;
    if (fresh) {
        to = idle_fibers;
        if (to) idle_fibers = to->next;
        else to = fiber_new(fiber_main);
    } else {
        to = threads[t].fiber;
    }
    if (to == me) return;
    if (has_ended) put_aside(me);
    switch_from(me, to);
}

static void fiber_main(void)
{
    fiber_arrive();
    for (;;) {
        kernel.call(kernel.kernel, kernel_args);
        threads[current].state = ENDED;
        ended++;
        take_turns(true);
    }
}

void emulate_barrier(const char *file, int line)
{
    struct thread &t = threads[current];
    t.state = AT_BARRIER;
    t.fiber = this_fiber;
    t.what = "__syncthreads";
    t.file = file;
    t.line = line;
    t.mask = 0;
    at_barrier++;
    take_turns(false);
}

void emulate_meet(unsigned mask, void *mine, void (*meet)(void *const brought[32]), const char *what, const char *file, int line)
{
    struct thread &t = threads[current];
    int lane = current % 32, first = current - lane;
    if (!(mask >> lane & 1)) emulate_die("%s (%s:%d) with mask %08x, which does not contain the caller", what, file, line, mask);
    t.fiber = this_fiber;
    t.what = what;
    t.file = file;
    t.line = line;
    t.mask = mask;
    t.mine = mine;
    t.state = AT_MEETING;
    unsigned &waiting = warps_waiting[current / 32];
    waiting |= 1u << lane;
    if ((waiting & mask) != mask) {
        take_turns(false);
        return;
    }
    void *brought[32] = {};
    for (int i = 0; i < 32; i++) {
        if (!(mask >> i & 1)) continue;
        const struct thread &other = threads[first + i];
        if (other.mask != mask || other.line != line || !same_text(other.what, what) || !same_text(other.file, file))
            emulate_die("lanes of a warp meet at different calls: %s, but %s", describe_thread(current).c_str(),
                        describe_thread(first + i).c_str());
        brought[i] = other.mine;
    }
    meet(brought);
    waiting &= ~mask;
    for (int i = 0; i < 32; i++)
        if (brought[i]) threads[first + i].state = READY, ready++;
    ready--;  // the last to arrive continues at once
}

struct gathered {
    const void *mine;
    size_t bytes;
    void *all;
};
void emulate_gather(const void *mine, size_t bytes, void *all32, const char *file, int line)
{
    struct gathered deposit = {mine, bytes, all32};
    emulate_meet(
        0xffffffffu, &deposit,
        [](void *const *brought) {
            for (int to = 0; to < 32; to++)
                for (int from = 0; from < 32; from++) {
                    const struct gathered *g = (const struct gathered *)brought[from];
                    memcpy((char *)((const struct gathered *)brought[to])->all + (size_t)from * g->bytes, g->mine, g->bytes);
                }
        },
        "a gather of the warp", file, line);
}

// ---- blocks

void emulate_order(int to) { order = to; }

int emulate_order_now(void)
{
    if (order >= 0) return order;
    const char *text = getenv("DAWN_EMULATE_ORDER");
    if (!text || !*text || strcmp(text, "up") == 0) order = EMULATE_UP;
    else if (strcmp(text, "down") == 0) order = EMULATE_DOWN;
    else if (strcmp(text, "mixed") == 0) order = EMULATE_MIXED;
    else emulate_die("DAWN_EMULATE_ORDER must be up, down or mixed; got '%s'", text);
    return order;
}

void emulate_check_launch(const struct emulate_kernel &k)
{
    if (!k.kernel) emulate_die("a launch without a kernel");
    const char *name = emulate_facts_of(k.kernel).name.c_str();
    uint64_t count = (uint64_t)k.block.x * k.block.y * k.block.z;
    if (!count || count > THREADS_MAX || k.block.x > 1024 || k.block.y > 1024 || k.block.z > 64)
        emulate_die("%s with blocks of %ux%ux%u threads: a block has 1 to 1024, in z at most 64", name, k.block.x, k.block.y,
                    k.block.z);
    if (!k.grid.x || !k.grid.y || !k.grid.z || k.grid.x > 0x7fffffffu || k.grid.y > 65535 || k.grid.z > 65535)
        emulate_die("%s with a grid of %ux%ux%u blocks: 1 to 2147483647 in x, 1 to 65535 in y and z", name, k.grid.x, k.grid.y,
                    k.grid.z);
}

static void run_block(const struct emulate_facts &facts, uint64_t block)
{
    const dim3 &g = kernel.grid;
    emulate_here.block = uint3{(unsigned)(block % g.x), (unsigned)(block / g.x % g.y), (unsigned)(block / g.x / g.y)};
    emulate_fill_shared(facts);
    for (int i = 0; i < thread_count; i++) threads[i].state = FRESH;
    memset(warps_waiting, 0, sizeof warps_waiting);
    ready = thread_count;
    ended = at_barrier = 0;
    set_turns();
    current = next_thread();
    emulate_here.thread = index_of(current);
    ready--;
    struct fiber *first = idle_fibers;
    if (first) idle_fibers = first->next;
    else first = fiber_new(fiber_main);
    switch_from(&main_fiber, first);
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

void emulate_run(const struct emulate_kernel &k, const void *args)
{
    pthread_mutex_lock(&one_at_a_time);
    emulate_order_now();
    struct emulate_facts &facts = emulate_facts_of(k.kernel);
    kernel = k;
    kernel_args = args;
    thread_count = (int)(k.block.x * k.block.y * k.block.z);
    emulate_here.threads = k.block;
    emulate_here.blocks = k.grid;
    mix = 2463534242u;
    running = 1;
    watch_signals(true);
    uint64_t blocks = (uint64_t)k.grid.x * k.grid.y * k.grid.z, step = blocks * 5 / 8 + 1;
    while (divisor(blocks, step) != 1) step++;
    for (uint64_t i = 0; i < blocks; i++) {
        run_block(facts, order == EMULATE_UP ? i : order == EMULATE_DOWN ? blocks - 1 - i : (i * step + blocks / 3) % blocks);
        if (i == 0 || i == blocks - 1) emulate_learn_shared(facts);
    }
    watch_signals(false);
    running = 0;
    pthread_mutex_unlock(&one_at_a_time);
}
