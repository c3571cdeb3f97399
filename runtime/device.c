// SPDX-License-Identifier: Apache-2.0
// The table of devices, opening by name, and measuring peaks. device_measure runs a matrix product and a copy as programs
// of the device, so that a training run can reach its figures. Cost: about two seconds.
#include "runtime/device.h"

#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"
#include "runtime/ranks/ranks.h"
#include "runtime/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const struct device_type *const device_types[] = {&device_cuda, &device_cpu, &device_ref, &device_null, NULL};

static const struct device_type *type_named(const char *name, size_t length)
{
    for (int i = 0; device_types[i]; i++)
        if (strlen(device_types[i]->name) == length && memcmp(device_types[i]->name, name, length) == 0)
            return device_types[i];
    return NULL;
}

// Returns the first type that is present. cpu is always present and precedes ref and null, so neither is chosen.
static const struct device_type *type_present(void)
{
    int i = 0;
    while (device_types[i]->present && !device_types[i]->present()) i++;
    return device_types[i];
}

static int unknown(const char *name)
{
    enum { ROOM = 16 };
    const char *names[ROOM] = {NULL};
    struct text all = {0};
    for (int i = 0; device_types[i] && i < ROOM - 1; i++) {
        names[i] = device_types[i]->name;
        text_add(&all, "%s%s", i ? ", " : "", names[i]);
    }
    const char *near = strncmp(name, "gpu", 3) == 0 ? "cuda" : text_nearest(name, names);  // "cpu" would be just as near
    int rc = near ? fail(ERR_USAGE, "there is no device \"%s\"; did you mean \"%s\"?", name, near)
                  : fail(ERR_USAGE, "there is no device \"%s\"; this program has %s", name, all.at);
    text_free(&all);
    return rc;
}

int device_open(const char *name, int threads, struct device **into)
{
    *into = NULL;
    if (!name || strcmp(name, "auto") == 0) name = type_present()->name;
    size_t length = strcspn(name, ":");
    const struct device_type *type = type_named(name, length);
    if (!type) return unknown(name);
    int64_t index = 0;
    if (name[length] && text_to_int(name + length + 1, 0, 1024, &index) < 0)
        return fail(ERR_USAGE, "device \"%s\": the part after the colon must be the number of a device, as in %s:0",
                    name, type->name);
    return type->open((int)index, threads, into);
}

int device_open_shared(const char *name, int threads, struct device **into)
{
    char own[16];
    if (ranks_size() == 1) return device_open(name, threads, into);
    if (!name || strcmp(name, "auto") == 0) name = type_present()->name;
    if (strcmp(name, device_cuda.name) == 0) {
        snprintf(own, sizeof own, "%s:%d", name, ranks_local());
        name = own;
    }
    return device_open(name, threads ? threads : ranks_threads(), into);
}

void device_close(struct device *device)
{
    if (device) device->type->close(device);
}

enum { LINE = 64 };

int device_host_alloc(struct device *device, size_t bytes, void **into)
{
    if (bytes > SIZE_MAX - 2 * LINE) return fail(ERR_MEMORY, "%zu bytes are more than can be", bytes);
    *into = aligned_alloc(LINE, (bytes / LINE + 1) * LINE);
    return *into ? 0 : fail(ERR_MEMORY, "device %s: no memory of the host for %zu bytes", device->type->name, bytes);
}

void device_host_free(struct device *device, void *at)
{
    (void)device;
    free(at);
}

int device_stage_done(struct device *device)
{
    (void)device;
    return 0;
}

int device_check(struct device *device)
{
    struct device_facts facts;
    struct session *session;
    TRY(device->type->facts(device, &facts));
    TRY(session_new(device, &session));
    struct graph *g = graph_new(session->store, "check");
    graph_scope(g, "a convolution");
    struct init zero = {INIT_ZERO, 0};
    struct shape images = SHAPE(32, 16, 16, 64), filters = SHAPE(64, 3, 3, 64);
    enum dtype type = facts.fast[F16] ? F16 : facts.fast[BF16] ? BF16 : F32;
    int x = graph_state(g, "x", images, type, MEMORY_STATE, zero), w = graph_state(g, "w", filters, F32, MEMORY_STATE, zero);
    int y = graph_state(g, "y", images, type, MEMORY_STATE, zero);
    graph_node_over(g, OP_ASSIGN, (int[]){y, g_conv(g, x, w, 1, 1)}, 2, NULL, (int[]){y}, NULL);
    int rc = session_add(session, g);
    if (rc >= 0) rc = session_plan(session);
    session_free(session);
    return rc < 0 ? rc : 0;
}

// ---- measuring

// A program in which the nodes of one operator are timed.
struct probe {
    struct session *session;
    int program;
    enum op op;
};

// The shortest time of a node of that operator: one run to warm up, then up to five runs or 0.15 s.
static int probe_time(struct probe *p, double *seconds)
{
    const struct plan *plan = p->session->plan[p->program];
    int64_t *ns = zalloc((size_t)plan->count * sizeof *ns), best = INT64_MAX, spent = 0;
    int rc = 0;
    for (int i = 0; i < 6 && rc == 0 && (i < 2 || spent < 150000000); i++) {
        rc = session_profile(p->session, p->program, ns);
        for (int at = 0; at < plan->count && rc == 0; at++) {
            if (plan->graph->node[plan->order[at]].op != p->op) continue;
            spent += ns[at];
            if (i > 0 && ns[at] < best) best = ns[at];
        }
    }
    free(ns);
    *seconds = best == INT64_MAX ? 0.0 : (double)best * 1e-9;
    return rc;
}

static int probe_ready(struct session *session, struct graph *g, enum op op, double *seconds)
{
    int program = session_add(session, g);
    TRY(program);
    TRY(session_ready(session));
    TRY(session_reset(session, 1));
    struct probe p = {session, program, op};
    return probe_time(&p, seconds);
}

// y = a b, n x n, in `type`.
static int time_matmul(struct device *device, enum dtype type, int64_t n, double *seconds)
{
    struct session *session;
    TRY(session_new(device, &session));
    struct graph *g = graph_new(session->store, "measure");
    struct init init = {INIT_UNIFORM, 0.05f};
    struct shape shape = SHAPE(n, n);
    int a = graph_state(g, "a", shape, F32, MEMORY_STATE, init),
        b = graph_state(g, "b", shape, F32, MEMORY_STATE, init);
    int y = graph_state(g, "y", shape, F32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    if (type != F32) a = g_cast(g, a, type), b = g_cast(g, b, type);
    int product = g_matmul(g, a, false, b, false, type);
    union attr none = {0};
    graph_node_over(g, OP_ASSIGN, (int[]){y, product}, 2, &none, (int[]){y}, NULL);
    int rc = probe_ready(session, g, OP_MATMUL, seconds);
    session_free(session);
    return rc;
}

static int time_copy(struct device *device, int64_t count, double *seconds)
{
    struct session *session;
    TRY(session_new(device, &session));
    struct graph *g = graph_new(session->store, "measure");
    int a = graph_state(g, "a", SHAPE(count), F32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    int y = graph_state(g, "y", SHAPE(count), F32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    union attr none = {0};
    graph_node_over(g, OP_ASSIGN, (int[]){y, a}, 2, &none, (int[]){y}, NULL);
    int rc = probe_ready(session, g, OP_ASSIGN, seconds);
    session_free(session);
    return rc;
}

// The rates of one try: of products in each type and of a copy. `size`: of the fastest product; a later try begins with it.
struct try {
    double flops[DTYPE_COUNT], bytes;
    int64_t size[DTYPE_COUNT], count;
};

// The rate of a product is measured for growing sizes, until one takes long enough to be measured; so the slow reference ends
// soon, too. An interrupted process also takes long: in the first try a size that ends the growth and is slower than a smaller
// one is measured again, and so is the first.
static int measure_products(struct device *device, enum dtype type, struct try *t)
{
    enum { TRIES = 4, FIRST_TRIES = 2, SMALLEST = 128, LARGEST = 4096 };
    const bool first = t->size[type] == 0;
    double seconds = 0, *peak = &t->flops[type];
    for (int64_t n = first ? SMALLEST : t->size[type]; n <= LARGEST && seconds < 0.02; n *= 2) {
        double flops = 2.0 * (double)(n * n * n), least = 0;
        int tries = !first ? 1 : *peak > 0 ? TRIES : FIRST_TRIES;
        for (int i = 0; i < tries && (i == 0 || (least >= 0.02 && (*peak <= 0 || flops / least <= *peak))); i++) {
            int rc = time_matmul(device, type, n, &seconds);
            if (rc == ERR_UNSUPPORTED || (rc == ERR_MEMORY && n > 1024)) return 0;
            TRY(rc);
            if (i == 0 || seconds < least) least = seconds;
        }
        seconds = least;
        if (seconds > 0 && flops / seconds > *peak) *peak = flops / seconds, t->size[type] = n;
    }
    return 0;
}

// Copies grow until one is beyond every cache. A later try measures that one alone.
static int measure_copies(struct device *device, struct try *t)
{
    const bool first = t->count == 0;
    double seconds = 0;
    for (int64_t count = first ? 1 << 20 : t->count; count <= 1 << 26 && seconds < (count > 1 << 23 ? 0.001 : 0.01); count *= 8) {
        int rc = time_copy(device, count, &seconds);
        if (rc == ERR_MEMORY && count > 1 << 20) break;
        TRY(rc);
        if (seconds > 0) t->bytes = 8.0 * (double)count / seconds, t->count = count;
    }
    return 0;
}

// `until`: the moment after which nothing more is begun.
static int measure_once(struct device *device, const struct device_facts *sofar, int64_t until, struct try *t)
{
    const bool first = t->count == 0;
    memset(t->flops, 0, sizeof t->flops);
    t->bytes = 0;
    TRY(measure_copies(device, t));
    for (enum dtype type = F32; type <= F16; type++)
        if ((first || sofar->peak_flops[type] > 0) && clock_ns() < until) TRY(measure_products(device, type, t));
    return 0;
}

static void keep_best(double now, double *best, double *worst)
{
    if (now > *best) *best = now;
    if (now > 0 && (*worst <= 0 || now < *worst)) *worst = now;
}

// Other programs can only lower a rate, so the best of several tries counts. The tries after the first measure only the sizes
// that count, which takes a third of a second on a quiet machine; on any machine, none begins a figure after a second.
int device_measure(struct device *device, struct device_facts *facts)
{
    enum { TRIES = 4 };
    static const int64_t LATER_NS = 1000000000;
    struct try t = {.count = 0};
    double worst[DTYPE_COUNT] = {0}, slowest_copy = 0;
    TRY(device->type->facts(device, facts));
    if (device->type == &device_null) return 0;  // it computes nothing, at any speed
    int64_t until = INT64_MAX;
    for (int i = 0; i < TRIES && clock_ns() < until; i++) {
        if (i == 1) until = clock_ns() + LATER_NS;
        TRY(measure_once(device, facts, until, &t));
        for (enum dtype type = F32; type <= F16; type++) keep_best(t.flops[type], &facts->peak_flops[type], &worst[type]);
        keep_best(t.bytes, &facts->peak_bytes, &slowest_copy);
    }
    facts->peak_spread = slowest_copy > 0 ? facts->peak_bytes / slowest_copy : 1;
    for (enum dtype type = F32; type <= F16; type++)
        if (worst[type] > 0) facts->peak_spread = fmax(facts->peak_spread, facts->peak_flops[type] / worst[type]);
    return 0;
}
