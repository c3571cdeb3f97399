// SPDX-License-Identifier: Apache-2.0
// Packs: what goes in comes out, in the same bytes after any interruption, and every fault is a sentence.
#include "test/unit/test.h"
#include "test/unit/fixture_folders.h"

#include <fcntl.h>
#include <png.h>
#include <sys/wait.h>

#include "data/image/decoder.h"
#include "data/pack/origin.h"
#include "data/pack/packer.h"
#include "runtime/common/base/threads.h"

static char notes[4096];

static void note(void *context, const char *sentence)
{
    (void)context;
    strncat(notes, sentence, sizeof notes - strlen(notes) - 2);
    strcat(notes, "\n");
}

static int pack(const char *from, const char *to, int short_side, struct packer_report *report)
{
    struct packer_choice choice = {.flavour = imagenet_flavour("imagenette"), .from = in(from), .to = in(to), .quality = 90,
                                   .short_side = short_side, .damaged = 5, .note = note};
    notes[0] = '\0';
    return packer_run(&choice, report);
}

static void must_pack(const char *from, const char *to, struct packer_report *report)
{
    if (pack(from, to, 0, report) < 0) fail_msg("%s", error_text());
}

static struct dataset *must_open(const char *name)
{
    struct dataset *ds;
    if (dataset_open("imagenette", in(name), &ds) < 0) fail_msg("%s", error_text());
    return ds;
}

// A picture of every class comes out as it went in, with its size and its label; the order is drawn.
TEST_WITH(what_goes_in_comes_out, set_up, leave)
{
    struct packer_report report;
    enum dataset_verdict verdict;
    make_pictures("src", 3, 2);
    must_pack("src", "a.dawnpack", &report);
    assert_true(report.count[SPLIT_TRAIN] == 30 && report.count[SPLIT_TEST] == 20 && report.encoded == 0 && !report.official);
    assert_non_null(strstr(report.says, "folders"));
    struct dataset *packed = must_open("a.dawnpack"), *folder_set = must_open("src");
    int32_t size[60], label[30], lengths[30];
    int64_t length;
    int moved = 0;
    assert_int_equal(dataset_read(packed, SPLIT_TRAIN, "sizes", 0, 30, size), 0);
    assert_int_equal(dataset_read(packed, SPLIT_TRAIN, "labels", 0, 30, label), 0);
    assert_int_equal(dataset_lengths(packed, SPLIT_TRAIN, "jpeg", lengths), 0);
    for (int i = 0; i < 30; i++) {
        static uint8_t bytes[1 << 16], original[1 << 16];
        int64_t k = label[i] * 3 + size[2 * i + 1] - 20, n;  // make_pictures: the height identifies the picture of the class
        moved += k != i;
        assert_int_equal(size[2 * i], 24 + label[i]);
        assert_int_equal(dataset_item(packed, SPLIT_TRAIN, "jpeg", i, bytes, sizeof bytes, &length), 0);
        assert_int_equal(dataset_item(folder_set, SPLIT_TRAIN, "jpeg", k, original, sizeof original, &n), 0);
        assert_true(length == lengths[i] && length == n);
        assert_memory_equal(bytes, original, (size_t)n);
        assert_fails(dataset_item(packed, SPLIT_TRAIN, "jpeg", i, bytes, (size_t)n - 1, &n), ERR_USAGE, "the buffer holds");
    }
    assert_true(moved > 15);
    const struct dataset_facts *f = dataset_facts(packed);
    assert_true(f->classes == 10 && f->height == 0);
    assert_int_equal(f->field[0].shape.dim[0], dataset_facts(folder_set)->field[0].shape.dim[0]);
    assert_string_equal(f->class_names[0], "n01440764 tench");
    for (int s = 0; s < SPLIT_COUNT; s++) {  // the same pictures in every form
        char hex[2][DIGEST_HEX];
        assert_int_equal(dataset_content_digest(packed, (enum split)s, hex[0]), 0);
        assert_int_equal(dataset_content_digest(folder_set, (enum split)s, hex[1]), 0);
        assert_string_equal(hex[0], hex[1]);
    }
    assert_int_equal(dataset_verify(packed, &verdict), 0);
    assert_true(verdict == DATASET_CUSTOM && !f->official && !f->remembered);
    assert_int_equal(dataset_check(packed, &verdict), 0);
    assert_true(f->remembered);
    dataset_close(packed);
    dataset_close(folder_set);
    assert_fails(pack("src", "a.dawnpack", 0, &report), ERR_USAGE, "exists already");
}

static void put_png(const char *name, int width, int height)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_GRAY, .width = (png_uint_32)width,
                     .height = (png_uint_32)height};
    unsigned char *pixels = calloc((size_t)width, (size_t)height);
    memset(pixels, 200, (size_t)width * (size_t)height);
    assert_int_equal(png_image_write_to_file(&png, in(name), 0, pixels, 0, NULL), 1);
    free(pixels);
}

// Gray, CMYK, YCCK, a PNG that is called JPEG, and pictures that are too large: all come out as JPEGs in colour.
TEST_WITH(others_are_converted, set_up, leave)
{
    struct packer_report report;
    make_pictures("src", 1, 1);
    put_jpeg("src/train/n01440764/0.JPEG", &(struct jpeg_shape){60, 44, 1, .seed = 1});
    put_jpeg("src/train/n02102040/0.JPEG", &(struct jpeg_shape){60, 44, 4, .seed = 1});
    put_jpeg("src/train/n02979186/0.JPEG", &(struct jpeg_shape){60, 44, 4, .ink_as_ycck = true});
    put_png("src/train/n03000684/0.JPEG", 60, 44);
    put_jpeg("src/train/n03028079/0.JPEG", &(struct jpeg_shape){44, 61, 3, .seed = 1});
    assert_int_equal(pack("src", "a.dawnpack", 22, &report), 0);
    assert_true(report.converted == 4 && report.damaged == 0 && report.absent == 0);
    struct dataset *ds = must_open("a.dawnpack");
    struct decoder *decoder = decoder_new();
    int32_t label[10], size[20];
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, 10, label), 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "sizes", 0, 10, size), 0);
    for (int i = 0; i < 10; i++) {
        static uint8_t bytes[1 << 16], pixels[22 * 30 * 3];
        struct area area = {0, 0, size[2 * i], size[2 * i + 1]};
        int64_t length;
        int width, height;
        if (label[i] < 4) assert_true(size[2 * i] == 30 && size[2 * i + 1] == 22);
        if (label[i] == 4) assert_true(size[2 * i] == 22 && size[2 * i + 1] == 31);
        if (label[i] > 4) assert_int_equal(size[2 * i + 1], 20);  // was no larger: kept
        assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "jpeg", i, bytes, sizeof bytes, &length), 0);
        assert_int_equal(decoder_size(decoder, "p", bytes, (size_t)length, &width, &height), 0);
        assert_true(width == size[2 * i] && height == size[2 * i + 1]);
        assert_int_equal(decoder_draw(decoder, "p", bytes, (size_t)length,
                                      &(struct scale_into){&area, false, 22, 30, pixels}), 0);
        assert_null(decoder_damage(decoder));
        if (label[i] == 3) assert_true(abs(pixels[0] - 200) < 4 && abs(pixels[22 * 30 * 3 - 1] - 200) < 4);
    }
    decoder_free(decoder);
    dataset_close(ds);
}

// A truncated picture is kept as far as it decodes, an undecodable one by name. Both are counted, and there is a limit.
TEST_WITH(damage_is_counted, set_up, leave)
{
    struct packer_report report;
    unsigned long count;
    make_pictures("src", 2, 1);
    struct jpeg_bytes made = jpeg_make(&(struct jpeg_shape){64, 64, 3, .seed = 1});
    unsigned char *bytes = made.at;
    count = made.count;
    put("src/train/n01440764/0.JPEG", bytes, count * 2 / 3);
    put("src/train/n02102040/0.JPEG", bytes, 100);
    put("src/train/n02979186/0.JPEG", "", 0);
    put("src/train/n03000684/note.txt", "x", 1);
    free(bytes);
    must_pack("src", "a.dawnpack", &report);
    assert_true(report.damaged == 1 && report.absent == 2 && report.foreign == 1 && report.encoded == 1);
    assert_true(report.count[SPLIT_TRAIN] == 18 && report.count[SPLIT_TEST] == 10);
    assert_non_null(strstr(notes, "train/n01440764/0.JPEG: "));
    assert_non_null(strstr(notes, "train/n02102040/0.JPEG: a JPEG that ends before its frame header (left out)"));
    assert_non_null(strstr(notes, "train/n02979186/0.JPEG is empty (left out)"));
    struct dataset *ds = must_open("a.dawnpack");
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 18);
    assert_int_equal(dataset_facts(ds)->left_out, 2);
    dataset_close(ds);
    struct packer_choice choice = {.flavour = imagenet_flavour("imagenette"), .from = in("src"), .to = in("b.dawnpack"),
                                   .quality = 90, .damaged = 2};
    assert_fails(packer_run(&choice, &report), ERR_INPUT, "3 pictures are damaged, and at most 2 are allowed (--damaged)");
    assert_false(file_exists(in("b.dawnpack")));
}

// ---- interruptions

// Writes the header of a pack again, as an earlier version did.
static void make_old(const char *name)
{
    char *bytes;
    size_t count;
    struct pack_header h;
    assert_int_equal(file_read(in(name), 1 << 24, &bytes, &count), 0);
    assert_int_equal(pack_parse_header("p", (uint8_t *)bytes, (int64_t)count, &h), 0);
    h.version = 1;
    pack_print_header(&h, (uint8_t *)bytes);
    put_plain(name, bytes, count);
    free(bytes);
}

// The pack as it would stand there had the packer ended after `done` pictures and `more` bytes.
static void interrupt(const char *whole, const char *to, uint64_t done, int64_t more)
{
    char *bytes;
    size_t count;
    struct pack_header h;
    struct pack_record r;
    assert_int_equal(file_read(in(whole), 1 << 24, &bytes, &count), 0);
    assert_int_equal(pack_parse_header("p", (uint8_t *)bytes, (int64_t)count, &h), 0);
    uint64_t offset = pack_begin(&h);
    for (uint64_t i = 0; i < done; i++)
        assert_int_equal(pack_parse_record("p", &h, i, (uint8_t *)bytes + PACK_HEADER + i * PACK_RECORD, &offset, &r), 0);
    h.flags |= PACK_UNDONE;
    h.done = done;
    h.end = offset;
    h.index_crc = 0;
    memset(h.content, 0, sizeof h.content);
    pack_print_header(&h, (uint8_t *)bytes);
    put_plain(to, bytes, (size_t)offset + (size_t)more);
    free(bytes);
}

// A pack of version 1 is read as ever, and says which seed undoes its order. Its unfinished part is not continued.
TEST_WITH(old_packs_are_read, set_up, leave)
{
    struct packer_report report;
    enum dataset_verdict verdict;
    make_pictures("src", 2, 1);
    must_pack("src", "a.dawnpack", &report);
    struct dataset *ds = must_open("a.dawnpack");
    assert_int_equal(dataset_facts(ds)->unfit_seed, -1);
    dataset_close(ds);
    interrupt("a.dawnpack", "b.dawnpack.part", 20, 0);
    make_old("b.dawnpack.part");
    must_pack("src", "b.dawnpack", &report);
    assert_int_equal(report.resumed, 0);
    assert_same_files("a.dawnpack", "b.dawnpack");
    make_old("a.dawnpack");
    ds = must_open("a.dawnpack");
    assert_int_equal(dataset_facts(ds)->unfit_seed, 0);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    dataset_close(ds);
}

TEST_WITH(goes_on_to_the_same_bytes, set_up, leave)
{
    struct packer_report report;
    make_pictures("src", 3, 2);
    must_pack("src", "a.dawnpack", &report);
    for (uint64_t done = 0; done <= 50; done += 7) {
        interrupt("a.dawnpack", "b.dawnpack.part", done, done < 40 ? 11 : 0);
        must_pack("src", "b.dawnpack", &report);
        assert_int_equal(report.resumed, done);
        assert_int_equal(report.count[SPLIT_TRAIN], 30);
        assert_same_files("a.dawnpack", "b.dawnpack");
        assert_false(file_exists(in("b.dawnpack.part")));
        assert_int_equal(unlink(in("b.dawnpack")), 0);
    }
    // Killed when all was written but the name.
    char *bytes;
    size_t count;
    assert_int_equal(file_read(in("a.dawnpack"), 1 << 24, &bytes, &count), 0);
    put_plain("b.dawnpack.part", bytes, count);
    free(bytes);
    must_pack("src", "b.dawnpack", &report);
    assert_int_equal(report.resumed, 50);
    assert_same_files("a.dawnpack", "b.dawnpack");
    assert_int_equal(unlink(in("b.dawnpack")), 0);
    // Payloads that never reached the disk: the payloads before them count.
    interrupt("a.dawnpack", "b.dawnpack.part", 30, 0);
    struct stat st;
    assert_int_equal(stat(in("b.dawnpack.part"), &st), 0);
    assert_int_equal(truncate(in("b.dawnpack.part"), st.st_size - 3000), 0);
    must_pack("src", "b.dawnpack", &report);
    assert_true(report.resumed < 30 && report.resumed > 10);
    assert_same_files("a.dawnpack", "b.dawnpack");
    // Other options, or no part at all: it starts again, and says so.
    assert_int_equal(unlink(in("b.dawnpack")), 0);
    interrupt("a.dawnpack", "b.dawnpack.part", 30, 0);
    assert_int_equal(pack("src", "b.dawnpack", 18, &report), 0);
    assert_int_equal(report.resumed, 0);
    assert_non_null(strstr(notes, "starts again"));
    put("c.dawnpack.part", "garbage", 7);
    must_pack("src", "c.dawnpack", &report);
    assert_same_files("a.dawnpack", "c.dawnpack");
}

// The packer at work is killed before the second round.
static void end_after_a_round(void *context, int64_t done, int64_t total)
{
    (void)context, (void)total;
    if (done > 0) _exit(9);
}

static void kill_after_a_round(const char *from, const char *to)
{
    pid_t child = fork();
    if (child == 0) {
        struct packer_choice choice = {.flavour = imagenet_flavour("imagenette"), .from = in(from), .to = in(to), .quality = 90,
                                       .progress = end_after_a_round};
        struct packer_report report;
        _exit(packer_run(&choice, &report) < 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

static void make_tar(const char *name, const char *from)
{
    char command[300];
    snprintf(command, sizeof command, "tar -C %s --sort=name --mtime=@0 -cf %s train val", in(from), in(name));
    assert_int_equal(system(command), 0);
}

// The MD5s are of the archives that the last command sees: pictures that an earlier one took of others must not stay.
TEST_WITH(another_archive_starts_again, set_up, leave)
{
    struct packer_report report;
    int before = threads_count();
    threads_set(1);
    make_pictures("src", 13, 1);  // a round is 128
    make_tar("a.tar", "src");
    must_pack("a.tar", "whole.dawnpack", &report);
    kill_after_a_round("a.tar", "b.dawnpack");
    must_pack("a.tar", "b.dawnpack", &report);
    assert_int_equal(report.resumed, 128);
    assert_same_files("whole.dawnpack", "b.dawnpack");
    assert_int_equal(unlink(in("b.dawnpack")), 0);
    kill_after_a_round("a.tar", "b.dawnpack");
    make_tar("new.tar", "src");  // the same bytes, but nobody knows that
    assert_int_equal(rename(in("new.tar"), in("a.tar")), 0);
    must_pack("a.tar", "b.dawnpack", &report);
    assert_int_equal(report.resumed, 0);
    assert_non_null(strstr(notes, "starts again"));
    assert_same_files("whole.dawnpack", "b.dawnpack");
    // All was written but the name, and then some of it was lost.
    assert_int_equal(rename(in("b.dawnpack"), in("b.dawnpack.part")), 0);
    struct stat st;
    assert_int_equal(stat(in("b.dawnpack.part"), &st), 0);
    assert_int_equal(truncate(in("b.dawnpack.part"), st.st_size - 3000), 0);
    must_pack("a.tar", "b.dawnpack", &report);
    assert_int_equal(report.resumed, 0);
    assert_same_files("whole.dawnpack", "b.dawnpack");
    threads_set(before);
}

TEST_WITH(threads_change_nothing, set_up, leave)
{
    struct packer_report report;
    int before = threads_count();
    make_pictures("src", 30, 1);
    must_pack("src", "a.dawnpack", &report);
    threads_set(5);
    must_pack("src", "b.dawnpack", &report);
    threads_set(1);
    must_pack("src", "c.dawnpack", &report);
    threads_set(before);
    assert_same_files("a.dawnpack", "b.dawnpack");
    assert_same_files("a.dawnpack", "c.dawnpack");
}

// ---- packs that are wrong

static void poke(const char *name, int64_t offset, uint8_t change)
{
    uint8_t byte;
    int fd = open(in(name), O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, offset), 1);
    byte ^= change;
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
    close(fd);
}

TEST_WITH(wrong_packs_are_refused, set_up, leave)
{
    struct packer_report report;
    struct dataset *ds;
    struct stat st;
    make_pictures("src", 2, 1);
    must_pack("src", "imagenette.dawnpack", &report);
    const char *name = "imagenette.dawnpack";
    ds = must_open(".");  // it is found in its folder
    dataset_close(ds);
    for (int64_t i = 0; i < PACK_HEADER + 30 * PACK_RECORD; i += 5) {  // every part of header and index
        poke(name, i, 4);
        assert_fails(dataset_open("imagenette", folder, &ds), ERR_INPUT, "imagenette.dawnpack");
        poke(name, i, 4);
    }
    poke(name, 8, 1);
    assert_fails(dataset_open("imagenette", folder, &ds), ERR_INPUT,
                 "is a pack of version 3, and this program reads versions 1 to 2");
    poke(name, 8, 1);
    assert_fails(dataset_open("imagenet", in(name), &ds), ERR_INPUT, "is a pack of imagenette, not of imagenet");
    assert_int_equal(stat(in(name), &st), 0);
    assert_int_equal(truncate(in(name), st.st_size - 1), 0);
    assert_fails(dataset_open("imagenette", folder, &ds), ERR_INPUT, "it is incomplete");
    put("x.dawnpack", "DAWNPACK", 8);
    assert_fails(dataset_open("imagenette", in("x.dawnpack"), &ds), ERR_INPUT, "is not a pack of pictures");
}

TEST_WITH(changes_underneath_are_noticed, set_up, leave)
{
    struct packer_report report;
    enum dataset_verdict verdict;
    static uint8_t bytes[1 << 16];
    int64_t length;
    make_pictures("src", 2, 1);
    must_pack("src", "a.dawnpack", &report);
    struct dataset *ds = must_open("a.dawnpack");
    struct stat st;
    assert_int_equal(stat(in("a.dawnpack"), &st), 0);
    poke("a.dawnpack", st.st_size - 5, 1);
    assert_fails(dataset_item(ds, SPLIT_TEST, "jpeg", 9, bytes, sizeof bytes, &length), ERR_INPUT,
                 "are not those that were packed");
    assert_fails(dataset_verify(ds, &verdict), ERR_INPUT, "val/n0");
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "jpeg", 8, bytes, sizeof bytes, &length), 0);
    assert_int_equal(truncate(in("a.dawnpack"), st.st_size - 5), 0);
    assert_fails(dataset_item(ds, SPLIT_TEST, "jpeg", 9, bytes, sizeof bytes, &length), ERR_INPUT,
                 "it was longer when it was opened");
    dataset_close(ds);
    ds = must_open("src");
    put("src/val/n01440764/0.JPEG", "short", 5);
    assert_fails(dataset_item(ds, SPLIT_TEST, "jpeg", 0, bytes, sizeof bytes, &length), ERR_INPUT,
                 "when the data set was opened");
    dataset_close(ds);
}

// Made of the published archives: the MD5s and, of ImageNet, the labels decide; all pictures must be there.
TEST_WITH(official_archives_are_known, set_up, leave)
{
    const struct imagenet_flavour *net = imagenet_flavour("imagenet"), *nette = imagenet_flavour("imagenette");
    char md5[SPLIT_COUNT][MD5_HEX] = {"1d675b47d978889d74fa0da5fadfb00e", "29b22e2961454d5413ddabcf34fc5622"};
    const char *labels = "2707a43f27dcd55fef87fbef0730966cb91c3aba99eb0c9e6f021217a553a3b1";
    int64_t all[SPLIT_COUNT] = {1281167, 50000}, less[SPLIT_COUNT] = {1281166, 50000}, few[SPLIT_COUNT] = {9469, 3925};
    assert_true(origin_is_official(net, all, md5, labels));
    assert_false(origin_is_official(net, less, md5, labels));
    assert_false(origin_is_official(net, all, md5, ""));
    md5[1][0] = '3';
    assert_false(origin_is_official(net, all, md5, labels));
    char one[SPLIT_COUNT][MD5_HEX] = {"e793b78cc4c9e9a4ccc0c1155377a412", ""};
    assert_true(origin_is_official(nette, few, one, ""));
    assert_false(origin_is_official(net, all, one, labels));
    one[0][5] = '0';
    assert_false(origin_is_official(nette, few, one, ""));
    for (int s = 0; s < SPLIT_COUNT; s++) {  // the digests that boards know: docs/data.md says of what
        static const char *const texts[2][SPLIT_COUNT] = {
            {"imagenet train 1d675b47d978889d74fa0da5fadfb00e",
             "imagenet validation 29b22e2961454d5413ddabcf34fc5622 "
             "2707a43f27dcd55fef87fbef0730966cb91c3aba99eb0c9e6f021217a553a3b1"},
            {"imagenette train e793b78cc4c9e9a4ccc0c1155377a412", "imagenette validation e793b78cc4c9e9a4ccc0c1155377a412"}};
        for (int k = 0; k < 2; k++) {
            char hex[DIGEST_HEX];
            digest_bytes(texts[k][s], strlen(texts[k][s]), hex);
            assert_string_equal(hex, (k ? nette : net)->official[s]);
        }
    }
}

// A pack that says that it is official has the published digests, and so has the data set.
TEST_WITH(official_packs_have_known_digests, set_up, leave)
{
    struct packer_report report;
    enum dataset_verdict verdict;
    char *bytes, hex[DIGEST_HEX];
    size_t count;
    struct pack_header h;
    make_pictures("src", 1, 1);
    must_pack("src", "a.dawnpack", &report);
    assert_int_equal(file_read(in("a.dawnpack"), 1 << 24, &bytes, &count), 0);
    assert_int_equal(pack_parse_header("p", (uint8_t *)bytes, (int64_t)count, &h), 0);
    h.flags |= PACK_OFFICIAL;
    pack_print_header(&h, (uint8_t *)bytes);
    put("b.dawnpack", bytes, count);
    free(bytes);
    struct dataset *ds = must_open("b.dawnpack");
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_true(verdict == DATASET_OFFICIAL && dataset_facts(ds)->official);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        assert_int_equal(dataset_content_digest(ds, (enum split)s, hex), 0);
        assert_string_equal(hex, imagenet_flavour("imagenette")->official[s]);
    }
    dataset_close(ds);
}
