// SPDX-License-Identifier: Apache-2.0
// Each direction is a list of all pieces of the training text, sorted by the pieces in front of them: what followed a context is
// a range of the list.
#include "tasks/bert/neighbours.h"

#include "runtime/common/base/arena.h"
#include "tasks/bert/cloze.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { AHEAD = 1, BACK = -1, NOTHING = -1, KEY_BITS = 17, COUNTED_MOST = 1 << 24 };  // pieces of a training text
static const double SPARE = 0.1;  // times that a piece occurs beyond those counted, so that none is impossible

struct follower {
    uint64_t key;  // of the context: the nearest piece, then the one beyond it
    int32_t piece;
};
struct counting {
    const struct wordpiece_special *special;
    int64_t symbols, followers[2];
    struct follower *follower[2];  // reading ahead, and back
    double *frequency, *p[2];      // [symbols]
    int32_t *times;                // [symbols], zero between calls
};

static uint64_t key_of(int64_t nearest, int64_t beyond)
{
    return (uint64_t)nearest << KEY_BITS | (uint64_t)(beyond + 1);
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const struct follower *)a)->key, y = ((const struct follower *)b)->key;
    return (x > y) - (x < y);
}

static void list_followers(struct counting *c, const struct sentence_text *t, int way)
{
    int side = way == BACK;
    struct follower *f = c->follower[side] = zalloc((size_t)(t->ids + 1) * sizeof *f);
    int64_t count = 0;
    for (int64_t a = 0; a < t->articles; a++) {
        int64_t begin = t->sentence[t->article[a]], end = t->sentence[t->article[a + 1]];
        for (int64_t i = begin; i < end; i++) {
            int64_t near = i - way, far = near - way;
            if (near < begin || near >= end) continue;
            f[count++] = (struct follower){key_of(t->id[near], far < begin || far >= end ? NOTHING : t->id[far]), t->id[i]};
        }
    }
    c->followers[side] = count;
    qsort(f, (size_t)count, sizeof *f, by_key);
}

static int64_t first_from(const struct counting *c, int side, uint64_t key)
{
    int64_t low = 0, high = c->followers[side];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (c->follower[side][middle].key < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Witten-Bell: of n followers of k kinds, a new kind has the share k / (n + k), by the probabilities of the shorter context.
static void interpolate(struct counting *c, int side, uint64_t key, uint64_t end_key)
{
    int64_t begin = first_from(c, side, key), end = first_from(c, side, end_key), kinds = 0;
    const struct follower *f = c->follower[side];
    double *p = c->p[side];
    if (begin == end) return;
    for (int64_t i = begin; i < end; i++) kinds += c->times[f[i].piece]++ == 0;
    double all = (double)(end - begin + kinds);
    for (int64_t w = 0; w < c->symbols; w++) {
        p[w] = (p[w] * (double)kinds + c->times[w]) / all;
        c->times[w] = 0;
    }
}

static int64_t context_at(const struct counting *c, const struct cloze_sample *s, int64_t i)
{
    const struct wordpiece_special *no = c->special;
    int32_t id = i < 0 || i >= s->length ? no->pad : s->tokens[i];
    return id == no->pad || id == no->first || id == no->separator || id == no->mask ? NOTHING : id;
}

static void guess(struct counting *c, const struct cloze_sample *s, int64_t position, int way)
{
    int side = way == BACK;
    int64_t near = context_at(c, s, position - way), far = near == NOTHING ? NOTHING : context_at(c, s, position - 2 * way);
    for (int64_t w = 0; w < c->symbols; w++) c->p[side][w] = c->frequency[w];
    if (near != NOTHING) interpolate(c, side, key_of(near, NOTHING), key_of(near + 1, NOTHING));
    if (far != NOTHING) interpolate(c, side, key_of(near, far), key_of(near, far + 1));
}

// Returns true if the best guess is right.
static bool fill_in(struct counting *c, const struct cloze_sample *s, int64_t k, double *loss)
{
    double sum = 0, of_label = 0, most = -1;
    int64_t best = 0;
    guess(c, s, s->places[k], AHEAD);
    guess(c, s, s->places[k], BACK);
    for (int64_t w = 0; w < c->symbols; w++) {
        double p = c->p[0][w] * c->p[1][w] / c->frequency[w];
        sum += p;
        if (w == s->labels[k]) of_label = p;
        if (p > most) most = p, best = w;
    }
    *loss -= log(of_label / sum);
    return best == s->labels[k];
}

static void count_text(struct counting *c, const struct sentence_text *t)
{
    double all = (double)t->ids + SPARE * (double)c->symbols;
    c->frequency = zalloc(3 * (size_t)c->symbols * sizeof *c->frequency);
    for (int side = 0; side < 2; side++) c->p[side] = c->frequency + (side + 1) * c->symbols;
    c->times = zalloc((size_t)c->symbols * sizeof *c->times);
    for (int64_t i = 0; i < t->ids; i++) c->frequency[t->id[i]]++;
    for (int64_t w = 0; w < c->symbols; w++) c->frequency[w] = (c->frequency[w] + SPARE) / all;
    list_followers(c, t, AHEAD);
    list_followers(c, t, BACK);
}

struct filled_in {
    double masked, loss;  // the share of masked pieces whose best guess is right; the mean loss of one in nats
};

static struct filled_in fill_in_all(const struct dataset *view)
{
    const struct dataset_facts *facts = dataset_facts(view);
    struct counting c = {.special = cloze_special(view), .symbols = facts->field[0].classes};
    int64_t hits = 0, places = 0;
    double loss = 0;
    count_text(&c, cloze_text(view, SPLIT_TRAIN));
    for (int64_t i = 0; i < facts->count[SPLIT_TEST]; i++) {
        struct cloze_sample s;
        cloze_sample(view, i, &s);
        for (int64_t k = 0; k < s.masked; k++) hits += fill_in(&c, &s, k, &loss);
        places += s.masked;
        cloze_sample_free(&s);
    }
    for (int side = 0; side < 2; side++) free(c.follower[side]);
    free(c.frequency), free(c.times);
    return (struct filled_in){(double)hits / (double)places, loss / (double)places};
}

int neighbours_baselines(const struct setting *s, struct dataset *stored, struct dataset *view,
                         struct baseline row[BASELINES_MAX])
{
    struct cloze_floors f = cloze_floors_of(view);
    (void)s, (void)stored;
    row[0] = (struct baseline){.metric = 0, .score = f.masked};
    row[1] = (struct baseline){.metric = 1, .score = f.next};
    snprintf(row[0].what, sizeof row[0].what, "\"%s\" for each masked piece", cloze_piece(view, f.piece));
    snprintf(row[1].what, sizeof row[1].what, "one answer to each next sentence");
    if (cloze_text(view, SPLIT_TRAIN)->ids > COUNTED_MOST) return 2;
    struct filled_in n = fill_in_all(view);
    row[2] = (struct baseline){.metric = 0, .score = n.masked};
    row[3] = (struct baseline){.metric = 2, .score = n.loss};
    for (int i = 2; i < 4; i++) snprintf(row[i].what, sizeof row[i].what, "counts of the two pieces on each side");
    return 4;
}
