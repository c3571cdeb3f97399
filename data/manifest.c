// SPDX-License-Identifier: Apache-2.0
// {"format": 1, "files": {"/data/a.bin": [DEVICE, INODE, SIZE, MTIME_NS, READ_MS, "SHA-256"]},
//  "values": {"KEY": [READ_MS, "SHA-256"]}}
#include "data/manifest.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"

enum { FORMAT = 1, SETTLED_MS = 2000 };

// ---- contents

const struct manifest_file *manifest_find(const struct manifest *m, const char *path, const struct manifest_key *key)
{
    for (int i = 0; i < m->files; i++)
        if (strcmp(m->file[i].path, path) == 0 && memcmp(&m->file[i].key, key, sizeof *key) == 0) return &m->file[i];
    return NULL;
}

const struct manifest_value *manifest_find_value(const struct manifest *m, const char *key)
{
    for (int i = 0; i < m->values; i++)
        if (strcmp(m->value[i].key, key) == 0) return &m->value[i];
    return NULL;
}

void manifest_put(struct manifest *m, const char *path, const struct manifest_key *key, int64_t read_ms, const char *hex)
{
    int at = 0, oldest = 0;
    while (at < m->files && strcmp(m->file[at].path, path) != 0) {
        if (m->file[at].read_ms < m->file[oldest].read_ms) oldest = at;
        at++;
    }
    if (at == MANIFEST_FILES) at = oldest;
    if (at == m->files) {
        m->file = grow(m->file, (size_t)++m->files * sizeof *m->file);
        m->file[at] = (struct manifest_file){0};
    }
    struct manifest_file *file = &m->file[at];
    char *copy = copy_text(path);
    free(file->path);
    *file = (struct manifest_file){.path = copy, .key = *key, .read_ms = read_ms};
    memcpy(file->hex, hex, DIGEST_HEX);
}

void manifest_put_value(struct manifest *m, const char *key, int64_t read_ms, const char *hex)
{
    int at = 0, oldest = 0;
    while (at < m->values && strcmp(m->value[at].key, key) != 0) {
        if (m->value[at].read_ms < m->value[oldest].read_ms) oldest = at;
        at++;
    }
    if (at == MANIFEST_VALUES) at = oldest;
    if (at == m->values) m->value = grow(m->value, (size_t)++m->values * sizeof *m->value);
    m->value[at].read_ms = read_ms;
    memmove(m->value[at].key, key, DIGEST_HEX);
    memmove(m->value[at].hex, hex, DIGEST_HEX);
}

void manifest_free(struct manifest *m)
{
    for (int i = 0; i < m->files; i++) free(m->file[i].path);
    free(m->file);
    free(m->value);
    *m = (struct manifest){0};
}

// ---- as bytes

static bool is_hex(const char *text)
{
    return text != NULL && strlen(text) == DIGEST_HEX - 1 && strspn(text, "0123456789abcdef") == DIGEST_HEX - 1;
}

static bool read_numbers(const json_t *array, int64_t *into, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(array, i);
        if (!json_is_integer(number)) return false;
        into[i] = json_integer_value(number);
    }
    return true;
}

static int parse_files(const char *name, json_t *files, struct manifest *m)
{
    const char *path;
    json_t *row;
    if (!json_is_object(files) || json_object_size(files) > MANIFEST_FILES)
        return fail(ERR_INPUT, "%s has no list of at most %d files", name, MANIFEST_FILES);
    json_object_foreach(files, path, row)
    {
        int64_t n[5];
        const char *hex = json_string_value(json_array_get(row, 5));
        if (json_array_size(row) != 6 || !read_numbers(row, n, 5) || !is_hex(hex) || n[2] < 0 || n[4] < 0 || path[0] != '/' ||
            strlen(path) >= MANIFEST_PATH)
            return fail(ERR_INPUT, "%s: the entry of a file is not five numbers and a digest", name);
        manifest_put(m, path, &(struct manifest_key){n[0], n[1], n[2], n[3]}, n[4], hex);
    }
    return 0;
}

static int parse_values(const char *name, json_t *values, struct manifest *m)
{
    const char *key;
    json_t *row;
    if (!json_is_object(values) || json_object_size(values) > MANIFEST_VALUES)
        return fail(ERR_INPUT, "%s has no list of at most %d values", name, MANIFEST_VALUES);
    json_object_foreach(values, key, row)
    {
        int64_t read_ms;
        const char *hex = json_string_value(json_array_get(row, 1));
        if (json_array_size(row) != 2 || !read_numbers(row, &read_ms, 1) || read_ms < 0 || !is_hex(key) || !is_hex(hex))
            return fail(ERR_INPUT, "%s has a value that is not a digest", name);
        manifest_put_value(m, key, read_ms, hex);
    }
    return 0;
}

int manifest_parse(const char *name, const char *bytes, size_t count, struct manifest *m)
{
    *m = (struct manifest){0};
    if (count > MANIFEST_BYTES) return fail(ERR_INPUT, "%s is larger than %d bytes", name, MANIFEST_BYTES);
    json_error_t error;
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) return fail(ERR_INPUT, "%s: line %d: %s", name, error.line, error.text);
    int rc = 0;
    if (json_integer_value(json_object_get(root, "format")) != FORMAT)
        rc = fail(ERR_INPUT, "%s is not of format %d", name, FORMAT);
    if (rc == 0) rc = parse_files(name, json_object_get(root, "files"), m);
    if (rc == 0) rc = parse_values(name, json_object_get(root, "values"), m);
    json_decref(root);
    if (rc < 0) manifest_free(m);
    return rc;
}

char *manifest_print(const struct manifest *m)
{
    json_t *files = json_object(), *values = json_object();
    for (int i = 0; i < m->files; i++) {
        const struct manifest_file *f = &m->file[i];
        json_t *row = json_pack("[I, I, I, I, I, s]", (json_int_t)f->key.device, (json_int_t)f->key.inode,
                                (json_int_t)f->key.size, (json_int_t)f->key.mtime_ns, (json_int_t)f->read_ms, f->hex);
        (void)json_object_set_new(files, f->path, row);  // a path that is not UTF-8 is not remembered
    }
    for (int i = 0; i < m->values; i++)
        json_object_set_new(values, m->value[i].key, json_pack("[I, s]", (json_int_t)m->value[i].read_ms, m->value[i].hex));
    json_t *root = json_pack("{s:i, s:o, s:o}", "format", FORMAT, "files", files, "values", values);
    BUG_IF(root == NULL);
    char *json = json_dumps(root, JSON_INDENT(1) | JSON_SORT_KEYS), *copy = copy_text(json != NULL ? json : "");
    free(json);
    json_decref(root);
    return copy;
}

// ---- as a file

char *manifest_cache_path(const char *name)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"XDG_CACHE_HOME", "/dawn"}, {"HOME", "/.cache/dawn"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *value = getenv(places[i].variable);
        if (value == NULL || value[0] != '/') continue;  // the XDG specification: ignore a relative one
        struct text path = {0};
        text_add(&path, "%s%s/%s", value, places[i].below, name);
        return path.at;
    }
    return NULL;
}

static char *digests_path(void)
{
    return manifest_cache_path("digests.json");
}

// Others who may write here could change the digests that are read.
static bool is_ours(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static char *folder_of(const char *path)
{
    char *folder = copy_text(path);
    *strrchr(folder, '/') = '\0';
    return folder;
}

static bool folder_is_ours(const char *path)
{
    struct stat st;
    char *folder = folder_of(path);
    bool ours = stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && is_ours(&st);
    free(folder);
    return ours;
}

bool manifest_cache_read(const char *path, size_t limit, char **bytes, size_t *count)
{
    struct stat st;
    *bytes = NULL;
    return folder_is_ours(path) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && is_ours(&st) &&
           file_read(path, limit, bytes, count) == 0;
}

void manifest_load(struct manifest *m)
{
    *m = (struct manifest){0};
    char *path = digests_path(), *bytes = NULL;
    size_t count;
    if (path != NULL && manifest_cache_read(path, MANIFEST_BYTES, &bytes, &count) && manifest_parse(path, bytes, count, m) < 0)
        *m = (struct manifest){0};
    free(bytes);
    free(path);
}

// Only the last folder is private. The folders above it get the usual mode.
static bool folder_is_made(const char *path)
{
    char *folder = folder_of(path), *above = folder_of(folder);
    bool made = file_exists(folder) || ((*above == '\0' || file_make_folder(above) == 0) && mkdir(folder, S_IRWXU) == 0) ||
                errno == EEXIST;  // a concurrent run may have made it
    free(above);
    free(folder);
    return made && folder_is_ours(path);
}

void manifest_cache_write(const char *path, const void *bytes, size_t count)
{
    if (folder_is_made(path) && file_write(path, bytes, count) == 0)
        (void)!chmod(path, S_IRUSR | S_IWUSR);  // independent of the umask
}

void manifest_save(const struct manifest *m)
{
    char *path = digests_path();
    if (path != NULL) {
        char *json = manifest_print(m);
        manifest_cache_write(path, json, strlen(json));
        free(json);
    }
    free(path);
}

// ---- files

struct manifest_key manifest_key_from(const struct stat *st)
{
    return (struct manifest_key){(int64_t)st->st_dev, (int64_t)st->st_ino, st->st_size,
                                 (int64_t)((uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec)};
}

int manifest_key_of(const char *path, struct manifest_key *key)
{
    struct stat st;
    if (stat(path, &st) != 0) return fail_errno(ERR_IO, errno, "cannot examine %s", path);
    *key = manifest_key_from(&st);
    return 0;
}

bool manifest_key_settled(const struct manifest_key *key, int64_t now_ms)
{
    return key->mtime_ns / 1000000 < now_ms - SETTLED_MS;
}

int manifest_digest(const char *path, char hex[DIGEST_HEX], bool *remembered)
{
    char *whole = realpath(path, NULL);
    if (whole == NULL) return fail_errno(ERR_IO, errno, "cannot find %s", path);
    struct manifest known = {0};
    struct manifest_key key, after;
    int64_t now_ms = clock_unix_ms();
    manifest_load(&known);
    int rc = manifest_key_of(whole, &key);
    const struct manifest_file *file = rc == 0 ? manifest_find(&known, whole, &key) : NULL;
    *remembered = file != NULL;
    if (file != NULL) memcpy(hex, file->hex, DIGEST_HEX);
    else if (rc == 0) rc = digest_file(whole, hex);
    if (rc == 0 && file == NULL) rc = manifest_key_of(whole, &after);
    if (rc == 0 && file == NULL && memcmp(&after, &key, sizeof key) == 0 && manifest_key_settled(&key, now_ms)) {
        manifest_put(&known, whole, &key, now_ms, hex);
        manifest_save(&known);
    }
    manifest_free(&known);
    free(whole);
    return rc;
}
