// SPDX-License-Identifier: Apache-2.0
// WGAN: a generator makes pictures of noise, a critic tells them from the pictures of a data set, and each learns from the other.
//
// An evaluation makes as many pictures as the test split has, of CIFAR-10 the training split, each of its own fixed noise:
// picture i is the judge's sample i.
#pragma once

#include "tasks/common/step/task.h"

// What an evaluation hands to the judge (step_output): f32 [count, rows, columns, channels] of the data set's own size (28 x 28 x
// 1 for mnist; the network's padding is cut off), values from -1 to 1. wgan_byte converts a value to a pixel.
enum { WGAN_PICTURES };
static inline uint8_t wgan_byte(float x)
{
    float v = (x + 1) * 127.5f + 0.5f;
    return (uint8_t)(v >= 255 ? 255 : v >= 0 ? v : 0);  // NaN: 0
}

// Scores, in millionths (METRIC_RATIO): the Frechet distance in a network's features, and the share of copies.
enum { WGAN_DISTANCE, WGAN_COPIES };

// wgan_judge.c: of digits and of pictures in colours. `draw` gives wgan_grid of the first pictures, `exhibit` shows the same.
extern const struct judge wgan_judge, wgan_judge_colours;
int wgan_baselines(const struct setting *, struct dataset *stored, struct dataset *view, struct baseline row[BASELINES_MAX]);
// The first WGAN_GRID pictures (fewer if there are fewer) of bytes [count, height, width, channels], in rows of ten and three
// times as large, as a PNG.
enum { WGAN_GRID = 100 };
struct wgan_pictures {
    const uint8_t *at;
    int64_t count, height, width, channels;
};
int wgan_grid(const struct wgan_pictures *, struct text *png) MUST_CHECK;

extern const struct task task_wgan_mnist, task_wgan_cifar10;
