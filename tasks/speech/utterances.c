// SPDX-License-Identifier: Apache-2.0
// Invariant: a sample depends on the recipe, seed, epoch and index alone. Cost: of training the drawing and the normalising of a
// spectrum that is kept in memory; of a request the decoding of the sound and its spectrum.
#include "tasks/speech/utterances.h"

#include "data/audio/augment.h"
#include "data/audio/letters.h"
#include "data/audio/spectra.h"
#include "data/audio/spectrum.h"
#include "data/read/speech/speech_ask.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/sort.h"
#include "runtime/common/base/text.h"
#include "tasks/speech/deepspeech.h"
#include "tasks/speech/speech_keys.h"

#include <stdlib.h>
#include <string.h>

enum { FRAMES, HALF, STEPS, LETTERS_OF, LETTERS_COUNT, EVALUATE_BUCKETS = 8 };

struct utterances {  // the context of a split's feed
    const struct setting *setting;
    struct dataset *data;
    enum split split;
    struct augment_choice augment;
    struct spectra *spectra;  // NULL: a request, whose sound is decoded in its time
    int64_t longest;          // frames
};

static struct augment_choice augment_of(const struct setting *c)
{
    const struct speech_keys *k = speech_keys(c->recipe);
    return (struct augment_choice){.tempo = k->tempo, .gain = k->gain, .bands = (int)k->bands, .band = (int)k->band,
                                   .stretches = (int)k->stretches, .stretch = (int)k->stretch};
}

// ---- buckets

// The next cut is near `ideal` samples, behind all samples of its length: there where the fewest samples are left over.
static int64_t next_cut(const int32_t *sorted, const struct lengths_cut *c, int64_t begin, int64_t ideal)
{
    int64_t best = c->count, least = INT64_MAX;
    for (int64_t at = ideal - c->batch / 2; at <= ideal + c->batch / 2 && at < c->count; at++) {
        bool between = at >= begin + 2 * c->batch && sorted[at - 1] < sorted[at];
        if (between && (at - begin) % c->batch < least) best = at, least = (at - begin) % c->batch;
    }
    return best;
}

int utterances_cut(const struct lengths_cut *c, int32_t limit[ORDER_BUCKETS])
{
    int32_t *sorted = zalloc((size_t)(c->count + 1) * sizeof *sorted);
    int64_t wanted = c->count / (2 * c->batch), begin = 0;
    int buckets = 0;
    if (wanted > c->most) wanted = c->most;
    if (wanted < 1) wanted = 1;
    if (c->count > 0) memcpy(sorted, c->lengths, (size_t)c->count * sizeof *sorted);
    qsort(sorted, (size_t)c->count, sizeof *sorted, sort_i32);
    for (int64_t i = 1; i <= wanted && begin < c->count; i++) {
        int64_t end = i < wanted ? next_cut(sorted, c, begin, c->count * i / wanted) : c->count;
        if (c->count - end < 2 * c->batch) end = c->count;
        limit[buckets++] = sorted[end - 1], begin = end;
    }
    if (buckets == 0) limit[buckets++] = 1;
    free(sorted);
    return buckets;
}

static int bucket_of(const struct feed_choice *f, int32_t length)
{
    int bucket = 0;
    while (bucket + 1 < f->order.buckets && length > f->order.limit[bucket]) bucket++;
    return bucket;
}

// ---- samples

static int read_spectrum(const struct utterances *u, const struct feed_item *item, float *buffer)
{
    size_t bytes = (size_t)u->longest * SPECTRUM_BINS * sizeof *buffer;
    int64_t frames;
    TRY(dataset_item(u->data, item->split, "spectrum", item->index, buffer, bytes, &frames));
    return (int)frames;
}

// Writes the spectrum and returns its frames.
static int64_t fill_spectrum(const struct utterances *u, const struct feed_item *item, float *into)
{
    const struct augment_key key = {item->seed, item->epoch, (uint32_t)item->index};
    const struct augment_choice *how = u->split == SPLIT_TRAIN ? &u->augment : NULL;
    const float *x = item->worker;
    float *own = NULL;
    int64_t frames;
    if (u->spectra) TRY(spectra_take(u->spectra, item->index, &x, &frames, &own));
    else TRY(frames = read_spectrum(u, item, item->worker));
    int rc = augment_fill(how, &key, x, frames, into);
    free(own);
    return rc < 0 ? rc : how ? augment_frames(how, &key, frames) : frames;
}

// Drawn noise has labels that are not letters. They are replaced by letters, so that a step costs the same as on speech.
static int fill_letters(const struct utterances *u, const struct feed_item *item, void *const field[])
{
    const struct feed_field *f = &u->setting->feed[FEED_TRAIN]->field[LETTERS_OF];
    int32_t *letter = field[LETTERS_OF];
    int64_t count, most = f->shape[item->bucket].dim[0];
    TRY(dataset_item(u->data, item->split, "letters", item->index, letter, (size_t)most * sizeof *letter, &count));
    for (int64_t i = 0; i < count; i++)
        if (letter[i] < 1 || letter[i] >= LETTERS) letter[i] = 1 + (int32_t)(i % (LETTERS - 1));
    *(int32_t *)field[LETTERS_COUNT] = (int32_t)count;
    return 0;
}

static int fill_sample(void *context, const struct feed_item *item, void *const field[])
{
    const struct utterances *u = context;
    int64_t frames = fill_spectrum(u, item, field[FRAMES]);
    if (frames < 0) return (int)frames;
    *(int32_t *)field[HALF] = (int32_t)deepspeech_half(frames);
    *(int32_t *)field[STEPS] = (int32_t)deepspeech_steps(u->setting, frames);
    return u->split == SPLIT_TRAIN ? fill_letters(u, item, field) : 0;
}

// ---- the feed

static void *worker_new(void *context)
{
    const struct utterances *u = context;
    return u->spectra ? NULL : zalloc((size_t)u->longest * SPECTRUM_BINS * sizeof(float) + 1);
}

static void end_feed(void *context)
{
    struct utterances *u = context;
    spectra_free(u->spectra);
    free(u);
}

static int bytes_kept(void *context, int64_t *bytes)
{
    const struct utterances *u = context;
    *bytes = u->spectra ? spectra_bytes(u->spectra) : 0;
    return 0;
}

static int choose_buckets(const struct setting *c, struct feed_choice *f, const int32_t *frames, const int32_t *letters)
{
    const struct speech_keys *k = speech_keys(c->recipe);
    const struct augment_choice augment = augment_of(c);
    const bool trains = f->split == SPLIT_TRAIN;
    const int64_t count = c->data->count[f->split], batch = trains ? c->recipe->batch : k->batch;
    const int most = trains ? (int)k->buckets : EVALUATE_BUCKETS;
    f->order.buckets = utterances_cut(&(struct lengths_cut){frames, count, batch, most}, f->order.limit);
    for (int b = 0; b < f->order.buckets; b++) {
        int64_t padded = trains ? augment_most(&augment, f->order.limit[b]) : f->order.limit[b];
        f->order.batch[b] = batch;
        f->field[FRAMES].shape[b] = SHAPE(padded, SPECTRUM_BINS);
        f->field[LETTERS_OF].shape[b] = SHAPE(1);
    }
    for (int64_t i = 0; i < count && trains; i++) {
        int64_t *longest = &f->field[LETTERS_OF].shape[bucket_of(f, frames[i])].dim[0];
        if (letters[i] > *longest) *longest = letters[i];
    }
    return 0;
}

static int read_lengths(const struct setting *c, struct feed_choice *f)
{
    int64_t count = c->data->count[f->split];
    int32_t *frames = zalloc((size_t)(count + 1) * sizeof *frames), *letters = zalloc((size_t)(count + 1) * sizeof *letters);
    int rc = dataset_lengths(f->data, f->split, "spectrum", frames);
    if (rc == 0 && f->split == SPLIT_TRAIN) rc = dataset_lengths(f->data, f->split, "letters", letters);
    if (rc == 0) rc = choose_buckets(c, f, frames, letters);
    free(frames);
    free(letters);
    return rc;
}

int utterances_feed(const struct setting *c, int feed, struct feed_choice *f)
{
    static const char *const names[] = {"frames", "half", "steps", "letters", "letters.length"};
    const struct field *spectrum = dataset_field(f->data, "spectrum");
    (void)feed;
    if (!spectrum || !dataset_field(f->data, "letters")) return fail(ERR_INPUT, "%s has no utterances", c->data->name);
    f->fields = f->split == SPLIT_TRAIN ? LETTERS_COUNT + 1 : STEPS + 1;
    for (int i = 0; i <= LETTERS_COUNT; i++)
        f->field[i] = (struct feed_field){.name = names[i], .dtype = i == FRAMES ? F32 : I32};
    TRY(read_lengths(c, f));
    struct utterances *u = zalloc(sizeof *u);
    *u = (struct utterances){.setting = c, .data = f->data, .split = f->split, .augment = augment_of(c),
                             .longest = spectrum->shape.dim[0]};
    f->context = u, f->end = end_feed;
    f->keeps = bytes_kept, f->fill = fill_sample, f->worker_new = worker_new, f->worker_free = free;
    return c->single ? 0 : spectra_new(f->data, f->split, 0, &u->spectra);
}

int64_t utterances_frames(const struct setting *c, int feed, int bucket)
{
    return c->feed[feed]->field[FRAMES].shape[bucket].dim[0];
}

// ---- notes for people before a training

// Steps that CTC needs: one per letter, and a blank between equal ones.
static int64_t steps_needed(const int32_t *letter, int64_t count)
{
    int64_t steps = count;
    for (int64_t i = 1; i < count; i++) steps += letter[i] == letter[i - 1];
    return steps;
}

static void note_sample(const struct dataset *data, int64_t index, int64_t count, struct text *into)
{
    struct text name = {0};
    dataset_sample_name((struct dataset *)data, SPLIT_TRAIN, index, &name);
    if (count == 0) text_add(into, "%s", name.at);
    text_free(&name);
}

void utterances_note(const struct setting *c, const struct dataset *data, struct text *into)
{
    const struct field *letters = dataset_field(data, "letters");
    const int64_t samples = c->data->count[SPLIT_TRAIN], most = letters ? letters->shape.dim[0] : 0;
    const double shortest = 1 - speech_keys(c->recipe)->tempo;
    int32_t *letter = zalloc((size_t)(most + 1) * sizeof *letter);
    struct text first = {0};
    char figure[TEXT_FIGURE];
    int64_t count = 0, length;
    for (int64_t i = 0; i < samples && letters && !c->data->synthetic; i++) {
        if (dataset_item_of((struct dataset *)data, SPLIT_TRAIN, letters, i, letter, (size_t)most * sizeof *letter, &length) < 0)
            break;  // the feed says why
        int64_t frames = (int64_t)(shortest * (double)spectrum_frames(speech_samples(data, SPLIT_TRAIN, i)));
        if (frames < 1 || deepspeech_steps(c, frames) >= steps_needed(letter, length)) continue;
        note_sample(data, i, count++, &first);
    }
    if (count > 0)
        text_add(into, "%s of training may have more letters than steps and then teach nothing; the first is %s",
                 text_count(figure, count), first.at);
    text_free(&first);
    free(letter);
}
