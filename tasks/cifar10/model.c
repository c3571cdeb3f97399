// SPDX-License-Identifier: Apache-2.0
#include "tasks/cifar10/model.h"

#include "runtime/base/text.h"

const struct model model_table[] = {
    {"record", "8 layers of the public speedruns: whitening, three groups of 64/256/256 channels, max pools", model_record, NULL,
     true, 2},
    {"resnet9", "9 layers, two residual blocks: DAWNBench's fast entries", model_resnet9, "resnet", false, 0},
    {"resnet56", "pre-activation, three stages of 9 basic blocks: DAWNBench's seed", model_resnet56, "resnet", false, 0},
    {"resnet164", "pre-activation, three stages of 18 bottlenecks: DAWNBench's seed", model_resnet164, "resnet", false, 0},
    {0},
};

int model_find(const char *name, const struct model **into)
{
    const char *names[16] = {0};
    for (int i = 0; model_table[i].name; i++) {
        names[i] = model_table[i].name;
        if (!strcmp(names[i], name)) {
            *into = &model_table[i];
            return 0;
        }
    }
    const char *near = text_nearest(name, names);
    return fail(ERR_USAGE, "there is no model \"%.60s\"%s%s%s (dawn models lists them)", name,
                near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}
