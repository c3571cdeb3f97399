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

#include "data/fetch/source.h"
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

static bool is_usable(const struct bitext_line *l)
{
    return l->length <= BITEXT_LINE && !bitext_is_blank(l);
}

// Leaves out the pairs of the training that are not usable, and checks the others.
static int keep_usable_pairs(struct dataset *ds, const struct text path[BITEXT_SIDES])
{
    struct bitext_set *set = ds->own;
    struct bitext_lines *a = &set->file[SPLIT_TRAIN][BITEXT_SOURCE].lines, *b = &set->file[SPLIT_TRAIN][BITEXT_TARGET].lines;
    int64_t kept = 0;
    TRY(bitext_match(a, b, path[BITEXT_SOURCE].at, path[BITEXT_TARGET].at));
    a->longest = b->longest = 0;
    for (int64_t i = 0; i < a->lines; i++) {
        const struct bitext_line source = a->line[i], target = b->line[i];
        if (!is_usable(&source) || !is_usable(&target)) continue;
        TRY(bitext_check(path[BITEXT_SOURCE].at, i + 1, &source));
        TRY(bitext_check(path[BITEXT_TARGET].at, i + 1, &target));
        a->line[kept] = source, b->line[kept++] = target;
        if (source.length > a->longest) a->longest = source.length;
        if (target.length > b->longest) b->longest = target.length;
    }
    ds->facts.left_out = a->lines - kept;
    a->lines = b->lines = kept;
    if (kept > 0) return 0;
    return fail(ERR_INPUT, "%s and %s have no pair of sentences", path[BITEXT_SOURCE].at, path[BITEXT_TARGET].at);
}

// ---- the set

// Reads a file and cuts it into lines. Adds its MD5 to `digest`.
static int read_side(struct dataset *ds, const struct wmt *w, enum split split, int side, const char *path, struct text *digest)
{
    struct bitext_set *set = ds->own;
    struct bitext_file *file = &set->file[split][side];
    char hex[MD5_HEX];
    size_t n;
    TRY(file_read(path, BITEXT_BYTES, &file->text, &n));
    md5_of(file->text, n, hex);
    text_add(digest, " %s", hex);
    if (w->md5[split][side] != NULL && strcmp(hex, w->md5[split][side]) != 0) kind_known(ds, false);
    if (w->subtokens == NULL && (split == SPLIT_TRAIN || side == BITEXT_SOURCE)) n = undo_pieces(file->text, n);
    return split == SPLIT_TRAIN ? bitext_cut(path, file->text, n, &file->lines) : bitext_parse(path, file->text, n, &file->lines);
}

static int read_split(struct dataset *ds, const struct wmt *w, enum split split)
{
    struct bitext_set *set = ds->own;
    struct text path[BITEXT_SIDES] = {{0}}, digest = {0};
    int rc = 0;
    text_add(&digest, "%s %s", w->name, split_name(split));
    for (int s = 0; s < BITEXT_SIDES && rc == 0; s++) {
        text_add(&path[s], "%s/%s", set->folder, w->file[split][s]);
        rc = read_side(ds, w, split, s, path[s].at, &digest);
    }
    if (rc == 0 && split == SPLIT_TRAIN) rc = keep_usable_pairs(ds, path);
    if (rc == 0) rc = bitext_pair(ds, split, path[BITEXT_SOURCE].at, path[BITEXT_TARGET].at);
    if (rc == 0) digest_bytes(digest.at, digest.length, ds->digest[split]);
    for (int s = 0; s < BITEXT_SIDES; s++) text_free(&path[s]);
    text_free(&digest);
    return rc;
}

static int find_wmt_folder(const struct wmt *w, const char *given, char **found)
{
    const char *needs = w->file[SPLIT_TRAIN][BITEXT_SOURCE];
    if (source_find_folder(w->name, given, needs, found)) return 0;
    return fail(ERR_MISSING, "there is no %s in %s: %s is missing, which MLPerf's scripts write (docs/translation.md); --data "
                "names its folder", w->name, given, needs);
}

static int wmt_open(struct dataset *ds, const char *given)
{
    struct bitext_set *set = ds->own = zalloc(sizeof *set);
    const struct wmt *w = wmt_of(ds->kind->name);
    ds->kind->published(&ds->facts);
    ds->facts.fields = 0;
    kind_known(ds, true);
    TRY(find_wmt_folder(w, given, &set->folder));
    if (w->subtokens != NULL) {
        struct text path = {0};
        text_add(&path, "%s/%s", set->folder, w->subtokens);
        set->subtokens = path.at;
    }
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) TRY(read_split(ds, w, s));
    ds->facts.folder = set->folder;
    return 0;
}

#define SHARED                                                                                                              \
    .elsewhere = "not downloaded: MLPerf's scripts make its files (docs/translation.md)", .open = wmt_open,                 \
    .close = bitext_close, .item = bitext_item, .lengths = bitext_lengths, .sample = "pair", .show = bitext_show
const struct kind wmt16_kind = {.name = "wmt16", .published = wmt16_published, SHARED};
const struct kind wmt17_kind = {.name = "wmt17", .published = wmt17_published, SHARED};
