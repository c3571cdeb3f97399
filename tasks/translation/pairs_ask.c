// SPDX-License-Identifier: Apache-2.0
// Sentences as people type them, in the form of the training text.
#include "data/read/bitext/bitext.h"
#include "data/text/unicode.h"
#include "tasks/translation/bleu.h"
#include "tasks/translation/pairs.h"

#include <stdlib.h>
#include <string.h>

// The tokenizer of Moses, which made the files, escapes these.
static const char *escape_of(int32_t c)
{
    return c == '&' ? "&amp;" : c == '\'' ? "&apos;" : c == '"' ? "&quot;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
}

static void add_line(struct text *into, const char *line, size_t n)
{
    static const struct bleu_rules rules = {BLEU_13A, true};
    size_t count;
    int32_t *code = bleu_split(&rules, (struct bleu_line){line, n}, &count);
    for (size_t i = 0; i < count; i++) {
        char bytes[UNICODE_BYTES];
        const char *escape = escape_of(code[i]);
        if (code[i] == '\'' && i > 0 && code[i - 1] != ' ') text_add(into, " ");  // "dog's" is two words
        if (escape) text_add(into, "%s", escape);
        else if (i + 1 < count || code[i] != ' ') text_bytes(into, bytes, (size_t)unicode_put(code[i], bytes));
    }
    text_add(into, "\n");
    free(code);
}

int pairs_ask(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **into)
{
    struct text lines = {0};
    const char *at = sentence ? sentence : text, *end = at + (sentence ? strlen(sentence) : n);
    if (sentence && strchr(sentence, '\n')) return fail(ERR_USAGE, "--ask takes one line; --text takes many");
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        add_line(&lines, at, (size_t)(stop - at));
        at = stop + 1;
    }
    int rc = bitext_ask(like, lines.at ? lines.at : "", lines.length, into);
    text_free(&lines);
    return rc;
}
