// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/infer/cmd_infer_terminal.h"

#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/program.h"
#include "tasks/common/step/player.h"

#include <stdio.h>
#include <stdlib.h>

// ---- a text that is written on

struct printed {
    bool json;
    struct text all;
};

static void print_written(void *context, const char *text, size_t n)
{
    struct printed *printed = context;
    if (printed->json) {
        text_bytes(&printed->all, text, n);
        return;
    }
    fwrite(text, 1, n, stdout);
    fflush(stdout);
}

int infer_terminal_writes(struct infer_options *o, const struct infer_writing *how, bool json)
{
    struct printed printed = {.json = json};
    struct infer_writing writing = *how;
    struct infer_figures figures;
    if (!o->task->author) return fail(ERR_USAGE, "task %s writes no texts", o->task->name);
    writing.print = print_written, writing.context = &printed;
    o->writing = &writing, o->singles = false;
    int rc = infer_measure(o, &figures);
    if (rc == 0 && printed.json)
        rc = json_text_line(json_pack("{ss ss sI}", "prompt", writing.prompt, "text", printed.all.at, "seed",
                                      (json_int_t)writing.seed));
    else if (rc == 0) putchar('\n');
    text_free(&printed.all);
    return rc;
}

// ---- games

static bool read_line(struct text *line)
{
    char *at = NULL;
    size_t capacity = 0;
    const ssize_t n = ferror(stdout) ? 0 : getline(&at, &capacity, stdin);  // nobody reads a game that cannot be printed
    if (n > 0) text_bytes(line, at, (size_t)n - (at[n - 1] == '\n'));
    free(at);
    return n > 0;
}

static void say_words(const char *words)
{
    fputs(words, stdout);
    fflush(stdout);
}

static int print_match(const struct infer_options *o, const struct match *m, bool json)
{
    const char *opponent = o->task->player->opponent;
    if (json)
        return json_text_line(json_pack("{ss sI sI sI sI}", "opponent", opponent, "games", (json_int_t)m->games, "won",
                                        (json_int_t)m->won, "drawn", (json_int_t)m->drawn, "lost", (json_int_t)m->lost));
    printf("%s\nof %lld games against %s: won %lld (%.1f%%),\ndrawn %lld, lost %lld\n", m->first.at, (long long)m->games,
           opponent, (long long)m->won, 100 * (double)m->won / (double)m->games, (long long)m->drawn, (long long)m->lost);
    return 0;
}

int infer_terminal_plays(struct infer_options *o, int64_t games, bool json)
{
    struct match m = {.games = games};
    const struct infer_playing playing = {games > 0 ? &m : NULL, read_line, say_words};
    struct infer_figures figures;
    if (!o->task->player) return fail(ERR_USAGE, "task %s plays no games", o->task->name);
    if (json && games == 0) return fail(ERR_USAGE, "--json is for --match: a game with a person is text");
    o->playing = &playing, o->singles = false;
    if (games > 0) program_status("playing %lld games", (long long)games);
    int rc = infer_measure(o, &figures);
    program_status_end();
    if (rc == 0 && games > 0) rc = print_match(o, &m, json);
    text_free(&m.first);
    return rc;
}
