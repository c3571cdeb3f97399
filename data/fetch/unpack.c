// SPDX-License-Identifier: Apache-2.0
// Unpacks archives of any format that libarchive reads. Names in an archive never become paths: a member is extracted if the
// last part of its name is a file of the source's table, and gets the table's name. So nothing is written outside the folder.
// Links, devices and all other members are skipped. A compressed file that is no archive is one member that has its name
// without the ending.
//
// Invariant: every file has exactly the table's size, and all files are complete before the first gets its name. Cost: one
// pass over the archive, 64 KB of memory.
//
// A source with a tree has no table: of an archive whose SHA-256 was checked, the files below one folder are extracted, whose
// names are plain (letters, digits, '_', '-', '.'). They appear in a folder NAME.new, which gets its name at the end.
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/fetch/unpack.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "runtime/common/base/whole.h"

enum { UNPACK_BLOCK = 1 << 16, UNPACK_MEMBERS_MAX = 1 << 20, UNPACK_NAME = 200 };

struct unpack {
    const struct source *source;
    const char *path, *folder;
    struct archive *archive;
    struct whole whole[SOURCE_FILES_MAX];
    int64_t leaves;  // files of a tree
};

static int unpack_wanted(const struct unpack *unpack, struct archive_entry *entry)
{
    bool raw = archive_format(unpack->archive) == ARCHIVE_FORMAT_RAW;
    const char *name = raw ? unpack->path : archive_entry_pathname(entry);
    if (name == NULL || archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != NULL) return -1;
    const char *slash = strrchr(name, '/');
    if (slash != NULL) name = slash + 1;
    const char *dot = raw ? strrchr(name, '.') : NULL;
    size_t length = dot != NULL ? (size_t)(dot - name) : strlen(name);
    for (int i = 0; unpack->source->file[i].name != NULL; i++) {
        const char *wanted = unpack->source->file[i].name;
        if (strlen(wanted) == length && strncmp(wanted, name, length) == 0) return i;
    }
    return -1;
}

static int unpack_file(struct unpack *unpack, int i)
{
    const struct source_file *file = &unpack->source->file[i];
    struct whole *whole = &unpack->whole[i];
    if (whole->path != NULL) return fail(ERR_INPUT, "%s has %s twice", unpack->path, file->name);
    struct text path = {0};
    text_add(&path, "%s/%s", unpack->folder, file->name);
    int rc = whole_open(whole, path.at);
    text_free(&path);
    TRY(rc);
    char block[UNPACK_BLOCK];
    for (;;) {
        la_ssize_t got = archive_read_data(unpack->archive, block, sizeof block);
        if (got < 0) {
            return fail(ERR_INPUT, "%s ends within %s after byte %lld: %s", unpack->path, file->name,
                        (long long)whole->bytes, archive_error_string(unpack->archive));
        }
        if (got == 0) break;
        if (whole->bytes + got > file->bytes) {
            return fail(ERR_INPUT, "%s: %s is longer than its %lld bytes", unpack->path, file->name,
                        (long long)file->bytes);
        }
        TRY(whole_write(whole, block, (size_t)got));
    }
    if (whole->bytes < file->bytes) {
        return fail(ERR_INPUT, "%s: %s must have %lld bytes; got %lld", unpack->path, file->name,
                    (long long)file->bytes, (long long)whole->bytes);
    }
    return whole_close(whole);
}

// ---- a tree

// What follows the folder of the tree in a member's name, if that is a plain name of a file; else NULL.
static const char *leaf_name(const struct unpack *unpack, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry), *tree = unpack->source->tree;
    if (name == NULL || archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != NULL) return NULL;
    if (strncmp(name, "./", 2) == 0) name += 2;
    if (strncmp(name, tree, strlen(tree)) != 0) return NULL;
    name += strlen(tree);
    if (*name == '\0' || strlen(name) > UNPACK_NAME || strstr(name, "//") != NULL || strstr(name, "/.") != NULL) return NULL;
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./";
    return name[0] != '.' && name[0] != '/' && name[strspn(name, plain)] == '\0' ? name : NULL;
}

static int write_leaf(struct unpack *unpack, const char *path)
{
    char block[UNPACK_BLOCK];
    la_ssize_t got;
    FILE *file = fopen(path, "wb");
    if (file == NULL) return fail_errno(ERR_IO, errno, "cannot write %s", path);
    while ((got = archive_read_data(unpack->archive, block, sizeof block)) > 0)
        if (fwrite(block, 1, (size_t)got, file) != (size_t)got) break;
    int reason = errno;
    bool written = got <= 0 && !ferror(file);
    written = fclose(file) == 0 && written;
    if (!written) return fail_errno(ERR_IO, reason, "cannot write %s", path);
    if (got < 0) return fail(ERR_INPUT, "%s ends within %s: %s", unpack->path, path, archive_error_string(unpack->archive));
    unpack->leaves++;
    return 0;
}

static int unpack_leaf(struct unpack *unpack, struct archive_entry *entry)
{
    const char *name = leaf_name(unpack, entry);
    if (name == NULL) return 0;
    struct text path = {0};
    text_add(&path, "%s/%s", unpack->folder, name);
    char *slash = strrchr(path.at, '/');
    *slash = '\0';
    int rc = file_make_folder(path.at);
    *slash = '/';
    if (rc == 0) rc = write_leaf(unpack, path.at);
    text_free(&path);
    return rc;
}

static int unpack_members(struct unpack *unpack, struct archive_entry *entry)
{
    int rc;
    for (int members = 0; (rc = archive_read_next_header2(unpack->archive, entry)) != ARCHIVE_EOF; members++) {
        if (rc != ARCHIVE_OK && rc != ARCHIVE_WARN) {
            return fail(ERR_INPUT, "%s is not a valid archive: %s", unpack->path,
                        archive_error_string(unpack->archive));
        }
        if (members == UNPACK_MEMBERS_MAX) return fail(ERR_INPUT, "%s has more than %d members", unpack->path, members);
        int i = unpack->source->tree == NULL ? unpack_wanted(unpack, entry) : -1;
        if (i >= 0) TRY(unpack_file(unpack, i));
        if (unpack->source->tree != NULL) TRY(unpack_leaf(unpack, entry));
    }
    return 0;
}

static int unpack_one(struct unpack *unpack)
{
    struct archive *archive = unpack->archive = archive_read_new();
    struct archive_entry *entry = archive_entry_new();
    int rc = 0;
    if (archive == NULL || entry == NULL) rc = fail(ERR_MEMORY, "not enough memory to unpack %s", unpack->path);
    else if (archive_read_support_filter_all(archive) != ARCHIVE_FATAL &&
             archive_read_support_format_all(archive) != ARCHIVE_FATAL &&
             archive_read_support_format_raw(archive) != ARCHIVE_FATAL &&
             archive_read_open_filename(archive, unpack->path, UNPACK_BLOCK) == ARCHIVE_OK) rc = unpack_members(unpack, entry);
    else rc = fail(ERR_INPUT, "cannot unpack %s: %s", unpack->path, archive_error_string(unpack->archive));
    archive_read_free(archive);
    archive_entry_free(entry);
    return rc;
}

// True if the file is a part of its own.
static bool unpack_is_plain(const struct source *source, const struct source_file *file)
{
    for (const struct source_part *part = source->part; part->url != NULL; part++)
        if (source_part_file(source, part) == file) return true;
    return false;
}

static int unpack_commit(struct unpack *unpack, int archives)
{
    const struct source_file *file = unpack->source->file;
    for (int i = 0; file[i].name != NULL; i++)
        if (unpack->whole[i].path == NULL && !unpack_is_plain(unpack->source, &file[i]))
            return fail(ERR_INPUT, "%s%s does not have %s", unpack->path, archives > 1 ? ", as the others," : "", file[i].name);
    for (int i = 0; file[i].name != NULL; i++)
        if (unpack->whole[i].path != NULL) TRY(whole_commit(&unpack->whole[i]));
    return 0;
}

int unpack_archives(const struct source *source, const char *const *archive, int count, const char *to)
{
    struct text folder = {0};
    text_add(&folder, "%s/%s", to, source->folder);
    struct unpack unpack = {.source = source, .folder = folder.at};
    int rc = file_make_folder(folder.at);
    for (int i = 0; i < count && rc == 0; i++) {
        unpack.path = archive[i];
        rc = unpack_one(&unpack);
    }
    if (rc == 0) rc = unpack_commit(&unpack, count);
    for (int i = 0; i < SOURCE_FILES_MAX; i++) whole_end(&unpack.whole[i]);
    text_free(&folder);
    return rc;
}

int unpack_tree(const struct source *source, const char *const *archive, int count, const char *to)
{
    struct text folder = {0}, fresh = {0};
    text_add(&folder, "%s/%s", to, source->folder);
    text_add(&fresh, "%s.new", folder.at);
    struct unpack unpack = {.source = source, .folder = fresh.at};
    int rc = file_make_folder(fresh.at);
    for (int i = 0; i < count && rc == 0; i++) {
        unpack.path = archive[i];
        int64_t before = unpack.leaves;
        rc = unpack_one(&unpack);
        if (rc == 0 && unpack.leaves == before) rc = fail(ERR_INPUT, "%s has no file below %s", archive[i], source->tree);
    }
    if (rc == 0 && rename(fresh.at, folder.at) != 0)
        rc = fail_errno(ERR_IO, errno, "cannot give %s the name %s", fresh.at, folder.at);
    text_free(&fresh);
    text_free(&folder);
    return rc;
}
