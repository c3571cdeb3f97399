// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/judge.h"

#include "runtime/common/base/file.h"
#include "tasks/squad/evaluate.h"
#include "tasks/squad/predictions.h"
#include "tasks/squad/sample/reader.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

struct judging {
    const struct reader *reader;
    const struct dataset *view;
    const struct squad *squad;
    struct answer *best;     // [questions]
    bool *asked, *answered;  // [questions]; an inference may request only some of them
};

static int judge_begin(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    const struct squad *squad = squad_of(stored, SPLIT_TEST);
    if (!squad) return fail(ERR_MISSING, "%s: noise has no answers", c->data->name);
    struct judging *j = *state = zalloc(sizeof *j);
    *j = (struct judging){.reader = reader_of(c), .view = view, .squad = squad};
    j->best = zalloc((size_t)(squad->questions + 1) * sizeof *j->best);
    j->asked = zalloc((size_t)(squad->questions + 1) * sizeof *j->asked);
    j->answered = zalloc((size_t)(squad->questions + 1) * sizeof *j->answered);
    return 0;
}

static int judge_batch(void *state, const struct judged *b)
{
    struct judging *j = state;
    int64_t length = b->shape[0].dim[1];
    for (int64_t i = 0; i < b->count; i++) {
        const float *start = (const float *)b->output[0] + i * length, *end = (const float *)b->output[1] + i * length;
        struct answer a;
        j->asked[j->reader->question(j->view, b->sample[i])] = true;
        if (!j->reader->answer(j->view, b->sample[i], start, end, &a)) continue;
        if (j->answered[a.question] && !(a.score > j->best[a.question].score)) continue;
        j->best[a.question] = a;
        j->answered[a.question] = true;
    }
    return 0;
}

// The unchanged bytes of the context; empty for a question without an answer.
static char *text_of_answer(const struct judging *j, int64_t question)
{
    const struct answer *a = &j->best[question];
    struct text text = {0};
    text_bytes(&text, j->squad->context[j->squad->question[question].paragraph] + a->begin, (size_t)(a->end - a->begin));
    return text.at ? text.at : zalloc(1);
}

static void score_answers(const struct judging *j, int64_t score[METRICS_MAX])
{
    struct evaluate_total total = {0};
    for (int64_t q = 0; q < j->squad->questions; q++) {
        if (!j->asked[q]) continue;
        char *text = text_of_answer(j, q);
        evaluate_add(&total, text, &j->squad->question[q]);
        free(text);
    }
    // F1 is rounded down, so that no page shows more than was reached.
    score[SCORE_F1] = (int64_t)floor(evaluate_f1(&total) * 1e4);
    score[SCORE_EXACT] = total.questions > 0 ? total.exact * 1000000 / total.questions : 0;
}

static int judge_end(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    if (score) score_answers(j, score);
    free(j->best);
    free(j->asked);
    free(j->answered);
    free(j);
    return 0;
}

static char *judge_tell(void *state, int64_t question)
{
    return text_of_answer(state, question);
}

// Writes {"id": "answer"}, which evaluate-v1.1.py and dawn eval squad read.
static int judge_write(void *state, const char *path)
{
    const struct judging *j = state;
    json_t *o = json_object();
    for (int64_t q = 0; q < j->squad->questions; q++) {
        if (!j->asked[q]) continue;
        char *text = text_of_answer(j, q);
        json_object_set_new(o, j->squad->question[q].id, json_string(text));
        free(text);
    }
    char *bytes = json_dumps(o, 0);
    int rc = bytes ? file_write(path, bytes, strlen(bytes)) : fail(ERR_MEMORY, "not enough memory for the answers of %s", path);
    free(bytes);
    json_decref(o);
    return rc;
}

static const char files[] =
    "TRUTH is dev-v1.1.json, or any file of that form, and ANSWERS is {\"ID\": \"TEXT\", ...}. The scores are F1 of the words "
    "shared with the best of a question's answers, and exact matches, both in percent of all questions. A question without an "
    "answer scores 0. With --json they are printed as evaluate-v1.1.py does: {\"exact_match\": 80.8, \"f1\": 88.1}.";
const struct judge squad_judge = {.begin = judge_begin, .batch = judge_batch, .end = judge_end, .write = judge_write,
                                  .tell = judge_tell, .files = files, .evaluate = predictions_evaluate};
