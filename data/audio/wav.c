// SPDX-License-Identifier: Apache-2.0
// WAV: chunks in a RIFF. "fmt " says how samples are stored, "data" has them; all other chunks are skipped, wherever they are. A
// chunk of odd size is followed by a byte that does not count.
//
// A program that writes into a pipe does not know the size of "data" and leaves 0 or 2^32 - 1: the samples then go on to the
// end of the file. 0 counts as unknown only if the size in the head of the file does not agree with the file either.
#include <string.h>

#include "data/audio/sound_inside.h"

enum { CHUNK = 8, RIFF = 12, FORMAT = 16, EXTENSIBLE_SIZE = 40, CODE_PCM = 1, CODE_FLOAT = 3, CODE_EXTENSIBLE = 0xfffe };
static const uint32_t UNKNOWN = UINT32_MAX;
// The rest of the name of a format in the extensible form; its first two bytes are the code.
static const uint8_t guid[14] = {0, 0, 0, 0, 16, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};

static uint32_t low16(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t low32(const uint8_t *at)
{
    return low16(at) | low16(at + 2) << 16;
}

static const char *code_name(uint32_t code)
{
    static const struct {
        uint32_t code;
        const char *name;
    } known[] = {{2, "Microsoft ADPCM"}, {6, "A-law"}, {7, "mu-law"}, {17, "IMA ADPCM"}, {49, "GSM 6.10"}, {80, "MPEG"},
                 {85, "MP3"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].code == code) return known[i].name;
    return "an unknown code";
}

static int take_format(const uint8_t *at, uint32_t size, struct sound_layout *layout)
{
    if (size < FORMAT) return fail(ERR_INPUT, "its fmt chunk has %u bytes; at least %d are needed", size, FORMAT);
    uint32_t code = low16(at), channels = low16(at + 2), rate = low32(at + 4), block = low16(at + 12), bits = low16(at + 14);
    if (code == CODE_EXTENSIBLE) {
        if (size < EXTENSIBLE_SIZE || memcmp(at + 26, guid, sizeof guid) != 0)
            return fail(ERR_INPUT, "its fmt chunk is extensible and names no format that is read (PCM, float)");
        code = low16(at + 24);
    }
    if (code != CODE_PCM && code != CODE_FLOAT)
        return fail(ERR_INPUT, "its samples are %s (code %u); only PCM and float are read", code_name(code), code);
    bool real = code == CODE_FLOAT;
    if (real ? bits != 32 && bits != 64 : bits < 8 || bits > 32 || bits % 8 != 0)
        return fail(ERR_INPUT, "its samples have %u bits; %s are read", bits, real ? "floats of 32 and 64" : "8, 16, 24 and 32");
    if (rate > SOUND_RATE_MOST) rate = SOUND_RATE_MOST + 1;
    layout->head = (struct sound_head){"WAV", (int)rate, (int)channels, (int)bits, real, 0};
    layout->code = real ? SOUND_FLOAT : bits == 8 ? SOUND_UNSIGNED : SOUND_INTEGER;
    layout->bytes = (int)bits / 8;
    TRY(sound_check(&layout->head));
    if (block != channels * bits / 8)
        return fail(ERR_INPUT, "its fmt chunk has blocks of %u bytes, but %u channels of %u bits", block, channels, bits);
    return 0;
}

static int take_data(const uint8_t *bytes, size_t at, size_t size, struct sound_layout *layout)
{
    if (layout->head.form == NULL) return fail(ERR_INPUT, "its data chunk comes before any fmt chunk");
    const size_t block = (size_t)(layout->head.channels * layout->bytes), there = size - at;
    const uint32_t claimed = low32(bytes + at - 4);
    bool unknown = claimed == UNKNOWN || (claimed == 0 && (size_t)low32(bytes + 4) + CHUNK != size);
    size_t data = unknown ? there : claimed;
    if (data > there)
        return fail(ERR_INPUT, "its data chunk has %zu bytes, and the file ends after %zu of them", data, there);
    if (!unknown && data % block != 0)
        return fail(ERR_INPUT, "its data chunk has %zu bytes, which are no whole samples of %zu bytes", data, block);
    layout->at = at;
    layout->head.samples = (int64_t)(data / block);
    return 0;
}

int sound_wav(const uint8_t *bytes, size_t count, size_t size, struct sound_layout *layout)
{
    *layout = (struct sound_layout){0};
    if (count < RIFF) return fail(ERR_INPUT, "it ends within the head of a WAV file");
    if (memcmp(bytes, "RIFF", 4) != 0) {
        char form[5] = "";
        for (int i = 0; i < 4; i++) form[i] = bytes[i] < ' ' || bytes[i] > '~' ? '?' : (char)bytes[i];
        return fail(ERR_INPUT, "it is a WAV file of the form %s; only RIFF is read", form);
    }
    for (size_t at = RIFF; at + CHUNK <= count;) {
        const uint8_t *chunk = bytes + at;
        const uint32_t claimed = low32(chunk + 4);
        at += CHUNK;
        if (memcmp(chunk, "data", 4) == 0) return take_data(bytes, at, size, layout);
        if (claimed > size - at)
            return fail(ERR_INPUT, "a chunk at byte %zu has %u bytes, more than the file", at - CHUNK, claimed);
        if (memcmp(chunk, "fmt ", 4) == 0) {
            if (claimed > count - at) break;
            TRY(take_format(bytes + at, claimed, layout));
        }
        at += claimed + (claimed & 1);
    }
    if (count < size) return fail(ERR_INPUT, "its samples do not begin in the first %zu bytes", count);
    return fail(ERR_INPUT, "it has no data chunk");
}
