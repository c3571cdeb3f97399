// SPDX-License-Identifier: Apache-2.0
// Two passes: the first finds the pages to write, by asking for each page and reading its links; the second writes. So a
// link's target is known to be there when it is written, in any order. Invariant: every relative link of the copy leads to
// one of its files.
#include "scoreboard/site/site.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/base/hash.h"
#include "scoreboard/site/site_inside.h"
#include "submit/format/copy_path.h"

enum { API_PAGE = 50, API_LAST = 200 };

struct target {
    char *address, *path;
    bool good;  // it answered
};
struct site {
    const struct site_settings *settings;
    struct server_settings server;  // as the handlers see it
    struct reader *reader;
    struct target *targets;
    int count, capacity;
    int *slots;                     // open addressing over `targets`, -1: free
    int slot_count;
    struct text note;               // the checkpoint
    struct checkpoint head;
    struct site_folder folder;
};

// ---- the set of addresses
static int *slot_of(struct site *s, const char *address)
{
    size_t i = (size_t)hash_text64(address) & (size_t)(s->slot_count - 1);
    while (s->slots[i] >= 0 && strcmp(s->targets[s->slots[i]].address, address) != 0) i = (i + 1) & (size_t)(s->slot_count - 1);
    return &s->slots[i];
}

static void grow_slots(struct site *s)
{
    s->slot_count = s->slot_count > 0 ? s->slot_count * 2 : 1024;
    s->slots = grow(s->slots, (size_t)s->slot_count * sizeof *s->slots);
    for (int i = 0; i < s->slot_count; i++) s->slots[i] = -1;
    for (int i = 0; i < s->count; i++) *slot_of(s, s->targets[i].address) = i;
}

static const struct target *find_target(struct site *s, const char *address)
{
    const int i = s->slot_count > 0 ? *slot_of(s, address) : -1;
    return i >= 0 && s->targets[i].good ? &s->targets[i] : NULL;
}

// What needs a server, and what changes without the record.
static bool needs_server(const char *address)
{
    static const char *const dynamic[] = {"/search", "/compare", "/api/v1/health", "/api/v1/keys/"};
    for (size_t i = 0; i < sizeof dynamic / sizeof *dynamic; i++)
        if (strncmp(address, dynamic[i], strlen(dynamic[i])) == 0) return true;
    return false;
}

static void want(struct site *s, const char *address)
{
    struct text path = {0};
    if (needs_server(address)) return;
    if (s->count * 2 >= s->slot_count) grow_slots(s);
    int *slot = slot_of(s, address);
    if (*slot >= 0) return;
    if (s->count == s->capacity) {
        s->capacity = s->capacity > 0 ? s->capacity * 2 : 512;
        s->targets = grow(s->targets, (size_t)s->capacity * sizeof *s->targets);
    }
    copy_path(address, &path);
    s->targets[s->count] = (struct target){.address = copy_text(address), .path = path.at};
    *slot = s->count++;
}

static void want_format(struct site *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void want_format(struct site *s, const char *format, ...)
{
    char address[512];
    va_list args;
    va_start(args, format);
    vsnprintf(address, sizeof address, format, args);
    va_end(args);
    want(s, address);
}

// ---- asking a handler
// ERR_MISSING and ERR_INPUT: there is no such page.
static int answer_address(struct site *s, const char *address, struct answer *answer)
{
    char word[REQUEST_WORDS][256], *whole = copy_text(address), *query = strchr(whole, '?');
    struct text path = {0};
    bool others;
    int rc;
    *answer = (struct answer){.status = 200, .type = "text/html; charset=utf-8"};
    if (query != NULL) *query++ = 0;
    const struct route *route = NULL;
    if (site_file_name(whole, &path)) route = route_find(s->settings->routes, "GET", path.at, word, &others);
    if (route == NULL) {
        rc = fail(ERR_MISSING, "there is no address %.200s", address);
    } else {
        struct request request = {.path = path.at, .query = query, .body = "", .store = s->settings->store, .reader = s->reader,
                                  .settings = &s->server};
        for (int i = 0; i < REQUEST_WORDS; i++) request.word[i] = word[i];
        rc = route->run(&request, answer);
        if (rc == 0 && answer->status != 200) rc = fail(ERR_MISSING, "%.200s answers %d", address, answer->status);
    }
    if (rc < 0) text_free(&answer->body);
    text_free(&path);
    free(whole);
    return rc;
}

// A CSV in parts becomes one: the rows of the next parts follow, without their heads.
static int add_parts(struct site *s, struct answer *answer)
{
    while (answer->next[0] != 0) {
        struct answer next;
        TRY(answer_address(s, answer->next, &next));
        const char *rows = next.body.at != NULL ? memchr(next.body.at, '\n', next.body.length) : NULL;
        if (rows != NULL) text_bytes(&answer->body, rows + 1, next.body.length - (size_t)(rows + 1 - next.body.at));
        memcpy(answer->next, next.next, sizeof answer->next);
        text_free(&next.body);
    }
    return 0;
}

static bool has_links(const struct answer *answer)
{
    return strncmp(answer->type, "text/html", 9) == 0 || strncmp(answer->type, "application/atom+xml", 20) == 0;
}

// ---- the first pass
static void take_links(struct site *s, const char *from, const struct answer *answer)
{
    struct site_link link;
    for (size_t at = 0; site_next_link(answer->body.at, answer->body.length, &at, &link);) {
        struct text to = {0};
        bool absolute;
        site_address_of(answer->body.at + link.value, link.end - 1 - link.value, from, s->server.url, &to, &absolute);
        to.at[strcspn(to.at, "#")] = 0;
        if (*to.at != 0 && (strchr(from, '?') == NULL || site_is_followed(to.at))) want(s, to.at);
        text_free(&to);
    }
}

// A machine's JSON names the next part of its measurements by a number.
static void take_older(struct site *s, const char *from, const struct answer *answer)
{
    if (strncmp(from, "/api/v1/machines/", strlen("/api/v1/machines/")) != 0 || answer->body.at == NULL) return;
    json_t *machine = json_loadb(answer->body.at, answer->body.length, 0, NULL);
    const json_t *next = json_object_get(machine, "next");
    if (json_is_integer(next))
        want_format(s, "%.*s?before=%lld", (int)strcspn(from, "?"), from, (long long)json_integer_value(next));
    json_decref(machine);
}

// A board's JSON names its next part by a cursor alone, which is the last key of a query.
static void take_next_part(struct site *s, const char *from, const struct answer *answer)
{
    if (strncmp(from, "/api/v1/boards/", strlen("/api/v1/boards/")) != 0 || answer->body.at == NULL) return;
    json_t *board = json_loadb(answer->body.at, answer->body.length, 0, NULL);
    const char *next = json_string_value(json_object_get(board, "next")), *cursor = strstr(from, "cursor=");
    const int stem = cursor != NULL ? (int)(cursor - from) - 1 : (int)strlen(from);
    if (next != NULL) want_format(s, "%.*s%ccursor=%s", stem, from, memchr(from, '?', (size_t)stem) != NULL ? '&' : '?', next);
    json_decref(board);
}

static int visit(struct site *s, int i)
{
    struct answer answer;
    char *address = s->targets[i].address;
    int rc = answer_address(s, address, &answer);
    if (rc == ERR_MISSING || rc == ERR_INPUT) return 0;
    TRY(rc);
    s->targets[i].good = true;
    if (has_links(&answer) && answer.body.at != NULL) take_links(s, address, &answer);
    take_next_part(s, address, &answer);
    take_older(s, address, &answer);
    text_free(&answer.body);
    return 0;
}

static void want_boards(struct site *s)
{
    int count;
    const struct contest *contests = contest_table(&count);
    for (int i = 0; i < count; i++) {
        for (int b = 0; b < BOARDS; b++) {
            want_format(s, "/api/v1/boards/%s/%s", contests[i].name, board_word((enum board)b));
            want_format(s, "/api/v1/boards/%s/%s/history", contests[i].name, board_word((enum board)b));
        }
    }
}

static int want_statements(struct site *s)
{
    int64_t after = 0;
    for (int count = API_LAST; count == API_LAST;) {
        struct arena arena = {0};
        struct stored *list;
        int rc = store_log(s->reader, after, API_LAST, &arena, &list, &count);
        for (int i = 0; rc == 0 && i < count; i++) {
            const long long number = (long long)list[i].sequence;
            after = list[i].sequence;
            want_format(s, "/runs/%lld", number);
            want_format(s, "/api/v1/statements/%lld", number);
            want_format(s, "/api/v1/statements/%lld/payload", number);
            want_format(s, "/api/v1/statements/%lld/signature", number);
            want_format(s, "/api/v1/statements/%lld/receipt", number);
            if (*list[i].handle != 0) want_format(s, "/api/v1/people/%s", list[i].handle);
            if (*list[i].group != 0) want_format(s, "/api/v1/groups/%s", list[i].group);
            if (number % API_PAGE == 0) want_format(s, "/api/v1/statements?after=%lld", number);
        }
        arena_free(&arena);
        TRY(rc);
    }
    return 0;
}

static int want_machines(struct site *s)
{
    struct arena arena = {0};
    struct machines some = {0};
    int rc;
    do {
        rc = store_machines(s->reader, some.next, API_LAST, &arena, &some);
        for (int i = 0; rc == 0 && i < some.count; i++) want_format(s, "/api/v1/machines/%s", some.at[i].word);
        if (rc == 0 && some.next != NULL) want_format(s, "/api/v1/machines?before=%s", some.next);
    } while (rc == 0 && some.next != NULL);
    arena_free(&arena);
    return rc;
}

static int want_tile(void *context, const struct tile *tile)
{
    char path[TILE_PATH];
    want_format(context, "/log/%s", tile_write_path(tile, path));
    return 0;
}

static int find_targets(struct site *s)
{
    for (const struct route *route = s->settings->routes; route->method != NULL; route++)
        if (strcmp(route->method, "GET") == 0 && strchr(route->pattern, '{') == NULL) want(s, route->pattern);
    want_boards(s);
    TRY(want_statements(s));
    TRY(want_machines(s));
    TRY(tile_each(s->head.size, want_tile, s));
    for (int i = 0; i < s->count; i++) TRY(visit(s, i));
    return 0;
}

// ---- the second pass
static void write_link(struct site *s, const struct target *from, const char *value, size_t count, const char *name,
                       struct text *into)
{
    struct text to = {0};
    bool absolute;
    site_address_of(value, count, from->address, s->server.url, &to, &absolute);
    const size_t length = strcspn(to.at, "#");
    struct text rest = {0};
    text_add(&rest, "%s", to.at + length);
    to.at[length] = 0;
    const struct target *target = find_target(s, to.at);
    if (*to.at == 0) {  // elsewhere, or on this page
        text_add(into, "%s%.*s\"", name, (int)count, value);
    } else if (target != NULL) {
        text_add(into, "%s", name);
        if (absolute && s->settings->base != NULL) text_add(into, "%s%s", s->settings->base, target->path);
        else site_relative(from->path, target->path, into);
        text_add(into, "%s\"", rest.at);
    }
    text_free(&to);
    text_free(&rest);
}

static void write_links(struct site *s, const struct target *from, const struct text *body, struct text *into)
{
    struct site_link link;
    size_t at = 0, done = 0;
    while (site_next_link(body->at, body->length, &at, &link)) {
        char name[8];
        text_bytes(into, body->at + done, link.begin - done);
        snprintf(name, sizeof name, "%.*s", (int)(link.value - link.begin), body->at + link.begin);
        write_link(s, from, body->at + link.value, link.end - 1 - link.value, name, into);
        done = link.end;
    }
    text_bytes(into, body->at + done, body->length - done);
}

static int write_target(struct site *s, const struct target *t)
{
    struct answer answer;
    struct text body = {0}, name = {0};
    if (strcmp(t->address, "/log/checkpoint") == 0)  // the one of the moment that all else shows
        return site_folder_add(&s->folder, t->path, s->note.at, s->note.length);
    TRY(answer_address(s, t->address, &answer));
    int rc = add_parts(s, &answer);
    if (rc == 0 && answer.body.at == NULL) text_add(&answer.body, "%s", "");
    if (rc == 0 && has_links(&answer)) write_links(s, t, &answer.body, &body);
    const struct text *out = has_links(&answer) ? &body : &answer.body;
    if (rc == 0 && !site_file_name(t->path, &name)) rc = fail(ERR_INPUT, "%.200s cannot be the name of a file", t->path);
    if (rc == 0) rc = site_folder_add(&s->folder, name.at, out->at, out->length);
    text_free(&answer.body);
    text_free(&body);
    text_free(&name);
    return rc;
}

static int write_targets(struct site *s)
{
    TRY(site_folder_begin(&s->folder, s->settings->folder));
    for (int i = 0; i < s->count; i++)
        if (s->targets[i].good) TRY(write_target(s, &s->targets[i]));
    TRY(site_folder_add(&s->folder, "/.nojekyll", "", 0));  // or GitHub Pages would leave files out
    return site_folder_commit(&s->folder);
}

// ---- all of it
static int write_site(struct site *s)
{
    TRY(store_reader(s->settings->store, &s->reader));
    TRY(store_hold(s->settings->store, s->reader, &s->note, &s->head));
    TRY(find_targets(s));
    return write_targets(s);
}

int site_write(const struct site_settings *settings, struct site_written *written)
{
    struct site s = {.settings = settings};
    s.server = (struct server_settings){.routes = settings->routes, .store = settings->store, .copy_ms = settings->now_ms,
                                        .url = settings->base != NULL ? settings->base : "http://THIS-SITE"};
    int rc = write_site(&s);
    *written = (struct site_written){s.folder.files, s.folder.bytes, s.head.size};
    site_folder_end(&s.folder);
    store_reader_close(s.reader);
    for (int i = 0; i < s.count; i++) {
        free(s.targets[i].address);
        free(s.targets[i].path);
    }
    free(s.targets);
    free(s.slots);
    text_free(&s.note);
    return rc;
}
