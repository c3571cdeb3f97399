// SPDX-License-Identifier: Apache-2.0
// One pass over argv. Names are compared with every row of the table; tables are small and this happens once.
#include "runtime/common/cli/options.h"

#include "runtime/common/base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT_MAX = 30 };

static void put_default(struct text *into, const struct option *o)
{
    switch (o->kind) {
    case OPTION_GROUP:
    case OPTION_INT:  // a value outside the bounds means that nothing was chosen
        if ((!o->low && !o->high) || (double)*(int64_t *)o->into >= o->low)
            text_add(into, " (default: %lld)", (long long)*(int64_t *)o->into);
        break;
    case OPTION_FLOAT:
        if (isfinite(*(double *)o->into)) text_add(into, " (default: %g)", *(double *)o->into);
        break;
    case OPTION_TEXT:
    case OPTION_PATH:
        if (*(const char **)o->into && **(const char **)o->into) text_add(into, " (default: %s)", *(const char **)o->into);
        break;
    case OPTION_FLAG:
        if (*(bool *)o->into) text_add(into, " (default: yes)");
        break;
    case OPTION_LIST: text_add(into, " (may be repeated)"); break;
    case OPTION_END: break;
    }
}

bool options_takes_value(const struct option *o)
{
    return o->kind != OPTION_FLAG;
}

void options_name(struct text *into, const struct option *o)
{
    bool cleared = o->kind == OPTION_FLAG && *(bool *)o->into;  // a flag that is set is there to be cleared
    text_add(into, "--%s%s", cleared ? "[no-]" : "", o->name);
}

void options_explain(struct text *into, const struct option *o)
{
    text_add(into, "%s", o->help ? o->help : "");
    put_default(into, o);
}

static void left_column(struct text *into, const struct option *o)
{
    if (o->letter) {
        text_add(into, "  -%c, ", o->letter);
    } else {
        text_add(into, "      ");
    }
    options_name(into, o);
    if (options_takes_value(o)) text_add(into, " %s", o->arg ? o->arg : "VALUE");
}

static void help_row(struct text *into, const struct option *o, int width)
{
    struct text left = {0}, right = {0};
    left_column(&left, o);
    options_explain(&right, o);
    text_add(into, "%s", left.at);
    int column = (int)left.length;
    if (column + 2 > width) {
        text_add(into, "\n");
        column = 0;
    }
    text_add(into, "%*s", width - column, "");
    text_wrap(into, right.at, width, width);
    text_add(into, "\n");
    text_free(&left);
    text_free(&right);
}

// The receiver of the table, if one replaces the help.
static _Thread_local struct {
    options_use use;
    void *with;
} asking;

static void print_help(const struct usage *usage)
{
    if (asking.use) {
        asking.use(usage, asking.with);
        return;
    }
    struct text help = {0};
    bool named = usage->command && *usage->command;
    text_add(&help, "Usage: %s%s%s %s\n", error_program, named ? " " : "", named ? usage->command : "",
             usage->operands ? usage->operands : "[OPTIONS]");
    if (usage->about) {
        text_add(&help, "\n");
        text_wrap(&help, usage->about, 0, 0);
        text_add(&help, "\n");
    }
    int width = (int)strlen("  -h, --help") + 2;
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++) {
        struct text left = {0};
        left_column(&left, o);
        int wanted = (int)left.length + 2;
        if (wanted > width && wanted <= LEFT_MAX) width = wanted;
        text_free(&left);
    }
    text_add(&help, "\nOptions:\n");
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++) help_row(&help, o, width);
    text_add(&help, "  -h, --help%*sshow this help\n", width - (int)strlen("  -h, --help"), "");
    if (usage->more) {
        size_t length = strlen(usage->more);
        text_add(&help, "\n%s%s", usage->more, length && usage->more[length - 1] == '\n' ? "" : "\n");
    }
    fputs(help.at, stdout);
    text_free(&help);
}

// A name as it was written, found in the table.
struct match {
    const struct option *option;  // NULL with `help`
    bool cleared;                 // --no-NAME
    bool help;
};

static int unknown(const struct usage *usage, const char *word)
{
    int count = 0;
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++) count++;
    const char **names = zalloc(sizeof *names * ((size_t)count + 2));
    bool sets = false;  // many take a key of a recipe for an option: --epochs 10
    for (int i = 0; i < count; i++) {
        names[i] = usage->options[i].name;
        sets = sets || (usage->options[i].kind == OPTION_LIST && !strcmp(names[i], "set"));
    }
    names[count] = "help";
    bool no = strncmp(word, "no-", 3) == 0;
    const char *near = text_nearest(word, names), *prefix = "";
    if (!near && no) {
        near = text_nearest(word + 3, names);
        for (int i = 0; near && i < count; i++) {
            if (names[i] == near && usage->options[i].kind == OPTION_FLAG) prefix = "no-";
        }
    }
    free(names);
    if (near) return fail(ERR_USAGE, "there is no option --%.60s; did you mean --%s%s?", word, prefix, near);
    return fail(ERR_USAGE, "there is no option --%.60s; \"%s %s -h\" lists them%s", word, error_program,
                usage->command ? usage->command : "", sets ? " (--set KEY=VALUE changes a key of the recipe)" : "");
}

// Exact names win; otherwise the only name with that beginning.
static int find(const struct usage *usage, const char *word, size_t length, struct match *found)
{
    struct match near = {0};
    char first[64] = "", second[64] = "";
    for (const struct option *o = usage->options;; o++) {
        bool end = o->kind == OPTION_END;  // after the table comes --help
        for (int no = 0; no <= (!end && o->kind == OPTION_FLAG); no++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", no ? "no-" : "", end ? "help" : o->name);
            if (strncmp(name, word, length) != 0) continue;
            struct match here = {end ? NULL : o, no, end};
            if (strlen(name) == length) {
                *found = here;
                return 0;
            }
            if (!*first) {
                memcpy(first, name, sizeof first), near = here;
            } else if (!*second) {
                memcpy(second, name, sizeof second);
            }
        }
        if (end) break;
    }
    if (*second && length) {
        return fail(ERR_USAGE, "--%.*s could be --%s or --%s; please write more of it", (int)length, word, first, second);
    }
    if (!*first || length == 0) {
        char *name = copy_text(word);
        name[length] = 0;
        int rc = unknown(usage, name);
        free(name);
        return rc;
    }
    *found = near;
    return 0;
}

static int store_int(const struct option *o, const char *value)
{
    const double edge = 9.2e18;
    bool free_range = o->low == 0 && o->high == 0;
    int64_t low = free_range || o->low < -edge ? INT64_MIN : (int64_t)o->low;
    int64_t high = free_range || o->high > edge ? INT64_MAX : (int64_t)o->high;
    return text_to_int(value + (o->kind == OPTION_GROUP && *value == 'g'), low, high, o->into);
}

static int store_float(const struct option *o, const char *value)
{
    bool free_range = o->low == 0 && o->high == 0;
    return text_to_double(value, free_range ? -INFINITY : o->low, free_range ? INFINITY : o->high, o->into);
}

static int store(const struct option *o, const char *value)
{
    int rc = 0;
    if (o->kind == OPTION_PATH && *value == 0)
        return fail(ERR_USAGE, "--%s must not be empty (%s)", o->name, o->arg ? o->arg : "VALUE");
    if (o->kind == OPTION_INT || o->kind == OPTION_GROUP) {
        rc = store_int(o, value);
    } else if (o->kind == OPTION_FLOAT) {
        rc = store_float(o, value);
    } else if (o->kind == OPTION_TEXT || o->kind == OPTION_PATH) {
        *(const char **)o->into = value;
    } else if (o->kind == OPTION_LIST) {
        struct option_list *list = o->into;
        if (list->count >= OPTION_LIST_MAX) {
            return fail(ERR_USAGE, "--%s is given more than %d times", o->name, OPTION_LIST_MAX);
        }
        list->word[list->count++] = value;
    } else {
        BUG("an option of no kind");
    }
    return rc < 0 ? fail_prefix(ERR_USAGE, "--%s ", o->name) : 0;
}

// The reader's position in argv.
struct reader {
    const struct usage *usage;
    char **argv;
    int argc, next;
};

// In "--data --threads 4" the value was most likely forgotten; "--data=--x" passes such a value on purpose.
static int value_after(struct reader *r, const struct option *o, const char **value)
{
    if (r->next >= r->argc || strncmp(r->argv[r->next], "--", 2) == 0) {
        return fail(ERR_USAGE, "--%s needs a value (%s)", o->name, o->arg ? o->arg : "VALUE");
    }
    *value = r->argv[r->next++];
    return 0;
}

static int long_option(struct reader *r, const char *word)
{
    size_t length = strcspn(word, "=");
    const char *value = word[length] ? word + length + 1 : NULL;
    struct match found = {0};
    TRY(find(r->usage, word, length, &found));
    if (found.help) {
        print_help(r->usage);
        return OPTIONS_HELPED;
    }
    const struct option *o = found.option;
    if (o->kind == OPTION_FLAG) {
        if (value) return fail(ERR_USAGE, "--%s%s takes no value", found.cleared ? "no-" : "", o->name);
        *(bool *)o->into = !found.cleared;
        return 0;
    }
    if (!value) TRY(value_after(r, o, &value));
    return store(o, value);
}

static int letters(struct reader *r, const char *at)
{
    for (; *at; at++) {
        const struct option *o = r->usage->options;
        while (o->kind != OPTION_END && o->letter != *at) o++;
        if (o->kind == OPTION_END) {
            return fail(ERR_USAGE, "there is no option -%c; \"%s %s -h\" lists them", *at, error_program,
                        r->usage->command ? r->usage->command : "");
        }
        if (o->kind == OPTION_FLAG) {
            *(bool *)o->into = true;
            continue;
        }
        const char *value = at + 1;  // "-n5"
        if (!*value) TRY(value_after(r, o, &value));
        return store(o, value);
    }
    return 0;
}

static bool is_letter_option(const struct usage *usage, const char *word)
{
    if (word[0] != '-' || !word[1] || word[1] == '-') return false;
    if (!strchr("0123456789.", word[1])) return true;
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++) {
        if (o->letter == word[1]) return true;
    }
    return false;  // a negative number
}

// Help is shown before any option is stored, so that it shows the true defaults. --help may stand anywhere.
static bool help_wanted(const struct usage *usage, int argc, char **argv)
{
    bool taken = false;
    for (const struct option *o = usage->options; o->kind != OPTION_END; o++) taken = taken || o->letter == 'h';
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || (!taken && strcmp(argv[i], "-h") == 0)) return true;
    }
    return false;
}

int options_parse(const struct usage *usage, int *argc, char **argv)
{
    struct reader r = {usage, argv, *argc, 1};
    int kept = *argc > 0 ? 1 : 0;
    if (help_wanted(usage, *argc, argv)) {
        print_help(usage);
        return OPTIONS_HELPED;
    }
    while (r.next < r.argc) {
        char *word = argv[r.next++];
        int rc = 0;
        if (strcmp(word, "--") == 0) {
            while (r.next < r.argc) argv[kept++] = argv[r.next++];
        } else if (strncmp(word, "--", 2) == 0) {
            rc = long_option(&r, word + 2);
        } else if (is_letter_option(usage, word)) {
            rc = letters(&r, word + 1);
        } else {
            argv[kept++] = word;
        }
        if (rc != 0) return rc;
    }
    if (kept < *argc) argv[kept] = NULL;
    *argc = kept;
    return 0;
}

int options_of(int (*run)(int argc, char **argv), const char *name, options_use use, void *with)
{
    char command[64], help[] = "--help", *argv[] = {command, help, NULL};
    snprintf(command, sizeof command, "%s", name);
    asking.use = use, asking.with = with;
    int rc = run(2, argv);
    asking.use = NULL;
    return rc < 0 ? rc : 0;
}
