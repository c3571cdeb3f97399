// SPDX-License-Identifier: Apache-2.0
// Chains and regions are flooded by shifts of whole sets. A move costs a flood for each chain that it touches.
#include "data/read/go/go.h"

#include <string.h>

#include "runtime/common/base/error.h"
#include "runtime/common/base/text.h"

#define ALL (((go_set)1 << GO_POINTS) - 1)

static const char COLUMNS[] = "ABCDEFGHJ";

// ---- sets

// The leftmost column: bits 0, 9, 18 to 72.
static go_set column(int c)
{
    return (((go_set)0x100 << 64) | 0x8040201008040201u) << c;
}

static go_set to_left(go_set s) { return (s & ~column(0)) >> 1; }
static go_set to_right(go_set s) { return (s & ~column(GO_SIDE - 1)) << 1; }
static go_set upwards(go_set s) { return s >> GO_SIDE; }
static go_set downwards(go_set s) { return s << GO_SIDE & ALL; }

go_set go_near(go_set s)
{
    return upwards(s) | downwards(s) | to_left(s) | to_right(s);
}

// All points of `among` that are connected to `from` within `among`. `from` must be a part of `among`.
static go_set flood(go_set from, go_set among)
{
    for (go_set next;; from = next) {
        next = (from | go_near(from)) & among;
        if (next == from) return from;
    }
}

static go_set empty_points(const struct go_view *v)
{
    return ALL & ~(v->stones[0][GO_BLACK] | v->stones[0][GO_WHITE]);
}

go_set go_eyes(const struct go_view *v)
{
    const go_set other = v->stones[0][!go_mover(v)], empty = empty_points(v);
    const go_set up = upwards(other), down = downwards(other);
    const go_set a = to_left(up), b = to_right(up), c = to_left(down), d = to_right(down);  // the other's stones at a corner
    const go_set edge = column(0) | column(GO_SIDE - 1) | 0x1ff | (go_set)0x1ff << (GO_POINTS - GO_SIDE);
    const go_set two = (a & b) | (c & d) | ((a | b) & (c | d));
    return empty & ~go_near(empty | other) & ~(((a | b | c | d) & edge) | two);
}

// ---- positions

// Zobrist's key of a stone: one of splitmix64's numbers.
static uint64_t stone_key(int point, int colour)
{
    uint64_t x = (uint64_t)(2 * point + colour + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

// The other player's stones that lose their last liberty when the player to move takes the point.
static go_set captured_by(const struct go_view *v, go_set point)
{
    const go_set other = v->stones[0][!go_mover(v)], empty = empty_points(v) & ~point;
    go_set captured = 0;
    for (go_set left = go_near(point) & other; left;) {
        const go_set chain = flood(left & -left, other);
        if (!(go_near(chain) & empty)) captured |= chain;
        left &= ~chain;
    }
    return captured;
}

static bool has_liberty(const struct go_view *v, go_set point)
{
    const go_set own = v->stones[0][go_mover(v)] | point, empty = empty_points(v) & ~point;
    return (go_near(point) & empty) || (go_near(flood(point, own)) & empty);
}

static uint64_t key_after(const struct go_view *v, int move, go_set captured)
{
    uint64_t key = v->key ^ stone_key(move, go_mover(v));
    for (; captured; captured &= captured - 1) key ^= stone_key(go_first(captured), !go_mover(v));
    return key;
}

// A position with stones that were never captured has more stones than all before.
static bool comes_back(const struct go *b, uint64_t key, go_set captured)
{
    bool equal = false;
    if (!captured && !b->view.captured) return false;
    for (uint32_t i = 0; i < b->view.plies; i++) equal |= b->past[i] == key;
    return equal;
}

static void add_ply(struct go *b)
{
    struct go_view *v = &b->view;
    BUG_IF(go_over(v));
    memmove(v->stones[1], v->stones[0], sizeof v->stones - sizeof v->stones[0]);
    b->past[v->plies++] = v->key;
}

bool go_try(struct go *b, int move)
{
    struct go_view *v = &b->view;
    const int own = go_mover(v);
    const go_set point = go_bit(move), taken = move == GO_PASS ? 0 : captured_by(v, point);
    if (move == GO_PASS) {
        add_ply(b);
        v->passes++;
        return true;
    }
    if (!(empty_points(v) & point) || (!taken && !has_liberty(v, point))) return false;
    const uint64_t key = key_after(v, move, taken);
    if (comes_back(b, key, taken)) return false;
    add_ply(b);
    v->stones[0][own] |= point, v->stones[0][!own] &= ~taken;
    v->key = key, v->passes = 0, v->captured |= taken != 0;
    return true;
}

// ---- all moves of a position

// Liberties of chains of one colour: `last` has the liberties that are the only one of a chain, `others` the rest.
struct liberties {
    go_set last, others;
    go_set chains[3];  // stones in chains of one, two, and more liberties
};

static struct liberties find_liberties(go_set stones, go_set empty)
{
    struct liberties l = {0};
    while (stones) {
        const go_set chain = flood(stones & -stones, stones), free = go_near(chain) & empty;
        const int count = go_count(free);
        *(count == 1 ? &l.last : &l.others) |= free;
        l.chains[count > 3 ? 2 : count - 1] |= chain;
        stones &= ~chain;
    }
    return l;
}

void go_find_legal(struct go *b)
{
    struct go_view *v = &b->view;
    const go_set empty = empty_points(v);
    const struct liberties own = find_liberties(v->stones[0][go_mover(v)], empty);
    const struct liberties other = find_liberties(v->stones[0][!go_mover(v)], empty);
    v->legal = empty & (go_near(empty) | own.others | other.last);
    for (go_set left = v->captured || other.last ? v->legal : 0; left; left &= left - 1) {
        const int move = go_first(left);
        const go_set taken = other.last & go_bit(move) ? captured_by(v, go_bit(move)) : 0;
        if (comes_back(b, key_after(v, move, taken), taken)) v->legal &= ~go_bit(move);
    }
}

void go_begin(struct go *b)
{
    memset(b, 0, sizeof *b);
    b->view.legal = ALL;
}

void go_play(struct go *b, int move)
{
    if (!go_try(b, move)) BUG("an illegal move");
    go_find_legal(b);
}

int go_area(const struct go_view *v)
{
    const go_set black = v->stones[0][GO_BLACK], white = v->stones[0][GO_WHITE], empty = empty_points(v);
    const go_set to_black = flood(go_near(black) & empty, empty), to_white = flood(go_near(white) & empty, empty);
    return go_count(black | (to_black & ~to_white)) - go_count(white | (to_white & ~to_black));
}

// ---- planes

int go_turned(int move, int turn)
{
    if (move == GO_PASS) return move;
    int row = move / GO_SIDE, column = move % GO_SIDE;
    if (turn & 1) {
        int other = row;
        row = column, column = other;
    }
    if (turn & 2) row = GO_SIDE - 1 - row;
    if (turn & 4) column = GO_SIDE - 1 - column;
    return row * GO_SIDE + column;
}

void go_planes(const struct go_view *v, int turn, uint8_t planes[GO_BYTES])
{
    const int own = go_mover(v);
    const go_set empty = empty_points(v);
    const struct liberties of[2] = {find_liberties(v->stones[0][own], empty), find_liberties(v->stones[0][!own], empty)};
    go_set plane[GO_PLANES];
    for (int i = 0; i < GO_SEEN; i++) plane[2 * i] = v->stones[i][own], plane[2 * i + 1] = v->stones[i][!own];
    plane[8] = own == GO_BLACK ? ALL : 0;
    for (int i = 0; i < 3; i++) plane[9 + i] = of[0].chains[i] | of[1].chains[i];
    plane[12] = of[1].last;
    for (int point = 0; point < GO_POINTS; point++) {
        uint8_t *at = planes + go_turned(point, turn) * GO_PLANES;
        for (int p = 0; p < GO_PLANES; p++) at[p] = (uint8_t)(plane[p] >> point & 1);
    }
}

// ---- people

void go_name(int move, char name[GO_NAME])
{
    if (move == GO_PASS) memcpy(name, "pass", GO_NAME);
    else name[0] = COLUMNS[move % GO_SIDE], name[1] = (char)('0' + GO_SIDE - move / GO_SIDE), name[2] = '\0';
}

int go_parse(const char *name)
{
    if (!strcmp(name, "pass")) return GO_PASS;
    const char letter = (char)(name[0] >= 'a' && name[0] <= 'z' ? name[0] - 'a' + 'A' : name[0]);
    const char *column = letter ? strchr(COLUMNS, letter) : NULL;
    if (!column || name[1] < '1' || name[1] > '0' + GO_SIDE || name[2]) return -1;
    return (GO_SIDE - (name[1] - '0')) * GO_SIDE + (int)(column - COLUMNS);
}

void go_draw(const struct go_view *v, struct text *into)
{
    for (int row = 0; row < GO_SIDE; row++) {
        text_add(into, "  %d", GO_SIDE - row);
        for (int c = 0; c < GO_SIDE; c++) {
            const go_set point = go_bit(row * GO_SIDE + c);
            text_add(into, " %c", v->stones[0][GO_BLACK] & point ? 'X' : v->stones[0][GO_WHITE] & point ? 'O' : '.');
        }
        text_add(into, "\n");
    }
    text_add(into, "    A B C D E F G H J\n");
}
