// SPDX-License-Identifier: Apache-2.0
// A task of one program without a feed: the host writes a batch of pictures and reads their features.
#include "tasks/wgan/pool3.h"

#include <stdlib.h>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/fuse.h"
#include "tasks/common/layers/net_inception.h"

enum { BATCH = 50, SIDE = 299, DRAWN_BATCH = 500, DRAWN_SIDE = 75, DRAWN_SEED = 20151205 };

struct size {  // of the network
    struct net_inception how;
    int64_t side, batch, features;
    float factor;  // of the features: random weights give small ones, whose distances would have few digits
};
static const struct size whole = {{1, true, 0}, SIDE, BATCH, POOL3_FEATURES, 1};
static const struct size narrow = {{POOL3_FEATURES / POOL3_DRAWN, true, 0}, DRAWN_SIDE, DRAWN_BATCH, POOL3_DRAWN, 16};

struct pool3 {
    const struct size *size;
    struct device *device, *own;  // own: opened here; NULL: the caller's
    struct session *session;
    struct step_slots slots;
    struct variant is;
    int run, fold;
    uint8_t *pictures;  // of a batch
    float *features;
};

// ---- the graph

// values / 255 are resized, and become -1 to 1 after that, as there
static void write_features(struct step *s, const struct size *size)
{
    struct augment_attr a = {.to = F32};
    struct graph *g = s->g;
    struct net n = net_of(s);
    n.act = ACT_RELU;
    for (int c = 0; c < 4; c++) a.std[c] = 1;
    int x = g_augment(g, step_slot(s, "pictures", SHAPE(s->is.batch, POOL3_SIDE, POOL3_SIDE, 3), U8), NONE, NONE, &a);
    x = g_map(g, MAP_SHIFT, g_map(g, MAP_SCALE, g_resize(g, x, size->side, size->side), 2, 0), -1, 0);
    x = net_inception(&n, x, &size->how, NULL);
    if (size->factor != 1) x = g_map(g, MAP_SCALE, x, size->factor, 0);
    step_output(s, 0, g_reshape(g, x, SHAPE(s->is.batch, size->features)));
}

static void write_whole(struct step *s) { write_features(s, &whole); }
static void write_narrow(struct step *s) { write_features(s, &narrow); }

static const struct task_program whole_programs[] = {{"features", PROGRAM_EVALUATE, FEED_NONE, 0, write_whole}, {0}};
static const struct task_program narrow_programs[] = {{"features", PROGRAM_EVALUATE, FEED_NONE, 0, write_narrow}, {0}};
static const struct model whole_model = {.name = "whole", .programs = whole_programs};
static const struct model narrow_model = {.name = "narrow", .programs = narrow_programs};
static const struct task task = {.name = "pool3"};

// ---- the network

static int build_network(struct pool3 *p, struct device *device)
{
    const struct recipe recipe = {0};
    const struct setting setting = {.task = &task, .recipe = &recipe, .dtype = F32, .fuse = FUSE_ALL,
                                    .model = p->size == &whole ? &whole_model : &narrow_model};
    if (device == NULL) TRY(device_open(NULL, 0, &p->own));
    p->device = device ? device : p->own;
    p->is.batch = p->size->batch, p->fold = NONE;
    TRY(session_new(p->device, &p->session));
    TRY(p->run = step_evaluate(p->session, &setting, &p->slots, &p->is, 0, &p->fold));
    TRY(session_ready(p->session));
    TRY(session_reset(p->session, DRAWN_SEED));
    p->pictures = zalloc((size_t)p->size->batch * POOL3_PICTURE);
    p->features = zalloc((size_t)(p->size->batch * p->size->features) * sizeof *p->features);
    return 0;
}

static int load_weights(struct pool3 *p, const struct checkpoint *weights)
{
    static const struct checkpoint_import how = {0};
    struct checkpoint_imported imported;
    return checkpoint_import(weights, p->session, &how, &imported);
}

static int open_network(const struct size *size, const struct checkpoint *weights, struct device *device, struct pool3 **into)
{
    struct pool3 *p = zalloc(sizeof *p);
    p->size = size;
    int rc = build_network(p, device);
    if (rc == 0 && weights) rc = load_weights(p, weights);
    if (rc == 0 && p->fold != NONE) rc = session_run(p->session, p->fold);
    if (rc < 0) pool3_free(p);
    *into = rc < 0 ? NULL : p;
    return rc;
}

int pool3_open(const char *path, const char *digest, struct device *device, struct pool3 **into)
{
    struct checkpoint *weights;
    char hex[DIGEST_HEX];
    *into = NULL;
    TRY(digest_file(path, hex));
    if (digest && strcmp(hex, digest) != 0)
        return fail(ERR_INPUT, "%s has SHA-256 %s; the network that scores has %s", path, hex, digest);
    TRY(checkpoint_open(path, &weights));
    int rc = open_network(&whole, weights, device, into);
    checkpoint_close(weights);
    return rc;
}

int pool3_draw(struct device *device, struct pool3 **into)
{
    return open_network(&narrow, NULL, device, into);
}

void pool3_free(struct pool3 *p)
{
    if (!p) return;
    session_free(p->session);
    device_close(p->own);
    free(p->pictures);
    free(p->features);
    free(p);
}

// ---- pictures

int pool3_features(struct pool3 *p, const uint8_t *pictures, int64_t count, float *features)
{
    const int64_t batch = p->size->batch, width = p->size->features;
    for (int64_t at = 0; at < count; at += batch) {
        const int64_t now = count - at < batch ? count - at : batch;
        memcpy(p->pictures, pictures + at * POOL3_PICTURE, (size_t)(now * POOL3_PICTURE));
        TRY(session_put(p->session, "pictures", p->pictures, 0, (size_t)(batch * POOL3_PICTURE)));
        TRY(session_run(p->session, p->run));
        TRY(session_read(p->session, p->is.output[0], p->features, (size_t)(batch * width) * sizeof *features));
        memcpy(features + at * width, p->features, (size_t)(now * width) * sizeof *features);
    }
    return 0;
}
