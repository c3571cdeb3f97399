// SPDX-License-Identifier: Apache-2.0
// Several of these are closed first and committed last, so that a full disk leaves none of them half there.
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/fetch/whole.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"

int whole_open(struct whole *whole, const char *folder, const char *name)
{
    struct text path = {0}, part = {0};
    text_add(&path, "%s/%s", folder, name);
    text_add(&part, "%s.part", path.at);
    struct stat st;  // a rename would put a file in the place of a device
    int rc = file_check_target(path.at);
    if (rc == 0 && stat(path.at, &st) == 0 && !S_ISREG(st.st_mode))
        rc = fail(ERR_USAGE, "%s is there already and is not a file", path.at);
    if (rc < 0) {
        text_free(&path);
        text_free(&part);
        *whole = (struct whole){0};
        return rc;
    }
    *whole = (struct whole){.path = path.at, .part = part.at, .file = fopen(part.at, "wbe")};
    if (whole->file == NULL) return fail_errno(ERR_IO, errno, "can not write %s", whole->part);
    return 0;
}

int whole_write(struct whole *whole, const void *bytes, size_t count)
{
    if (fwrite(bytes, 1, count, whole->file) != count) {
        return fail_errno(ERR_IO, errno, "can not write %s after byte %lld", whole->part, (long long)whole->bytes);
    }
    whole->bytes += (int64_t)count;
    return 0;
}

int whole_close(struct whole *whole)
{
    int why = 0;
    if (fflush(whole->file) != 0 || fsync(fileno(whole->file)) != 0) why = errno;
    if (fclose(whole->file) != 0 && why == 0) why = errno;
    whole->file = NULL;
    return why == 0 ? 0
                    : fail_errno(ERR_IO, why, "can not write %s, which should have %lld bytes", whole->part,
                                 (long long)whole->bytes);
}

int whole_commit(struct whole *whole)
{
    if (rename(whole->part, whole->path) != 0)
        return fail_errno(ERR_IO, errno, "can not put %s in its place", whole->path);
    free(whole->part);
    whole->part = NULL;
    return 0;
}

void whole_end(struct whole *whole)
{
    if (whole->file != NULL) fclose(whole->file);
    if (whole->part != NULL) unlink(whole->part);
    free(whole->part);
    free(whole->path);
    *whole = (struct whole){0};
}
