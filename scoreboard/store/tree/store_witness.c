// SPDX-License-Identifier: Apache-2.0
// Cosignatures of witnesses (c2sp.org/tlog-witness): the request to a witness about a checkpoint, and its answer.
// RECORD.cosigned is a JSON list with the last answer of each witness. Invariant: a cosignature is kept only if it verifies,
// and is shown only with the checkpoint that it signs. The file can be lost without harm: the witnesses are queried again.
// Workload: one answer every few minutes; the file is read with each requested checkpoint. Cost: a few KB of JSON.
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/common/base/file.h"
#include "scoreboard/store/tree/store_tree.h"
#include "submit/format/canonical.h"

enum { COSIGNED_MOST = 1 << 18, ANSWER_LINES = 64 };

static char *cosigned_path(const struct store *s)
{
    struct text path = {0};
    text_add(&path, "%s.cosigned", s->path);
    return path.at;
}

static int parse_list(const char *path, json_t **list)
{
    char *bytes;
    size_t count;
    *list = json_array();
    if (!file_exists(path)) return 0;
    TRY(file_read(path, COSIGNED_MOST, &bytes, &count));
    json_t *read = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, NULL);
    free(bytes);
    if (!json_is_array(read)) {
        json_decref(read);
        return fail(ERR_INPUT, "%s is not a list of cosignatures: remove it, and ask the witnesses again", path);
    }
    json_decref(*list);
    *list = read;
    return 0;
}

static int read_list(const struct store *s, json_t **list)
{
    char *path = cosigned_path(s);
    int rc = parse_list(path, list);
    free(path);
    if (rc < 0) json_decref(*list), *list = NULL;
    return rc;
}

// Those of this very checkpoint. A file that cannot be read shows none, and the checkpoint holds without them.
static void add_cosignatures(const struct store *s, struct text *note)
{
    struct note head;
    json_t *list, *item;
    size_t i;
    if (note_read(note->at, note->length, &head) < 0 || read_list(s, &list) < 0) return;
    json_array_foreach(list, i, item)
    {
        const char *signed_text = canonical_text(item, "checkpoint"), *line = canonical_text(item, "line");
        struct text with = {0};
        struct note check;
        if (strlen(signed_text) != head.text_count || memcmp(signed_text, note->at, head.text_count) != 0) continue;
        text_add(&with, "%s%s\n", note->at, line);
        if (note_read(with.at, with.length, &check) < 0) {
            text_free(&with);
            continue;
        }
        text_free(note);
        *note = with;
    }
    json_decref(list);
}

int store_checkpoint(struct store *s, struct text *note)
{
    struct checkpoint head;
    TRY(store_signed_note(s, note, &head));
    add_cosignatures(s, note);
    return 0;
}

int store_hold(struct store *s, struct reader *r, struct text *note, struct checkpoint *head)
{
    TRY(store_tree_hold(s, r, note, head));
    add_cosignatures(s, note);
    return 0;
}

// ---- asking

static bool is_of(const json_t *item, const struct note_witness *w)
{
    return strcmp(canonical_text(item, "witness"), w->name) == 0 &&
           (uint64_t)canonical_int(item, "number") == ((uint64_t)w->number[0] << 24 | (uint64_t)w->number[1] << 16 |
                                                       (uint64_t)w->number[2] << 8 | w->number[3]);
}

static int size_seen_by(const struct store *s, const struct note_witness *w, int64_t *size)
{
    json_t *list, *item;
    size_t i;
    *size = 0;
    TRY(read_list(s, &list));
    json_array_foreach(list, i, item)
        if (is_of(item, w)) *size = canonical_int(item, "size");
    json_decref(list);
    return 0;
}

int store_witness_ask(struct store *s, const struct note_witness *w, int64_t old, struct text *into)
{
    struct tree_hash proof[TREE_PROOF];
    struct checkpoint head;
    struct text note = {0};
    int count = 0, rc = 0;
    if (old < 0) TRY(size_seen_by(s, w, &old));
    TRY(store_signed_note(s, &note, &head));
    if (old > head.size)
        rc = fail(ERR_INPUT, "the witness has cosigned %lld entries, and this log has %lld: its record is older than what was "
                  "signed", (long long)old, (long long)head.size);
    if (rc == 0 && old > 0 && old < head.size) rc = store_tree_growth(s, old, head.size, proof, &count);
    if (rc == 0) text_add(into, "old %lld\n", (long long)old);
    for (int i = 0; i < count && rc == 0; i++) {
        char base64[sodium_base64_ENCODED_LEN(TREE_HASH, sodium_base64_VARIANT_ORIGINAL)];
        sodium_bin2base64(base64, sizeof base64, proof[i].at, TREE_HASH, sodium_base64_VARIANT_ORIGINAL);
        text_add(into, "%s\n", base64);
    }
    if (rc == 0) text_add(into, "\n%s", note.at);
    text_free(&note);
    return rc;
}

// ---- the answer

// A witness that has cosigned more than the request states answers 409 with that size alone.
static int check_conflict(const struct text *answer)
{
    size_t digits = strspn(answer->at, "0123456789");
    if (digits == 0 || digits > 18 || answer->at[digits + strspn(answer->at + digits, "\r\n")] != 0) return 0;
    return fail(ERR_INPUT, "the witness has cosigned %.*s entries already: ask it with --old %.*s", (int)digits, answer->at,
                (int)digits, answer->at);
}

// The line of the answer that is the witness's cosignature of the checkpoint. free() ends it.
static int find_line(const struct text *note, const struct note_witness *w, const struct text *answer, char **line, int64_t *when)
{
    const char *at = answer->at;
    for (int i = 0; i < ANSWER_LINES && *at != 0; i++) {
        size_t length = strcspn(at, "\n");
        struct text with = {0}, own = {0};
        struct note read;
        text_bytes(&own, at, length);
        text_add(&with, "%s%s\n", note->at, own.at != NULL ? own.at : "");
        bool found = length > 0 && note_read(with.at, with.length, &read) == 0 && note_cosigned(with.at, &read, w, when) == 0;
        text_free(&with);
        if (found) {
            *line = own.at;
            return 0;
        }
        text_free(&own);
        at += length + (at[length] != 0);
    }
    return fail(ERR_INPUT, "the answer holds no cosignature of %.127s for this checkpoint", w->name);
}

// Keeps the newest answer of each witness.
static int keep_line(const struct store *s, const struct note_witness *w, const char *signed_text, size_t count, int64_t size,
                     const char *line)
{
    json_t *list;
    TRY(read_list(s, &list));
    for (size_t i = json_array_size(list); i-- > 0;)
        if (is_of(json_array_get(list, i), w)) json_array_remove(list, i);
    const int64_t number = (int64_t)w->number[0] << 24 | w->number[1] << 16 | w->number[2] << 8 | w->number[3];
    json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:s%, s:s}", "witness", w->name, "number", (json_int_t)number, "size",
                                          (json_int_t)size, "checkpoint", signed_text, count, "line", line));
    char *bytes = json_dumps(list, JSON_COMPACT), *path = cosigned_path(s);
    int rc = bytes != NULL ? file_write(path, bytes, strlen(bytes)) : fail(ERR_INPUT, "the cosignature is not UTF-8");
    free(bytes);
    free(path);
    json_decref(list);
    return rc;
}

static int take_answer(struct store *s, const struct note_witness *w, const struct text *request, const struct text *answer,
                       struct checkpoint *head, int64_t *when)
{
    const char *end = request->length > 0 ? strstr(request->at, "\n\n") : NULL;
    struct text note = {0};
    struct note read;
    char *line = NULL;
    int64_t seen;
    if (end == NULL)
        return fail(ERR_INPUT, "this is not a request for a cosignature: it has no empty line before its checkpoint");
    TRY(size_seen_by(s, w, &seen));
    text_add(&note, "%s", end + 2);
    int rc = note_read(note.at, note.length, &read);
    if (rc == 0) rc = note_check(note.at, &read, &s->key);
    if (rc == 0 && seen > read.checkpoint.size) rc = fail(ERR_INPUT, "a newer answer of this witness is there already");
    if (rc == 0) rc = answer->length > 0 ? check_conflict(answer) : fail(ERR_INPUT, "the answer is empty");
    if (rc == 0) rc = find_line(&note, w, answer, &line, when);
    if (rc == 0) rc = keep_line(s, w, note.at, read.text_count, read.checkpoint.size, line);
    *head = read.checkpoint;
    text_free(&note);
    free(line);
    return rc;
}

// Answers of several witnesses may come at the same time, each in a process of its own. A writer of the list holds
// RECORD.cosigned.lock from its reading to its writing; the server takes no lock. The list itself is replaced, so it cannot be
// locked.
static int lock_list(const struct store *s, int *file)
{
    struct text path = {0};
    int rc = 0;
    text_add(&path, "%s.cosigned.lock", s->path);
    *file = open(path.at, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);  // another user may own it
    if (*file < 0) rc = fail_errno(ERR_IO, errno, "cannot open %s", path.at);
    while (rc == 0 && flock(*file, LOCK_EX) != 0)
        if (errno != EINTR) rc = fail_errno(ERR_IO, errno, "cannot lock %s", path.at);
    text_free(&path);
    return rc;
}

int store_witness_take(struct store *s, const struct note_witness *w, const struct text *request, const struct text *answer,
                       struct checkpoint *head, int64_t *when)
{
    int file;
    int rc = lock_list(s, &file);
    if (rc == 0) rc = take_answer(s, w, request, answer, head, when);
    if (file >= 0) close(file);  // and unlocks
    return rc;
}
