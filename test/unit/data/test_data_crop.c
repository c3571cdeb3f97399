// SPDX-License-Identifier: Apache-2.0
// Crops: their distribution against an independent loop with another generator, and the middle.

#include "data/image/crop.h"
#include "test/unit/test.h"

enum { DRAWS = 40000 };

struct moments {
    double n, area[2], ratio[2], left, top, whole;  // sums and sums of squares; of fallbacks: how many
};

static void add(struct moments *m, double left, double top, double w, double h, int width, int height)
{
    double area = w * h / ((double)width * height), ratio = log(w / h);
    m->n++;
    m->area[0] += area, m->area[1] += area * area;
    m->ratio[0] += ratio, m->ratio[1] += ratio * ratio;
    m->left += width > w ? left / (width - w) : 0.5;
    m->top += height > h ? top / (height - h) : 0.5;
}

static double uniform(double low, double high)
{
    return low + (high - low) * (random() / 2147483648.0);
}

// torchvision.transforms.RandomResizedCrop.get_params, word by word.
static void torchvision_crop(struct moments *m, int width, int height, double scale_least, double scale_most)
{
    double all = (double)width * height;
    for (int i = 0; i < 10; i++) {
        double target = all * uniform(scale_least, scale_most), ratio = exp(uniform(log(3.0 / 4), log(4.0 / 3)));
        double w = round(sqrt(target * ratio)), h = round(sqrt(target / ratio));
        if (0 < w && w <= width && 0 < h && h <= height) {
            double top = floor(uniform(0, height - h + 1)), left = floor(uniform(0, width - w + 1));
            add(m, left, top, w, h, width, height);
            return;
        }
    }
    double in = (double)width / height, w = width, h = height;
    if (in < 3.0 / 4) h = round(w / (3.0 / 4));
    else if (in > 4.0 / 3) w = round(h * (4.0 / 3));
    m->whole++;
    add(m, floor((width - w) / 2), floor((height - h) / 2), w, h, width, height);
}

static void expect_near(const char *what, double is, double want, double within)
{
    if (fabs(is - want) > within) fail_msg("%s is %g, not %g", what, is, want);
}

TEST(random_crops_are_distributed_as_torchvisions)
{
    static const struct {
        int width, height;
        double least, most;
    } kinds[] = {{500, 375, 0.08, 1}, {224, 224, 0.25, 1}, {400, 100, 0.35, 1}, {90, 600, 0.5, 0.9}};
    srandom(1);
    for (int k = 0; k < 4; k++) {
        struct moments want = {0}, is = {0};
        int width = kinds[k].width, height = kinds[k].height;
        for (int i = 0; i < DRAWS; i++) {
            struct area a = crop_random(11, (uint32_t)(i / 1000), i % 1000, width, height, kinds[k].least, kinds[k].most);
            assert_true(a.left >= 0 && a.top >= 0 && a.left + a.width <= width && a.top + a.height <= height);
            assert_true(a.width >= 1 && a.height >= 1 && a.left == floor(a.left) && a.width == floor(a.width));
            add(&is, a.left, a.top, a.width, a.height, width, height);
            torchvision_crop(&want, width, height, kinds[k].least, kinds[k].most);
        }
        double n = DRAWS, mean = want.area[0] / n;
        expect_near("mean area", is.area[0] / n, mean, 0.01);
        expect_near("variance of area", is.area[1] / n - mean * mean, want.area[1] / n - mean * mean, 0.01);
        expect_near("mean ratio", is.ratio[0] / n, want.ratio[0] / n, 0.01);
        expect_near("square of ratio", is.ratio[1] / n, want.ratio[1] / n, 0.01);
        expect_near("left", is.left / n, want.left / n, 0.02);
        expect_near("top", is.top / n, want.top / n, 0.02);
    }
}

TEST(what_does_not_fit_becomes_the_middle)
{
    struct area a = crop_random(1, 0, 0, 1000, 10, 0.9, 1);
    assert_true(a.width == 13 && a.height == 10 && a.left == 493 && a.top == 0);
    a = crop_random(1, 0, 0, 12, 900, 0.9, 1);
    assert_true(a.width == 12 && a.height == 16 && a.left == 0 && a.top == 442);
    a = crop_random(1, 0, 0, 1, 1, 0.08, 0.1);  // rounds to nothing ten times
    assert_true(a.width == 1 && a.height == 1 && a.left == 0 && a.top == 0);
}

TEST(draws_hang_on_seed_epoch_and_sample)
{
    struct area a = crop_random(1, 2, 3, 500, 400, 0.1, 1), b = crop_random(1, 2, 3, 500, 400, 0.1, 1);
    assert_true(a.left == b.left && a.width == b.width && a.top == b.top && a.height == b.height);
    const struct area others[] = {crop_random(2, 2, 3, 500, 400, 0.1, 1), crop_random(1, 3, 3, 500, 400, 0.1, 1),
                                  crop_random(1, 2, 4, 500, 400, 0.1, 1)};
    for (int i = 0; i < 3; i++) assert_true(a.width != others[i].width || a.left != others[i].left);
    int mirrored = 0;
    for (int i = 0; i < DRAWS; i++) mirrored += crop_mirror(5, (uint32_t)(i / 400), i % 400);
    expect_near("share of mirrored", mirrored / (double)DRAWS, 0.5, 0.02);
}

static void expect_area(struct area a, double left, double top, double width, double height)
{
    expect_near("left", a.left, left, 1e-9);
    expect_near("top", a.top, top, 1e-9);
    expect_near("width", a.width, width, 1e-9);
    expect_near("height", a.height, height, 1e-9);
}

TEST(centres_are_in_the_middle)
{
    expect_area(crop_centre(500, 400, 224, 224, 1), 50, 0, 400, 400);
    // Resized to 256 x 436 (436.9), from which 16 and 106 pixels are cut off.
    expect_area(crop_centre(300, 512, 224, 224, 256.0 / 224), 18.75, 106 * 512 / 436.0, 262.5, 224 * 512 / 436.0);
    expect_area(crop_centre(512, 300, 224, 224, 256.0 / 224), 106 * 512 / 436.0, 18.75, 224 * 512 / 436.0, 262.5);
    expect_area(crop_centre(224, 224, 128, 128, 1.14), 9 * 224 / 146.0, 9 * 224 / 146.0, 128 * 224 / 146.0, 128 * 224 / 146.0);
    expect_area(crop_centre(640, 480, 288, 384, 1), 0, 0, 640, 480);
    expect_area(crop_centre(480, 640, 288, 384, 1), 0, 140, 480, 360);
    expect_area(crop_centre(640, 480, 288, 384, 1.25), 64, 48, 512, 384);
}
