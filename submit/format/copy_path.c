// SPDX-License-Identifier: Apache-2.0
// Invariant: two addresses of a board have two paths, and none is another's folder.
#include "submit/format/copy_path.h"

#include <string.h>

#include "runtime/common/base/file.h"

enum { QUERY_MOST = 150 };  // longer ones are named by their digest: a file's name has at most 255 bytes

static bool begins(const char *text, size_t count, const char *with)
{
    return count >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, size_t count, const char *with)
{
    const size_t length = strlen(with);
    return count >= length && memcmp(text + count - length, with, length) == 0;
}

// Addresses that are named like files.
static bool is_file(const char *path, size_t count)
{
    static const char *const files[] = {"/style.css", "/script.js", "/favicon.svg", "/robots.txt", "/feed.atom", "/api.html",
                                        "/api/v1/openapi.json", "/log/checkpoint"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strlen(files[i]) == count && memcmp(files[i], path, count) == 0) return true;
    if (begins(path, count, "/log/tile/")) return true;
    return begins(path, count, "/boards/") && (ends(path, count, ".csv") || ends(path, count, ".atom"));
}

static void add_query(struct text *into, const char *query)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=._-";
    char hex[DIGEST_HEX];
    if (strlen(query) > QUERY_MOST) {
        digest_bytes(query, strlen(query), hex);
        text_add(into, "q=%s", hex);
        return;
    }
    for (; *query != 0; query++) {
        if (*query == '&') text_add(into, ",");
        else if (strchr(plain, *query) != NULL) text_add(into, "%c", *query);
        else text_add(into, "@%02x", (unsigned char)*query);
    }
}

void copy_path(const char *address, struct text *into)
{
    const size_t count = strcspn(address, "?#");
    const char *query = address[count] == '?' && address[count + 1] != 0 ? address + count + 1 : NULL;
    const char *end = "", *dot;
    const bool api = begins(address, count, "/api/");
    size_t stem = count;
    if (is_file(address, count)) {
        dot = memrchr(address, '.', count);
        if (dot != NULL && !begins(address, count, "/log/")) end = dot, stem = (size_t)(dot - address);
    } else if (api) {
        end = ends(address, count, "/signature") ? ".txt" : ".json";
    }
    text_bytes(into, address, stem);
    if (api || *end != 0 || begins(address, count, "/log/")) {
        if (query != NULL) text_add(into, ","), add_query(into, query);
        if (*end == '.' && end >= address && end < address + count) text_bytes(into, end, count - stem);
        else text_add(into, "%s", end);
        return;
    }
    if (count > 0 && address[count - 1] != '/') text_add(into, "/");
    if (query == NULL) text_add(into, "index.html");
    else add_query(into, query), text_add(into, ".html");
}
