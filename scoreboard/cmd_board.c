// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard board TASK BOARD: a board in a terminal or for other programs. Values leave TSV, CSV and JSON in full
// precision, so that two programs can compare what they computed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/store/store.h"
#include "scoreboard/rank/table.h"

static const char *const formats[] = {"table", "tsv", "csv", "json", NULL};

static int find_contest(const char *word, const struct contest **into)
{
    const char *names[CONTESTS_MAX + 1] = {0};
    int count;
    const struct contest *table = contest_table(&count);
    for (int i = 0; i < count; i++) {
        names[i] = table[i].name;
        if (strcasecmp(table[i].name, word) != 0 && strcasecmp(table[i].title, word) != 0) continue;
        *into = &table[i];
        return 0;
    }
    return fail_unknown(ERR_USAGE, "task", word, names, NULL);
}

static int find_board(const char *word, enum board *into)
{
    const char *names[BOARDS + 1] = {0};
    if (board_find(word, into)) return 0;
    for (int i = 0; i < BOARDS; i++) names[i] = board_word((enum board)i);
    return fail_unknown(ERR_USAGE, "board", word, names, NULL);
}

// Options become a query string, so that the one parser of filters checks them.
static void add_key(struct text *query, const char *key, const char *value)
{
    if (value == NULL) return;
    text_add(query, "%s%s=", query->length > 0 ? "&" : "", key);
    for (; *value != 0; value++) text_add(query, "%%%02X", (unsigned char)*value);
}

// All pages, up to `limit` rows (0: all), in one list.
static int collect(struct reader *reader, struct filter *filter, int64_t limit, struct arena *arena, struct entries *all)
{
    struct entries page;
    int64_t capacity = 0;
    *all = (struct entries){0};
    do {
        int64_t left = limit - all->count;
        filter->limit = limit > 0 && left < FILTER_LIMIT ? (int)left : FILTER_LIMIT;
        TRY(store_entries(reader, filter, arena, &page));
        if (all->count + page.count > capacity) {
            capacity = 2 * (all->count + page.count);
            struct entry *larger = arena_alloc(arena, (size_t)capacity * sizeof *larger);
            if (all->count > 0) memcpy(larger, all->at, (size_t)all->count * sizeof *larger);
            all->at = larger;
        }
        if (page.count > 0) memcpy(all->at + all->count, page.at, (size_t)page.count * sizeof *page.at);
        all->count += page.count;
        all->total = page.total;
        all->below = page.below;
        snprintf(filter->cursor, sizeof filter->cursor, "%s", page.next != NULL ? page.next : "");
    } while (filter->cursor[0] != 0 && (limit == 0 || all->count < limit));
    return 0;
}

static int terminal_width(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 80) return size.ws_col;
    return isatty(STDOUT_FILENO) ? 80 : 120;
}

static int print_board(const char *db, struct filter *filter, int64_t limit, const char *format)
{
    const struct store_settings settings = {.path = db};
    struct store *store;
    struct reader *reader;
    struct arena arena = {0};
    struct entries entries;
    struct text text = {0};
    TRY(store_open(&settings, STORE_READ, &store));
    int rc = store_reader(store, &reader);
    if (rc == 0) {
        rc = collect(reader, filter, limit, &arena, &entries);
        if (rc == 0) table_write(format, filter, &entries, terminal_width(), &text);
        store_reader_close(reader);
    }
    store_close(store);
    if (text.length > 0) fwrite(text.at, 1, text.length, stdout);
    text_free(&text);
    arena_free(&arena);
    return rc;
}

static int known_format(const char *format)
{
    for (int i = 0; formats[i] != NULL; i++)
        if (strcmp(formats[i], format) == 0) return 0;
    return fail(ERR_USAGE, "the format is table, tsv, csv or json, not \"%.60s\"", format);
}

// The requested value; NULL: none.
struct asked {
    const char *rank, *hardware, *framework, *author, *model, *trust, *source, *since, *until, *target;
};

static int read_filter(const char *task, const char *board, const struct asked *a, struct filter *filter)
{
    const char *const keys[][2] = {{"rank", a->rank},     {"hardware", a->hardware}, {"framework", a->framework},
                                   {"author", a->author}, {"model", a->model},       {"trust", a->trust},
                                   {"source", a->source}, {"since", a->since},       {"until", a->until},
                                   {"target", a->target}};
    const struct contest *contest = NULL;
    enum board which = BOARD_TRAINING_TIME;
    struct text query = {0};
    TRY(find_contest(task, &contest));
    TRY(find_board(board, &which));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) add_key(&query, keys[i][0], keys[i][1]);
    int rc = filter_read(query.at, filter);
    text_free(&query);
    if (rc < 0) return rc == ERR_INPUT ? ERR_USAGE : rc;  // the sentence stays
    filter->contest = contest;
    filter->board = which;
    return 0;
}

int cmd_board(int argc, char **argv)
{
    const char *db = "scoreboard.db", *format = "table";
    struct asked a = {.rank = "classic"};
    int64_t limit = 0;
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the scoreboard's database", &db, 0, 0},
        {OPTION_TEXT, 'f', "format", "FORMAT", "table, tsv, csv or json", &format, 0, 0},
        {OPTION_TEXT, 0, "rank", "RANK", "classic: single runs; group: official groups", &a.rank, 0, 0},
        {OPTION_TEXT, 0, "hardware", "TEXT", "only this hardware; ~TEXT: any that contains it", &a.hardware, 0, 0},
        {OPTION_TEXT, 0, "framework", "TEXT", "only this framework, or ~TEXT", &a.framework, 0, 0},
        {OPTION_TEXT, 0, "author", "NAME", "only this author", &a.author, 0, 0},
        {OPTION_TEXT, 0, "model", "TEXT", "only this model, or ~TEXT", &a.model, 0, 0},
        {OPTION_TEXT, 0, "trust", "LEVEL", "at least this level, such as imported for all (default: checked)", &a.trust, 0, 0},
        {OPTION_TEXT, 0, "source", "WORD", "dawn: signed here; dawnbench: imported", &a.source, 0, 0},
        {OPTION_TEXT, 0, "since", "YYYY-MM-DD", "only from this day on", &a.since, 0, 0},
        {OPTION_TEXT, 0, "until", "YYYY-MM-DD", "only up to this day", &a.until, 0, 0},
        {OPTION_TEXT, 0, "target", "SHARE", "another target of the task, such as 0.73", &a.target, 0, 0},
        {OPTION_INT, 0, "limit", "N", "at most this many rows; 0: all", &limit, 0, 1e9},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "board",
        .operands = "TASK BOARD [OPTIONS]",
        .about = "Prints a board. BOARD is training-time, training-cost, inference-latency or inference-cost. Values in tsv, "
                 "csv and json have full precision: seconds, USD, milliseconds, USD per item.",
        .options = options,
        .more = "Examples:\n"
                "  dawn-scoreboard board cifar10 training-time --limit 10\n"
                "  dawn-scoreboard board ImageNet training-cost --format tsv",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc != 3) return fail(ERR_USAGE, "name the board: board TASK BOARD, for example: board cifar10 training-time");
    struct filter filter;
    TRY(read_filter(argv[1], argv[2], &a, &filter));
    TRY(known_format(format));
    return print_board(db, &filter, limit, format);
}
