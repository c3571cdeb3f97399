// SPDX-License-Identifier: Apache-2.0
// The rules of a request's head. Invariant: a head that passes has one reading only. Hidden bytes are found by counting:
// libmicrohttpd reports the length of the head, and the head rebuilt from the parsed lines must have the same length. So no
// line was folded, cut at a NUL or ended by a bare CR or LF. Cost: one pass over the head.
#include "scoreboard/http/http_guard.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_token(char c)  // RFC 9110: a character of a name of a method or field
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_named(const char *name, size_t count, const char *wanted)
{
    return count == strlen(wanted) && strncasecmp(name, wanted, count) == 0;
}

static void copy_value(char *into, size_t capacity, const char *value, size_t count)
{
    if (count >= capacity) {
        strcpy(into, "?");
        return;
    }
    memcpy(into, value, count);
    into[count] = 0;
}

static bool is_host(const char *value, size_t count)
{
    if (count == 0 || count > 255) return false;
    for (size_t i = 0; i < count; i++)
        if (value[i] <= ' ' || value[i] > '~' || strchr("/\\@?#\"<>,;", value[i]) != NULL) return false;
    return true;
}

void guard_line(struct guard *guard, const char *name, size_t name_count, const char *value, size_t value_count)
{
    guard->written += name_count + value_count + 4;
    if (value_count == 0) guard->empty++;
    if (name_count == 0) guard->broken = true;
    for (size_t i = 0; i < name_count; i++)
        if (!is_token(name[i])) guard->broken = true;
    for (size_t i = 0; i < value_count; i++)
        if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 127) guard->broken = true;
    if (is_named(name, name_count, "Host")) {
        guard->hosts++;
        if (!is_host(value, value_count)) guard->broken = true;
    } else if (is_named(name, name_count, "Content-Length")) {
        guard->lengths++;
        copy_value(guard->length, sizeof guard->length, value, value_count);
    } else if (is_named(name, name_count, "Transfer-Encoding")) {
        guard->codings++;
    } else if (is_named(name, name_count, "Content-Type")) {
        guard->types++;
        copy_value(guard->type, sizeof guard->type, value, value_count);
    }
}

bool guard_bodiless(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0 || strcmp(method, "OPTIONS") == 0;
}

enum problem guard_head(const struct guard *guard, const char *method, const char *target, size_t head,
                        const char **detail)
{
    const size_t written = strlen(method) + strlen(target) + strlen("  HTTP/1.1\r\n\r\n") + guard->written;
    *detail = NULL;
    if (head > GUARD_HEAD) {
        *detail = "the request line and the headers together have more than 16 KiB";
        return PROBLEM_HEADERS;
    }
    if (guard->hosts != 1) *detail = "there must be exactly one Host header";
    else if (guard->lengths > 1) *detail = "there is more than one Content-Length header";
    else if (guard->codings > 0) *detail = "Transfer-Encoding is not supported; send Content-Length";
    else if (guard->broken) *detail = "a header holds characters that do not belong there";
    else if (guard_bodiless(method) && guard->lengths > 0) *detail = "this method has no body and no Content-Length";
    else if (head > written || head + (size_t)guard->empty < written)
        *detail = "a header line is not written as \"Name: value\", ended by CR and LF";
    return *detail != NULL ? PROBLEM_MALFORMED : PROBLEM_NONE;
}

static int hex_of(char c)
{
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// Bytes of the well-formed UTF-8 sequence at `at`, 0 when there is none (overlong, surrogate, beyond the planes, cut).
static int utf8_step(const unsigned char *at)
{
    if (at[0] < 0x80) return 1;
    int more = at[0] >= 0xc2 && at[0] <= 0xdf ? 1 : (at[0] & 0xf0) == 0xe0 ? 2 : at[0] >= 0xf0 && at[0] <= 0xf4 ? 3 : 0;
    if (more == 0) return 0;
    for (int i = 1; i <= more; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if (at[0] == 0xe0 && at[1] < 0xa0) return 0;
    if (at[0] == 0xed && at[1] > 0x9f) return 0;
    if (at[0] == 0xf0 && at[1] < 0x90) return 0;
    if (at[0] == 0xf4 && at[1] > 0x8f) return 0;
    return more + 1;
}

static const char *check_text(const char *path)
{
    for (const unsigned char *at = (const unsigned char *)path; *at != 0;) {
        int step = utf8_step(at);
        if (step == 0) return "the path is not UTF-8";
        if (*at < ' ' || *at == 127 || (*at == 0xc2 && at[1] < 0xa0)) return "the path holds a control character";
        if (*at == '\\') return "the path holds a backslash";
        at += step;
    }
    return NULL;
}

static const char *check_parts(const char *path)
{
    for (const char *at = path; at != NULL; at = strchr(at + 1, '/')) {
        size_t count = strcspn(at + 1, "/");
        if (count == 1 && at[1] == '.') return "the path holds a part \".\"";
        if (count == 2 && at[1] == '.' && at[2] == '.') return "the path holds a part \"..\"";
    }
    return NULL;
}

static const char *decode(const char *raw, size_t count, char *path)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        if (raw[i] <= ' ' || raw[i] > '~') return "the path holds a byte that must be percent-encoded";
        if (raw[i] != '%') {
            path[length++] = raw[i];
            continue;
        }
        if (count - i < 3 || hex_of(raw[i + 1]) < 0 || hex_of(raw[i + 2]) < 0)
            return "a percent sign is not followed by two hexadecimal digits";
        char c = (char)(hex_of(raw[i + 1]) << 4 | hex_of(raw[i + 2]));
        if (c == 0) return "the path holds a NUL";
        if (c == '/') {
            memcpy(path + length, "%2F", 3);
            length += 3;
        } else {
            path[length++] = c;
        }
        i += 2;
    }
    path[length] = 0;
    return NULL;
}

enum problem guard_target(const char *target, char path[GUARD_PATH + 1], const char **query, const char **detail)
{
    size_t count = strcspn(target, "?");
    const char *mark = target[count] == '?' ? target + count + 1 : NULL;
    *query = NULL;
    *detail = NULL;
    if (target[0] != '/') *detail = "the address must begin with a slash";
    else if (count > GUARD_PATH) *detail = "the path has more than 2 KiB";
    else if (mark != NULL && strlen(mark) > GUARD_QUERY) *detail = "the query has more than 4 KiB";
    else *detail = decode(target, count, path);
    for (const char *at = mark; *detail == NULL && at != NULL && *at != 0; at++)
        if (*at <= ' ' || *at > '~' || *at == '#') *detail = "the query holds a byte that must be percent-encoded";
    if (*detail == NULL) *detail = check_text(path);
    if (*detail == NULL) *detail = check_parts(path);
    if (*detail != NULL) return PROBLEM_MALFORMED;
    *query = mark;
    return PROBLEM_NONE;
}

static bool is_json(const char *type)
{
    const size_t count = strlen("application/json");
    return strncasecmp(type, "application/json", count) == 0 && (type[count] == 0 || type[count] == ';' || type[count] == ' ');
}

enum problem guard_body(const struct guard *guard, size_t *count, const char **detail)
{
    *count = 0;
    if (guard->lengths == 0) {
        *detail = "a Content-Length header must say how many bytes are to come";
        return PROBLEM_LENGTH;
    }
    bool digits = guard->length[0] != 0;
    for (const char *at = guard->length; *at != 0 && *at != '?'; at++)
        if (!is_digit(*at)) digits = false;
    if (!digits) {
        *detail = "Content-Length is not a whole number in digits";
        return PROBLEM_MALFORMED;
    }
    if (guard->length[0] == '?' || strtoull(guard->length, NULL, 10) > GUARD_BODY) {
        *detail = "the request declares a body of more than 1,048,576 bytes";
        return PROBLEM_TOO_LARGE;
    }
    if (guard->types != 1 || !is_json(guard->type)) {
        *detail = "Content-Type must be application/json";
        return PROBLEM_MEDIA;
    }
    *count = (size_t)strtoull(guard->length, NULL, 10);
    return PROBLEM_NONE;
}

bool guard_matches(const char *if_none_match, const char *tag)
{
    const size_t count = strlen(tag);
    const char *at = if_none_match;
    if (strcmp(at, "*") == 0) return true;
    while (*at != 0) {
        at += strspn(at, " \t,");
        if (strncmp(at, "W/", 2) == 0) at += 2;
        if (strncmp(at, tag, count) == 0) return true;  // the tag ends with its own quote
        if (*at == '"') at++;
        at += strcspn(at, "\"");
        if (*at == '"') at++;
        at += strcspn(at, ",");
    }
    return false;
}
