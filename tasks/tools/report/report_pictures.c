// SPDX-License-Identifier: Apache-2.0
// A picture is data in the page, so that the page stays one file, and an image, so that no style or script of its own acts there.
#include "tasks/tools/report/report_inside.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/file.h"
#include "runtime/common/draw/html.h"

enum { PICTURE_BYTES = 16 << 20, DIGITS = sodium_base64_VARIANT_ORIGINAL };

static const char *type_of(const char *bytes)
{
    if (!strncmp(bytes, "<svg", 4) || !strncmp(bytes, "<?xml", 5)) return "image/svg+xml";
    return strncmp(bytes, "\x89PNG\r\n", 6) ? NULL : "image/png";
}

int report_add_picture(const char *path, struct text *html)
{
    char *bytes;
    size_t count;
    if (*path == 0) return fail(ERR_USAGE, "--picture must not be empty (FILE)");
    TRY(file_read(path, PICTURE_BYTES, &bytes, &count));
    const char *type = type_of(bytes), *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int rc = type ? 0 : fail(ERR_INPUT, "%s is neither SVG nor PNG", path);
    if (rc == 0) {
        size_t room = sodium_base64_encoded_len(count, DIGITS);
        char *digits = sodium_bin2base64(zalloc(room), room, (const unsigned char *)bytes, count, DIGITS);
        html_add(html, "<figure class=\"chart full\"><figcaption>%s</figcaption>\n<img alt=\"%s\" src=\"data:%s;base64,%s\">"
                       "</figure>\n", name, name, type, digits);
        free(digits);
    }
    free(bytes);
    return rc;
}
