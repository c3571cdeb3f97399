// SPDX-License-Identifier: Apache-2.0
// The tasks imagenet and imagenette on drawn pictures: sizes and shapes of the batches, the pixels of a sample, the same
// bytes from every decoder, and the limits of recipes.
#include "data/image/crop.h"
#include "data/image/decoder.h"
#include "tasks/imagenet/imagenet_keys.h"
#include "tasks/imagenet/samples.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"
#include "test/unit/fixture_trainer.h"

#include "data/pack/packer.h"
#include "tasks/common/train/state.h"
#include "test/unit/fixture_folders.h"

static struct recipe recipe(const char *name, const char *const *settings)
{
    struct recipe r;
    OK(recipe_embedded(name, &r));
    int count = 0;
    while (settings && settings[count]) count++;
    OK(recipe_set_all(&r, settings, count));
    return r;
}

TEST(sizes_follow_the_schedule)
{
    struct recipe r = recipe("imagenet", NULL);
    static const int64_t until[][2] = {{12, 96}, {18, 128}, {20, 224}, {21, 288}};
    for (int64_t epoch = 0, i = 0; epoch < 21; epoch++) {
        if (epoch == until[i][0]) i++;
        assert_int_equal(samples_side(&r, epoch), until[i][1]);
    }
    assert_int_equal(samples_side(&r, 40), 288);
    OK(recipe_set(&r, "resolution_parts="));  // equal parts
    OK(recipe_set(&r, "epochs=8"));
    assert_int_equal(samples_side(&r, 1), 96);
    assert_int_equal(samples_side(&r, 2), 128);
    assert_int_equal(samples_side(&r, 7), 288);
    OK(recipe_set(&r, "resolution="));  // as large as in the evaluation
    OK(recipe_set(&r, "least_area=.25"));
    OK(recipe_check(&r));
    assert_int_equal(samples_side(&r, 0), 288);
}

TEST(wrong_recipes_are_refused)
{
    static const struct {
        const char *settings[4], *why;
    } rows[] = {
        {{"resolution=96,128"}, "\"data.resolution_parts\" has 4 numbers for the 2 of \"data.resolution\""},
        {{"least_area=.1,.2"}, "\"data.least_area\" needs one number, or one for each of the 4"},
        {{"resolution=96.5,128,224,288"}, "\"data.resolution\" must be whole numbers"},
        {{"widths=1.5,2,3,4"}, "\"model.widths\" must be whole numbers"},
        {{"resolution=8,16,24,32,40,48,56,64,72", "resolution_parts=", "least_area=1"},
         "\"data.resolution\" may have 8 different numbers"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct recipe r = recipe("imagenet", rows[i].settings);
        REFUSED(recipe_check(&r), rows[i].why);
    }
    struct recipe r = recipe("imagenette", NULL);
    assert_true(recipe_trains(&r, "imagenet") && recipe_trains(&r, "imagenette") && !recipe_trains(&r, "cifar10"));
}

// The usual evaluation at 224 resizes the short side to 256: 512 pixels are halved, and 16 of 256 are cut off on each side.
TEST(the_middle_of_256_is_224)
{
    struct recipe r = recipe("imagenet-224", NULL);
    assert_int_equal(imagenet_keys(&r)->side, 224);
    struct area a = crop_centre(512, 512, 224, 224, imagenet_keys(&r)->resize);
    assert_true(a.left == 32 && a.top == 32 && a.width == 448 && a.height == 448);
}

TEST(recipes_are_published_as_they_stand)
{
    static const char *const names[] = {"imagenet", "imagenet-224", "inception-v3", "imagenette", "imagenette-inception",
                                        "pictures"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct recipe r = recipe(names[i], NULL);
        assert_true(recipe_is_published(names[i], &r));
        OK(recipe_set(&r, "evaluation.resize=1.2"));
        assert_false(recipe_is_published(names[i], &r));
    }
}

// ---- a training on drawn pictures

static void open_pictures(struct bench *b, const char *task, int threads, const char *const *settings)
{
    *b = (struct bench){.choice = {.fuse = FUSE_ALL}};
    OK(task_find(task, &b->choice.task));
    OK(recipe_embedded("pictures", &b->choice.recipe));
    OK(recipe_set(&b->choice.recipe, "precision=f32"));
    OK(recipe_set(&b->choice.recipe, "widths=4,4,8,8"));
    for (int i = 0; settings[i]; i++) OK(recipe_set(&b->choice.recipe, settings[i]));
    OK(device_open("cpu", threads, &b->device));
    OK(dataset_open("pictures", NULL, &b->data));
    b->choice.data = b->data, b->choice.device = b->device;
    bench_ready(b);
}

TEST(every_size_has_its_programs)
{
    static const char *const settings[] = {"resolution=32,40", "epochs=2", "warmup_epochs=.5", "batch=100",
                                           "evaluation.shapes=rectangles", "evaluation.side=32", NULL};
    struct bench b;
    int64_t score[METRICS_MAX] = {0};
    open_pictures(&b, "imagenet", 1, settings);
    struct trainer *t = b.trainer;
    assert_int_equal(t->steps, 8);
    assert_int_equal(t->variants, 2);
    assert_int_equal(trainer_variant(t, 3, 0, 0, 0)->is.height, 32);
    assert_int_equal(trainer_variant(t, 4, 1, 0, 0)->is.width, 40);
    assert_int_equal(t->evaluation.programs, 3);  // one batch of each shape
    const struct evaluation_program *p = t->evaluation.program;
    assert_int_equal(p[0].is.height * 100 + p[0].is.width, 3232);
    assert_int_equal(p[1].is.height * 100 + p[1].is.width, 3264);
    assert_int_equal(p[2].is.height * 100 + p[2].is.width, 6432);
    int64_t seen = 0;
    for (int i = 0; i < 3; i++) seen += p[i].is.batch;
    assert_int_equal(seen, 100);
    OK(trainer_begin(t, 3));
    while (t->at < t->steps) OK(trainer_step(t));
    OK(evaluation_run(&t->evaluation, NULL, score));
    assert_true(score[0] >= 40 && score[0] <= 100);  // top5 of ten classes: a guess hits half
    assert_true(score[1] <= score[0]);
    bench_close(&b);
}

// The weights after so many steps; a slot of a streamed batch may hold bytes that were never written.
static float *train_weights(struct bench *b, uint64_t seed, int steps, size_t *count)
{
    const struct slot_store *s = b->trainer->session->store;
    float *all = NULL;
    *count = 0;
    OK(trainer_begin(b->trainer, seed));
    for (int i = 0; i < steps; i++) OK(trainer_step(b->trainer));
    for (int i = 0; i < s->count; i++) {
        if (s->slot[i]->memory == MEMORY_DATA) continue;
        size_t n = (size_t)shape_count(&s->slot[i]->shape);
        all = grow(all, (*count + n) * sizeof *all);
        OK(session_get(b->trainer->session, s->slot[i]->name, all + *count, n * sizeof *all));
        *count += n;
    }
    return all;
}

// However many threads decode and compute, cached or not: a seed gives its bytes.
TEST(a_seed_gives_its_bytes)
{
    static const char *const plain[] = {"epochs=2", "batch=50", NULL};
    static const char *const cached[] = {"epochs=2", "batch=200", "data.cache=48", "evaluation.views=2", NULL};
    for (int i = 0; i < 2; i++) {
        struct bench one, two;
        open_pictures(&one, "imagenette", 1, i ? cached : plain);
        open_pictures(&two, "imagenette", 1, i ? cached : plain);
        int64_t kept;
        OK(supply_keeps(&one.trainer->supply[SPLIT_TRAIN], &kept));
        assert_true(i ? kept > 400 * 40 * 40 * 3 : kept == 0);
        size_t n, m;
        int steps = 3;  // of large batches: into the second epoch
        float *first = train_weights(&one, 7, steps, &n), *again = train_weights(&one, 7, steps, &m);
        float *repeat = train_weights(&two, 7, steps, &m), *other = train_weights(&two, 8, 1, &m);
        assert_memory_equal(first, again, n * sizeof *first);
        assert_memory_equal(first, repeat, n * sizeof *first);
        assert_memory_not_equal(first, other, n * sizeof *first);
        free(first), free(again), free(repeat), free(other);
        bench_close(&one);
        bench_close(&two);
    }
}

// The sample that a batch holds is the crop that crop.h draws, mirrored as the recipe says.
TEST(a_sample_is_the_crop_that_was_drawn)
{
    static const char *const settings[] = {"flip=alternate", "resolution=32", "least_area=.35", NULL};
    struct bench b;
    open_pictures(&b, "imagenette", 1, settings);
    const struct feed_choice *f = &b.trainer->supply[SPLIT_TRAIN].choice;
    struct decoder *decoder = decoder_new();
    void *worker = f->worker_new(f->context);
    for (uint32_t epoch = 0; epoch < 2; epoch++) {
        uint8_t got[32 * 32 * 3], want[32 * 32 * 3], jpeg[1 << 15];
        int32_t label, right, size[2];
        void *const field[] = {got, &label};
        int64_t n, index = 17;
        OK(f->fill(f->context, &(struct feed_item){.index = index, .seed = 5, .epoch = epoch, .worker = worker}, field));
        OK(dataset_item(b.data, SPLIT_TRAIN, "jpeg", index, jpeg, sizeof jpeg, &n));
        OK(dataset_read(b.data, SPLIT_TRAIN, "sizes", index, 1, size));
        OK(dataset_read(b.data, SPLIT_TRAIN, "labels", index, 1, &right));
        struct area area = crop_random(5, epoch, index, size[0], size[1], 0.35, 1);
        bool mirror = crop_mirror(5, 0, index) != (epoch & 1);
        OK(decoder_draw(decoder, "17", jpeg, (size_t)n, &(struct scale_into){&area, mirror, 32, 32, want}));
        assert_memory_equal(got, want, sizeof want);
        assert_int_equal(label, right);
    }
    f->worker_free(worker);
    decoder_free(decoder);
    bench_close(&b);
}

// ---- packs

static void open_packed(struct bench *b, const char *pack)
{
    static const char *const settings[] = {"widths=4,4,8,8", "epochs=2", "warmup_epochs=.5", "batch=10", "resolution=32",
                                           "evaluation.side=32", "precision=f32"};
    *b = (struct bench){.choice = {.fuse = FUSE_ALL}};
    OK(task_find("imagenette", &b->choice.task));
    OK(recipe_embedded("pictures", &b->choice.recipe));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) OK(recipe_set(&b->choice.recipe, settings[i]));
    OK(device_open("cpu", 1, &b->device));
    OK(dataset_open("imagenette", in(pack), &b->data));
    b->choice.data = b->data, b->choice.device = b->device;
    bench_ready(b);
}

static void make_pack(const char *from, const char *to, uint64_t seed)
{
    struct packer_choice choice = {.flavour = imagenet_flavour("imagenette"), .from = in(from), .to = in(to), .quality = 90,
                                   .seed = seed};
    struct packer_report report;
    OK(packer_run(&choice, &report));
}

// A pack with the same pictures in another order has the same content digests, but gives other batches.
TEST_WITH(another_order_is_no_resumption, set_up, leave)
{
    const struct state_run run = {.digest = {"aa", "bb"}, .note = ""};
    struct bench b;
    struct state *s;
    char hex[3][DIGEST_HEX];
    make_pictures("src", 2, 1);
    make_pack("src", "a.dawnpack", 0);
    make_pack("src", "b.dawnpack", 1);
    open_packed(&b, "a.dawnpack");
    OK(dataset_content_digest(b.data, SPLIT_TRAIN, hex[0]));
    OK(trainer_begin(b.trainer, 3));
    OK(trainer_step(b.trainer));
    OK(state_save(in("run.state"), b.trainer, &run));
    bench_close(&b);
    static const char *const copies[] = {"b.dawnpack", "src", "a.dawnpack"};
    for (int i = 0; i < 3; i++) {
        open_packed(&b, copies[i]);
        OK(dataset_content_digest(b.data, SPLIT_TRAIN, hex[1]));
        OK(dataset_layout(b.data, hex[2]));
        assert_string_equal(hex[0], hex[1]);
        assert_int_equal(strlen(hex[2]), DIGEST_HEX - 1);
        OK(state_open(in("run.state"), &s));
        if (i < 2) REFUSED(state_load(s, b.trainer, &run, STATE_SAME), "the same samples in another order or size");
        else OK(state_load(s, b.trainer, &run, STATE_SAME));
        state_close(s);
        bench_close(&b);
    }
}
