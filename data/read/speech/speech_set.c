// SPDX-License-Identifier: Apache-2.0
#include "data/read/speech/speech_set.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/audio/letters.h"
#include "data/audio/sound.h"
#include "data/audio/spectrum.h"
#include "data/fetch/source.h"
#include "runtime/common/base/file.h"

static struct utterance *utterance_of(const struct dataset *ds, enum split split, int64_t index)
{
    const struct speech_set *set = ds->own;
    return &set->split[split].at[index];
}

// ---- lists

// Parts of letters, digits, '_', '-' and '.', none of which begins with '.', with '/' between.
static bool is_safe(const char *name, size_t n)
{
    bool begins = true;
    for (size_t i = 0; i < n; begins = name[i++] == '/') {
        const char c = name[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!plain && (begins || (c != '.' && c != '/'))) return false;
    }
    return n > 0 && !begins;
}

int speech_add(struct speech_split *split, const struct speech_line *l)
{
    struct text where = {0};
    int32_t *letter = NULL;
    int64_t count = 0;
    if (!is_safe(l->file, l->file_bytes) || l->file_bytes + strlen(l->ending) >= SPEECH_FILE)
        return fail(ERR_INPUT, "%s:%lld: the name of an utterance has letters, digits, '_', '-', '.' and '/' alone, at most %d",
                    l->list, (long long)l->line, SPEECH_FILE - 8);
    if (l->text_bytes > SPEECH_TEXT)
        return fail(ERR_INPUT, "%s:%lld: the transcript has %zu characters; at most %d are read", l->list, (long long)l->line,
                    l->text_bytes, SPEECH_TEXT);
    if (split->count == split->capacity) {
        split->capacity = split->capacity > 0 ? 2 * split->capacity : 256;
        split->at = grow(split->at, (size_t)split->capacity * sizeof *split->at);
    }
    letter = zalloc((l->text_bytes + 1) * sizeof *letter);
    text_add(&where, "%s:%lld", l->list, (long long)l->line);
    int rc = letters_encode(where.at, l->text, l->text_bytes, letter, &count);
    if (rc == 0) {
        struct utterance *u = &split->at[split->count++];
        *u = (struct utterance){.line = l->line, .text = zalloc((size_t)count + 1)};
        memcpy(u->file, l->file, l->file_bytes);
        memcpy(u->file + l->file_bytes, l->ending, strlen(l->ending));
        for (int64_t i = 0; i < count; i++) u->text[i] = letters_char(letter[i]);
    }
    free(letter);
    text_free(&where);
    return rc;
}

void speech_split_free(struct speech_split *split)
{
    for (int64_t i = 0; i < split->count; i++) {
        free(split->at[i].text);
        free(split->at[i].bytes);
    }
    free(split->at);
    *split = (struct speech_split){0};
}

// ---- facts

void speech_fields(struct dataset_facts *facts, int64_t frames, int64_t letters, int64_t bytes)
{
    facts->field[SPEECH_SPECTRUM] = (struct field){"spectrum", F32, SHAPE(frames, SPECTRUM_BINS), 0, 0};
    facts->field[SPEECH_LETTERS] = (struct field){"letters", I32, SHAPE(letters), 0, LETTERS};
    facts->field[SPEECH_SOUND] = (struct field){"sound", U8, SHAPE(bytes), 0, 0};
    facts->fields = SPEECH_FIELDS;
}

static char *path_of(const struct dataset *ds, const struct utterance *u)
{
    const struct speech_set *set = ds->own;
    struct text path = {0};
    text_add(&path, "%s/%s", set->folder, u->file);
    return path.at;
}

// The first bytes of a file, and its size.
static int read_begin(const char *path, uint8_t bytes[SOUND_HEAD], size_t *count, int64_t *size)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe without a writer does not wait
    if (fd < 0) return fail_errno(ERR_MISSING, errno, "cannot open %s", path);
    const bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    const ssize_t got = regular ? pread(fd, bytes, SOUND_HEAD, 0) : 0;
    const int reason = errno;
    close(fd);
    if (!regular) return fail(ERR_INPUT, "%s is no regular file", path);
    if (got < 0) return fail_errno(ERR_IO, reason, "cannot read %s", path);
    if (st.st_size > SOUND_BYTES)
        return fail(ERR_INPUT, "%s has %lld bytes; at most %d are read", path, (long long)st.st_size, SOUND_BYTES);
    *count = (size_t)got, *size = st.st_size;
    return 0;
}

static int check_sound(const char *name, const struct sound_head *head)
{
    if (head->rate != SPEECH_RATE)
        return fail(ERR_INPUT, "%s: it has %d samples per second; utterances have %d", name, head->rate, SPEECH_RATE);
    if (head->samples < SPECTRUM_WINDOW)
        return fail(ERR_INPUT, "%s: it has %lld samples, fewer than the %d of a window", name, (long long)head->samples,
                    SPECTRUM_WINDOW);
    return 0;
}

static int read_head(const struct dataset *ds, struct utterance *u)
{
    struct sound_head head;
    uint8_t bytes[SOUND_HEAD];
    size_t count = 0;
    char *path = path_of(ds, u);
    int rc = read_begin(path, bytes, &count, &u->size);
    if (rc == ERR_MISSING) rc = fail_prefix(rc, "the utterance \"%.40s\" has no sound: ", u->text);
    if (rc == 0) rc = sound_head(path, bytes, count, (size_t)u->size, &head);
    if (rc == 0) rc = check_sound(path, &head);
    if (rc == 0) u->samples = head.samples;
    free(path);
    return rc;
}

int speech_filled(struct dataset *ds)
{
    struct speech_set *set = ds->own;
    int64_t frames = 1, letters = 1, bytes = 1;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        ds->facts.count[s] = set->split[s].count;
        for (int64_t i = 0; i < set->split[s].count; i++) {
            struct utterance *u = utterance_of(ds, s, i);
            if (u->bytes == NULL) TRY(read_head(ds, u));
            const int64_t of = spectrum_frames(u->samples), length = (int64_t)strlen(u->text);
            frames = of > frames ? of : frames;
            letters = length > letters ? length : letters;
            bytes = u->size > bytes ? u->size : bytes;
        }
    }
    speech_fields(&ds->facts, frames, letters, bytes);
    return 0;
}

void speech_close(struct dataset *ds)
{
    struct speech_set *set = ds->own;
    if (set == NULL) return;
    for (int s = 0; s < SPLIT_COUNT; s++) speech_split_free(&set->split[s]);
    free(set->folder);
    free(set);
}

// ---- samples

int speech_file(struct dataset *ds, enum split split, int64_t index, uint8_t **bytes, size_t *count)
{
    const struct utterance *u = utterance_of(ds, split, index);
    if (u->bytes != NULL) {
        *bytes = malloc((size_t)u->size), *count = (size_t)u->size;
        if (*bytes == NULL) return fail(ERR_MEMORY, "not enough memory for the sound of %s", u->file);
        memcpy(*bytes, u->bytes, (size_t)u->size);
        return 0;
    }
    char *path = path_of(ds, u), *read = NULL;
    int rc = file_read(path, SOUND_BYTES, &read, count);
    free(path);
    *bytes = (uint8_t *)read;
    return rc;
}

int speech_sound(struct dataset *ds, enum split split, int64_t index, struct sound *sound)
{
    const struct utterance *u = utterance_of(ds, split, index);
    uint8_t *bytes = NULL;
    size_t count = 0;
    *sound = (struct sound){0};
    TRY(speech_file(ds, split, index, &bytes, &count));
    int rc = sound_decode(u->file, bytes, count, sound);
    free(bytes);
    if (rc == 0) rc = sound_resample(sound, SPEECH_RATE);
    if (rc == 0 && sound->count != u->samples)
        rc = fail(ERR_INPUT, "%s: it has %lld samples now and had %lld when it was opened", u->file, (long long)sound->count,
                  (long long)u->samples);
    for (int64_t i = 0; rc == 0 && i < sound->count && sound->at[i] == sound->at[0]; i++)
        if (i == sound->count - 1) rc = fail(ERR_INPUT, "%s: all its samples are equal: it is silent", u->file);
    if (rc < 0) sound_free(sound);
    return rc;
}

static int64_t length_of(const struct utterance *u, const struct field *field)
{
    if (kind_field_is(field, "spectrum")) return spectrum_frames(u->samples);
    return kind_field_is(field, "letters") ? (int64_t)strlen(u->text) : u->size;
}

static int take_spectrum(struct dataset *ds, enum split split, int64_t index, float *into)
{
    struct sound sound;
    TRY(speech_sound(ds, split, index, &sound));
    spectrum_make(sound.at, sound.count, into);
    sound_free(&sound);
    return 0;
}

static int take_file(struct dataset *ds, enum split split, int64_t index, void *into, int64_t length)
{
    uint8_t *bytes = NULL;
    size_t count = 0;
    TRY(speech_file(ds, split, index, &bytes, &count));
    int rc = 0;
    if ((int64_t)count == length) memcpy(into, bytes, count);
    else rc = fail(ERR_INPUT, "%s has changed since it was opened", utterance_of(ds, split, index)->file);
    free(bytes);
    return rc;
}

int speech_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into, size_t capacity,
                int64_t *length)
{
    const struct utterance *u = utterance_of(ds, split, index);
    *length = length_of(u, field);
    int64_t bytes = field_bytes(field, *length);
    if ((size_t)bytes > capacity) return kind_too_small(ds, split, field, index, bytes, capacity);
    if (kind_field_is(field, "spectrum")) return take_spectrum(ds, split, index, into);
    if (kind_field_is(field, "sound")) return take_file(ds, split, index, into, *length);
    for (int64_t i = 0; i < *length; i++) ((int32_t *)into)[i] = letters_label(u->text[i]);
    return 0;
}

int speech_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    for (int64_t i = 0; i < ds->facts.count[split]; i++) lengths[i] = (int32_t)length_of(utterance_of(ds, split, i), field);
    return 0;
}

void speech_sample_name(struct dataset *ds, enum split split, int64_t index, struct text *into)
{
    text_add(into, "%s", utterance_of(ds, split, index)->file);
}

const char *speech_text(const struct dataset *ds, enum split split, int64_t index)
{
    return utterance_of(ds, split, index)->text;
}

int64_t speech_samples(const struct dataset *ds, enum split split, int64_t index)
{
    return utterance_of(ds, split, index)->samples;
}

// ---- digests

int speech_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    struct speech_set *set = ds->own;
    struct text lines = {0};
    int rc = 0;
    for (int64_t i = 0; i < set->split[split].count && set->digest[split][0] == '\0' && rc == 0; i++) {
        const struct utterance *u = utterance_of(ds, split, i);
        uint8_t *bytes = NULL;
        size_t count = 0;
        rc = speech_file(ds, split, i, &bytes, &count);
        if (rc < 0) break;
        digest_bytes(bytes, count, hex);
        text_add(&lines, "%s  %s  %s\n", hex, u->file, u->text);
        free(bytes);
    }
    if (rc == 0 && set->digest[split][0] == '\0')
        digest_bytes(lines.at != NULL ? lines.at : "", lines.length, set->digest[split]);
    text_free(&lines);
    memcpy(hex, set->digest[split], DIGEST_HEX);
    return rc;
}

int speech_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    *verdict = DATASET_OFFICIAL;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        char hex[DIGEST_HEX];
        for (int64_t i = 0; read && i < ds->facts.count[s]; i++) {
            struct sound sound;
            if (ds->progress != NULL) ds->progress(ds->listener, s, i, ds->facts.count[s]);
            TRY(speech_sound(ds, s, i, &sound));
            sound_free(&sound);
        }
        TRY(ds->kind->content_digest(ds, s, hex));
        if (ds->source->content[s] == NULL || strcmp(hex, ds->source->content[s]) != 0) *verdict = DATASET_CUSTOM;
    }
    return 0;
}

// ---- a sound of a person

static int ask_open(struct dataset *ds, const char *folder)
{
    (void)ds, (void)folder;
    BUG("a sound is asked by speech_ask, never opened by name");
}

static const struct kind ask_kind = {
    .name = "sound", .drawn = true, .open = ask_open, .close = speech_close, .item = speech_item, .lengths = speech_lengths,
    .sample_name = speech_sample_name,
};

int speech_ask(const struct dataset_facts *like, const char *name, const char *bytes, size_t count, struct dataset **into)
{
    struct sound sound;
    *into = NULL;
    TRY(sound_decode(name, (const uint8_t *)bytes, count, &sound));
    int rc = 0;
    if (sound.count > (int64_t)sound.rate * SPEECH_ASKED_SECONDS)
        rc = fail(ERR_INPUT, "%s: it lasts %.0f s; at most %d s are taken at a time", name,
                  (double)sound.count / sound.rate, SPEECH_ASKED_SECONDS);
    if (rc == 0) rc = sound_resample(&sound, SPEECH_RATE);
    const int64_t samples = sound.count;
    sound_free(&sound);
    TRY(rc);
    TRY(check_sound(name, &(struct sound_head){.rate = SPEECH_RATE, .samples = samples}));
    struct dataset *ds = zalloc(sizeof *ds);
    struct speech_set *set = ds->own = zalloc(sizeof *set);
    ds->kind = &ask_kind, ds->facts = *like;
    ds->facts.name = "sound", ds->facts.title = "a sound", ds->facts.folder = NULL, ds->facts.asked = true;
    set->split[SPLIT_TEST] = (struct speech_split){zalloc(sizeof(struct utterance)), 1, 1};
    struct utterance *u = set->split[SPLIT_TEST].at;
    const char *slash = strrchr(name, '/');
    snprintf(u->file, sizeof u->file, "%s", slash != NULL ? slash + 1 : name);
    u->text = zalloc(1), u->bytes = memcpy(zalloc(count + 1), bytes, count);
    u->size = (int64_t)count, u->samples = samples;
    rc = speech_filled(ds);
    if (rc == 0) *into = ds;
    else dataset_close(ds);
    return rc;
}
