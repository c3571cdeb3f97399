// SPDX-License-Identifier: Apache-2.0
// dawn bench: how fast operators and training steps run.
#include "runtime/cases.h"
#include "tasks/choose.h"
#include "tasks/commands.h"

#include <stdio.h>

static int row(void *none, const struct case_speed *s)
{
    (void)none;
    printf("%-30s %5s %10.3f ms %9.1f GFLOP/s %7.1f GB/s\n", s->row->name, dtype_name(s->type), s->seconds * 1e3,
           s->flops / s->seconds * 1e-9, s->bytes / s->seconds * 1e-9);
    return 0;
}

int cmd_bench(int argc, char **argv)
{
    struct choose c = {0};
    const char *op = NULL;
    const struct option options[] = {CHOOSE_OPTIONS(c), {OPTION_TEXT, 0, "op", "NAME", "only this one", &op, 0, 0}, {0}};
    const struct usage usage = {"bench", "ops [OPTIONS]", "Measures single operators.", options, NULL};
    int rc = options_parse(&usage, &argc, argv);
    if (rc) return rc > 0 ? 0 : rc;
    struct device *device;
    TRY(device_open(c.device, (int)c.threads, &device));
    rc = cases_bench(device, F32, op, row, NULL);
    device_close(device);
    return rc;
}
