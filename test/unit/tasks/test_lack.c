// SPDX-License-Identifier: Apache-2.0
// Memory that runs out while bytes from outside are read: a reader whose n-th allocation fails returns an error and a sentence,
// or what it returns otherwise. The sanitizers find what it leaks. The bytes are seeds of the fuzzers.
#include "test/unit/fixture_folders.h"
#include "test/unit/fixture_lack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/audio/sound.h"
#include "data/dataset.h"
#include "data/image/image.h"
#include "data/manifest.h"
#include "data/pack/convert.h"
#include "data/pack/packer.h"
#include "data/pack/tar.h"
#include "data/read/bitext/bitext.h"
#include "data/read/cifar/cifar.h"
#include "data/read/imagenet/truth.h"
#include "data/read/mnist/idx.h"
#include "data/read/squad/squad_parse.h"
#include "data/read/text/shard.h"
#include "data/read/voc/masks.h"
#include "data/read/wiki/wiki.h"
#include "data/text/bpe.h"
#include "data/text/subtokens.h"
#include "data/text/vectors.h"
#include "data/text/wordpiece.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/common/base/file.h"
#include "runtime/cuda/dnn/dnn_cache.h"
#include "submit/client/deliver.h"
#include "submit/format/ssh/sshsig.h"
#include "submit/format/statement.h"
#include "tasks/common/recipe/recipe.h"
#include "tasks/common/train/resume.h"
#include "tasks/detection/coco.h"
#include "tasks/squad/predictions.h"
#include "tasks/squad/sample/config.h"
#include "tasks/tools/outside/outside.h"

static char path[128];
static char *bytes;  // of the file `path`
static size_t count;

// A reader: a variable `it`, the call that fills it, a number that the call must always come to, and what frees it.
#define READER(name, declaration, call, number, end)                                                                           \
    static int64_t read_##name(void)                                                                                           \
    {                                                                                                                          \
        declaration;                                                                                                           \
        if ((call) < 0) return -1;                                                                                             \
        const int64_t found = (int64_t)(number);                                                                               \
        end;                                                                                                                   \
        return found;                                                                                                          \
    }
#define PICTURE (const uint8_t *)bytes, count
static const struct image_limits limits = {1024, 1 << 20};
READER(picture, struct image it, image_decode("it", PICTURE, &limits, &it), it.height * 2000 + it.width, image_free(&it))
READER(manifest, struct manifest it, manifest_parse("it", bytes, count, &it), it.files + it.values, manifest_free(&it))
READER(bitext, struct bitext_lines it, bitext_parse("it", bytes, count, &it), it.lines, free(it.line))
READER(note, int64_t it[CIFAR_FILES], cifar_parse_note("it", bytes, count, it), it[0], (void)0)
READER(truth, struct truth it, truth_parse("it", bytes, count, synsets_imagenet(), &it), it.count, truth_free(&it))
static const char article[] = "<doc id=\"1\">\nTitle\n\nOne is. Two! No\n\n</doc>\n";
READER(sound, struct sound it, sound_decode("it", PICTURE, &it), it.count, sound_free(&it))
READER(wiki, struct wiki_articles it = {0}, wiki_parse("it", article, strlen(article), &it), it.bytes, wiki_free(&it))
READER(lines, struct wiki_articles it = {0}, wiki_parse_lines("it", bytes, count, &it), it.bytes, wiki_free(&it))
static const char *const cells[] = {"RBC", "WBC", NULL};
READER(voc, struct voc it, voc_parse("it", bytes, count, cells, &it), it.objects, voc_free(&it))
READER(labels, struct { struct voc is; uint8_t *labels; } it, masks_parse("it", PICTURE, &it.is, &it.labels), it.is.objects,
       (voc_free(&it.is), free(it.labels)))
READER(names, struct voc_names it, voc_parse_names("it", bytes, count, &it), it.count, voc_names_free(&it))
READER(subtokens, struct subtokens *it, subtokens_open(path, &it), subtokens_count(it), subtokens_free(it))
READER(predictions, struct predictions *it, predictions_open(path, &it), predictions_count(it), predictions_free(it))
READER(config, struct config it = {0}, config_parse("it", bytes, count, &it), it.width, (void)0)
READER(checkpoint, struct checkpoint *it, checkpoint_open(path, &it), *checkpoint_digest(it), checkpoint_close(it))
READER(recipe, struct recipe it, recipe_parse("it", bytes, count, &it), it.batch, (void)0)
READER(choices, struct dnn_cache it, dnn_cache_parse(bytes, count, "a GPU", &it), it.count, dnn_cache_free(&it))
READER(statement, struct statement it, statement_read(bytes, count, &it), it.count, statement_free(&it))
READER(envelope, struct envelope it, envelope_read(bytes, count, &it), it.statement.count, envelope_free(&it))
READER(secret, struct sshkey_secret it, sshkey_read_secret(bytes + 1, count - 1, &it), it.secret[0], (void)0)

// A build without libFLAC refuses it.
static int64_t read_flac(void)
{
    struct sound it;
    const int rc = sound_decode("it", PICTURE, &it);
    const int64_t found = rc == ERR_UNSUPPORTED ? 0 : rc < 0 ? -1 : it.count;
    sound_free(&it);
    return found;
}

static int64_t read_squad(void)
{
    struct arena arena = {0};
    struct squad squad;
    const int64_t found = squad_read_file(path, &arena, &squad) < 0 ? -1 : squad.answers;
    arena_free(&arena);
    return found;
}

static int64_t read_converted(void)
{
    struct converter *converter = converter_new(&(struct convert_choice){32, 75});
    struct converted it;
    const int64_t found = converter_run(converter, "it", PICTURE, &it) < 0 ? -1 : it.codec * 10000 + (int64_t)it.count;
    converter_free(converter);
    return found;
}

static int count_member(void *context, const struct tar_member *member)
{
    *(int64_t *)context += member->bytes + 1;
    return 0;
}

static int64_t read_tar(void)
{
    int64_t found = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int rc = tar_walk(&(struct tar_span){"it", fd, 0, (int64_t)count}, count_member, &found);
    close(fd);
    return rc < 0 ? -1 : found;
}

static int64_t read_extract(void)
{
    char *first;
    size_t found;
    if (tar_extract(path, "", 1 << 20, &first, &found) < 0) return -1;
    free(first);
    return (int64_t)found;
}

static int64_t read_spool(void)
{
    int64_t found;
    const int to = open("/dev/null", O_WRONLY | O_CLOEXEC), rc = tar_spool(path, to, 1 << 20, &found);
    close(to);
    return rc < 0 ? -1 : found;
}

// Truth and results, with a zero byte between.
static int64_t read_coco(bool masks)
{
    struct coco it;
    const size_t truth = strlen(bytes);
    int rc = coco_truth("it", bytes, truth, masks, &it);
    if (rc == 0) rc = coco_results("it", bytes + truth + 1, count - truth - 1, &it);
    const int64_t found = rc < 0 ? -1 : it.truth.count * 1000 + it.found.count;
    coco_free(&it);
    return found;
}
static int64_t read_boxes(void) { return read_coco(false); }
static int64_t read_masks(void) { return read_coco(true); }

// The vocabulary ends at the first zero byte, and a text follows.
static int64_t read_pieces(void)
{
    struct wordpiece *it;
    struct pieces pieces = {0};
    const size_t list = strlen(bytes);
    if (wordpiece_parse("it", bytes, list, true, &it) < 0) return -1;
    wordpiece_encode(it, bytes + list + 1, count - list - 1, &pieces);
    const int64_t found = pieces.count;
    pieces_free(&pieces);
    wordpiece_free(it);
    return found;
}

static int64_t read_merges(void)
{
    static const char code[] = "#version: 0.2\na b\nab c</w>\n", line[] = "abc cab \xc3\xa4";
    struct vocabulary *words = vocabulary_new();
    struct bpe *it;
    int32_t id[sizeof line];
    int64_t found = bpe_count_words(line, sizeof line - 1, words) < 0 || bpe_parse("it", code, sizeof code - 1, &it) < 0 ? -1 : 0;
    if (found == 0) {
        bpe_number(it, words);
        found = bpe_encode(it, line, sizeof line - 1, id);
        bpe_free(it);
    }
    vocabulary_free(words);
    return found;
}

static int64_t read_vectors(void)
{
    struct vocabulary *words = vocabulary_new();
    struct vectors it;
    vocabulary_add(words, "the", 3);
    const int64_t found = vectors_parse("it", bytes, count, words, 2, &it) < 0 ? -1 : it.lines;
    if (found >= 0) vectors_free(&it);
    vocabulary_free(words);
    return found;
}

static int64_t read_state(void)
{
    struct state_view it;
    struct resume_note note;
    size_t header;
    if (state_parse_prefix("it", bytes, count, &header) < 0) return -1;
    if (state_parse("it", bytes + STATE_PREFIX, header, count, &it) < 0) return -1;
    const int64_t found = resume_note_read("it", it.facts.note, &it.arena, &note) < 0 ? -1 : it.slots;
    state_view_free(&it);
    return found;
}

static int take_line(void *context, const char *line, size_t n, int64_t number)
{
    static const struct contest counts = {.board = {.unit = "%", .items = 10000}, .items = 10000, .most_micro = 1000000};
    struct outside_line it;
    TRY(outside_read(line, n, &counts, &it));
    *(int64_t *)context += it.kind * number + it.epoch.k;
    return 0;
}

// Two bytes choose how the fuzzer feeds the rest.
static int64_t read_outside(void)
{
    struct outside_stream stream = {0};
    int64_t found = 0;
    int rc = outside_feed(&stream, bytes + 2, count - 2, take_line, &found);
    if (rc == 0) rc = outside_finish(&stream, take_line, &found);
    outside_free(&stream);
    return rc < 0 ? -1 : found;
}

static const struct {
    const char *seed;
    int64_t (*read)(void);
} readers[] = {
    {"import/alpha.png", read_picture}, {"import/deep.png", read_picture}, {"import/cmyk.jpg", read_picture},
    {"jpeg/progressive_420.jpg", read_picture}, {"jpeg/arithmetic.jpg", read_picture}, {"convert/rgb.png", read_converted},
    {"convert/cmyk.jpg", read_converted}, {"manifest/one", read_manifest},
    {"bitext/pairs", read_bitext}, {"cifar/note.json", read_note}, {"truth/names", read_truth},
    {"sound/sweep.wav", read_sound}, {"sound/sweep.flac", read_flac}, {"sound/sweep.sph", read_sound},
    {"wiki/extract", read_wiki}, {"wiki/lines", read_lines}, {"voc/two", read_voc}, {"voc/names", read_names},
    {"masks/two", read_labels},
    {"subtokens/vocabulary", read_subtokens},
    {"tokens/all", read_pieces}, {"tokens/all", read_merges}, {"vectors/glove", read_vectors},
    {"squad/two", read_squad}, {"predictions/three", read_predictions}, {"squad_config/small", read_config},
    {"safetensors/texts", read_checkpoint}, {"pth/kinds", read_checkpoint}, {"state/note", read_state},
    {"recipe/cifar10.json", read_recipe},
    {"dnn_cache/two", read_choices}, {"outside/mlperf", read_outside}, {"board_envelope/run-2", read_statement},
    {"coco/boxes", read_boxes}, {"coco/masks", read_masks},
    {"board_envelope/run-2.envelope", read_envelope}, {"board_sshsig/secret", read_secret},
};

TEST(no_failing_allocation_harms_a_reader)
{
    int errors = 0;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        snprintf(path, sizeof path, "test/fuzz/seeds/%s", readers[i].seed);
        assert_int_equal(file_read(path, 1 << 20, &bytes, &count), 0);
        errors += lack_each(readers[i].seed, readers[i].read);
        free(bytes);
    }
    assert_true(errors > 50);
}

// ---- shards of tokens, which lie in a folder

static void put_shard(const char *name, int32_t tokens)
{
    int32_t word[SHARD_HEADER / 4] = {SHARD_MAGIC, SHARD_VERSION, tokens};
    FILE *to = fopen(in(name), "wb");
    assert_true(to && fwrite(word, sizeof word, 1, to) == 1);
    for (int32_t i = 0; i < tokens; i++) assert_true(putc(i % 256, to) != EOF && putc(i / 256, to) != EOF);
    assert_int_equal(fclose(to), 0);
}

static int64_t read_shards(void)
{
    struct dataset *it;
    enum dataset_verdict verdict;
    int32_t block[1025];
    int64_t length = 0;
    int rc = dataset_open("fineweb", folder, &it);
    if (rc == ERR_MISSING) fail_msg("a lack is no missing file: %s", error_text());
    if (rc < 0) return -1;
    rc = dataset_item(it, SPLIT_TRAIN, "tokens", 1, block, sizeof block, &length);
    if (rc == 0) rc = dataset_verify(it, &verdict);
    dataset_close(it);
    return rc < 0 ? -1 : block[0] * 10000 + length;
}

TEST_WITH(no_failing_allocation_harms_shards, enter, leave)
{
    put_shard("fineweb_train_000001.bin", 1500);
    put_shard("fineweb_train_000002.bin", 700);
    put_shard("fineweb_val_000000.bin", 1100);
    assert_int_equal(read_shards(), 10241025);
    assert_true(lack_each("shards", read_shards) > 0);
}

// ---- MNIST, plain: libarchive 3.6, which unpacks it, does not survive a lack itself

static int64_t read_digits(void)
{
    struct dataset *it;
    enum dataset_verdict verdict;
    uint8_t picture[IDX_PICTURE];
    int rc = dataset_open("mnist", folder, &it);
    if (rc == ERR_MISSING) fail_msg("a lack is no missing file: %s", error_text());
    if (rc < 0) return -1;
    rc = dataset_item(it, SPLIT_TRAIN, "images", 1, picture, sizeof picture, NULL);
    if (rc == 0) rc = dataset_verify(it, &verdict);
    dataset_close(it);
    return rc < 0 ? -1 : picture[3];
}

static void put_digits(const char *seed, const char *name)
{
    char command[512];
    snprintf(command, sizeof command, "cp test/fuzz/seeds/idx/%s %s", seed, in(name));
    assert_int_equal(system(command), 0);
}

TEST_WITH(no_failing_allocation_harms_digits, enter, leave)
{
    put_digits("two", "train-images-idx3-ubyte");
    put_digits("two", "t10k-images-idx3-ubyte");
    put_digits("two_labels", "train-labels-idx1-ubyte");
    put_digits("two_labels", "t10k-labels-idx1-ubyte");
    assert_int_equal(read_digits(), (IDX_PICTURE + 3) * 7 % 256);
    assert_true(lack_each("digits", read_digits) > 0);
}

// ---- photographs in folders, and packed into a file

static int64_t read_photographs(const char *name)
{
    struct dataset *it;
    enum dataset_verdict verdict;
    uint8_t photograph[4096];
    int64_t length = 0;
    int rc = dataset_open("imagenette", in(name), &it);
    if (rc == ERR_MISSING) fail_msg("a lack is no missing file: %s", error_text());
    if (rc < 0) return -1;
    rc = dataset_item(it, SPLIT_TEST, "jpeg", 1, photograph, sizeof photograph, &length);
    if (rc == 0) rc = dataset_verify(it, &verdict);
    dataset_close(it);
    return rc < 0 ? -1 : length;
}

static int64_t read_folders(void)
{
    return read_photographs("src");
}

static int64_t read_pack(void)
{
    return read_photographs("a.dawnpack");
}

TEST_WITH(no_failing_allocation_harms_photographs, enter, leave)
{
    struct packer_report report;
    make_pictures("src", 1, 1);
    const struct packer_choice choice = {.flavour = imagenet_flavour("imagenette"), .from = in("src"), .to = in("a.dawnpack"),
                                         .quality = 90};
    assert_int_equal(packer_run(&choice, &report), 0);
    assert_true(lack_each("folders", read_folders) > 0);
    assert_true(lack_each("pack", read_pack) > 0);
}

// ---- receipts: what a board signed, alone and in its answer to a client

static struct statement stated;
static struct client_board board = {.name = "board.example"};
static char *receipt, *answer, signature[SSHSIG_MAX];
static size_t receipt_count;
READER(receipt, struct receipt it; struct sshkey key, receipt_read(receipt, receipt_count, signature, &it, &key), it.sequence,
       (void)0)
READER(delivery, struct delivery it,
       delivery_read(answer, strlen(answer), &board, &stated, NULL, statement_made_ms(&stated), &it), it.receipt.sequence,
       delivery_free(&it))

TEST(no_failing_allocation_harms_a_receipt)
{
    struct sshkey_secret key;
    struct receipt r = {.sequence = 7};
    assert_int_equal(file_read("test/fuzz/seeds/board_envelope/run-2", 1 << 20, &bytes, &count), 0);
    OK(statement_read(bytes, count, &stated));
    sshkey_new(&key, "a board");
    board.key = key.key;
    r.accepted_ms = statement_made_ms(&stated);
    snprintf(r.board, sizeof r.board, "%s", board.name);
    snprintf(r.payload, sizeof r.payload, "%s", stated.digest);
    sshkey_id(&key.key, r.signer);
    OK(receipt_write(&r, &receipt, &receipt_count));
    sshsig_sign(RECEIPT_NAMESPACE, receipt, receipt_count, &key, signature);
    json_t *whole = json_pack("{s:s, s:s}", "receipt", receipt, "signature", signature);
    answer = json_dumps(whole, 0);
    assert_int_equal(read_delivery(), 7);
    lack_each("a receipt", read_receipt);
    lack_each("an answer with a receipt", read_delivery);
    json_decref(whole);
    free(answer), free(receipt), free(bytes);
    statement_free(&stated);
}

// ---- archives

// libarchive ends the program with a sentence of its own where a name has no memory, so each reading is a process.
static void never_crashes(int64_t (*read)(void))
{
    int status = 0;
    const int64_t usual = read();
    assert_true(usual > 0);
    for (long nth = 1; nth < 50; nth++) {
        pid_t child = fork();
        if (child == 0) {
            lack_child();
            lack_at = nth;
            const int64_t got = read();
            lack_at = 0;
            _exit(got < 0 ? 1 : got == usual ? 0 : 2);
        }
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) fail_msg("allocation %ld: status %d", nth, status);
    }
}

TEST(no_failing_allocation_makes_a_tar_crash)
{
    snprintf(path, sizeof path, "test/fuzz/seeds/tar/pax");
    assert_int_equal(file_read(path, 1 << 20, &bytes, &count), 0);
    program_memory();
    never_crashes(read_tar);
    never_crashes(read_extract);
    never_crashes(read_spool);
    free(bytes);
}
