// SPDX-License-Identifier: Apache-2.0
// Finds a launcher, loads the plug-in out of the program, and carries out the exchanges with it.
#include "runtime/ranks/ranks.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/embed.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/threads.h"
#include "runtime/ranks/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000, POLL_NS = 1000000 };

static const struct ranks_world alone = {.size = 1, .locals = 1, .machines = 1};
static struct ranks_world world = {.size = 1, .locals = 1, .machines = 1};
static const struct ranks_plugin *plugin;  // NULL: this process is alone
static int most_alone;

struct binding {
    int machine, alike;  // alike: processes of this machine with this binding
    cpu_set_t to;        // empty on a machine with more processors than it can hold: all processes share them
};
static struct binding bound = {.alike = 1};

int ranks_size(void) { return world.size; }
int ranks_rank(void) { return world.rank; }
int ranks_local(void) { return world.local; }
int ranks_locals(void) { return world.locals; }
int ranks_leader(void) { return world.leader; }
int ranks_machines(void) { return world.machines; }
const char *ranks_library(void) { return world.library; }

// A launcher may bind processes to processors: processes that are bound alike share them. A container's limit holds for all
// processes on the machine.
int ranks_threads(void)
{
    int available = threads_available(), own = CPU_COUNT(&bound.to);
    int share = available / (available < own ? world.locals : bound.alike);
    return share > 0 ? share : 1;
}

// ---- opening

// How many processes the launcher has started; 0: there is none, -1: only MPI knows. Slurm's batch script is no step.
static int launched(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *size = getenv(sizes[i]);
        if (size && *size) return atoi(size);
    }
    return getenv("PMIX_RANK") ? -1 : 0;
}

bool ranks_launched(void)
{
    return launched() != 0;
}

static int load_code(const struct embedded *code, void **handle)
{
    char path[32];
    int fd = memfd_create("dawn-mpi", MFD_CLOEXEC);
    if (fd < 0) return fail_errno(ERR_IO, errno, "cannot make a file in memory for the plug-in of MPI");
    for (size_t at = 0; at < code->size;) {
        ssize_t n = write(fd, code->at + at, code->size - at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            int why = errno;
            close(fd);
            return fail_errno(ERR_IO, why, "the plug-in of MPI could not be written to memory");
        }
        at += (size_t)n;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);  // global: parts that MPI loads itself need its symbols
    close(fd);
    if (*handle) return 0;
    const char *why = dlerror();
    return fail(ERR_MISSING, "MPI cannot be loaded (%s): install the MPI that this program was built with",
                why ? why : "no reason");
}

static int load(int size)
{
    const struct embedded *code = embedded_find(MPI_PLUGIN);
    void *handle;
    if (!code && size < 0)
        return fail(ERR_UNSUPPORTED, "this build has no MPI, so it cannot train with the other processes of the launcher");
    if (!code)
        return fail(ERR_UNSUPPORTED, "this build has no MPI, so these %d processes cannot train together", size);
    TRY(load_code(code, &handle));
    plugin = dlsym(handle, RANKS_PLUGIN_NAME);
    BUG_IF(!plugin || plugin->version != RANKS_PLUGIN);  // both come from one build
    return 0;
}

static int fail_mpi(int error, const char *what)
{
    char text[512];
    plugin->error_text(error, text, sizeof text);
    return fail(ERR_DEVICE, "rank %d of %d: MPI failed while it %s: %s", world.rank, world.size, what, text);
}

// Until the processes are connected, the first one that the launcher started prints the error.
static bool is_first(void)
{
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *rank = getenv(ranks[i]);
        if (rank && *rank) return !strcmp(rank, "0");
    }
    return true;
}

// All ranks come here, whether they will ask for the threads or not.
static int compare_bindings(void)
{
    struct binding *all = zalloc((size_t)world.size * sizeof *all);
    bound = (struct binding){.machine = world.leader};
    if (sched_getaffinity(0, sizeof bound.to, &bound.to) < 0) CPU_ZERO(&bound.to);
    int rc = ranks_gather(&bound, sizeof bound, all);
    for (int i = 0; i < world.size && rc == 0; i++)
        bound.alike += all[i].machine == bound.machine && CPU_EQUAL(&all[i].to, &bound.to);
    free(all);
    return rc;
}

int ranks_open(void)
{
    int size = launched();
    if (plugin || size == 0 || size == 1) return 0;
    int rc = load(size);
    if (rc < 0) return is_first() ? rc : fail(rc, "%s", "");
    int error = plugin->open(&world);
    if (error) {
        rc = fail_mpi(error, "was started");
        plugin = NULL, world = alone;
        return rc;
    }
    if (world.size > 1) return compare_bindings();
    (void)plugin->close();
    plugin = NULL, world = alone;
    if (size <= 1) return 0;
    return fail(ERR_USAGE, "the launcher started %d processes, and MPI does not connect them: start them with the mpirun of the "
                "installed MPI, or with srun --mpi=pmix", size);
}

// ---- exchanges

int ranks_gather(const void *mine, size_t bytes, void *all)
{
    if (!plugin) {
        memmove(all, mine, bytes);
        return 0;
    }
    int error = plugin->gather(mine, bytes, all);
    return error ? fail_mpi(error, "gathered") : 0;
}

int ranks_broadcast(void *at, size_t bytes, int from)
{
    int error = plugin ? plugin->broadcast(at, bytes, from) : 0;
    return error ? fail_mpi(error, "broadcast") : 0;
}

int ranks_add(int64_t *counts, int count)
{
    if (!plugin) return 0;
    size_t bytes = (size_t)count * sizeof *counts;
    int64_t *all = zalloc(bytes * (size_t)world.size);
    int rc = ranks_gather(counts, bytes, all);
    for (int i = 0; i < count && rc == 0; i++) {
        counts[i] = 0;
        for (int r = 0; r < world.size; r++) counts[i] += all[(int64_t)r * count + i];
    }
    free(all);
    return rc;
}

struct ended {
    int rc;
    char why[ERROR_TEXT_MAX];
};

static int first_failure(const struct ended *all, int *rank)
{
    for (*rank = 0; *rank < world.size; ++*rank)
        if (all[*rank].rc < 0) return all[*rank].rc;
    return 0;
}

int ranks_agree(int rc)
{
    if (!plugin) return rc;
    struct ended mine = {.rc = rc}, *all = zalloc((size_t)world.size * sizeof *all);
    int rank;
    if (rc < 0) snprintf(mine.why, sizeof mine.why, "%s", error_text());
    int exchanged = ranks_gather(&mine, sizeof mine, all);
    int first = exchanged < 0 ? exchanged : first_failure(all, &rank);
    if (exchanged == 0 && first < 0) {
        if (rank == 0) fail(first, "%s", all[rank].why);
        else fail(first, "rank %d of %d: %.900s", rank, world.size, all[rank].why);
    }
    free(all);
    return first;
}

int ranks_same(const char *what, const char *text)
{
    char mine[DIGEST_HEX];
    if (!plugin) return 0;
    digest_bytes(text, strlen(text), mine);
    char *all = zalloc((size_t)world.size * sizeof mine);
    int rc = ranks_gather(mine, sizeof mine, all), other = 1;
    while (rc == 0 && other < world.size && !memcmp(all, all + (size_t)other * sizeof mine, sizeof mine)) other++;
    free(all);
    TRY(rc);
    return other == world.size ? 0 : fail(ERR_USAGE, "rank %d has another %s than rank 0", other, what);
}

int ranks_most_begin(int mine)
{
    most_alone = mine;
    int error = plugin ? plugin->most_begin(&mine) : 0;
    return error ? fail_mpi(error, "compared") : 0;
}

int ranks_most_end(int *most)
{
    *most = most_alone;
    int error = plugin ? plugin->most_end(most) : 0;
    return error ? fail_mpi(error, "compared") : 0;
}

// ---- reduction

// Each rank adds one chunk.
static int64_t chunk_of(int64_t count)
{
    return (count + world.size - 1) / world.size;
}

int64_t ranks_scratch(int64_t count)
{
    return chunk_of(count) * world.size;
}

struct adding {
    float *to;
    const float *from;
};

static void add_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct adding *a = context;
    float *restrict to = a->to;
    const float *restrict from = a->from;
    for (int64_t i = begin; i < end; i++) to[i] += from[i];
}

void ranks_tree_add(float *values, int64_t count, int parts)
{
    enum { GRAIN = 16384 };
    for (int apart = 1; apart < parts; apart *= 2)
        for (int i = 0; i + apart < parts; i += 2 * apart) {
            struct adding a = {values + i * count, values + (i + apart) * count};
            threads_for(count, GRAIN, add_piece, &a);
        }
}

int ranks_reduce(float *values, float *other, int64_t count)
{
    if (!plugin || count == 0) return 0;
    int64_t chunk = chunk_of(count);
    memset(values + count, 0, (size_t)(chunk * world.size - count) * sizeof *values);
    int error = plugin->exchange(values, other, (size_t)chunk * sizeof *values);
    if (error) return fail_mpi(error, "exchanged gradients");
    ranks_tree_add(other, chunk, world.size);
    return ranks_gather(other, (size_t)chunk * sizeof *values, values);
}

// ---- the end

// Sleeps between looks, so that a rank that waits long takes no processor.
static bool all_arrive(bool patient)
{
    const struct timespec pause = {.tv_nsec = POLL_NS};
    int64_t began = clock_ns();
    bool all = false;
    if (plugin->arrive()) return false;
    while (plugin->arrived(&all) == 0 && !all) {
        if (!patient && clock_ns() - began > (int64_t)PATIENCE_MS * 1000000) break;
        nanosleep(&pause, NULL);
    }
    return all;
}

enum ranks_end ranks_close(int rc, void (*speak)(void *), void *context)
{
    struct ended mine = {.rc = rc};
    int speaker = 0;
    if (!plugin) return RANKS_SPEAKS;
    bool together = rc == 0 || rc == ERR_TARGET || rc == ERR_INTERRUPTED;
    if (!all_arrive(together)) return RANKS_ALONE;
    struct ended *all = zalloc((size_t)world.size * sizeof *all);
    bool known = plugin->gather(&mine, sizeof mine, all) == 0 && first_failure(all, &speaker) < 0;
    bool speaks = !known || speaker == world.rank;
    free(all);
    if (speaks && rc < 0) speak(context);
    (void)plugin->close();  // its failure changes nothing: the sentence is out
    plugin = NULL, world = alone;
    return speaks ? RANKS_SPEAKS : RANKS_SILENT;
}

void ranks_abort(int status)
{
    if (plugin) plugin->end_all(status);
}
