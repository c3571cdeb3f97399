// SPDX-License-Identifier: Apache-2.0
// Sphere, WAV and FLAC: every form of samples, heads of odd forms, wrong ones and their sentences, other rates.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/audio/sound.h"
#include "runtime/common/base/text.h"

enum { ROOM = 8192, RATE = 16000 };
static uint8_t file[ROOM];
static size_t size;

static void put_bytes(const void *bytes, size_t n)
{
    assert_true(size + n <= ROOM);
    memcpy(file + size, bytes, n);
    size += n;
}

static void put_number(uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++, number >>= 8) put_bytes(&(uint8_t){(uint8_t)number}, 1);
}

static int decode(struct sound *sound)
{
    uint8_t *exact = malloc(size + 1);  // so that a sanitizer sees the end
    memcpy(exact, file, size);
    int rc = sound_decode("a.wav", exact, size, sound);
    free(exact);
    return rc;
}

static void assert_samples(const float *expected, int64_t count)
{
    struct sound sound;
    OK(decode(&sound));
    assert_int_equal(sound.rate, RATE);
    assert_int_equal(sound.count, count);
    for (int64_t i = 0; i < count; i++)
        if (sound.at[i] != expected[i]) fail_msg("sample %d is %.9g, not %.9g", (int)i, sound.at[i], expected[i]);
    sound_free(&sound);
}

// ---- sphere

static void put_sphere(const char *members, int head)
{
    char text[ROOM];
    int n = snprintf(text, sizeof text, "NIST_1A\n%7d\n%send_head\n", head, members);
    memset(text + n, ' ', sizeof text - (size_t)n);
    size = 0;
    put_bytes(text, (size_t)head);
}

#define MEMBERS(count, width, order, coding)                                                                                   \
    "sample_count -i " count "\nsample_rate -i 16000\nsample_n_bytes -i " width "\nsample_byte_format -s2 " order            \
    "\nsample_coding -s3 " coding "\n"

TEST(sphere_has_both_orders_of_bytes)
{
    static const float expected[] = {0x1p-15f, -1, 0.5f};
    put_sphere(MEMBERS("3", "2", "01", "pcm") "channel_count -i 1\nsample_sig_bits -i 16\n", 1024);
    put_bytes("\x01\x00\x00\x80\x00\x40", 6);
    assert_samples(expected, 3);
    put_sphere("speaker_id -s3 abc\n" MEMBERS("3", "2", "10", "pcm"), 2048);
    put_bytes("\x00\x01\x80\x00\x40\x00", 6);
    assert_samples(expected, 3);
    put_sphere(MEMBERS("1", "2", "01", "pcm") "channel_count -i 2\n", 1024);
    put_bytes("\x00\x40\x00\xc0more", 8);
    assert_samples((float[]){0}, 1);
}

TEST(wrong_sphere_files_are_named)
{
    static const struct {
        const char *members, *sentence;
    } rows[] = {
        {MEMBERS("3", "2", "01", "pcm,embedded-shorten-v2.00"), "its samples are coded as \"pcm,embedded-shorten-v2.00\"; "},
        {MEMBERS("3", "1", "01", "ulaw"), "its samples are coded as \"ulaw\"; only pcm is read"},
        {MEMBERS("3", "1", "01", "pcm"), "sample_n_bytes is \"1\"; it must be 2"},
        {MEMBERS("3", "2", "1", "pcm"), "sample_byte_format is \"1\"; it must be 01 (low byte first) or 10"},
        {MEMBERS("4", "2", "01", "pcm"), "its head counts 4 samples, and the file ends after 3"},
        {MEMBERS("-4", "2", "01", "pcm"), "sample_count is \"-4\"; it must be 0 to"},
        {MEMBERS("0", "2", "01", "pcm"), "it has no samples"},
        {MEMBERS("3", "2", "01", "pcm") "channel_count -i 9\n", "channel_count is \"9\"; it must be 1 to 8"},
        {MEMBERS("3", "2", "01", "pcm") "sample_count -i 3\n", "its head has sample_count twice"},
        {"sample_count -i 3\n", "its head has no sample_n_bytes"},
        {"sample_count 3\n", "its head has sample_count without a type and a value"},
    };
    struct sound sound;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_sphere(rows[i].members, 1024);
        put_bytes("\x01\x00\x00\x80\x00\x40", 6);
        assert_fails(decode(&sound), ERR_INPUT, rows[i].sentence);
        assert_int_equal(strncmp(error_text(), "a.wav: ", 7), 0);
    }
    put_sphere(MEMBERS("3", "2", "01", "pcm"), 1024);
    assert_fails(decode(&sound), ERR_INPUT, "the file ends after 0");
    size = 1000;
    assert_fails(decode(&sound), ERR_INPUT, "it ends within its head of 1024 bytes");
    size = 12;
    assert_fails(decode(&sound), ERR_INPUT, "it ends within the head of a sphere file");
    put_sphere("", 1024);
    memcpy(file + 8, "   1000", 7);
    assert_fails(decode(&sound), ERR_INPUT, "its head says that it has \"   1000\" bytes");
    put_sphere("", 1024);
    memset(memmem(file, size, "end_head", 8), 'x', 8);
    assert_fails(decode(&sound), ERR_INPUT, "its head of 1024 bytes has no end_head");
    size = 0;
    put_bytes("text", 4);
    assert_fails(decode(&sound), ERR_INPUT, "a.wav is no sound: it is neither sphere nor WAV nor FLAC");
}

// ---- WAV

struct wav {
    int code, channels, bits;
    const void *data;
    size_t bytes;
    bool extensible, list;  // a LIST of odd size before the data
    int64_t claimed;           // size of the data in its head, if not 0; -1: 0
};

static void put_wav(const struct wav *w)
{
    static const uint8_t guid[14] = {0, 0, 0, 0, 16, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71};
    const int block = w->channels * w->bits / 8;
    size = 0;
    put_bytes("RIFF....WAVEfmt ", 16);
    put_number(w->extensible ? 40 : 16, 4);
    put_number(w->extensible ? 0xfffe : (uint64_t)w->code, 2), put_number((uint64_t)w->channels, 2), put_number(RATE, 4);
    put_number((uint64_t)(RATE * block), 4), put_number((uint64_t)block, 2), put_number((uint64_t)w->bits, 2);
    if (w->extensible) {
        put_number(22, 2), put_number((uint64_t)w->bits, 2), put_number(0, 4), put_number((uint64_t)w->code, 2);
        put_bytes(guid, sizeof guid);
    }
    if (w->list) put_bytes("LIST\x05\0\0\0data ", 14);
    put_bytes("data", 4);
    put_number(w->claimed != 0 ? w->claimed > 0 ? (uint64_t)w->claimed : 0 : w->bytes, 4);
    put_bytes(w->data, w->bytes);
    const size_t end = size;
    size = 4;
    put_number(end - 8, 4);
    size = end;
}

TEST(wav_has_many_forms_of_samples)
{
    static const float expected[] = {0.5f, -1, 0};
    const float single[] = {0.5f, -1, 0};
    const double wide[] = {0.5, -1, 0};
    const struct wav rows[] = {
        {1, 1, 8, "\xc0\x00\x80", 3, .extensible = false},
        {1, 1, 16, "\x00\x40\x00\x80\x00\x00", 6, .extensible = false},
        {1, 1, 16, "\x00\x40\x00\x80\x00\x00", 6, .extensible = true},
        {1, 1, 24, "\x00\x00\x40\x00\x00\x80\x00\x00\x00", 9, .list = true},
        {1, 1, 32, "\x00\x00\x00\x40\x00\x00\x00\x80\x00\x00\x00\x00", 12, .list = true},
        {3, 1, 32, single, sizeof single, .extensible = true},
        {3, 1, 64, wide, sizeof wide, .list = true},
        {1, 2, 16, "\x00\x60\x00\x20\x00\x80\x00\x80\x00\x40\x00\xc0", 12, .list = true},  // the mean of two channels
        {1, 1, 16, "\x00\x40\x00\x80\x00\x00", 6, .claimed = UINT32_MAX},
        {1, 1, 16, "\x00\x40\x00\x80\x00\x00!", 7, .claimed = UINT32_MAX},  // half a sample at the end of a stream
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_wav(&rows[i]);
        assert_samples(expected, 3);
    }
    put_wav(&(struct wav){1, 1, 16, "\x00\x40\x00\x80\x00\x00", 6, .claimed = -1});
    memset(file + 4, 0, 4);  // a stream that never knew its size
    assert_samples(expected, 3);
}

TEST(wrong_wav_files_are_named)
{
    const float odd[] = {0.5f, NAN};
    const struct {
        struct wav wav;
        const char *sentence;
    } rows[] = {
        {{7, 1, 8, "abcd", 4, .list = true}, "its samples are mu-law (code 7); only PCM and float are read"},
        {{85, 1, 16, "abcd", 4, .extensible = true}, "its samples are MP3 (code 85)"},
        {{1, 1, 12, "abcd", 4, .list = true}, "its samples have 12 bits; 8, 16, 24 and 32 are read"},
        {{3, 1, 16, "abcd", 4, .list = true}, "its samples have 16 bits; floats of 32 and 64 are read"},
        {{1, 0, 16, "abcd", 4, .list = true}, "it has 0 channels; 1 to 8 are read"},
        {{1, 9, 16, "abcd", 4, .list = true}, "it has 9 channels; 1 to 8 are read"},
        {{1, 2, 16, "abcdef", 6, .list = true}, "its data chunk has 6 bytes, which are no whole samples of 4 bytes"},
        {{1, 1, 16, "abcd", 4, .claimed = 6}, "its data chunk has 6 bytes, and the file ends after 4 of them"},
        {{1, 1, 16, "abcd", 4, .claimed = -1}, "it has no samples"},
        {{1, 1, 16, "", 0, .list = true}, "it has no samples"},
        {{3, 1, 32, odd, sizeof odd, .list = true}, "sample 1 is no number below a million"},
    };
    struct sound sound;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put_wav(&rows[i].wav);
        assert_fails(decode(&sound), ERR_INPUT, rows[i].sentence);
        assert_int_equal(strncmp(error_text(), "a.wav: ", 7), 0);
    }
    put_wav(&(struct wav){1, 1, 16, "abcd", 4, .extensible = true});
    file[50] ^= 1;
    assert_fails(decode(&sound), ERR_INPUT, "its fmt chunk is extensible and names no format that is read");
    put_wav(&(struct wav){1, 1, 16, "abcd", 4, .list = true});
    memcpy(file, "RIFX", 4);
    assert_fails(decode(&sound), ERR_INPUT, "it is a WAV file of the form RIFX; only RIFF is read");
    memcpy(file, "\x1b[2\xff", 4);
    assert_fails(decode(&sound), ERR_INPUT, "it is a WAV file of the form ?[2?; only RIFF is read");
    put_wav(&(struct wav){1, 1, 16, "abcd", 4, .list = false});
    file[24] = (char)0x9f, file[25] = 0x0f; // 3,999 samples per second
    assert_fails(decode(&sound), ERR_INPUT, "it has 3999 samples per second; 4000 to 384000 are read");
    put_wav(&(struct wav){1, 1, 16, "abcd", 4, .list = false});
    memcpy(file + 12, "none", 4);
    assert_fails(decode(&sound), ERR_INPUT, "its data chunk comes before any fmt chunk");
    size = 36;
    assert_fails(decode(&sound), ERR_INPUT, "it has no data chunk");
    put_wav(&(struct wav){1, 1, 16, "abcd", 4, .list = true});
    memset(file + 40, 255, 4);
    assert_fails(decode(&sound), ERR_INPUT, "a chunk at byte 36 has 4294967295 bytes, more than the file");
    put_wav(&(struct wav){1, 1, 16, "abcd", 4, .list = true});
    file[32] = 3;
    assert_fails(decode(&sound), ERR_INPUT, "its fmt chunk has blocks of 3 bytes, but 1 channels of 16 bits");
}

TEST(a_head_needs_only_the_beginning)
{
    struct sound_head head;
    put_wav(&(struct wav){1, 2, 16, "abcdefgh", 8, .list = true});
    OK(sound_head("a.wav", file, size - 8, size, &head));
    assert_int_equal(head.samples, 2);
    assert_int_equal(head.channels, 2);
    assert_int_equal(head.rate, RATE);
    assert_string_equal(head.form, "WAV");
    assert_fails(sound_head("a.wav", file, 40, size, &head), ERR_INPUT, "a.wav: its samples do not begin in the first 40 bytes");
    assert_true(sound_is_named("a/b.WAV") && sound_is_named("b.sph") && sound_is_named("b.flac"));
    assert_false(sound_is_named("wav") || sound_is_named("a.wav.txt"));
}

// ---- FLAC: seeds of the fuzzer, which libFLAC 1.4 wrote

static int read_seed(const char *name, struct sound *sound)
{
    char path[128], *bytes;
    size_t count;
    snprintf(path, sizeof path, "test/fuzz/seeds/sound/%s", name);
    OK(file_read(path, 1 << 20, &bytes, &count));
    int rc = sound_decode(name, (const uint8_t *)bytes, count, sound);
    free(bytes);
    return rc;
}

TEST(flac_equals_the_wav_that_it_was_made_of)
{
    struct sound flac, wav;
    OK(read_seed("sweep.wav", &wav));
    int rc = read_seed("sweep.flac", &flac);
    if (rc == ERR_UNSUPPORTED) {
        sound_free(&wav);
        skip();
    }
    OK(rc);
    assert_int_equal(flac.count, wav.count);
    assert_int_equal(flac.rate, wav.rate);
    assert_memory_equal(flac.at, wav.at, (size_t)wav.count * sizeof *wav.at);
    sound_free(&flac);
    sound_free(&wav);
}

TEST(damaged_flac_files_are_named)
{
    struct sound sound;
    char *bytes;
    size_t count;
    OK(file_read("test/fuzz/seeds/sound/sweep.flac", 1 << 20, &bytes, &count));
    uint8_t *flac = (uint8_t *)bytes;
    int rc = sound_decode("a.flac", flac, count, &sound);
    sound_free(&sound);
    if (rc == ERR_UNSUPPORTED) {
        free(bytes);
        skip();
    }
    assert_fails(sound_decode("a.flac", flac, count - 20, &sound), ERR_INPUT, "a.flac: it");
    flac[count - 30] ^= 4;
    assert_fails(sound_decode("a.flac", flac, count, &sound), ERR_INPUT, "a.flac: it is damaged after sample");
    flac[count - 30] ^= 4;
    flac[30] ^= 1;
    assert_fails(sound_decode("a.flac", flac, count, &sound), ERR_INPUT, "a.flac: its samples do not have the MD5 in its head");
    flac[25] ^= 1;
    assert_fails(sound_decode("a.flac", flac, count, &sound), ERR_INPUT, "a.flac: ");
    memset(flac + 22, 0, 4);
    assert_fails(sound_decode("a.flac", flac, count, &sound), ERR_INPUT, "its head does not say how many samples it has");
    assert_fails(sound_decode("a.flac", flac, 40, &sound), ERR_INPUT, "it ends within the head of a FLAC file");
    flac[4] = 1;
    assert_fails(sound_decode("a.flac", flac, count, &sound), ERR_INPUT, "its first block is not the STREAMINFO");
    free(bytes);
}

// ---- other rates

// A tone that both rates hold stays itself, away from the ends, and one that the lower rate cannot hold is gone.
static double change_of(int from, int to, double hertz, bool kept)
{
    struct sound sound = {from, from / 4, malloc((size_t)(from / 4) * sizeof(float))};
    double most = 0;
    for (int64_t i = 0; i < sound.count; i++) sound.at[i] = (float)sin(2 * M_PI * hertz * (double)i / from);
    OK(sound_resample(&sound, to));
    assert_int_equal(sound.rate, to);
    assert_int_equal(sound.count, (from / 4 * (int64_t)to + from - 1) / from);
    for (int64_t i = sound.count / 8; i < sound.count * 7 / 8; i++) {
        const double expected = kept ? sin(2 * M_PI * hertz * (double)i / to) : 0;
        most = fmax(most, fabs((double)sound.at[i] - expected));
    }
    sound_free(&sound);
    return most;
}

TEST(another_rate_keeps_what_both_hold)
{
    static const int rates[] = {8000, 11025, 22050, 44100, 48000};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        assert_true(change_of(rates[i], 16000, 440, true) < 1e-3);
        assert_true(change_of(rates[i], 16000, 3000, true) < 1e-3);
    }
    assert_true(change_of(48000, 16000, 10000, false) < 2e-3);
    assert_true(change_of(44100, 16000, 15000, false) < 2e-3);
}
