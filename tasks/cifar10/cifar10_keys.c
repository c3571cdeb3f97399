// SPDX-License-Identifier: Apache-2.0
// The recipe keys of CIFAR-10: images, residual and airbench networks, views.
#include "tasks/cifar10/cifar10_keys.h"

#include "tasks/cifar10/cifar10_networks.h"

static const char *const activations[] = {"none", "relu", "gelu", "silu", NULL};
static const char *const pools[] = {"global", "window", NULL};
static const char *const winograds[] = {"none", "data", "all", NULL};  // enum winograd
static const char *const flips[] = {"never", "random", "alternate", NULL};

static const char *const parts[] = {"whitening layer", "activation of its own after the first layer", "choice of pool"};

#define AT RECIPE_AT
#define OWN(field) RECIPE_OWN(struct cifar10_keys, field)
_Static_assert(sizeof(struct cifar10_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const struct recipe_key keys[] = {
    {"data.resolution", "resolution", KEY_LIST, AT(resolution), 8, 1024, NULL, "",
     .about = "sides of the training images, in turn over the schedule; empty: as stored"},
    {"data.resolution_parts", NULL, KEY_LIST, AT(resolution_parts), 0.01, 10000, NULL, "",
     .about = "relative lengths of these parts; empty: all equal"},
    {"data.flip", "flip", KEY_CHOICE, OWN(flip), 0, 0, flips, "alternate",
     .about = "mirroring; alternate: drawn once per image, reversed every epoch"},
    {"data.crop", "crop", KEY_WHOLE, OWN(crop), 0, 16, NULL, "2",
     .about = "largest random shift in pixels, with reflected borders"},
    {"data.brightness", "brightness", KEY_NUMBER, OWN(brightness), 0, 4, NULL, "0",
     .about = "amplitude of a random shift of the normalised pixels"},
    {"data.contrast", "contrast", KEY_NUMBER, OWN(contrast), 0, 1, NULL, "0", .about = "amplitude of a random gain"},

    {"model.widths", "widths", KEY_LIST, AT(widths), 1, 4096, NULL, "",
     .about = "channels of the groups of the network; empty: its own"},
    {"model.first_activation", "first_activation", KEY_CHOICE, OWN(first_activation), 0, 0, activations, "gelu",
     .about = "after the first layer", .part = PART_FIRST_ACTIVATION},
    {"model.activation", "activation", KEY_CHOICE, OWN(activation), 0, 0, activations, "gelu", .about = "everywhere else"},
    {"model.pool", "pool", KEY_CHOICE, OWN(pool), 0, 0, pools, "global",
     .about = "before the head: the whole image, or a window of 3", .part = PART_POOL},
    {"model.norm_momentum", "norm_momentum", KEY_NUMBER, OWN(norm_momentum), 0, 1, NULL, "0.6",
     .about = "share of the old running statistics that is kept"},
    {"model.winograd", NULL, KEY_CHOICE, OWN(winograd), 0, 0, winograds, "none",
     .about = "3x3 convolutions in bf16 with fewer products, which round more; data: not for gradients of filters"},
    {"model.whiten_bias_epochs", "whiten_bias_epochs", KEY_NUMBER, OWN(whiten_bias_epochs), 0, 10000, NULL, "0",
     .about = "epochs for which the bias of the whitening layer trains", .part = PART_WHITENING},

    {"evaluation.views", "views", KEY_WHOLE, AT(views), 1, 6, NULL, "1",
     .about = "forward passes per image in an evaluation: 1 plain, 2 with its mirror image, 6 with shifts"},
    {.path = NULL},
};

static int check_cifar10(const char *where, const struct recipe *r)
{
    if (r->views != 1 && r->views != 2 && r->views != 6)
        return fail(ERR_USAGE, "%s: \"evaluation.views\" must be 1, 2 or 6", where);
    TRY(recipe_check_whole(where, "data.resolution", &r->resolution));
    return recipe_check_whole(where, "model.widths", &r->widths);
}

const struct recipe_table recipe_table_cifar10 = {
    .task = "cifar10", .models = cifar10_models, .keys = keys, .parts = parts, .check = check_cifar10,
};
