// SPDX-License-Identifier: Apache-2.0
// Pairs of networks: one makes pictures of noise, the other gives each picture a number, which is high for real ones.
#pragma once

#include "tasks/common/step/step.h"

enum { GROUP_CRITIC, GROUP_GENERATOR };  // groups of parameters
enum { WGAN_SIDE = 32 };                 // of the networks' pictures

struct wgan_network {
    int (*generate)(struct step *, int noise, int64_t channels);  // noise[N,Z] -> [N,32,32,channels], from -1 to 1
    int (*criticise)(struct step *, int pictures);                // [N,32,32,channels] -> f32[N,1]
};
static inline const struct wgan_network *wgan_network(const struct step *s)
{
    return s->setting->model->own;
}

// f32[1], of WGAN-GP: the sum of (|d critic / d picture| - 1)^2 at these pictures, which train nothing (wgan.c).
int wgan_penalty(struct step *, int pictures);

extern const struct model wgan_models[];  // ends with name NULL
