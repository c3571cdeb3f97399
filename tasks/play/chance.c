// SPDX-License-Identifier: Apache-2.0
#include "tasks/play/chance.h"

#include "runtime/common/base/rng.h"

#include <math.h>

// Numbers of one ply: block 0 and 1 are the noise, 2 is the move, 3 at the first ply when the game is resigned; chance_gamma has
// those from 4, and leaf_turn those from 2^16.
enum { NOISE, MOVE = 2, END = 3, GAMMA = 4, GAMMA_TRIES = 16 };

static struct rng4 draw(const struct chance *c, uint32_t block)
{
    return rng_draw(c->seed, RNG_PLAY, (uint32_t)c->game, (uint32_t)c->ply, block);
}

// Marsaglia and Tsang 2000: a number of alpha + 1, times a power of a uniform one.
float chance_gamma(const struct chance *c, float alpha, int move)
{
    const float d = alpha + 2.0f / 3, s = 1 / sqrtf(9 * d);
    for (uint32_t i = 0;; i++) {
        const struct rng4 r = draw(c, GAMMA + (uint32_t)move * GAMMA_TRIES + i);
        const float x = (float)rng_normal(r), cube = 1 + s * x, v = cube * cube * cube, u = 1 - rng_unit(r.v[2]);
        const bool fits = v > 0 && logf(u) < 0.5f * x * x + d - d * v + d * logf(v);
        if (fits || i == GAMMA_TRIES - 1) return (v > 0 ? d * v : d) * powf(1 - rng_unit(r.v[3]), 1 / alpha);
    }
}

// Gamma numbers of 1.0 are exponential ones; eight of them need two draws.
void chance_noise(const struct chance *c, float alpha, int moves, float noise[])
{
    const struct rng4 low = draw(c, NOISE), high = draw(c, NOISE + 1);
    for (int m = 0; m < moves; m++)
        noise[m] = alpha < 1 ? chance_gamma(c, alpha, m) + 1e-30f
                             : -logf(1 - rng_unit(m < 4 ? low.v[m] : high.v[m - 4])) + 1e-6f;
}

static int draw_visit(const struct search_move *move, int moves, uint32_t bits)
{
    int all = 0, m = 0;
    for (int i = 0; i < moves; i++) all += move[i].visits;
    int left = (int)rng_below(bits, (uint32_t)all);
    while (left >= move[m].visits) left -= move[m++].visits;
    return m;
}

int chance_move(const struct chance *c, const struct search_move *move, int moves, float power)
{
    const uint32_t bits = draw(c, MOVE).v[0];
    float all = 0, sum = 0;
    int last = 0;
    if (power == 1) return draw_visit(move, moves, bits);
    for (int m = 0; m < moves; m++) all += powf(move[m].visits, power);
    for (int m = 0; m < moves; m++) {
        if (!move[m].visits) continue;
        last = m, sum += powf(move[m].visits, power);
        if (sum > rng_unit(bits) * all) break;
    }
    return last;
}

struct chance_end chance_end(uint64_t seed, int64_t game, double low, double high, double played_out)
{
    const struct rng4 r = draw(&(struct chance){.seed = seed, .game = game}, END);
    return (struct chance_end){(float)(low + (double)rng_unit(r.v[1]) * (high - low)), rng_unit(r.v[0]) < (float)played_out};
}
