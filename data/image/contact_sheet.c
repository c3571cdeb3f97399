// SPDX-License-Identifier: Apache-2.0
// Draws the contact sheet of `dawn data show`, on which people can check the reader.
//
// Cost: reads labels until every class has its row, and the images on the sheet.
#include <stdlib.h>
#include <string.h>

#include "data/image/image.h"
#include "data/image/contact_sheet.h"
#include "runtime/common/base/arena.h"

enum { CONTACT_SHEET_GAP = 4, CONTACT_SHEET_GREY = 32 };

static void sheet_paste(const struct dataset_facts *facts, const uint8_t *pixels, struct image *sheet, int row,
                        int column)
{
    int top = CONTACT_SHEET_GAP + row * (facts->height * CONTACT_SHEET_ZOOM + CONTACT_SHEET_GAP);
    int left = CONTACT_SHEET_GAP + column * (facts->width * CONTACT_SHEET_ZOOM + CONTACT_SHEET_GAP);
    for (int y = 0; y < facts->height * CONTACT_SHEET_ZOOM; y++) {
        for (int x = 0; x < facts->width * CONTACT_SHEET_ZOOM; x++) {
            const uint8_t *from = pixels + facts->channels * (y / CONTACT_SHEET_ZOOM * facts->width + x / CONTACT_SHEET_ZOOM);
            uint8_t *to = sheet->pixels + 3 * ((top + y) * sheet->width + left + x);
            if (facts->channels == 1) memset(to, *from, 3);
            else memcpy(to, from, 3);
        }
    }
}

static int sheet_fill(struct dataset *ds, enum split split, struct image *sheet, uint8_t *labels, uint8_t *pixels)
{
    const struct dataset_facts *facts = dataset_facts(ds);
    int64_t n = facts->count[split];
    int drawn[256] = {0};
    TRY(dataset_read(ds, split, "labels", 0, n, labels));
    for (int64_t i = 0; i < n; i++) {
        int row = labels[i];
        if (drawn[row] == CONTACT_SHEET_COLUMNS) continue;
        TRY(dataset_read(ds, split, "images", i, 1, pixels));
        sheet_paste(facts, pixels, sheet, row, drawn[row]++);
    }
    return 0;
}

int contact_sheet_write(struct dataset *ds, enum split split, const char *path)
{
    const struct dataset_facts *facts = dataset_facts(ds);
    if (dataset_field(ds, "jpeg") != NULL)
        return fail(ERR_USAGE, "%s has pictures of many sizes: a sheet needs images of one size, as cifar10 and synthetic have",
                    facts->name);
    if (facts->height == 0) return fail(ERR_USAGE, "%s has no images to show", facts->name);
    struct image sheet = {
        .height = CONTACT_SHEET_GAP + facts->classes * (facts->height * CONTACT_SHEET_ZOOM + CONTACT_SHEET_GAP),
        .width = CONTACT_SHEET_GAP + CONTACT_SHEET_COLUMNS * (facts->width * CONTACT_SHEET_ZOOM + CONTACT_SHEET_GAP),
    };
    size_t size = (size_t)sheet.height * (size_t)sheet.width * 3;
    sheet.pixels = zalloc(size);
    memset(sheet.pixels, CONTACT_SHEET_GREY, size);
    uint8_t *labels = zalloc((size_t)facts->count[split] + 1),
            *pixels = zalloc((size_t)(facts->height * facts->width * 3));
    int rc = sheet_fill(ds, split, &sheet, labels, pixels);
    if (rc == 0) rc = image_write_png(path, &sheet);
    free(pixels);
    free(labels);
    image_free(&sheet);
    return rc;
}
