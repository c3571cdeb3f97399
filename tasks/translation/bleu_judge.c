// SPDX-License-Identifier: Apache-2.0
#include "tasks/translation/bleu_judge.h"

#include "runtime/common/base/file.h"
#include "tasks/translation/bleu.h"
#include "tasks/translation/pairs.h"

#include <math.h>
#include <stdlib.h>

static const struct bleu_rules rules = {BLEU_NONE, true};

struct judging {
    struct dataset *view;
    struct bleu bleu;
    char **answer;  // to each sample; NULL: not asked
    int64_t samples;
};

static int begin_bleu(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)stored;
    if (!pairs_bpe(view)) return fail(ERR_MISSING, "%s: noise has no translations", c->data->name);
    struct judging *j = *state = zalloc(sizeof *j);
    j->view = view, j->samples = dataset_facts(view)->count[SPLIT_TEST];
    j->answer = zalloc((size_t)(j->samples + 1) * sizeof *j->answer);
    return 0;
}

static int score_answers(void *state, const struct judged *b)
{
    struct judging *j = state;
    int64_t length = b->shape[0].dim[1];
    struct text reference = {0};
    int rc = 0;
    for (int64_t i = 0; i < b->count && rc == 0; i++) {
        struct text answer = {0};
        bpe_decode(pairs_bpe(j->view), (const int32_t *)b->output[0] + i * length, length, &answer);
        rc = pairs_line(j->view, SPLIT_TEST, b->sample[i], PAIRS_TARGET, &reference);
        if (rc == 0) bleu_add(&j->bleu, &rules, (struct bleu_line){reference.at, reference.length},
                              (struct bleu_line){answer.at ? answer.at : "", answer.length});
        free(j->answer[b->sample[i]]);
        j->answer[b->sample[i]] = answer.at ? answer.at : zalloc(1);
    }
    text_free(&reference);
    return rc;
}

// Rounded down, so that no page shows more than was reached.
static int end_bleu(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    if (score) score[0] = (int64_t)floor(bleu_score(&j->bleu).score * 1e6);
    for (int64_t i = 0; i < j->samples; i++) free(j->answer[i]);
    free(j->answer);
    free(j);
    return 0;
}

static char *tell_answer(void *state, int64_t sample)
{
    const struct judging *j = state;
    return copy_text(j->answer[sample] ? j->answer[sample] : "");
}

// A line for each sample that was asked, in their order, as sacrebleu and "dawn eval bleu" read them.
static int write_answers(void *state, const char *path)
{
    const struct judging *j = state;
    struct text lines = {0};
    for (int64_t i = 0; i < j->samples; i++)
        if (j->answer[i]) text_add(&lines, "%s\n", j->answer[i]);
    int rc = file_write(path, lines.at ? lines.at : "", lines.length);
    text_free(&lines);
    return rc;
}

const struct judge bleu_judge = {.begin = begin_bleu, .batch = score_answers, .end = end_bleu, .write = write_answers,
                                        .tell = tell_answer};
