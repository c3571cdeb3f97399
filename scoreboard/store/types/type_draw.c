// SPDX-License-Identifier: Apache-2.0
// The rules of the draw: shares, and the keys whose repetitions count. The newest rules are in force from the next statement on.
#include <string.h>

#include "scoreboard/store/types/types.h"

static int check_draw(struct store *s, const struct incoming *in, struct ruling *out)
{
    const json_t *keys = json_object_get(in->statement->json, "keys");
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *key = canonical_text(json_array_get(keys, i), "key");
        if (strcmp(key, s->key_id) == 0)
            return problem_rule(out, PROBLEM_MALFORMED, "the key of the board submits no runs, so it repeats none");
        for (size_t n = 0; n < i; n++)
            if (strcmp(canonical_text(json_array_get(keys, n), "key"), key) == 0)
                return problem_rule(out, PROBLEM_MALFORMED, "the key %s is listed twice", key);
    }
    return 0;
}

static int apply_draw(struct store *s, const struct incoming *in)
{
    const json_t *draw = in->statement->json, *keys = json_object_get(draw, "keys");
    TRY(sql_do(&s->sql, "INSERT INTO draws (sequence, share_micro, again_micro) VALUES (?, ?, ?)", "iii", in->sequence,
               canonical_int(draw, "share_micro"), canonical_int(draw, "again_micro")));
    for (size_t i = 0; i < json_array_size(keys); i++)
        TRY(sql_do(&s->sql, "INSERT INTO draw_keys (draw, key) VALUES (?, ?)", "it", in->sequence,
                   canonical_text(json_array_get(keys, i), "key")));
    return store_rank_listed(s, in->sequence);
}

const struct store_type type_draw = {.own = true, .check = check_draw, .apply = apply_draw};

int store_draw_rules(struct reader *r, struct arena *arena, struct draw_rules *out)
{
    sqlite3_stmt *row;
    int64_t keys;
    *out = (struct draw_rules){0};
    TRY(sql_start(&r->sql, &row, "SELECT d.sequence, s.accepted_ms, share_micro, again_micro FROM draws d "
                  "JOIN statements s USING (sequence) ORDER BY d.sequence DESC LIMIT 1", ""));
    int rc = sql_next(&r->sql, row);
    if (rc > 0)
        *out = (struct draw_rules){.sequence = sql_column(row, 0), .made_ms = sql_column(row, 1),
                                   .share_micro = sql_column(row, 2), .again_micro = sql_column(row, 3)};
    sql_end(row);
    if (rc <= 0) return rc;
    TRY(sql_int(&r->sql, &keys, 0, "SELECT count(*) FROM draw_keys WHERE draw = ?", "i", out->sequence));
    out->keys = arena_alloc(arena, (size_t)(keys + 1) * sizeof *out->keys);
    TRY(sql_start(&r->sql, &row, "SELECT key FROM draw_keys WHERE draw = ? ORDER BY key", "i", out->sequence));
    while (out->key_count < keys && (rc = sql_next(&r->sql, row)) > 0) out->keys[out->key_count++] = sql_keep(row, 0, arena);
    sql_end(row);
    return rc < 0 ? rc : 0;
}
