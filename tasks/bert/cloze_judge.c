// SPDX-License-Identifier: Apache-2.0
#include "tasks/bert/cloze_judge.h"

#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "tasks/bert/cloze.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct judging {
    struct dataset *view;
    int64_t samples, hits, tries, right, asked;
    double loss;
    struct answer {
        int64_t count;   // of masked positions; 0: not requested
        int32_t *word;   // CLOZE_BEST of each
        float *share;
    } *answer;
};

static int begin_judging(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)stored;
    if (cloze_is_noise(view)) return fail(ERR_MISSING, "%s: noise has no words", c->data->name);
    struct judging *j = *state = zalloc(sizeof *j);
    j->view = view, j->samples = dataset_facts(view)->count[SPLIT_TEST];
    j->answer = zalloc((size_t)(j->samples + 1) * sizeof *j->answer);
    return 0;
}

static void keep_answer(struct answer *a, const struct cloze_sample *s, const int32_t *word, const float *share)
{
    size_t count = (size_t)s->masked * CLOZE_BEST;
    free(a->word);
    free(a->share);
    a->count = s->masked;
    a->word = memcpy(zalloc(count * sizeof *a->word), word, count * sizeof *a->word);
    a->share = memcpy(zalloc(count * sizeof *a->share), share, count * sizeof *a->share);
}

static int judge_batch(void *state, const struct judged *b)
{
    struct judging *j = state;
    int64_t numbers = b->shape[CLOZE_WORDS].dim[1], places = b->shape[CLOZE_LOSSES].dim[1];
    for (int64_t i = 0; i < b->count; i++) {
        const int32_t *word = (const int32_t *)b->output[CLOZE_WORDS] + i * numbers;
        const float *loss = (const float *)b->output[CLOZE_LOSSES] + i * places,
            *next = (const float *)b->output[CLOZE_NEXT] + 2 * i;
        struct cloze_sample s;
        cloze_sample(j->view, b->sample[i], &s);
        for (int64_t k = 0; k < s.masked; k++) {
            j->hits += word[k * CLOZE_BEST] == s.labels[k];
            j->loss += (double)loss[k];
        }
        j->tries += s.masked, j->asked++;
        j->right += (next[1] > next[0]) == s.random;
        keep_answer(&j->answer[b->sample[i]], &s, word, (const float *)b->output[CLOZE_SHARES] + i * numbers);
        cloze_sample_free(&s);
    }
    return 0;
}

static int end_judging(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    int64_t asked = j->asked;
    double loss = j->tries > 0 ? j->loss / (double)j->tries : 0;
    if (score) {
        score[0] = j->tries > 0 ? j->hits * 1000000 / j->tries : 0;
        score[1] = asked > 0 ? j->right * 1000000 / asked : 0;
        score[2] = llround(loss * 1e6);
    }
    for (int64_t i = 0; i < j->samples; i++) {
        free(j->answer[i].word);
        free(j->answer[i].share);
    }
    free(j->answer);
    free(j);
    return score && !isfinite(loss) ? fail(ERR_INPUT, "the loss is not a number") : 0;
}

// "paris 0.312, lyon 0.104, ...; ..." for each position.
static char *tell_words(void *state, int64_t sample)
{
    const struct judging *j = state;
    const struct answer *a = &j->answer[sample];
    struct text words = {0};
    text_bytes(&words, "", 0);
    for (int64_t i = 0; i < a->count * CLOZE_BEST; i++)
        text_add(&words, "%s%s %.3f", i == 0 ? "" : i % CLOZE_BEST ? ", " : "; ", cloze_piece(j->view, a->word[i]),
                 (double)a->share[i]);
    return words.at;
}

static void add_numbers(struct text *into, const char *name, const int32_t *numbers, int64_t count, int step)
{
    text_add(into, ", \"%s\": [", name);
    for (int64_t i = 0; i < count; i++) text_add(into, "%s%d", i > 0 ? ", " : "", numbers[i * step]);
    text_add(into, "]");
}

// Writes one line of JSON per requested sample, in their order.
static int write_answers(void *state, const char *path)
{
    const struct judging *j = state;
    struct text lines = {0};
    for (int64_t i = 0; i < j->samples; i++) {
        struct cloze_sample s;
        if (j->answer[i].count == 0) continue;
        cloze_sample(j->view, i, &s);
        text_add(&lines, "{\"sample\": %lld, \"second\": %lld, \"next\": %d", (long long)i, (long long)s.second, s.random);
        add_numbers(&lines, "ids", s.tokens, s.length, 1);
        add_numbers(&lines, "places", s.places, s.masked, 1);
        add_numbers(&lines, "labels", s.labels, s.masked, 1);
        add_numbers(&lines, "answers", j->answer[i].word, s.masked, CLOZE_BEST);
        text_add(&lines, "}\n");
        cloze_sample_free(&s);
    }
    int rc = file_write(path, lines.at ? lines.at : "", lines.length);
    text_free(&lines);
    return rc;
}

const struct judge cloze_judge = {.begin = begin_judging, .batch = judge_batch, .end = end_judging, .write = write_answers,
                                  .tell = tell_words};
