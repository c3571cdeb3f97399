// SPDX-License-Identifier: Apache-2.0
// Invariant: what competition_take accepts has a board in this program, and its deadlines follow each other soon enough for the
// boards' limit on the age of a run. Cost: none worth counting.
#include "scoreboard/rank/competition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "submit/format/canonical.h"

// A board refuses statements that are older than 30 days (check.h), so a run made right after the beginning must be in time.
#define LONGEST_MS ((int64_t)30 * 24 * 3600 * 1000)

// ---- the statement
static int take_board(const json_t *s, struct competition *c)
{
    const char *task = canonical_text(s, "task");
    c->contest = contest_find(task);
    if (c->contest == NULL) return fail(ERR_INPUT, "there is no task \"%s\" with boards", task);
    if (!board_find(canonical_text(s, "ranked_by"), &c->board))
        return fail(ERR_INPUT, "there is no board \"%s\"", canonical_text(s, "ranked_by"));
    for (int i = 0; i < CONTEST_TARGETS; i++)
        if (c->contest->target_micro[i] == c->target_micro) return 0;
    return fail(ERR_INPUT, "%s has no board for a target of %lld millionths", c->contest->title, (long long)c->target_micro);
}

static int check_times(const struct competition *c)
{
    if (c->begins_ms >= c->commits_until_ms || c->commits_until_ms >= c->reveals_until_ms)
        return fail(ERR_INPUT, "a competition begins before its commitments end, and they end before the runs do");
    if (c->reveals_until_ms - c->begins_ms > LONGEST_MS)
        return fail(ERR_INPUT, "a competition lasts at most 30 days, because a board takes no run that is older");
    return 0;
}

int competition_take(const json_t *s, struct competition *c)
{
    *c = (struct competition){
        .name = canonical_text(s, "name"), .title = canonical_text(s, "title"), .rules = canonical_text(s, "rules"),
        .url = canonical_text(s, "url"), .task = canonical_text(s, "task"), .ranked_by = canonical_text(s, "ranked_by"),
        .rank = strcmp(canonical_text(s, "rank"), rank_word(RANK_GROUP)) == 0 ? RANK_GROUP : RANK_CLASSIC,
        .target_micro = canonical_int(s, "target_micro"),
        .closed = strcmp(canonical_text(s, "division"), "closed") == 0,
        .least = strcmp(canonical_text(s, "trust"), "signed") == 0 ? TRUST_SIGNED : TRUST_CHECKED,
        .begins_ms = canonical_int(s, "begins_ms"), .commits_until_ms = canonical_int(s, "commits_until_ms"),
        .reveals_until_ms = canonical_int(s, "reveals_until_ms"),
    };
    int rc = take_board(s, c);
    if (rc < 0) c->contest = NULL;
    return rc < 0 ? rc : check_times(c);
}

enum competition_phase competition_phase(const struct competition *c, int64_t now_ms)
{
    if (now_ms < c->begins_ms) return COMPETITION_AHEAD;
    if (now_ms < c->commits_until_ms) return COMPETITION_COMMITS;
    return now_ms < c->reveals_until_ms ? COMPETITION_REVEALS : COMPETITION_OVER;
}

// ---- the operator's file
// "2026-12-01T12:00:00Z", a moment that exists.
static int read_moment(const char *name, const char *word, int64_t *ms)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    struct tm day = {0};
    char again[32] = "";
    bool fits = strlen(word) == strlen(form);
    for (size_t i = 0; fits && form[i] != 0; i++) fits = form[i] == 'd' ? word[i] >= '0' && word[i] <= '9' : word[i] == form[i];
    if (fits && sscanf(word, "%4d-%2d-%2dT%2d:%2d:%2d", &day.tm_year, &day.tm_mon, &day.tm_mday, &day.tm_hour, &day.tm_min,
                       &day.tm_sec) == 6) {
        day.tm_year -= 1900;
        day.tm_mon -= 1;
        time_t seconds = timegm(&day);
        *ms = (int64_t)seconds * 1000;
        if (gmtime_r(&seconds, &day) != NULL) strftime(again, sizeof again, "%Y-%m-%dT%H:%M:%SZ", &day);
    }
    if (*again != 0 && strcmp(again, word) == 0 && *ms >= 0) return 0;
    return fail(ERR_INPUT, "\"%s\" is a moment in UTC such as 2026-12-01T12:00:00Z; got \"%.40s\"", name, word);
}

static const struct {
    const char *in_file, *in_statement;  // the latter: of times
    bool optional;
} known[] = {
    {"name", NULL, false},   {"title", NULL, false},        {"rules", NULL, false},
    {"task", NULL, false},   {"ranked_by", NULL, false},    {"rank", NULL, false},
    {"division", NULL, false}, {"trust", NULL, true},       {"target_micro", NULL, true},
    {"url", NULL, true},     {"begins", "begins_ms", false}, {"commits_until", "commits_until_ms", false},
    {"reveals_until", "reveals_until_ms", false},
};
enum { KNOWN = sizeof known / sizeof known[0] };

static int take_member(const char *name, json_t *value, json_t *members)
{
    int i = 0;
    int64_t ms = 0;
    while (i < KNOWN && strcmp(known[i].in_file, name) != 0) i++;
    if (i == KNOWN) return fail(ERR_INPUT, "a competition has no member \"%.40s\"", name);
    if (strcmp(name, "target_micro") == 0) {
        if (!json_is_integer(value)) return fail(ERR_INPUT, "\"%s\" is a whole number", name);
        json_object_set(members, name, value);
        return 0;
    }
    if (!json_is_string(value)) return fail(ERR_INPUT, "\"%s\" is text", name);
    if (known[i].in_statement == NULL) {
        json_object_set(members, name, value);
        return 0;
    }
    TRY(read_moment(name, json_string_value(value), &ms));
    json_object_set_new(members, known[i].in_statement, json_integer(ms));
    return 0;
}

static int take_members(const json_t *file, json_t *members)
{
    const char *name;
    json_t *value;
    if (!json_is_object(file)) return fail(ERR_INPUT, "a competition is an object of JSON");
    json_object_foreach((json_t *)file, name, value) TRY(take_member(name, value, members));
    for (int i = 0; i < KNOWN; i++)
        if (!known[i].optional && json_object_get(file, known[i].in_file) == NULL)
            return fail(ERR_INPUT, "the competition has no \"%s\"", known[i].in_file);
    if (json_object_get(members, "trust") == NULL) json_object_set_new(members, "trust", json_string(trust_word(TRUST_CHECKED)));
    const char *task = json_string_value(json_object_get(members, "task")), *names[CONTESTS_MAX + 1];
    const struct contest *contest = contest_find(task);
    contest_names(names);
    if (contest == NULL) return fail_unknown(ERR_INPUT, "task", task, names, NULL);
    if (json_object_get(members, "target_micro") == NULL)
        json_object_set_new(members, "target_micro", json_integer(contest->target_micro[0]));
    return 0;
}

int competition_read(const char *bytes, size_t count, json_t **members)
{
    json_error_t error;
    *members = NULL;
    if (count > COMPETITION_FILE) return fail(ERR_INPUT, "the file is longer than %d bytes", COMPETITION_FILE);
    json_t *file = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    if (file == NULL) return fail(ERR_INPUT, "line %d is not JSON: %s", error.line, error.text);
    json_t *taken = json_object();
    int rc = take_members(file, taken);
    json_decref(file);
    if (rc < 0) json_decref(taken);
    else *members = taken;
    return rc;
}

// ---- the order of the entries
const char *competition_mark(const struct competition *c, const struct contender *one)
{
    if (one->revealed == 0) return "not revealed";
    if (one->revealed < one->runs) return "not all runs revealed";
    if (one->withdrawn > 0) return "withdrawn";
    if (one->upheld > 0) return "objection upheld";
    if (!one->listed) return c->rank == RANK_GROUP ? "not an official group at the target" : "no figure at the target";
    if (one->entry.trust < c->least) return one->entry.self ? "self-evaluated" : "flagged";
    return "";
}

static int compare(const void *a, const void *b)
{
    const struct contender *x = a, *y = b;
    if ((x->place > 0) != (y->place > 0)) return x->place > 0 ? -1 : 1;
    if (x->listed != y->listed) return x->listed ? -1 : 1;
    if (x->listed && x->entry.value != y->entry.value) return x->entry.value < y->entry.value ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

void competition_rank(const struct competition *c, struct contender *at, int count)
{
    for (int i = 0; i < count; i++) at[i].place = *competition_mark(c, &at[i]) == 0;
    if (count > 0) qsort(at, (size_t)count, sizeof *at, compare);
    for (int i = 0; i < count && at[i].place > 0; i++) at[i].place = i + 1;
}
