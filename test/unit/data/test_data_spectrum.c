// SPDX-License-Identifier: Apache-2.0
// Spectra against librosa 0.11's and against sums of sines, their normalisation, augmentation, what is kept of them, and letters.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/audio/augment.h"
#include "data/audio/letters.h"
#include "data/audio/spectra.h"
#include "data/audio/spectrum.h"
#include "data/dataset.h"
#include "runtime/common/base/rng.h"

enum { BINS = SPECTRUM_BINS, SAMPLES = 4000, FRAMES = 26 };

// A drawn sound: two tones and noise of a linear congruence.
static void draw_sound(float *x, int64_t count)
{
    uint32_t state = 12345;
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        const double noise = (double)(state >> 8) * 0x1p-24 - 0.5;
        const double turn = 2 * M_PI * (double)i / 16000;
        x[i] = (float)(0.3 * sin(440 * turn) + 0.2 * sin(3210 * turn) + 0.05 * noise);
    }
}

// log1p(abs(librosa.stft(x, n_fft=320, hop_length=160, win_length=320, window="hamming", center=True))) of librosa 0.11.0,
// where x is the sound above: bin, frame, value.
static const struct {
    int bin, frame;
    double value;
} golden[] = {
    {0, 0, 1.13147235}, {160, 0, 0.08896901}, {8, 0, 2.51907635}, {9, 13, 3.25919223}, {64, 13, 2.88739085},
    {0, 25, 0.98406160}, {160, 25, 0.09258374}, {9, 25, 2.62654448}, {80, 12, 0.08782101}, {47, 21, 0.03883528},
    {67, 3, 0.11060449}, {103, 9, 0.09374218}, {21, 18, 0.03703586}, {36, 23, 0.14394861}, {70, 24, 0.23325016},
    {88, 12, 0.13966253}, {58, 1, 0.04728956}, {39, 23, 0.21999046}, {88, 17, 0.29126042}, {25, 13, 0.15360099},
    {72, 9, 0.17645575}, {148, 19, 0.05645467}, {79, 15, 0.03033357}, {82, 3, 0.01611426}, {29, 19, 0.08635924},
    {147, 14, 0.13290864}, {32, 1, 0.10622963}, {9, 25, 2.62654448}, {127, 0, 0.25567728}, {31, 10, 0.09616917},
    {151, 3, 0.23744738}, {114, 23, 0.01701936}, {28, 2, 0.04684335}, {128, 0, 0.22938679}, {53, 5, 0.10311002},
    {38, 8, 0.07868798}, {17, 15, 0.29019943}, {132, 9, 0.12842792}, {42, 24, 0.12876122}, {1, 1, 0.23315509},
};

TEST(spectra_are_librosas)
{
    static float x[SAMPLES], spectrum[FRAMES * BINS];
    draw_sound(x, SAMPLES);
    assert_int_equal(spectrum_frames(SAMPLES), FRAMES);
    spectrum_make(x, SAMPLES, spectrum);
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        const double got = (double)spectrum[golden[i].frame * BINS + golden[i].bin];
        if (fabs(got - golden[i].value) > 1e-5)
            fail_msg("frame %d, bin %d: %.8f, not %.8f", golden[i].frame, golden[i].bin, got, golden[i].value);
    }
}

static double sum_at(const float *x, int64_t count, int64_t frame, int bin)
{
    double re = 0, im = 0;
    for (int i = 0; i < SPECTRUM_WINDOW; i++) {
        const int64_t at = frame * SPECTRUM_HOP - SPECTRUM_WINDOW / 2 + i;
        if (at < 0 || at >= count) continue;
        const double angle = 2 * M_PI * i / SPECTRUM_WINDOW, value = (double)x[at] * (0.54 - 0.46 * cos(angle));
        re += value * cos(angle * bin), im -= value * sin(angle * bin);
    }
    return log1p(sqrt(re * re + im * im));
}

// Of every length around a whole number of frames, all values; no value depends on what lies behind the sound.
TEST(spectra_are_sums_of_sines)
{
    static float x[SAMPLES], spectrum[FRAMES * BINS + 1];
    draw_sound(x, SAMPLES);
    static const int64_t counts[] = {1, 159, 160, 161, 320, 1119, 1120, 1280, 1281};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        float *copy = malloc((size_t)counts[c] * sizeof *copy);
        memcpy(copy, x, (size_t)counts[c] * sizeof *copy);
        const int64_t frames = spectrum_frames(counts[c]);
        spectrum[frames * BINS] = 77;
        spectrum_make(copy, counts[c], spectrum);
        free(copy);
        assert_true(spectrum[frames * BINS] == 77);
        for (int64_t i = 0; i < frames * BINS; i++) {
            const double expected = sum_at(x, counts[c], i / BINS, (int)(i % BINS));
            if (fabs((double)spectrum[i] - expected) > 1e-5)
                fail_msg("%d samples, frame %d, bin %d: %.8f, not %.8f", (int)counts[c], (int)(i / BINS), (int)(i % BINS),
                         (double)spectrum[i], expected);
        }
    }
}

static void assert_normal(const float *x, int64_t frames)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < frames * BINS; i++) sum += (double)x[i], squares += (double)x[i] * (double)x[i];
    assert_true(fabs(sum / (double)(frames * BINS)) < 1e-5);
    assert_true(fabs(squares / (double)(frames * BINS - 1) - 1) < 1e-5);
}

TEST(spectra_are_normalised)
{
    static float x[SAMPLES], spectrum[FRAMES * BINS];
    draw_sound(x, SAMPLES);
    spectrum_make(x, SAMPLES, spectrum);
    OK(spectrum_normalise(spectrum, FRAMES));
    assert_normal(spectrum, FRAMES);
    memset(x, 0, sizeof x);
    spectrum_make(x, SAMPLES, spectrum);
    assert_fails(spectrum_normalise(spectrum, FRAMES), ERR_INPUT, "the sound is silent");
}

// ---- augmentation

static float whole[FRAMES * BINS], made[2 * FRAMES * BINS], again[2 * FRAMES * BINS];

static void make_whole(void)
{
    float x[SAMPLES];
    draw_sound(x, SAMPLES);
    spectrum_make(x, SAMPLES, whole);
}

TEST(nothing_is_drawn_without_a_choice)
{
    make_whole();
    const struct augment_choice none = {0};
    const struct augment_key key = {1, 2, 3};
    OK(augment_fill(NULL, NULL, whole, FRAMES, made));
    OK(augment_fill(&none, &key, whole, FRAMES, again));
    assert_normal(made, FRAMES);
    assert_memory_equal(made, again, sizeof whole);
}

// Linear between the frames, as torch's interpolate(mode="linear").
TEST(tempo_stretches_in_time)
{
    make_whole();
    const struct augment_choice tempo = {.tempo = 0.15};
    int64_t least = FRAMES, most = FRAMES;
    for (uint32_t sample = 0; sample < 200; sample++) {
        const struct augment_key key = {9, 1, sample};
        const int64_t frames = augment_frames(&tempo, &key, FRAMES);
        least = frames < least ? frames : least, most = frames > most ? frames : most;
        OK(augment_fill(&tempo, &key, whole, FRAMES, made));
        assert_normal(made, frames);
        const double at = fmax(5.5 * FRAMES / (double)frames - 0.5, 0), share = at - floor(at);
        const float *left = whole + (int64_t)at * BINS, *first = made + 5 * BINS;
        const double a = (1 - share) * (double)left[20] + share * (double)left[BINS + 20],
                     b = (1 - share) * (double)left[70] + share * (double)left[BINS + 70],
                     c = (1 - share) * (double)left[140] + share * (double)left[BINS + 140];
        assert_true(fabs((double)(first[20] - first[140]) * (b - c) - (double)(first[70] - first[140]) * (a - c)) < 1e-4);
    }
    assert_int_equal(least, 22);
    assert_int_equal(most, 30);
    assert_int_equal(augment_most(&tempo, FRAMES), 30);
    assert_int_equal(augment_most(NULL, FRAMES), FRAMES);
}

// The gain multiplies the magnitudes: of a sound twice as loud the spectrum is that of the gain of two.
TEST(gain_is_that_of_the_sound)
{
    float x[SAMPLES];
    make_whole();
    const struct augment_choice gain = {.gain = 6};
    bool louder = false, softer = false;
    for (uint32_t sample = 0; sample < 20; sample++) {
        const struct augment_key key = {4, 0, sample};
        const double drawn = 2 * (rng_draw(4, RNG_JITTER, 0, sample, 0).v[1] * 0x1p-32) - 1, factor = pow(10, 6 * drawn / 20);
        louder = louder || drawn > 0.5, softer = softer || drawn < -0.5;
        OK(augment_fill(&gain, &key, whole, FRAMES, made));
        draw_sound(x, SAMPLES);
        for (int i = 0; i < SAMPLES; i++) x[i] *= (float)factor;
        spectrum_make(x, SAMPLES, again);
        OK(spectrum_normalise(again, FRAMES));
        for (int i = 0; i < FRAMES * BINS; i++) assert_true(fabsf(made[i] - again[i]) < 1e-4f);
    }
    assert_true(louder && softer);
}

static bool is_masked(const float *x, int64_t frames, int64_t first_frame, int64_t end_frame, int first_bin, int end_bin)
{
    (void)frames;
    for (int64_t t = first_frame; t < end_frame; t++)
        for (int k = first_bin; k < end_bin; k++)
            if (x[t * BINS + k] != 0) return false;
    return true;
}

TEST(bands_and_stretches_become_the_mean)
{
    enum { LONG = 200 };
    float *x = malloc(LONG * BINS * sizeof *x), *y = malloc(LONG * BINS * sizeof *y);
    make_whole();
    for (int i = 0; i < LONG * BINS; i++) x[i] = whole[i % (FRAMES * BINS)];
    const struct augment_choice spec = {.bands = 2, .band = 20, .stretches = 2, .stretch = 15};
    int most_bins = 0, most_frames = 0;
    for (uint32_t sample = 0; sample < 100; sample++) {
        OK(augment_fill(&spec, &(struct augment_key){5, 7, sample}, x, LONG, y));
        int bins = 0, frames = 0;
        for (int k = 0; k < BINS; k++) bins += is_masked(y, LONG, 0, LONG, k, k + 1);
        for (int t = 0; t < LONG; t++) frames += is_masked(y, LONG, t, t + 1, 0, BINS);
        most_bins = bins > most_bins ? bins : most_bins, most_frames = frames > most_frames ? frames : most_frames;
    }
    assert_in_range(most_bins, 30, 40);
    assert_in_range(most_frames, 22, 30);
    free(x);
    free(y);
}

TEST(draws_depend_on_the_key_alone)
{
    make_whole();
    const struct augment_choice all = {0.15, 6, 2, 20, 2, 20};
    const struct augment_key key = {1, 2, 3}, others[] = {{2, 2, 3}, {1, 3, 3}, {1, 2, 4}};
    const int64_t frames = augment_frames(&all, &key, FRAMES);
    OK(augment_fill(&all, &key, whole, FRAMES, made));
    OK(augment_fill(&all, &key, whole, FRAMES, again));
    assert_memory_equal(made, again, (size_t)(frames * BINS) * sizeof *made);
    for (int i = 0; i < 3; i++) {
        OK(augment_fill(&all, &others[i], whole, FRAMES, again));
        assert_true(memcmp(made, again, (size_t)(22 * BINS) * sizeof *made) != 0);
    }
}

// ---- what is kept

TEST(kept_spectra_are_those_that_are_made)
{
    struct dataset *ds;
    struct spectra *all, *few;
    OK(dataset_open("chords", NULL, &ds));
    OK(spectra_new(ds, SPLIT_TEST, 1 << 30, &all));
    OK(spectra_new(ds, SPLIT_TEST, 100000, &few));
    assert_int_equal(spectra_bytes(few), 100000);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < dataset_facts(ds)->count[SPLIT_TEST]; i++) {
            const float *a, *b;
            float *own_a, *own_b;
            int64_t n, m;
            OK(spectra_take(all, i, &a, &n, &own_a));
            OK(spectra_take(few, i, &b, &m, &own_b));
            assert_int_equal(n, m);
            assert_memory_equal(a, b, (size_t)(n * BINS) * sizeof *a);
            assert_null(own_a);
            if (i > 2) assert_non_null(own_b);
            free(own_b);
        }
    spectra_free(few);
    spectra_free(all);
    dataset_close(ds);
}

// ---- letters

static int encode(const char *text, int32_t *into, int64_t *count)
{
    return letters_encode("t:1", text, strlen(text), into, count);
}

TEST(letters_become_labels_and_back)
{
    int32_t label[64];
    int64_t count;
    char text[65];
    OK(encode("  it's  A\tZoo ", label, &count));
    static const int32_t expected[] = {10, 21, 1, 20, 28, 2, 28, 27, 16, 16};
    assert_int_equal(count, 10);
    assert_memory_equal(label, expected, sizeof expected);
    for (int i = 1; i < LETTERS; i++) assert_int_equal(letters_label(letters_char(i)), i);
    assert_int_equal(letters_label('_'), -1);
    assert_int_equal(letters_label('\0'), -1);
    static const int32_t frames[] = {0, 28, 10, 10, 0, 21, 28, 28, 0, 28, 16, 0, 16, 16, 28, 0};
    assert_int_equal(letters_join(frames, 16, text), 5);
    assert_string_equal(text, "IT OO");
    assert_int_equal(letters_join(frames, 1, text), 0);
    assert_string_equal(text, "");
    assert_fails(encode("  ", label, &count), ERR_INPUT, "t:1: the transcript is empty");
    assert_fails(encode("A1", label, &count), ERR_INPUT, "t:1: character 2 is \"1\"; a transcript has letters");
    assert_fails(encode("A\xc3\xa4", label, &count), ERR_INPUT, "t:1: byte 2 is 0xc3");
}
