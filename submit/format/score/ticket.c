// SPDX-License-Identifier: Apache-2.0
// What a ticket proves. Invariant: of a witnessed run, the board held the states that decide its rank within the tolerance after
// the moments that the run claims for them, and no state earlier than claimed. So the run can claim neither much less time than
// it took nor much more than the board saw. Cost: one pass over points and stamps in their order.
#include "submit/format/score/ticket.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/canonical.h"

enum { SEED_DIGITS = 12, MS_NS = 1000000 };
#define NEVER INT64_MAX
#define BEAT_HASH "{\"hash\":\""
#define BEAT_SECRET "\",\"secret\":\""
#define BEAT_END "\"}"

_Static_assert(sizeof BEAT_HASH + sizeof BEAT_SECRET + sizeof BEAT_END - 3 + 2 * (DIGEST_HEX - 1) == TICKET_BEAT_BYTES,
               "a beat has one length");

void ticket_proof(const char *receipt_signature, char hex[DIGEST_HEX])
{
    digest_bytes(receipt_signature, strlen(receipt_signature), hex);
}

void ticket_lock(const char *secret, char hex[DIGEST_HEX])
{
    digest_bytes(secret, strlen(secret), hex);
}

int64_t ticket_seed(const char *proof)
{
    char digits[SEED_DIGITS + 1];
    snprintf(digits, sizeof digits, "%s", proof);
    return strtoll(digits, NULL, 16);
}

const char *ticket_differs(const json_t *run, const json_t *ticket)
{
    static const char *const members[][2] = {
        {"task", "task"}, {"target_micro", "target_micro"}, {"model.name", "model"}, {"recipe.name", "recipe"},
        {"recipe.digest", "recipe_digest"}, {"software.binary_digest", "binary_digest"}, {"group.nonce", "group.nonce"},
        {"group.index", "group.index"}, {"group.planned", "group.planned"},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *own = canonical_at(run, members[i][0]), *announced = canonical_at(ticket, members[i][1]);
        if (own != announced && !json_equal(own, announced)) return members[i][0];
    }
    return NULL;
}

// ---- beats

static bool take_words(const char **at, const char *words)
{
    size_t count = strlen(words);
    if (strncmp(*at, words, count) != 0) return false;
    *at += count;
    return true;
}

static bool take_hex(const char **at, char hex[DIGEST_HEX])
{
    if (strspn(*at, "0123456789abcdef") < DIGEST_HEX - 1) return false;
    memcpy(hex, *at, DIGEST_HEX - 1);
    hex[DIGEST_HEX - 1] = 0;
    *at += DIGEST_HEX - 1;
    return true;
}

// Canonical JSON of two digests has one form, so it is compared, not parsed.
int ticket_read_beat(const char *bytes, size_t count, struct ticket_beat *beat)
{
    char buffer[TICKET_BEAT_BYTES + 1] = {0};
    const char *at = buffer;
    *beat = (struct ticket_beat){{0}, {0}};
    if (count == TICKET_BEAT_BYTES) memcpy(buffer, bytes, count);
    if (take_words(&at, BEAT_HASH) && take_hex(&at, beat->hash) && take_words(&at, BEAT_SECRET) && take_hex(&at, beat->secret) &&
        take_words(&at, BEAT_END) && at == buffer + TICKET_BEAT_BYTES)
        return 0;
    return fail(ERR_INPUT, "a beat is {\"hash\":..,\"secret\":..}, each of 64 hexadecimal digits, without blanks");
}

void ticket_write_beat(const struct ticket_beat *beat, char into[TICKET_BEAT_BYTES + 1])
{
    snprintf(into, TICKET_BEAT_BYTES + 1, "%s%s%s%s%s", BEAT_HASH, beat->hash, BEAT_SECRET, beat->secret, BEAT_END);
}

// ---- the clock

// A state of a run's chain: the root, then one per point, then the end.
struct state {
    const char *hash;
    int64_t t_ms;       // the end-to-end clock that the run claims for it
    int64_t stamp_ms;   // NEVER: the board did not get it
};
struct judging {
    struct ticket_judged *out;
    int64_t issued_ms;
    struct state *states;
    size_t count;
};

static bool refuse_run(struct judging *, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool refuse_run(struct judging *j, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(j->out->why, sizeof j->out->why, format, args);
    va_end(args);
    return false;
}

static const json_t *last_of(const json_t *list)
{
    return json_array_get(list, json_array_size(list) > 0 ? json_array_size(list) - 1 : 0);
}

static void unpack_states(const json_t *run, struct judging *j)
{
    const json_t *points = canonical_at(run, "points");
    const size_t points_count = json_array_size(points);
    j->count = points_count + 2;
    j->states = zalloc(j->count * sizeof *j->states);
    j->states[0] = (struct state){canonical_text(run, "chain_root"), 0, NEVER};
    for (size_t i = 0; i < points_count; i++) {
        const json_t *point = json_array_get(points, i);
        j->states[i + 1] = (struct state){canonical_text(point, "hash"), canonical_int(point, "t_ns") / MS_NS, NEVER};
    }
    j->states[points_count + 1] = (struct state){canonical_text(run, "chain_end"),
                                                 canonical_int(last_of(canonical_at(run, "segments")), "end_ns") / MS_NS, NEVER};
}

// Stamps usually have the order of the states, so the search goes on where it found the one before.
static bool order_stamps(struct judging *j, const struct ticket_stamp *stamps, int count)
{
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        size_t tried = 0;
        while (tried < j->count && strcmp(j->states[at].hash, stamps[i].hash) != 0) at = (at + 1) % j->count, tried++;
        if (tried == j->count) return refuse_run(j, "a state that the board stamped is not of this run's chain");
        if (stamps[i].ms < j->states[at].stamp_ms) j->states[at].stamp_ms = stamps[i].ms;
    }
    return true;
}

static bool check_early(struct judging *j)
{
    for (size_t i = 0; i < j->count; i++) {
        const struct state *s = &j->states[i];
        if (s->stamp_ms == NEVER || s->t_ms - (s->stamp_ms - j->issued_ms) <= TICKET_BEGIN_MS) continue;
        return refuse_run(j, "it claims %lld s up to a state that the board got %lld s after the ticket",
                          (long long)(s->t_ms / 1000), (long long)((s->stamp_ms - j->issued_ms) / 1000));
    }
    return true;
}

int64_t ticket_late_ms(int64_t claimed_ms)
{
    const int64_t part = claimed_ms / TICKET_LATE_PART;
    return part < TICKET_LATE_MS ? part : TICKET_LATE_MS;
}

// Takes the first stamp of this state or of a later one, because a later hash covers all states before it.
static bool check_late(struct judging *j, size_t from, const char *what)
{
    size_t held = from;
    const int64_t t_ms = j->states[from].t_ms;
    for (size_t i = from; i < j->count; i++)
        if (j->states[i].stamp_ms < j->states[held].stamp_ms) held = i;
    const struct state *s = &j->states[held];
    if (s->stamp_ms == NEVER) return refuse_run(j, "the board never got %s", what);
    const int64_t late = s->stamp_ms - j->issued_ms - t_ms;
    const int64_t allowed = ticket_late_ms(t_ms);
    if (j->out->late_ms == 0) j->out->late_ms = allowed;
    if (late > allowed)
        return refuse_run(j, "the board got %s %lld.%03lld s after the moment that the run claims for it, and %lld.%03lld s are "
                          "allowed", what, (long long)(late / 1000), (long long)(late % 1000), (long long)(allowed / 1000),
                          (long long)(allowed % 1000));
    for (int i = 0; i < j->out->decide_count; i++)
        if (j->out->decide[i].hash == s->hash) return true;
    j->out->decide[j->out->decide_count++] = (struct ticket_stamp){s->hash, s->stamp_ms};
    return true;
}

static size_t find_crossing(const json_t *run)
{
    const json_t *reached = canonical_at(run, "reached"), *points = canonical_at(run, "points");
    for (size_t i = 0; reached != NULL && i < json_array_size(points); i++)
        if (canonical_int(json_array_get(points, i), "t_ns") == canonical_int(reached, "t_ns")) return i + 1;
    return 0;
}

static bool judge_states(struct judging *j, const json_t *run, const struct ticket_stamp *stamps, int count)
{
    if (canonical_at(run, "chain_end") == NULL) return refuse_run(j, "it did not finish");
    if (canonical_int(run, "resumed") > 0) return refuse_run(j, "it was interrupted and resumed");
    if (strcmp(canonical_text(run, "evaluated_by"), "harness") != 0) return refuse_run(j, "the harness did not evaluate it");
    if (count == 0) return refuse_run(j, "the board got no beat of the run");
    if (!order_stamps(j, stamps, count) || !check_early(j)) return false;
    const size_t crossing = find_crossing(run), end = j->count - 1;
    if (crossing > 0 && !check_late(j, crossing, "the state that met the target")) return false;
    if (end > 1 && !check_late(j, end - 1, "the last evaluation")) return false;
    return check_late(j, end, "the end");
}

void ticket_judge(const json_t *run, int64_t issued_ms, const struct ticket_stamp *stamps, int count, struct ticket_judged *out)
{
    struct judging j = {.out = out, .issued_ms = issued_ms};
    *out = (struct ticket_judged){0};
    unpack_states(run, &j);
    out->witnessed = judge_states(&j, run, stamps, count);
    if (!out->witnessed) out->decide_count = 0;
    for (int i = 0; i < out->decide_count; i++)
        for (int n = 0; n < count; n++)
            if (strcmp(out->decide[i].hash, stamps[n].hash) == 0) out->decide[i].hash = stamps[n].hash;
    free(j.states);
}
