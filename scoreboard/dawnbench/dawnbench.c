// SPDX-License-Identifier: Apache-2.0
// Parses an entry of DAWNBench's archive. Invariant: e-mail addresses are removed from the bytes first, and everything is read
// from the rest, so that the stored bytes parse to the same entry. Files are at most 1 MiB;
// cost: a few passes over them.
#include "scoreboard/dawnbench/dawnbench.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/dawnbench/dawnbench_inside.h"

// ---- JSON

static size_t mark_length(const char *at, size_t count)
{
    return count >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static int load(const struct dawnbench_entry *e, const char *at, size_t count, json_t **value)
{
    json_error_t error;
    size_t mark = mark_length(at, count);
    *value = json_loadb(at + mark, count - mark, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (*value == NULL)
        return fail(ERR_INPUT, "%s.json: not JSON that can be read, line %d: %.200s", e->source, error.line, error.text);
    if (json_is_object(*value)) return 0;
    json_decref(*value);
    *value = NULL;
    return fail(ERR_INPUT, "%s.json: is not an object", e->source);
}

// authorEmail is the member for addresses, so an address there is no oddity.
static bool mail_elsewhere(json_t *value)
{
    struct text rest = {0};
    json_object_del(value, "authorEmail");
    char *json = json_dumps(value, JSON_COMPACT);
    bool found = json != NULL && dawnbench_drop_mail_json(json, strlen(json), &rest);
    free(json);
    text_free(&rest);
    return found;
}

// Parses the bytes, removes addresses and parses again, because two keys may have become equal.
static int load_clean(struct dawnbench_entry *e, const char *at, size_t count, json_t **value)
{
    struct text kept = {0};
    TRY(load(e, at, count, value));
    bool mail = dawnbench_drop_mail_json(at, count, &kept) && mail_elsewhere(*value);
    json_decref(*value);
    *value = NULL;
    e->json = arena_text(&e->arena, "%s", kept.at);
    text_free(&kept);
    if (mail) dawnbench_quirk(e, "json", "e-mail addresses outside authorEmail were removed");
    if (mark_length(at, count) > 0) dawnbench_quirk(e, "json", "begins with a byte order mark");
    return load(e, e->json, strlen(e->json), value);
}

// A text member, cleaned; "" if it is missing.
static int read_words(struct dawnbench_entry *e, const json_t *json, const char *key, bool needed, const char **into)
{
    const json_t *value = json_object_get(json, key);
    const char *text = json_string_value(value);
    int flags = 0;
    *into = "";
    if (value != NULL && text == NULL) dawnbench_quirk(e, "json", "%s is no text and is left out", key);
    if (text == NULL) text = "";
    if (strlen(text) > DAWNBENCH_WORDS)
        return fail(ERR_INPUT, "%s.json: %s has %zu bytes, more than %d", e->source, key, strlen(text), (int)DAWNBENCH_WORDS);
    *into = dawnbench_words(&e->arena, text, &flags);
    if (needed && **into == 0) dawnbench_quirk(e, "json", "%s is missing", key);
    if (flags & DAWNBENCH_PADDED) dawnbench_quirk(e, "json", "%s is padded with blanks", key);
    if (flags & DAWNBENCH_WIDE) dawnbench_quirk(e, "json", "%s holds full-width commas or spaces", key);
    if (flags & DAWNBENCH_UNSHOWN)
        dawnbench_quirk(e, "json", "%s holds characters that cannot be shown; they are left out", key);
    return 0;
}

// A positive number; negative: none. DAWNBench shows a cost only if the field is a number.
static int read_number(struct dawnbench_entry *e, const json_t *json, const char *key, double most, double *into)
{
    const json_t *value = json_object_get(json, key);
    *into = -1;
    if (value == NULL) return 0;
    if (!json_is_number(value)) {
        dawnbench_quirk(e, "json", "%s is %s: it counts as not given", key, json_is_null(value) ? "null" : "no number");
        return 0;
    }
    double given = json_number_value(value);
    if (given < 0) return fail(ERR_INPUT, "%s.json: %s is negative", e->source, key);
    if (given > most) return fail(ERR_INPUT, "%s.json: %s is %g, more than %g", e->source, key, given, most);
    if (given == 0) dawnbench_quirk(e, "json", "%s is 0: it counts as not given", key);
    else *into = given;
    return 0;
}

static bool read_digits(const char **at, int least, int most, int *value)
{
    int n = 0;
    for (*value = 0; n < most && isdigit((unsigned char)(*at)[n]); n++) *value = *value * 10 + (*at)[n] - '0';
    *at += n;
    return n >= least;
}

static bool month_has(int year, int month, int day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

// A month and a day may have one digit.
static bool read_day(const char *at, int *year, int *month, int *day)
{
    return read_digits(&at, 4, 4, year) && *at++ == '-' && read_digits(&at, 1, 2, month) && *at++ == '-' &&
           read_digits(&at, 1, 2, day) && *at == 0 && *year >= 1970 && month_has(*year, *month, *day);
}

int dawnbench_date(const char *date)
{
    int year, month, day;
    bool good = strlen(date) == strlen("2018-01-31") && read_day(date, &year, &month, &day);
    return good ? 0 : fail(ERR_INPUT, "\"%.40s\" is not a date YYYY-MM-DD", date);
}

static int read_date(struct dawnbench_entry *e, const json_t *json)
{
    const char *given;
    int year, month, day;
    TRY(read_words(e, json, "timestamp", false, &given));
    if (!read_day(given, &year, &month, &day))
        return fail(ERR_INPUT, "%s.json: timestamp \"%.40s\" is not a date YYYY-MM-DD", e->source, given);
    e->date = arena_text(&e->arena, "%04d-%02d-%02d", year, month, day);
    if (strcmp(e->date, given) != 0) dawnbench_quirk(e, "json", "timestamp has no leading zeros");
    return 0;
}

static int read_code_url(struct dawnbench_entry *e, const json_t *json)
{
    TRY(read_words(e, json, "codeURL", false, &e->code_url));
    if (json_object_get(json, "codeURL") == NULL) dawnbench_quirk(e, "json", "codeURL is missing");
    if (*e->code_url == 0) return 0;
    bool web = strncmp(e->code_url, "https://", 8) == 0 || strncmp(e->code_url, "http://", 7) == 0;
    if (web && strpbrk(e->code_url, " \"<>\\") == NULL) return 0;
    dawnbench_quirk(e, "json", "codeURL is no web address and is left out");
    e->code_url = "";
    return 0;
}

// The members that DAWNBench's instructions name. Others are kept unchanged and never interpreted: usedBlacklist, for example,
// was used with two opposite meanings.
static bool is_documented(const struct dawnbench_entry *e, const char *key)
{
    static const char *const keys[] = {"version",   "author",      "authorEmail", "framework",   "codeURL",
                                       "model",     "hardware",    "timestamp",   "logFilename", "misc",
                                       "latency",   "cost",        "costPerHour", "top1Accuracy"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return strcmp(key, e->contest->dawnbench_column) == 0;
}

// A key for a message: cleaned, and cut between two characters.
static void add_key(struct text *names, const char *key)
{
    enum { MOST = 40 };
    struct arena arena = {0};
    int flags = 0;
    const char *shown = dawnbench_words(&arena, key, &flags);
    size_t length = strlen(shown);
    if (length > MOST)
        for (length = MOST; ((unsigned char)shown[length] & 0xc0) == 0x80;) length--;
    text_add(names, "%s%.*s", names->length > 0 ? ", " : "", (int)length, shown);
    arena_free(&arena);
}

static void tell_keys(struct dawnbench_entry *e, json_t *json)
{
    enum { NAMED = 6 };
    struct text names = {0};
    const char *key;
    json_t *value;
    int count = 0;
    json_object_foreach(json, key, value)
    {
        if (!is_documented(e, key) && count++ < NAMED) add_key(&names, key);
    }
    if (count > 0)
        dawnbench_quirk(e, "json", "undocumented, kept and not interpreted: %s%s", names.at, count > NAMED ? ", ..." : "");
    text_free(&names);
    const json_t *misc = json_object_get(json, "misc"), *version = json_object_get(json, "version");
    if (misc != NULL && !json_is_object(misc))
        dawnbench_quirk(e, "json", "misc is %s, not an object", json_is_string(misc) ? "a text" : "something else");
    if (version == NULL || !json_is_string(version) || strcmp(json_string_value(version), "v1.0") != 0)
        dawnbench_quirk(e, "json", "version is not v1.0");
}

// ---- what follows

static int find_crossings(struct dawnbench_entry *e)
{
    for (int t = 0; t < CONTEST_TARGETS && e->contest->target_micro[t] > 0; t++) {
        double goal = dawnbench_goal(e->contest, t);
        int i = 0;
        while (i < e->point_count && e->points[i].score < goal) i++;
        if (i == e->point_count) {
            if (t == 0) dawnbench_quirk(e, "tsv", "no row meets the target of %g: not ranked", goal);
            continue;
        }
        if (e->points[i].hours == 0) return fail(ERR_INPUT, "%s.tsv: meets the target after 0 hours", e->source);
        e->seconds[t] = e->points[i].hours * 3600;
        e->accuracy[t] = e->points[i].score / (double)e->contest->dawnbench_scale;
    }
    return 0;
}

static int read_inference_score(struct dawnbench_entry *e, const json_t *json)
{
    const struct contest *contest = e->contest;
    double score;
    TRY(read_number(e, json, contest->dawnbench_column, 100, &score));
    if (score < 0) {
        dawnbench_quirk(e, "json", "%s is missing: not ranked", contest->dawnbench_column);
        return 0;
    }
    if (dawnbench_other_unit(contest, score)) {
        score = dawnbench_in_unit(contest, score);
        dawnbench_quirk(e, "json", contest->dawnbench_scale == 1 ? "%s is given in points of 100; read as a share of 1"
                                                                 : "%s is given as a share of 1; read in points of 100",
                        contest->dawnbench_column);
    }
    if (!dawnbench_whole(contest, score))
        dawnbench_quirk(e, "json", "%s is no whole number of %lld items", contest->dawnbench_column, (long long)contest->items);
    e->score = score / (double)contest->dawnbench_scale;
    for (int t = 0; t < CONTEST_TARGETS && contest->target_micro[t] > 0; t++)
        if (score >= dawnbench_goal(contest, t)) e->accuracy[t] = e->score;
    if (e->accuracy[0] < 0) dawnbench_quirk(e, "json", "%s misses the target: not ranked", contest->dawnbench_column);
    return 0;
}

static int read_inference(struct dawnbench_entry *e, const json_t *json)
{
    TRY(read_number(e, json, "latency", 1e9, &e->latency_ms));
    TRY(read_number(e, json, "cost", 1e7, &e->cost_per_item));
    if (e->latency_ms < 0 && e->cost_per_item < 0) return fail(ERR_INPUT, "%s.json: has neither a latency nor a cost", e->source);
    return read_inference_score(e, json);
}

static int read_fields(struct dawnbench_entry *e, json_t *json)
{
    TRY(read_words(e, json, "author", true, &e->author));
    TRY(read_words(e, json, "framework", true, &e->framework));
    TRY(read_words(e, json, "model", true, &e->model));
    TRY(read_words(e, json, "hardware", true, &e->hardware));
    TRY(read_code_url(e, json));
    TRY(read_date(e, json));
    tell_keys(e, json);
    e->devices = dawnbench_devices(e->hardware);
    return e->training ? read_number(e, json, "costPerHour", 1e7, &e->cost_per_hour) : read_inference(e, json);
}

static int read_training(struct dawnbench_entry *e, const char *tsv, size_t count)
{
    struct text kept = {0};
    if (tsv == NULL) return fail(ERR_INPUT, "%s.json: has no log (%s.tsv)", e->source, e->stem);
    if (count > DAWNBENCH_FILE) return fail(ERR_INPUT, "%s.tsv: is larger than 1 MiB", e->source);
    json_t *valid = memchr(tsv, 0, count) == NULL ? json_stringn(tsv, count) : NULL;
    json_decref(valid);
    if (valid == NULL) return fail(ERR_INPUT, "%s.tsv: is not text in UTF-8", e->source);
    if (dawnbench_drop_mail(tsv, count, &kept)) dawnbench_quirk(e, "tsv", "e-mail addresses were removed");
    e->tsv = arena_text(&e->arena, "%s", kept.at);
    text_free(&kept);
    TRY(dawnbench_log(e, e->tsv, strlen(e->tsv)));
    return find_crossings(e);
}

static int read_both(struct dawnbench_entry *e, const char *json, size_t json_count, const char *tsv, size_t tsv_count)
{
    json_t *value;
    if (!dawnbench_stem(e->stem))
        return fail(ERR_INPUT, "%s.json: the name is not letters, digits, \".\", \"_\", \"+\" and \"-\" (at most %d)", e->source,
                    (int)DAWNBENCH_STEM);
    if (json_count > DAWNBENCH_FILE) return fail(ERR_INPUT, "%s.json: is larger than 1 MiB", e->source);
    int rc = load_clean(e, json, json_count, &value);
    if (rc == 0) rc = read_fields(e, value);
    json_decref(value);
    return rc == 0 && e->training ? read_training(e, tsv, tsv_count) : rc;
}

struct dawnbench_entry *dawnbench_new(void)
{
    struct dawnbench_entry *e = zalloc(sizeof *e);
    e->author = e->framework = e->model = e->hardware = e->code_url = e->date = e->json = e->tsv = e->note = "";
    e->cost_per_hour = e->latency_ms = e->cost_per_item = e->score = -1;
    for (int t = 0; t < CONTEST_TARGETS; t++) e->seconds[t] = e->accuracy[t] = -1;
    text_add(&e->quirks, "%s", "");
    return e;
}

const char *dawnbench_kind(const struct dawnbench_entry *e)
{
    return e->history ? "history" : e->training ? "train" : "inference";
}

int dawnbench_read(const struct contest *contest, bool is_training, const char *stem, const char *json, size_t json_count,
                   const char *tsv, size_t tsv_count, struct dawnbench_entry **into)
{
    struct dawnbench_entry *e = dawnbench_new();
    BUG_IF(contest->dawnbench_column == NULL);
    *into = NULL;
    e->contest = contest;
    e->training = is_training;
    e->stem = arena_text(&e->arena, "%s", stem);
    e->source = arena_text(&e->arena, "%s/%s/%s", contest->title, is_training ? "train" : "inference", stem);
    int rc = read_both(e, json, json_count, tsv, tsv_count);
    if (rc < 0) dawnbench_free(e);
    else *into = e;
    return rc;
}

void dawnbench_free(struct dawnbench_entry *e)
{
    if (e == NULL) return;
    text_free(&e->quirks);
    arena_free(&e->arena);
    free(e);
}

void dawnbench_archive_free(struct dawnbench_archive *archive)
{
    for (int i = 0; i < archive->count; i++) dawnbench_free(archive->at[i]);
    free(archive->at);
    *archive = (struct dawnbench_archive){0};
}
