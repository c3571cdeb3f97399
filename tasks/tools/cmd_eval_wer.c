// SPDX-License-Identifier: Apache-2.0
// dawn eval wer: scores the transcripts of any program.
#include <stdio.h>
#include <string.h>

#include "runtime/common/base/text.h"
#include "runtime/common/cli/options.h"
#include "tasks/commands.h"
#include "tasks/common/words/wer.h"
#include "tasks/tools/line_pairs.h"

enum { LINE_MOST = 8192 };  // characters: the distance takes memory with their square

struct scored {
    const char *const *path;
    bool spaces, names;
    int64_t lines;
    struct wer words, characters;
};

// Returns the bytes of the first word.
static size_t cut_name(struct wer_line *l)
{
    const char *space = memchr(l->at, ' ', l->bytes);
    size_t name = space ? (size_t)(space - l->at) : l->bytes;
    l->at += name, l->bytes -= name;
    return name;
}

static int cut_names(const struct scored *s, const struct line_pair *pair, struct wer_line line[2])
{
    size_t bytes[2];
    for (int i = 0; i < 2; i++) bytes[i] = cut_name(&line[i]);
    if (bytes[0] == bytes[1] && memcmp(pair->at[0], pair->at[1], bytes[0]) == 0) return 0;
    return fail(ERR_INPUT, "%s:%lld: the line begins with \"%.*s\" and that of %s with \"%.*s\": the names must agree",
                s->path[1], (long long)pair->number, (int)bytes[1], pair->at[1], s->path[0], (int)bytes[0], pair->at[0]);
}

static int score_pair(void *context, const struct line_pair *pair)
{
    struct scored *s = context;
    for (int i = 0; i < 2; i++)
        if (pair->bytes[i] > LINE_MOST)
            return fail(ERR_INPUT, "%s:%lld: the line has %zu bytes; at most %d are compared", s->path[i],
                        (long long)pair->number, pair->bytes[i], LINE_MOST);
    struct wer_line line[2] = {{pair->at[0], pair->bytes[0]}, {pair->at[1], pair->bytes[1]}};
    if (s->names) TRY(cut_names(s, pair, line));
    wer_words(&s->words, line[0], line[1]);
    wer_characters(&s->characters, line[0], line[1], s->spaces);
    s->lines++;
    return 0;
}

static void print_counts_json(const char *name, const struct wer *w)
{
    printf(", \"%s\": {\"reference\": %lld, \"hits\": %lld, \"substitutions\": %lld, \"insertions\": %lld, \"deletions\": %lld}",
           name, (long long)wer_reference(w), (long long)w->hits, (long long)w->substitutions, (long long)w->insertions,
           (long long)w->deletions);
}

static void print_json(const struct scored *s)
{
    printf("{\"wer\": %.17g, \"cer\": %.17g, \"utterances\": %lld", wer_rate(&s->words), wer_rate(&s->characters),
           (long long)s->lines);
    print_counts_json("words", &s->words);
    print_counts_json("characters", &s->characters);
    printf("}\n");
}

static void print_row(const char *name, const char *unit, const struct wer *w)
{
    char all[TEXT_FIGURE];
    printf("%-4s %6.2f%%  %lld of %s %s: %lld substituted, %lld inserted, %lld deleted\n", name, 100 * wer_rate(w),
           (long long)wer_errors(w), text_count(all, wer_reference(w)), unit, (long long)w->substitutions,
           (long long)w->insertions, (long long)w->deletions);
}

int cmd_eval_wer(int argc, char **argv)
{
    bool json = false;
    struct scored scored = {0};
    const struct option options[] = {
        {OPTION_FLAG, 's', "spaces", NULL, "count spaces in the character error rate, too", &scored.spaces, 0, 0},
        {OPTION_FLAG, 'n', "names", NULL, "each line begins with the name of its utterance, as Kaldi's texts do", &scored.names,
         0, 0},
        {OPTION_FLAG, 'j', "json", NULL, "one JSON object with all counts", &json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        "eval wer", "REFERENCES HYPOTHESES [OPTIONS]",
        "Scores transcripts by their word error rate (WER) and character error rate (CER), as jiwer 4.0 does: substitutions, "
        "insertions and deletions, summed over all lines, per word or character of the references. A rate may exceed 100%. "
        "Case and punctuation count. The CER leaves out spaces, as Deep Speech's does. Both files are UTF-8 and have the same "
        "number of lines; only a line feed ends a line. Of an utterance without an answer all words are deleted: its line is "
        "empty. A missing line is an error.",
        options,
        "Examples:\n  dawn eval wer test.txt mine.txt\n  dawn eval wer test.txt mine.txt --spaces --json\n",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc < 3) return fail(ERR_USAGE, "expected a file of references and a file of hypotheses");
    if (argc > 3) return fail(ERR_USAGE, "eval wer does not take \"%.60s\"", argv[3]);
    scored.path = (const char *const[]){argv[1], argv[2]};
    TRY(line_pairs_read(scored.path, "each reference needs one hypothesis", score_pair, &scored));
    if (json) print_json(&scored);
    else {
        print_row("WER", "words", &scored.words);
        print_row("CER", "characters", &scored.characters);
    }
    return 0;
}
