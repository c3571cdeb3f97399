// SPDX-License-Identifier: Apache-2.0
// What a network makes changes while it learns, and people want to see that: the picture that the judge draws in each evaluation
// is kept in a folder next to the record, under the number of the step. Cost: a file of some 100 KB per evaluation.
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "tasks/common/train/train_inside.h"

#include <stdlib.h>

bool train_keeps_pictures(const struct going *r)
{
    const struct judge *judge = r->o->task->judge;
    return judge && judge->keeps && r->run && !(r->o->save && !*r->o->save);
}

int train_keep_picture(struct going *r, const struct text *picture)
{
    char *folder = resume_file(r->kept->results, result_id(r->run), "pictures");
    struct text path = {0};
    text_add(&path, "%s/%08lld.png", folder, (long long)r->trainer->at);
    int rc = file_make_folder(folder);
    if (rc == 0) rc = file_write(path.at, picture->at, picture->length);
    text_free(&path);
    free(folder);
    return rc;
}
