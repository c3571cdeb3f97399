// SPDX-License-Identifier: Apache-2.0
// The score of a network that plays: the share of solved positions in which its most probable move gives away value. It sees the
// position alone: there is no search, no opponent and no chance.
#include "data/dataset.h"
#include "data/read/positions/positions.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "runtime/common/draw/html.h"
#include "tasks/play/play.h"
#include "tasks/play/playouts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Boards, values and moves of positions, by their numbers.
struct solved {
    struct dataset *data;
    int64_t count;
    uint8_t (*planes)[CONNECT4_PLANES], (*value)[CONNECT4_COLUMNS];
    int8_t *move;  // -1: none yet
};

static void free_solved(struct solved *s)
{
    free(s->planes);
    free(s->value);
    free(s->move);
    free(s);
}

static int read_solved(struct dataset *data, struct solved **into)
{
    struct solved *s = *into = zalloc(sizeof *s);
    s->data = data, s->count = dataset_facts(data)->count[SPLIT_TEST];
    s->planes = zalloc((size_t)s->count * sizeof *s->planes);
    s->value = zalloc((size_t)s->count * sizeof *s->value);
    s->move = zalloc((size_t)s->count + 1);
    memset(s->move, -1, (size_t)s->count);
    int rc = dataset_read(data, SPLIT_TEST, "board", 0, s->count, s->planes);
    if (rc == 0) rc = dataset_read(data, SPLIT_TEST, "values", 0, s->count, s->value);
    if (rc < 0) free_solved(s);
    return rc;
}

struct mistakes {
    int64_t made, moves;
};

static struct mistakes count_mistakes(const struct solved *s)
{
    struct mistakes m = {0};
    for (int64_t i = 0; i < s->count; i++) {
        if (s->move[i] < 0) continue;
        m.moves++;
        m.made += position_errs(s->value[i], s->move[i]);
    }
    return m;
}

// ---- a judge

static int begin_judging(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)c, (void)view;
    return read_solved(stored, (struct solved **)state);
}

static int judge_batch(void *state, const struct judged *b)
{
    struct solved *s = state;
    for (int64_t i = 0; i < b->count; i++) {
        const float *logits = (const float *)b->output[PLAY_POLICY] + i * CONNECT4_COLUMNS;
        const int32_t sample = b->sample[i];
        int best = -1;
        for (int c = 0; c < CONNECT4_COLUMNS; c++) {
            if (!isfinite(logits[c]))
                return fail(ERR_INPUT, "the network gave a move of position %lld a value that is no number",
                            (long long)sample + 1);
            if (s->value[sample][c] != POSITION_FULL && (best < 0 || logits[c] > logits[best])) best = c;
        }
        s->move[sample] = (int8_t)best;
    }
    return 0;
}

// Rounded up, so that no page shows fewer mistakes than there were.
static int end_judging(void *state, int64_t score[METRICS_MAX])
{
    struct solved *s = state;
    const struct mistakes m = count_mistakes(s);
    if (score) score[PLAY_MISTAKES] = m.moves > 0 ? (m.made * 1000000 + m.moves - 1) / m.moves : METRIC_NONE;
    free_solved(s);
    return 0;
}

// Writes a column from 1 to 7 for each requested position, in their order.
static int write_moves(void *state, const char *path)
{
    const struct solved *s = state;
    struct text lines = {0};
    for (int64_t i = 0; i < s->count; i++)
        if (s->move[i] >= 0) text_add(&lines, "%d\n", s->move[i] + 1);
    const int rc = file_write(path, lines.at ? lines.at : "", lines.length);
    text_free(&lines);
    return rc;
}

// ---- a report

static int exhibit_mistakes(void *state, struct exhibit *e)
{
    const struct solved *s = state;
    const struct mistakes m = count_mistakes(s);
    if (m.moves == 0) return 0;
    html_add(e->html, "<p>In %lld of %lld solved positions the network's most probable move gives away value.</p>\n",
             (long long)m.made, (long long)m.moves);
    return 0;
}

// ---- moves of other programs

static int read_moves(const char *path, struct solved *s)
{
    char *text;
    size_t size, at = 0;
    TRY(file_read(path, 1 << 24, &text, &size));
    int rc = 0;
    for (int64_t i = 0; i < s->count && rc == 0; i++) {
        if (at >= size) {
            rc = fail(ERR_INPUT, "%s ends after line %lld of %lld", path, (long long)i, (long long)s->count);
            break;
        }
        const bool move = text[at] >= '1' && text[at] <= '0' + CONNECT4_COLUMNS;
        const size_t end = at + 1 + (at + 1 < size && text[at + 1] == '\r');
        if (!move || (end < size && text[end] != '\n'))
            rc = fail(ERR_INPUT, "%s: line %lld is not a column from 1 to 7", path, (long long)i + 1);
        else if (s->value[i][text[at] - '1'] == POSITION_FULL)
            rc = fail(ERR_INPUT, "%s: line %lld: column %c is full", path, (long long)i + 1, text[at]);
        else s->move[i] = (int8_t)(text[at] - '1');
        at = end + 1;
    }
    if (rc == 0 && at < size) rc = fail(ERR_INPUT, "%s has more than %lld lines", path, (long long)s->count);
    free(text);
    return rc;
}

static int score_moves(struct dataset *data, const char *path, bool json, struct text *into)
{
    struct solved *s;
    TRY(read_solved(data, &s));
    const int rc = read_moves(path, s);
    const struct mistakes m = count_mistakes(s);
    const double share = 100 * (double)m.made / (double)(m.moves > 0 ? m.moves : 1);
    if (rc == 0 && json)
        text_add(into, "{\"metric\": \"mistakes\", \"percent\": %.17g, \"mistakes\": %lld, \"positions\": %lld}\n", share,
                 (long long)m.made, (long long)m.moves);
    else if (rc == 0) text_add(into, "mistakes  %.4f%%: %lld of %lld positions\n", share, (long long)m.made, (long long)m.moves);
    free_solved(s);
    return rc;
}

static int evaluate_file(const char *truth, const char *answers, bool json, struct text *into)
{
    struct dataset *data;
    TRY(dataset_open(truth, NULL, &data));
    const bool solved = dataset_field(data, "values") != NULL;
    const int rc = solved ? score_moves(data, answers, json, into)
                          : fail(ERR_USAGE, "%s has no solved positions: TRUTH is connect4 or connect4-drawn", truth);
    dataset_close(data);
    return rc;
}

// ---- baselines that need no network

// Expected of a move that is drawn.
static double random_mistakes(const struct solved *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->count; i++) {
        int legal = 0, wrong = 0;
        for (int c = 0; c < CONNECT4_COLUMNS; c++) {
            legal += s->value[i][c] != POSITION_FULL;
            wrong += s->value[i][c] != POSITION_FULL && position_errs(s->value[i], c);
        }
        sum += (double)wrong / legal;
    }
    return 100 * sum / (double)s->count;
}

static double centre_mistakes(struct solved *s)
{
    static const int order[] = {3, 2, 4, 1, 5, 0, 6};
    for (int64_t i = 0; i < s->count; i++)
        for (int k = CONNECT4_COLUMNS - 1; k >= 0; k--)
            if (s->value[i][order[k]] != POSITION_FULL) s->move[i] = (int8_t)order[k];
    const struct mistakes m = count_mistakes(s);
    return 100 * (double)m.made / (double)m.moves;
}

static double playouts_mistakes(struct solved *s, int playouts)
{
    for (int64_t i = 0; i < s->count; i++) {
        const struct connect4 b = connect4_from_planes(s->planes[i]);
        s->move[i] = (int8_t)playouts_move(&b, playouts, i);
    }
    const struct mistakes m = count_mistakes(s);
    return 100 * (double)m.made / (double)m.moves;
}

int play_baselines(const struct setting *c, struct dataset *stored, struct dataset *view, struct baseline row[BASELINES_MAX])
{
    enum { PLAYOUTS = 100 };
    struct solved *s;
    (void)c, (void)view;
    TRY(read_solved(stored, &s));
    row[0] = (struct baseline){"a legal move at random", PLAY_MISTAKES, random_mistakes(s)};
    row[1] = (struct baseline){"the legal move nearest to the centre", PLAY_MISTAKES, centre_mistakes(s)};
    row[2] = (struct baseline){"tree search with 100 random playouts", PLAY_MISTAKES, playouts_mistakes(s, PLAYOUTS)};
    free_solved(s);
    return 3;
}

const struct judge play_judge = {
    .begin = begin_judging, .batch = judge_batch, .end = end_judging, .write = write_moves, .exhibit = exhibit_mistakes,
    .evaluate = evaluate_file,
    .files = "TRUTH is connect4 (or connect4-drawn), ANSWERS a file with a line per position, in their order: the column of the "
             "move, from 1 to 7. Scored by the share of moves that give away value with best play of both.",
};
