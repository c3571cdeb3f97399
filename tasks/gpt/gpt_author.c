// SPDX-License-Identifier: Apache-2.0
#include "tasks/gpt/gpt_author.h"

#include "data/read/text/corpus.h"
#include "runtime/common/base/text.h"
#include "tasks/gpt/gpt_network.h"

#include <stdlib.h>

void gpt_mark_symbols(struct step *s, const struct dataset *data)
{
    const struct corpus_symbols *symbols = corpus_symbols(data);
    char hex[DIGEST_HEX];
    if (!symbols) return;
    digest_bytes(symbols->symbol, (size_t)symbols->count, hex);
    step_mark(s, "characters-of-training-text", hex);
}

static void write_next(struct step *s)
{
    struct graph *g = s->g;
    gpt_mark_symbols(s, s->setting->feed[FEED_TEST]->data);
    int token = step_slot(s, AUTHOR_TOKEN, SHAPE(1), I32), at = step_slot(s, AUTHOR_AT, SHAPE(1), I32);
    int logits = g_cast(g, gpt_logits(s, gpt_next(s, token, at)), F32);
    step_keep(s, step_slot(s, AUTHOR_NEXT, SHAPE(1, gpt_tokens(s->setting)), F32), logits);
}

static int read_prompt(const struct dataset *data, const char *text, size_t n, int32_t **tokens, int64_t *count)
{
    const struct corpus_symbols *symbols = corpus_symbols(data);
    if (!symbols)
        return fail(ERR_UNSUPPORTED, "%s has tokens and no characters, and no tokenizer of it is here: --prompt needs a task of "
                    "characters", dataset_facts(data)->title);
    if (n == 0) text = "\n", n = 1;  // a text begins with a line
    *tokens = zalloc(n * sizeof **tokens), *count = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        int32_t id = (*tokens)[i] = symbols->id[(unsigned char)text[i]];
        if (id >= 0) continue;
        free(*tokens);
        return fail(ERR_USAGE, "--prompt: byte %zu (0x%02x) is none of the %d characters of %s", i + 1, (unsigned char)text[i],
                    symbols->count, dataset_facts(data)->title);
    }
    return 0;
}

static void tell_token(const struct dataset *data, int32_t token, struct text *into)
{
    const struct corpus_symbols *symbols = corpus_symbols(data);
    if (symbols && token >= 0 && token < symbols->count) text_bytes(into, &symbols->symbol[token], 1);
}

static const struct task_program programs[] = {{"write", PROGRAM_INFER, FEED_NONE, 0, write_next}, {0}};
const struct author gpt_author = {.programs = programs, .places = gpt_block, .tokens = gpt_tokens, .read = read_prompt,
                                  .tell = tell_token};
