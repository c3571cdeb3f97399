// SPDX-License-Identifier: Apache-2.0
// Continues a text token by token, with trained weights. The network sees as many tokens as its task allows; then it reads the
// last half of them again and goes on. What is written depends on weights, prompt, options and seed alone.
#include "tasks/tools/infer/infer_inside.h"

#include "runtime/common/base/rng.h"
#include "runtime/common/base/text.h"
#include "tasks/common/step/author.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int infer_write_build(struct serving *s, const struct infer_options *o)
{
    const struct author *author = o->task->author;
    struct variant is = {.batch = 1};
    BUG_IF(!author);
    s->writes = *o->task, s->writes.programs = author->programs;
    s->setting.task = &s->writes, s->setting.single = true;
    s->supply.choice.data = s->data;
    s->setting.feed[FEED_TEST] = &s->supply.choice;
    s->evaluation.fold = NONE;
    TRY(s->write = step_evaluate(s->session, &s->setting, &s->slots, &is, 0, &s->evaluation.fold));
    return 0;
}

struct page {  // the text so far
    struct serving *serving;
    const struct infer_writing *how;
    const struct author *author;
    int32_t *token;
    int64_t count;
    int64_t first, seen;  // the network has seen the tokens from `first` on, `seen` of them
    int64_t tokens;       // V
    float *next, *sorted;
    double *share;
};

static int see_token(struct page *p)
{
    struct serving *s = p->serving;
    int32_t at = (int32_t)p->seen;
    TRY(session_put(s->session, AUTHOR_TOKEN, &p->token[p->first + p->seen], 0, sizeof *p->token));
    TRY(session_put(s->session, AUTHOR_AT, &at, 0, sizeof at));
    p->seen++;
    return session_run(s->session, s->write);
}

// The last token has been seen afterwards.
static int see_all(struct page *p)
{
    int64_t places = p->author->places(&p->serving->setting);
    if (p->count - p->first > places) p->first = p->count - (places + 1) / 2, p->seen = 0;
    while (p->first + p->seen < p->count) TRY(see_token(p));
    return session_get(p->serving->session, AUTHOR_NEXT, p->next, (size_t)p->tokens * sizeof *p->next);
}

static int descending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

// The logit that the last of the `top` most likely tokens has.
static float least_of_top(struct page *p)
{
    int64_t top = p->how->top;
    if (top < 1 || top >= p->tokens) return -INFINITY;
    memcpy(p->sorted, p->next, (size_t)p->tokens * sizeof *p->sorted);
    qsort(p->sorted, (size_t)p->tokens, sizeof *p->sorted, descending);
    return p->sorted[top - 1];
}

static int draw_token(struct page *p, int32_t *token)
{
    float least = least_of_top(p);
    double most = -INFINITY, sum = 0, temperature = p->how->temperature;
    for (int64_t i = 0; i < p->tokens; i++) {
        if (!isfinite(p->next[i])) return fail(ERR_INPUT, "the network's output is not a number: the weights are damaged");
        if ((double)p->next[i] > most) most = (double)p->next[i], *token = (int32_t)i;
    }
    if (temperature == 0) return 0;
    for (int64_t i = 0; i < p->tokens; i++)
        p->share[i] = sum += p->next[i] < least ? 0 : exp(((double)p->next[i] - most) / temperature);
    struct rng4 r = rng_draw(p->how->seed, RNG_WRITE, 0, (uint32_t)p->count, 0);
    double at = (double)rng_unit(r.v[0]) * sum;
    for (*token = 0; *token + 1 < p->tokens && p->share[*token] <= at;) ++*token;
    return 0;
}

static void tell(struct page *p, int64_t from)
{
    struct text text = {0};
    for (int64_t i = from; i < p->count; i++) p->author->tell(p->serving->data, p->token[i], &text);
    p->how->print(p->how->context, text.at ? text.at : "", text.length);
    text_free(&text);
}

static int write_page(struct page *p)
{
    tell(p, 0);
    for (int64_t i = 0; i < p->how->length; i++) {
        TRY(see_all(p));
        p->token = grow(p->token, (size_t)(p->count + 1) * sizeof *p->token);
        TRY(draw_token(p, &p->token[p->count]));
        p->count++;
        tell(p, p->count - 1);
    }
    return 0;
}

int infer_write(struct serving *s, const struct infer_options *o)
{
    struct page p = {.serving = s, .how = o->writing, .author = o->task->author};
    p.tokens = p.author->tokens(&s->setting);
    TRY(p.author->read(s->data, p.how->prompt, strlen(p.how->prompt), &p.token, &p.count));
    p.next = zalloc((size_t)p.tokens * sizeof *p.next), p.sorted = zalloc((size_t)p.tokens * sizeof *p.sorted);
    p.share = zalloc((size_t)p.tokens * sizeof *p.share);
    int rc = s->evaluation.fold != NONE ? session_run(s->session, s->evaluation.fold) : 0;
    if (rc == 0) rc = write_page(&p);
    free(p.token), free(p.next), free(p.sorted), free(p.share);
    return rc;
}
