// SPDX-License-Identifier: Apache-2.0
// FineWeb (Penedo et al. 2024), 10 billion tokens of it, in GPT-2's tokens: the shards fineweb_train_000001.bin .. and
// fineweb_val_000000.bin that the speedruns of GPT-2 read. The shards of a split are one row of tokens, in the order of their
// numbers. The score is on the first 10,485,760 tokens of the validation.
//
// Pieces are read on demand (2 kB per sample), so no shard is ever whole in memory. No digests of the published
// shards were to be had: a digest here is the SHA-256 of the lines "SHA-256  NAME", and results on it count as custom.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/manifest.h"
#include "data/read/text/corpus_set.h"
#include "data/read/text/shard.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

enum { BLOCK = 1024, SCORED = 10485760, SHARDS_MAX = 1024, PIECE = 1 << 16 };
static const int64_t TRAIN_ABOUT = 10000000000;  // where there are no files
static const char *const prefixes[SPLIT_COUNT] = {"fineweb_train_", "fineweb_val_"};

struct shard {
    int64_t begin, tokens;  // in the split
    char *path;
    int file;
};
struct fineweb {
    struct corpus corpus;  // first
    struct shard shard[SPLIT_COUNT][SHARDS_MAX];
    int shards[SPLIT_COUNT];
};

static void fineweb_published(struct dataset_facts *facts)
{
    facts->title = "FineWeb, 10 billion tokens";
    facts->split_name[SPLIT_TEST] = "validation";
    facts->count[SPLIT_TRAIN] = corpus_blocks(TRAIN_ABOUT, BLOCK);
    facts->count[SPLIT_TEST] = SCORED / BLOCK;
    corpus_fields(facts, BLOCK, SHARD_TOKENS);
}

// ---- reading

static int read_bytes(const struct shard *s, int64_t at, unsigned char *into, int64_t count)
{
    while (count > 0) {
        ssize_t n = pread(s->file, into, (size_t)count, at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_errno(ERR_IO, errno, "cannot read %s", s->path);
        if (n == 0) return fail(ERR_INPUT, "%s ends at byte %lld: it has become shorter", s->path, (long long)at);
        into += n, at += n, count -= n;
    }
    return 0;
}

static int read_piece(const struct shard *s, int64_t first, int64_t count, int32_t *into)
{
    unsigned char bytes[4096];
    for (int64_t done = 0; done < count;) {
        int64_t left = count - done, n = left < (int64_t)sizeof bytes / 2 ? left : (int64_t)sizeof bytes / 2;
        TRY(read_bytes(s, SHARD_HEADER + 2 * (first + done), bytes, 2 * n));
        TRY(shard_tokens(s->path, &(struct shard_piece){bytes, first + done, n}, into + done));
        done += n;
    }
    return 0;
}

static int read_tokens(const struct corpus *c, enum split split, int64_t first, int64_t count, int32_t *into)
{
    const struct fineweb *f = (const struct fineweb *)(const void *)c;
    for (int i = 0; i < f->shards[split] && count > 0; i++) {
        const struct shard *s = &f->shard[split][i];
        int64_t inside = first - s->begin, left = s->tokens - inside, n = count < left ? count : left;
        if (n <= 0) continue;
        TRY(read_piece(s, inside, n, into));
        first += n, count -= n, into += n;
    }
    return 0;
}

// ---- opening

static int open_shard(struct shard *s)
{
    unsigned char header[SHARD_HEADER];
    struct stat st;
    s->file = open(s->path, O_RDONLY | O_CLOEXEC);
    if (s->file < 0 || fstat(s->file, &st) < 0) return fail_errno(ERR_IO, errno, "cannot open %s", s->path);
    size_t n = st.st_size < SHARD_HEADER ? (size_t)st.st_size : SHARD_HEADER;
    TRY(read_bytes(s, 0, header, (int64_t)n));
    return shard_parse(s->path, header, n, st.st_size, &s->tokens);
}

// The numbers of a split's shards follow each other, from the first one that is there.
static int find_numbers(const char *folder, enum split split, int *first, int *count)
{
    DIR *dir = opendir(folder);
    int least = INT32_MAX, number, end;
    *first = *count = 0;
    if (dir == NULL && errno != ENOENT && errno != ENOTDIR)
        return fail_errno(errno == ENOMEM ? ERR_MEMORY : ERR_IO, errno, "cannot read the folder %s", folder);
    for (const struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        size_t n = strlen(prefixes[split]);
        if (strncmp(e->d_name, prefixes[split], n) != 0) continue;
        if (sscanf(e->d_name + n, "%6d.bin%n", &number, &end) != 1 || number < 0 || strlen(e->d_name) != n + 10) continue;
        least = number < least ? number : least;
        ++*count;
    }
    if (dir != NULL) closedir(dir);
    *first = least;
    if (*count > SHARDS_MAX) return fail(ERR_INPUT, "%s has %d shards; at most %d are read", folder, *count, SHARDS_MAX);
    return 0;
}

static int open_split(struct fineweb *f, const char *folder, enum split split)
{
    int first, count;
    TRY(find_numbers(folder, split, &first, &count));
    if (count == 0)
        return fail(ERR_MISSING, "there is no %s*.bin in %s; docs/language.md says where the shards are, --data names their "
                    "folder", prefixes[split], folder);
    for (int i = 0; i < count; i++) {
        struct shard *s = &f->shard[split][i];
        struct text path = {0};
        text_add(&path, "%s/%s%06d.bin", folder, prefixes[split], first + i);
        *s = (struct shard){.begin = f->corpus.length[split], .path = path.at, .file = -1};
        f->shards[split]++;
        if (!file_exists(s->path)) return fail(ERR_MISSING, "%s is missing, and shards with higher numbers are there", s->path);
        TRY(open_shard(s));
        f->corpus.length[split] += s->tokens;
    }
    return 0;
}

// `given` has the shards, or a folder "fineweb" with them.
static int find_folder(const char *given, char **into)
{
    struct text path = {0};
    int first, count;
    text_add(&path, "%s/fineweb", given);
    *into = path.at;
    TRY(find_numbers(path.at, SPLIT_TEST, &first, &count));
    if (count > 0) return 0;
    text_free(&path);
    text_add(&path, "%s", given);
    *into = path.at;
    return 0;
}

static int fineweb_open(struct dataset *ds, const char *given)
{
    struct fineweb *f = ds->own = zalloc(sizeof *f);
    f->corpus.block = BLOCK, f->corpus.read = read_tokens;
    TRY(find_folder(given, &f->corpus.folder));
    fineweb_published(&ds->facts);
    ds->facts.folder = f->corpus.folder;
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) TRY(open_split(f, f->corpus.folder, s));
    if (f->corpus.length[SPLIT_TEST] > SCORED + 1) f->corpus.length[SPLIT_TEST] = SCORED + 1;
    return corpus_check(ds, f->corpus.folder);
}

static void fineweb_close(struct dataset *ds)
{
    struct fineweb *f = ds->own;
    for (int i = 0; f != NULL && i < SPLIT_COUNT * SHARDS_MAX; i++) {
        struct shard *s = &f->shard[i / SHARDS_MAX][i % SHARDS_MAX];
        if (s->path != NULL && s->file >= 0) close(s->file);
        free(s->path);
    }
    corpus_close(ds);
}

// ---- what it is

static int fineweb_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    const struct fineweb *f = ds->own;
    struct text lines = {0};
    int rc = 0;
    for (int i = 0; i < f->shards[split] && rc == 0; i++) {
        bool remembered;
        rc = manifest_digest(f->shard[split][i].path, hex, &remembered);
        text_add(&lines, "%s  %s\n", hex, strrchr(f->shard[split][i].path, '/') + 1);
    }
    if (rc == 0) digest_bytes(lines.at, lines.length, hex);
    text_free(&lines);
    return rc;
}

static int fineweb_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    const struct fineweb *f = ds->own;
    int32_t *tokens = zalloc(PIECE * sizeof *tokens);
    int rc = 0;
    *verdict = DATASET_CUSTOM;
    for (int k = 0; k < SPLIT_COUNT * SHARDS_MAX && read && rc == 0; k++) {
        const struct shard *s = &f->shard[k / SHARDS_MAX][k % SHARDS_MAX];
        for (int64_t at = 0; at < s->tokens && rc == 0; at += PIECE)
            rc = read_piece(s, at, s->tokens - at < PIECE ? s->tokens - at : PIECE, tokens);
    }
    free(tokens);
    return rc;
}

static void fineweb_remark(struct dataset *ds, enum split split, struct text *into)
{
    const struct fineweb *f = ds->own;
    char count[TEXT_FIGURE];
    text_add(into, "%s: %s tokens in %d shards, all of them GPT-2's; there are no digests to compare the shards with\n",
             ds->facts.split_name[split], text_count(count, f->corpus.length[split]), f->shards[split]);
}

const struct kind fineweb_kind = {
    .name = "fineweb", .elsewhere = "not downloaded: its shards are 20 GB (docs/language.md)", .published = fineweb_published,
    .open = fineweb_open, .close = fineweb_close, .item = corpus_item, .lengths = corpus_lengths,
    .digest = fineweb_digest, .content_digest = fineweb_digest, .verify = fineweb_verify, .sample = "block",
    .show = corpus_show, .remark = fineweb_remark,
};
