// SPDX-License-Identifier: Apache-2.0
// Invariant: a thread that has read the number of a job and, after its fields, the same number, has the fields of that job. A
// part is begun by raising its number of jobs to its job's number, which succeeds once; until the part has ended, no other job
// begins.
#include "runtime/common/base/pool.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/error.h"

// Alone on the machine a long spin is the fastest: with 5 us a step of MiniLM takes 1.15 to 1.25 times as long as with 500 us.
// Next to two busy programs it is the other way round, 130 ms to 191, because a thread that spins uses up its share of the
// processor (two cores of an EPYC, family 26; batch 4 x 128). Such programs show as threads that the system interrupts: 10 to
// 120 in 50 ms instead of 2 to 8, with two threads.
enum { ALONE_NS = 500 * 1000, CROWDED_NS = 5 * 1000, LOOK_NS = 50 * 1000 * 1000, MANY = 12, PAUSES = 8, LINE = 64 };

struct part {
    _Alignas(LINE) _Atomic uint64_t begun;  // number of the last job of which this part was begun
};

struct team {
    _Alignas(LINE) _Atomic uint64_t job;  // its number; odd while its fields change
    _Atomic uint32_t bell;                // counts jobs; those who sleep wait for it
    _Atomic int sleeping;
    _Atomic bool over;
    _Atomic(void (*)(void *, int)) run;
    _Atomic(void *) context;
    _Atomic int parts;
    _Alignas(LINE) _Atomic uint32_t left;  // parts that have not ended
    _Atomic uint32_t starter_sleeps;
    _Alignas(LINE) _Atomic uint32_t here;  // parts at the barrier
    _Atomic uint32_t passed;               // barriers that were passed
    _Atomic int sleeping_here;
    int threads;                           // with the starter's
    bool crowded;                          // always: more threads than processors, or OMP_WAIT_POLICY=passive
    _Atomic int64_t spin_ns;
    int64_t look_at, crowded_until;
    long interrupted;                      // until the last look
    pthread_t *thread;
    struct part *part;
};

struct member {
    struct team *team;
    int number;
};

static _Thread_local struct team *own;  // the team that this thread starts jobs on
static _Thread_local struct { struct team *team; int part, parts; } now = {.parts = 1};
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int threads)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, threads, NULL, NULL, 0);
}

static void pause_shortly(void)
{
#if defined __x86_64__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#endif
}

// Whether the time to spin is over; called in a loop that begins with until = 0.
static bool spun(const struct team *t, int64_t *until)
{
    for (int i = 0; i < PAUSES; i++) pause_shortly();
    int64_t time = clock_ns();
    if (!*until) *until = time + t->spin_ns;
    return time >= *until;
}

static void look_for_others(struct team *t)
{
    struct rusage used;
    int64_t time = clock_ns(), due = t->look_at;
    if (t->crowded || time < due || getrusage(RUSAGE_SELF, &used) != 0) return;
    long more = used.ru_nivcsw - t->interrupted;
    t->look_at = time + LOOK_NS;
    t->interrupted = used.ru_nivcsw;
    if (due && time < due + LOOK_NS && more > MANY + 2 * t->threads) t->crowded_until = time + 5LL * LOOK_NS;
    t->spin_ns = time < t->crowded_until ? CROWDED_NS : ALONE_NS;
}

static bool must_not_spin(int threads)
{
    cpu_set_t set;
    const char *policy = getenv("OMP_WAIT_POLICY");
    bool many = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < threads;  // not known of more than 1,024
    return many || (policy && strcasecmp(policy, "passive") == 0);
}

static void work(struct team *t, int number, uint64_t job)
{
    void (*run)(void *, int) = t->run;
    void *context = t->context;
    int parts = t->parts;
    if (t->job != job) return;
    for (int i = 0; i < parts; i++) {
        int p = (number + i) % parts;
        uint64_t begun = atomic_load_explicit(&t->part[p].begun, memory_order_relaxed);
        if (begun >= job || !atomic_compare_exchange_strong(&t->part[p].begun, &begun, job)) continue;
        now.team = t, now.part = p, now.parts = parts;
        run(context, p);
        now.team = NULL, now.part = 0, now.parts = 1;
        if (atomic_fetch_sub(&t->left, 1) == 1 && t->starter_sleeps) futex_wake(&t->left, 1);
    }
}

static void *member_main(void *context)
{
    struct member m = *(struct member *)context;
    struct team *t = m.team;
    free(context);
    for (uint64_t done = 0;;) {
        uint64_t job;
        for (int64_t until = 0; (job = t->job) <= done || job % 2;) {
            if (t->over) return NULL;
            if (!spun(t, &until)) continue;
            uint32_t bell = t->bell;
            atomic_fetch_add(&t->sleeping, 1);
            if (t->job <= done && !t->over) futex_wait(&t->bell, bell);
            atomic_fetch_sub(&t->sleeping, 1);
            until = 0;
        }
        work(t, m.number, job);
        done = job;
    }
}

static void team_end(struct team *t)
{
    t->over = true;
    atomic_fetch_add(&t->bell, 1);
    futex_wake(&t->bell, INT_MAX);
    for (int i = 1; i < t->threads; i++) pthread_join(t->thread[i], NULL);
    free(t->thread);
    free(t->part);
    free(t);
}

// A destructor that runs later may start jobs: they begin a new team, and this is called again.
static void end_own(void *context)
{
    own = NULL;
    team_end(context);
}

// A child of fork() has none of the parent's threads: it leaves their team alone and begins a new one.
static void forget_team(void)
{
    own = NULL;
    memset(&now, 0, sizeof now);
    now.parts = 1;
    pthread_setspecific(at_exit, NULL);
}

static void make_key(void)
{
    BUG_IF(pthread_key_create(&at_exit, end_own) != 0 || pthread_atfork(NULL, NULL, forget_team) != 0);
}

static void *zeroed(size_t bytes)
{
    bytes = (bytes + LINE - 1) / LINE * LINE;
    void *p = aligned_alloc(LINE, bytes);
    BUG_IF(!p);
    memset(p, 0, bytes);
    return p;
}

static struct team *team_new(int threads)
{
    struct team *t = zeroed(sizeof *t);
    t->threads = 1;
    t->crowded = must_not_spin(threads);
    t->spin_ns = t->crowded ? CROWDED_NS : ALONE_NS;
    t->thread = zalloc((size_t)threads * sizeof *t->thread);
    t->part = zeroed((size_t)threads * sizeof *t->part);
    for (int i = 1; i < threads; i++) {
        struct member *m = zalloc(sizeof *m);
        *m = (struct member){t, i};
        int refused = pthread_create(&t->thread[i], NULL, member_main, m);
        if (refused) {
            char why[128];
            snprintf(why, sizeof why, "the system refuses thread %d of %d: %s", i + 1, threads, strerror(refused));
            BUG(why);
        }
        t->threads++;
    }
    return t;
}

static struct team *team_of(int threads)
{
    if (own && own->threads >= threads) return own;
    pthread_once(&once, make_key);
    if (own) team_end(own);
    own = team_new(threads);
    pthread_setspecific(at_exit, own);
    return own;
}

void pool_run(int parts, void (*run)(void *context, int part), void *context)
{
    if (parts <= 1) {
        int part = now.part, of = now.parts;
        now.part = 0, now.parts = 1;
        run(context, 0);
        now.part = part, now.parts = of;
        return;
    }
    BUG_IF(now.team);
    struct team *t = team_of(parts);
    look_for_others(t);
    uint64_t job = t->job + 2;
    t->job = job - 1;
    t->run = run;
    t->context = context;
    t->parts = parts;
    t->left = (uint32_t)parts;
    atomic_fetch_add(&t->bell, 1);
    t->job = job;
    if (t->sleeping) futex_wake(&t->bell, parts - 1);
    work(t, 0, job);
    uint32_t left;
    for (int64_t until = 0; (left = t->left) > 0;) {
        if (!spun(t, &until)) continue;
        t->starter_sleeps = 1;
        futex_wait(&t->left, left);
        t->starter_sleeps = 0;
    }
}

bool pool_inside(void)
{
    return now.team;
}

int pool_part(void)
{
    return now.part;
}

int pool_parts(void)
{
    return now.parts;
}

void pool_barrier(void)
{
    struct team *t = now.team;
    if (now.parts == 1) return;
    uint32_t passed = t->passed;
    if (atomic_fetch_add(&t->here, 1) + 1 == (uint32_t)now.parts) {
        t->here = 0;
        atomic_fetch_add(&t->passed, 1);
        if (t->sleeping_here) futex_wake(&t->passed, INT_MAX);
        return;
    }
    for (int64_t until = 0; t->passed == passed;) {
        if (!spun(t, &until)) continue;
        atomic_fetch_add(&t->sleeping_here, 1);
        futex_wait(&t->passed, passed);
        atomic_fetch_sub(&t->sleeping_here, 1);
    }
}
