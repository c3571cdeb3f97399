// SPDX-License-Identifier: Apache-2.0
// What a network makes changes while it learns, and people want to see that: the picture that the judge draws in each evaluation
// is kept in a folder next to the record, under the number of the step. Cost: a file of some 100 KB per evaluation. A new run
// removes what an earlier one with its number left. A picture that cannot be written is said once, and the training goes on.
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "tasks/common/train/train_inside.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

bool train_keeps_pictures(const struct training *r)
{
    const struct judge *judge = r->o->task->judge;
    return judge && judge->keeps && r->run && !(r->o->save && !*r->o->save);
}

static void remove_pictures(const char *folder)
{
    glob_t found;
    struct text pattern = {0};
    text_add(&pattern, "%s/*.png", folder);
    if (glob(pattern.at, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) unlink(found.gl_pathv[i]);
        globfree(&found);
    }
    text_free(&pattern);
}

void train_keep_picture(struct training *r, const struct text *picture)
{
    char *folder = resume_file(r->kept->results, result_id(r->run), "pictures");
    struct text path = {0};
    text_add(&path, "%s/%08lld.png", folder, (long long)r->trainer->at);
    if (!r->evaluated && !r->o->resume) remove_pictures(folder);
    int rc = file_make_folder(folder);
    if (rc == 0) rc = file_write(path.at, picture->at, picture->length);
    if (rc < 0 && !r->pictures_lost) progress_pictureless(&r->progress, result_id(r->run), error_text());
    r->pictures_lost = rc < 0;
    text_free(&path);
    free(folder);
}
