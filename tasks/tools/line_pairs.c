// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/line_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/unicode.h"
#include "runtime/common/base/file.h"

enum { FILE_MOST = 1 << 30 };

struct lines {
    char *bytes;
    size_t count, next;  // bytes of the file; where the next line begins
    int64_t number;      // of the last line that was read, from 1
};

// A line ends with \n or with the file; every other separator is part of it. Returns 1, or 0 at the end.
static int next_line(const char *path, struct lines *l, const char **line, size_t *bytes)
{
    if (l->next >= l->count) return 0;
    const char *from = l->bytes + l->next, *end = memchr(from, '\n', l->count - l->next);
    *line = from;
    *bytes = end ? (size_t)(end - from) : l->count - l->next;
    l->next += *bytes + 1;
    l->number++;
    size_t valid = unicode_valid(from, *bytes);
    if (valid == *bytes) return 1;
    return fail(ERR_INPUT, "%s:%lld: byte %zu of the line is not UTF-8", path, (long long)l->number, valid + 1);
}

static int refuse_lines(const char *const path[2], const struct lines file[2], int which, const char *each)
{
    return fail(ERR_INPUT, "%s has %lld line%s and %s has more: %s, on the same line", path[which],
                (long long)file[which].number, file[which].number == 1 ? "" : "s", path[!which], each);
}

static int read_pairs(const char *const path[2], struct lines file[2], const char *each,
                      int (*take)(void *context, const struct line_pair *), void *context)
{
    for (;;) {
        struct line_pair pair;
        int more[2];
        for (int i = 0; i < 2; i++) TRY(more[i] = next_line(path[i], &file[i], &pair.at[i], &pair.bytes[i]));
        if (!more[0] && !more[1]) return 0;
        if (more[0] != more[1])
            return refuse_lines(path, file, more[1] ? 0 : 1, each);
        pair.number = file[0].number;
        TRY(take(context, &pair));
    }
}

int line_pairs_read(const char *const path[2], const char *each, int (*take)(void *context, const struct line_pair *),
                    void *context)
{
    struct lines file[2] = {0};
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++) rc = file_read(path[i], FILE_MOST, &file[i].bytes, &file[i].count);
    if (rc == 0) rc = read_pairs(path, file, each, take, context);
    for (int i = 0; i < 2; i++) free(file[i].bytes);
    return rc;
}
