// SPDX-License-Identifier: Apache-2.0
// "Tiny Shakespeare" (Karpathy 2015): 40,000 lines of the plays in one file. The first nine tenths are for training, the rest for
// validation, as nanoGPT splits them.
#include "data/fetch/source.h"
#include "data/read/text/corpus_set.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

#include <stdlib.h>

#define FILE_NAME "input.txt"
enum { BLOCK = 256, SYMBOLS = 65, CHARACTERS = 1115394, TRAIN = 1003854 };

static const struct source shakespeare_source = {
    .name = "shakespeare",
    .title = "Tiny Shakespeare",
    .page = "https://github.com/karpathy/char-rnn",
    .part = {{.url = "https://raw.githubusercontent.com/karpathy/char-rnn/6f9487a6fe5b420b7ca9afb0d7c078e37c1d1b4e/data/"
                     "tinyshakespeare/" FILE_NAME}},
    .folder = "shakespeare",
    .file = {{FILE_NAME, SPLIT_COUNT, CHARACTERS, "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"}},
    .checked = "The author publishes no digest. The SHA-256 is of the file in commit 6f9487a of the author's repository.",
};

static void shakespeare_published(struct dataset_facts *facts)
{
    facts->title = shakespeare_source.title;
    facts->split_name[SPLIT_TEST] = "validation";
    facts->count[SPLIT_TRAIN] = corpus_blocks(TRAIN, BLOCK);
    facts->count[SPLIT_TEST] = corpus_blocks(CHARACTERS - TRAIN, BLOCK);
    corpus_fields(facts, BLOCK, SYMBOLS);
}

static int shakespeare_open(struct dataset *ds, const char *given)
{
    struct corpus *c = ds->own = zalloc(sizeof *c);
    struct text path = {0};
    char *text;
    size_t n;
    c->block = BLOCK;
    shakespeare_published(&ds->facts);
    TRY(source_folder(ds->source, given, FILE_NAME, &c->folder));
    ds->facts.folder = c->folder;
    text_add(&path, "%s/%s", c->folder, FILE_NAME);
    int rc = file_read(path.at, CORPUS_BYTES, &text, &n);
    if (rc == 0) rc = corpus_take(ds, path.at, text, n, n / 10 * 9 + n % 10 * 9 / 10);
    text_free(&path);
    return rc;
}

const struct kind shakespeare_kind = {
    .name = "shakespeare", .source = &shakespeare_source, .published = shakespeare_published, .open = shakespeare_open,
    .close = corpus_close, .item = corpus_item, .lengths = corpus_lengths, .digest = corpus_digest,
    .content_digest = corpus_digest, .verify = source_verify, .sample = "block", .show = corpus_show,
};
const struct kind *const kinds_text[] = {&shakespeare_kind, &fineweb_kind, &lines_kind, NULL};
