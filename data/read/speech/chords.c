// SPDX-License-Identifier: Apache-2.0
// Drawn utterances, for tests and trials: each letter is a chord of two tones, a space is a pause, and there is noise. They
// need no download, have the form of AN4's (sphere, 16 kHz), and a small network reads them in seconds. Speakers differ in
// pitch and pace; the test's are others.
//
// Everything depends on split and sample alone (draws.h). Cost: 0.1 s for all of it, when the set is opened.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/read/draws.h"
#include "data/read/speech/speech_set.h"

// Part of every digest. Raise the version with every change of a sound.
enum { VERSION = 1, SEED = 19910201, VOICES_SEED = 19910202 };
enum { SPEAKERS = 16, WORDS_MOST = 3, WAVE = 4096, HEAD = 1024, NOISE = 401, LOUD = 5000, MS = SPEECH_RATE / 1000 };
static const int64_t utterances_of[SPLIT_COUNT] = {480, 60};
static const char *const words[] = {"GO", "YES", "NO", "STOP", "ONE", "TWO", "SIX", "TEN", "HELP", "QUIT", "ERASE", "FIVE", "K",
                                    "JAM", "W", "ZEBRA"};

struct voice {
    double pitch;  // around 1
    int letter;    // ms
};

static struct voice voice_of(enum split split, int64_t index)
{
    const uint32_t speaker = (uint32_t)(index % SPEAKERS) + (split == SPLIT_TEST ? SPEAKERS : 0);
    struct draws d = DRAWS(VOICES_SEED, split, speaker);
    return (struct voice){0.97 + 0.0001 * draws_below(&d, 601), 80 + draws_below(&d, 25)};
}

static int16_t wave[WAVE];  // one turn of a sine, made when the set is opened

// Rises and falls over 10 ms.
static void add_tone(int16_t *into, int samples, double hertz)
{
    const uint32_t step = (uint32_t)(hertz / SPEECH_RATE * 0x1p32);
    uint32_t phase = 0;
    for (int i = 0; i < samples; i++, phase += step) {
        int edge = i < samples - i ? i : samples - i, most = 10 * MS;
        into[i] = (int16_t)(into[i] + wave[phase >> 20] * (edge < most ? edge : most) / most);
    }
}

static void add_letter(int16_t *into, int samples, const struct voice *v, char letter)
{
    const int number = letter - 'A';
    add_tone(into, samples, v->pitch * (350 + 260 * (number % 6)));
    add_tone(into, samples, v->pitch * (2300 + 520 * (number / 6)));
}

static void put_head(char head[HEAD], int samples)
{
    memset(head, ' ', HEAD);
    int n = snprintf(head, HEAD,
                     "NIST_1A\n   1024\nsample_count -i %d\nsample_rate -i %d\nsample_n_bytes -i 2\nsample_byte_format -s2 01\n"
                     "sample_sig_bits -i 16\nsample_coding -s3 pcm\nchannel_count -i 1\nend_head\n", samples, SPEECH_RATE);
    head[n] = ' ';
}

static void draw_sound(struct draws *d, const struct voice *v, struct utterance *u)
{
    enum { PAUSE = 60 * MS, GAP = 25 * MS };
    const int letters = (int)strlen(u->text), most = (letters + 2) * (v->letter + 40) * MS;
    int16_t *sound = zalloc((size_t)most * sizeof *sound);
    int at = PAUSE + draws_below(d, PAUSE);
    for (int i = 0; i < letters; i++) {
        int samples = u->text[i] == ' ' ? PAUSE : (v->letter + draws_below(d, 15)) * MS;
        if (u->text[i] != ' ') add_letter(sound + at, samples, v, u->text[i]);
        at += samples + GAP;
    }
    at += draws_below(d, PAUSE);
    for (int i = 0; i < at; i++) sound[i] = (int16_t)(sound[i] + draws_below(d, NOISE) - NOISE / 2);
    u->size = HEAD + 2 * (int64_t)at, u->samples = at;
    u->bytes = zalloc((size_t)u->size);
    put_head((char *)u->bytes, at);
    for (int i = 0; i < at; i++) {
        u->bytes[HEAD + 2 * i] = (uint8_t)sound[i];
        u->bytes[HEAD + 2 * i + 1] = (uint8_t)((uint16_t)sound[i] >> 8);
    }
    free(sound);
}

static void draw_utterance(enum split split, int64_t index, struct speech_split *into)
{
    struct draws d = DRAWS(SEED, split, index);
    struct text text = {0}, file = {0};
    const struct voice voice = voice_of(split, index);
    const int count = 1 + draws_below(&d, WORDS_MOST), speaker = (int)(index % SPEAKERS) + (split == SPLIT_TEST ? SPEAKERS : 0);
    for (int i = 0; i < count; i++)
        text_add(&text, "%s%s", i > 0 ? " " : "", words[draws_below(&d, sizeof words / sizeof *words)]);
    text_add(&file, "s%02d/%04d-s%02d", speaker, (int)index, speaker);
    if (speech_add(into, &(struct speech_line){"chords", file.at, ".sph", text.at, file.length, text.length, index + 1}) < 0)
        BUG("drawn words are a transcript");
    draw_sound(&d, &voice, &into->at[into->count - 1]);
    text_free(&text);
    text_free(&file);
}

static void chords_published(struct dataset_facts *facts)
{
    facts->title = "drawn chords";
    facts->synthetic = true;
    for (int s = 0; s < SPLIT_COUNT; s++) facts->count[s] = utterances_of[s];
    speech_fields(facts, 207, 16, 67166);
}

static int chords_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    struct speech_set *set = ds->own = zalloc(sizeof *set);
    chords_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    for (int i = 0; i < WAVE; i++) wave[i] = (int16_t)lrint(LOUD * sin(2 * M_PI * i / WAVE));
    for (int s = 0; s < SPLIT_COUNT; s++)
        for (int64_t i = 0; i < utterances_of[s]; i++) draw_utterance(s, i, &set->split[s]);
    return speech_filled(ds);
}

const struct kind chords_kind = {
    .name = "chords", .drawn = true, .published = chords_published, .open = chords_open, .close = speech_close,
    .item = speech_item, .lengths = speech_lengths, .sample_name = speech_sample_name, .sample = "utterance",
    .show = speech_show, .draw = speech_draw,
};
