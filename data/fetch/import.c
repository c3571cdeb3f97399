// SPDX-License-Identifier: Apache-2.0
// Converts folders of pictures to the binary layout of CIFAR-10. A note next to the batches has their counts of records,
// because the reader otherwise requires the published 10,000.
//
// Invariant: the batches and the note appear together, or not at all. Cost: one decode per picture, one picture at a time; the
// names of all files in memory.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "data/folder.h"
#include "data/read/cifar/cifar.h"
#include "data/image/image.h"
#include "data/fetch/import.h"
#include "data/fetch/source.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "runtime/common/base/whole.h"

enum {
    IMPORT_FILE_MAX = 1 << 26,
    IMPORT_OUTPUTS = CIFAR_FILES + 2,
    IMPORT_META = CIFAR_FILES,
    IMPORT_NOTE = CIFAR_FILES + 1
};

struct import {
    const struct import_options *options;
    struct import_report *report;
    const struct source *source;
    struct folder names[SPLIT_COUNT][CIFAR_CLASSES];
    int64_t records[CIFAR_FILES], done;
    struct whole whole[IMPORT_OUTPUTS];
};

static int check_classes(const char *folder)
{
    struct folder names = {0};
    int rc = folder_list(folder, FOLDER_BY_NUMBERS, &names);
    for (int i = 0; i < names.count && rc == 0; i++)
        rc = folder_check_class(folder, names.entry[i]->d_name, "CIFAR-10", cifar_class_names);
    folder_end(&names);
    return rc;
}

// Collects the pictures of one class, in order.
static int scan_class(struct import *import, const char *folder, struct folder *names)
{
    if (!folder_is(folder)) return fail(ERR_INPUT, "%s is missing: every class of CIFAR-10 needs its folder", folder);
    TRY(folder_list(folder, FOLDER_BY_NUMBERS, names));
    import->report->passed += folder_keep(names, image_is_named);
    return names->count > 0 ? 0 : fail(ERR_INPUT, "%s has no PNG or JPEG file", folder);
}

static int scan_split(struct import *import, enum split split)
{
    struct text folder = {0};
    text_add(&folder, "%s/%s", import->options->from, split_name(split));
    int rc = check_classes(folder.at);
    for (int c = 0; c < CIFAR_CLASSES && rc == 0; c++) {
        struct text path = {0};
        text_add(&path, "%s/%s", folder.at, cifar_class_names[c]);
        rc = scan_class(import, path.at, &import->names[split][c]);
        import->report->count[split] += import->names[split][c].count;
        text_free(&path);
    }
    text_free(&folder);
    return rc;
}

static int import_picture(struct import *import, const char *path, int label, struct whole *whole)
{
    char *bytes = NULL;
    size_t size = 0;
    struct image image = {0};
    TRY(file_read(path, IMPORT_FILE_MAX, &bytes, &size));
    int rc = image_decode(path, (const uint8_t *)bytes, size, &IMAGE_LIMITS, &image);
    free(bytes);
    TRY(rc);
    uint8_t pixels[CIFAR_IMAGE], record[CIFAR_RECORD];
    if (image.height != CIFAR_SIDE || image.width != CIFAR_SIDE) import->report->resized++;
    image_fit(&image, CIFAR_SIDE, pixels);
    image_free(&image);
    cifar_encode(pixels, (uint8_t)label, record);
    TRY(whole_write(whole, record, sizeof record));
    const struct import_options *options = import->options;
    import->done++;
    if (options->progress != NULL && import->done % 100 == 0) {
        options->progress(options->context, import->done,
                          import->report->count[SPLIT_TRAIN] + import->report->count[SPLIT_TEST]);
    }
    return 0;
}

// Distributes the pictures of a split over its files: classes take turns until none is left.
static int import_split(struct import *import, enum split split)
{
    int file = split == SPLIT_TRAIN ? 0 : CIFAR_FILES - 1;
    int64_t written = 0, left = import->report->count[split];
    for (int turn = 0; left > 0; turn++) {
        for (int c = 0; c < CIFAR_CLASSES; c++) {
            const struct folder *names = &import->names[split][c];
            if (turn >= names->count) continue;
            while (written == import->records[file]) file++, written = 0;
            struct text path = {0};
            text_add(&path, "%s/%s/%s/%s", import->options->from, split_name(split), cifar_class_names[c],
                     names->entry[turn]->d_name);
            int rc = import_picture(import, path.at, c, &import->whole[file]);
            text_free(&path);
            TRY(rc);
            written++, left--;
        }
    }
    return 0;
}

static int import_texts(struct import *import)
{
    struct whole *meta = &import->whole[IMPORT_META];
    for (int c = 0; c < CIFAR_CLASSES; c++) {
        TRY(whole_write(meta, cifar_class_names[c], strlen(cifar_class_names[c])));
        TRY(whole_write(meta, "\n", 1));
    }
    TRY(whole_write(meta, "\n", 1));  // like the published file
    json_t *records = json_object();
    for (int i = 0; i < CIFAR_FILES; i++)
        json_object_set_new(records, import->source->file[i].name, json_integer(import->records[i]));
    json_t *note = json_pack("{s:s, s:i, s:I, s:o}", "made_by", "dawn data import", "version", 1, "resized",
                             (json_int_t)import->report->resized, "records", records);
    char *bytes = json_dumps(note, JSON_INDENT(2));
    json_decref(note);
    if (bytes == NULL) return fail(ERR_MEMORY, "not enough memory for %s", import->whole[IMPORT_NOTE].path);
    int rc = whole_write(&import->whole[IMPORT_NOTE], bytes, strlen(bytes));
    free(bytes);
    return rc;
}

static int import_write(struct import *import, const char *folder)
{
    for (int i = 0; i < IMPORT_OUTPUTS; i++) {
        const char *name = i < IMPORT_NOTE ? import->source->file[i].name : CIFAR_IMPORT_NOTE;
        struct text path = {0};
        text_add(&path, "%s/%s", folder, name);
        int rc = whole_open(&import->whole[i], path.at);
        text_free(&path);
        TRY(rc);
        if (file_exists(import->whole[i].path)) {
            return fail(ERR_USAGE,
                        "%s exists already, and an import overwrites nothing; use another folder with --to",
                        import->whole[i].path);
        }
    }
    for (int i = 0; i < CIFAR_FILES - 1; i++) {
        import->records[i] = (import->report->count[SPLIT_TRAIN] + CIFAR_FILES - 2 - i) / (CIFAR_FILES - 1);
    }
    import->records[CIFAR_FILES - 1] = import->report->count[SPLIT_TEST];
    for (int split = 0; split < SPLIT_COUNT; split++) TRY(import_split(import, split));
    TRY(import_texts(import));
    for (int i = 0; i < IMPORT_OUTPUTS; i++) TRY(whole_close(&import->whole[i]));
    for (int i = IMPORT_OUTPUTS - 1; i >= 0; i--) TRY(whole_commit(&import->whole[i]));  // commits the note first
    return 0;
}

int import_cifar(const struct import_options *options, struct import_report *report)
{
    *report = (struct import_report){0};
    struct import *import = zalloc(sizeof *import);
    *import = (struct import){.options = options, .report = report, .source = &cifar10_source};
    struct text folder = {0};
    text_add(&folder, "%s/%s", options->to, import->source->folder);
    int rc = 0;
    for (int split = 0; split < SPLIT_COUNT && rc == 0; split++) rc = scan_split(import, split);
    if (rc == 0) rc = file_make_folder(folder.at);
    if (rc == 0) rc = import_write(import, folder.at);
    for (int i = 0; i < IMPORT_OUTPUTS; i++) whole_end(&import->whole[i]);
    for (int split = 0; split < SPLIT_COUNT; split++) {
        for (int c = 0; c < CIFAR_CLASSES; c++) folder_end(&import->names[split][c]);
    }
    text_free(&folder);
    free(import);
    return rc;
}
