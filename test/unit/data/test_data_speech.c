// SPDX-License-Identifier: Apache-2.0
// Utterances: AN4's and LibriSpeech's lists and folders, wrong ones and their sentences, speakers held out, drawn chords, a
// sound of a person.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/audio/letters.h"
#include "data/audio/sound.h"
#include "data/audio/spectrum.h"
#include "data/dataset.h"
#include "data/kind.h"
#include "data/read/speech/an4.h"
#include "data/read/speech/librispeech.h"
#include "runtime/common/base/text.h"

static int parse(const char *names, const char *texts, struct speech_split *split)
{
    const struct speech_list n = {"n.fileids", names, strlen(names)}, t = {"t.transcription", texts, strlen(texts)};
    return an4_parse(&n, &t, split);
}

TEST(an4_joins_its_two_lists)
{
    struct speech_split s;
    OK(parse("a/f1/x-f1\r\na/f2/y-f2\n\nz", "Yes  it's (x-f1)\n<s> GO </s> (y-f2)\nA B (z)", &s));
    assert_int_equal(s.count, 3);
    assert_string_equal(s.at[0].file, "wav/a/f1/x-f1.sph");
    assert_string_equal(s.at[0].text, "YES IT'S");
    assert_string_equal(s.at[1].text, "GO");
    assert_string_equal(s.at[2].file, "wav/z.sph");
    assert_int_equal(s.at[1].line, 2);
    speech_split_free(&s);
    OK(parse("b\na\n", "TWO (a)\nONE (b)\n", &s));
    assert_string_equal(s.at[0].text, "ONE");
    speech_split_free(&s);
}

TEST(wrong_lists_are_named)
{
    static const struct {
        const char *names, *texts, *sentence;
    } rows[] = {
        {"a\nb\n", "ONE (a)\n", "n.fileids:2: t.transcription has no transcript of it"},
        {"a\n", "ONE (a)\nTWO (b)\n", "t.transcription:2: n.fileids does not name that utterance"},
        {"a\na\n", "ONE (a)\n", "n.fileids:2: t.transcription has its one transcript for another line"},
        {"a\n", "ONE (a)\nTWO (a)\n", "t.transcription:2: n.fileids does not name that utterance"},
        {"c\n", "ONE (b)\nTWO (c)\nSIX (a)\n", "t.transcription:1: n.fileids does not name that utterance"},
        {"a\na\n", "ONE (a)\nTWO (a)\n", "n.fileids:2: t.transcription has its one transcript for another line"},
        {"a\n", "ONE a\n", "t.transcription:1: a transcript ends with the name of its utterance in parentheses"},
        {"a\n", "ONE ()\n", "t.transcription:1: a transcript ends with the name"},
        {"a\n", "(a)\n", "t.transcription:1: the transcript is empty"},
        {"a\n", "<s> </s> (a)\n", "t.transcription:1: the transcript is empty"},
        {"a\n", "\nONE 2 (a)\n", "t.transcription:2: character 5 is \"2\"; a transcript has letters, ' and spaces alone"},
        {"a\n", "", "t.transcription has no transcript"},
        {"../a\n", "ONE (a)\n", "t.transcription:1: the name of an utterance has letters"},
        {"/a\n", "ONE (a)\n", "t.transcription:1: the name of an utterance has letters"},
        {"a/.b\n", "ONE (.b)\n", "t.transcription:1: the name of an utterance has letters"},
        {"a b\n", "ONE (a b)\n", "t.transcription:1: the name of an utterance has letters"},
    };
    struct speech_split s;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_fails(parse(rows[i].names, rows[i].texts, &s), ERR_INPUT, rows[i].sentence);
        speech_split_free(&s);
    }
}

TEST(the_last_speakers_by_name_are_held_out)
{
    struct speech_split s, held;
    OK(parse("c/m2/1\nc/f1/2\nc/m10/3\nc/f1/4\nc/zz/5\nc/m2/6\n", "A (1)\nB (2)\nC (3)\nD (4)\nE (5)\nF (6)\n", &s));
    an4_hold_out(&s, 2, &held);  // m2 and zz
    assert_int_equal(s.count, 3);
    assert_int_equal(held.count, 3);
    assert_string_equal(held.at[0].text, "A");
    assert_string_equal(held.at[1].text, "E");
    assert_string_equal(held.at[2].text, "F");
    assert_string_equal(s.at[1].text, "C");
    speech_split_free(&held);
    an4_hold_out(&s, 9, &held);
    assert_int_equal(s.count, 0);
    assert_int_equal(held.count, 3);
    speech_split_free(&held);
    speech_split_free(&s);
}

// ---- folders

// The file of a drawn utterance.
static void put_chord(struct dataset *chords, int64_t index, const char *name)
{
    enum { ROOM = 1 << 20 };
    static uint8_t bytes[ROOM];
    int64_t length;
    OK(dataset_item(chords, SPLIT_TRAIN, "sound", index, bytes, ROOM, &length));
    put(name, bytes, (size_t)length);
}

static void make_an4(void)
{
    struct dataset *chords;
    OK(dataset_open("chords", NULL, &chords));
    make_folder("an4/etc"), make_folder("an4/wav/an4_clstk/f1"), make_folder("an4/wav/an4_clstk/m1");
    make_folder("an4/wav/an4test_clstk/x1");
    put_text("an4/etc/an4_train.fileids", "an4_clstk/f1/a-f1\nan4_clstk/m1/b-m1\n");
    put_text("an4/etc/an4_train.transcription", "YES (a-f1)\nGO NOW (b-m1)\n");
    put_text("an4/etc/an4_test.fileids", "an4test_clstk/x1/c-x1\n");
    put_text("an4/etc/an4_test.transcription", "<s> NO </s> (c-x1)");
    put_chord(chords, 0, "an4/wav/an4_clstk/f1/a-f1.sph");
    put_chord(chords, 1, "an4/wav/an4_clstk/m1/b-m1.sph");
    put_chord(chords, 2, "an4/wav/an4test_clstk/x1/c-x1.sph");
    dataset_close(chords);
}

TEST_WITH(a_folder_of_an4_is_read, set_up, leave)
{
    enum { MOST = 1000 };
    static float spectrum[MOST * SPECTRUM_BINS];
    struct dataset *ds, *chords;
    enum dataset_verdict verdict;
    int32_t letter[64], frames[2];
    int64_t length;
    char hex[2][DIGEST_HEX];
    make_an4();
    OK(dataset_open("an4", in("."), &ds));
    OK(dataset_open("chords", NULL, &chords));
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 2);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 1);
    assert_string_equal(speech_text(ds, SPLIT_TRAIN, 1), "GO NOW");
    assert_string_equal(speech_text(ds, SPLIT_TEST, 0), "NO");
    OK(dataset_item(ds, SPLIT_TRAIN, "letters", 0, letter, sizeof letter, &length));
    assert_int_equal(length, 3);
    assert_int_equal(letter[0], letters_label('Y'));
    OK(dataset_lengths(ds, SPLIT_TRAIN, "spectrum", frames));
    OK(dataset_item(ds, SPLIT_TRAIN, "spectrum", 1, spectrum, sizeof spectrum, &length));
    assert_int_equal(length, frames[1]);
    assert_int_equal(length, spectrum_frames(speech_samples(ds, SPLIT_TRAIN, 1)));
    assert_int_equal(speech_samples(ds, SPLIT_TRAIN, 1), speech_samples(chords, SPLIT_TRAIN, 1));
    REFUSED(dataset_item(ds, SPLIT_TRAIN, "spectrum", 1, spectrum, 1000, &length), "the buffer holds 1000");
    OK(dataset_verify(ds, &verdict));
    assert_int_equal(verdict, DATASET_CUSTOM);
    OK(dataset_content_digest(ds, SPLIT_TRAIN, hex[0]));
    dataset_close(ds);
    put_text("an4/etc/an4_train.transcription", "YES (a-f1)\nGO HOW (b-m1)\n");
    OK(dataset_open("an4", in("an4"), &ds));
    OK(dataset_content_digest(ds, SPLIT_TRAIN, hex[1]));
    assert_string_not_equal(hex[0], hex[1]);
    dataset_close(ds);
    OK(dataset_open("an4-val", in("."), &ds));
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN] + dataset_facts(ds)->count[SPLIT_TEST], 2);
    dataset_close(ds);
    dataset_close(chords);
}

TEST_WITH(wrong_sounds_of_a_folder_are_named, set_up, leave)
{
    struct dataset *ds;
    enum dataset_verdict verdict;
    static const char A[] = "an4/wav/an4_clstk/f1/a-f1.sph";
    char *bytes;
    size_t count;
    assert_fails(dataset_open("an4", in("."), &ds), ERR_MISSING, "etc/an4_train.fileids is missing; \"dawn data fetch an4\"");
    make_an4();
    OK(file_read(in(A), 1 << 20, &bytes, &count));
    put(A, bytes, count - 2);
    assert_fails(dataset_open("an4", in("."), &ds), ERR_INPUT, "a-f1.sph: its head counts");
    char *rate = strstr(bytes, "-i 16000");
    memcpy(rate, "-i 08000", 8);
    put(A, bytes, count);
    assert_fails(dataset_open("an4", in("."), &ds), ERR_INPUT, "a-f1.sph: it has 8000 samples per second; utterances have 16000");
    memcpy(rate, "-i 16000", 8);
    memcpy(strstr(bytes, "sample_count -i ") + 16, "00319", 5);
    put(A, bytes, count);
    assert_fails(dataset_open("an4", in("."), &ds), ERR_INPUT, "a-f1.sph: it has 319 samples, fewer than the 320 of a window");
    remove(in(A));
    assert_fails(dataset_open("an4", in("."), &ds), ERR_MISSING, "the utterance \"YES\" has no sound: cannot open ");
    free(bytes);

    OK(file_read(in("an4/wav/an4_clstk/m1/b-m1.sph"), 1 << 20, &bytes, &count));
    put(A, bytes, count);
    memset(bytes + 1024, 0, count - 1024);
    put("an4/wav/an4_clstk/m1/b-m1.sph", bytes, count);
    OK(dataset_open("an4", in("."), &ds));
    assert_fails(dataset_verify(ds, &verdict), ERR_INPUT, "wav/an4_clstk/m1/b-m1.sph: all its samples are equal: it is silent");
    dataset_close(ds);
    free(bytes);
}

TEST(a_list_of_librispeech_is_read)
{
    static const char text[] = "84-1-0000 GO DO YOU HEAR\n84-1-0001 IT'S\n";
    struct speech_split s = {0};
    OK(librispeech_parse(&(struct speech_list){"l", text, strlen(text)}, "dev-clean/84/1", &s));
    assert_int_equal(s.count, 2);
    assert_string_equal(s.at[0].file, "dev-clean/84/1/84-1-0000.flac");
    assert_string_equal(s.at[0].text, "GO DO YOU HEAR");
    assert_string_equal(s.at[1].text, "IT'S");
    assert_fails(librispeech_parse(&(struct speech_list){"l", "\nx", 2}, "a", &s), ERR_INPUT, "l:2: the transcript is empty");
    assert_fails(librispeech_parse(&(struct speech_list){"l", "../x A", 6}, "a", &s), ERR_INPUT, "l:1: the name of an utterance");
    speech_split_free(&s);
}

TEST_WITH(a_folder_of_librispeech_is_read, set_up, leave)
{
    struct dataset *ds;
    char *bytes, letters[8];
    size_t count;
    OK(file_read("test/fuzz/seeds/sound/sweep.flac", 1 << 20, &bytes, &count));
    make_folder("LibriSpeech/train-clean-100/9/2"), make_folder("LibriSpeech/train-clean-100/10/1");
    make_folder("LibriSpeech/dev-clean/7/1");
    put("LibriSpeech/train-clean-100/9/2/9-2-0.flac", bytes, count);
    put("LibriSpeech/train-clean-100/10/1/10-1-0.flac", bytes, count);
    put("LibriSpeech/dev-clean/7/1/7-1-0.flac", bytes, count);
    put_text("LibriSpeech/train-clean-100/9/2/9-2.trans.txt", "9-2-0 NINE\n");
    put_text("LibriSpeech/train-clean-100/10/1/10-1.trans.txt", "10-1-0 TEN\n");
    put_text("LibriSpeech/dev-clean/7/1/7-1.trans.txt", "7-1-0 SEVEN\n");
    OK(dataset_open("librispeech-100", in("."), &ds));
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 2);
    snprintf(letters, sizeof letters, "%s", speech_text(ds, SPLIT_TRAIN, 0));
    assert_string_equal(letters, "TEN");
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 1);
    dataset_close(ds);
    assert_fails(dataset_open("librispeech", in("."), &ds), ERR_MISSING, "train-clean-360");
    remove(in("LibriSpeech/dev-clean/7/1/7-1.trans.txt"));
    assert_fails(dataset_open("librispeech-100", in("."), &ds), ERR_INPUT, "dev-clean has no utterances");
    free(bytes);
}

// ---- drawn

TEST(chords_are_utterances)
{
    struct dataset *ds;
    char hex[DIGEST_HEX];
    struct text shown = {0};
    OK(dataset_open("chords", NULL, &ds));
    const struct dataset_facts *f = dataset_facts(ds);
    assert_int_equal(f->count[SPLIT_TRAIN], 480);
    assert_int_equal(f->count[SPLIT_TEST], 60);
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++)
        for (int64_t i = 0; i < f->count[s]; i++) {
            const int64_t letters = (int64_t)strlen(speech_text(ds, s, i)), frames = spectrum_frames(speech_samples(ds, s, i));
            assert_in_range(letters, 1, 17);
            assert_true(frames > 2 * 4 * letters && frames <= f->field[SPEECH_SPECTRUM].shape.dim[0]);
        }
    OK(ds->kind->show(ds, SPLIT_TRAIN, 7, &shown));
    assert_non_null(strstr(shown.at, speech_text(ds, SPLIT_TRAIN, 6)));
    assert_non_null(strstr(shown.at, "8 kHz"));
    OK(dataset_digest(ds, SPLIT_TEST, hex));
    text_free(&shown);
    dataset_close(ds);
}

// ---- a sound of a person

TEST(a_sound_of_a_person_is_a_sample)
{
    struct dataset *chords, *ds;
    enum { ROOM = 1 << 20 };
    static char bytes[ROOM];
    int64_t length, frames;
    OK(dataset_open("chords", NULL, &chords));
    OK(dataset_item(chords, SPLIT_TEST, "sound", 3, bytes, ROOM, &length));
    OK(speech_ask(dataset_facts(chords), "some/hello.sph", bytes, (size_t)length, &ds));
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 1);
    float *a = malloc(ROOM), *b = malloc(ROOM);
    OK(dataset_item(chords, SPLIT_TEST, "spectrum", 3, a, ROOM, &frames));
    OK(dataset_item(ds, SPLIT_TEST, "spectrum", 0, b, ROOM, &length));
    assert_int_equal(length, frames);
    assert_memory_equal(a, b, (size_t)(frames * SPECTRUM_BINS) * sizeof *a);
    dataset_close(ds);
    memcpy(strstr(bytes, "-i 16000"), "-i 08000", 8);  // twice as long
    OK(speech_ask(dataset_facts(chords), "hello.sph", bytes, 1024 + 2 * (size_t)speech_samples(chords, SPLIT_TEST, 3), &ds));
    assert_int_equal(speech_samples(ds, SPLIT_TEST, 0), 2 * speech_samples(chords, SPLIT_TEST, 3));
    dataset_close(ds);
    assert_fails(speech_ask(dataset_facts(chords), "hello.wav", "text", 4, &ds), ERR_INPUT, "hello.wav is no sound");
    enum { LONG = 121 * 4000 };
    static const char head[] = "RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\1\0\1\0\xa0\x0f\0\0\xa0\x0f\0\0\1\0\10\0"
                               "data\xff\xff\xff\xff";
    char *wav = zalloc(sizeof head - 1 + LONG);
    memcpy(wav, head, sizeof head - 1);
    assert_fails(speech_ask(dataset_facts(chords), "a.wav", wav, sizeof head - 1 + LONG, &ds), ERR_INPUT,
                 "a.wav: it lasts 121 s; at most 120 s are taken at a time");
    free(wav);
    free(a);
    free(b);
    dataset_close(chords);
}
