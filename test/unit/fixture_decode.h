// SPDX-License-Identifier: Apache-2.0
// Decoding with a cache: one query at a time must give the rows of causal attention over the whole sequence. Keys and values of
// earlier steps come from the cache alone, which lives from run to run.
#pragma once

#include "test/unit/fixture_graph.h"

enum { DECODED = 3, DECODE_STEPS = 7, DECODE_MOST = 10, DECODE_HEADS = 2, DECODE_WIDTH = 16 };

static inline int decode_attention(struct graph *g, int q, int kv, int lengths, bool causal)
{
    struct attention a = {.q = q, .kv = kv, .lengths = lengths, .q_lengths = NONE, .key = NONE, .step = NONE,
                          .attr = {.heads = DECODE_HEADS, .causal = causal}};
    return g_attention(g, &a);
}

// Copies step t of from[DECODED, DECODE_STEPS, width] to the slot.
static inline void put_step(struct session *s, const char *slot, const float *from, int t, int width)
{
    float rows[DECODED * 2 * DECODE_WIDTH];
    for (int b = 0; b < DECODED; b++)
        memcpy(rows + b * width, from + (b * DECODE_STEPS + t) * width, (size_t)width * sizeof *rows);
    OK(session_put(s, slot, rows, 0, (size_t)(DECODED * width) * sizeof *rows));
}

static inline void decode_on(const char *device)
{
    struct session *s = session_on(device);
    struct graph *whole = graph_new(s->store, "whole"), *one = graph_new(s->store, "one");
    int q = input(whole, "q", SHAPE(DECODED, DECODE_STEPS, DECODE_WIDTH));
    int kv = input(whole, "kv", SHAPE(DECODED, DECODE_STEPS, 2 * DECODE_WIDTH));
    keep(whole, "y", decode_attention(whole, q, kv, NONE, true));
    int at = graph_state(one, "at", SHAPE(1), I32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    int lengths = graph_state(one, "lengths", SHAPE(DECODED), I32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1});
    int cache = graph_state(one, "cache", SHAPE(DECODED, DECODE_MOST, 2 * DECODE_WIDTH), F32, MEMORY_STATE,
                            (struct init){INIT_CONSTANT, NAN});
    cache = g_append(one, cache, input(one, "kv1", SHAPE(DECODED, 1, 2 * DECODE_WIDTH)), at);
    keep(one, "y1", decode_attention(one, input(one, "q1", SHAPE(DECODED, 1, DECODE_WIDTH)), cache, lengths, false));
    g_tick(one, at, 1);
    int full = session_add(s, whole), step = session_add(s, one);
    OK(full);
    OK(step);
    start(s);
    OK(session_run(s, full));
    float *queries = read_slot(s, "q"), *keys = read_slot(s, "kv"), *y = read_slot(s, "y");
    for (int t = 0; t < DECODE_STEPS; t++) {
        int32_t length[DECODED] = {t + 1, t + 1, t + 1};
        put_step(s, "q1", queries, t, DECODE_WIDTH);
        put_step(s, "kv1", keys, t, 2 * DECODE_WIDTH);
        OK(session_put(s, "lengths", length, 0, sizeof length));
        OK(session_run(s, step));
        float *row = read_slot(s, "y1");
        for (int i = 0; i < DECODED * DECODE_WIDTH; i++)
            assert_float_equal(row[i], y[(i / DECODE_WIDTH * DECODE_STEPS + t) * DECODE_WIDTH + i % DECODE_WIDTH], 2e-6);
        free(row);
    }
    free(queries);
    free(keys);
    free(y);
    session_done(s);
}
