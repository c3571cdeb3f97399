// SPDX-License-Identifier: Apache-2.0
// The signer of a statement: a key that counts, within the limits of its person, under a handle that nobody can mistake.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "scoreboard/store/store_inside.h"

#define HOUR_MS ((int64_t)3600 * 1000)

struct signing {
    const struct store *store;
    struct sql *sql;
    struct incoming *in;
    const struct store_type *type;
    int64_t now_ms;
    struct ruling *out;
    int *retry_after;
};

static int check_key(struct signing *a)
{
    sqlite3_stmt *row;
    const char *id = a->in->key;
    const enum statement_type type = a->in->statement->type;
    int64_t revoked = 0, replaced = 0;
    TRY(sql_start(a->sql, &row, "SELECT handle, revoked, replaced FROM keys WHERE id = ?", "t", id));
    int rc = sql_next(a->sql, row);
    if (rc > 0) {
        snprintf(a->in->handle, sizeof a->in->handle, "%s", sql_text(row, 0));
        revoked = sql_column(row, 1);
        replaced = sql_column(row, 2);
    }
    sql_end(row);
    TRY(rc);
    a->in->new_key = rc == 0;
    if (a->in->own && type != STATEMENT_REVOKE && !a->type->own)
        return problem_rule(a->out, PROBLEM_NOT_YOURS,
                            "the server's own key only revokes keys, decides, vouches and opens competitions");
    if (!a->in->own && a->type->own)
        return problem_rule(a->out, PROBLEM_NOT_YOURS, "this board decides, vouches and opens competitions with its own key");
    if (revoked != 0)
        return problem_rule(a->out, PROBLEM_REVOKED, "the key %s was revoked by statement %lld", id, (long long)revoked);
    if (replaced != 0)
        return problem_rule(a->out, PROBLEM_REVOKED, "the key %s was replaced by a newer one in statement %lld", id,
                            (long long)replaced);
    if (!a->in->new_key || a->type->first) return 0;
    if (type == STATEMENT_OBJECT)
        return problem_rule(a->out, PROBLEM_UNKNOWN_KEY,
                            "an objection needs a key that has submitted a run or a measurement to this board");
    return problem_rule(a->out, PROBLEM_UNKNOWN_KEY, "the key %s has nothing here to %s", id, statement_type_name(type));
}

// Statements per hour and person. 0: no limit.
static int find_limit(struct signing *a, int64_t *limit)
{
    const int *quarters = a->type->quarters;
    bool stands = true;
    if (quarters[0] != quarters[1]) TRY(type_object_stands(a->sql, a->in->handle, &stands));
    *limit = (a->store->submissions_per_hour * quarters[stands] + 3) / 4;
    return 0;
}

// A run that the person has committed to. All of them can be revealed before the deadline, and there are no more than were
// committed.
static int find_committed(struct signing *a, int64_t *committed)
{
    *committed = 0;
    if (a->in->statement->type != STATEMENT_RUN || canonical_at(a->in->statement->json, "competition") == NULL) return 0;
    return sql_int(a->sql, committed, 0, "SELECT count(*) FROM committed d JOIN commitments c "
                   "ON c.sequence = d.commitment WHERE d.digest = ? AND c.handle = ?", "tt", a->in->statement->digest,
                   a->in->handle);
}

// Limits count by person, because a rotation brings a new key, and by type, so that many runs do not delay an amendment.
static int check_rate(struct signing *a)
{
    enum statement_type type = a->in->statement->type;
    int64_t limit, committed, count = 0, then = 0;
    sqlite3_stmt *row;
    int rc = 0;
    if (a->in->new_key || a->in->own) return 0;
    TRY(find_committed(a, &committed));
    if (committed != 0) return 0;
    TRY(find_limit(a, &limit));
    if (limit <= 0) return 0;
    TRY(sql_start(a->sql, &row, "SELECT accepted_ms, type FROM statements s WHERE handle = ? AND NOT EXISTS "
                  "(SELECT 1 FROM committed d WHERE d.run = s.sequence AND d.run > 0) ORDER BY sequence DESC", "t",
                  a->in->handle));
    while (count < limit && (rc = sql_next(a->sql, row)) > 0 && (then = sql_column(row, 0)) > a->now_ms - HOUR_MS)
        if (strcmp(sql_text(row, 1), statement_type_name(type)) == 0) count++;
    sql_end(row);
    if (rc < 0 || count < limit) return rc < 0 ? rc : 0;
    int64_t wait = (then + HOUR_MS - a->now_ms + 999) / 1000;
    *a->retry_after = wait < 1 ? 1 : wait > 3600 ? 3600 : (int)wait;
    return problem_rule(a->out, PROBLEM_RATE,
                        "%lld statements of type \"%s\" per hour are accepted from a person; the next one in %d s",
                        (long long)limit, statement_type_name(type), *a->retry_after);
}

// The next letter or digit of ASCII as it looks, 0 at the end: without case, one for "I", "l" and "1", and for each digit and the
// letter that it resembles. Two letters may look like one: "rn" like "m", "vv" like "w", "cl" like "d".
static int fold_look(char c)
{
    static const char digits[] = "olz34sb7bg";  // "0" looks like "O", and so on
    if (c == 'I') return 'l';
    if (c == 'q' || c == 'Q') return 'g';
    return c >= '0' && c <= '9' ? digits[c - '0'] : tolower((unsigned char)c);
}

static int next_look(const char **at)
{
    const char *c = *at;
    while (*c != 0 && !isalnum((unsigned char)*c)) c++;
    *at = *c != 0 ? c + 1 : c;
    const int first = fold_look(*c), second = *c != 0 ? fold_look(c[1]) : 0;
    const int pair = first == 'r' && second == 'n'   ? 'm'
                     : first == 'v' && second == 'v' ? 'w'
                     : first == 'c' && second == 'l' ? 'd'
                                                     : 0;
    if (pair != 0) ++*at;
    return pair != 0 ? pair : first;
}

// "6" and "8" look like "b" and not like each other, or "team6" would keep "team8" out.
static bool looks_like(const char *name, const char *handle)
{
    for (;;) {
        int a = next_look(&name), b = next_look(&handle);
        if (a != b) return false;
        if (a == 0) return true;
        if (isdigit((unsigned char)name[-1]) && isdigit((unsigned char)handle[-1]) && name[-1] != handle[-1]) return false;
    }
}

// Names that speak for a board or its operator. Nobody gets them, nor one that looks like them.
static const char *reserved_name(const char *handle)
{
    static const char *const names[] = {"admin", "administrator", "board", "dawn", "dawnbench", "moderator", "official",
                                        "operator", "root", "scoreboard", "staff", "support", "system"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (looks_like(names[i], handle)) return names[i];
    return NULL;
}

// Nobody takes a handle that can be mistaken for another person's, or for an author of the archive, who signed nothing. Cost: a
// walk over all names, for a new key alone.
static int check_look(struct signing *a, const char *handle)
{
    sqlite3_stmt *row;
    int rc;
    const char *reserved = reserved_name(handle);
    if (reserved != NULL)
        return problem_rule(a->out, PROBLEM_HANDLE,
                            "the handle \"%s\" looks like \"%s\", which speaks for the board; choose another", handle, reserved);
    TRY(sql_start(a->sql, &row, "SELECT DISTINCT author, 1 FROM entries WHERE trust = ? UNION ALL "
                  "SELECT DISTINCT handle, 0 FROM keys WHERE handle <> ''", "i", (int64_t)TRUST_IMPORTED));
    while ((rc = sql_next(a->sql, row)) > 0 && a->out->problem == PROBLEM_NONE) {
        if (!looks_like(sql_text(row, 0), handle)) continue;
        if (sql_column(row, 1) != 0)
            problem_rule(a->out, PROBLEM_HANDLE, "\"%.80s\" is an author of imported entries; such a name cannot be a handle",
                         sql_text(row, 0));
        else
            problem_rule(a->out, PROBLEM_HANDLE,
                         "the handle \"%s\" looks like \"%.80s\", which belongs to another key; choose another",
                         handle, sql_text(row, 0));
    }
    sql_end(row);
    return rc < 0 ? rc : 0;
}

static int check_handle(struct signing *a)
{
    const char *handle = canonical_text(a->in->statement->json, "handle");
    int64_t taken;
    if (*handle == 0) return 0;  // a type without one
    if (!a->in->new_key) {
        if (strcmp(handle, a->in->handle) == 0) return 0;
        return problem_rule(a->out, PROBLEM_KEY_TAKEN,
                            "the key %s belongs to the handle \"%s\"; a key has one handle, and \"%s\" is another", a->in->key,
                            a->in->handle, handle);
    }
    TRY(sql_int(a->sql, &taken, 0, "SELECT count(*) FROM keys WHERE handle = ? COLLATE NOCASE", "t", handle));
    if (taken != 0)
        return problem_rule(a->out, PROBLEM_HANDLE,
                            "the handle \"%s\" belongs to another key; choose another, or sign with that key",
                            handle);
    TRY(check_look(a, handle));
    if (a->out->problem != PROBLEM_NONE) return RULED;
    snprintf(a->in->handle, sizeof a->in->handle, "%s", handle);
    return 0;
}

int store_signer_check(struct store *s, struct incoming *in, int64_t now_ms, struct ruling *out, int *retry_after)
{
    struct signing a = {.store = s, .sql = &s->sql, .in = in, .type = store_type(in->statement->type), .now_ms = now_ms,
                        .out = out, .retry_after = retry_after};
    STEP(check_key(&a));
    STEP(check_rate(&a));
    return check_handle(&a);
}

bool store_signer_may(const struct store *s, struct sql *sql, const struct incoming *in, int64_t now_ms, char handle[64])
{
    struct incoming copy = *in;
    struct ruling ruling = {0};
    int retry_after;
    struct signing a = {.store = s, .sql = sql, .in = &copy, .type = store_type(in->statement->type), .now_ms = now_ms,
                        .out = &ruling, .retry_after = &retry_after};
    if (check_key(&a) != 0 || check_rate(&a) != 0 || check_handle(&a) != 0) return false;
    snprintf(handle, 64, "%s", copy.handle);
    return true;
}
