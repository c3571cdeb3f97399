// SPDX-License-Identifier: Apache-2.0
// A whole archive: the folders of DAWNBench's contests, each with train/ and inference/. Links are not followed, and only regular
// files are opened. Entries are ordered by contest, then by name, on any machine.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/common/base/file.h"
#include "scoreboard/dawnbench/dawnbench_inside.h"

enum { FOLDER_FILES = 20000, FOLDER_BYTES = 256 << 20 };  // far above the archive's 187 files; a limit against accidents

struct walk {
    const char *root;
    int (*said)(void *, const char *);
    void *who;
    struct dawnbench_archive *archive;
    size_t bytes;
    int files;
};

static int report_line(struct walk *w, const char *line)
{
    struct text clean = {0};
    dawnbench_line(line, &clean);
    int rc = w->said(w->who, clean.at != NULL ? clean.at : "");
    text_free(&clean);
    return rc;
}

// Reports the last failure and continues.
static int refuse_folder(struct walk *w)
{
    struct text line = {0};
    w->archive->refused++;
    text_add(&line, "%s (refused)", error_text());
    int rc = report_line(w, line.at);
    text_free(&line);
    return rc;
}

static int tell_quirks(struct walk *w, const struct dawnbench_entry *e)
{
    int rc = 0;
    for (const char *at = e->quirks.at; *at != 0 && rc == 0;) {
        size_t length = strcspn(at, "\n");
        struct text line = {0};
        text_add(&line, "%s.%.*s", e->source, (int)length, at);
        rc = report_line(w, line.at);
        text_free(&line);
        at += length + (at[length] == '\n');
    }
    return rc;
}

static bool ends_with(const char *name, const char *tail)
{
    size_t n = strlen(name), m = strlen(tail);
    return n > m && strcmp(name + n - m, tail) == 0;
}

// `name` is relative to the root and names the file in sentences.
static int read_regular(struct walk *w, const char *name, char **bytes, size_t *count)
{
    struct stat st;
    struct text path = {0};
    int rc = 0;
    *bytes = NULL;
    text_add(&path, "%s/%s", w->root, name);
    if (lstat(path.at, &st) != 0)
        rc = fail_errno(ERR_IO, errno, "%s: cannot be read", name);
    else if (S_ISLNK(st.st_mode)) rc = fail(ERR_INPUT, "%s: is a symbolic link", name);
    else if (!S_ISREG(st.st_mode)) rc = fail(ERR_INPUT, "%s: is not a regular file", name);
    else if (st.st_size > DAWNBENCH_FILE) rc = fail(ERR_INPUT, "%s: is larger than 1 MiB", name);
    else if (file_read(path.at, DAWNBENCH_FILE, bytes, count) < 0) rc = fail(ERR_INPUT, "%s: cannot be read", name);
    text_free(&path);
    if (rc == 0) w->bytes += *count;
    return rc;
}

static void append_entry(struct dawnbench_archive *archive, struct dawnbench_entry *e)
{
    if ((archive->count & (archive->count - 1)) == 0)  // capacity: the next power of two
        archive->at = grow(archive->at, (size_t)(archive->count > 0 ? archive->count * 2 : 1) * sizeof *archive->at);
    archive->at[archive->count++] = e;
}

static int read_entry(struct walk *w, const struct contest *contest, bool training, const char *folder, const char *stem)
{
    char *json = NULL, *tsv = NULL;
    size_t json_count = 0, tsv_count = 0;
    struct text name = {0};
    struct dawnbench_entry *e = NULL;
    text_add(&name, "%s/%s.json", folder, stem);
    int rc = read_regular(w, name.at, &json, &json_count);
    if (rc == 0 && training) {
        name.length = 0;
        text_add(&name, "%s/%s.tsv", folder, stem);
        rc = read_regular(w, name.at, &tsv, &tsv_count);
    }
    if (rc == 0) rc = dawnbench_read(contest, training, stem, json, json_count, tsv, tsv_count, &e);
    free(json);
    free(tsv);
    text_free(&name);
    if (rc < 0) return refuse_folder(w);
    append_entry(w->archive, e);
    return tell_quirks(w, e);
}

// Reports a log without its JSON, and files that are neither.
static int tell_other(struct walk *w, const char *folder, const char *name, bool alone)
{
    if (alone) (void)fail(ERR_INPUT, "%s/%s: has no .json", folder, name);
    else (void)fail(ERR_INPUT, "%s/%s: is neither a .json nor the .tsv of a training", folder, name);
    return refuse_folder(w);
}

static bool has_json(struct walk *w, const char *folder, const char *name)
{
    struct text path = {0};
    text_add(&path, "%s/%s/%.*s.json", w->root, folder, (int)(strlen(name) - strlen(".tsv")), name);
    bool found = file_exists(path.at);
    text_free(&path);
    return found;
}

static int read_name(struct walk *w, const struct contest *contest, bool training, const char *folder, const char *name)
{
    size_t length = strlen(name);
    if (name[0] == '.') return 0;
    if (++w->files > FOLDER_FILES || w->bytes > FOLDER_BYTES)
        return fail(ERR_INPUT, "%s holds more than %d files or %d MiB", w->root, (int)FOLDER_FILES, FOLDER_BYTES >> 20);
    if (ends_with(name, ".json")) {
        char *stem = copy_text(name);
        stem[length - strlen(".json")] = 0;
        int rc = read_entry(w, contest, training, folder, stem);
        free(stem);
        return rc;
    }
    if (!training || !ends_with(name, ".tsv")) return tell_other(w, folder, name, false);
    return has_json(w, folder, name) ? 0 : tell_other(w, folder, name, true);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

// True if the folder exists below the root. Reports a link or another thing in its place.
static int is_there(struct walk *w, const char *name, bool *there)
{
    struct stat st;
    struct text path = {0};
    text_add(&path, "%s/%s", w->root, name);
    bool found = lstat(path.at, &st) == 0;
    *there = found && S_ISDIR(st.st_mode);
    text_free(&path);
    if (!found || *there) return 0;
    (void)fail(ERR_INPUT, "%s: is not a folder", name);
    return refuse_folder(w);
}

static int read_folder(struct walk *w, const struct contest *contest, bool training)
{
    struct dirent **names;
    struct text folder = {0}, path = {0};
    bool there = false;
    text_add(&folder, "%s/%s", contest->title, training ? "train" : "inference");
    text_add(&path, "%s/%s", w->root, folder.at);
    int rc = is_there(w, folder.at, &there);
    int count = rc == 0 && there ? scandir(path.at, &names, NULL, by_bytes) : 0;
    if (count < 0) rc = fail_errno(ERR_IO, errno, "cannot read the folder %s", path.at);
    for (int i = 0; i < count && rc == 0; i++) rc = read_name(w, contest, training, folder.at, names[i]->d_name);
    if (there && count >= 0) {
        for (int i = 0; i < count; i++) free(names[i]);
        free(names);
    }
    text_free(&folder);
    text_free(&path);
    return rc;
}

static int read_contest(struct walk *w, const struct contest *contest, int *found)
{
    bool there;
    if (contest->dawnbench_column == NULL) return 0;
    TRY(is_there(w, contest->title, &there));
    if (!there) return 0;
    ++*found;
    TRY(read_folder(w, contest, true));
    return read_folder(w, contest, false);
}

// Explains an empty result. The likely mistake is the folder of one task.
static int no_archive(const char *folder)
{
    static const char *const parts[] = {"train", "inference"};
    for (int i = 0; i < 2; i++) {
        struct text path = {0};
        text_add(&path, "%s/%s", folder, parts[i]);
        bool one_task = file_exists(path.at);
        text_free(&path);
        if (one_task) return fail(ERR_INPUT, "%s is the folder of a single task; give the archive's, which holds it", folder);
    }
    const char *titles[CONTESTS_MAX];
    int contests, count = 0;
    const struct contest *table = contest_table(&contests);
    for (int i = 0; i < contests; i++)
        if (table[i].dawnbench_column != NULL) titles[count++] = table[i].title;
    struct text list = {0};
    text_list(&list, titles, count, " or ");
    int rc = fail(ERR_INPUT, "%s holds no folder %s: it is not an archive of DAWNBench", folder, list.at);
    text_free(&list);
    return rc;
}

static void forget(struct dawnbench_archive *archive)
{
    dawnbench_archive_free(archive);
    *archive = (struct dawnbench_archive){0};
}

int dawnbench_folder(const char *folder, int (*said)(void *, const char *line), void *who, struct dawnbench_archive *archive)
{
    struct walk w = {folder, said, who, archive, 0, 0};
    struct stat st;
    int contests, found = 0, rc = 0;
    *archive = (struct dawnbench_archive){0};
    if (stat(folder, &st) != 0) return fail_errno(ERR_IO, errno, "cannot read the folder %s", folder);
    if (!S_ISDIR(st.st_mode)) return fail(ERR_INPUT, "%s is not a folder", folder);
    const struct contest *table = contest_table(&contests);
    for (int i = 0; i < contests && rc == 0; i++) rc = read_contest(&w, &table[i], &found);
    if (rc == 0 && found == 0) rc = no_archive(folder);
    if (rc != 0) forget(archive);
    return rc;
}
