// SPDX-License-Identifier: Apache-2.0
// BLEU of an evaluation: the answers, ids i32[B,T] that end with BPE_EOS, as lines against the stored targets. How both become
// words is a fact of the task.
#include "runtime/common/base/file.h"
#include "runtime/common/draw/html.h"
#include "tasks/common/decode/attention_map.h"
#include "tasks/common/decode/search_graph.h"
#include "tasks/common/words/bleu.h"
#include "tasks/common/words/detokenize.h"
#include "tasks/translation/pairs.h"
#include "tasks/translation/translation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct scoring {
    struct bleu_rules rules;
    bool detokenised;
};

enum { EXHIBITED = 8 };  // sentences in a report

// Metrics: BLEU of the answers, and of the greedy search's answers. Outputs: of one or two searches (search_graph.h).
enum { SCORE_ANSWERS, SCORE_GREEDY };

struct judging {
    const struct scoring *scoring;
    struct dataset *view;
    bool single;        // an inference of single samples, which has no greedy search
    bool both;          // a search with a beam and a greedy one; else there is one search
    struct bleu bleu[2];
    char **answer;      // to each sample; NULL: not asked
    int64_t samples;
    struct text shown;  // the attention of the first answer as SVG, where it is seen
    int64_t shown_of;   // its sample
};

static int begin_scoring(const struct setting *c, struct dataset *view, const struct scoring *scoring, void **state)
{
    if (!pairs_symbols(view)) return fail(ERR_MISSING, "%s: noise has no translations", c->data->name);
    struct judging *j = *state = zalloc(sizeof *j);
    j->scoring = scoring, j->view = view, j->single = c->single, j->samples = dataset_facts(view)->count[SPLIT_TEST];
    j->answer = zalloc((size_t)(j->samples + 1) * sizeof *j->answer);
    return 0;
}

// One line without control characters, which symbols of the training text may hold: files have a line for each answer.
static struct text answer_of(const struct judging *j, const struct judged *b, int first, int64_t i)
{
    const int32_t *words = b->output[first + SEARCH_WORDS], *count = b->output[first + SEARCH_COUNT];
    struct text decoded = {0}, plain = {0}, answer = {0};
    text_bytes(&plain, "", 0);
    bitext_symbols_decode(pairs_symbols(j->view), words + i * b->shape[first + SEARCH_WORDS].dim[1], count[i], &decoded);
    text_plain(&plain, decoded.at, decoded.length);
    text_free(&decoded);
    if (!j->scoring->detokenised) return plain;
    text_bytes(&answer, "", 0);
    detokenize(plain.at, plain.length, &answer);
    text_free(&plain);
    return answer;
}

static void add_answer(struct judging *j, int score, const struct text *reference, const struct text *answer)
{
    struct bleu_line right = {reference->at, reference->length}, given = {answer->at, answer->length};
    bleu_add(&j->bleu[score], &j->scoring->rules, right, given);
}

static void name_symbol(const void *view, int32_t id, struct text *into)
{
    bitext_symbols_name(pairs_symbols(view), id, into);
}

static void draw_seen(struct judging *j, const struct judged *b, int first, int64_t i)
{
    const struct shape *is = &b->shape[first + SEARCH_SEEN];
    const int32_t *source, *word = (const int32_t *)b->output[first + SEARCH_WORDS] + i * b->shape[first + SEARCH_WORDS].dim[1];
    int64_t words = ((const int32_t *)b->output[first + SEARCH_COUNT])[i], stride = is->dim[2];
    int64_t columns = pairs_ids(j->view, SPLIT_TEST, b->sample[i], BITEXT_SOURCE, &source);
    const float *seen = (const float *)b->output[first + SEARCH_SEEN] + i * is->dim[1] * stride;
    int32_t *row = zalloc((size_t)(words + 1) * sizeof *row);
    memcpy(row, word, (size_t)words * sizeof *row);
    row[words] = BPE_EOS;
    text_free(&j->shown);
    j->shown_of = b->sample[i];
    attention_map_draw(&(struct attention_map){words + 1, columns, row, source, name_symbol, j->view, seen, stride}, &j->shown);
    free(row);
}

static int score_answers(void *state, const struct judged *b)
{
    struct judging *j = state;
    j->both = b->last && !j->single;
    int first = j->both ? SEARCH_OUTPUTS : 0;
    struct text reference = {0};
    int rc = 0;
    for (int64_t i = 0; i < b->count && rc == 0; i++) {
        int64_t sample = b->sample[i];
        rc = pairs_line(j->view, SPLIT_TEST, sample, BITEXT_TARGET, &reference);
        if (rc < 0) break;
        struct text answer = answer_of(j, b, first, i);
        add_answer(j, SCORE_ANSWERS, &reference, &answer);
        free(j->answer[sample]);
        j->answer[sample] = answer.at;
        if (b->output[first + SEARCH_SEEN] && (!j->shown.at || sample < j->shown_of)) draw_seen(j, b, first, i);
        if (!j->both) continue;
        struct text greedy = answer_of(j, b, 0, i);
        add_answer(j, SCORE_GREEDY, &reference, &greedy);
        text_free(&greedy);
    }
    text_free(&reference);
    return rc;
}

// Rounded down, so that no page shows more than was reached.
static int end_bleu(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    if (!j->both) j->bleu[SCORE_GREEDY] = j->bleu[SCORE_ANSWERS];
    for (int i = 0; i < 2 && score; i++)
        score[i] = i == SCORE_GREEDY && j->single ? METRIC_NONE : (int64_t)floor(bleu_score(&j->bleu[i]).score * 1e6);
    for (int64_t i = 0; i < j->samples; i++) free(j->answer[i]);
    free(j->answer);
    text_free(&j->shown);
    free(j);
    return 0;
}

// A blank line of a text has a blank answer: the network's answer to nothing is ignored.
static char *tell_answer(void *state, int64_t sample)
{
    const struct judging *j = state;
    struct text line = {0};
    bool blank = pairs_line(j->view, SPLIT_TEST, sample, BITEXT_SOURCE, &line) < 0 ||
                 bitext_is_blank(&(struct bitext_line){line.at, (int32_t)line.length});
    text_free(&line);
    return copy_text(!blank && j->answer[sample] ? j->answer[sample] : "");
}

static int draw_answer(void *state, int64_t sample, struct text *svg)
{
    const struct judging *j = state;
    BUG_IF(sample != 0 || !j->shown.at);
    text_bytes(svg, j->shown.at, j->shown.length);
    return 0;
}

static int exhibit_answers(void *state, struct exhibit *e)
{
    const struct judging *j = state;
    struct text line[BITEXT_SIDES] = {0};
    int rc = 0, rows = 0;
    html_add(e->html, "<div class=\"scroll\" role=\"region\" aria-label=\"Translations\" tabindex=\"0\">"
             "<table class=\"small sheet\"><caption>Translations</caption>\n"
             "<thead><tr><th>source</th><th>reference</th><th>translation</th></tr></thead>\n<tbody>");
    for (int64_t i = 0; i < j->samples && rows < EXHIBITED && rc == 0; i++) {
        if (!j->answer[i]) continue;
        for (enum bitext_side side = 0; side < BITEXT_SIDES && rc == 0; side++)
            rc = pairs_line(j->view, SPLIT_TEST, i, side, &line[side]);
        if (rc == 0)
            html_add(e->html, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", line[BITEXT_SOURCE].at, line[BITEXT_TARGET].at,
                     j->answer[i]);
        rows++;
    }
    html_add(e->html, "</tbody></table></div>\n");
    for (int side = 0; side < BITEXT_SIDES; side++) text_free(&line[side]);
    if (rc == 0 && j->shown.at)
        e->picture(e, "What each word of the first translation looked at", j->shown.at, j->shown.length);
    return rc;
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

// A judge and its begin.
#define JUDGE(called, words, is_detokenised)                                                                                    \
    static int begin_##called(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)             \
    {                                                                                                                           \
        static const struct scoring scoring = {{words, true}, is_detokenised};                                                  \
        (void)stored;                                                                                                           \
        return begin_scoring(c, view, &scoring, state);                                                                         \
    }                                                                                                                           \
    const struct judge called = {.begin = begin_##called, .batch = score_answers, .end = end_bleu, .write = write_answers,      \
                                 .tell = tell_answer, .draw = draw_answer, .exhibit = exhibit_answers}

JUDGE(bleu_judge, BLEU_NONE, false);
JUDGE(bleu_judge_wmt16, BLEU_INTL, true);
JUDGE(bleu_judge_wmt17, BLEU_T2T, false);
