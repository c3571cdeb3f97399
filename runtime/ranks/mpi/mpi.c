// SPDX-License-Identifier: Apache-2.0
// The plug-in: the few calls of MPI that DAWN needs. mpicc compiles this file alone, so only it depends on the installed MPI.
// Counts of MPI are int, so larger blocks go in pieces.
#include "runtime/ranks/plugin.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 1 << 30 };

static MPI_Comm world, side, ending;  // operations concurrent with an exchange have communicators of their own
static MPI_Request most_request = MPI_REQUEST_NULL, end_request = MPI_REQUEST_NULL;
static int most_mine, most_all, size;

#define TRY_MPI(call)                                                                                                  \
    do {                                                                                                               \
        int error_ = (call);                                                                                           \
        if (error_ != MPI_SUCCESS) return error_;                                                                      \
    } while (0)

static int find_machine(struct ranks_world *w)
{
    MPI_Comm here;
    int first;
    TRY_MPI(MPI_Comm_rank(world, &w->rank));
    TRY_MPI(MPI_Comm_size(world, &w->size));
    TRY_MPI(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
    TRY_MPI(MPI_Comm_rank(here, &w->local));
    TRY_MPI(MPI_Comm_size(here, &w->locals));
    w->leader = w->rank;
    TRY_MPI(MPI_Bcast(&w->leader, 1, MPI_INT, 0, here));
    TRY_MPI(MPI_Comm_free(&here));
    first = w->local == 0;
    return MPI_Allreduce(&first, &w->machines, 1, MPI_INT, MPI_SUM, world);
}

// "Open MPI v4.1.4, package: ..." and "MPICH Version:      4.0.2\nMPICH Release date: ..." have the name and the version first.
static void read_library(struct ranks_world *w)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return;
    size_t n = strcspn(text, ",\n");
    snprintf(w->library, sizeof w->library, "%.*s", (int)(n < sizeof w->library ? n : sizeof w->library - 1), text);
    char *v = strstr(w->library, " v");
    if (v) memmove(v + 1, v + 2, strlen(v + 2) + 1);
}

static int open_world(struct ranks_world *w)
{
    int given, was;
    TRY_MPI(MPI_Initialized(&was));
    if (!was) TRY_MPI(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given));
    TRY_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    TRY_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &side));
    TRY_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &ending));
    TRY_MPI(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    TRY_MPI(MPI_Comm_set_errhandler(side, MPI_ERRORS_RETURN));
    TRY_MPI(MPI_Comm_set_errhandler(ending, MPI_ERRORS_RETURN));
    TRY_MPI(find_machine(w));
    size = w->size;
    read_library(w);
    return 0;
}

static int piece_of(size_t left, size_t most)
{
    return (int)(left < most ? left : most);
}

static int gather(const void *mine, size_t bytes, void *all)
{
    if (bytes <= PIECE) return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, world);
    for (int from = 0; from < size; from++) {  // far above what steps exchange
        char *part = (char *)all + (size_t)from * bytes;
        int rank;
        TRY_MPI(MPI_Comm_rank(world, &rank));
        if (rank == from) memmove(part, mine, bytes);
        for (size_t at = 0; at < bytes; at += PIECE)
            TRY_MPI(MPI_Bcast(part + at, piece_of(bytes - at, PIECE), MPI_BYTE, from, world));
    }
    return 0;
}

static int exchange(const void *from, void *to, size_t each)
{
    if (each > PIECE) return MPI_ERR_COUNT;
    return MPI_Alltoall(from, (int)each, MPI_BYTE, to, (int)each, MPI_BYTE, world);
}

static int broadcast(void *at, size_t bytes, int from)
{
    for (size_t done = 0; done < bytes; done += PIECE)
        TRY_MPI(MPI_Bcast((char *)at + done, piece_of(bytes - done, PIECE), MPI_BYTE, from, world));
    return 0;
}

static int most_begin(int *mine)
{
    most_mine = *mine;
    return MPI_Iallreduce(&most_mine, &most_all, 1, MPI_INT, MPI_MAX, side, &most_request);
}

static int most_end(int *most)
{
    TRY_MPI(MPI_Wait(&most_request, MPI_STATUS_IGNORE));
    *most = most_all;
    return 0;
}

static int arrive(void)
{
    return MPI_Ibarrier(ending, &end_request);
}

static int arrived(bool *all)
{
    int done = 0;
    TRY_MPI(MPI_Test(&end_request, &done, MPI_STATUS_IGNORE));
    *all = done;
    return 0;
}

static int close_world(void)
{
    TRY_MPI(MPI_Wait(&most_request, MPI_STATUS_IGNORE));  // a request whose result is no longer needed
    return MPI_Finalize();
}

static void end_all(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

static void error_text(int error, char *into, size_t capacity)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (MPI_Error_string(error, text, &length) != MPI_SUCCESS) snprintf(text, sizeof text, "error %d", error);
    snprintf(into, capacity, "%s", text);
}

const struct ranks_plugin dawn_ranks_plugin = {
    .version = RANKS_PLUGIN,
    .open = open_world,
    .gather = gather,
    .exchange = exchange,
    .broadcast = broadcast,
    .most_begin = most_begin,
    .most_end = most_end,
    .arrive = arrive,
    .arrived = arrived,
    .close = close_world,
    .end_all = end_all,
    .error_text = error_text,
};
