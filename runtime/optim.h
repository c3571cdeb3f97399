// SPDX-License-Identifier: Apache-2.0
// Optimisers as graph: each takes a parameter, its gradient and a learning rate (a value of one f32, usually picked
// from a table) and appends the nodes of phase UPDATE. State lives in slots named after the parameter.
#pragma once

#include "runtime/graph.h"

// The optimisers: id, name in recipes, function.
#define OPTIMISERS(ROW)                   \
    ROW(MUON, "muon", optim_muon)         \
    ROW(SGD, "sgd", optim_sgd)            \
    ROW(ADAMW, "adamw", optim_adamw)      \
    ROW(ADAMAX, "adamax", optim_adamax)   \
    ROW(RMSPROP, "rmsprop", optim_rmsprop) \
    ROW(LAMB, "lamb", optim_lamb)

struct optim_settings {
    float momentum;      // SGD, Muon, RMSProp
    bool nesterov;
    float decay;         // SGD: added to the gradient as decay * p. The others: decoupled, times the learning rate
    float beta1, beta2, eps;  // AdamW, Adamax, LAMB; RMSProp: beta2 is its alpha
    bool inside;         // RMSProp: epsilon is added below the root (TensorFlow), not to the root (PyTorch)
    float limit;         // parameters are clamped to [-limit, limit] after the update; 0: they are not
    int clip;            // value of one f32 (optim_clip): gradients are multiplied by it first, and below 0 momentum and moments
                         // stay and the step is 0; NONE: they are taken as they are
    int ns_steps;        // Muon: Newton-Schulz iterations
    float ns[3];         // Muon: coefficients of X, A X, A A X
    bool ns_bf16;        // Muon: these products in bf16, as published; else in f32
    bool together;       // Muon: the caller updates parameters of one shape by optim_muon_together
    int renormalise;     // Muon: value of one f32, t: the filter bank moves by t towards norm sqrt(out) before its
                         // update (1: all the way, 0: not at all); NONE: never
    int ns_norm;         // Muon: value of one f32, the norm of what Newton-Schulz starts from; NONE: 1
};

// SGD with (Nesterov) momentum: g' = g + decay p; m = mu m + g'; p -= lr (g' + mu m) or lr m.
int optim_sgd(struct graph *, int param, int grad, int lr, const struct optim_settings *);
// AdamW. The correction of its moments counts the parameter's own updates (slot "NAME.updates"), so that one that begins late, or
// whose steps are skipped, begins as others do.
int optim_adamw(struct graph *, int param, int grad, int lr, const struct optim_settings *);
// Adamax (Kingma and Ba 2015, section 7): v = max(beta2 v, |g|) in place of the mean of squares.
int optim_adamax(struct graph *, int param, int grad, int lr, const struct optim_settings *);
// RMSProp (Hinton 2012): v = alpha v + (1 - alpha) g^2; the step is g / (sqrt(v) + eps) or g / sqrt(v + eps), with momentum if
// there is any. A skipped step keeps v, and the momentum decays.
int optim_rmsprop(struct graph *, int param, int grad, int lr, const struct optim_settings *);
// LAMB (You et al. 2020): the step of AdamW, with the decay, times |p| / |step| per parameter (1 if either norm is 0). Norms and
// biases take the step of AdamW.
int optim_lamb(struct graph *, int param, int grad, int lr, const struct optim_settings *);
// Muon (Jordan 2024): the momentum of a filter bank [K, R*S*C], orthogonalised by Newton-Schulz, is the step.
int optim_muon(struct graph *, int param, int grad, int lr, const struct optim_settings *);
// The same of several parameters of one shape, whose products are batches: a CPU's threads then compute whole products instead of
// meeting after each. Cost: a copy of the momentum into the batch and one out of it.
enum { OPTIM_TOGETHER = 8 };  // at most so many, the inputs of CONCAT
void optim_muon_together(struct graph *, const int *params, const int *grads, int count, int lr, const struct optim_settings *);
// Clipping by the global norm (Pascanu et al. 2013): the value max_norm / max(max_norm, norm of all gradients together), to
// be set as `clip`. Costs one pass over the gradients; the optimisers multiply as they read. Gradients that are NONE are
// left out; NONE if all are.
int optim_clip(struct graph *, const int *grads, int count, float max_norm);
// Gradients of scale * loss, where the scale is the slot OPTIM_SCALE (optim_scale_slot) and moves as LOSS_SCALE says. `clip`
// undoes the scale and clips to max_norm (0: to none); `take` is 0 in a step that is to be skipped, else 1: learning rates are
// multiplied by it. Both are NONE if there is no gradient.
struct optim_scaled {
    int clip, take;
};
enum { OPTIM_GROWTH_STEPS = 200 };  // an overflow at the higher scale costs at most one step in so many
int optim_scale_slot(struct graph *, float first);
struct optim_scaled optim_unscale(struct graph *, const int *grads, int count, float first, float max_norm);
// Their slots. Counts, i32[2]: good steps since the scale changed, and all skipped steps.
#define OPTIM_SCALE "loss.scale"
#define OPTIM_SCALE_COUNTS "loss.counts"
// Exponential moving average of a persistent value in slot "ema.NAME": e += t (p - e), t one f32.
int optim_ema(struct graph *, int value, int t);
