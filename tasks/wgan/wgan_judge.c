// SPDX-License-Identifier: Apache-2.0
// The score of made pictures: the Frechet distance to the test images in the features of the network in lenet.h, and the share of
// them that are nearer to a training image than to any test image, which tells copying. Drawn digits have features of random
// weights.
//
// A training reads the images, 55 MB of MNIST, and measures the test images once. Cost per evaluation: 10,000 pictures through
// the network, 1,000 of them compared with 70,000 pixel by pixel.
#include "tasks/wgan/wgan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/read/mnist/idx.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "runtime/common/draw/html.h"
#include "tasks/common/frechet/frechet.h"
#include "tasks/wgan/lenet.h"
#include "tasks/wgan/nearest.h"

enum { COMPARED = 1000 };  // of the pictures with all images of the set: the share's deviation by chance is 1%

struct originals {  // what pictures are compared with
    struct lenet *net;
    struct nearest_pictures train, test;
    struct frechet_moments real;  // of the test images
};
struct judging {
    struct originals of;
    int64_t samples, taken;
    uint8_t *made;  // by sample
    bool *has;
};

// ---- the network and the images

static int open_network(const struct dataset_facts *f, struct lenet **net)
{
    struct text path = {0};
    *net = NULL;
    if (f->height != LENET_SIDE || f->width != LENET_SIDE || f->channels != 1)
        return fail(ERR_INPUT, "%s: pictures are scored in gray and with %d x %d pixels, not %d x %d x %d", f->name, LENET_SIDE,
                    LENET_SIDE, f->height, f->width, f->channels);
    if (f->synthetic) {
        *net = lenet_draw();
        return 0;
    }
    text_add(&path, "%s/%s", f->folder, LENET_FILE);
    int rc = file_exists(path.at)
                 ? lenet_open(path.at, net)
                 : fail(ERR_MISSING, "%s is missing: the network in whose features pictures are scored (249 KB). \"dawn data "
                        "fetch mnist --to DIR\" gets it with the images", path.at);
    text_free(&path);
    return rc;
}

static int read_images(struct dataset *data, enum split split, int64_t most, struct nearest_pictures *into)
{
    const int64_t all = dataset_facts(data)->count[split], count = all < most ? all : most;
    uint8_t *at = malloc((size_t)(count * LENET_PICTURE) + 1);
    *into = (struct nearest_pictures){at, count};
    if (at == NULL) return fail(ERR_MEMORY, "not enough memory for %lld images", (long long)count);
    return dataset_read(data, split, "images", 0, count, at);
}

// ---- the Frechet distance

static void read_features(const void *context, int64_t sample, double *into)
{
    const float *features = (const float *)context + sample * LENET_FEATURES;
    for (int j = 0; j < LENET_FEATURES; j++) into[j] = features[j];
}

static int measure_pictures(const struct lenet *net, const char *name, const struct nearest_pictures *p,
                            struct frechet_moments *into)
{
    float *features = malloc((size_t)(p->count * LENET_FEATURES) * sizeof *features + 1);
    *into = (struct frechet_moments){0};
    if (features == NULL) return fail(ERR_MEMORY, "not enough memory for the features of %lld pictures", (long long)p->count);
    lenet_features(net, p->at, p->count, features);
    int rc = frechet_measure(&(struct frechet_set){name, p->count, LENET_FEATURES, read_features, features}, into);
    free(features);
    return rc;
}

static int distance_to(const struct originals *of, const char *name, const struct nearest_pictures *p, double *distance)
{
    struct frechet_moments made;
    struct frechet f = {0};
    int rc = measure_pictures(of->net, name, p, &made);
    if (rc == 0) rc = frechet_between(&made, &of->real, &f);
    frechet_free(&made);
    *distance = f.distance > 0 ? f.distance : 0;  // of equal sets it is a rounding below 0
    return rc;
}

// ---- copies

static int share_of_copies(const struct originals *of, const struct nearest_pictures *made, double *share)
{
    struct nearest_pictures some = *made;
    int64_t nearer = 0;
    if (some.count > COMPARED) some.count = COMPARED;
    int32_t *far = zalloc((size_t)(2 * some.count + 1) * sizeof *far);
    int rc = nearest_distances(&some, &of->train, LENET_PICTURE, far);
    if (rc == 0) rc = nearest_distances(&some, &of->test, LENET_PICTURE, far + some.count);
    for (int64_t i = 0; i < some.count; i++) nearer += far[i] < far[some.count + i];
    *share = some.count > 0 ? (double)nearer / (double)some.count : 0;
    free(far);
    return rc;
}

struct scores {
    double distance, copies;
};

static int score_pictures(const struct originals *of, const char *name, const struct nearest_pictures *made, struct scores *into)
{
    TRY(distance_to(of, name, made, &into->distance));
    return share_of_copies(of, made, &into->copies);
}

// ---- what pictures are compared with

static void close_originals(struct originals *of)
{
    lenet_free(of->net);
    free((void *)of->train.at);
    free((void *)of->test.at);
    frechet_free(&of->real);
}

static int open_originals(struct dataset *data, struct originals *of)
{
    *of = (struct originals){0};
    int rc = open_network(dataset_facts(data), &of->net);
    if (rc == 0) rc = read_images(data, SPLIT_TRAIN, INT64_MAX, &of->train);
    if (rc == 0) rc = read_images(data, SPLIT_TEST, INT64_MAX, &of->test);
    if (rc == 0) rc = measure_pictures(of->net, "the test split", &of->test, &of->real);
    if (rc < 0) close_originals(of);
    return rc;
}

// ---- a judge

static int begin_judging(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    const struct dataset_facts *f = dataset_facts(stored);
    struct originals of;
    (void)c, (void)view;
    if (f->count[SPLIT_TEST] < LENET_FEATURES)
        return fail(ERR_INPUT, "%s has %lld test images: a distance in %d features needs at least as many", f->name,
                    (long long)f->count[SPLIT_TEST], LENET_FEATURES);
    TRY(open_originals(stored, &of));
    struct judging *j = *state = zalloc(sizeof *j);
    *j = (struct judging){.of = of, .samples = f->count[SPLIT_TEST]};
    j->made = zalloc((size_t)(j->samples * LENET_PICTURE));
    j->has = zalloc((size_t)j->samples);
    return 0;
}

static int judge_batch(void *state, const struct judged *b)
{
    struct judging *j = state;
    for (int64_t i = 0; i < b->count; i++) {
        const float *from = (const float *)b->output[WGAN_PICTURES] + i * LENET_PICTURE;
        uint8_t *to = j->made + b->sample[i] * (int64_t)LENET_PICTURE;
        for (int k = 0; k < LENET_PICTURE; k++) {
            if (!isfinite(from[k]))
                return fail(ERR_INPUT, "the generator made picture %lld with a value that is no number",
                            (long long)b->sample[i] + 1);
            to[k] = wgan_byte(from[k]);
        }
        j->taken += !j->has[b->sample[i]];
        j->has[b->sample[i]] = true;
    }
    return 0;
}

// The pictures that were made, in the order of their numbers; free() ends it.
static uint8_t *list_made(const struct judging *j)
{
    uint8_t *list = zalloc((size_t)(j->taken * LENET_PICTURE) + 1), *to = list;
    for (int64_t i = 0; i < j->samples; i++) {
        if (!j->has[i]) continue;
        memcpy(to, j->made + i * LENET_PICTURE, LENET_PICTURE);
        to += LENET_PICTURE;
    }
    return list;
}

// Rounded up, so that no page shows a smaller distance than there was. Fewer pictures than features have none.
static int end_judging(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    struct scores found;
    int rc = 0;
    if (score) score[WGAN_DISTANCE] = score[WGAN_COPIES] = METRIC_NONE;
    if (score && j->taken >= LENET_FEATURES) {
        uint8_t *list = list_made(j);
        rc = score_pictures(&j->of, "the generator", &(struct nearest_pictures){list, j->taken}, &found);
        free(list);
        if (rc == 0) score[WGAN_DISTANCE] = (int64_t)ceil(found.distance * 1e6 - 1e-6);
        if (rc == 0) score[WGAN_COPIES] = llround(found.copies * 1e6);
    }
    if (score && rc == 0) {
        memset(j->has, 0, (size_t)j->samples);
        j->taken = 0;
        return 0;
    }
    close_originals(&j->of);
    free(j->made);
    free(j->has);
    free(j);
    return rc;
}

// The pictures in MNIST's own form.
static int write_pictures(void *state, const char *path)
{
    const struct judging *j = state;
    const uint32_t head[4] = {0x803, (uint32_t)j->taken, LENET_SIDE, LENET_SIDE};
    struct text file = {0};
    for (int i = 0; i < 4; i++) {
        const uint8_t bytes[4] = {(uint8_t)(head[i] >> 24), (uint8_t)(head[i] >> 16), (uint8_t)(head[i] >> 8), (uint8_t)head[i]};
        text_bytes(&file, bytes, sizeof bytes);
    }
    uint8_t *list = list_made(j);
    text_bytes(&file, list, (size_t)(j->taken * LENET_PICTURE));
    int rc = file_write(path, file.at, file.length);
    free(list);
    text_free(&file);
    return rc;
}

// Draws the first pictures; they do not depend on `sample`.
static int draw_grid(void *state, int64_t sample, struct text *file)
{
    const struct judging *j = state;
    (void)sample;
    uint8_t *list = list_made(j);
    int rc = wgan_grid(&(struct wgan_pictures){list, j->taken, LENET_SIDE, LENET_SIDE, 1}, file);
    free(list);
    return rc;
}

static int exhibit_pictures(void *state, struct exhibit *e)
{
    struct judging *j = state;
    struct text file = {0};
    if (j->taken == 0) return 0;
    int rc = draw_grid(state, 0, &file);
    if (rc == 0) e->picture(e, "pictures that the generator makes of noise", file.at, file.length);
    text_free(&file);
    return rc;
}

// ---- pictures of other programs, and what is scored without a network

static void print_scores(const struct dataset_facts *f, const struct scores *s, int64_t count, bool json, struct text *into)
{
    const char *name = f->synthetic ? "FD-random84" : "FD-LeNet84";
    char pictures[TEXT_FIGURE];
    if (json) {
        text_add(into, "{\"metric\": \"%s\", \"distance\": %.17g, \"copies\": %.17g, \"pictures\": %lld}\n", name, s->distance,
                 s->copies, (long long)count);
        return;
    }
    text_add(into, "%-11s  %.6f\n", name, s->distance);
    text_add(into, "%-11s  %.1f%% of the first %lld are nearer to a training image than to a test image; by chance %.1f%%\n",
             "copies", 100 * s->copies, (long long)(count < COMPARED ? count : COMPARED),
             100.0 * (double)f->count[SPLIT_TRAIN] / (double)(f->count[SPLIT_TRAIN] + f->count[SPLIT_TEST]));
    text_add(into, "%s pictures\n", text_count(pictures, count));
}

static int score_file(struct dataset *data, const char *path, bool json, struct text *into)
{
    struct originals of;
    char *bytes;
    size_t size;
    struct idx idx;
    struct scores scores;
    TRY(file_read(path, 1 << 30, &bytes, &size));
    int rc = idx_pictures(path, (const uint8_t *)bytes, size, &idx);
    if (rc == 0) rc = open_originals(data, &of);
    if (rc == 0) {
        rc = score_pictures(&of, path, &(struct nearest_pictures){idx.at, idx.count}, &scores);
        close_originals(&of);
    }
    if (rc == 0) print_scores(dataset_facts(data), &scores, idx.count, json, into);
    free(bytes);
    return rc;
}

static int evaluate_file(const char *truth, const char *answers, bool json, struct text *into)
{
    struct dataset *data;
    const bool drawn = strcmp(truth, "mnist-drawn") == 0;
    TRY(dataset_open(drawn ? truth : "mnist", drawn ? NULL : truth, &data));
    int rc = score_file(data, answers, json, into);
    dataset_close(data);
    return rc;
}

static int64_t right_labels(struct dataset *data, const struct lenet *net, const struct nearest_pictures *p)
{
    float *features = zalloc((size_t)(p->count * LENET_FEATURES) * sizeof *features);
    uint8_t *label = zalloc((size_t)p->count + 1);
    int64_t right = 0;
    int rc = dataset_read(data, SPLIT_TEST, "labels", 0, p->count, label);
    lenet_features(net, p->at, p->count, features);
    for (int64_t i = 0; i < p->count && rc == 0; i++) right += lenet_label(net, features + i * LENET_FEATURES) == label[i];
    free(label);
    free(features);
    return rc < 0 ? rc : right;
}

static int count_baselines(struct originals *of, struct dataset *stored, struct nearest_pictures *noisy,
                           struct baseline row[BASELINES_MAX])
{
    const struct dataset_facts *f = dataset_facts(stored);
    const double images = (double)(f->count[SPLIT_TRAIN] + f->count[SPLIT_TEST]);
    const struct nearest_pictures few = {of->train.at, of->train.count < of->test.count ? of->train.count : of->test.count};
    struct dataset *noise;
    int64_t right;
    TRY(dataset_open_noise(f->name, &noise));
    int rc = read_images(noise, SPLIT_TEST, of->test.count, noisy);
    dataset_close(noise);
    TRY(rc);
    row[0] = row[1] = (struct baseline){.metric = WGAN_DISTANCE};
    TRY(distance_to(of, "the training split", &few, &row[0].score));
    TRY(distance_to(of, "noise", noisy, &row[1].score));
    TRY(right = right_labels(stored, of->net, &of->test));
    row[2] = (struct baseline){.metric = WGAN_COPIES, .score = 100 * (double)f->count[SPLIT_TRAIN] / images};
    snprintf(row[0].what, sizeof row[0].what, "real images: the first %lld of the training", (long long)few.count);
    snprintf(row[1].what, sizeof row[1].what, "noise (the network names %.2f%% of the test images)",
             100 * (double)right / (double)of->test.count);
    snprintf(row[2].what, sizeof row[2].what, "by chance, because there are more training images");
    return 3;
}

int wgan_baselines(const struct setting *c, struct dataset *stored, struct dataset *view, struct baseline row[BASELINES_MAX])
{
    struct originals of;
    struct nearest_pictures noisy = {0};
    (void)c, (void)view;
    TRY(open_originals(stored, &of));
    const int rc = count_baselines(&of, stored, &noisy, row);
    free((void *)noisy.at);
    close_originals(&of);
    return rc;
}

const struct judge wgan_judge = {
    .begin = begin_judging, .batch = judge_batch, .end = end_judging, .stays = true, .write = write_pictures, .draw = draw_grid,
    .keeps = true, .exhibit = exhibit_pictures, .evaluate = evaluate_file,
    .files = "TRUTH is the folder with MNIST and " LENET_FILE " (or mnist-drawn), ANSWERS a file of made pictures in MNIST's "
             "form (IDX, 28 x 28). Scored by the Frechet distance to the test images in 84 features of that network.",
};
