// SPDX-License-Identifier: Apache-2.0
#include "data/read/positions/positions.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"

static const char letters[] = "-=+x";  // by enum position_value

struct position_line {
    const char *path, *at;
    size_t length;
    int64_t number;
};

static int refuse_move(const struct position_line *l, int move, const char *why)
{
    return fail(ERR_INPUT, "%s: line %lld: move %d %s", l->path, (long long)l->number, move, why);
}

static int play_moves(const struct position_line *l, int count, struct position *p)
{
    for (int i = 0; i < count; i++) {
        const int column = l->at[i] - '1';
        if (column < 0 || column >= CONNECT4_COLUMNS) return refuse_move(l, i + 1, "is not a column from 1 to 7");
        if (!connect4_may(&p->board, column)) return refuse_move(l, i + 1, "is in a column that is full");
        if (connect4_drop(&p->board, column) || connect4_full(&p->board)) return refuse_move(l, i + 1, "ends the game");
        p->moves[i] = l->at[i];
    }
    return 0;
}

static bool wins_at_once(const struct connect4 *b)
{
    for (int c = 0; c < CONNECT4_COLUMNS; c++) {
        struct connect4 next = *b;
        if (connect4_may(b, c) && connect4_drop(&next, c)) return true;
    }
    return false;
}

// The value that follows from games that end at once; `given` if none does.
static int value_by_rules(const struct connect4 *b, int column, int given)
{
    struct connect4 next = *b;
    if (!connect4_may(b, column)) return POSITION_FULL;
    if (connect4_drop(&next, column)) return POSITION_WINS;
    if (connect4_full(&next)) return POSITION_DRAWS;
    if (wins_at_once(&next)) return POSITION_LOSES;
    return given == POSITION_FULL ? POSITION_DRAWS : given;
}

static int read_values(const struct position_line *l, const char *values, struct position *p)
{
    int least = POSITION_WINS, most = POSITION_LOSES;
    for (int c = 0; c < CONNECT4_COLUMNS; c++) {
        const char *found = values[c] ? strchr(letters, values[c]) : NULL;
        if (found == NULL)
            return fail(ERR_INPUT, "%s: line %lld: the value of column %d is none of - = + x", l->path, (long long)l->number,
                        c + 1);
        p->value[c] = (uint8_t)(found - letters);
        if (value_by_rules(&p->board, c, p->value[c]) != p->value[c])
            return fail(ERR_INPUT, "%s: line %lld: the value of column %d contradicts the rules", l->path, (long long)l->number,
                        c + 1);
        if (p->value[c] == POSITION_FULL) continue;
        least = p->value[c] < least ? p->value[c] : least;
        most = p->value[c] > most ? p->value[c] : most;
    }
    if (least < most) return 0;
    return fail(ERR_INPUT, "%s: line %lld: no move is worse than another", l->path, (long long)l->number);
}

static int read_position(const struct position_line *l, struct position *p)
{
    const char *blank = memchr(l->at, ' ', l->length);
    const size_t moves = blank ? (size_t)(blank - l->at) : l->length;
    if (blank == NULL || l->length != moves + 1 + CONNECT4_COLUMNS || moves >= CONNECT4_CELLS)
        return fail(ERR_INPUT, "%s: line %lld is not at most %d moves, a blank and seven values", l->path, (long long)l->number,
                    CONNECT4_CELLS - 1);
    TRY(play_moves(l, (int)moves, p));
    return read_values(l, blank + 1, p);
}

// ---- duplicates

struct position_key {
    uint64_t key;  // one for a board and its mirror image
    int64_t line;
};

static uint64_t key_of(const struct connect4 *b)
{
    const struct connect4 mirror = connect4_mirror(b);
    const uint64_t key = b->own + b->all, other = mirror.own + mirror.all;
    return key < other ? key : other;
}

static int by_key(const void *a, const void *b)
{
    const struct position_key *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int check_duplicates(const char *path, const struct positions *p)
{
    struct position_key *key = zalloc((size_t)p->count * sizeof *key);
    int rc = 0;
    for (int64_t i = 0; i < p->count; i++) key[i] = (struct position_key){key_of(&p->at[i].board), i + 1};
    qsort(key, (size_t)p->count, sizeof *key, by_key);
    for (int64_t i = 1; i < p->count && rc == 0; i++)
        if (key[i].key == key[i - 1].key)
            rc = fail(ERR_INPUT, "%s: line %lld has the position of line %lld or its mirror image", path, (long long)key[i].line,
                      (long long)key[i - 1].line);
    free(key);
    return rc;
}

// ---- a file

int positions_parse(const char *path, const char *text, size_t n, struct positions *into)
{
    const char *end = text + n;
    int64_t lines = 0;
    int rc = 0;
    for (const char *c = text; c < end; c++) lines += *c == '\n';
    *into = (struct positions){.at = zalloc((size_t)(lines + 1) * sizeof *into->at)};
    for (const char *at = text; at < end && rc == 0; into->count++) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (line_end == NULL) line_end = end;
        const struct position_line line = {path, at, (size_t)(line_end - at), into->count + 1};
        rc = read_position(&line, &into->at[into->count]);
        at = line_end + 1;
    }
    if (rc == 0 && into->count == 0) rc = fail(ERR_INPUT, "%s has no position", path);
    if (rc == 0) rc = check_duplicates(path, into);
    if (rc < 0) positions_free(into);
    return rc;
}

void positions_free(struct positions *p)
{
    free(p->at);
    *p = (struct positions){0};
}

bool position_errs(const uint8_t value[CONNECT4_COLUMNS], int column)
{
    for (int c = 0; c < CONNECT4_COLUMNS; c++)
        if (value[c] != POSITION_FULL && value[c] > value[column]) return true;
    return false;
}
