// SPDX-License-Identifier: Apache-2.0
// Sentences as people type them, in the form of the training text.
#include "data/read/bitext/bitext.h"
#include "data/text/unicode.h"
#include "tasks/common/words/bleu.h"
#include "tasks/common/words/detokenize.h"
#include "tasks/translation/pairs.h"

#include <string.h>

enum form { LOWER_CASE, CASED, PLAIN };
static int open_sentence(const struct dataset *like, struct bleu_line text, const char *sentence, enum form form,
                         struct dataset **into)
{
    struct text lines = {0};
    int rc = 0, number = 0;
    if (sentence) text = (struct bleu_line){sentence, strlen(sentence)};
    if (sentence && strchr(sentence, '\n')) return fail(ERR_USAGE, "--ask takes one line; --text takes many");
    if (sentence && bitext_is_blank(&(struct bitext_line){sentence, (int32_t)text.bytes}))
        return fail(ERR_USAGE, "--ask needs a sentence to translate");
    for (const char *at = text.at, *end = at + text.bytes, *stop; at < end && rc == 0; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        size_t bytes = (size_t)(stop - at), valid = unicode_valid(at, bytes);
        number++;
        if (valid < bytes) rc = fail(ERR_INPUT, "the text:%d: byte %zu of the line is not UTF-8", number, valid + 1);
        else if (form == PLAIN) text_bytes(&lines, at, bytes);
        else detokenize_reverse(at, bytes, form == LOWER_CASE, &lines);
        text_add(&lines, "\n");
    }
    if (rc == 0) rc = bitext_ask(like, lines.at ? lines.at : "", lines.length, into);
    text_free(&lines);
    return rc;
}

#define ASK(name, form)                                                                                                   \
    int name(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **into)         \
    {                                                                                                                     \
        return open_sentence(like, (struct bleu_line){text, n}, sentence, form, into);                                    \
    }
ASK(pairs_ask, LOWER_CASE)
ASK(pairs_ask_cased, CASED)
ASK(pairs_ask_plain, PLAIN)
