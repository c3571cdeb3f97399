// SPDX-License-Identifier: Apache-2.0
// Utterances as a data set, from any list. Only this folder includes this.
//
// Opening reads lists and the heads of the sounds. Sounds are read on demand. Cost of a spectrum: reading the file and
// 0.35 ms per second of sound.
#pragma once

#include "data/kind.h"
#include "data/read/speech/speech_ask.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

enum { SPEECH_FILE = 160, SPEECH_TEXT = 1000, SPEECH_LIST = 64 << 20, SPEECH_RATE = 16000, SPEECH_ASKED_SECONDS = 120 };

struct utterance {
    char file[SPEECH_FILE];  // below the folder of the set, or a name
    char *text;              // normalised: capitals, one space between words
    int64_t line;            // of the list of transcripts
    uint8_t *bytes;          // a drawn or given sound; NULL: it is in the file
    int64_t size, samples;   // of the file in bytes; of the sound at 16 kHz
};
struct speech_split {
    struct utterance *at;
    int64_t count, capacity;
};
struct speech_set {
    char *folder;
    struct speech_split split[SPLIT_COUNT];
    char digest[SPLIT_COUNT][DIGEST_HEX];  // "": not computed
};

// Adds an utterance of a list, `list` naming its file. Fails on a wrong transcript or a name that may be no part of a path. The
// ending is added to the name.
struct speech_line {
    const char *list, *file, *ending, *text;
    size_t file_bytes, text_bytes;
    int64_t line;
};
int speech_add(struct speech_split *, const struct speech_line *) MUST_CHECK;
void speech_split_free(struct speech_split *);

void speech_fields(struct dataset_facts *, int64_t frames, int64_t letters, int64_t bytes);  // the most of each
// Reads the heads of the sounds and sets counts and fields.
int speech_filled(struct dataset *) MUST_CHECK;

// Members of struct kind.
void speech_close(struct dataset *);
int speech_item(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t capacity,
                int64_t *length) MUST_CHECK;
int speech_lengths(struct dataset *, enum split, const struct field *, int32_t *) MUST_CHECK;
void speech_sample_name(struct dataset *, enum split, int64_t index, struct text *);
int speech_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;  // of lines "SHA-256  FILE  TEXT"
int speech_verify(struct dataset *, bool read, enum dataset_verdict *) MUST_CHECK;
int speech_show(struct dataset *, enum split, int64_t number, struct text *) MUST_CHECK;
int speech_draw(struct dataset *, enum split, int64_t number, const char *path) MUST_CHECK;

// The sound of an utterance, at 16 kHz, and its file.
struct sound;
int speech_sound(struct dataset *, enum split, int64_t index, struct sound *) MUST_CHECK;  // sound_free ends it
int speech_file(struct dataset *, enum split, int64_t index, uint8_t **bytes, size_t *count) MUST_CHECK;  // free() the bytes
