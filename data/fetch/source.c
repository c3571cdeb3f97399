// SPDX-License-Identifier: Apache-2.0
#include "data/fetch/source.h"

#include <string.h>
#include <sys/stat.h>

#include "data/manifest.h"
#include "runtime/common/base/text.h"

const struct source *source_at(int i)
{
    for (int k = 0; dataset_kind(k) != NULL; k++) {
        const struct kind *kind = dataset_kind(k);
        if (kind->source != NULL && strcmp(kind->source->name, kind->name) == 0 && i-- == 0) return kind->source;
    }
    return NULL;
}

const struct source *source_find(const char *name)
{
    const struct source *source;
    for (int i = 0; (source = source_at(i)) != NULL && strcmp(source->name, name) != 0; i++) continue;
    return source;
}

const char *source_part_name(const struct source_part *part)
{
    const char *slash = strrchr(part->url, '/');
    return slash != NULL ? slash + 1 : part->url;
}

const struct source_file *source_part_file(const struct source *source, const struct source_part *part)
{
    for (const struct source_file *file = source->file; file->name != NULL; file++)
        if (strcmp(file->name, source_part_name(part)) == 0) return file;
    return NULL;
}

int source_absent(const struct source *source, const char *given, const char *needs)
{
    struct stat st;
    if (stat(given, &st) == 0 && S_ISREG(st.st_mode))
        return fail(ERR_USAGE, "%s is a file; --data names the folder that has the files of %s", given, source->title);
    return fail(ERR_MISSING, "there is no %s in %s: %s is missing; \"dawn data fetch %s\" gets it, --data names another folder",
                source->title, given, needs, source->name);
}

bool source_find_folder(const char *folder, const char *given, const char *needs, char **found)
{
    for (int inside = 0; inside < 2; inside++) {
        struct text path = {0};
        text_add(&path, inside ? "%s/%s" : "%s", given, folder);
        size_t length = path.length;
        text_add(&path, "/%s", needs);
        bool there = file_exists(path.at);
        path.at[length] = '\0';
        *found = path.at;
        if (there) return true;
        text_free(&path);
    }
    *found = NULL;
    return false;
}

int source_folder(const struct source *source, const char *given, const char *needs, char **found)
{
    return source_find_folder(source->folder, given, needs, found) ? 0 : source_absent(source, given, needs);
}

// ---- the files themselves, for kinds that identify their bytes in no other way

// The SHA-256 of a file of an open set, remembered unless `read`.
static int source_file_digest(const struct dataset *ds, const struct source_file *file, bool read, char hex[DIGEST_HEX],
                              bool *remembered)
{
    struct text path = {0};
    *remembered = false;
    text_add(&path, "%s/%s", ds->facts.folder, file->name);
    int rc = read ? digest_file(path.at, hex) : manifest_digest(path.at, hex, remembered);
    text_free(&path);
    return rc;
}

int source_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    *verdict = DATASET_OFFICIAL;
    ds->facts.remembered = true;
    for (const struct source_file *file = ds->source->file; file->name != NULL; file++) {
        char hex[DIGEST_HEX];
        bool remembered;
        if (file->sha256 == NULL) continue;
        TRY(source_file_digest(ds, file, read, hex, &remembered));
        if (strcmp(hex, file->sha256) != 0) *verdict = DATASET_CUSTOM;
        ds->facts.remembered = ds->facts.remembered && remembered;
    }
    return 0;
}

int source_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    struct text lines = {0};
    int files = 0, rc = 0;
    for (const struct source_file *file = ds->source->file; file->name != NULL && rc == 0; file++) {
        bool remembered;
        if (file->split != split) continue;
        rc = source_file_digest(ds, file, false, hex, &remembered);
        text_add(&lines, "%s  %s\n", hex, file->name);
        files++;
    }
    if (rc == 0 && files != 1) digest_bytes(lines.at != NULL ? lines.at : "", lines.length, hex);
    text_free(&lines);
    return rc;
}
