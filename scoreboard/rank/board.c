// SPDX-License-Identifier: Apache-2.0
// The names of boards, ranks and levels of trust, and values as text. Pure tables and arithmetic.
#include "scoreboard/rank/board.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word, *title, *unit;
} boards[BOARDS] = {
#define BOARD(name, word, title, unit) {word, title, unit},
    BOARD_LIST
#undef BOARD
};
static const struct {
    const char *word, *title, *what;
} trusts[TRUSTS] = {
#define TRUST(name, word, title, what) {word, title, what},
    TRUST_LIST
#undef TRUST
};
static const char *const ranks[RANKS] = {"classic", "group"};

static const char *const counts[BOARDS][RANKS] = {
    [BOARD_TRAINING_TIME] = {
        "Time of a single run to its first evaluation that meets the target; evaluating and writing checkpoints "
        "do not count, as in DAWNBench.",
        "Mean end-to-end time of the whole schedule over an official group's runs; everything from the start of the "
        "process counts.",
    },
    [BOARD_TRAINING_COST] = {
        "Time of a single run to the target, as the classic board of training time counts it, times the price of the "
        "machine by the hour. Listed prices rank; a price of one's own is below the checked entries.",
        "Mean end-to-end time of an official group's runs, times the price of the machine by the hour. Listed prices rank; a "
        "price of one's own is below the checked entries.",
    },
    [BOARD_INFERENCE_LATENCY] = {
        "Mean time of an answer, one item at a time, preprocessing included, by a model that meets the target on the "
        "whole test set.",
        "Mean over an official group's runs, each by its best eligible latency.",
    },
    [BOARD_INFERENCE_COST] = {
        "Mean time of an answer, times the price of the machine by the hour; shown for 10,000 items. Listed prices rank; a "
        "price of one's own is below the checked entries.",
        "Mean over an official group's runs, each by its cheapest eligible answer; shown for 10,000 items. Listed prices rank; a "
        "price of one's own is below the checked entries.",
    },
};

const char *board_word(enum board board)
{
    BUG_IF((unsigned)board >= BOARDS);
    return boards[board].word;
}

const char *board_title(enum board board)
{
    BUG_IF((unsigned)board >= BOARDS);
    return boards[board].title;
}

bool board_has_energy(enum board board)
{
    return board == BOARD_TRAINING_TIME || board == BOARD_TRAINING_COST;
}

const char *board_unit(enum board board)
{
    BUG_IF((unsigned)board >= BOARDS);
    return boards[board].unit;
}

bool board_find(const char *word, enum board *into)
{
    for (int i = 0; i < BOARDS; i++) {
        if (strcmp(boards[i].word, word) != 0) continue;
        *into = (enum board)i;
        return true;
    }
    return false;
}

const char *rank_word(enum rank rank)
{
    BUG_IF((unsigned)rank >= RANKS);
    return ranks[rank];
}

const char *board_counts(enum board board, enum rank rank)
{
    BUG_IF((unsigned)board >= BOARDS || (unsigned)rank >= RANKS);
    return counts[board][rank];
}

const char *trust_word(enum trust trust)
{
    BUG_IF((unsigned)trust >= TRUSTS);
    return trusts[trust].word;
}

const char *trust_title(enum trust trust)
{
    BUG_IF((unsigned)trust >= TRUSTS);
    return trusts[trust].title;
}

const char *trust_what(enum trust trust)
{
    BUG_IF((unsigned)trust >= TRUSTS);
    return trusts[trust].what;
}

static void seconds_text(double seconds, char into[BOARD_VALUE])
{
    double hundredths = text_up(seconds * 100);
    if (hundredths < 6000) {
        snprintf(into, BOARD_VALUE, "%.2f s", hundredths / 100);
        return;
    }
    double whole = text_up(seconds);
    if (whole >= 1e12) snprintf(into, BOARD_VALUE, "%.3g h", seconds / 3600);
    else if (whole >= 36000)
        snprintf(into, BOARD_VALUE, "%.0f h %02.0f min", floor(ceil(whole / 60) / 60), fmod(ceil(whole / 60), 60));
    else if (whole >= 3600)
        snprintf(into, BOARD_VALUE, "%.0f h %02.0f min %02.0f s", floor(whole / 3600), floor(fmod(whole, 3600) / 60),
                 fmod(whole, 60));
    else snprintf(into, BOARD_VALUE, "%.0f min %02.0f s", floor(whole / 60), fmod(whole, 60));
}

// Cents, and three figures below a dollar, so that all cells of a column are equally precise.
static void dollars_text(double dollars, const char *tail, char into[BOARD_VALUE])
{
    int places = 2;
    for (double least = 1; dollars > 0 && dollars < least && places < 8; least /= 10) places++;
    double whole = pow(10, places);
    if (dollars < 1e12) snprintf(into, BOARD_VALUE, "$%.*f%s", places, text_up(dollars * whole) / whole, tail);
    else snprintf(into, BOARD_VALUE, "$%.3g%s", dollars, tail);
}

static void milliseconds_text(double ms, char into[BOARD_VALUE])
{
    int places = ms < 10 ? 3 : ms < 100 ? 2 : ms < 1000 ? 1 : 0;
    double parts = pow(10, places);
    if (ms < 1e12) ms = text_up(ms * parts) / parts;
    snprintf(into, BOARD_VALUE, "%.*f ms", places, fmin(ms, 1e30));
}

char *board_value(enum board board, double value, char into[BOARD_VALUE])
{
    if (!(value >= 0) || isinf(value)) {
        snprintf(into, BOARD_VALUE, "-");
        return into;
    }
    switch (board) {
    case BOARD_TRAINING_TIME: seconds_text(value, into); break;
    case BOARD_TRAINING_COST: dollars_text(value, "", into); break;
    case BOARD_INFERENCE_LATENCY: milliseconds_text(value, into); break;
    case BOARD_INFERENCE_COST: dollars_text(value * 10000, " per 10,000", into); break;
    default: BUG("there is no such board");
    }
    return into;
}
