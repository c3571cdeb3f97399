// SPDX-License-Identifier: Apache-2.0
// Filters of a board and their query strings. Invariant: filter_read and filter_write are inverse to each other. The bytes come
// from strangers: a pure parser with limits, fuzzed.
// Workload: every request of a board. Cost: microseconds.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/rank/board.h"
#include "submit/format/canonical.h"

enum { FILTER_QUERY = 4096, FILTER_KEY = 24, FILTER_MANY = 1 << 20 };
#define FILTER_JOULES ((int64_t)1 << 40)

static const char *const sort_words[SORTS] = {
#define SORT(name, word) word,
    SORT_LIST
#undef SORT
};

enum kind { TEXT, PART, WORD, NUMBER, JOULES, DAY, RANK, TRUST_LEVEL, TARGET, SORT_COLUMN, ORDER, LIMIT, CURSOR };
#define MEMBER(member) offsetof(struct filter, member), sizeof ((struct filter *)0)->member
#define TEXT_KEY(name, kind, words, what) {#name, kind, MEMBER(name), words, what}
#define KEY(name, kind, member, what) {name, kind, MEMBER(member), NULL, what}
static const char *const divisions[] = {"closed", "open"}, *const sources[] = {"dawn", "dawnbench"};
static const char *const rank_words[] = {"classic", "group"}, *const orders[] = {"asc", "desc"};
static const char *const trust_words[TRUSTS] = {
#define TRUST(name, word, title, what) word,
    TRUST_LIST
#undef TRUST
};
// The keys, in the order of the canonical query string.
static const struct key {
    const char *name;
    enum kind kind;
    size_t at, capacity;
    const char *const *words;  // WORD: the two that are allowed; NULL: any of plain characters
    const char *what;
} keys[] = {
    KEY("rank", RANK, rank, "Single runs, or official groups"),
    TEXT_KEY(hardware, TEXT, NULL, "The whole value, case-insensitive; with a leading ~, a part"),
    TEXT_KEY(framework, TEXT, NULL, "As hardware"),
    TEXT_KEY(author, TEXT, NULL, "The whole value, case-insensitive"),
    TEXT_KEY(model, TEXT, NULL, "As hardware"),
    {"model_part", PART, MEMBER(model) - 1, NULL, "A part of the model's name"},
    TEXT_KEY(precision, WORD, NULL, "Number format"),
    TEXT_KEY(division, WORD, divisions, "closed: a model and recipe of DAWN; open: anything"),
    KEY("trust", TRUST_LEVEL, trust, "At least this level; if absent, checked, or imported with source=dawnbench"),
    KEY("devices", NUMBER, devices, "Exactly this many"),
    KEY("devices_max", NUMBER, devices_max, "At most this many"),
    KEY("views_max", NUMBER, views_max, "At most this many forward passes per item"),
    KEY("energy_max", JOULES, energy_max, "At most this many joules to the target; without a known energy, no row passes"),
    TEXT_KEY(since, DAY, NULL, "YYYY-MM-DD"),
    TEXT_KEY(until, DAY, NULL, "YYYY-MM-DD"),
    KEY("target", TARGET, target_micro, "One of the task's targets, as a share such as 0.94"),
    TEXT_KEY(source, WORD, sources, "Runs submitted here, or the archive"),
    KEY("sort", SORT_COLUMN, sort, "Column"),
    KEY("order", ORDER, descending, "Direction"),
    KEY("limit", LIMIT, limit, "Rows of an answer"),
    TEXT_KEY(cursor, CURSOR, NULL, "`next` of the previous page"),
};
enum { KEYS = sizeof keys / sizeof keys[0], FILTER_LIMIT_DEFAULT = 50 };

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Percent-decoding of `count` bytes; the result never holds a NUL or another control character.
static int decode(const char *from, size_t count, const char *key, char *into, size_t capacity)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)from[i];
        if (c == '+') c = ' ';
        if (c == '%') {
            int high = i + 2 < count ? hex_digit(from[i + 1]) : -1, low = i + 2 < count ? hex_digit(from[i + 2]) : -1;
            if (high < 0 || low < 0) return fail(ERR_INPUT, "broken percent-encoding in %s", key);
            c = (unsigned char)(high * 16 + low);
            i += 2;
        }
        if (c < 0x20 || c == 0x7f) return fail(ERR_INPUT, "a control character in %s", key);
        if (length + 1 >= capacity) return fail(ERR_INPUT, "%s is longer than %zu bytes", key, capacity - 1);
        into[length++] = (char)c;
    }
    into[length] = 0;
    return 0;
}

static bool plain_word(const char *word)
{
    return word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")] == 0;
}

static bool day_exists(const char *day)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (int i = 0; i < 10; i++)
        if ((i == 4 || i == 7) ? day[i] != '-' : (day[i] < '0' || day[i] > '9')) return false;  // also if it ends early
    if (day[10] != 0) return false;
    int year = atoi(day), month = atoi(day + 5), number = atoi(day + 8);
    if (year < 1 || month < 1 || month > 12) return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return number >= 1 && number <= lengths[month - 1] + (month == 2 && leap);
}

// "0.73" as millionths, without a detour through fractions of two.
static int read_target(const char *word, int64_t *into)
{
    bool one = word[0] == '1';
    int64_t micro = 0;
    size_t places = 0;
    if ((word[0] == '0' || one) && word[1] == '.') {
        places = strspn(word + 2, "0123456789");
        if (places > 6 || word[2 + places] != 0) places = 0;
        for (size_t i = 0; i < 6 && places > 0; i++) micro = micro * 10 + (i < places ? word[2 + i] - '0' : 0);
    }
    if (strcmp(word, "1") == 0 || (one && places > 0 && micro == 0)) micro = 1000000;
    else if (one || places == 0) micro = 0;
    if (micro < 1) return fail(ERR_INPUT, "target is a share such as 0.94, with at most 6 places");
    *into = micro;
    return 0;
}

static int read_choice(const char *value, const char *key, const char *const *words, int count, int *into)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], value) != 0) continue;
        *into = i;
        return 0;
    }
    struct text list = {0};
    text_list(&list, words, count, " or ");
    int rc = fail(ERR_INPUT, "%s is %s", key, list.at);
    text_free(&list);
    return rc;
}

static int read_number(const char *value, const char *key, int64_t high, int64_t *into)
{
    if (value[strspn(value, "0123456789")] != 0 || text_to_int(value, 1, high, into) < 0)
        return fail(ERR_INPUT, "%s is a whole number from 1 to %lld", key, (long long)high);
    return 0;
}

static int read_words(const struct key *key, char *value)
{
    size_t length = strlen(value), lead = strspn(value, " ");
    while (length > lead && value[length - 1] == ' ') length--;
    memmove(value, value + lead, length - lead);
    value[length - lead] = 0;
    bool part = value[0] == '~';
    if (part && strcmp(key->name, "author") == 0) return fail(ERR_INPUT, "author is matched whole, without ~");
    const char *rest = value + part;
    if (part && *rest == 0) return fail(ERR_INPUT, "%s: ~ must be followed by a part of the text", key->name);
    if (*rest != 0 && rest[strspn(rest, " ")] != 0) {
        while (*rest == ' ') rest++;  // "~ 4" searches for a blank, too
        if (canonical_check_words(rest, strlen(rest)) < 0)
            return fail(ERR_INPUT, "%s holds characters that cannot be shown", key->name);
    }
    return 0;
}

static int read_enumerated(const struct key *key, const char *value, struct filter *f)
{
    int index = 0;
    switch (key->kind) {
    case RANK:
        TRY(read_choice(value, key->name, rank_words, RANKS, &index));
        f->rank = (enum rank)index;
        return 0;
    case TRUST_LEVEL:
        TRY(read_choice(value, key->name, trust_words, TRUSTS, &index));
        f->trust = (enum trust)index;
        return 0;
    case SORT_COLUMN:
        if (strcmp(value, "accuracy") == 0) value = "score";  // its former name
        TRY(read_choice(value, key->name, sort_words, SORTS, &index));
        f->sort = (enum sort)index;
        return 0;
    default:
        TRY(read_choice(value, key->name, orders, 2, &index));
        f->descending = index == 1;
        return 0;
    }
}

static int read_value(const struct key *key, char *value, struct filter *f)
{
    char *into = (char *)f + key->at;
    int64_t number;
    int index;
    switch (key->kind) {
    case TEXT:
        TRY(read_words(key, value));
        break;
    case PART:
        TRY(read_words(key, value));
        if (value[0] != '~' && value[0] != 0) *into++ = '~';
        break;
    case WORD:
        if (key->words != NULL) TRY(read_choice(value, key->name, key->words, 2, &index));
        else if (!plain_word(value)) return fail(ERR_INPUT, "%s is a word of letters and digits", key->name);
        break;
    case DAY:
        if (!day_exists(value)) return fail(ERR_INPUT, "%s is a day, as 2026-01-31", key->name);
        break;
    case CURSOR:
        if (value[strspn(value, "0123456789")] != 0 || text_to_int(value, 1, INT64_MAX, &number) < 0 || value[0] == '0')
            return fail(ERR_INPUT, "cursor must be the `next` of an earlier page");
        break;
    case NUMBER:
    case JOULES:
        TRY(read_number(value, key->name, key->kind == JOULES ? FILTER_JOULES : FILTER_MANY, &number));
        memcpy(into, &number, sizeof number);
        return 0;
    case LIMIT:
        TRY(read_number(value, key->name, FILTER_LIMIT, &number));
        f->limit = (int)number;
        return 0;
    case TARGET: return read_target(value, &f->target_micro);
    default: return read_enumerated(key, value, f);
    }
    memcpy(into, value, strlen(value) + 1);  // decode() kept it inside its capacity
    return 0;
}

static int read_pair(const char *pair, size_t count, bool seen[KEYS], struct filter *f)
{
    const char *equals = memchr(pair, '=', count);
    size_t name_count = equals != NULL ? (size_t)(equals - pair) : count;
    char name[FILTER_KEY], value[FILTER_TEXT];
    if (name_count >= sizeof name) return fail(ERR_INPUT, "no key of a filter is as long as \"%.*s...\"", FILTER_KEY, pair);
    TRY(decode(pair, name_count, "the key of a filter", name, sizeof name));
    if (canonical_check_words(name, strlen(name)) < 0)
        return fail(ERR_INPUT, "the key of a filter holds characters that cannot be shown");
    int i = 0;
    while (i < KEYS && strcmp(keys[i].name, name) != 0) i++;
    if (i == KEYS) return fail(ERR_INPUT, "there is no filter \"%s\"", name);
    if (seen[i]) return fail(ERR_INPUT, "the key %s is given twice", name);
    seen[i] = true;
    if (equals == NULL) return 0;
    // A text must fit its member. Other values have sentences of their own.
    bool kept = keys[i].kind == TEXT || keys[i].kind == PART || keys[i].kind == WORD || keys[i].kind == CURSOR;
    size_t capacity = kept && keys[i].capacity < sizeof value ? keys[i].capacity : sizeof value;
    TRY(decode(equals + 1, count - name_count - 1, name, value, capacity));
    return value[0] != 0 ? read_value(&keys[i], value, f) : 0;
}

enum trust filter_default_trust(const struct filter *f)
{
    return strcmp(f->source, "dawnbench") == 0 ? TRUST_IMPORTED : TRUST_CHECKED;
}

struct filter filter_plain(const struct contest *contest, enum board board, enum rank rank)
{
    struct filter f;
    memset(&f, 0, sizeof f);  // padding too, so that equal filters are equal bytes
    f.contest = contest;
    f.board = board;
    f.rank = rank;
    f.trust = TRUST_CHECKED;
    f.limit = FILTER_LIMIT_DEFAULT;
    return f;
}

int filter_read(const char *query, struct filter *f)
{
    *f = filter_plain(f->contest, f->board, RANK_CLASSIC);
    if (query == NULL) return 0;
    f->trust = TRUSTS;  // not requested
    if (strnlen(query, FILTER_QUERY + 1) > FILTER_QUERY)
        return fail(ERR_INPUT, "the query is longer than %d bytes", FILTER_QUERY);
    bool seen[KEYS] = {false};
    while (*query != 0) {
        size_t count = strcspn(query, "&");
        if (count > 0) TRY(read_pair(query, count, seen, f));
        query += count + (query[count] == '&');
    }
    if (f->trust == TRUSTS) f->trust = filter_default_trust(f);
    return 0;
}

static void encode(const char *value, struct text *into)
{
    for (const unsigned char *c = (const unsigned char *)value; *c != 0; c++) {
        char one[2] = {(char)*c, 0};
        if (*c == ' ') text_add(into, "+");
        else if (*c < 0x80 && (plain_word(one) || *c == '~') && *c != '+') text_add(into, "%c", *c);
        else text_add(into, "%%%02X", *c);
    }
}

static void write_target(int64_t micro, struct text *into)
{
    char word[16];
    snprintf(word, sizeof word, "%d.%06d", micro >= 1000000, (int)(micro % 1000000));
    size_t length = strlen(word);
    while (word[length - 1] == '0' && word[length - 2] != '.') word[--length] = 0;
    text_add(into, "%s", word);
}

// The value of a key, or nothing if it is the default.
static void write_value(const struct key *key, const struct filter *f, struct text *into)
{
    const char *at = (const char *)f + key->at;
    int64_t number;
    switch (key->kind) {
    case PART: return;  // written as the text it became
    case RANK:
        if (f->rank != RANK_CLASSIC) text_add(into, "%s", rank_word(f->rank));
        return;
    case TRUST_LEVEL:
        if (f->trust != filter_default_trust(f)) text_add(into, "%s", trust_word(f->trust));
        return;
    case SORT_COLUMN:
        if (f->sort != SORT_PROOF) text_add(into, "%s", sort_words[f->sort]);
        return;
    case ORDER:
        if (f->descending) text_add(into, "desc");
        return;
    case LIMIT:
        if (f->limit > 0 && f->limit != FILTER_LIMIT_DEFAULT) text_add(into, "%d", f->limit);
        return;
    case TARGET:
        if (f->target_micro > 0) write_target(f->target_micro, into);
        return;
    case NUMBER:
    case JOULES:
        memcpy(&number, at, sizeof number);
        if (number > 0) text_add(into, "%lld", (long long)number);
        return;
    default: encode(at, into);
    }
}

int filter_keys(void)
{
    return KEYS;
}

void filter_key(int index, struct filter_key *into)
{
    const struct key *key = &keys[index];
    *into = (struct filter_key){.name = key->name, .what = key->what, .words = key->words, .word_count = key->words ? 2 : 0};
    switch (key->kind) {
    case RANK: into->words = rank_words, into->word_count = RANKS; break;
    case TRUST_LEVEL: into->words = trust_words, into->word_count = TRUSTS; break;
    case SORT_COLUMN: into->words = sort_words, into->word_count = SORTS; break;
    case ORDER: into->words = orders, into->word_count = 2; break;
    case NUMBER: into->high = FILTER_MANY; break;
    case JOULES: into->high = FILTER_JOULES; break;
    case LIMIT: into->high = FILTER_LIMIT; break;
    case DAY: into->pattern = "^([0-9]{4}-[0-9]{2}-[0-9]{2})?$"; break;
    case TARGET: into->pattern = "^(0\\.[0-9]{1,6}|1(\\.0{1,6})?)?$"; break;
    case CURSOR: into->pattern = "^([1-9][0-9]{0,18})?$"; break;
    case WORD: into->pattern = "^[A-Za-z0-9._+-]*$"; break;
    case TEXT:
    case PART: into->pattern = "^.{0,159}$"; break;
    default: break;
    }
    into->order = key->kind == SORT_COLUMN || key->kind == ORDER || key->kind == LIMIT || key->kind == CURSOR;
}

int filter_narrowing(const struct filter *f)
{
    int count = 0;
    for (int i = 0; i < KEYS; i++) {
        const char *at = (const char *)f + keys[i].at;
        int64_t number = 0;
        switch (keys[i].kind) {
        case TEXT:
        case WORD:
        case DAY: count += *at != 0; break;
        case NUMBER:
        case JOULES:
            memcpy(&number, at, sizeof number);
            count += number > 0;
            break;
        case TRUST_LEVEL: count += f->trust > filter_default_trust(f); break;
        case TARGET: count += f->target_micro > 0 && f->target_micro != f->contest->target_micro[0]; break;
        default: break;
        }
    }
    return count;
}

void filter_write(const struct filter *f, struct text *into)
{
    const char *between = "";
    for (int i = 0; i < KEYS; i++) {
        struct text value = {0};
        write_value(&keys[i], f, &value);
        if (value.length > 0) {
            text_add(into, "%s%s=", between, keys[i].name);
            text_bytes(into, value.at, value.length);
            between = "&";
        }
        text_free(&value);
    }
}
