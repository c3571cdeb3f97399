// SPDX-License-Identifier: Apache-2.0
// `dawn data pack`: ImageNet or Imagenette as one file.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "data/cmd_data_sub.h"
#include "data/pack/origin.h"
#include "data/pack/packer.h"
#include "data/progress_bar.h"
#include "data/read/imagenet/truth.h"
#include "runtime/common/base/text.h"

static int choose_side(const char *word, int *side)
{
    int64_t n = 0;
    if (strcmp(word, "original") != 0 && text_to_int(word, 32, 4096, &n) < 0)
        return fail(ERR_USAGE, "--short-side must be \"original\" or a number of pixels from 32 to 4096, such as 256; got "
                    "\"%.60s\"", word);
    *side = (int)n;
    return 0;
}

static void say_count(int64_t n, const char *words)
{
    char count[TEXT_FIGURE];
    if (n > 0) printf("  %s %s\n", text_count(count, n), words);
}

static void say_report(const struct packer_choice *choice, const struct packer_report *r)
{
    char size[TEXT_FIGURE], train[TEXT_FIGURE], val[TEXT_FIGURE];
    printf("%s: %s, %s pictures for training, %s for validation\n", choice->to, text_size(size, (double)r->bytes),
           text_count(train, r->count[SPLIT_TRAIN]), text_count(val, r->count[SPLIT_TEST]));
    say_count(r->encoded, "were re-encoded");
    say_count(r->converted, "of them because they were gray, CMYK, YCCK or PNG");
    say_count(r->damaged, "are damaged: what could be decoded is kept, the rest is gray");
    say_count(r->absent, "cannot be decoded and are left out; the pack has their names");
    say_count(r->foreign, "other files are not pictures by their names");
    say_count(r->resumed, "were packed already when this command began");
    printf("%s: %s\n", r->official ? "official" : "custom", r->says);
}

static int pack_with_bar(struct packer_choice *choice)
{
    struct packer_report report;
    struct progress_bar bar = progress_bar_start(choice->flavour->name, false);
    choice->progress = progress_bar_show, choice->note = progress_bar_note, choice->context = &bar;
    int rc = packer_run(choice, &report);
    progress_bar_end(&bar);
    if (rc == 0) say_report(choice, &report);
    return rc;
}

int cmd_data_pack(int argc, char **argv)
{
    const char *side = "original";
    int64_t quality = 90, damaged = 100, seed = 0;
    struct packer_choice choice = {.share = 0.1};
    const struct option options[] = {
        {OPTION_TEXT, 0, "short-side", "N", "shrink larger pictures to this shorter side in pixels: 160, 256, ...", &side, 0, 0},
        {OPTION_INT, 0, "quality", "N", "JPEG quality of re-encoded pictures", &quality, 1, 100},
        {OPTION_PATH, 0, "labels", "FILE", "the classes of a val without folders: the development kit, its " TRUTH_FILE
         ", or a list of WordNet ids", &choice.truth, 0, 0},
        {OPTION_INT, 0, "damaged", "N", "give up at more than N damaged pictures", &damaged, 0, 1e9},
        {OPTION_INT, 0, "seed", "N", "of the order in the file", &seed, 0, 9e15},
        {OPTION_FLAG, 0, "partial", NULL, "classes without pictures are fine", &choice.partial, 0, 0},
        {OPTION_FLAG, 0, "own", NULL, "your own pictures: each folder is a class with any name", &choice.own, 0, 0},
        {OPTION_FLOAT, 0, "validation", "SHARE", "with --own: share of each class for the validation where SRC has no val",
         &choice.share, 0.001, 0.9},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        "data pack", "NAME SRC DST [OPTIONS]",
        "Writes the pictures of imagenet or imagenette into one file, which is read faster than a folder and checks itself. DST "
        "is a file, or a folder that gets NAME.dawnpack. SRC is a folder with " ORIGIN_TRAIN_TAR ", " ORIGIN_VAL_TAR " and "
        ORIGIN_DEVKIT " (they are not unpacked; with their published MD5s the pack is official); or one with train/CLASS/ and "
        "val/CLASS/, or with a flat val; or imagenette2-160.tgz.\n\n"
        "With --own the pictures are yours: SRC has train/CLASS/ and val/CLASS/, or CLASS/ alone, of which each tenth picture "
        "becomes the validation. A training takes its classes from the pack, and its data count as custom.\n\n"
        "Gray, CMYK, YCCK and PNG pictures become JPEGs in colour; orientation (EXIF) is ignored. Damaged pictures are named "
        "and counted. If it is interrupted, run the same command again: it resumes, and the file is the same.",
        options,
        "Example:\n  dawn data pack imagenet /data/ilsvrc imagenet.dawnpack --short-side 256\n"
        "  dawn train imagenet --data imagenet.dawnpack\n"
        "  dawn data pack imagenette ~/birds birds.dawnpack --own --short-side 160\n"
        "  dawn train imagenette --data birds.dawnpack"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (choice.own && choice.truth != NULL) return fail(ERR_USAGE, "--labels is for a val without folders, and --own needs them");
    if (argc != 4) return fail(ERR_USAGE, "data pack needs a data set, its source and a file, such as imagenette "
                               "imagenette2-160.tgz imagenette.dawnpack");
    choice.flavour = imagenet_flavour(argv[1]);
    if (choice.flavour == NULL) return fail(ERR_USAGE, "imagenet and imagenette can be packed, not \"%.60s\"", argv[1]);
    TRY(choose_side(side, &choice.short_side));
    struct text to = {0};
    struct stat st;
    text_add(&to, "%s", argv[3]);
    if (stat(argv[3], &st) == 0 && S_ISDIR(st.st_mode)) text_add(&to, "/%s" PACK_ENDING, argv[1]);
    choice.from = argv[2], choice.to = to.at;
    choice.quality = (int)quality, choice.damaged = damaged, choice.seed = (uint64_t)seed;
    rc = pack_with_bar(&choice);
    text_free(&to);
    return rc;
}
