// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/infer/infer_run.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/file.h"

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

const char *infer_run_data(const struct task *task, const json_t *record)
{
    const char *name = record_text(json_array_get(json_object_get(record, "data_sets"), 0), "name");
    for (int i = 1; task->data_sets[i]; i++)
        if (!strcmp(name, task->data_sets[i])) return task->data_sets[i];
    return NULL;
}

int infer_run_newest(struct results *r, const struct task *task, struct infer_run *into)
{
    *into = (struct infer_run){0};
    TRY(record_find_weights(r, task->name, &into->run));
    TRY(record_read(r, into->run, &into->record));
    into->weights = record_weights(r, into->record);
    if (!into->weights) return fail(ERR_INPUT, "run %lld has no weights", (long long)into->run);
    TRY(infer_run_weights(into->weights, into->record, into->run));
    TRY(infer_run_files(&(struct task_files){0}, into->record, into->run));
    into->data = infer_run_data(task, into->record);
    TRY(record_folder(r, into->run, &into->folder));
    if (into->folder && !file_exists(into->folder))
        return fail(ERR_MISSING, "run %lld was trained with --data %s, which is gone", (long long)into->run, into->folder);
    return 0;
}

void infer_run_free(struct infer_run *run)
{
    json_decref(run->record);
    free(run->weights);
    free(run->folder);
}
