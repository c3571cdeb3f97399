// SPDX-License-Identifier: Apache-2.0
// Cost: sorting the runs of words of each line; a corpus of 3,000 lines takes some 20 ms.
#include "tasks/common/words/bleu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"

struct word {
    const int32_t *at;
    size_t length;
};
struct words {
    int32_t *codes;
    struct word *at;
    size_t count;
};

static struct words split_line(const struct bleu_rules *rules, struct bleu_line line)
{
    size_t n, first = 0;
    struct words w = {.codes = bleu_split(rules, line, &n)};
    w.at = grow(NULL, (n / 2 + 1) * sizeof *w.at);
    for (size_t i = 0; i < n; i++) {
        if (w.codes[i] != ' ') continue;
        w.at[w.count++] = (struct word){w.codes + first, i - first};
        first = i + 1;
    }
    return w;
}

static int compare_words(const struct word *a, const struct word *b)
{
    if (a->length != b->length) return a->length < b->length ? -1 : 1;
    return memcmp(a->at, b->at, a->length * sizeof *a->at);
}

static _Thread_local int order;  // of the runs that are sorted: qsort passes no context

static int compare_runs(const void *a, const void *b)
{
    const struct word *x = *(const struct word *const *)a, *y = *(const struct word *const *)b;
    for (int i = 0; i < order; i++) {
        int c = compare_words(x + i, y + i);
        if (c != 0) return c;
    }
    return 0;
}

static size_t sort_runs(const struct words *w, const struct word **into)
{
    size_t runs = w->count >= (size_t)order ? w->count - (size_t)order + 1 : 0;
    for (size_t i = 0; i < runs; i++) into[i] = w->at + i;
    qsort(into, runs, sizeof *into, compare_runs);
    return runs;
}

void bleu_add(struct bleu *bleu, const struct bleu_rules *rules, struct bleu_line reference, struct bleu_line hypothesis)
{
    struct words r = split_line(rules, reference), h = split_line(rules, hypothesis);
    const struct word **theirs = grow(NULL, (r.count + 1) * sizeof *theirs), **ours = grow(NULL, (h.count + 1) * sizeof *ours);
    bleu->reference += (int64_t)r.count;
    bleu->hypothesis += (int64_t)h.count;
    for (int n = 0; n < BLEU_ORDERS; n++) {
        order = n + 1;
        size_t most = sort_runs(&r, theirs), found = sort_runs(&h, ours);
        bleu->found[n] += (int64_t)found;
        for (size_t i = 0, k = 0; i < found && k < most;) {  // equal runs pair off, so matches are clipped
            int c = compare_runs(&ours[i], &theirs[k]);
            bleu->matched[n] += c == 0;
            i += c <= 0;
            k += c >= 0;
        }
    }
    free(theirs), free(ours);
    free(r.codes), free(r.at);
    free(h.codes), free(h.at);
}

struct bleu_score bleu_score(const struct bleu *b)
{
    struct bleu_score s = {.brevity = 1};
    double smooth = 1, logs = 0;
    int64_t any = 0;
    if (b->hypothesis < b->reference)
        s.brevity = b->hypothesis > 0 ? exp(1 - (double)b->reference / (double)b->hypothesis) : 0;
    for (int n = 0; n < BLEU_ORDERS; n++) any += b->matched[n];
    for (int n = 0; n < BLEU_ORDERS && b->found[n] > 0; n++) {
        double scale = b->matched[n] > 0 ? (double)b->matched[n] : 1 / (smooth *= 2);
        if (any > 0) s.precision[n] = 100 * scale / (double)b->found[n];
    }
    for (int n = 0; n < BLEU_ORDERS; n++) logs += log(s.precision[n]);  // an order without a run makes the score 0
    s.score = any > 0 ? s.brevity * exp(logs / BLEU_ORDERS) : 0;
    return s;
}
