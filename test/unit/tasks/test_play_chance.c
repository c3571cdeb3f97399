// SPDX-License-Identifier: Apache-2.0
// The draws of self-play against the moments of their distributions. Seeds are fixed; a bound is four deviations of the mean that
// it bounds.
#include "test/unit/test.h"

#include "tasks/play/chance.h"

#include <math.h>

enum { DRAWS = 200000, GO = 82 };

struct moments {
    double mean, variance, third, logarithm;
};

static struct moments gamma_moments(float alpha)
{
    struct moments m = {0};
    for (int i = 0; i < DRAWS; i++) {
        const double x = (double)chance_gamma(&(struct chance){3, i, 0}, alpha, i % GO), away = x - (double)alpha;
        m.mean += x / DRAWS, m.variance += away * away / DRAWS, m.third += away * away * away / DRAWS;
        m.logarithm += log(x + 1e-300) / DRAWS;
    }
    return m;
}

// Mean and variance are alpha, the third moment is 2 alpha, the mean logarithm is digamma(alpha), whose variance is trigamma.
TEST(gamma_numbers_have_their_moments)
{
    static const struct {
        float alpha;
        double digamma, trigamma;
    } known[] = {{0.135f, -7.782106, 56.240489}, {0.5f, -1.963510, 4.934802}, {0.9f, -0.754927, 1.922540}};
    for (int i = 0; i < 3; i++) {
        const double a = (double)known[i].alpha, n = DRAWS;
        const struct moments m = gamma_moments(known[i].alpha);
        assert_float_equal(m.mean, a, 4 * sqrt(a / n));
        assert_float_equal(m.variance, a, 4 * sqrt((2 * a * a + 6 * a) / n));
        assert_float_equal(m.third, 2 * a, 4 * sqrt((15 * a * a * a + 126 * a * a + 120 * a) / n));
        assert_float_equal(m.logarithm, known[i].digamma, 4 * sqrt(known[i].trigamma / n));
    }
}

// Scaled, the noise is a Dirichlet distribution: shares have the mean 1 / n and the variance (n - 1) / (n n (n alpha + 1)).
static void check_dirichlet(float alpha, int moves)
{
    enum { ROOTS = 20000 };
    double squares = 0, first = 0;
    for (int i = 0; i < ROOTS; i++) {
        float noise[GAME_MOVES_MOST];
        double sum = 0;
        chance_noise(&(struct chance){5, i, 1}, alpha, moves, noise);
        for (int m = 0; m < moves; m++) assert_true(noise[m] > 0), sum += (double)noise[m];
        for (int m = 0; m < moves; m++) squares += (double)noise[m] / sum * ((double)noise[m] / sum) / ROOTS;
        first += (double)noise[moves - 1] / sum / ROOTS;
    }
    const double n = moves, variance = (n - 1) / (n * n * (n * (double)alpha + 1));
    assert_float_equal(first, 1 / n, 4 * sqrt(variance / ROOTS));
    assert_float_equal(squares / n - 1 / (n * n), variance, 0.01 * variance);
}

TEST(noise_is_dirichlets)
{
    check_dirichlet(0.135f, GO);
    check_dirichlet(1, CONNECT4_COLUMNS);
    check_dirichlet(0.5f, CONNECT4_COLUMNS);
}

// Of seed, game, ply and move alone, and of each of them.
TEST(draws_depend_on_their_counters)
{
    const struct chance at[] = {{7, 1, 2}, {8, 1, 2}, {7, 2, 2}, {7, 1, 3}};
    float noise[4][GO], again[GO];
    for (int i = 0; i < 4; i++) chance_noise(&at[i], 0.135f, GO, noise[i]);
    chance_noise(&at[0], 0.135f, GO, again);
    assert_memory_equal(noise[0], again, sizeof again);
    for (int i = 1; i < 4; i++)
        for (int m = 0; m < GO; m++) assert_true(noise[0][m] != noise[i][m]);
    for (int m = 1; m < GO; m++) {
        assert_true(noise[0][m] == chance_gamma(&at[0], 0.135f, m) + 1e-30f);
        for (int k = 0; k < m; k++) assert_true(noise[0][m] != noise[0][k]);
    }
}

// ---- moves

enum { MOVES = 6, GAMES = 1000000 };
static const struct search_move visited[MOVES] = {
    {.visits = 0}, {.visits = 200}, {.visits = 30}, {.visits = 1}, {.visits = 9}, {.visits = 0}};

// The sum over moves of (drawn - expected)^2 / expected, expected by visits to the power of `power`.
static double chi_square(const int64_t count[MOVES], double power)
{
    double all = 0, sum = 0;
    for (int m = 0; m < MOVES; m++) all += pow(visited[m].visits, power);
    for (int m = 0; m < MOVES; m++) {
        const double expected = GAMES * pow(visited[m].visits, power) / all, away = (double)count[m] - expected;
        if (visited[m].visits) sum += away * away / expected;
    }
    return sum;
}

// With three degrees of freedom 99.9% of the sums are below 16.3. Powers of 0.98 and 1 are told apart.
TEST(moves_are_drawn_by_a_power_of_their_visits)
{
    for (int k = 0; k < 2; k++) {
        int64_t count[MOVES] = {0};
        for (int64_t i = 0; i < GAMES; i++) count[chance_move(&(struct chance){11, i, 4}, visited, MOVES, k ? 1 : 0.98f)]++;
        assert_true(count[0] == 0 && count[5] == 0);  // never visited
        assert_true(chi_square(count, k ? 1 : 0.98) < 16.3);
        assert_true(chi_square(count, k ? 0.98 : 1) > 50);
    }
}

// ---- the ends of games

TEST(thresholds_of_resignation)
{
    enum { ENDS = 100000 };
    int64_t out = 0;
    double sum = 0, sum_out = 0, least = 0, most = -2;
    for (int64_t i = 0; i < ENDS; i++) {
        const struct chance_end end = chance_end(13, i, -1, -0.8, 0.1), again = chance_end(13, i, -1, -0.8, 0.1);
        const double at = (double)end.threshold;
        assert_true(end.threshold == again.threshold && end.played_out == again.played_out);
        sum += at, out += end.played_out, sum_out += end.played_out ? at : 0;
        least = fmin(least, at), most = fmax(most, at);
    }
    const double deviation = 0.2 / sqrt(12);
    assert_true(least >= -1 && least < -0.999 && most <= -0.8 && most > -0.801);
    assert_float_equal(sum / ENDS, -0.9, 4 * deviation / sqrt(ENDS));
    assert_float_equal((double)out / ENDS, 0.1, 4 * sqrt(0.09 / ENDS));
    assert_float_equal(sum_out / (double)out, -0.9, 4 * deviation / sqrt((double)out));  // chosen apart
    for (int64_t i = 0; i < 1000; i++) {
        assert_false(chance_end(13, i, -1, -0.8, 0).played_out);
        assert_true(chance_end(13, i, -1, -0.8, 1).played_out);
    }
}
