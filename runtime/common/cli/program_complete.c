// SPDX-License-Identifier: Apache-2.0
// Completes an unfinished command line with commands, options and known values, all from the tables. The shells' scripts
// (.package/) ask the program and show its answer. Cost: one start of the program for each press of the key.
#include "runtime/common/cli/program_inside.h"

#include "runtime/common/cli/options.h"

#include <stdio.h>

enum { OPERANDS_MAX = 16, BEYOND = 1000 };

struct asked {
    const struct program *program;
    const char *command;  // its name; "" if there is none
    int argc;             // words after the command, the last one unfinished
    char **argv;
    const char *operand[OPERANDS_MAX];  // those among the finished words
    int operands;
    const char *word;     // the unfinished word, without `before`
    char before[64];      // "--name=" of the form --name=value
    struct text *into;
};

// An explanation is one line, which shells show next to the word.
static void offer(struct asked *a, const char *word, size_t length, const char *help)
{
    size_t begun = strlen(a->word);
    if (length < begun || strncmp(word, a->word, begun) != 0) return;
    text_add(a->into, "%s%.*s\t", a->before, (int)length, word);
    for (const char *c = help; *c; c++) text_add(a->into, "%c", *c == '\n' || *c == '\t' ? ' ' : *c);
    text_add(a->into, "\n");
}

static void offer_commands(struct asked *a, const struct program_command *commands)
{
    for (const struct program_command *c = commands; c->name != NULL; c++) offer(a, c->name, strlen(c->name), c->help);
}

static void offer_words(struct asked *a, const struct program_words *words)
{
    struct text list = {0};
    words->add(&list);
    for (const char *line = list.at; line != NULL && *line;) {
        size_t length = strcspn(line, "\n");
        if (length > 0) offer(a, line, length, "");
        line += length + (line[length] == '\n');
    }
    text_free(&list);
}

static bool offer_known(struct asked *a, const char *where)
{
    for (const struct program_words *w = a->program->words; w != NULL && w->where != NULL; w++) {
        if (strcmp(w->where, where) != 0) continue;
        offer_words(a, w);
        return true;
    }
    return false;
}

static bool is_literal(const char *token)
{
    return *token != 0 && strspn(token, "abcdefghijklmnopqrstuvwxyz-") == strlen(token);
}

static const char *const files[] = {"FILE", "PATH", "SRC", "DST", NULL}, *const folders[] = {"DIR", "FOLDER", NULL};

static bool is_one_of(const char *word, const char *const *list)
{
    while (*list != NULL && strcmp(*list, word) != 0) list++;
    return *list != NULL;
}

// A token of a table: "TASK", "NAME|DIR", "list", "results.db".
static void offer_token(struct asked *a, const char *token)
{
    while (*token) {
        size_t length = strcspn(token, "|");
        char part[64], where[130];
        snprintf(part, sizeof part, "%.*s", (int)length, token);
        snprintf(where, sizeof where, "%s %s", a->command, part);
        token += length + (token[length] == '|');
        if (is_literal(part)) {
            offer(a, part, strlen(part), "");
        } else if (offer_known(a, where) || offer_known(a, part)) {
            continue;
        } else if (strchr(part, '.') != NULL || is_one_of(part, files)) {  // results.db
            text_add(a->into, ":files\n");
        } else if (is_one_of(part, folders)) {
            text_add(a->into, ":folders\n");
        }
    }
}

static void offer_value(struct asked *a, const struct option *o)
{
    char where[80];
    snprintf(where, sizeof where, "--%s", o->name);
    offer_known(a, where);
    if (o->arg) offer_token(a, o->arg);
}

static void next_token(const char **at, char token[64])
{
    *at += strspn(*at, " ");
    size_t length = **at && strchr("[]", **at) ? 1 : strcspn(*at, " []");
    snprintf(token, 64, "%.*s", (int)length, *at);
    *at += length;
}

// Cuts the dots off "RUN..."; true if there were any.
static bool cut_dots(char *token)
{
    size_t length = strlen(token);
    if (length < 3 || strcmp(token + length - 3, "...") != 0) return false;
    token[length - 3] = 0;
    return true;
}

// Reads "[list | show [RUN] | import FILE [NAME]] [OPTIONS]", up to the end of a bracket. `here` operands precede it.
// Offers each token at the position of the unfinished word, unless another word than the table's stands before it. Returns how
// many operands stand before what follows.
static int read_operands(struct asked *a, const char **at, const int before)
{
    int here = before, most = before;
    for (;;) {
        char token[64];
        next_token(at, token);
        if (here < BEYOND && here > most) most = here;
        if (*token == 0 || strcmp(token, "]") == 0 || strcmp(token, "--") == 0) return most;
        if (strcmp(token, "|") == 0) {
            here = before;
        } else if (strcmp(token, "[") == 0) {
            here = read_operands(a, at, here);
        } else if (strncmp(token, "--", 2) == 0) {  // "--reason TEXT": an option, completed from its row
            next_token(at, token);
        } else if (strcmp(token, "OPTIONS") != 0) {
            bool repeated = cut_dots(token) && here < a->operands;  // "RUN...": one or more
            if (here == a->operands || repeated) offer_token(a, token);
            if (here < a->operands && is_literal(token) && strcmp(token, a->operand[here]) != 0) here = BEYOND;
            here++;
        }
    }
}

static const struct option *option_named(const struct usage *usage, const char *name, size_t length)
{
    const struct option *near = NULL;
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++) {
        if (strncmp(o->name, name, length) != 0) continue;
        if (strlen(o->name) == length) return o;
        near = o;  // a beginning is enough, as in options_parse
    }
    return near;
}

static const struct option *option_lettered(const struct usage *usage, char letter)
{
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++)
        if (o->letter && o->letter == letter) return o;
    return NULL;
}

// Sorts the finished words into options and operands. Returns the option whose value is the unfinished word, or NULL.
static const struct option *read_finished(struct asked *a, const struct usage *usage, bool *rest)
{
    const struct option *open = NULL;
    for (int i = 0; i + 1 < a->argc; i++) {
        const char *word = a->argv[i];
        const struct option *o = NULL;
        if (open) {
            open = NULL;
        } else if (!*rest && strcmp(word, "--") == 0) {
            *rest = true;
        } else if (!*rest && strncmp(word, "--", 2) == 0) {
            size_t length = strcspn(word + 2, "=");
            if (!word[2 + length]) o = option_named(usage, word + 2, length);
            open = o && options_takes_value(o) ? o : NULL;
        } else if (!*rest && word[0] == '-' && word[1]) {
            if (!word[2]) o = option_lettered(usage, word[1]);
            open = o && options_takes_value(o) ? o : NULL;
        } else if (a->operands < OPERANDS_MAX) {
            a->operand[a->operands++] = word;
        }
    }
    return open;
}

static void offer_options(struct asked *a, const struct usage *usage)
{
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++) {
        struct text name = {0}, help = {0};
        bool set = o->kind == OPTION_FLAG && *(bool *)o->into;
        text_add(&name, "--%s%s", set ? "no-" : "", o->name);
        options_explain(&help, o);
        offer(a, name.at, name.length, help.at ? help.at : "");
        text_free(&name);
        text_free(&help);
    }
    offer(a, "--help", strlen("--help"), "show this help");
}

static void complete_in(const struct usage *usage, void *with)
{
    struct asked *a = with;
    bool rest = false;
    const struct option *open = read_finished(a, usage, &rest);
    const char *equals = strchr(a->word, '='), *at = usage->operands ? usage->operands : "";
    if (open) {
        offer_value(a, open);
    } else if (rest) {  // a command that is run: its words are the shell's to complete
        text_add(a->into, ":files\n");
    } else if (strncmp(a->word, "--", 2) == 0 && equals) {
        const struct option *o = option_named(usage, a->word + 2, (size_t)(equals - a->word) - 2);
        snprintf(a->before, sizeof a->before, "%.*s", (int)(equals - a->word) + 1, a->word);
        a->word = equals + 1;
        if (o && options_takes_value(o)) offer_value(a, o);
    } else if (a->word[0] == '-') {
        offer_options(a, usage);
    } else {
        read_operands(a, &at, 0);
    }
}

// The first word: a command, or an option of the program.
static int complete_first(struct asked *a)
{
    offer_commands(a, a->program->commands);
    offer(a, "help", strlen("help"), "show the commands, or the help of one");
    if (a->word[0] != '-') return 0;
    offer(a, "--version", strlen("--version"), "show the version");
    if (a->program->otherwise) return options_of(a->program->otherwise, a->program->name, complete_in, a);
    offer(a, "--help", strlen("--help"), "show the commands");
    return 0;
}

int program_complete(const struct program *program, int argc, char **argv, struct text *into)
{
    if (argc < 1) return 0;
    struct asked a = {.program = program, .command = "", .argc = argc, .argv = argv, .word = argv[argc - 1], .into = into};
    if (argc == 1) return complete_first(&a);
    if (program->otherwise && argv[0][0] == '-') return options_of(program->otherwise, program->name, complete_in, &a);
    if (strcmp(argv[0], "help") == 0) {
        if (argc == 2) offer_commands(&a, program->commands);
        return 0;
    }
    const struct program_command *command = program_find(program->commands, argv[0]);
    if (!command) return 0;
    a.command = command->name, a.argc--, a.argv++;
    const struct program_command *subs = program_subs(program, command->name), *sub;
    if (subs && a.argc == 1) offer_commands(&a, subs);
    if (subs && a.argc > 1 && (sub = program_find(subs, a.argv[0])) != NULL) command = sub, a.argc--, a.argv++;
    return options_of(command->run, command->name, complete_in, &a);
}
