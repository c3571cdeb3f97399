// SPDX-License-Identifier: Apache-2.0
// {"format": 1, "machine": "NVIDIA H200, 9.0, driver 13000, ...", "choices": {"forward f16 ...": [62, 0, [[2, 3], ...]]}}
#include "runtime/cuda/dnn/dnn_cache.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"

enum { FORMAT = 1 };

static bool read_whole(const json_t *value, int64_t low, int64_t high, int64_t *into)
{
    if (!json_is_integer(value)) return false;
    *into = json_integer_value(value);
    return *into >= low && *into <= high;
}

static bool is_plain(const char *text)  // as dnn.c writes it: printable and of limited length
{
    size_t length = 0;
    for (; text[length]; length++)
        if (text[length] < ' ' || text[length] > '~' || length + 1 >= DNN_PROBLEM_TEXT) return false;
    return length > 0;
}

static bool read_choice(const json_t *from, struct dnn_choice *choice)
{
    *choice = (struct dnn_choice){0};
    const json_t *knobs = json_array_get(from, 2);
    if (json_array_size(from) != 3 || !json_is_array(knobs) || json_array_size(knobs) > DNN_KNOBS) return false;
    if (!read_whole(json_array_get(from, 0), 0, 1 << 20, &choice->engine)) return false;
    if (!read_whole(json_array_get(from, 1), 0, INT64_C(1) << 50, &choice->ns)) return false;
    choice->knobs = (int)json_array_size(knobs);
    for (int i = 0; i < choice->knobs; i++) {
        const json_t *knob = json_array_get(knobs, (size_t)i);
        if (json_array_size(knob) != 2 || !read_whole(json_array_get(knob, 0), 0, 1 << 20, &choice->knob[i].type) ||
            !read_whole(json_array_get(knob, 1), -(INT64_C(1) << 40), INT64_C(1) << 40, &choice->knob[i].value))
            return false;
    }
    return true;
}

static int read_all(json_t *root, const char *machine, struct dnn_cache *into)
{
    int64_t format;
    const char *of = json_string_value(json_object_get(root, "machine"));
    json_t *choices = json_object_get(root, "choices"), *value;
    if (!read_whole(json_object_get(root, "format"), FORMAT, FORMAT, &format) || !of || strcmp(of, machine) != 0)
        return fail(ERR_INPUT, "cuDNN's engine cache is for another machine or version");
    if (!json_is_object(choices) || json_object_size(choices) > DNN_CACHE_ENTRIES)
        return fail(ERR_INPUT, "cuDNN's engine cache: choices must be an object of at most %d members", DNN_CACHE_ENTRIES);
    const char *problem;
    json_object_foreach(choices, problem, value)
    {
        struct dnn_choice choice;
        if (!is_plain(problem) || !read_choice(value, &choice))
            return fail(ERR_INPUT, "cuDNN's engine cache holds an invalid choice");
        dnn_cache_put(into, problem, &choice);
    }
    return 0;
}

int dnn_cache_parse(const char *bytes, size_t count, const char *machine, struct dnn_cache *into)
{
    *into = (struct dnn_cache){0};
    if (count > DNN_CACHE_BYTES) return fail(ERR_INPUT, "cuDNN's engine cache is too large");
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, NULL);
    if (!root) return fail(ERR_INPUT, "cuDNN's engine cache is not JSON");
    int rc = read_all(root, machine, into);
    json_decref(root);
    if (rc < 0) dnn_cache_free(into);
    return rc;
}

char *dnn_cache_print(const struct dnn_cache *cache, const char *machine)
{
    json_t *choices = json_object();
    json_t *root = json_pack("{s:i, s:s, s:o}", "format", FORMAT, "machine", machine, "choices", choices);
    BUG_IF(!root);  // dnn.c makes a machine's name printable
    for (int i = 0; i < cache->count; i++) {
        const struct dnn_choice *c = &cache->entry[i].choice;
        json_t *knobs = json_array();
        for (int k = 0; k < c->knobs; k++)
            json_array_append_new(knobs, json_pack("[I, I]", (json_int_t)c->knob[k].type, (json_int_t)c->knob[k].value));
        json_object_set_new(choices, cache->entry[i].problem,
                            json_pack("[I, I, o]", (json_int_t)c->engine, (json_int_t)c->ns, knobs));
    }
    char *json = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS), *copy = copy_text(json ? json : "");
    free(json);
    json_decref(root);
    return copy;
}

const struct dnn_choice *dnn_cache_find(const struct dnn_cache *cache, const char *problem)
{
    for (int i = 0; i < cache->count; i++)
        if (strcmp(cache->entry[i].problem, problem) == 0) return &cache->entry[i].choice;
    return NULL;
}

void dnn_cache_put(struct dnn_cache *cache, const char *problem, const struct dnn_choice *choice)
{
    struct dnn_cache_entry *entry = NULL;
    for (int i = 0; i < cache->count && !entry; i++)
        if (strcmp(cache->entry[i].problem, problem) == 0) entry = &cache->entry[i];
    if (!entry) {
        if (cache->count == DNN_CACHE_ENTRIES) return;
        if (cache->count == cache->capacity) {
            cache->capacity = cache->capacity ? 2 * cache->capacity : 32;
            cache->entry = grow(cache->entry, (size_t)cache->capacity * sizeof *cache->entry);
        }
        entry = &cache->entry[cache->count++];
    }
    snprintf(entry->problem, sizeof entry->problem, "%s", problem);
    entry->choice = *choice;
}

void dnn_cache_free(struct dnn_cache *cache)
{
    free(cache->entry);
    *cache = (struct dnn_cache){0};
}

char *dnn_cache_path(const char *machine)
{
    static const struct {
        const char *variable, *below;
    } places[] = {{"XDG_CACHE_HOME", "/dawn"}, {"HOME", "/.cache/dawn"}};
    char hex[DIGEST_HEX];
    digest_bytes(machine, strlen(machine), hex);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *value = getenv(places[i].variable);
        if (!value || value[0] != '/') continue;  // the XDG specification ignores relative paths
        struct text path = {0};
        text_add(&path, "%s%s/cudnn-%.16s.json", value, places[i].below, hex);
        return path.at;
    }
    return NULL;
}

// ---- the file

// Anyone who can write the file controls its contents.
static bool is_ours(const struct stat *st) { return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH)); }

static bool folder_is_ours(const char *folder)
{
    struct stat st;
    return stat(folder, &st) == 0 && S_ISDIR(st.st_mode) && is_ours(&st);
}

static char *folder_of(const char *path)
{
    char *folder = copy_text(path), *slash = strrchr(folder, '/');
    BUG_IF(!slash);  // dnn_cache_path returns absolute paths
    *slash = 0;
    return folder;
}

void dnn_cache_read(const char *path, const char *machine, struct dnn_cache *into)
{
    *into = (struct dnn_cache){0};
    struct stat st;
    char *folder = folder_of(path), *bytes;
    size_t count;
    bool safe = folder_is_ours(folder) && lstat(path, &st) == 0 && S_ISREG(st.st_mode) && is_ours(&st);
    free(folder);
    if (!safe || file_read(path, DNN_CACHE_BYTES, &bytes, &count) < 0) return;
    if (dnn_cache_parse(bytes, count, machine, into) < 0) *into = (struct dnn_cache){0};
    free(bytes);
}

// The parent folders get default permissions; only the last one is private.
static bool make_folder(const char *folder)
{
    struct stat st;
    if (stat(folder, &st) == 0) return folder_is_ours(folder);
    char *above = folder_of(folder);
    bool made = (!*above || file_make_folder(above) == 0) && mkdir(folder, S_IRWXU) == 0;
    free(above);
    return made || folder_is_ours(folder);  // another run may have created it first
}

// Replaces our file even if others could write it: the replacement is a new file.
void dnn_cache_write(const struct dnn_cache *cache, const char *machine, const char *path)
{
    struct stat st;
    char *folder = folder_of(path);
    bool absent = lstat(path, &st) != 0;
    bool safe = make_folder(folder) && (absent || (S_ISREG(st.st_mode) && st.st_uid == geteuid()));
    free(folder);
    if (!safe) return;
    char *json = dnn_cache_print(cache, machine);
    if (file_write(path, json, strlen(json)) == 0) (void)!chmod(path, S_IRUSR | S_IWUSR);  // whatever the umask is
    free(json);
}
