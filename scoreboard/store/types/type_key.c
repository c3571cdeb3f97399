// SPDX-License-Identifier: Apache-2.0
// Changes of keys: a rotation passes a handle on to a new key, and a revocation ends a key.
#include <string.h>

#include "scoreboard/store/types/types.h"

static int check_rotation(struct store *s, const struct incoming *in, struct ruling *out)
{
    int64_t known;
    TRY(sql_int(&s->sql, &known, 0, "SELECT count(*) FROM keys WHERE id = ?", "t", in->next_key));
    if (known == 0) return 0;
    return problem_rule(out, PROBLEM_KEY_TAKEN, "the key %s is known here already; a handle passes on to a new key",
                        in->next_key);
}

static int apply_rotation(struct store *s, const struct incoming *in)
{
    TRY(sql_do(&s->sql, "INSERT INTO keys (id, line, handle, since) VALUES (?, ?, ?, ?)", "ttti", in->next_key, in->next_line,
               in->handle, in->sequence));
    return sql_do(&s->sql, "UPDATE keys SET replaced = ? WHERE id = ?", "it", in->sequence, in->key);
}

const struct store_type type_rotate = {.quarters = {4, 4}, .check = check_rotation, .apply = apply_rotation};

static int check_revocation(struct store *s, const struct incoming *in, struct ruling *out)
{
    const char *key = canonical_text(in->statement->json, "key");
    int64_t revoked;
    if (strcmp(key, s->key_id) == 0)
        return problem_rule(out, PROBLEM_NOT_YOURS, "the server's own key cannot be revoked here");
    if (!in->own && strcmp(key, in->key) != 0)
        return problem_rule(out, PROBLEM_NOT_YOURS, "a key is revoked by itself or by the server, not by %s", in->key);
    TRY(sql_int(&s->sql, &revoked, -1, "SELECT revoked FROM keys WHERE id = ?", "t", key));
    if (revoked < 0) return problem_rule(out, PROBLEM_NOT_FOUND, "the key %s has not submitted anything here", key);
    if (revoked == 0) return 0;
    return problem_rule(out, PROBLEM_CONFLICT, "the key %s was revoked by statement %lld", key, (long long)revoked);
}

static int apply_revocation(struct store *s, const struct incoming *in)
{
    const json_t *revoke = in->statement->json;
    return sql_do(&s->sql, "UPDATE keys SET revoked = ?, revoked_reason = ? WHERE id = ?", "itt", in->sequence,
                  canonical_text(revoke, "reason"), canonical_text(revoke, "key"));
}

// Revocations are free of limits: a thief of a key could use up its owner's limit otherwise.
const struct store_type type_revoke = {.check = check_revocation, .apply = apply_revocation};
