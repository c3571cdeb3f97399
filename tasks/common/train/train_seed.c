// SPDX-License-Identifier: Apache-2.0
// Packs of version 1 were ordered by the draws of a training's first epoch: with the same seed the two permutations cancel, and
// the epoch goes through the pictures class by class. A narrow ResNet-18 then reaches 15% after two epochs instead of 53 to 59%.
// Orders of pages (data.window) do not cancel. A replay and a resumed run repeat the recorded order.
#include "tasks/common/train/train_inside.h"
#include "tasks/common/train/trainer.h"

int train_check_seed(const struct training *r)
{
    const struct train_options *o = r->o;
    const struct dataset_facts *f = dataset_facts(r->data);
    bool pages = r->trainer->supply[SPLIT_TRAIN].choice.window > 0;
    if (o->resume || o->replay || o->announce || pages || f->unfit_seed < r->seed || f->unfit_seed >= o->seed + o->runs) return 0;
    return fail(ERR_USAGE, "%s was packed by an earlier version with seed %lld, and a training with the same seed would read its "
                "first epoch class by class: pack its source again (\"dawn data pack\"), or take another --seed", f->folder,
                (long long)f->unfit_seed);
}
