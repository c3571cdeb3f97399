// SPDX-License-Identifier: Apache-2.0
// AN4: 948 utterances of 74 speakers train, 130 of 10 others are scored. The kind "an4-val" holds out the last five training
// speakers by name and scores them, so that people can choose settings without listening to the test.
#include "data/read/speech/an4.h"

#include <stdlib.h>
#include <string.h>

#include "data/fetch/source.h"

enum { HELD_OUT = 5 };
static const struct source an4_source = {
    .name = "an4",
    .title = "AN4",
    .page = "http://www.speech.cs.cmu.edu/databases/an4/",
    .part = {{.url = "https://dldata-public.s3.us-east-2.amazonaws.com/an4_sphere.tar.gz",
              .sha256 = "a0525579493735d32b60fb6fa5975dd0eaacde087b0a4eeb7f13b7ef33077b12"}},
    .tree = "an4/",
    .folder = "an4",
    .content = {[SPLIT_TRAIN] = "a030c07bd708943befdf5b9b865fb7e529c7e204c92a1a8eb2a2281983f8af29",
                [SPLIT_TEST] = "09fc479a1840a299e39a722cc0009f5ad476f81d0fe914ac6fbb976ef5da2ded"},
    .checked = "The authors publish no digests. The SHA-256 of the archive is another project's. The digest of a split is the "
               "SHA-256 of the lines \"SHA-256  FILE  TEXT\" of its utterances; the sounds are those of commit e750b5e of the "
               "repository adagioNeo/VoiceInterpreter, the texts those of 5e478f0 of cphazen/Machine-Learning-Project-ASR.",
};

// ---- lists

static void cut_mark(const char **text, size_t *n)
{
    while (*n > 0 && **text == ' ') ++*text, --*n;
    if (*n >= 3 && memcmp(*text, "<s>", 3) == 0) *text += 3, *n -= 3;
    while (*n > 0 && (*text)[*n - 1] == ' ') --*n;
    if (*n >= 4 && memcmp(*text + *n - 4, "</s>", 4) == 0) *n -= 4;
}

struct transcript {
    const char *text, *id;
    size_t text_bytes, id_bytes;
    int64_t line;
    bool used;
};

static int take_transcript(const struct speech_lines *l, const char *line, size_t n, struct transcript *t)
{
    const char *open = line[n - 1] == ')' ? memrchr(line, '(', n) : NULL;
    if (open == NULL || open + 2 >= line + n)
        return fail(ERR_INPUT, "%s:%lld: a transcript ends with the name of its utterance in parentheses", l->list->name,
                    (long long)l->number);
    *t = (struct transcript){line, open + 1, (size_t)(open - line), (size_t)(line + n - 1 - (open + 1)), l->number, false};
    cut_mark(&t->text, &t->text_bytes);
    return 0;
}

static int take_transcripts(const struct speech_list *list, struct transcript **all, int64_t *count)
{
    struct speech_lines l = {.list = list};
    const char *line;
    size_t n;
    for (int64_t capacity = 0; speech_next_line(&l, &line, &n); ++*count) {
        if (*count == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 256;
            *all = grow(*all, (size_t)capacity * sizeof **all);
        }
        TRY(take_transcript(&l, line, n, &(*all)[*count]));
    }
    return *count > 0 ? 0 : fail(ERR_INPUT, "%s has no transcript", list->name);
}

static int compare_names(const struct transcript *a, const struct transcript *b)
{
    const size_t n = a->id_bytes, m = b->id_bytes;
    int order = memcmp(a->id, b->id, n < m ? n : m);
    return order != 0 ? order : (n > m) - (n < m);
}

// By name, and by line within a name.
static int compare_transcripts(const void *x, const void *y)
{
    const struct transcript *a = x, *b = y;
    int order = compare_names(a, b);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

// The first transcript of that name, or NULL.
static struct transcript *find_transcript(struct transcript *sorted, int64_t count, const char *id, size_t n)
{
    const struct transcript wanted = {.id = id, .id_bytes = n};
    int64_t first = 0;
    for (int64_t end = count; first < end;) {
        int64_t middle = first + (end - first) / 2;
        if (compare_names(&sorted[middle], &wanted) < 0) first = middle + 1;
        else end = middle;
    }
    return first < count && compare_names(&sorted[first], &wanted) == 0 ? &sorted[first] : NULL;
}

static int join_lists(const struct speech_list *names, const struct speech_list *texts, struct transcript *all, int64_t count,
                      struct speech_split *into)
{
    struct speech_lines l = {.list = names};
    struct text file = {0};
    const char *line;
    size_t n;
    int rc = 0;
    while (rc == 0 && speech_next_line(&l, &line, &n)) {
        const char *slash = memrchr(line, '/', n), *id = slash != NULL ? slash + 1 : line;
        struct transcript *t = find_transcript(all, count, id, (size_t)(line + n - id));
        if (t == NULL || t->used) {
            rc = fail(ERR_INPUT, t == NULL ? "%s:%lld: %s has no transcript of it" : "%s:%lld: %s has its one transcript for "
                      "another line", names->name, (long long)l.number, texts->name);
            break;
        }
        t->used = true;
        file.length = 0;
        text_add(&file, "wav/");
        text_bytes(&file, line, n);
        rc = speech_add(into, &(struct speech_line){texts->name, file.at, ".sph", t->text, file.length, t->text_bytes, t->line});
    }
    int64_t unused = INT64_MAX;
    for (int64_t i = 0; i < count; i++)
        if (!all[i].used && all[i].line < unused) unused = all[i].line;
    if (rc == 0 && unused < INT64_MAX)
        rc = fail(ERR_INPUT, "%s:%lld: %s does not name that utterance", texts->name, (long long)unused, names->name);
    text_free(&file);
    return rc;
}

int an4_parse(const struct speech_list *names, const struct speech_list *texts, struct speech_split *into)
{
    struct transcript *all = NULL;
    int64_t count = 0;
    *into = (struct speech_split){0};
    int rc = take_transcripts(texts, &all, &count);
    if (count > 0) qsort(all, (size_t)count, sizeof *all, compare_transcripts);
    if (rc == 0) rc = join_lists(names, texts, all, count, into);
    free(all);
    return rc;
}

// ---- speakers

static const char *speaker_of(const struct utterance *u, size_t *n)
{
    const char *end = strrchr(u->file, '/'), *begin = end;
    while (begin != NULL && begin > u->file && begin[-1] != '/') begin--;
    *n = begin != NULL ? (size_t)(end - begin) : 0;
    return begin;
}

static int compare_speakers(const struct utterance *a, const struct utterance *b)
{
    size_t n, m;
    const char *x = speaker_of(a, &n), *y = speaker_of(b, &m);
    int order = memcmp(x != NULL ? x : "", y != NULL ? y : "", n < m ? n : m);
    return order != 0 ? order : (n > m) - (n < m);
}

void an4_hold_out(struct speech_split *from, int speakers, struct speech_split *into)
{
    const struct utterance *least = NULL;  // whose speaker is the first that is held out
    for (int i = 0; i < speakers; i++) {
        const struct utterance *next = NULL;
        for (int64_t k = 0; k < from->count; k++) {
            const struct utterance *u = &from->at[k];
            if (least != NULL && compare_speakers(u, least) >= 0) continue;
            if (next == NULL || compare_speakers(u, next) > 0) next = u;
        }
        if (next != NULL) least = next;
    }
    int64_t kept = 0;
    *into = (struct speech_split){zalloc((size_t)(from->count + 1) * sizeof *into->at), 0, from->count + 1};
    const struct utterance bound = least != NULL ? *least : (struct utterance){0};
    for (int64_t k = 0; k < from->count; k++) {
        if (least != NULL && compare_speakers(&from->at[k], &bound) >= 0) into->at[into->count++] = from->at[k];
        else from->at[kept++] = from->at[k];
    }
    from->count = kept;
}

// ---- the data sets

static void an4_published(struct dataset_facts *facts)
{
    facts->title = an4_source.title;
    facts->count[SPLIT_TRAIN] = 948, facts->count[SPLIT_TEST] = 130;
    speech_fields(facts, 641, 57, 205824);
}

static void val_published(struct dataset_facts *facts)
{
    an4_published(facts);
    facts->title = "AN4, scored on training speakers that are held out";
    facts->split_name[SPLIT_TEST] = "validation";
    facts->count[SPLIT_TRAIN] = 883, facts->count[SPLIT_TEST] = 65;
}

static int read_list(const struct speech_set *set, const char *name, struct speech_list *list)
{
    struct text path = {0};
    char *bytes = NULL;
    text_add(&path, "%s/%s", set->folder, name);
    int rc = file_read(path.at, SPEECH_LIST, &bytes, &list->n);
    list->name = name, list->text = bytes;
    text_free(&path);
    return rc;
}

static int open_split(struct speech_set *set, const char *names_file, const char *texts_file, struct speech_split *into)
{
    struct speech_list names = {0}, texts = {0};
    int rc = read_list(set, names_file, &names);
    if (rc == 0) rc = read_list(set, texts_file, &texts);
    if (rc == 0) rc = an4_parse(&names, &texts, into);
    free((void *)names.text);
    free((void *)texts.text);
    return rc;
}

static int an4_open(struct dataset *ds, const char *given)
{
    static const char NAMES[] = "etc/an4_train.fileids";
    struct speech_set *set = ds->own = zalloc(sizeof *set);
    ds->kind->published(&ds->facts);
    TRY(source_folder(ds->source, given, NAMES, &set->folder));
    ds->facts.folder = set->folder;
    TRY(open_split(set, NAMES, "etc/an4_train.transcription", &set->split[SPLIT_TRAIN]));
    if (ds->kind->published == val_published) an4_hold_out(&set->split[SPLIT_TRAIN], HELD_OUT, &set->split[SPLIT_TEST]);
    else TRY(open_split(set, "etc/an4_test.fileids", "etc/an4_test.transcription", &set->split[SPLIT_TEST]));
    return speech_filled(ds);
}

// The published bytes, but no contest's: their scores are for choosing, and no board takes them.
static int val_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    TRY(speech_verify(ds, read, verdict));
    *verdict = DATASET_CUSTOM;
    return 0;
}

#define SHARED                                                                                                                 \
    .source = &an4_source, .open = an4_open, .close = speech_close, .item = speech_item, .lengths = speech_lengths,           \
    .sample_name = speech_sample_name, .digest = speech_digest, .content_digest = speech_digest, .sample = "utterance",       \
    .show = speech_show, .draw = speech_draw
static const struct kind an4_kind = {.name = "an4", .published = an4_published, .verify = speech_verify, SHARED};
static const struct kind an4_val_kind = {
    .name = "an4-val", .elsewhere = "made of files of an4, which \"dawn data fetch an4\" downloads", .published = val_published,
    .verify = val_verify, SHARED,
};
const struct kind *const kinds_speech[] = {&an4_kind, &an4_val_kind, &librispeech_100_kind, &librispeech_kind,
                                           &chords_kind, NULL};
