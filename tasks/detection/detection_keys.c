// SPDX-License-Identifier: Apache-2.0
// The recipe keys of detection. What is scored is no key: thresholds and the number of boxes are the task's (detect.h).
#include "tasks/detection/detection_keys.h"

#include "tasks/detection/detector.h"
#include "tasks/detection/two_stage.h"

#include <string.h>

enum { SIDES = 32 };  // stride of the last level
static const char *const flips[] = {"never", "random", "horizontal", NULL};  // enum mirroring
static const char *const fits[] = {"stretch", "keep", NULL};                  // enum fitting
static const char *const crops[] = {"zoom", "overlap", NULL};                 // enum cropping
static const char *const class_losses[] = {"focal", "varifocal", NULL};       // enum class_loss
static const char *const box_losses[] = {"smooth", "giou", NULL};             // enum box_loss
static const char *const also[] = {"coco-ssd", "coco-efficientdet", NULL};
static const char *const parts[] = {"pyramid", "focal loss", "one loss of boxes"};

#define AT RECIPE_AT
#define OWN(field) RECIPE_OWN(struct detection_keys, field)
_Static_assert(sizeof(struct detection_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const struct recipe_key keys[] = {
    {"data.height", NULL, KEY_WHOLE, OWN(height), 32, 2048, NULL, "240", .about = "rows of the network's input"},
    {"data.width", NULL, KEY_WHOLE, OWN(width), 32, 2048, NULL, "320", .about = "columns of the network's input"},
    {"data.fit", NULL, KEY_CHOICE, OWN(fit), 0, 0, fits, "stretch",
     .about = "a photograph's sides in the input; keep: as large as fits, upright ones in an input of the sides exchanged"},
    {"data.zoom", NULL, KEY_LIST, OWN(zoom), 0.25, 4, NULL, "1,1",
     .about = "least and largest factor by which a photograph is enlarged, about a random point"},
    {"data.crop", NULL, KEY_CHOICE, OWN(crop), 0, 0, crops, "zoom",
     .about = "the part of a photograph that trains; zoom: by data.zoom; overlap: one that the boxes overlap, as SSD's"},
    {"data.jitter", NULL, KEY_LIST, OWN(jitter), 0, 1, NULL, "0,0,0,0",
     .about = "greatest change of brightness, contrast, saturation, and of hue in turns"},
    {"data.flip", NULL, KEY_CHOICE, OWN(flip), 0, 0, flips, "random",
     .about = "mirroring; random: left to right and top to bottom; horizontal: left to right"},
    {"data.cache", NULL, KEY_WHOLE, OWN(cache), 0, 4096, NULL, "0",
     .about = "decode training photographs once, shrink them to this short side and keep them in memory; 0: do not"},

    {"model.widths", NULL, KEY_LIST, AT(widths), 1, 4096, NULL, "",
     .about = "channels of the network's stages (docs/detection.md); empty: its own"},
    {"model.pyramid", NULL, KEY_WHOLE, OWN(pyramid), 1, 4096, NULL, "64", .about = "channels of the pyramid and of the heads",
     .part = PART_PYRAMID},

    {"loss.classes", NULL, KEY_CHOICE, OWN(class_loss), 0, 0, class_losses, "focal",
     .about = "what a score learns; varifocal: the overlap of its box with the truth", .part = PART_FOCAL},
    {"loss.boxes", NULL, KEY_CHOICE, OWN(box_loss), 0, 0, box_losses, "smooth",
     .about = "smooth: L1 of the moves and logarithms; giou: generalised overlap with the truth", .part = PART_FOCAL},
    {"loss.alpha", NULL, KEY_NUMBER, OWN(alpha), 0, 1, NULL, "0.25",
     .about = "weight of a class that is there; 1 less it where it is not", .part = PART_FOCAL},
    {"loss.gamma", NULL, KEY_NUMBER, OWN(gamma), 0, 10, NULL, "2", .about = "power of the focal loss: easy cells count less",
     .part = PART_FOCAL},
    {"loss.beta", NULL, KEY_NUMBER, OWN(beta), 1e-6, 100, NULL, "0.1", .part = PART_BOX,
     .about = "error of a box below which the loss is a square, in sides of the anchor"},
    {"loss.box_factor", NULL, KEY_NUMBER, OWN(box_factor), 0, 1000, NULL, "1", .part = PART_BOX,
     .about = "factor of the boxes' loss"},

    {"evaluation.views", "views", KEY_WHOLE, AT(views), 1, 4, NULL, "1",
     .about = "forward passes per photograph; 2: mirrored left to right, too; 4: and both upside down"},
    {.path = NULL},
};

static bool model_is_two_stage(const char *name)
{
    return strcmp(name, two_stage_models->name) == 0 || strcmp(name, two_stage_large->name) == 0;
}

static int check_detection(const char *where, const struct recipe *r)
{
    const struct detection_keys *k = detection_keys(r);
    TRY(recipe_check_whole(where, "model.widths", &r->widths));
    if (k->zoom.count != 2 || k->zoom.at[0] > k->zoom.at[1])
        return fail(ERR_USAGE, "%s: \"data.zoom\" is two numbers, the least and the largest", where);
    if (k->jitter.count != 4 || k->jitter.at[3] > 0.5)
        return fail(ERR_USAGE, "%s: \"data.jitter\" is four numbers, the last one 0.5 at most", where);
    if (r->label_smoothing > 0) return fail(ERR_USAGE, "%s: detection has no \"loss.label_smoothing\": it must be 0", where);
    if (r->views == 3) return fail(ERR_USAGE, "%s: \"evaluation.views\" must be 1, 2 or 4", where);
    bool stages = model_is_two_stage(r->model);
    if (k->fit == FIT_KEEP && !stages) return fail(ERR_USAGE, "%s: \"data.fit\" of %s must be stretch", where, r->model);
    if (r->views > 1 && stages) return fail(ERR_USAGE, "%s: \"evaluation.views\" of %s must be 1", where, r->model);
    if (k->crop == CROP_OVERLAP && stages) return fail(ERR_USAGE, "%s: \"data.crop\" of %s must be zoom", where, r->model);
    if (stages && (k->height % SIDES || k->width % SIDES))
        return fail(ERR_USAGE, "%s: \"data.height\" and \"data.width\" of %s are multiples of %d", where, r->model, SIDES);
    return 0;
}

static const struct recipe_table large = {
    .task = "coco-maskrcnn", .models = two_stage_large, .keys = keys, .parts = parts, .check = check_detection,
};
static const struct recipe_table two_stage = {
    .task = "pennfudan", .next = &large, .models = two_stage_models, .keys = keys, .parts = parts, .check = check_detection,
};
const struct recipe_table recipe_table_detection = {
    .task = "bccd", .also = also, .next = &two_stage, .models = detector_models, .keys = keys, .parts = parts,
    .check = check_detection,
};
