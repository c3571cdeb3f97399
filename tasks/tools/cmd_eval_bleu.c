// SPDX-License-Identifier: Apache-2.0
// dawn eval bleu: scores the translations of any program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/unicode.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/options.h"
#include "tasks/commands.h"
#include "tasks/common/words/bleu.h"

enum { FILE_MOST = 1 << 30 };
static const char *const WORDS[] = {[BLEU_NONE] = "none", [BLEU_13A] = "13a", [BLEU_INTL] = "intl", [BLEU_T2T] = "t2t", NULL};

struct lines {
    char *bytes;
    size_t count, next;  // bytes of the file; where the next line begins
    int64_t number;      // of the last line that was read, from 1
};

// A line ends with \n or with the file; every other separator is part of it. Returns 1, or 0 at the end.
static int next_line(const char *path, struct lines *l, struct bleu_line *line)
{
    if (l->next >= l->count) return 0;
    const char *from = l->bytes + l->next, *end = memchr(from, '\n', l->count - l->next);
    line->at = from;
    line->bytes = end ? (size_t)(end - from) : l->count - l->next;
    l->next += line->bytes + 1;
    l->number++;
    size_t valid = unicode_valid(from, line->bytes);
    if (valid == line->bytes) return 1;
    return fail(ERR_INPUT, "%s:%lld: byte %zu of the line is not UTF-8", path, (long long)l->number, valid + 1);
}

static int score_lines(const char *const path[2], struct lines file[2], const struct bleu_rules *rules, struct bleu *bleu)
{
    for (;;) {
        struct bleu_line line[2];
        int more[2];
        for (int i = 0; i < 2; i++) TRY(more[i] = next_line(path[i], &file[i], &line[i]));
        if (!more[0] && !more[1]) return 0;
        if (more[0] != more[1])
            return fail(ERR_INPUT, "%s has %lld lines and %s has more: each reference needs one translation, on the same line",
                        path[more[1] != 0 ? 0 : 1], (long long)file[more[1] != 0 ? 0 : 1].number, path[more[1] != 0 ? 1 : 0]);
        bleu_add(bleu, rules, line[0], line[1]);
    }
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
    struct bleu_rules rules = {0};
    const struct option options[] = {
        {OPTION_TEXT, 't', "tokenize", "RULES", "13a, intl, t2t, or none for text in words", &tokenize, 0, 0},
        {OPTION_FLAG, 'l', "lowercase", NULL, "ignore case", &rules.lowercase, 0, 0},
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
    if (rc != 0) return rc == OPTIONS_HELPED ? 0 : rc;
    if (argc < 3) return fail(ERR_USAGE, "expected a file of references and a file of translations");
    if (argc > 3) return fail(ERR_USAGE, "eval bleu does not take \"%.60s\"", argv[3]);
    while (rules.words < BLEU_T2T && strcmp(WORDS[rules.words], tokenize) != 0) rules.words++;
    if (strcmp(WORDS[rules.words], tokenize) != 0) return fail_unknown(ERR_USAGE, "set of rules", tokenize, WORDS, NULL);
    struct lines file[2] = {0};
    struct bleu bleu = {0};
    for (int i = 0; i < 2 && rc == 0; i++) rc = file_read(argv[1 + i], FILE_MOST, &file[i].bytes, &file[i].count);
    if (rc == 0) rc = score_lines((const char *const[]){argv[1], argv[2]}, file, &rules, &bleu);
    if (rc == 0) {
        struct bleu_score score = bleu_score(&bleu);
        if (json) print_json(&bleu, &score, &rules);
        else print_score(&bleu, &score);
    }
    for (int i = 0; i < 2; i++) free(file[i].bytes);
    return rc;
}
