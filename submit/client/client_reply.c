// SPDX-License-Identifier: Apache-2.0
// Pure parsers of a scoreboard's answers. Invariant: the returned text cannot steer a terminal and is never longer than its
// limit. Cost: one pass.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "runtime/common/base/arena.h"
#include "submit/client/client.h"
#include "submit/format/canonical.h"

enum { SENTENCE_MAX = 600, CHECKS_MAX = 64, CHECK_TEXT_MAX = 300 };

void client_tame(struct text *into, const char *words, size_t limit)
{
    while (*words == ' ') words++;
    size_t count = strlen(words);
    while (count > 0 && words[count - 1] == ' ') count--;
    bool cut = count > limit, good = canonical_check_words(words, count) == 0 && canonical_check_marks(words, count) == 0;
    if (cut) count = limit;
    while (cut && count > 0 && ((unsigned char)words[count] & 0xc0) == 0x80) count--;  // keeps characters whole
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)words[i];
        if (c == '\n' || c == '\t') text_add(into, " ");
        else text_add(into, "%c", (good || (c >= 0x20 && c < 0x7f)) ? c : '?');
    }
    if (cut) text_add(into, " ...");
}

int client_member(const char *json, size_t count, const char *name, char **text)
{
    *text = NULL;
    if (count > CLIENT_REPLY_MAX) return fail(ERR_INPUT, "the answer is too long");
    json_t *value = json_loadb(json, count, JSON_REJECT_DUPLICATES, NULL);
    const json_t *member = json_object_get(value, name);
    const char *words = json_string_value(member);
    bool good = words != NULL && strlen(words) == json_string_length(member);
    if (good) *text = copy_text(words);
    json_decref(value);
    return good ? 0 : fail(ERR_INPUT, "the answer has no text named %s", name);
}

int client_object(const char *json, size_t count, const char *name, char **text)
{
    *text = NULL;
    if (count > CLIENT_REPLY_MAX) return fail(ERR_INPUT, "the answer is too long");
    json_t *value = json_loadb(json, count, JSON_REJECT_DUPLICATES, NULL);
    const json_t *member = json_object_get(value, name);
    if (json_is_object(member)) *text = json_dumps(member, JSON_COMPACT);
    json_decref(value);
    return *text != NULL ? 0 : fail(ERR_INPUT, "the answer has no object named %s", name);
}

static const char *text_of(const json_t *object, const char *name)
{
    const char *words = json_string_value(json_object_get(object, name));
    return words != NULL ? words : "";
}

static void add_checks(const json_t *list, struct text *into)
{
    size_t i;
    json_t *check;
    json_array_foreach((json_t *)list, i, check)
    {
        if (i == CHECKS_MAX) {
            text_add(into, "  and %zu more\n", json_array_size(list) - i);
            return;
        }
        struct text line = {0};
        const char *level = text_of(check, "level"), *code = text_of(check, "code");
        client_tame(&line, *level ? level : "check", 16);
        text_add(&line, " ");
        client_tame(&line, code, 40);
        text_add(&line, ": ");
        client_tame(&line, text_of(check, "text"), CHECK_TEXT_MAX);
        text_add(into, "  %s\n", line.at);
        text_free(&line);
    }
}

int client_wrong(struct text *t, const char *label, const char *sentence)
{
    struct text words = {0};
    client_tame(&words, sentence, ERROR_TEXT_MAX);
    text_entry(t, label, "WRONG: %s", words.at != NULL ? words.at : "");
    text_free(&words);
    return 1;
}

void client_problem(const char *body, size_t count, struct text *sentence, struct text *checks)
{
    json_t *problem = count <= CLIENT_REPLY_MAX ? json_loadb(body, count, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *title = text_of(problem, "title"), *detail = text_of(problem, "detail");
    if (*title) client_tame(sentence, title, SENTENCE_MAX / 2);
    if (*title && *detail) text_add(sentence, ": ");
    if (*detail) client_tame(sentence, detail, SENTENCE_MAX / 2);
    if (!*title && !*detail) text_add(sentence, "it gives no reason that could be read");
    if (checks != NULL) add_checks(json_object_get(problem, "checks"), checks);
    json_decref(problem);
}

bool client_conflict(const char *sentence, char digest[DIGEST_HEX])
{
    const char *at = strstr(sentence, " answers 409: ");
    while (at != NULL && *at != 0) {
        size_t length = strspn(at, "0123456789abcdef");
        if (length == DIGEST_HEX - 1) {
            snprintf(digest, DIGEST_HEX, "%s", at);
            return true;
        }
        at += length > 0 ? length : 1;
    }
    return false;
}
