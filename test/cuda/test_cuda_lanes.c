// SPDX-License-Identifier: Apache-2.0
// Concurrency inside programs: the dependencies of small programs, and airbench's steps at full size checked against
// the bytes that they access (compiled for addresses without memory, never run). test_cuda_training.c checks that trainings
// give the same bytes in any order.
#include "test/unit/test.h"
#include "test/cuda/fixture_placed.h"
#include "test/emulate/emulate_test.h"

// ---- small programs: one word per task; capitals are written, small letters are read

enum { SMALL = 8 };

static void find_small_lanes(const char *const words[], int lanes, struct cuda_task task[SMALL], struct arena *arena)
{
    static const char bytes[26 * 64];
    int tasks = 0;
    memset(task, 0, SMALL * sizeof *task);
    for (; words[tasks]; tasks++) {
        size_t length = strlen(words[tasks]);
        task[tasks].touch = arena_alloc(arena, (length + 1) * sizeof *task[tasks].touch);
        for (const char *c = words[tasks]; *c; c++) {
            bool written = *c < 'a';
            const char *at = bytes + 64 * (*c - (written ? 'A' : 'a'));
            task[tasks].touch[task[tasks].touches++] = (struct cuda_touch){at, 64, written};
        }
    }
    cuda_lanes_find(task, tasks, lanes, arena);
}

static void assert_waits(const struct cuda_task *t, const char *want)  // indices, in the order in which they are found
{
    char got[SMALL + 1] = "";
    for (int i = 0; i < t->afters; i++) got[i] = (char)('0' + t->after[i]);
    assert_string_equal(got, want);
}

TEST(waits_for_the_bytes_it_needs)
{
    struct arena arena = {0};
    struct cuda_task task[SMALL];
    // read after write, two concurrent readers, write after both reads, write after write
    find_small_lanes((const char *const[]){"A", "aB", "aC", "abc", "A", "A", NULL}, CUDA_LANES_ALL, task, &arena);
    static const char *const first[] = {"", "0", "0", "21", "3", "4"}, *const second[] = {"", "", "1", "1", "", "32"};
    static const char *const chains[] = {"", "0", "0", "1", "2", "3"};
    for (int i = 0; i < 6; i++) assert_waits(&task[i], first[i]);
    assert_int_equal(task[5].depth, 5);
    // readers do not wait for each other; a task without dependencies starts after the first; a task without launches is
    // ignored
    find_small_lanes((const char *const[]){"", "zA", "zB", "zC", "", "bcD", NULL}, CUDA_LANES_ALL, task, &arena);
    for (int i = 0; i < 6; i++) assert_waits(&task[i], second[i]);
    assert_int_equal(task[4].depth, 0);
    assert_int_equal(task[5].depth, 3);
    // one lane is plan order; two lanes are two chains
    find_small_lanes((const char *const[]){"A", "aB", "aC", "bD", "cE", "F", NULL}, 1, task, &arena);
    for (int i = 1; i < 6; i++) assert_waits(&task[i], (const char[]){(char)('0' + i - 1), 0});
    find_small_lanes((const char *const[]){"A", "aB", "aC", "bD", "cE", "F", NULL}, 2, task, &arena);
    for (int i = 0; i < 6; i++) assert_waits(&task[i], chains[i]);
    static const int lane[] = {0, 0, 1, 0, 1, 0};
    for (int i = 0; i < 6; i++) assert_int_equal(task[i].lane, lane[i]);
    arena_free(&arena);
}

TEST(ranges_meet_where_they_overlap)
{
    static const char bytes[100];
    static const struct {
        size_t at, bytes;
        bool meets;
    } cases[] = {{0, 40, false}, {0, 41, true}, {40, 1, true}, {45, 5, true}, {30, 50, true}, {59, 1, true},
                 {60, 40, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct cuda_touch touch[] = {{bytes, 0, true}, {bytes + 40, 20, true}, {bytes + cases[i].at, cases[i].bytes, false}};
        struct cuda_task task[3];
        for (int t = 0; t < 3; t++) task[t] = (struct cuda_task){.touch = &touch[t], .touches = 1};
        cuda_lanes_find(task, 3, CUDA_LANES_ALL, &arena);
        assert_waits(&task[2], cases[i].meets ? "1" : "0");
        arena_free(&arena);
    }
}

// ---- airbench, planned at full size

// The number of tasks of each phase on the longest path.
static void find_longest_path(const struct placed *p, int way[3], int all[3])
{
    int at = 0;
    memset(way, 0, 3 * sizeof *way);
    memset(all, 0, 3 * sizeof *all);
    for (int t = 0; t < p->tasks; t++) {
        if (p->task[t].depth > p->task[at].depth) at = t;
        if (p->task[t].touches) all[t ? p->plan->graph->node[p->plan->order[t - 1]].phase : PHASE_FORWARD]++;
    }
    for (;;) {
        way[at ? p->plan->graph->node[p->plan->order[at - 1]].phase : PHASE_FORWARD]++;
        int next = NONE;
        for (int i = 0; i < p->task[at].afters; i++)
            if (p->task[p->task[at].after[i]].depth == p->task[at].depth - 1) next = p->task[at].after[i];
        if (next == NONE) return;
        at = next;
    }
}

static int phase_total(const int by_phase[3]) { return by_phase[0] + by_phase[1] + by_phase[2]; }

// Newton-Schulz of six filter banks: a chain of nine products each, and no bank waits for another.
TEST(update_chains_are_independent)
{
    static const char *const settings[] = {"precision=f16", NULL};
    int way[2][3], all[2][3];
    double bytes[2];
    setenv("DAWN_CUDA_LANES", "all", 1);
    for (int i = 0; i < 2; i++) {
        struct placed p;
        placed_open(&p, "fulcrum-e1", settings, i == 1);
        find_longest_path(&p, way[i], all[i]);
        bytes[i] = (double)p.bench.trainer->session->memory_total;
        print_message("%s: %d of %d nodes on the longest path (forward %d of %d, backward %d of %d, update %d of %d), %.1f MB\n",
                      i ? "apart" : "shared", phase_total(way[i]), phase_total(all[i]), way[i][0], all[i][0], way[i][1],
                      all[i][1], way[i][2], all[i][2], bytes[i] / 1e6);
        placed_close(&p);
    }
    unsetenv("DAWN_CUDA_LANES");
    assert_in_range(way[1][2], 9, 14);
    assert_true(way[0][2] > 50);
    assert_true(bytes[1] < 1.08 * bytes[0]);
}

// ---- no node writes bytes that a concurrent node accesses, computed from the plan alone

// The bytes of a node: inputs, outputs, scratch. Filters are left out, because they may be read as copies, made by task 0.
static int bytes_of_node(const struct plan *plan, char *slab, int at, struct cuda_touch touch[MAX_IN + MAX_OUT + 1])
{
    const struct graph *g = plan->graph;
    const struct node *n = &g->node[plan->order[at]];
    int touches = 0, filters = n->op == OP_CONV ? 1 : n->op == OP_CONV_DGRAD ? 0 : NONE;
    for (int i = 0; i < MAX_IN; i++)
        if (n->in[i] != NONE && i != filters)
            touch[touches++] = (struct cuda_touch){plan_address(plan, slab, n->in[i]), value_bytes(&g->value[n->in[i]]), false};
    for (int i = 0; i < MAX_OUT; i++)
        if (n->out[i] != NONE)
            touch[touches++] = (struct cuda_touch){plan_address(plan, slab, n->out[i]), value_bytes(&g->value[n->out[i]]), true};
    if (plan->work_bytes[at])
        touch[touches++] = (struct cuda_touch){slab + plan->work_offset[at], plan->work_bytes[at], true};
    return touches;
}

static bool are_apart(const struct plan *plan, char *slab, int one, int other)
{
    struct cuda_touch a[MAX_IN + MAX_OUT + 1], b[MAX_IN + MAX_OUT + 1];
    int as = bytes_of_node(plan, slab, one, a), bs = bytes_of_node(plan, slab, other, b);
    for (int i = 0; i < as; i++)
        for (int j = 0; j < bs; j++)
            if (((a[i].how | b[j].how) & TOUCH_WRITES) && (const char *)a[i].at < (const char *)b[j].at + b[j].bytes &&
                (const char *)b[j].at < (const char *)a[i].at + a[i].bytes)
                return false;
    return true;
}

static int hold_program(const struct session *s, int program)
{
    int tasks, free_pairs = 0;
    const struct plan *plan = s->plan[program];
    const struct cuda_task *task = cuda_program_tasks(s->program[program], &tasks);
    bool *way = zalloc((size_t)tasks * (size_t)tasks);  // from, to
    assert_int_equal(tasks, plan->count + 1);
    for (int t = 0; t < tasks; t++)
        for (int i = 0; i < task[t].afters; i++) {
            assert_in_range(task[t].after[i], 0, t - 1);
            for (int from = 0; from < t; from++)
                way[from * tasks + t] |= from == task[t].after[i] || way[from * tasks + task[t].after[i]];
        }
    for (int t = 1, last = 0; t < tasks; t++) {
        if (task[t].touches && task[0].touches) assert_true(way[t]);
        const struct node *n = &plan->graph->node[plan->order[t - 1]];
        bool is_gradient = n->op == OP_CONV_DGRAD || n->op == OP_CONV_WGRAD;
        if (is_gradient && node_in(plan->graph, n, 1)->dtype != F32) {  // cuDNN's: its handle serves one call at a time
            if (last) assert_true(way[last * tasks + t]);
            last = t;
        }
        for (int from = 1; from < t; from++) {
            if (!task[t].touches || !task[from].touches || way[from * tasks + t]) continue;
            free_pairs++;
            if (!are_apart(plan, s->slab, from - 1, t - 1))
                fail_msg("graph %s: %s %s and %s %s", plan->graph->name, op_table[plan->graph->node[from - 1].op].name,
                         plan->graph->node[from - 1].scope, op_table[plan->graph->node[t - 1].op].name,
                         plan->graph->node[t - 1].scope);
        }
    }
    free(way);
    return free_pairs;
}

TEST(concurrent_nodes_share_no_written_bytes)
{
    static const char *const precisions[] = {"precision=f16", "precision=f32"}, *const lanes[] = {"all", "4"};
    for (int i = 0; i < 4; i++) {
        struct placed p;
        int pairs = 0;
        setenv("DAWN_CUDA_LANES", lanes[i / 2], 1);
        placed_open(&p, "fulcrum-e1", (const char *const[]){precisions[i % 2], NULL}, true);
        unsetenv("DAWN_CUDA_LANES");
        const struct session *s = p.bench.trainer->session;
        for (int k = 0; k < s->programs; k++) pairs += s->plan[k]->count ? hold_program(s, k) : 0;
        print_message("%s, %s lanes: %d pairs of nodes may run at the same time\n", precisions[i % 2], lanes[i / 2], pairs);
        assert_true(pairs > 100);
        placed_close(&p);
    }
}

TEST(lanes_are_a_number_or_all)
{
    static const char *const wrong[] = {"0", "9", "12", "many"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct device *d = NULL;
        setenv("DAWN_CUDA_LANES", wrong[i], 1);
        assert_fails(device_open("cuda", 1, &d), ERR_USAGE, "DAWN_CUDA_LANES must be 1 to 8 or all; got");
    }
    unsetenv("DAWN_CUDA_LANES");
    assert_int_equal(emulate_counts().streams, 0);
}
