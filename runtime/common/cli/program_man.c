// SPDX-License-Identifier: Apache-2.0
// Man pages in the macros of man(7), made from the tables that also parse and explain options, so that the two cannot differ.
// Invariant: every word of a table is escaped, so that troff takes none of it as a request.
#include "runtime/common/cli/program_inside.h"

#include "runtime/common/base/build.h"
#include "runtime/common/cli/options.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { LINE_COLUMNS = 72 };  // columns of the source, which people may read as well

struct page {
    const struct program *program;
    const char *path;  // "data fetch"
    bool part;         // of the page of a command that has sub-commands
    struct text *into;
};

static void put_escaped(struct text *into, const char *words, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        switch (words[i]) {
        case '\\': text_add(into, "\\e"); break;
        case '-': text_add(into, "\\-"); break;
        case '\'': text_add(into, "\\(aq"); break;
        case '`': text_add(into, "\\(ga"); break;
        case '^': text_add(into, "\\(ha"); break;
        case '~': text_add(into, "\\(ti"); break;
        case '"': text_add(into, "\\(dq"); break;
        case '.':
            if (i == 0) text_add(into, "\\&");  // at the start of a line it would be a request
            text_add(into, ".");
            break;
        default: text_bytes(into, words + i, 1);
        }
    }
}

static void put_upper(struct text *into, const char *words)
{
    for (; *words; words++) text_add(into, "%c", toupper((unsigned char)*words));
}

// One paragraph, filled. Line breaks in it are kept.
static void put_filled(struct text *into, const char *words, size_t length)
{
    int column = 0;
    for (size_t i = 0; i < length;) {
        if (words[i] == '\n') {
            text_add(into, "\n.br\n");
            column = 0, i++;
            continue;
        }
        if (words[i] == ' ') {
            i++;
            continue;
        }
        size_t word = strcspn(words + i, " \n");
        if (word > length - i) word = length - i;
        if (column > 0) {
            bool full = column + (int)word + 1 > LINE_COLUMNS;
            text_add(into, full ? "\n" : " ");
            column = full ? 0 : column + 1;
        }
        put_escaped(into, words + i, word);
        column += (int)word, i += word;
    }
    text_add(into, "\n");
}

// Paragraphs, which empty lines separate; `between` is the request before the second and later ones.
static void put_paragraphs(struct text *into, const char *words, const char *between)
{
    for (bool first = true; words != NULL && *words; first = false) {
        const char *end = strstr(words, "\n\n");
        if (!first) text_add(into, "%s\n", between);
        put_filled(into, words, end ? (size_t)(end - words) : strlen(words));
        if (!end) break;
        words = end + strspn(end, "\n");
    }
}

static bool is_heading(const char *line, size_t length)
{
    if (length < 2 || line[length - 1] != ':' || !isupper((unsigned char)*line)) return false;
    for (size_t i = 1; i + 1 < length; i++)
        if (!islower((unsigned char)line[i])) return false;
    return true;
}

// Notes and examples, line by line. A line such as "Examples:" begins a section.
static void put_verbatim(struct text *into, const char *words)
{
    bool open = false;
    for (const char *line = words; line != NULL && *line;) {
        size_t length = strcspn(line, "\n");
        bool heading = is_heading(line, length);
        if (heading || !open) {
            if (open) text_add(into, ".fi\n");
            text_add(into, ".SH ");
            for (size_t i = 0; heading && i + 1 < length; i++) text_add(into, "%c", toupper((unsigned char)line[i]));
            text_add(into, "%s\n.nf\n", heading ? "" : "NOTES");
            open = true;
        }
        if (!heading) {
            put_escaped(into, line, length);
            text_add(into, "\n");
        }
        line += length + (line[length] == '\n');
    }
    if (open) text_add(into, ".fi\n");
}

static void put_option(struct text *into, const struct option *o)
{
    struct text words = {0};
    text_add(into, ".TP\n");
    if (o->letter) text_add(into, "\\fB\\-%c\\fR, ", o->letter);
    options_name(&words, o);
    text_add(into, "\\fB");
    put_escaped(into, words.at, words.length);
    text_add(into, "\\fR");
    if (options_takes_value(o)) {
        const char *arg = o->arg ? o->arg : "VALUE";
        text_add(into, " \\fI");
        put_escaped(into, arg, strlen(arg));
        text_add(into, "\\fR");
    }
    text_add(into, "\n");
    text_free(&words);
    options_explain(&words, o);
    put_paragraphs(into, words.at, ".IP");
    text_free(&words);
}

static void put_options(struct text *into, const struct option *options)
{
    for (const struct option *o = options; o->kind != OPTION_END; o++) put_option(into, o);
    text_add(into, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow this help\n");
}

static void put_synopsis(const struct page *page, const char *operands)
{
    struct text name = {0};
    text_add(&name, "%s %s", page->program->name, page->path);
    text_add(page->into, "\\fB");
    put_escaped(page->into, name.at, name.length);
    text_add(page->into, "\\fR ");
    put_escaped(page->into, operands, strlen(operands));
    text_add(page->into, "\n");
    text_free(&name);
}

// All variables, or those that `named` has as $NAME.
static void put_environment(const struct program *program, const char *named, struct text *into)
{
    bool begun = false;
    for (const struct program_variable *v = program->variables; v != NULL && v->name != NULL; v++) {
        char word[64];
        snprintf(word, sizeof word, "$%s", v->name);
        if (named != NULL && strstr(named, word) == NULL) continue;
        text_add(into, "%s.TP\n.B %s\n", begun ? "" : ".SH ENVIRONMENT\n", v->name);
        put_filled(into, v->help, strlen(v->help));
        begun = true;
    }
    if (begun && named == NULL)
        text_add(into, ".PP\nAn option of the command line comes first, then the variable, then the default.\n"
                       "In a training, \\-\\-set and options such as \\-\\-batch come before the recipe.\n"
                       "An empty variable counts as one that is not set.\n");
}

// Every text of a table that may name a variable.
static void add_texts(const struct usage *usage, struct text *into)
{
    text_add(into, "%s %s", usage->about, usage->more ? usage->more : "");
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++) text_add(into, " %s", o->help);
}

// The table of a command, or of a sub-command as a section of its command's page.
static void put_table(const struct usage *usage, void *with)
{
    const struct page *page = with;
    if (page->part) {
        text_add(page->into, ".SH ");
        put_upper(page->into, page->path);
        text_add(page->into, "\n");
    } else {
        text_add(page->into, ".SH SYNOPSIS\n");
    }
    put_synopsis(page, usage->operands ? usage->operands : "[OPTIONS]");
    text_add(page->into, page->part ? ".PP\n" : ".SH DESCRIPTION\n");
    put_paragraphs(page->into, usage->about, ".PP");
    if (!page->part) text_add(page->into, ".SH OPTIONS\n");
    put_options(page->into, usage->options);
    put_verbatim(page->into, usage->more);
    struct text named = {0};
    add_texts(usage, &named);
    if (!page->part) put_environment(page->program, named.at, page->into);
    text_free(&named);
}

static void put_title(const struct program *program, const char *command, const char *help, struct text *into)
{
    struct text name = {0};
    text_add(&name, "%s%s%s", program->name, command ? "-" : "", command ? command : "");
    text_add(into, ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH ");
    put_upper(into, name.at);
    text_add(into, " 1 \"\" \"dawn %s\" \"DAWN\"\n.SH NAME\n", build_version());
    put_escaped(into, name.at, name.length);
    text_add(into, " \\- ");
    size_t length = strlen(help);
    put_escaped(into, help, length > 0 && help[length - 1] == '.' ? length - 1 : length);
    text_add(into, "\n");
    text_free(&name);
}

static void put_reference(const struct program *program, const char *command, const char *after, struct text *into)
{
    text_add(into, ".BR ");
    put_escaped(into, program->name, strlen(program->name));
    if (command) text_add(into, "\\-%s", command);
    text_add(into, " (1)%s\n", after);
}

static void put_program(const struct program *program, struct text *into)
{
    put_title(program, NULL, program->about, into);
    text_add(into, ".SH SYNOPSIS\n\\fB");
    put_escaped(into, program->name, strlen(program->name));
    text_add(into, "\\fR %s\n.SH COMMANDS\nEach has a page of its own.\n", program->usage);
    for (const struct program_command *c = program->commands; c->name != NULL; c++) {
        text_add(into, ".TP\n");
        put_reference(program, c->name, "", into);
        put_filled(into, c->help, strlen(c->help));
    }
    text_add(into, ".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the commands\n"
                   ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\nshow the version\n.SH EXAMPLES\n.nf\n");
    for (const char *line = program->first; *line;) {
        size_t length = strcspn(line, "\n");
        put_escaped(into, line, length);
        text_add(into, "\n");
        line += length + (line[length] == '\n');
    }
    text_add(into, ".fi\n.SH EXIT STATUS\n0: done. 1: failed. 2: wrong usage. 3: a target was missed. 130: interrupted.\n");
    put_environment(program, NULL, into);
    text_add(into, ".SH SEE ALSO\nDocuments that messages name (docs/NAME.md): share/doc/dawn of the installation\n.PP\n");
    for (const struct program_command *c = program->commands; c->name != NULL; c++)
        put_reference(program, c->name, c[1].name != NULL ? "," : "", into);
}

int program_man(const struct program *program, const char *name, struct text *into)
{
    if (name == NULL) {
        put_program(program, into);
        return 0;
    }
    const struct program_command *command = program_find(program->commands, name);
    const struct program_command *subs = program_subs(program, name);
    struct page page = {.program = program, .path = name, .into = into};
    put_title(program, name, command->help, into);
    TRY(options_of(command->run, name, put_table, &page));
    for (const struct program_command *c = subs; c != NULL && c->name != NULL; c++) {
        struct text path = {0};
        text_add(&path, "%s %s", name, c->name);
        page.path = path.at, page.part = true;
        int rc = options_of(c->run, c->name, put_table, &page);
        text_free(&path);
        if (rc < 0) return rc;
    }
    text_add(into, ".SH SEE ALSO\n");
    put_reference(program, NULL, "", into);
    return 0;
}
