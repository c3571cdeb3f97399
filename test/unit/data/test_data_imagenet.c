// SPDX-License-Identifier: Apache-2.0
// Where pictures come from: folders in two layouts, the tars of ILSVRC2012, one tar with folders, and the drawn pictures.
#include "test/unit/test.h"
#include "test/unit/fixture_folders.h"

#include <archive.h>
#include <archive_entry.h>

#include "data/fetch/fetch.h"
#include "data/image/decoder.h"
#include "data/image/image.h"
#include "data/kind.h"
#include "data/pack/origin.h"
#include "data/pack/packer.h"
#include "data/read/imagenet/truth.h"
#include "runtime/common/base/text.h"

static int open_imagenette(const char *name)
{
    struct dataset *ds;
    int rc = dataset_open("imagenette", in(name), &ds);
    if (rc == 0) dataset_close(ds);
    return rc;
}

TEST_WITH(wrong_folders_are_refused, set_up, leave)
{
    assert_fails(open_imagenette("."), ERR_MISSING, "neither imagenette.dawnpack nor folders train and val");
    make_pictures(".", 1, 1);
    assert_int_equal(open_imagenette("."), 0);
    put_plain("train/n01440764/Thumbs.db", "x", 1);  // a file that is no picture by its name is passed over
    put_plain("train/n01440764/._0.JPEG", "x", 1);
    assert_int_equal(open_imagenette("."), 0);
    make_folder("val/n0144076");
    assert_fails(open_imagenette("."), ERR_INPUT, "there is no class of Imagenette \"n0144076\"; did you mean \"n01440764\"");
    assert_int_equal(rmdir(in("val/n0144076")), 0);
    make_folder("train/n01440764/deep.JPEG");
    assert_fails(open_imagenette("."), ERR_INPUT, "deep.JPEG has the name of a picture and is not a file");
    assert_int_equal(rmdir(in("train/n01440764/deep.JPEG")), 0);
    assert_int_equal(unlink(in("val/n03888257/0.JPEG")), 0);  // an empty class
    assert_fails(open_imagenette("."), ERR_INPUT, "val has no picture of 1 of the 10 classes of Imagenette, the first of them "
                                                  "n03888257 parachute; \"dawn data pack --partial\" packs such a folder, and "
                                                  "--data takes the pack");
    assert_int_equal(rmdir(in("val/n03888257")), 0);  // a missing one
    assert_fails(open_imagenette("."), ERR_INPUT, "n03888257 parachute");
    put_plain("val/n03888257", "x", 1);  // a file of its name
    assert_fails(open_imagenette("."), ERR_INPUT, "cannot list");
    put_jpeg("val/a.JPEG", &(struct jpeg_shape){24, 20, .seed = 1});
    assert_fails(open_imagenette("."), ERR_INPUT, "val has pictures (a.JPEG) and folders of classes (n03888257)");
    assert_int_equal(rename(in("val"), in("test")), 0);
    assert_fails(open_imagenette("."), ERR_INPUT, "val is missing");
}

TEST_WITH(heads_are_read_from_folders, set_up, leave)
{
    struct dataset *ds;
    int32_t size[2];
    enum dataset_verdict verdict;
    make_pictures("imagenette2-160", 2, 1);
    assert_int_equal(dataset_open("imagenette", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 20);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "sizes", 3, 1, size), 0);
    assert_true(size[0] == 25 && size[1] == 21);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    dataset_close(ds);
    // A head behind 200 KB of comments, and a file that is no picture at all.
    struct jpeg_bytes made = jpeg_make(&(struct jpeg_shape){24, 20, .seed = 1});
    unsigned char *bytes = made.at, *long_one = calloc(1, made.count + 200000);
    size_t length = 2;
    memcpy(long_one, bytes, 2);
    for (int i = 0; i < 4; i++, length += 50000) memcpy(long_one + length, "\xff\xfe\xc3\x4e", 4);
    memcpy(long_one + length, bytes + 2, made.count - 2);
    put_plain("imagenette2-160/train/n01440764/0.JPEG", long_one, length + made.count - 2);
    put_plain("imagenette2-160/train/n01440764/1.JPEG", "no picture", 10);
    free(bytes), free(long_one);
    assert_int_equal(dataset_open("imagenette", folder, &ds), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "sizes", 0, 1, size), 0);
    assert_true(size[0] == 24 && size[1] == 20);
    assert_fails(dataset_read(ds, SPLIT_TRAIN, "sizes", 1, 1, size), ERR_INPUT, "1.JPEG is neither a PNG nor a JPEG");
    assert_fails(dataset_verify(ds, &verdict), ERR_INPUT, "1.JPEG is neither a PNG nor a JPEG");
    dataset_close(ds);
}

static int system_at(const char *command)
{
    char all[300];
    snprintf(all, sizeof all, "cd %s && %s", folder, command);
    return system(all);
}

// A PNG that is called JPEG comes out of a folder as the JPEG that the name promises.
TEST_WITH(a_png_in_a_folder_is_converted, set_up, leave)
{
    struct dataset *ds;
    int32_t size[2];
    int64_t length;
    int width, height;
    static uint8_t bytes[1 << 16], pixels[40 * 30 * 3];
    struct decoder *decoder = decoder_new();
    make_pictures(".", 1, 1);
    for (int c = 0; c < 20; c++) {  // a folder that has nothing but PNGs, each shorter than its JPEG
        char name[64];
        snprintf(name, sizeof name, "%s/%s/0.", listing_split[c / 10], synsets_imagenette()->wnid[c % 10]);
        struct text jpeg = {0}, png = {0};
        text_add(&jpeg, "%sJPEG", name), text_add(&png, c == 0 ? "%sJPEG" : "%sPNG", name);
        assert_int_equal(unlink(in(jpeg.at)), 0);
        memset(pixels, c, sizeof pixels);
        assert_int_equal(image_write_png(in(png.at), &(struct image){30, 40, pixels}), 0);
        text_free(&jpeg), text_free(&png);
    }
    assert_int_equal(dataset_open("imagenette", folder, &ds), 0);
    int64_t capacity = dataset_facts(ds)->field[0].shape.dim[0];
    assert_true(capacity < (int64_t)sizeof bytes);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "sizes", 0, 1, size), 0);
    assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "jpeg", 0, bytes, (size_t)capacity, &length), 0);
    assert_int_equal(decoder_size(decoder, "p", bytes, (size_t)length, &width, &height), 0);
    assert_true(width == 40 && height == 30 && size[0] == 40 && size[1] == 30);
    dataset_close(ds);
    decoder_free(decoder);
}

// ---- archives

static void add_bytes(struct archive *tar, const char *name, const void *bytes, size_t count)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (la_int64_t)count);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    assert_int_equal(archive_write_header(tar, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(tar, bytes, count), (la_ssize_t)count);
    archive_entry_free(entry);
}

static void add_file(struct archive *tar, const char *name, const char *file)
{
    char *bytes;
    size_t count;
    assert_int_equal(file_read(in(file), 1 << 24, &bytes, &count), 0);
    add_bytes(tar, name, bytes, count);
    free(bytes);
}

static struct archive *begin_tar(const char *file, bool zipped, bool pax)
{
    struct archive *tar = archive_write_new();
    if (zipped) archive_write_add_filter_gzip(tar);
    if (pax) archive_write_set_format_pax(tar);
    else archive_write_set_format_gnutar(tar);
    assert_int_equal(archive_write_open_filename(tar, in(file)), ARCHIVE_OK);
    return tar;
}

static void end_tar(struct archive *tar)
{
    assert_int_equal(archive_write_close(tar), ARCHIVE_OK);
    archive_write_free(tar);
}

static int pack_imagenette(const char *from, const char *to, const char *labels)
{
    struct packer_report report;
    struct packer_choice choice = {.flavour = imagenet_flavour("imagenette"), .from = in(from), .to = in(to), .quality = 90,
                                   .truth = labels != NULL ? in(labels) : NULL};
    return packer_run(&choice, &report);
}

static void must_pack(const char *from, const char *to, const char *labels)
{
    if (pack_imagenette(from, to, labels) < 0) fail_msg("%s", error_text());
}

// src as one archive below `top`, with the files that macOS and people leave next to pictures.
static void make_single(const char *file, const char *top, bool zipped, bool pax, int val)
{
    char name[400], path[200];
    struct archive *tar = begin_tar(file, zipped, pax);
    add_bytes(tar, "noisy.csv", "x", 1);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        for (int c = 0; c < 10; c++) {
            for (int i = 0; i < (s ? val : 2); i++) {
                snprintf(path, sizeof path, "src/%s/%s/%d.JPEG", listing_split[s], synsets_imagenette()->wnid[c], i);
                snprintf(name, sizeof name, "%s%s", top, path + 4);
                add_file(tar, name, path);
                snprintf(name, sizeof name, "%s%s/%s/._%d.JPEG", top, listing_split[s], synsets_imagenette()->wnid[c], i);
                add_bytes(tar, name, "mac", 3);
            }
        }
    }
    end_tar(tar);
}

TEST_WITH(archives_are_as_folders, set_up, leave)
{
    make_pictures("src", 2, 1);
    must_pack("src", "a.dawnpack", NULL);
    make_single("b.tgz", "imagenette2-160/", true, false, 1);
    must_pack("b.tgz", "b.dawnpack", NULL);
    make_single("c.tar", "./", false, true, 1);
    must_pack("c.tar", "c.dawnpack", NULL);
    char top[200];  // longer than a header holds: a member of its own holds the name
    memset(top, 'd', sizeof top);
    memcpy(top + 190, "/", 2);
    make_single("d.tar", top, false, false, 1);
    must_pack("d.tar", "d.dawnpack", NULL);
    assert_same_files("a.dawnpack", "b.dawnpack");
    assert_same_files("a.dawnpack", "c.dawnpack");
    assert_same_files("a.dawnpack", "d.dawnpack");
}

TEST_WITH(wrong_archives_are_refused, set_up, leave)
{
    make_pictures("src", 2, 1);
    make_single("a.tar", "", false, false, 1);
    struct stat st;
    assert_int_equal(stat(in("a.tar"), &st), 0);
    char *bytes;
    size_t count;
    assert_int_equal(file_read(in("a.tar"), 1 << 24, &bytes, &count), 0);
    put_plain("cut.tar", bytes, count / 2 / 512 * 512 - 200);
    assert_int_equal(pack_imagenette("cut.tar", "x", NULL), ERR_INPUT);
    bytes[600 + 512] ^= 1;  // somewhere in the second header or its data
    put_plain("none.tar", bytes + 100, count - 100);
    assert_fails(pack_imagenette("none.tar", "x", NULL), ERR_INPUT, "none.tar");
    free(bytes);
    make_single("z.tgz", "", true, false, 1);
    assert_int_equal(stat(in("z.tgz"), &st), 0);
    assert_int_equal(truncate(in("z.tgz"), st.st_size / 2), 0);
    assert_fails(pack_imagenette("z.tgz", "x", NULL), ERR_INPUT, "z.tgz");
    put_plain("empty.tar", "", 0);
    assert_fails(pack_imagenette("empty.tar", "x", NULL), ERR_INPUT, "empty.tar");
    make_single("noval.tar", "", false, false, 0);
    assert_fails(pack_imagenette("noval.tar", "x", NULL), ERR_INPUT, "val has no PNG or JPEG file");
    struct archive *tar = begin_tar("class.tar", false, false);
    add_file(tar, "train/n99999999/0.JPEG", "src/train/n01440764/0.JPEG");
    end_tar(tar);
    assert_fails(pack_imagenette("class.tar", "x", NULL), ERR_INPUT, "train/n99999999/0.JPEG is in no folder of a class");
    make_single("twice.tar", "", false, false, 1);
    assert_int_equal(system_at("tar -rf twice.tar -C src train/n01440764/0.JPEG"), 0);
    assert_fails(pack_imagenette("twice.tar", "x", NULL), ERR_INPUT, "has the picture train/n01440764/0.JPEG twice");
    assert_fails(pack_imagenette("nowhere", "x", NULL), ERR_MISSING, "there is no");
    make_folder("bare");
    assert_fails(pack_imagenette("bare", "x", NULL), ERR_MISSING, "/bare is empty; expected are ILSVRC2012_img_train.tar");
    put_plain("bare/ILSVRC2012_img_val.tar", "x", 1);
    put_plain("bare/b.txt", "x", 1);
    assert_fails(pack_imagenette("bare", "x", NULL), ERR_MISSING, "/bare has ILSVRC2012_img_val.tar and b.txt; expected are");
    put_plain("bare/c.txt", "x", 1), put_plain("bare/d.txt", "x", 1), put_plain("bare/imagenette2-160.tgz", "x", 1);
    assert_fails(pack_imagenette("bare", "x", NULL), ERR_MISSING,
                 "/bare has ILSVRC2012_img_val.tar, b.txt, c.txt and 2 more; expected are");
    put_plain("bare/ILSVRC2012_img_train.tar", "x", 1);
    assert_int_equal(unlink(in("bare/ILSVRC2012_img_val.tar")), 0);
    assert_fails(pack_imagenette("bare", "x", "bare/list.txt"), ERR_MISSING, "bare/list.txt");
    assert_false(file_exists(in("x.part")));
}

// Two tars as ILSVRC2012 has them, tars of classes in one and a flat val in the other, and the same pictures in folders.
static void make_ilsvrc(const char *list)
{
    char name[200], path[300];
    make_folder("tars");
    make_folder("flat/val");
    struct archive *train = begin_tar("tars/" ORIGIN_TRAIN_TAR, false, false);
    struct archive *val = begin_tar("tars/" ORIGIN_VAL_TAR, false, false);
    struct text labels = {0};
    for (int c = 0; c < 10; c++) {
        const char *wnid = synsets_imagenette()->wnid[c];
        struct archive *inner = begin_tar("inner.tar", false, false);
        for (int i = 0; i < 2; i++) {
            snprintf(path, sizeof path, "src/train/%s/%d.JPEG", wnid, i);
            add_file(inner, strrchr(path, '/') + 1, path);
        }
        end_tar(inner);
        snprintf(name, sizeof name, "%s.tar", wnid);
        add_file(train, name, "inner.tar");
        snprintf(path, sizeof path, "src/val/%s/0.JPEG", wnid);
        snprintf(name, sizeof name, "ILSVRC2012_val_%08d.JPEG", 10 - c);  // not in the order of the classes
        add_file(val, name, path);
        char *bytes;
        size_t count;
        assert_int_equal(file_read(in(path), 1 << 24, &bytes, &count), 0);
        snprintf(path, sizeof path, "flat/val/%s", name);
        put_plain(path, bytes, count);
        free(bytes);
        text_add(&labels, "%s\n", synsets_imagenette()->wnid[9 - c]);
    }
    end_tar(train);
    end_tar(val);
    put_plain(list, labels.at, labels.length);
    text_free(&labels);
    assert_int_equal(rename(in("src/train"), in("flat/train")), 0);
}

TEST_WITH(tars_are_as_flat_folders, set_up, leave)
{
    make_pictures("src", 2, 1);
    make_ilsvrc("list.txt");
    assert_fails(pack_imagenette("tars", "x", NULL), ERR_MISSING, "the labels of the validation pictures are missing");
    assert_fails(pack_imagenette("flat", "x", NULL), ERR_INPUT, "their ground truth list is missing");
    must_pack("tars", "a.dawnpack", "list.txt");
    must_pack("flat", "b.dawnpack", "list.txt");
    assert_same_files("a.dawnpack", "b.dawnpack");
    struct archive *kit = begin_tar("tars/" ORIGIN_DEVKIT, true, false);
    add_bytes(kit, "ILSVRC2012_devkit_t12/readme.txt", "x", 1);
    add_file(kit, "ILSVRC2012_devkit_t12/data/" TRUTH_FILE, "list.txt");
    end_tar(kit);
    must_pack("tars", "c.dawnpack", NULL);
    assert_same_files("a.dawnpack", "c.dawnpack");
    put_plain("short.txt", "n01440764\n", 10);
    assert_fails(pack_imagenette("tars", "x", "short.txt"), ERR_INPUT, "does not have the number of");
    assert_fails(pack_imagenette("flat", "x", "short.txt"), ERR_INPUT, "of 1 pictures, does not have its number");
    // An unpacked folder with a flat val trains, too, once the list is next to it.
    assert_int_equal(rename(in("list.txt"), in("flat/" TRUTH_FILE)), 0);
    struct dataset *ds;
    int32_t labels[10];
    assert_int_equal(dataset_open("imagenette", in("flat"), &ds), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TEST, "labels", 0, 10, labels), 0);
    for (int i = 0; i < 10; i++) assert_int_equal(labels[i], i);
    dataset_close(ds);
    // The digest of the labels stands for their order by number.
    struct listing l;
    char hex[DIGEST_HEX], want[DIGEST_HEX];
    struct listing_choice choice = {.title = "Imagenette", .synsets = synsets_imagenette()};
    assert_int_equal(listing_open(&choice, in("flat"), &l), 0);
    origin_labels_digest(&l, hex);
    listing_free(&l);
    struct text ids = {0};
    for (int i = 0; i < 10; i++) text_add(&ids, "%s%s", i ? "\n" : "", synsets_imagenette()->wnid[9 - i]);
    digest_bytes(ids.at, ids.length, want);
    text_free(&ids);
    assert_string_equal(hex, want);
}

// `dawn data fetch imagenette` with the right archive.
TEST_WITH(a_fetched_archive_is_packed, set_up, leave)
{
    struct stat st;
    char hex[DIGEST_HEX];
    struct dataset *ds;
    make_pictures("src", 2, 1);
    make_single("a.tgz", "imagenette2-160/", true, false, 1);
    assert_int_equal(stat(in("a.tgz"), &st), 0);
    assert_int_equal(digest_file(in("a.tgz"), hex), 0);
    struct source source = *source_find("imagenette");
    struct fetch_options fetch = {.from = in("a.tgz"), .to = in("data")};
    assert_fails(fetch_source(&source, &fetch), ERR_INPUT, "the archive of Imagenette has 99003388");
    source.part[0].bytes = st.st_size, source.part[0].sha256 = hex;
    if (fetch_source(&source, &fetch) < 0) fail_msg("%s", error_text());
    assert_int_equal(dataset_open("imagenette", in("data"), &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 20);
    dataset_close(ds);
    assert_fails(fetch_source(&source, &fetch), ERR_USAGE, "imagenette.dawnpack exists already");
    struct fetch_options nowhere = {.mirror = "http://127.0.0.1:1/", .to = in("data"), .attempts = 1};
    assert_fails(fetch_source(&source, &nowhere), ERR_USAGE, "imagenette.dawnpack exists already");  // and asks nobody
}

// ---- drawn ones

TEST_WITH(drawn_pictures_can_be_decoded, set_up, leave)
{
    struct dataset *ds, *again;
    struct decoder *decoder = decoder_new();
    static uint8_t bytes[1 << 15], twice[1 << 15], pixels[32 * 32 * 3];
    int32_t size[2], label, lengths[100], seen[10] = {0};
    assert_int_equal(dataset_open("pictures", NULL, &ds), 0);
    assert_int_equal(dataset_open("pictures", NULL, &again), 0);
    assert_true(dataset_facts(ds)->synthetic && dataset_facts(ds)->classes == 10);
    assert_int_equal(dataset_lengths(ds, SPLIT_TEST, "jpeg", lengths), 0);
    for (int64_t i = 99; i >= 0; i--) {
        int64_t length, other;
        int width, height;
        assert_int_equal(dataset_item(ds, SPLIT_TEST, "jpeg", i, bytes, sizeof bytes, &length), 0);
        assert_int_equal(dataset_item(again, SPLIT_TEST, "jpeg", i, twice, sizeof twice, &other), 0);
        assert_true(length == other && length == lengths[i] && length <= dataset_facts(ds)->field[0].shape.dim[0]);
        assert_memory_equal(bytes, twice, (size_t)length);
        assert_int_equal(dataset_read(ds, SPLIT_TEST, "sizes", i, 1, size), 0);
        assert_int_equal(dataset_read(ds, SPLIT_TEST, "labels", i, 1, &label), 0);
        assert_int_equal(decoder_size(decoder, "p", bytes, (size_t)length, &width, &height), 0);
        assert_true(width == size[0] && height == size[1] && width >= 40 && height >= 40);
        struct area all = {0, 0, width, height};
        assert_int_equal(decoder_draw(decoder, "p", bytes, (size_t)length, &(struct scale_into){&all, false, 32, 32, pixels}), 0);
        seen[label]++;
    }
    for (int c = 0; c < 10; c++) assert_int_equal(seen[c], 10);
    dataset_close(ds);
    dataset_close(again);
    // The shape of ImageNet without its files.
    assert_int_equal(dataset_open_noise("imagenet", &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 1281167);
    int64_t length;
    int width, height;
    assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "jpeg", 1234567, bytes, sizeof bytes, &length), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "sizes", 1234567, 1, size), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 1234567, 1, &label), 0);
    assert_int_equal(decoder_size(decoder, "p", bytes, (size_t)length, &width, &height), 0);
    assert_true(width == size[0] && height == size[1] && label == 567);
    dataset_close(ds);
    decoder_free(decoder);
}

static int layouts;

static int count_layout(struct dataset *ds, char hex[DIGEST_HEX])
{
    (void)ds;
    snprintf(hex, DIGEST_HEX, "layout %d", ++layouts);
    return 0;
}

// Each state of a training asks for it.
TEST_WITH(a_layout_is_computed_once, set_up, leave)
{
    const struct kind kind = {.layout = count_layout}, none = {0};
    struct dataset set = {.kind = &kind}, drawn = {.kind = &none};
    char hex[2][DIGEST_HEX];
    for (int i = 0; i < 2; i++) assert_int_equal(dataset_layout(&set, hex[i]), 0);
    assert_int_equal(layouts, 1);
    assert_string_equal(hex[0], "layout 1");
    assert_string_equal(hex[0], hex[1]);
    assert_int_equal(dataset_layout(&drawn, hex[0]), 0);
    assert_string_equal(hex[0], "");
}
