// SPDX-License-Identifier: Apache-2.0
#include "tasks/gpt/blocks.h"

#include "data/read/text/corpus.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/text.h"
#include "tasks/gpt/ngrams.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EVALUATE_TOKENS = 1 << 14 };

// ---- batches

static void put_block(const int32_t *block, int64_t count, int32_t *tokens, int32_t *labels, int64_t capacity)
{
    for (int64_t i = 0; i < capacity; i++) {
        bool there = i + 1 < count;
        tokens[i] = there ? block[i] : 0;
        labels[i] = there ? block[i + 1] : -1;
    }
}

static int64_t block_of(const struct dataset *data)
{
    return dataset_facts(data)->field[0].shape.dim[0] - 1;
}

static int fill_stored(void *context, const struct feed_item *item, void *const field[])
{
    struct dataset *data = context;
    int64_t capacity = block_of(data), count;
    size_t bytes = (size_t)(capacity + 1) * sizeof(int32_t);
    int32_t *block = zalloc(bytes);
    int rc = dataset_item_of(data, item->split, &dataset_facts(data)->field[0], item->index, block, bytes, &count);
    if (rc == 0) put_block(block, count, field[0], field[1], capacity);
    free(block);
    return rc;
}

// Blocks that would end behind the text end with it.
static int fill_shifted(void *context, const struct feed_item *item, void *const field[])
{
    struct dataset *data = context;
    int64_t capacity = block_of(data), last = corpus_length(data, item->split) - capacity - 1;
    struct rng4 r = rng_draw(item->seed, RNG_CROP, item->epoch, 0, 0);
    int64_t first = item->index * capacity + rng_below(r.v[0], (uint32_t)capacity);
    int32_t *block = zalloc((size_t)(capacity + 1) * sizeof *block);
    int rc = corpus_read(data, item->split, first < last ? first : last, capacity + 1, block);
    if (rc == 0) put_block(block, capacity + 1, field[0], field[1], capacity);
    free(block);
    return rc;
}

int blocks_feed(const struct setting *c, int feed, struct feed_choice *f)
{
    int64_t block = block_of(f->data), fit = EVALUATE_TOKENS / block;
    if (feed == FEED_TEST) f->order.batch[0] = fit < 1 ? 1 : fit < f->order.count ? fit : f->order.count;
    f->fields = 2;
    f->field[0] = (struct feed_field){.name = "tokens", .dtype = I32, .shape = {SHAPE(block)},
                                      .classes = c->data->field[0].classes};
    f->field[1] = (struct feed_field){.name = "labels", .dtype = I32, .shape = {SHAPE(block)}};
    bool shifts = feed == FEED_TRAIN && task_feed(c->task, feed)->order == ORDER_SHUFFLED;
    f->fill = shifts && corpus_length(f->data, f->split) > 0 ? fill_shifted : fill_stored;
    f->context = f->data;
    return 0;
}

// ---- the score

struct judging {
    int32_t *length;      // of each block, with the token that is not predicted
    float *loss;
    int64_t blocks;
};

static int judge_begin(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)c, (void)view;
    struct judging *j = *state = zalloc(sizeof *j);
    j->blocks = dataset_facts(stored)->count[SPLIT_TEST];
    j->length = zalloc((size_t)j->blocks * sizeof *j->length);
    j->loss = zalloc((size_t)j->blocks * sizeof *j->loss);
    for (int64_t i = 0; i < j->blocks; i++) j->loss[i] = -1;
    return dataset_lengths(stored, SPLIT_TEST, "tokens", j->length);
}

static int judge_batch(void *state, const struct judged *b)
{
    struct judging *j = state;
    const float *loss = b->output[0];
    for (int64_t i = 0; i < b->count; i++) {
        if (!isfinite(loss[i])) return fail(ERR_INPUT, "the loss is not a number");
        j->loss[b->sample[i]] = loss[i];
    }
    return 0;
}

// A latency may measure fewer blocks than there are.
static int judge_end(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    double sum = 0, count = 0;
    for (int64_t i = 0; i < j->blocks; i++)
        if (j->loss[i] >= 0) sum += (double)j->loss[i], count += j->length[i] - 1;
    if (score) score[0] = llround(1e6 * sum / fmax(count, 1));
    free(j->length);
    free(j->loss);
    free(j);
    return 0;
}

static int judge_write(void *state, const char *path)
{
    const struct judging *j = state;
    struct text text = {0};
    for (int64_t i = 0; i < j->blocks; i++)
        if (j->loss[i] >= 0) text_add(&text, "%lld\t%d\t%.6f\n", (long long)i + 1, j->length[i] - 1, (double)j->loss[i]);
    int rc = file_write(path, text.at ? text.at : "", text.length);
    text_free(&text);
    return rc;
}

const struct judge blocks_judge = {.begin = judge_begin, .batch = judge_batch, .end = judge_end, .write = judge_write};

// ---- without a network

static int read_split(struct dataset *text, enum split split, int32_t **token)
{
    int64_t count = corpus_length(text, split);
    *token = zalloc((size_t)(count + 1) * sizeof **token);
    return corpus_read(text, split, 0, count, *token);
}

// Tokens that are no characters are too many to count strings of them.
int blocks_baselines(const struct setting *c, struct dataset *stored, struct dataset *view, struct baseline row[BASELINES_MAX])
{
    int tokens = (int)c->data->field[0].classes, rc = 0;
    int32_t *token[SPLIT_COUNT] = {NULL};
    double loss[NGRAMS_MOST + 1];
    (void)view;
    row[0] = (struct baseline){.score = log(tokens)};
    snprintf(row[0].what, sizeof row[0].what, "all %d tokens alike", tokens);
    if (!corpus_symbols(stored)) return 1;
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT && rc == 0; s++) rc = read_split(stored, s, &token[s]);
    if (rc == 0)
        ngrams_losses(token[SPLIT_TRAIN], corpus_length(stored, SPLIT_TRAIN), token[SPLIT_TEST],
                      corpus_length(stored, SPLIT_TEST), tokens, loss);
    for (int k = 1; k <= NGRAMS_MOST && rc == 0; k++) {
        row[k] = (struct baseline){.score = loss[k]};
        snprintf(row[k].what, sizeof row[k].what, "counts of up to %d character%s in a row", k, k == 1 ? "" : "s");
    }
    for (int s = 0; s < SPLIT_COUNT; s++) free(token[s]);
    return rc < 0 ? rc : NGRAMS_MOST + 1;
}
