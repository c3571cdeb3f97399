// SPDX-License-Identifier: Apache-2.0
// The list of types, and the columns stored of every statement.
#include "scoreboard/store/types/types.h"

#include "scoreboard/store/tree/store_tree.h"

const struct store_type *store_type(enum statement_type type)
{
    static const struct store_type *const types[STATEMENT_TYPES] = {
        [STATEMENT_RUN] = &type_run,         [STATEMENT_WITHDRAW] = &type_withdraw,       [STATEMENT_AMEND] = &type_amend,
        [STATEMENT_ROTATE] = &type_rotate,   [STATEMENT_REVOKE] = &type_revoke,           [STATEMENT_AUDIT] = &type_audit,
        [STATEMENT_BENCH] = &type_bench,     [STATEMENT_COMPETITION] = &type_competition, [STATEMENT_COMMIT] = &type_commit,
        [STATEMENT_OBJECT] = &type_object,   [STATEMENT_TICKET] = &type_ticket,           [STATEMENT_VOUCH] = &type_vouch,
        [STATEMENT_DRAW] = &type_draw,
    };
    BUG_IF((unsigned)type >= STATEMENT_TYPES || types[type] == NULL);
    return types[type];
}

#define SQL_PAYLOAD(statement) (statement)->payload, (statement)->count
#define STATEMENT_COLUMNS(C)                                                                                           \
    C(t, digest, in->statement->digest)                                                                                \
    C(t, type, statement_type_name(in->statement->type))                                                               \
    C(b, payload, SQL_PAYLOAD(in->statement))                                                                          \
    C(t, signature, in->signature)                                                                                     \
    C(t, countersignature, in->countersignature)                                                                       \
    C(t, key, in->key)                                                                                                 \
    C(t, handle, in->handle)                                                                                           \
    C(i, accepted_ms, in->accepted_ms)                                                                                 \
    C(t, receipt, in->receipt)                                                                                         \
    C(t, receipt_signature, in->receipt_signature)

static int insert_statement(struct store *s, const struct incoming *in)
{
    if (in->new_key)
        TRY(sql_do(&s->sql, "INSERT INTO keys (id, line, handle, since) VALUES (?, ?, ?, ?)", "ttti", in->key, in->key_line,
                   in->handle, in->sequence));
    TRY(SQL_INSERT(&s->sql, "statements", in->sequence, STATEMENT_COLUMNS));
    TRY(store_tree_add(s, in));
    for (int i = 0; i < in->findings->count && i < FINDINGS_MAX; i++)
        TRY(sql_do(&s->sql, "INSERT INTO findings (sequence, number, code, text) VALUES (?, ?, ?, ?)", "iitt", in->sequence,
                   (int64_t)i, check_code(in->findings->at[i].check), in->findings->at[i].text));
    return 0;
}

int store_append(struct store *s, const struct incoming *in)
{
    TRY(insert_statement(s, in));
    TRY(store_type(in->statement->type)->apply(s, in));
    return drawn_after(s, in);
}
