// SPDX-License-Identifier: Apache-2.0
// The recipe keys of ImageNet and Imagenette: crops, sizes, residual networks, shapes of the evaluation.
#include "tasks/imagenet/imagenet_keys.h"

#include "tasks/imagenet/imagenet_networks.h"

enum { RESOLUTIONS_MOST = 8 };  // each has programs of its own
enum { SECOND_HEAD_SIDE = 299 };  // gives its convolution 5x5 one place
static const char *const activations[] = {"none", "relu", "gelu", "silu", NULL};
static const char *const flips[] = {"never", "random", "alternate", NULL};
static const char *const stems[] = {"conv7", "deep", "patch", NULL};
static const char *const shortcuts[] = {"conv", "pool", NULL};
static const char *const blurs[] = {"no", "yes", NULL};
static const char *const shapes[] = {"square", "rectangles", NULL};
static const char *const parts[] = {"residual stages", "second head"};

#define AT RECIPE_AT
#define OWN(field) RECIPE_OWN(struct imagenet_keys, field)
_Static_assert(sizeof(struct imagenet_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const struct recipe_key keys[] = {
    {"data.resolution", NULL, KEY_LIST, AT(resolution), 8, 1024, NULL, "",
     .about = "sides of the training images, in turn over the schedule; empty: the evaluation's"},
    {"data.resolution_parts", NULL, KEY_LIST, AT(resolution_parts), 0.01, 10000, NULL, "",
     .about = "relative lengths of these parts; empty: all equal"},
    {"data.least_area", NULL, KEY_LIST, OWN(least_area), 0.01, 1, NULL, "0.25",
     .about = "smallest share of an image that a random crop keeps; one number, or one for each resolution"},
    {"data.flip", NULL, KEY_CHOICE, OWN(flip), 0, 0, flips, "random",
     .about = "mirroring; alternate: drawn once per image, reversed every epoch"},
    {"data.cache", NULL, KEY_WHOLE, OWN(cache), 0, 1024, NULL, "0",
     .about = "decode images once, shrink them to this short side and keep them in memory; 0: do not"},
    {"data.window", NULL, KEY_WHOLE, OWN(window), 0, 1e9, NULL, "0",
     .about = "pages of 8 MiB that are shuffled among each other, for a pack larger than memory; 0: the whole split is shuffled"},
    {"data.damaged", NULL, KEY_WHOLE, OWN(damaged), 0, 1e9, NULL, "100",
     .about = "images of a split that may be damaged; they are used as far as they can be decoded"},

    {"model.widths", NULL, KEY_LIST, AT(widths), 1, 4096, NULL, "",
     .about = "inner channels of the four stages; empty: the network's own", .part = PART_STAGES},
    {"model.blocks", NULL, KEY_LIST, OWN(blocks), 1, 64, NULL, "",
     .about = "blocks of the four stages; empty: the network's own", .part = PART_STAGES},
    {"model.activation", NULL, KEY_CHOICE, OWN(activation), 0, 0, activations, "relu", .about = "after each norm and each sum"},
    {"model.norm_momentum", NULL, KEY_NUMBER, OWN(norm_momentum), 0, 1, NULL, "0.9",
     .about = "share of the old running statistics that is kept"},
    {"model.stem", NULL, KEY_CHOICE, OWN(stem), 0, 0, stems, "conv7",
     .about = "conv7: 7x7 and a max pool; deep: three 3x3 and a max pool; patch: 4x4 with stride 4", .part = PART_STAGES},
    {"model.shortcut", NULL, KEY_CHOICE, OWN(shortcut), 0, 0, shortcuts, "conv",
     .about = "where a stage halves the image: a 1x1 convolution with stride 2, or an average pool before one without",
     .part = PART_STAGES},
    {"model.blur", NULL, KEY_CHOICE, OWN(blur), 0, 0, blurs, "no",
     .about = "yes: pools and blocks halve the image by a blur 1 2 1 before the stride (Zhang 2019), against aliasing",
     .part = PART_STAGES},
    {"model.last_gamma", NULL, KEY_NUMBER, OWN(last_gamma), 0, 1, NULL, "0",
     .about = "initial scale of the last norm of a block", .part = PART_STAGES},
    {"model.second_head", NULL, KEY_NUMBER, OWN(second_head), 0, 1, NULL, "0",
     .about = "factor of a second head's loss in a training of 299 pixels; 0: there is no such head", .part = PART_SECOND_HEAD},
    {"model.dropout", NULL, KEY_NUMBER, OWN(dropout), 0, 0.9, NULL, "0", .about = "dropout rate before the head",
     .part = PART_SECOND_HEAD},

    {"optimiser.head.decay", NULL, KEY_NUMBER, OWN(head_decay), 0, 1, NULL, "0",
     .about = "weight decay of the head, without the factor of optimiser.weight_decay"},

    {"evaluation.side", NULL, KEY_WHOLE, OWN(side), 8, 1024, NULL, "224",
     .about = "of the validation images, in pixels"},
    {"evaluation.resize", NULL, KEY_NUMBER, OWN(resize), 1, 2, NULL, "1.14",
     .about = "short side of the resized image, relative to the size of its central crop; 1.142857 is 256 for 224"},
    {"evaluation.shapes", NULL, KEY_CHOICE, OWN(shapes), 0, 0, shapes, "square",
     .about = "rectangles: images with a ratio above 1.15 are evaluated at 4:3 or 3:4"},
    {"evaluation.views", NULL, KEY_WHOLE, AT(views), 1, 2, NULL, "1",
     .about = "forward passes per image in an evaluation: 1 plain, 2 with its mirror image"},
    {.path = NULL},
};

static int count_different(const struct recipe_list *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        int first = 0;
        while (list->at[first] != list->at[i]) first++;
        count += first == i;
    }
    return count;
}

static int check_imagenet(const char *where, const struct recipe *r)
{
    int sides = r->resolution.count, areas = imagenet_keys(r)->least_area.count;
    if (areas < 1 || (areas != 1 && areas != sides))
        return fail(ERR_USAGE, "%s: \"data.least_area\" needs one number, or one for each of the %d of \"data.resolution\"",
                    where, sides);
    TRY(recipe_check_whole(where, "data.resolution", &r->resolution));
    if (count_different(&r->resolution) > RESOLUTIONS_MOST)
        return fail(ERR_USAGE, "%s: \"data.resolution\" may have %d different numbers", where, RESOLUTIONS_MOST);
    int64_t least = sides > 0 ? INT64_MAX : imagenet_keys(r)->side;
    for (int i = 0; i < sides; i++) least = r->resolution.at[i] < (double)least ? (int64_t)r->resolution.at[i] : least;
    if (imagenet_keys(r)->second_head > 0 && least < SECOND_HEAD_SIDE)
        return fail(ERR_USAGE, "%s: \"model.second_head\" needs training images of %d pixels or more, not %lld", where,
                    SECOND_HEAD_SIDE, (long long)least);
    TRY(recipe_check_whole(where, "model.widths", &r->widths));
    return recipe_check_whole(where, "model.blocks", &imagenet_keys(r)->blocks);
}

static const char *const also[] = {"imagenette", NULL};
const struct recipe_table recipe_table_imagenet = {
    .task = "imagenet", .also = also, .models = imagenet_models, .keys = keys, .parts = parts,
    .check = check_imagenet,
};
