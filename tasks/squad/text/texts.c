// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/text/texts.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/threads.h"

#include <stdlib.h>
#include <string.h>

// ---- cutting

struct cutting {
    struct texts *texts;
    texts_cut *cut;
    const void *how;
};

static void cut_contexts(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cutting *c = context;
    for (int64_t i = begin; i < end; i++) {
        const char *text = c->texts->squad->context[i];
        c->cut(c->how, text, strlen(text), &c->texts->context[i]);
    }
}

static void cut_questions(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct cutting *c = context;
    for (int64_t i = begin; i < end; i++) {
        const char *text = c->texts->squad->question[i].text;
        c->cut(c->how, text, strlen(text), &c->texts->question[i]);
    }
}

static void reserve_samples(struct texts *t, int64_t contexts, int64_t questions)
{
    t->contexts = contexts, t->questions = questions;
    t->context = zalloc((size_t)(contexts + 1) * sizeof *t->context);
    t->question = zalloc((size_t)(questions + 1) * sizeof *t->question);
}

void texts_make(struct texts *t, const struct squad *squad, const struct windows_rule *rule, texts_cut *cut, const void *how)
{
    struct cutting c = {t, cut, how};
    *t = (struct texts){.squad = squad, .rule = rule};
    reserve_samples(t, squad->paragraphs, squad->questions);
    threads_for(t->contexts, 1, cut_contexts, &c);
    threads_for(t->questions, 1, cut_questions, &c);
}

// ---- noise: 8 to 20 pieces per question, 60 to 260 per context

enum { NOISE_QUESTIONS = 5, NOISE_SEED = 0x7175 };
static void draw_pieces(struct pieces *p, enum split split, int64_t i, int64_t low, int64_t high, int32_t kinds)
{
    struct rng4 r = rng_draw(NOISE_SEED, RNG_SYNTHETIC, (uint32_t)split, (uint32_t)i, (uint32_t)low);
    p->count = p->capacity = low + rng_below(r.v[0], (uint32_t)(high - low + 1));
    p->id = zalloc((size_t)p->count * sizeof *p->id);
    p->begin = zalloc((size_t)p->count * sizeof *p->begin);
    p->end = zalloc((size_t)p->count * sizeof *p->end);
    for (int64_t k = 0; k < p->count; k++) p->id[k] = (int32_t)((r.v[1] + (uint32_t)k * 7919u) % (uint32_t)kinds);
}

void texts_draw(struct texts *t, enum split split, int64_t questions, const struct windows_rule *rule, int32_t kinds)
{
    *t = (struct texts){.rule = rule};
    reserve_samples(t, (questions + NOISE_QUESTIONS - 1) / NOISE_QUESTIONS, questions);
    for (int64_t i = 0; i < t->contexts; i++) draw_pieces(&t->context[i], split, i, 60, 260, kinds);
    for (int64_t i = 0; i < t->questions; i++) draw_pieces(&t->question[i], split, i, 8, 20, kinds);
}

static void free_pieces(struct pieces *p, int64_t count)
{
    for (int64_t i = 0; i < count; i++) pieces_free(&p[i]);
    free(p);
}

void texts_free(struct texts *t)
{
    free_pieces(t->context, t->contexts);
    free_pieces(t->question, t->questions);
    free(t->sample);
}

// ---- samples

const struct pieces *texts_context(const struct texts *t, int64_t question)
{
    return &t->context[t->squad ? t->squad->question[question].paragraph : question / NOISE_QUESTIONS];
}

struct windows texts_windows(const struct texts *t, int64_t question)
{
    return windows_of(t->rule, t->question[question].count, texts_context(t, question)->count);
}

// The pieces that overlap bytes [begin, end) of a context.
static void pieces_between(const struct pieces *p, int64_t begin, int64_t end, int64_t *first, int64_t *behind)
{
    *first = 0;
    while (*first < p->count && p->end[*first] <= begin) ++*first;
    *behind = *first;
    while (*behind < p->count && p->begin[*behind] < end) ++*behind;
}

bool texts_answer(const struct texts *t, const struct sample *s, int32_t span[2])
{
    span[0] = span[1] = 0;
    if (!t->squad) return false;
    const struct squad_answer *a = &t->squad->question[s->question].answer[0];
    if (a->start == SQUAD_NOWHERE) return false;
    int64_t first, behind;
    struct windows w = texts_windows(t, s->question);
    pieces_between(texts_context(t, s->question), a->start, a->start + (int64_t)strlen(a->text), &first, &behind);
    return windows_span(&w, s->window, first, behind, &span[0], &span[1]);
}

static bool is_answered(const struct texts *t, int64_t question)
{
    int32_t span[2];
    for (int64_t w = 0, windows = texts_windows(t, question).count; w < windows; w++)
        if (texts_answer(t, &(struct sample){(int32_t)question, (int32_t)w}, span)) return true;
    return false;
}

int64_t texts_unanswered(const struct texts *t)
{
    int64_t count = 0;
    for (int64_t q = 0; t->squad && q < t->questions; q++) count += !is_answered(t, q);
    return count;
}

void texts_list(struct texts *t, bool answered)
{
    int64_t count = 0;
    int32_t span[2];
    for (int64_t q = 0; q < t->questions; q++) count += texts_windows(t, q).count;
    t->sample = zalloc((size_t)(count + 1) * sizeof *t->sample);
    for (int64_t q = 0; q < t->questions; q++) {
        int64_t windows = texts_windows(t, q).count;
        for (int64_t w = 0; w < windows; w++) {
            const struct sample s = {(int32_t)q, (int32_t)w};
            if (!answered || !t->squad || texts_answer(t, &s, span)) t->sample[t->samples++] = s;
        }
    }
}

// ---- requests

void *texts_request_new(void *view)
{
    (void)view;
    return zalloc(sizeof(struct texts_request));
}

void texts_request_free(void *request)
{
    struct texts_request *r = request;
    pieces_free(&r->question);
    pieces_free(&r->context);
    free(r);
}

void texts_request_cut(struct texts_request *r, const struct texts *t, const struct sample *s, texts_cut *cut, const void *how)
{
    const struct squad_question *q = &t->squad->question[s->question];
    const char *context = t->squad->context[q->paragraph];
    pieces_clear(&r->question);
    pieces_clear(&r->context);
    cut(how, q->text, strlen(q->text), &r->question);
    cut(how, context, strlen(context), &r->context);
}
