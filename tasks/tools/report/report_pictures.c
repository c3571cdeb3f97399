// SPDX-License-Identifier: Apache-2.0
// A picture is data in the page, so that the page stays one file, and an image, so that no style or script of its own acts there.
#include "tasks/tools/report/report_inside.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/file.h"
#include "runtime/common/draw/html.h"

enum { PICTURE_BYTES = 16 << 20, DIGITS = sodium_base64_VARIANT_ORIGINAL };

static const char *type_of(const char *bytes, size_t count)
{
    static const struct {
        const char *start, *type;
    } rows[] = {{"<svg", "image/svg+xml"}, {"<?xml", "image/svg+xml"}, {"\x89PNG\r\n", "image/png"},
                {"\xff\xd8\xff", "image/jpeg"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = strlen(rows[i].start);
        if (count >= length && !memcmp(bytes, rows[i].start, length)) return rows[i].type;
    }
    return NULL;
}

bool report_put_picture(const char *caption, const char *bytes, size_t count, struct text *html)
{
    const char *type = type_of(bytes, count);
    if (!type) return false;
    size_t capacity = sodium_base64_encoded_len(count, DIGITS);
    char *digits = sodium_bin2base64(zalloc(capacity), capacity, (const unsigned char *)bytes, count, DIGITS);
    html_add(html, "<figure class=\"chart full\"><figcaption>%s</figcaption>\n<img alt=\"%s\" src=\"data:%s;base64,%s\">"
                   "</figure>\n", caption, caption, type, digits);
    free(digits);
    return true;
}

int report_add_picture(const char *path, struct text *html)
{
    char *bytes;
    size_t count;
    if (*path == 0) return fail(ERR_USAGE, "--picture must not be empty (FILE)");
    TRY(file_read(path, PICTURE_BYTES, &bytes, &count));
    const char *slash = strrchr(path, '/');
    bool is = report_put_picture(slash ? slash + 1 : path, bytes, count, html);
    free(bytes);
    return is ? 0 : fail(ERR_INPUT, "%s is neither SVG, PNG nor JPEG", path);
}
