// SPDX-License-Identifier: Apache-2.0
// The threads of loops, and the calls of OpenMP that oneDNN makes: they reach the same threads.
#include "runtime/common/base/threads.h"
#include "runtime/cpu/product/dnnl_prim.h"
#include "test/unit/test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

enum { THREADS = 8, JOBS = 200 };

void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);

// A library finds a program's definition only if the program exports it.
TEST(test_onednn_finds_the_same_functions)
{
    static const struct {
        const char *name;
        void (*here)(void);
    } calls[] = {
#define CALL(name) {#name, (void (*)(void))name}
        CALL(GOMP_parallel), CALL(GOMP_barrier), CALL(omp_get_max_threads), CALL(omp_get_num_threads),
        CALL(omp_get_thread_num), CALL(omp_in_parallel),
#undef CALL
    };
    char library[64], isa[64];
    dnnl_prim_facts(library, sizeof library, isa, sizeof isa);  // so that this program has oneDNN, too
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *found = dlsym(RTLD_DEFAULT, calls[i].name);
        if ((uintptr_t)found != (uintptr_t)calls[i].here) fail_msg("%s calls %s of another library", library, calls[i].name);
    }
}

struct taken {
    pthread_t starter;
    _Atomic int by_starter, all;
};

static void take(void *context, int64_t begin, int64_t end, int thread)
{
    struct taken *taken = context;
    if (thread > 0 && pthread_equal(pthread_self(), taken->starter)) taken->by_starter++;
    taken->all += (int)(end - begin);
}

// Threads that sleep are late: what they have not begun is done without them.
TEST(test_a_late_thread_is_not_waited_for)
{
    struct taken taken = {.starter = pthread_self()};
    threads_set(THREADS);
    for (int i = 0; i < JOBS; i++) {
        threads_for(THREADS, 1, take, &taken);
        if (i % 4 == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    assert_int_equal(taken.all, THREADS * JOBS);
    assert_true(taken.by_starter > 0);
    threads_set(0);
}

struct meeting {
    int parts;
    int round[THREADS];
    _Atomic int wrong, ran;
};

static void meet(void *context)
{
    struct meeting *m = context;
    int part = omp_get_thread_num();
    if (omp_get_num_threads() != m->parts || !omp_in_parallel()) m->wrong++;
    for (int round = 1; round <= 20; round++) {
        m->round[part] = round;
        GOMP_barrier();
        for (int p = 0; p < m->parts; p++) m->wrong += m->round[p] != round;
        GOMP_barrier();
    }
    m->ran++;
}

TEST(test_parts_wait_for_each_other)
{
    for (int parts = 2; parts <= THREADS; parts++) {
        for (int i = 0; i < 20; i++) {
            struct meeting m = {.parts = parts};
            GOMP_parallel(meet, &m, (unsigned)parts, 0);
            assert_int_equal(m.ran, parts);
            assert_int_equal(m.wrong, 0);
        }
    }
    assert_false(omp_in_parallel());
    assert_int_equal(omp_get_num_threads(), 1);
    assert_int_equal(omp_get_thread_num(), 0);
}

static void count_alone(void *context)
{
    _Atomic int *calls = context;
    if (omp_get_thread_num() == 0 && omp_get_num_threads() == 1) ++*calls;
}

static void nest(void *context)
{
    int part = omp_get_thread_num();
    GOMP_parallel(count_alone, context, 3, 0);
    if (omp_get_thread_num() != part || omp_get_num_threads() != 3) *(_Atomic int *)context = -100;
}

TEST(test_a_nested_region_is_one_thread)
{
    _Atomic int calls = 0;
    GOMP_parallel(nest, &calls, 3, 0);
    assert_int_equal(calls, 3);
    threads_set(5);
    assert_int_equal(omp_get_max_threads(), 5);
    threads_set(0);
}

static void *another(void *context)
{
    for (int i = 0; i < JOBS; i++) threads_for(1000, 1, take, context);
    return NULL;
}

// Each thread that starts jobs has threads of its own, which end with it.
TEST(test_several_threads_start_jobs)
{
    struct taken taken[3] = {0};
    pthread_t thread[3];
    threads_set(4);
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&thread[i], NULL, another, &taken[i]), 0);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 3; i++) assert_int_equal(taken[i].all, 1000 * JOBS);
    threads_set(0);
}

static void take_last(void *context)
{
    threads_for(1000, 1, take, context);
}

static void *take_at_exit(void *context)
{
    pthread_key_t *key = ((void **)context)[0];
    void *taken = ((void **)context)[1];
    threads_for(1000, 1, take, taken);
    pthread_setspecific(*key, taken);
    return NULL;
}

// Destructors of a thread run in the order of their keys, so this one runs after the thread's team has ended.
TEST(test_a_job_of_a_thread_that_ends)
{
    struct taken taken = {0};
    pthread_key_t key;
    pthread_t thread;
    threads_set(4);
    threads_for(1000, 1, take, &taken);  // makes the pool's key, if no test before did
    assert_int_equal(pthread_key_create(&key, take_last), 0);
    assert_int_equal(pthread_create(&thread, NULL, take_at_exit, (void *[]){&key, &taken}), 0);
    pthread_join(thread, NULL);
    assert_int_equal(taken.all, 3000);
    pthread_key_delete(key);
    threads_set(0);
}

// The child's first job would otherwise wait for threads that only the parent has.
TEST(test_a_forked_child_has_threads_of_its_own)
{
#ifdef __SANITIZE_THREAD__
    skip();  // ThreadSanitizer ends a child that starts threads
#endif
    struct meeting m = {.parts = 3};
    GOMP_parallel(meet, &m, 3, 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        GOMP_parallel(meet, &m, 3, 0);
        _exit(m.ran == 6 && m.wrong == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    GOMP_parallel(meet, &m, 3, 0);
    assert_int_equal(m.ran, 6);
}
