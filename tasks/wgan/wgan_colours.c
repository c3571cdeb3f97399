// SPDX-License-Identifier: Apache-2.0
// Pictures in colours: the Inception of pool3.h, and files in CIFAR-10's own form, whose labels mean nothing here.
#include <stdlib.h>

#include "data/read/cifar/cifar.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "tasks/wgan/pool3.h"
#include "tasks/wgan/wgan_scoring.h"

static int open_pool3(const char *folder, struct device *device, void **net)
{
    struct text path = {0};
    struct pool3 *pool3 = NULL;
    int rc;
    text_add(&path, "%s/%s", folder ? folder : "", POOL3_FILE);
    if (folder == NULL) rc = pool3_draw(device, &pool3);
    else if (file_exists(path.at)) rc = pool3_open(path.at, POOL3_DIGEST, device, &pool3);
    else
        rc = fail(ERR_MISSING, "%s is missing: the network in whose features FID is measured (96 MB). pytorch-fid publishes it "
                  "under this name", path.at);
    text_free(&path);
    *net = pool3;
    return rc;
}

static void close_pool3(void *net)
{
    pool3_free(net);
}

static int measure_colours(void *net, const uint8_t *pictures, int64_t count, float *features)
{
    return pool3_features(net, pictures, count, features);
}

static int write_colours(const char *path, const uint8_t *pictures, int64_t count)
{
    uint8_t *file = malloc((size_t)(count * CIFAR_RECORD) + 1);
    if (file == NULL) return fail(ERR_MEMORY, "not enough memory for %lld pictures", (long long)count);
    for (int64_t i = 0; i < count; i++) cifar_encode(pictures + i * CIFAR_IMAGE, 0, file + i * CIFAR_RECORD);
    int rc = file_write(path, file, (size_t)(count * CIFAR_RECORD));
    free(file);
    return rc;
}

static int read_colours(const char *path, uint8_t **pictures, int64_t *count)
{
    char *bytes;
    size_t size;
    *pictures = NULL;
    TRY(file_read(path, 1 << 30, &bytes, &size));
    *count = (int64_t)(size / CIFAR_RECORD);
    int rc = size % CIFAR_RECORD == 0
                 ? 0
                 : fail(ERR_INPUT, "%s has %zu bytes, no multiple of the %d of a picture in CIFAR-10's form", path, size,
                        CIFAR_RECORD);
    uint8_t *images = rc == 0 ? malloc((size_t)(*count * CIFAR_IMAGE) + 1) : NULL;
    if (rc == 0 && images == NULL) rc = fail(ERR_MEMORY, "not enough memory for %lld pictures", (long long)*count);
    if (rc == 0) rc = cifar_decode(path, 0, (const uint8_t *)bytes, size, *count, images, NULL);
    free(bytes);
    if (rc < 0) free(images);
    else *pictures = images;
    return rc;
}

const struct wgan_scoring wgan_colours = {
    .data = "cifar10", .drawn = "synthetic", .title = "FID", .drawn_title = "FD-random128",
    .pictures = "in colours and with 32 x 32 pixels", .height = POOL3_SIDE, .width = POOL3_SIDE, .channels = 3,
    .features = POOL3_FEATURES, .drawn_features = POOL3_DRAWN, .real = SPLIT_TRAIN, .count = 50000, .open = open_pool3,
    .close = close_pool3, .measure = measure_colours, .write = write_colours, .read = read_colours,
};
