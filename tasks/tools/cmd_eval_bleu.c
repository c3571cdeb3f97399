// SPDX-License-Identifier: Apache-2.0
// dawn eval bleu: scores the translations of any program.
#include <stdio.h>
#include <string.h>

#include "runtime/common/base/text.h"
#include "runtime/common/cli/options.h"
#include "tasks/commands.h"
#include "tasks/common/words/bleu.h"
#include "tasks/tools/line_pairs.h"

static const char *const WORDS[] = {[BLEU_NONE] = "none", [BLEU_13A] = "13a", [BLEU_INTL] = "intl", [BLEU_T2T] = "t2t", NULL};

struct scored {
    struct bleu_rules rules;
    struct bleu bleu;
};

static int score_pair(void *context, const struct line_pair *pair)
{
    struct scored *s = context;
    const struct bleu_line reference = {pair->at[0], pair->bytes[0]}, hypothesis = {pair->at[1], pair->bytes[1]};
    bleu_add(&s->bleu, &s->rules, reference, hypothesis);
    return 0;
}

static void print_json(const struct bleu *b, const struct bleu_score *s, const struct bleu_rules *rules)
{
    printf("{\"bleu\": %.17g, \"brevity\": %.17g, \"precisions\": [", s->score, s->brevity);
    for (int i = 0; i < BLEU_ORDERS; i++) printf("%s%.17g", i > 0 ? ", " : "", s->precision[i]);
    printf("], \"matched\": [");
    for (int i = 0; i < BLEU_ORDERS; i++) printf("%s%lld", i > 0 ? ", " : "", (long long)b->matched[i]);
    printf("], \"found\": [");
    for (int i = 0; i < BLEU_ORDERS; i++) printf("%s%lld", i > 0 ? ", " : "", (long long)b->found[i]);
    printf("], \"hypothesis\": %lld, \"reference\": %lld, \"tokenize\": \"%s\", \"lowercase\": %s}\n", (long long)b->hypothesis,
           (long long)b->reference, WORDS[rules->words], rules->lowercase ? "true" : "false");
}

static void print_score(const struct bleu *b, const struct bleu_score *s)
{
    char ours[TEXT_FIGURE], theirs[TEXT_FIGURE];
    printf("BLEU     %.2f\n", s->score);
    printf("matches  %.1f%% of words, %.1f%% of pairs, %.1f%% of threes, %.1f%% of fours\n", s->precision[0], s->precision[1],
           s->precision[2], s->precision[3]);
    printf("length   %s words, the references have %s (brevity penalty %.3f)\n", text_count(ours, b->hypothesis),
           text_count(theirs, b->reference), s->brevity);
}

int cmd_eval_bleu(int argc, char **argv)
{
    const char *tokenize = WORDS[BLEU_13A];
    bool json = false;
    struct scored scored = {0};
    struct bleu_rules *const rules = &scored.rules;
    const struct option options[] = {
        {OPTION_TEXT, 't', "tokenize", "RULES", "13a, intl, t2t, or none for text in words", &tokenize, 0, 0},
        {OPTION_FLAG, 'l', "lowercase", NULL, "ignore case", &rules->lowercase, 0, 0},
        {OPTION_FLAG, 'j', "json", NULL, "one JSON object with all counts", &json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        "eval bleu", "REFERENCES TRANSLATIONS [OPTIONS]",
        "Scores translations by BLEU, as sacrebleu 2.6 does with one reference per line. Both files are UTF-8 and have the same "
        "number of lines; only a line feed ends a line.",
        options,
        "Examples:\n  dawn eval bleu test.de mine.de\n  dawn eval bleu test.tok.de mine.tok.de --tokenize none --lowercase\n",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc < 3) return fail(ERR_USAGE, "expected a file of references and a file of translations");
    if (argc > 3) return fail(ERR_USAGE, "eval bleu does not take \"%.60s\"", argv[3]);
    while (rules->words < BLEU_T2T && strcmp(WORDS[rules->words], tokenize) != 0) rules->words++;
    if (strcmp(WORDS[rules->words], tokenize) != 0) return fail_unknown(ERR_USAGE, "set of rules", tokenize, WORDS, NULL);
    TRY(line_pairs_read((const char *const[]){argv[1], argv[2]}, "each reference needs one translation", score_pair, &scored));
    struct bleu_score score = bleu_score(&scored.bleu);
    if (json) print_json(&scored.bleu, &score, &scored.rules);
    else print_score(&scored.bleu, &score);
    return 0;
}
