// SPDX-License-Identifier: Apache-2.0
#include "tasks/speech/speech_judge.h"

#include "data/audio/letters.h"
#include "data/audio/spectrum.h"
#include "data/kind.h"
#include "data/read/speech/speech_ask.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "runtime/common/draw/html.h"
#include "tasks/common/words/wer.h"
#include "tasks/speech/letter_search.h"
#include "tasks/speech/speech_keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct judging {
    struct dataset *data;
    int beam;
    int64_t samples;
    char **answer;  // to each sample; NULL: not requested
};

static int begin_judging(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)view;
    if (!strcmp(stored->kind->name, "noise")) return fail(ERR_MISSING, "%s: noise has no words", c->data->name);
    struct judging *j = *state = zalloc(sizeof *j);
    j->data = stored, j->beam = (int)speech_keys(c->recipe)->beam, j->samples = dataset_facts(stored)->count[SPLIT_TEST];
    j->answer = zalloc((size_t)(j->samples + 1) * sizeof *j->answer);
    return 0;
}

static int judge_batch(void *state, const struct judged *b)
{
    struct judging *j = state;
    const int64_t most = b->shape[SPEECH_LOGITS].dim[1];
    for (int64_t i = 0; i < b->count; i++) {
        int64_t steps = ((const int32_t *)b->output[SPEECH_STEPS])[i];
        char *answer = zalloc((size_t)most + 1);
        letter_search((const float *)b->output[SPEECH_LOGITS] + i * most * LETTERS, steps, j->beam, answer);
        free(j->answer[b->sample[i]]);
        j->answer[b->sample[i]] = answer;
    }
    return 0;
}

// ---- the score

static struct wer_line line_of(const char *text)
{
    return (struct wer_line){text, strlen(text)};
}

static void add_sample(const struct judging *j, int64_t sample, struct wer *words, struct wer *characters)
{
    struct wer_line right = line_of(speech_text(j->data, SPLIT_TEST, sample)), given = line_of(j->answer[sample]);
    if (words) wer_words(words, right, given);
    if (characters) wer_characters(characters, right, given, false);
}

// Rounded up, so that no page shows fewer errors than there were.
static int64_t micro(const struct wer *w)
{
    return (int64_t)ceil(wer_rate(w) * 1e6 - 1e-6);
}

static int end_judging(void *state, int64_t score[METRICS_MAX])
{
    struct judging *j = state;
    struct wer words = {0}, characters = {0};
    for (int64_t i = 0; i < j->samples && score && !dataset_facts(j->data)->asked; i++)
        if (j->answer[i]) add_sample(j, i, &words, &characters);
    if (score) score[0] = micro(&words), score[1] = micro(&characters);
    for (int64_t i = 0; i < j->samples; i++) free(j->answer[i]);
    free(j->answer);
    free(j);
    return 0;
}

// ---- for other programs and for people

static void add_name(const struct judging *j, int64_t sample, struct text *into)
{
    struct text name = {0};
    dataset_sample_name(j->data, SPLIT_TEST, sample, &name);
    for (size_t i = 0; i < name.length; i++)
        if (name.at[i] == ' ') name.at[i] = '_';
    text_add(into, "%s", name.at);
    text_free(&name);
}

// Writes "NAME WORDS" for each requested sample, in their order, the form of Kaldi and sclite.
static int write_answers(void *state, const char *path)
{
    const struct judging *j = state;
    struct text lines = {0};
    for (int64_t i = 0; i < j->samples; i++) {
        if (!j->answer[i]) continue;
        add_name(j, i, &lines);
        text_add(&lines, "%s%s\n", *j->answer[i] ? " " : "", j->answer[i]);
    }
    int rc = file_write(path, lines.at ? lines.at : "", lines.length);
    text_free(&lines);
    return rc;
}

static char *tell_words(void *state, int64_t sample)
{
    const struct judging *j = state;
    return copy_text(j->answer[sample] ? j->answer[sample] : "");
}

// ---- a report

struct ranked {
    int64_t sample, errors;
    double rate;
};

static int by_rate(const void *a, const void *b)  // the worst first; of equal ones the one with more errors, then the first
{
    const struct ranked *x = a, *y = b;
    if (x->rate != y->rate) return x->rate < y->rate ? 1 : -1;
    if (x->errors != y->errors) return x->errors < y->errors ? 1 : -1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

static int64_t rank_samples(const struct judging *j, struct ranked *into, struct wer *all)
{
    int64_t count = 0;
    for (int64_t i = 0; i < j->samples; i++) {
        struct wer words = {0};
        if (!j->answer[i]) continue;
        add_sample(j, i, &words, NULL);
        add_sample(j, i, all, NULL);
        into[count++] = (struct ranked){i, wer_errors(&words), wer_rate(&words)};
    }
    qsort(into, (size_t)count, sizeof *into, by_rate);
    return count;
}

static void add_row(const struct judging *j, const char *what, const struct ranked *r, struct text *html)
{
    struct text name = {0};
    double seconds = (double)speech_samples(j->data, SPLIT_TEST, r->sample) / SPECTRUM_RATE;
    add_name(j, r->sample, &name);
    html_add(html, "<tr><td>%s</td><td><bdi>%s</bdi></td><td class=\"number value\">%.1f</td><td class=\"number value\">%lld</td>"
             "<td><bdi>%s</bdi></td><td><bdi>%s</bdi></td></tr>\n",
             what, name.at, seconds, (long long)r->errors, speech_text(j->data, SPLIT_TEST, r->sample), j->answer[r->sample]);
    text_free(&name);
}

static int exhibit_utterances(void *state, struct exhibit *e)
{
    enum { SHOWN = 5 };
    struct judging *j = state;
    struct ranked *ranked = zalloc((size_t)(j->samples + 1) * sizeof *ranked);
    struct wer all = {0};
    int64_t count = rank_samples(j, ranked, &all), right = 0;
    for (int64_t i = 0; i < count; i++) right += ranked[i].errors == 0;
    html_add(e->html, "<p>%lld of %lld test utterances have no error. Of %lld words %lld were replaced, %lld left out; %lld "
             "were added.</p>\n", (long long)right, (long long)count, (long long)wer_reference(&all),
             (long long)all.substitutions, (long long)all.deletions, (long long)all.insertions);
    html_add(e->html, "<div class=\"scroll\" role=\"region\" aria-label=\"Utterances\" tabindex=\"0\">"
             "<table class=\"small sheet\"><caption>Utterances</caption>\n<thead><tr><th></th>"
             "<th>utterance</th><th class=\"number value\">seconds</th><th class=\"number value\">errors</th>"
             "<th>said</th><th>understood</th></tr></thead>\n<tbody>");
    for (int64_t i = 0; i < SHOWN && i < count; i++) add_row(j, "worst", &ranked[i], e->html);
    int64_t middle = count / 2 > SHOWN ? count / 2 : SHOWN;
    for (int64_t i = middle; i < middle + SHOWN && i < count; i++) add_row(j, "typical", &ranked[i], e->html);
    html_add(e->html, "</tbody></table></div>\n");
    free(ranked);
    return 0;
}

const struct judge speech_judge = {.begin = begin_judging, .batch = judge_batch, .end = end_judging, .write = write_answers,
                                   .tell = tell_words, .exhibit = exhibit_utterances};
