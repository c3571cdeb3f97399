// SPDX-License-Identifier: Apache-2.0
// The news texts of WMT, English to German, in the files that MLPerf's preparation scripts write (docs/translation.md):
//
// "wmt16": its GNMT's four files. The text is tokenised, cleaned, and cut into pieces by subword-nmt; reading undoes the pieces,
// and the task learns the same merges again from the whole words. "wmt17": its Transformer's, plain text with a vocabulary of
// subtokens. The targets of the test are plain in both.
//
// The training leaves out pairs with a line without words (MLPerf's Transformer learns to translate nothing by nothing) or longer
// than a line may be. MLPerf publishes MD5 of files, so a digest is SHA-256 of these: "wmt16 train MD5 MD5".
#include <stdlib.h>
#include <string.h>

#include "data/pack/md5.h"
#include "data/read/bitext/bitext_set.h"
#include "runtime/common/base/text.h"

#define PIECE "@@ "

struct wmt {
    const char *name, *title;
    const char *file[SPLIT_COUNT][BITEXT_SIDES];
    const char *md5[SPLIT_COUNT][BITEXT_SIDES];  // verify_dataset.sh; NULL: it has none of that file
    const char *subtokens;                       // the file of the vocabulary; NULL: the task learns one
    int64_t train, longest;  // where there are no files: pairs, and bytes of a line, of which a sixteenth are symbols
};

static const struct wmt texts[] = {
    {"wmt16", "WMT16 English to German, as MLPerf's GNMT reads it",
     {{"train.tok.clean.bpe.32000.en", "train.tok.clean.bpe.32000.de"}, {"newstest2014.tok.bpe.32000.en", "newstest2014.de"}},
     {{"b7482095b787264a310d4933d197a134", "409064aedaef5b7c458ff19a7beda462"},
      {"cb014e2509f86cd81d5a87c240c07464", "f6c3818b477e4a25cad68b61cc883c17"}},
     NULL, 4068191, 49 * 16},  // MLPerf's count of the pairs with at most 50 symbols, of which one begins a sentence
    {"wmt17", "WMT17 English to German, as MLPerf's Transformer reads it",
     {{"wmt32k-compiled-train.lang1", "wmt32k-compiled-train.lang2"}, {"newstest2014.en", "newstest2014.de"}},
     {{NULL, NULL}, {"dabf51a9c02b2235632f3cee75c72d49", "f6c3818b477e4a25cad68b61cc883c17"}},
     "vocab.ende.32768", 4590000, 60 * 16},  // about
};

static const struct wmt *wmt_of(const char *name)
{
    return &texts[strcmp(name, texts[0].name) != 0];
}

static void publish(const struct wmt *w, struct dataset_facts *facts)
{
    facts->title = w->title;
    facts->split_name[SPLIT_TEST] = "newstest2014";
    facts->count[SPLIT_TRAIN] = w->train, facts->count[SPLIT_TEST] = 3003;
    bitext_fields(facts, w->longest);
}

static void wmt16_published(struct dataset_facts *facts)
{
    publish(&texts[0], facts);
}

static void wmt17_published(struct dataset_facts *facts)
{
    publish(&texts[1], facts);
}

// ---- the text of a file

static size_t undo_pieces(char *text, size_t n)
{
    size_t left = 0;
    for (const char *at = text, *end = text + n; at < end;) {
        const char *piece = memmem(at, (size_t)(end - at), PIECE, strlen(PIECE)), *stop = piece != NULL ? piece : end;
        memmove(text + left, at, (size_t)(stop - at));
        left += (size_t)(stop - at);
        at = piece != NULL ? piece + strlen(PIECE) : end;
    }
    return left;
}

static bool is_usable(const char *line, size_t n)
{
    if (n > BITEXT_LINE) return false;
    for (size_t i = 0; i < n; i++)
        if (strchr(" \t\r\n", line[i]) == NULL || line[i] == '\0') return true;
    return false;
}

// Moves the usable pairs together, and all lines that have no pair. Returns the number of pairs left out.
static int64_t drop_pairs(char *const text[BITEXT_SIDES], size_t n[BITEXT_SIDES])
{
    size_t at[BITEXT_SIDES] = {0}, left[BITEXT_SIDES] = {0}, length[BITEXT_SIDES];
    int64_t dropped = 0;
    while (at[BITEXT_SOURCE] < n[BITEXT_SOURCE] && at[BITEXT_TARGET] < n[BITEXT_TARGET]) {
        bool usable = true;
        for (int s = 0; s < BITEXT_SIDES; s++) {
            const char *end = memchr(text[s] + at[s], '\n', n[s] - at[s]);
            length[s] = end != NULL ? (size_t)(end - text[s]) + 1 - at[s] : n[s] - at[s];
            usable = usable && is_usable(text[s] + at[s], length[s]);
        }
        for (int s = 0; s < BITEXT_SIDES; s++) {
            if (usable) memmove(text[s] + left[s], text[s] + at[s], length[s]);
            left[s] += usable ? length[s] : 0, at[s] += length[s];
        }
        dropped += !usable;
    }
    for (int s = 0; s < BITEXT_SIDES; s++) {
        memmove(text[s] + left[s], text[s] + at[s], n[s] - at[s]);
        n[s] = left[s] + n[s] - at[s];
    }
    return dropped;
}

static void digest_md5(const char *bytes, size_t n, char hex[MD5_HEX])
{
    struct md5 md5;
    md5_begin(&md5);
    md5_add(&md5, bytes, n);
    md5_end(&md5, hex);
}

// ---- the set

static int read_split(struct dataset *ds, const struct wmt *w, enum split split)
{
    struct bitext_set *set = ds->own;
    struct text path[BITEXT_SIDES] = {{0}}, digest = {0};
    char *text[BITEXT_SIDES] = {NULL}, hex[MD5_HEX];
    size_t n[BITEXT_SIDES];
    int rc = 0;
    text_add(&digest, "%s %s", w->name, split_name(split));
    for (int s = 0; s < BITEXT_SIDES && rc == 0; s++) {
        text_add(&path[s], "%s/%s", set->folder, w->file[split][s]);
        rc = file_read(path[s].at, BITEXT_BYTES, &text[s], &n[s]);
        if (rc < 0) break;
        digest_md5(text[s], n[s], hex);
        text_add(&digest, " %s", hex);
        set->changed = set->changed || (w->md5[split][s] != NULL && strcmp(hex, w->md5[split][s]) != 0);
        if (w->subtokens == NULL && (split == SPLIT_TRAIN || s == BITEXT_SOURCE)) n[s] = undo_pieces(text[s], n[s]);
    }
    if (rc == 0 && split == SPLIT_TRAIN) ds->facts.left_out = drop_pairs(text, n);
    for (int s = 0; s < BITEXT_SIDES; s++) {
        if (rc == 0) rc = bitext_take(&set->file[split][s], path[s].at, text[s], n[s]);
        else free(text[s]);
    }
    if (rc == 0) rc = bitext_pair(ds, split, path[BITEXT_SOURCE].at, path[BITEXT_TARGET].at);
    if (rc == 0) digest_bytes(digest.at, digest.length, set->digest[split]);
    for (int s = 0; s < BITEXT_SIDES; s++) text_free(&path[s]);
    text_free(&digest);
    return rc;
}

static int find_folder(const struct wmt *w, const char *given, char **found)
{
    const char *needs = w->file[SPLIT_TRAIN][BITEXT_SOURCE];
    for (int inside = 0; inside < 2; inside++) {
        struct text path = {0};
        text_add(&path, inside ? "%s/%s" : "%s", given, w->name);
        size_t length = path.length;
        text_add(&path, "/%s", needs);
        bool there = file_exists(path.at);
        path.at[length] = '\0';
        *found = path.at;
        if (there) return 0;
        text_free(&path);
    }
    *found = NULL;
    return fail(ERR_MISSING, "there is no %s in %s: %s is missing, which MLPerf's scripts write (docs/translation.md); --data "
                "names its folder", w->name, given, needs);
}

static int wmt_open(struct dataset *ds, const char *given)
{
    struct bitext_set *set = ds->own = zalloc(sizeof *set);
    const struct wmt *w = wmt_of(ds->kind->name);
    ds->kind->published(&ds->facts);
    ds->facts.fields = 0;
    TRY(find_folder(w, given, &set->folder));
    if (w->subtokens != NULL) {
        struct text path = {0};
        text_add(&path, "%s/%s", set->folder, w->subtokens);
        set->subtokens = path.at;
    }
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) TRY(read_split(ds, w, s));
    ds->facts.folder = set->folder;
    return 0;
}

static int wmt_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    const struct bitext_set *set = ds->own;
    memcpy(hex, set->digest[split], DIGEST_HEX);
    return 0;
}

static int wmt_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    const struct bitext_set *set = ds->own;
    (void)read;  // every opening reads all bytes
    *verdict = set->changed ? DATASET_CUSTOM : DATASET_OFFICIAL;
    return 0;
}

#define SHARED                                                                                                              \
    .elsewhere = "not downloaded: MLPerf's scripts make its files (docs/translation.md)", .open = wmt_open,                 \
    .close = bitext_close, .read = bitext_read, .item = bitext_item, .lengths = bitext_lengths, .digest = wmt_digest,       \
    .content_digest = wmt_digest, .verify = wmt_verify, .sample = "pair", .show = bitext_show
const struct kind wmt16_kind = {.name = "wmt16", .published = wmt16_published, SHARED};
const struct kind wmt17_kind = {.name = "wmt17", .published = wmt17_published, SHARED};
