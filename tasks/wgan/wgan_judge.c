// SPDX-License-Identifier: Apache-2.0
// The score of made pictures: the Frechet distance to the images of a split in the features of a network (wgan_scoring.h), and
// the share of them that are nearer to a training image than to any test image, which tells copying. Drawn images have features
// of random weights.
//
// A training reads the images, 55 MB of MNIST or 184 MB of CIFAR-10, and measures the split's images once. Cost per evaluation:
// as many pictures through the network, 1,000 of them compared with all images pixel by pixel; for FID 410 MB of features.
#include "tasks/wgan/wgan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "runtime/common/draw/html.h"
#include "tasks/common/frechet/frechet.h"
#include "tasks/wgan/nearest.h"
#include "tasks/wgan/wgan_scoring.h"

enum { COMPARED = 1000 };  // of the pictures with all images of the set: the share's deviation by chance is 1%

struct originals {  // what pictures are compared with
    const struct wgan_scoring *by;
    void *net;
    int64_t features;
    struct nearest_pictures image[SPLIT_COUNT];
    struct frechet_moments real;
};
struct judging {
    struct originals of;
    int64_t samples, bytes, taken;
    uint8_t *made;  // by sample
    bool *has;
};

// ---- the network and the images

static int check_size(const struct wgan_scoring *by, const struct dataset_facts *f)
{
    if (f->height == by->height && f->width == by->width && f->channels == by->channels) return 0;
    return fail(ERR_INPUT, "%s: pictures are scored %s, not %d x %d x %d", f->name, by->pictures, f->height, f->width,
                f->channels);
}

static int read_images(struct dataset *data, enum split split, int64_t most, struct nearest_pictures *into)
{
    const struct dataset_facts *f = dataset_facts(data);
    const int64_t count = f->count[split] < most ? f->count[split] : most;
    uint8_t *at = malloc((size_t)(count * f->height * f->width * f->channels) + 1);
    *into = (struct nearest_pictures){at, count};
    if (at == NULL) return fail(ERR_MEMORY, "not enough memory for %lld images", (long long)count);
    return dataset_read(data, split, "images", 0, count, at);
}

// ---- the Frechet distance

struct table {
    const float *at;
    int64_t columns;
};

static void read_features(const void *context, int64_t sample, double *into)
{
    const struct table *t = context;
    for (int64_t j = 0; j < t->columns; j++) into[j] = t->at[sample * t->columns + j];
}

static int measure_pictures(const struct originals *of, const char *name, const struct nearest_pictures *p,
                            struct frechet_moments *into)
{
    float *features = malloc((size_t)(p->count * of->features) * sizeof *features + 1);
    const struct table table = {features, of->features};
    *into = (struct frechet_moments){0};
    if (features == NULL) return fail(ERR_MEMORY, "not enough memory for the features of %lld pictures", (long long)p->count);
    int rc = of->by->measure(of->net, p->at, p->count, features);
    if (rc == 0) rc = frechet_measure(&(struct frechet_set){name, p->count, of->features, read_features, &table}, into);
    free(features);
    return rc;
}

static int distance_to(const struct originals *of, const char *name, const struct nearest_pictures *p, double *distance)
{
    struct frechet_moments made;
    struct frechet f = {0};
    int rc = measure_pictures(of, name, p, &made);
    if (rc == 0) rc = frechet_between(&made, &of->real, &f);
    frechet_free(&made);
    *distance = f.distance > 0 ? f.distance : 0;  // of equal sets it is a rounding below 0
    return rc;
}

// ---- copies

static int share_of_copies(const struct originals *of, const struct nearest_pictures *made, double *share)
{
    const int64_t bytes = wgan_scoring_bytes(of->by);
    struct nearest_pictures some = *made;
    int64_t nearer = 0;
    if (some.count > COMPARED) some.count = COMPARED;
    int32_t *far = zalloc((size_t)(2 * some.count + 1) * sizeof *far);
    int rc = nearest_distances(&some, &of->image[SPLIT_TRAIN], bytes, far);
    if (rc == 0) rc = nearest_distances(&some, &of->image[SPLIT_TEST], bytes, far + some.count);
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
    if (of->net) of->by->close(of->net);
    for (int s = 0; s < SPLIT_COUNT; s++) free((void *)of->image[s].at);
    frechet_free(&of->real);
}

static int check_count(const struct wgan_scoring *by, const struct dataset_facts *f)
{
    const char *split = by->real == SPLIT_TEST ? "test" : "training";
    const int64_t count = f->count[by->real], features = f->synthetic ? by->drawn_features : by->features;
    if (count < features)
        return fail(ERR_INPUT, "%s has %lld %s images: a distance in %lld features needs at least as many", f->name,
                    (long long)count, split, (long long)features);
    if (by->count && count != by->count && !f->synthetic)
        return fail(ERR_INPUT, "%s has %lld %s images: %s is measured with %lld", f->name, (long long)count, split, by->title,
                    (long long)by->count);
    return 0;
}

static int open_originals(const struct wgan_scoring *by, struct dataset *data, struct device *device, struct originals *of)
{
    const struct dataset_facts *f = dataset_facts(data);
    *of = (struct originals){.by = by, .features = f->synthetic ? by->drawn_features : by->features};
    TRY(check_size(by, f));
    TRY(check_count(by, f));
    int rc = by->open(f->synthetic ? NULL : f->folder, device, &of->net);
    for (int s = 0; s < SPLIT_COUNT && rc == 0; s++) rc = read_images(data, (enum split)s, INT64_MAX, &of->image[s]);
    const char *name = by->real == SPLIT_TEST ? "the test split" : "the training split";
    if (rc == 0) rc = measure_pictures(of, name, &of->image[by->real], &of->real);
    if (rc < 0) close_originals(of);
    return rc;
}

// ---- a judge

static int begin_judging(const struct wgan_scoring *by, const struct setting *c, struct dataset *stored, void **state)
{
    struct originals of;
    TRY(open_originals(by, stored, c ? c->device : NULL, &of));
    struct judging *j = *state = zalloc(sizeof *j);
    *j = (struct judging){.of = of, .samples = of.image[by->real].count, .bytes = wgan_scoring_bytes(by)};
    j->made = zalloc((size_t)(j->samples * j->bytes));
    j->has = zalloc((size_t)j->samples);
    return 0;
}

static int begin_digits(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)view;
    return begin_judging(&wgan_digits, c, stored, state);
}

static int begin_colours(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)view;
    return begin_judging(&wgan_colours, c, stored, state);
}

static int judge_batch(void *state, const struct judged *b)
{
    struct judging *j = state;
    for (int64_t i = 0; i < b->count; i++) {
        const float *from = (const float *)b->output[WGAN_PICTURES] + i * j->bytes;
        uint8_t *to = j->made + b->sample[i] * j->bytes;
        for (int64_t k = 0; k < j->bytes; k++) {
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
    uint8_t *list = zalloc((size_t)(j->taken * j->bytes) + 1), *to = list;
    for (int64_t i = 0; i < j->samples; i++) {
        if (!j->has[i]) continue;
        memcpy(to, j->made + i * j->bytes, (size_t)j->bytes);
        to += j->bytes;
    }
    return list;
}

// Rounded up, so that no page shows a smaller distance than there was. Fewer pictures than features have none, and what has a
// number of pictures in its definition has none with fewer.
static int end_judging(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    struct scores found;
    int rc = 0;
    if (score) score[WGAN_DISTANCE] = score[WGAN_COPIES] = METRIC_NONE;
    if (score && j->taken >= (j->of.by->count ? j->samples : j->of.features)) {
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

// The pictures in their data set's own form.
static int write_pictures(void *state, const char *path)
{
    const struct judging *j = state;
    uint8_t *list = list_made(j);
    int rc = j->of.by->write(path, list, j->taken);
    free(list);
    return rc;
}

// Draws the first pictures; they do not depend on `sample`.
static int draw_grid(void *state, int64_t sample, struct text *file)
{
    const struct judging *j = state;
    const struct wgan_scoring *by = j->of.by;
    (void)sample;
    uint8_t *list = list_made(j);
    int rc = wgan_grid(&(struct wgan_pictures){list, j->taken, by->height, by->width, by->channels}, file);
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

// ---- pictures of other programs, and baselines that need no network

static double chance_of_copies(const struct dataset_facts *f)
{
    return 100.0 * (double)f->count[SPLIT_TRAIN] / (double)(f->count[SPLIT_TRAIN] + f->count[SPLIT_TEST]);
}

static void print_scores(const char *name, const struct dataset_facts *f, const struct scores *s, int64_t count,
                         struct text *into)
{
    char pictures[TEXT_FIGURE];
    text_add(into, "%-11s  %.6f\n", name, s->distance);
    text_add(into, "%-11s  %.1f%% of the first %lld are nearer to a training image than to a test image; by chance %.1f%%\n",
             "copies", 100 * s->copies, (long long)(count < COMPARED ? count : COMPARED), chance_of_copies(f));
    text_add(into, "%s pictures\n", text_count(pictures, count));
}

struct file {
    const char *path;
    struct nearest_pictures made;
    bool json;
};

static int score_file(const struct wgan_scoring *by, struct dataset *data, const struct file *file, struct text *into)
{
    const struct dataset_facts *f = dataset_facts(data);
    const char *name = f->synthetic ? by->drawn_title : by->title;
    struct originals of;
    struct scores s;
    if (by->count && !f->synthetic && file->made.count != by->count)
        return fail(ERR_INPUT, "%s has %lld pictures: %s is measured with %lld", file->path, (long long)file->made.count, name,
                    (long long)by->count);
    TRY(open_originals(by, data, NULL, &of));
    int rc = score_pictures(&of, file->path, &file->made, &s);
    close_originals(&of);
    TRY(rc);
    if (!file->json) print_scores(name, f, &s, file->made.count, into);
    else
        text_add(into, "{\"metric\": \"%s\", \"distance\": %.17g, \"copies\": %.17g, \"pictures\": %lld}\n", name, s.distance,
                 s.copies, (long long)file->made.count);
    return 0;
}

static int evaluate_file(const struct wgan_scoring *by, const char *truth, struct file *file, struct text *into)
{
    struct dataset *data;
    uint8_t *pictures;
    const bool drawn = strcmp(truth, by->drawn) == 0;
    TRY(by->read(file->path, &pictures, &file->made.count));
    file->made.at = pictures;
    int rc = dataset_open(drawn ? truth : by->data, drawn ? NULL : truth, &data);
    if (rc == 0) {
        rc = score_file(by, data, file, into);
        dataset_close(data);
    }
    free(pictures);
    return rc;
}

static int evaluate_digits(const char *truth, const char *answers, bool json, struct text *into)
{
    return evaluate_file(&wgan_digits, truth, &(struct file){.path = answers, .json = json}, into);
}

static int evaluate_colours(const char *truth, const char *answers, bool json, struct text *into)
{
    return evaluate_file(&wgan_colours, truth, &(struct file){.path = answers, .json = json}, into);
}

static int count_baselines(struct originals *of, struct dataset *stored, struct nearest_pictures *noisy,
                           struct baseline row[BASELINES_MAX])
{
    const struct dataset_facts *f = dataset_facts(stored);
    const enum split other = of->by->real == SPLIT_TEST ? SPLIT_TRAIN : SPLIT_TEST;
    const struct nearest_pictures *real = &of->image[of->by->real];
    const int64_t most = of->image[other].count < real->count ? of->image[other].count : real->count;
    const struct nearest_pictures few = {of->image[other].at, most};
    struct dataset *noise;
    TRY(dataset_open_noise(f->name, &noise));
    int rc = read_images(noise, SPLIT_TEST, most, noisy);
    dataset_close(noise);
    TRY(rc);
    row[0] = row[1] = (struct baseline){.metric = WGAN_DISTANCE};
    TRY(distance_to(of, "the other split", &few, &row[0].score));
    TRY(distance_to(of, "noise", noisy, &row[1].score));
    row[2] = (struct baseline){.metric = WGAN_COPIES, .score = chance_of_copies(f)};
    const char *but = of->by->count > most && !f->synthetic ? " (too few for FID)" : "";
    snprintf(row[0].what, sizeof row[0].what, "real images: the first %lld of the %s%s", (long long)most,
             other == SPLIT_TRAIN ? "training" : "test", but);
    snprintf(row[1].what, sizeof row[1].what, "noise, %lld pictures%s", (long long)noisy->count, but);
    snprintf(row[2].what, sizeof row[2].what, "by chance, because there are more training images");
    if (of->by->remark) TRY(of->by->remark(of->net, stored, of->image[SPLIT_TEST].at, of->image[SPLIT_TEST].count, row[1].what));
    return 3;
}

int wgan_baselines(const struct setting *c, struct dataset *stored, struct dataset *view, struct baseline row[BASELINES_MAX])
{
    const struct wgan_scoring *by = c->task->judge == &wgan_judge ? &wgan_digits : &wgan_colours;
    struct originals of;
    struct nearest_pictures noisy = {0};
    (void)view;
    TRY(open_originals(by, stored, NULL, &of));
    const int rc = count_baselines(&of, stored, &noisy, row);
    free((void *)noisy.at);
    close_originals(&of);
    return rc;
}

#define JUDGE(pictures)                                                                                                \
    .begin = begin_##pictures, .batch = judge_batch, .end = end_judging, .stays = true, .write = write_pictures,       \
    .draw = draw_grid, .keeps = true, .exhibit = exhibit_pictures, .evaluate = evaluate_##pictures
const struct judge wgan_judge = {
    JUDGE(digits),
    .files = "TRUTH is the folder with MNIST and lenet.pth (or mnist-drawn), ANSWERS a file of made pictures in MNIST's form "
             "(IDX, 28 x 28). Scored by the Frechet distance to the test images in 84 features of that network.",
};
const struct judge wgan_judge_colours = {
    JUDGE(colours),
    .files = "TRUTH is the folder with CIFAR-10 and pt_inception-2015-12-05-6726825d.pth (or synthetic), ANSWERS a file of "
             "50,000 made pictures in CIFAR-10's binary form, with any labels. Scored by FID against the training images.",
};
