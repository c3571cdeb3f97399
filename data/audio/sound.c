// SPDX-License-Identifier: Apache-2.0
#include "data/audio/sound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/audio/sound_inside.h"

static const struct form {
    const char *ending, *magic;
    size_t at;  // of the magic
    int (*find)(const uint8_t *bytes, size_t count, size_t size, struct sound_layout *);
} forms[] = {{".sph", "NIST_1A\n", 0, sound_sphere}, {".wav", "WAVE", 8, sound_wav}, {".flac", "fLaC", 0, sound_flac}};
enum { FORMS = sizeof forms / sizeof *forms };

bool sound_is_named(const char *file)
{
    const char *dot = strrchr(file, '.');
    for (int i = 0; i < FORMS && dot != NULL; i++)
        if (strcasecmp(dot, forms[i].ending) == 0) return true;
    return false;
}

int sound_check(const struct sound_head *head)
{
    if (head->channels < 1 || head->channels > SOUND_CHANNELS)
        return fail(ERR_INPUT, "it has %d channels; 1 to %d are read", head->channels, SOUND_CHANNELS);
    if (head->rate < SOUND_RATE_LEAST || head->rate > SOUND_RATE_MOST)
        return fail(ERR_INPUT, "it has %d samples per second; %d to %d are read", head->rate, SOUND_RATE_LEAST, SOUND_RATE_MOST);
    return 0;
}

static int find_layout(const char *name, const uint8_t *bytes, size_t count, size_t size, struct sound_layout *layout)
{
    int rc = 1;
    for (int i = 0; i < FORMS && rc > 0; i++) {
        size_t n = strlen(forms[i].magic);
        if (count >= forms[i].at + n && memcmp(bytes + forms[i].at, forms[i].magic, n) == 0)
            rc = forms[i].find(bytes, count, size, layout);
    }
    if (rc > 0) return fail(ERR_INPUT, "%s is no sound: it is neither sphere nor WAV nor FLAC", name);
    if (rc < 0) return fail_prefix(rc, "%s: ", name);
    return 0;
}

int sound_head(const char *name, const uint8_t *bytes, size_t count, size_t size, struct sound_head *head)
{
    struct sound_layout layout;
    TRY(find_layout(name, bytes, count, size, &layout));
    *head = layout.head;
    return 0;
}

// ---- stored numbers

static float integer_at(const uint8_t *at, int bytes, bool big)
{
    uint32_t bits = 0;
    for (int i = 0; i < bytes; i++) bits |= (uint32_t)at[big ? bytes - 1 - i : i] << (8 * i + 32 - 8 * bytes);
    return (float)(int32_t)bits * 0x1p-31f;
}

static float real_at(const uint8_t *at, int bytes)
{
    float single;
    double wide;
    if (bytes == 4) return memcpy(&single, at, 4), single;
    memcpy(&wide, at, 8);
    return (float)wide;
}

// Averages the channels.
static void take_samples(const struct sound_layout *p, const uint8_t *bytes, float *into)
{
    const int channels = p->head.channels;
    const uint8_t *at = bytes + p->at;
    for (int64_t i = 0; i < p->head.samples; i++) {
        float sum = 0;
        for (int c = 0; c < channels; c++, at += p->bytes) {
            if (p->code == SOUND_FLOAT) sum += real_at(at, p->bytes);
            else if (p->code == SOUND_UNSIGNED) sum += (float)((int)*at - 128) * 0x1p-7f;
            else sum += integer_at(at, p->bytes, p->big);
        }
        into[i] = channels > 1 ? sum / (float)channels : sum;
    }
}

static int check_finite(const struct sound *sound)
{
    for (int64_t i = 0; i < sound->count; i++)
        if (!(fabsf(sound->at[i]) < 1e6f)) return fail(ERR_INPUT, "sample %lld is no number below a million", (long long)i);
    return 0;
}

int sound_decode(const char *name, const uint8_t *bytes, size_t count, struct sound *sound)
{
    struct sound_layout layout;
    *sound = (struct sound){0};
    TRY(find_layout(name, bytes, count, count, &layout));
    if (layout.head.samples == 0) return fail(ERR_INPUT, "%s: it has no samples", name);
    float *at = malloc((size_t)layout.head.samples * sizeof *at);
    if (at == NULL) return fail(ERR_MEMORY, "not enough memory for the sound of %s", name);
    *sound = (struct sound){layout.head.rate, layout.head.samples, at};
    int rc = 0;
    if (layout.code == SOUND_FLAC) rc = sound_flac_decode(bytes, count, &layout.head, at);
    else take_samples(&layout, bytes, at);
    if (rc == 0 && layout.code == SOUND_FLOAT) rc = check_finite(sound);
    if (rc == 0) return 0;
    sound_free(sound);
    return fail_prefix(rc, "%s: ", name);
}

void sound_free(struct sound *sound)
{
    free(sound->at);
    *sound = (struct sound){0};
}

// ---- another rate

enum { CROSSINGS = 24 };  // of the sinc on each side, where a Hann window ends it
static const double KEPT = 0.95;  // of the band that both rates can hold: the rest is where the filter falls

// The sum of the samples around `middle`, weighted by a sinc of this bandwidth.
static float filter_at(const struct sound *from, double middle, double band)
{
    const double half = CROSSINGS / band;
    int64_t first = (int64_t)ceil(middle - half), last = (int64_t)floor(middle + half);
    double sum = 0;
    if (first < 0) first = 0;
    if (last > from->count - 1) last = from->count - 1;
    for (int64_t i = first; i <= last; i++) {
        const double x = (double)i - middle, angle = M_PI * band * x;
        const double sinc = fabs(angle) < 1e-9 ? 1 : sin(angle) / angle;
        sum += (double)from->at[i] * band * sinc * (0.5 + 0.5 * cos(M_PI * x / half));
    }
    return (float)sum;
}

int sound_resample(struct sound *sound, int rate)
{
    if (sound->rate == rate) return 0;
    const double step = (double)sound->rate / rate, band = KEPT * (step > 1 ? 1 / step : 1);
    struct sound to = {rate, (sound->count * rate + sound->rate - 1) / sound->rate, NULL};
    to.at = malloc((size_t)(to.count + 1) * sizeof *to.at);
    if (to.at == NULL) return fail(ERR_MEMORY, "not enough memory for %lld samples of sound", (long long)to.count);
    for (int64_t i = 0; i < to.count; i++) to.at[i] = filter_at(sound, (double)i * step, band);
    sound_free(sound);
    *sound = to;
    return 0;
}
