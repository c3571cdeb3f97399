// SPDX-License-Identifier: Apache-2.0
// Digits: the LeNet of lenet.h, and files in MNIST's own form.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/read/mnist/idx.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "tasks/wgan/lenet.h"
#include "tasks/wgan/wgan_scoring.h"

static int open_lenet(const char *folder, struct device *device, void **net)
{
    struct text path = {0};
    struct lenet *lenet = NULL;
    int rc = 0;
    (void)device;
    text_add(&path, "%s/%s", folder ? folder : "", LENET_FILE);
    if (folder == NULL) lenet = lenet_draw();
    else if (file_exists(path.at)) rc = lenet_open(path.at, &lenet);
    else
        rc = fail(ERR_MISSING, "%s is missing: the network in whose features pictures are scored (249 KB). \"dawn data fetch "
                  "mnist --to DIR\" gets it with the images", path.at);
    text_free(&path);
    *net = lenet;
    return rc;
}

static void close_lenet(void *net)
{
    lenet_free(net);
}

static int measure_digits(void *net, const uint8_t *pictures, int64_t count, float *features)
{
    lenet_features(net, pictures, count, features);
    return 0;
}

static int count_named(void *net, struct dataset *data, const uint8_t *pictures, int64_t count, char into[80])
{
    float *features = zalloc((size_t)(count * LENET_FEATURES) * sizeof *features);
    uint8_t *label = zalloc((size_t)count + 1);
    int64_t right = 0;
    int rc = dataset_read(data, SPLIT_TEST, "labels", 0, count, label);
    lenet_features(net, pictures, count, features);
    for (int64_t i = 0; i < count && rc == 0; i++) right += lenet_label(net, features + i * LENET_FEATURES) == label[i];
    snprintf(into, 80, "noise (the network names %.2f%% of the test images)", 100 * (double)right / (double)count);
    free(label);
    free(features);
    return rc;
}

static int write_digits(const char *path, const uint8_t *pictures, int64_t count)
{
    const uint32_t head[4] = {0x803, (uint32_t)count, LENET_SIDE, LENET_SIDE};
    struct text file = {0};
    for (int i = 0; i < 4; i++) {
        const uint8_t bytes[4] = {(uint8_t)(head[i] >> 24), (uint8_t)(head[i] >> 16), (uint8_t)(head[i] >> 8), (uint8_t)head[i]};
        text_bytes(&file, bytes, sizeof bytes);
    }
    text_bytes(&file, pictures, (size_t)(count * LENET_PICTURE));
    int rc = file_write(path, file.at, file.length);
    text_free(&file);
    return rc;
}

static int read_digits(const char *path, uint8_t **pictures, int64_t *count)
{
    char *bytes;
    size_t size;
    struct idx idx;
    *pictures = NULL;
    TRY(file_read(path, 1 << 30, &bytes, &size));
    int rc = idx_pictures(path, (const uint8_t *)bytes, size, &idx);
    if (rc == 0) memmove(bytes, idx.at, (size_t)(idx.count * IDX_PICTURE)), *count = idx.count;
    if (rc < 0) free(bytes);
    else *pictures = (uint8_t *)bytes;
    return rc;
}

const struct wgan_scoring wgan_digits = {
    .data = "mnist", .drawn = "mnist-drawn", .title = "FD-LeNet84", .drawn_title = "FD-random84",
    .pictures = "in gray and with 28 x 28 pixels", .height = LENET_SIDE, .width = LENET_SIDE, .channels = 1,
    .features = LENET_FEATURES, .drawn_features = LENET_FEATURES, .real = SPLIT_TEST, .open = open_lenet, .close = close_lenet,
    .measure = measure_digits, .remark = count_named, .write = write_digits, .read = read_digits,
};
