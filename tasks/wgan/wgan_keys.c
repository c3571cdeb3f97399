// SPDX-License-Identifier: Apache-2.0
// The recipe keys of WGAN. What is scored is no key: the noise of the scored pictures is the task's.
#include "tasks/wgan/wgan_keys.h"

#include "tasks/wgan/wgan_networks.h"

#define OWN(field) RECIPE_OWN(struct wgan_keys, field)
_Static_assert(sizeof(struct wgan_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const char *const pixels[] = {"whole", "spread", NULL};
static const struct recipe_key keys[] = {
    {"model.width", NULL, KEY_WHOLE, OWN(width), 1, 1024, NULL, "32",
     .about = "channels of both networks: of the residual ones everywhere, of the others where pictures are 16 x 16"},
    {"model.noise", NULL, KEY_WHOLE, OWN(noise), 1, 4096, NULL, "128",
     .about = "normal numbers of which a picture is made"},

    {"critic.steps", NULL, KEY_WHOLE, OWN(steps), 1, 1000, NULL, "5",
     .about = "steps of the critic before each of the generator"},
    {"critic.penalty", NULL, KEY_NUMBER, OWN(penalty), 0, 1e6, NULL, "10",
     .about = "factor of the mean of (|gradient| - 1)^2 between real and made pictures; 0: none"},
    {"critic.clip", NULL, KEY_NUMBER, OWN(clip), 0, 1e6, NULL, "0",
     .about = "the critic's parameters are clamped to +- this after each step; 0: they are not"},
    {"generator.samples", NULL, KEY_WHOLE, OWN(samples), 1, 64, NULL, "1",
     .about = "pictures of a step of the generator, per picture of data.batch"},
    {"critic.pixels", NULL, KEY_CHOICE, OWN(pixels), 0, 0, pixels, "whole",
     .about = "real pixels as they are, or spread by uniform noise between a value and the next"},
    {.path = NULL},
};
static const char *const also[] = {"wgan-cifar10", NULL};

static int check_wgan(const char *where, const struct recipe *r)
{
    const struct wgan_keys *k = wgan_keys(r);
    if (r->label_smoothing > 0) return fail(ERR_USAGE, "%s: WGAN has no \"loss.label_smoothing\": it must be 0", where);
    if (k->penalty == 0 && k->clip == 0)
        return fail(ERR_USAGE, "%s: without \"critic.penalty\" the critic requires \"critic.clip\": its loss has no bound",
                    where);
    return 0;
}

const struct recipe_table recipe_table_wgan = {
    .task = "wgan-mnist", .also = also, .models = wgan_models, .keys = keys, .check = check_wgan,
};
