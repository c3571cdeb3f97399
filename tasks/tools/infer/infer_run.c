// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/infer/infer_run.h"

#include <string.h>

#include "runtime/common/base/file.h"
#include "submit/results/record.h"

// The files must be the run's: another vocabulary would number the words differently.
int infer_run_files(const struct task_files *files, const json_t *record, int64_t run)
{
    size_t at;
    json_t *row;
    json_array_foreach(json_object_get(record, "files"), at, row)
    {
        char digest[DIGEST_HEX];
        const char *kind = record_text(row, "kind");
        int i = 0;
        while (i < TASK_FILES && strcmp(task_files_name(i), kind)) i++;
        if (i == TASK_FILES || !strcmp(kind, "weights")) continue;  // the run ended with other weights than it began with
        const char *path = task_files_path(files, i);
        if (!path)
            return fail(ERR_USAGE, "run %lld was trained with %s: name that file with --%s", (long long)run,
                        record_text(row, "name"), kind);
        TRY(digest_file(path, digest));
        if (strcmp(digest, record_text(row, "digest")))
            return fail(ERR_INPUT, "--%s: %s is not the file that run %lld was trained with: the digests differ", kind, path,
                        (long long)run);
    }
    return 0;
}

int infer_run_weights(const char *path, const json_t *record, int64_t run)
{
    char digest[DIGEST_HEX];
    TRY(digest_file(path, digest));
    if (!strcmp(digest, record_text(record, "weights_digest"))) return 0;
    return fail(ERR_INPUT, "%s does not have the weights that run %lld ended with: the digests differ", path, (long long)run);
}
