// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/cmd_finish.h"

#include "runtime/common/cli/program.h"
#include "runtime/ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>

struct failed {
    const char *command;
    int rc;
};

static void print_failure(void *context)
{
    const struct failed *f = context;
    program_status_end();
    fprintf(stderr, "%s %s: %s\n", error_program, f->command, error_text());
    fflush(stderr);
    (void)fail(f->rc, "%s", "");  // main prints it no more
}

int cmd_finish(const char *command, int rc)
{
    int rank = ranks_rank(), size = ranks_size();
    struct failed failed = {command, rc};
    program_flush();  // an end by force does not
    switch (ranks_close(rc, print_failure, &failed)) {
    case RANKS_SPEAKS: break;
    case RANKS_SILENT: return rc < 0 ? fail(rc, "%s", "") : rc;
    case RANKS_ALONE:
        fprintf(stderr, "%s %s: rank %d of %d: %s\n", error_program, command, rank, size,
                rc < 0 ? error_text() : "the others left");
        fflush(stderr);
        ranks_abort(rc < 0 ? error_exit_code(rc) : EXIT_FAILURE);
    }
    return rc;
}
