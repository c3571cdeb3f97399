// SPDX-License-Identifier: Apache-2.0
// The parts of LibriSpeech, 16 kHz, as FLAC. Both sets are scored on dev-clean, as TBD's Deep Speech 2 was.
//
// Nobody publishes digests of the files, so only archives are official: "dawn data fetch" checks theirs. The digest of a split
// covers names, sizes and transcripts; "dawn data verify" decodes all sounds and compares them with the MD5 in their heads.
// Cost of opening: a read per sound.
#include "data/read/speech/librispeech.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/fetch/source.h"

#define URL "https://www.openslr.org/resources/12/"
#define CHECKED                                                                                                                \
    "The SHA-256 of the archives are torchaudio's. Of the unpacked files every sound is decoded and compared with the MD5 in " \
    "its head. Nobody publishes digests of them, so they count as custom."
static const char TEST[] = "dev-clean";

static const struct source librispeech_100_source = {
    .name = "librispeech-100",
    .title = "LibriSpeech, 100 hours",
    .page = "https://www.openslr.org/12/",
    .part = {{URL "train-clean-100.tar.gz", 6387309499, "d4ddd1d5a6ab303066f14971d768ee43278a5f2a0aa43dc716b0e64ecbbbf6e2"},
             {URL "dev-clean.tar.gz", 337926286, "76f87d090650617fca0cac8f88b9416e0ebf80350acb97b343a85fa903728ab3"}},
    .tree = "LibriSpeech/",
    .folder = "librispeech-100",
    .checked = CHECKED,
};
static const struct source librispeech_source = {
    .name = "librispeech",
    .title = "LibriSpeech",
    .page = "https://www.openslr.org/12/",
    .part = {{URL "train-clean-100.tar.gz", 6387309499, "d4ddd1d5a6ab303066f14971d768ee43278a5f2a0aa43dc716b0e64ecbbbf6e2"},
             {URL "train-clean-360.tar.gz", 23049477885, "146a56496217e96c14334a160df97fffedd6e0a04e66b9c5af0d40be3c792ecf"},
             {URL "train-other-500.tar.gz", 30593501606, "ddb22f27f96ec163645d53215559df6aa36515f26e01dd70798188350adcb6d2"},
             {URL "dev-clean.tar.gz", 337926286, "76f87d090650617fca0cac8f88b9416e0ebf80350acb97b343a85fa903728ab3"},
             {URL "dev-other.tar.gz", 314305928, "12661c48e8c3fe1de2c1caa4c3e135193bfb1811584f11f569dd12645aa84365"},
             {URL "test-clean.tar.gz", 346663984, "39fde525e59672dc6d1551919b1478f724438a95aa55f874b576be21967e6c23"},
             {URL "test-other.tar.gz", 328757843, "d09c181bba5cf717b3dee7d4d592af11a3ee3a09e08ae025c5506f6ebe961c29"}},
    .tree = "LibriSpeech/",
    .folder = "librispeech",
    .checked = CHECKED,
};

int librispeech_parse(const struct speech_list *list, const char *folder, struct speech_split *into)
{
    struct speech_lines l = {.list = list};
    struct text file = {0};
    const char *line;
    size_t n;
    int rc = 0;
    while (rc == 0 && speech_next_line(&l, &line, &n)) {
        const char *blank = memchr(line, ' ', n);
        const size_t id = blank != NULL ? (size_t)(blank - line) : n, text = blank != NULL ? n - id - 1 : 0;
        file.length = 0;
        text_add(&file, "%s/", folder);
        text_bytes(&file, line, id);
        const char *words = line + (text > 0 ? id + 1 : 0);
        rc = speech_add(into, &(struct speech_line){list->name, file.at, ".flac", words, file.length, text, l.number});
    }
    text_free(&file);
    return rc;
}

// ---- folders

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

// Calls `take` for what a folder has, in the order of names.
static int walk(struct speech_set *set, const char *below, struct speech_split *into,
                int (*take)(struct speech_set *, const char *below, struct speech_split *))
{
    struct text path = {0}, inner = {0};
    struct dirent **entry = NULL;
    text_add(&path, "%s/%s", set->folder, below);
    const int count = scandir(path.at, &entry, is_shown, alphasort);
    int rc = count < 0 ? fail_errno(ERR_MISSING, errno, "cannot read the folder %s", path.at) : 0;
    for (int i = 0; i < count; i++) {
        inner.length = 0;
        text_add(&inner, "%s/%s", below, entry[i]->d_name);
        if (rc == 0) rc = take(set, inner.at, into);
        free(entry[i]);
    }
    free(entry);
    text_free(&inner);
    text_free(&path);
    return rc;
}

static int take_file(struct speech_set *set, const char *below, struct speech_split *into)
{
    static const char ENDING[] = ".trans.txt";
    const size_t n = strlen(below), ending = sizeof ENDING - 1;
    if (n < ending || strcmp(below + n - ending, ENDING) != 0) return 0;
    struct text path = {0}, folder = {0};
    struct speech_list list = {below, NULL, 0};
    char *bytes = NULL;
    text_add(&path, "%s/%s", set->folder, below);
    text_bytes(&folder, below, (size_t)(strrchr(below, '/') - below));
    int rc = file_read(path.at, SPEECH_LIST, &bytes, &list.n);
    list.text = bytes;
    if (rc == 0) rc = librispeech_parse(&list, folder.at, into);
    free(bytes);
    text_free(&folder);
    text_free(&path);
    return rc;
}

static int take_chapter(struct speech_set *set, const char *below, struct speech_split *into)
{
    return walk(set, below, into, take_file);
}

static int take_speaker(struct speech_set *set, const char *below, struct speech_split *into)
{
    return walk(set, below, into, take_chapter);
}

// ---- the data sets

static void published_100(struct dataset_facts *facts)
{
    facts->title = librispeech_100_source.title;
    facts->split_name[SPLIT_TEST] = TEST;
    facts->count[SPLIT_TRAIN] = 28539, facts->count[SPLIT_TEST] = 2703;
    speech_fields(facts, 3526, 520, 1 << 20);
}

static void published_all(struct dataset_facts *facts)
{
    published_100(facts);
    facts->title = librispeech_source.title;
    facts->count[SPLIT_TRAIN] = 281241;
}

static int librispeech_open(struct dataset *ds, const char *given)
{
    static const char *const trained[] = {"train-clean-100", "train-clean-360", "train-other-500"};
    struct speech_set *set = ds->own = zalloc(sizeof *set);
    const int parts = ds->source == &librispeech_source ? 3 : 1;
    ds->kind->published(&ds->facts);
    if (!source_find_folder("LibriSpeech", given, TEST, &set->folder)) TRY(source_folder(ds->source, given, TEST, &set->folder));
    ds->facts.folder = set->folder;
    for (int i = 0; i < parts; i++) TRY(walk(set, trained[i], &set->split[SPLIT_TRAIN], take_speaker));
    TRY(walk(set, TEST, &set->split[SPLIT_TEST], take_speaker));
    for (int s = 0; s < SPLIT_COUNT; s++)
        if (set->split[s].count == 0)
            return fail(ERR_INPUT, "%s/%s has no utterances", set->folder, s == SPLIT_TEST ? TEST : trained[0]);
    return speech_filled(ds);
}

static int librispeech_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    const struct speech_set *set = ds->own;
    struct text lines = {0};
    for (int64_t i = 0; i < set->split[split].count; i++) {
        const struct utterance *u = &set->split[split].at[i];
        text_add(&lines, "%lld  %s  %s\n", (long long)u->size, u->file, u->text);
    }
    digest_bytes(lines.at, lines.length, hex);
    text_free(&lines);
    return 0;
}

#define SHARED                                                                                                                 \
    .open = librispeech_open, .close = speech_close, .item = speech_item, .lengths = speech_lengths,                          \
    .sample_name = speech_sample_name, .digest = librispeech_digest, .content_digest = librispeech_digest,                    \
    .verify = speech_verify, .sample = "utterance", .show = speech_show, .draw = speech_draw
const struct kind librispeech_100_kind = {
    .name = "librispeech-100", .source = &librispeech_100_source, .published = published_100, SHARED,
};
const struct kind librispeech_kind = {
    .name = "librispeech", .source = &librispeech_source, .published = published_all, SHARED,
};
