// SPDX-License-Identifier: Apache-2.0
// What pictures of one size are scored by: a network that makes features of them, the images that they are compared with, and the
// form of their files. wgan_judge.c does the rest.
#pragma once

#include "data/dataset.h"
#include "tasks/common/step/task.h"

struct wgan_scoring {
    const char *data, *drawn;           // names of the data sets
    const char *title, *drawn_title;    // of the distance: "FD-LeNet84"; by random weights
    const char *pictures;               // "in gray and with 28 x 28 pixels"
    int height, width, channels;
    int64_t features, drawn_features;   // per picture
    enum split real;                    // as many pictures are made as it has images, and compared with these
    int64_t count;                      // of them, without which the distance has no name; 0: any
    // On the run's device, or where that is NULL on one of its own; `folder` NULL: random weights.
    int (*open)(const char *folder, struct device *, void **net);
    void (*close)(void *net);
    int (*measure)(void *net, const uint8_t *pictures, int64_t count, float *features);
    // How well the network knows the images, as a remark. NULL: it names nothing.
    int (*remark)(void *net, struct dataset *, const uint8_t *pictures, int64_t count, char into[80]);
    // A file of pictures; free() ends what is read.
    int (*write)(const char *path, const uint8_t *pictures, int64_t count);
    int (*read)(const char *path, uint8_t **pictures, int64_t *count);
};
extern const struct wgan_scoring wgan_digits, wgan_colours;

static inline int64_t wgan_scoring_bytes(const struct wgan_scoring *s)  // of a picture
{
    return (int64_t)s->height * s->width * s->channels;
}
