// SPDX-License-Identifier: Apache-2.0
// Entries as tables. On narrow screens a row becomes a card (the stylesheet does it, from data-label), so the roles of a
// table are written out: some browsers forget them when the display changes. Workload: 200 rows at most a page.
#include <math.h>
#include <string.h>

#include "scoreboard/page.h"

const char *page_entry_address(struct arena *arena, const struct entry *entry)
{
    const char *source = entry->source;
    if (source[0] == '#') return arena_text(arena, "/runs/%s", html_part(arena, source + 1));
    if (strncmp(source, "group ", 6) == 0) return arena_text(arena, "/groups/%s", html_part(arena, source + 6));
    // TASK/train|inference/STEM: the stem may hold anything, also a slash in a broken archive.
    const char *first = strchr(source, '/'), *second = first != NULL ? strchr(first + 1, '/') : NULL;
    if (second == NULL) return "/";
    const char *task = arena_text(arena, "%.*s", (int)(first - source), source);
    const char *kind = arena_text(arena, "%.*s", (int)(second - first - 1), first + 1);
    return arena_text(arena, "/archive/%s/%s/%s", html_part(arena, task), html_part(arena, kind),
                      html_part(arena, second + 1));
}

const char *page_entry_name(struct arena *arena, const struct entry *entry)
{
    const char *source = entry->source;
    if (source[0] == '#') return arena_text(arena, "Run %s", source + 1);
    if (strncmp(source, "group ", 6) == 0) return arena_text(arena, "Group %.8s", source + 6);
    return source;
}

const char *page_board_address(struct arena *arena, const char *tail, const struct filter *filter)
{
    struct text query = {0};
    filter_write(filter, &query);
    const char *address = arena_text(arena, "/boards/%s/%s%s%s%s", filter->contest->name, board_word(filter->board),
                                     tail, query.length > 0 ? "?" : "", query.length > 0 ? query.at : "");
    text_free(&query);
    return address;
}

static void author_cell(struct page *page, const struct entry *entry)
{
    if (entry->sequence > 0)
        page_person_link(page, entry->author);
    else
        html_add(page->out, "<span class=\"clamp\"><bdi>%s</bdi></span>", *entry->author ? entry->author : "not named");
    if (*entry->team) html_add(page->out, "<small><bdi>%s</bdi></small>", entry->team);
}

static void model_cell(struct page *page, const struct entry *entry)
{
    html_add(page->out, "<a class=\"clamp\" href=\"%s\"><bdi>%s</bdi></a>", page_entry_address(&page->arena, entry),
             *entry->model ? entry->model : page_entry_name(&page->arena, entry));
    if (strcmp(entry->division, "open") == 0) html_add(page->out, "<small>open division</small>");
    if (*entry->group && entry->runs == 1) html_add(page->out, "<small>of a group</small>");
}

static void value_cell(struct page *page, const struct entry *entry, double best)
{
    html_add(page->out, "<strong>");
    page_value(page->out, entry->board, entry->value);
    html_add(page->out, "</strong>");
    if (best > 0 && isfinite(entry->value / best) && entry->rank > 1)
        html_add(page->out, "<small class=\"times\">%.*f \xc3\x97 the best</small>", entry->value / best < 10 ? 2 : 0,
                 entry->value / best);
    if (entry->runs < 2) return;
    html_add(page->out, "<small>95%%: ");
    page_value(page->out, entry->board, entry->low);
    html_add(page->out, " to ");
    page_value(page->out, entry->board, entry->high);
    html_add(page->out, "</small><small>mean of %d runs</small>", entry->runs);
    if (entry->p >= 0 && entry->p < 0.01)
        html_add(page->out, "<small title=\"one-sided t-test: their mean score lies above the target\">p &lt; 0.01</small>");
}

static void cost_cell(struct page *page, const struct entry *entry)
{
    bool item = entry->board == BOARD_INFERENCE_LATENCY || entry->board == BOARD_INFERENCE_COST;
    if (entry->cost < 0)
        html_add(page->out, "<span class=\"quiet\">not known</span>");
    else
        page_value(page->out, item ? BOARD_INFERENCE_COST : BOARD_TRAINING_COST, entry->cost);
}

static void words_cell(struct page *page, const char *words)
{
    if (*words)
        html_words(page->out, words);
    else
        html_add(page->out, "<span class=\"quiet\">-</span>");
}

// ---- the board's own table --------------------------------------------------------------------------------------------
struct column {
    enum sort sort;  // SORTS: not sortable
    const char *label, *class;
};
enum { PLACE, VALUE, AUTHOR, MODEL, HARDWARE, FRAMEWORK, ACCURACY, COST, VIEWS, TRUST_LEVEL, DATE, COLUMNS };
static const struct column columns[COLUMNS] = {
    [PLACE] = {SORTS, "Place", "place"},
    [VALUE] = {SORT_VALUE, "Value", "value"},
    [AUTHOR] = {SORT_AUTHOR, "Author", "who"},
    [MODEL] = {SORT_MODEL, "Model", "model"},
    [HARDWARE] = {SORT_HARDWARE, "Hardware", "hardware"},
    [FRAMEWORK] = {SORT_FRAMEWORK, "Framework", "framework"},
    [ACCURACY] = {SORT_ACCURACY, "Accuracy", "number"},
    [COST] = {SORT_COST, "Cost", "number"},
    [VIEWS] = {SORTS, "Views", "number"},
    [TRUST_LEVEL] = {SORT_TRUST, "Trust", "trust"},
    [DATE] = {SORT_DATE, "Date", "date"},
};

static const char *label_of(const struct filter *filter, int column)
{
    static const char *const values[BOARDS] = {"Time", "Cost", "Latency", "Cost"};
    if (column == VALUE) return values[filter->board];
    if (column == ACCURACY && contest_is_share(filter->contest)) return filter->contest->metric_title;
    return columns[column].label;
}

// A board of costs needs no second cost, and a page of imports no empty views.
static bool has_column(const struct filter *filter, const struct entries *entries, int column)
{
    if (column == COST) return filter->board != BOARD_TRAINING_COST && filter->board != BOARD_INFERENCE_COST;
    if (column != VIEWS) return true;
    for (int i = 0; i < entries->count; i++)
        if (entries->at[i].views > 0) return true;
    return false;
}

static void head(struct page *page, const struct filter *filter, const struct entries *entries)
{
    html_add(page->out, "<thead role=\"rowgroup\"><tr role=\"row\">");
    for (int i = 0; i < COLUMNS; i++) {
        if (!has_column(filter, entries, i)) continue;
        const char *label = label_of(filter, i);
        bool here = columns[i].sort == filter->sort;
        html_add(page->out, "<th scope=\"col\" role=\"columnheader\" class=\"%s\"", columns[i].class);
        if (here) html_add(page->out, " aria-sort=\"%s\"", filter->descending ? "descending" : "ascending");
        if (columns[i].sort == SORTS) {
            html_add(page->out, ">%s</th>", label);
            continue;
        }
        struct filter other = *filter;
        other.sort = columns[i].sort, other.descending = here && !filter->descending, other.cursor[0] = 0;
        html_add(page->out,
                 "><a href=\"%s\" data-sort=\"%d\">%s<span class=\"arrow\" aria-hidden=\"true\">%s</span></a></th>",
                 page_board_address(&page->arena, "", &other), i, label,
                 !here                ? ""
                 : filter->descending ? " \xe2\x96\xbc"
                                      : " \xe2\x96\xb2");
    }
    html_add(page->out, "</tr></thead>\n");
}

static void cell(struct page *page, const struct filter *filter, const struct entry *entry, int column, double best)
{
    struct text *out = page->out;
    html_add(out, "<td role=\"cell\" class=\"%s\" data-label=\"%s\"><div>", columns[column].class,
             label_of(filter, column));
    switch (column) {
    case PLACE: html_add(out, "%lld", (long long)entry->rank); break;
    case VALUE: value_cell(page, entry, best); break;
    case AUTHOR: author_cell(page, entry); break;
    case MODEL: model_cell(page, entry); break;
    case HARDWARE: words_cell(page, entry->hardware); break;
    case FRAMEWORK: words_cell(page, entry->framework); break;
    case ACCURACY: page_score(out, filter->contest, entry->accuracy); break;
    case COST: cost_cell(page, entry); break;
    case VIEWS:
        words_cell(page, entry->views > 0 ? arena_text(&page->arena, "%lld", (long long)entry->views) : "");
        break;
    case TRUST_LEVEL:
        page_badge(out, entry->trust);
        if (entry->flags > 0)
            html_add(out, "<small>%lld flag%s</small>", (long long)entry->flags, entry->flags == 1 ? "" : "s");
        break;
    default: page_day(out, entry->date);
    }
    html_add(out, "</div></td>");
}

void page_board_table(struct page *page, const struct filter *filter, const struct entries *entries, double best)
{
    static const char *const sorted[SORTS] = {"value",     "date", "author",   "model", "hardware",
                                              "framework", "cost", "accuracy", "trust"};
    html_add(page->out,
             "<table class=\"board cards\" role=\"table\"><caption>%s, %s: <b>%lld</b> %s, sorted by %s%s. Less is "
             "better; the place "
             "is that on the whole board.</caption>\n",
             filter->contest->title, filter->rank == RANK_GROUP ? "groups" : "single runs", (long long)entries->total,
             entries->total == 1 ? "entry" : "entries", sorted[filter->sort], filter->descending ? ", descending" : "");
    head(page, filter, entries);
    html_add(page->out, "<tbody role=\"rowgroup\">\n");
    for (int i = 0; i < entries->count; i++) {
        html_add(page->out, "<tr role=\"row\" class=\"%s\">", entries->at[i].rank == 1 ? "first" : "later");
        for (int c = 0; c < COLUMNS; c++)
            if (has_column(filter, entries, c)) cell(page, filter, &entries->at[i], c, best);
        html_add(page->out, "</tr>\n");
    }
    html_add(page->out, "</tbody></table>\n");
}

// ---- small tables -----------------------------------------------------------------------------------------------------
static void board_link(struct page *page, const struct entry *entry)
{
    html_add(page->out, "<a href=\"/boards/%s/%s%s\">%s: %s</a><small>%s</small>", entry->contest,
             board_word(entry->board), entry->order == RANK_GROUP ? "?rank=group" : "", page_task_title(entry->contest),
             board_title(entry->board), entry->order == RANK_GROUP ? "group" : "single run");
}

static void small_row(struct page *page, const struct entry *entry, enum rows rows)
{
    struct text *out = page->out;
    html_add(out, "<tr>");
    if (rows != ROWS_BEST) {
        html_add(out, "<th scope=\"row\">");
        board_link(page, entry);
        html_add(out, "</th>");
    }
    if (rows != ROWS_NEWEST) html_add(out, "<td class=\"place\">%lld</td>", (long long)entry->rank);
    html_add(out, "<td class=\"value\"><a href=\"%s\">", page_entry_address(&page->arena, entry));
    page_value(out, entry->board, entry->value);
    html_add(out, "</a>");
    if (entry->runs > 1) html_add(out, "<small>mean of %d runs</small>", entry->runs);
    html_add(out, "</td>");
    if (rows != ROWS_PLACES) {
        html_add(out, "<td class=\"who\">");
        author_cell(page, entry);
        html_add(out, "</td>");
    }
    if (rows == ROWS_BEST) {
        html_add(out, "<td class=\"model\"><bdi>%s</bdi><small><bdi>%s</bdi></small></td>", entry->model,
                 entry->hardware);
    } else {
        html_add(out, "<td class=\"date\">");
        page_day(out, entry->date);
        html_add(out, "</td>");
    }
    html_add(out, "<td class=\"trust\">");
    page_badge(out, entry->trust);
    html_add(out, "</td></tr>\n");
}

void page_rows(struct page *page, const struct entries *entries, enum rows rows, const char *caption)
{
    static const char *const heads[] = {
        [ROWS_BEST] = "<th scope=\"col\">Place</th><th scope=\"col\">Value</th><th scope=\"col\">Author</th><th "
                      "scope=\"col\">Model, hardware</th>"
                      "<th scope=\"col\">Trust</th>",
        [ROWS_PLACES] = "<th scope=\"col\">Board</th><th scope=\"col\">Place</th><th scope=\"col\">Value</th><th "
                        "scope=\"col\">Date</th>"
                        "<th scope=\"col\">Trust</th>",
        [ROWS_NEWEST] = "<th scope=\"col\">Board</th><th scope=\"col\">Value</th><th scope=\"col\">Author</th><th "
                        "scope=\"col\">Date</th>"
                        "<th scope=\"col\">Trust</th>",
    };
    html_add(page->out,
             "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\"><table "
             "class=\"small\"><caption>%s</caption><thead><tr>",
             caption, caption);
    text_bytes(page->out, heads[rows], strlen(heads[rows]));  // a literal of this file
    html_add(page->out, "</tr></thead><tbody>\n");
    for (int i = 0; i < entries->count; i++) small_row(page, &entries->at[i], rows);
    html_add(page->out, "</tbody></table></div>\n");
}

// ---- records ----------------------------------------------------------------------------------------------------------
int page_find_bests(struct page *page, const struct contest *contest, struct entry *best[BOARDS][RANKS])
{
    for (int board = 0; board < BOARDS; board++) {
        for (int rank = 0; rank < RANKS; rank++) {
            struct filter filter = {
                .contest = contest, .board = (enum board)board, .rank = (enum rank)rank, .limit = 1};
            struct entries entries;
            TRY(store_entries(page->reader, &filter, &page->arena, &entries));
            best[board][rank] = entries.count > 0 ? entries.at : NULL;
        }
    }
    return 0;
}

static void record_cell(struct page *page, const struct entry *entry, const char *label)
{
    html_add(page->out, "<td data-label=\"%s\" role=\"cell\"><div>", label);
    if (entry == NULL) {
        html_add(page->out, "<span class=\"quiet\">none yet</span></div></td>");
        return;
    }
    html_add(page->out, "<a class=\"figure\" href=\"%s\">", page_entry_address(&page->arena, entry));
    page_value(page->out, entry->board, entry->value);
    html_add(page->out, "</a><small><bdi>%s</bdi>", entry->author);
    if (*entry->hardware) html_add(page->out, ", <bdi>%s</bdi>", entry->hardware);
    html_add(page->out, "</small>");
    page_badge(page->out, entry->trust);
    html_add(page->out, "</div></td>");
}

void page_bests(struct page *page, const struct contest *contest, struct entry *best[BOARDS][RANKS])
{
    html_add(
        page->out,
        "<table class=\"records cards\" role=\"table\"><caption>Current records, %s</caption><thead "
        "role=\"rowgroup\"><tr role=\"row\">"
        "<th scope=\"col\" role=\"columnheader\">Board</th><th scope=\"col\" role=\"columnheader\">Official group</th>"
        "<th scope=\"col\" role=\"columnheader\">Single run (classic)</th></tr></thead><tbody role=\"rowgroup\">\n",
        contest->title);
    for (int board = 0; board < BOARDS; board++) {
        html_add(page->out,
                 "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\"><a href=\"/boards/%s/%s%s\">%s</a></th>",
                 contest->name, board_word((enum board)board), best[board][RANK_GROUP] != NULL ? "?rank=group" : "",
                 board_title((enum board)board));
        record_cell(page, best[board][RANK_GROUP], "Official group");
        record_cell(page, best[board][RANK_CLASSIC], "Single run");
        html_add(page->out, "</tr>\n");
    }
    html_add(page->out, "</tbody></table>\n");
}

const char *page_never(const struct contest *contest, enum board board, enum rank rank)
{
    if (!contest->synthetic) return NULL;
    if (board == BOARD_INFERENCE_LATENCY || board == BOARD_INFERENCE_COST)
        return "A latency on images that the program drew itself never counts, so this board stays empty.";
    return rank == RANK_GROUP ? "A group on images that the program drew itself is never official, so this board stays empty."
                              : NULL;
}

// With a price, so that the run stands on the boards of cost too. PRICE and YOUR-NAME are for people to fill in.
static const char *first_commands(struct page *page, const struct filter *filter)
{
    struct text text = {0};
    const struct contest *contest = filter->contest;
    bool group = filter->rank == RANK_GROUP;
    if (contest->synthetic)
        text_add(&text, "dawn train cifar10 --data synthetic");
    else
        text_add(&text, "dawn data fetch %s\ndawn train %s", contest->name, contest->name);
    text_add(&text, "%s --cost-per-hour PRICE   # of this machine, in USD\n", group ? " --runs 5" : "");
    if (filter->board == BOARD_INFERENCE_LATENCY || filter->board == BOARD_INFERENCE_COST)
        text_add(&text, "dawn infer %s --latency --cost-per-hour PRICE%s\n", contest->name,
                 group ? " --run 1   # then --run 2, and so on to the last" : "");
    text_add(&text, "dawn submit --server http://THIS-SITE --handle YOUR-NAME");
    const char *commands = arena_text(&page->arena, "%s", text.at);
    text_free(&text);
    return commands;
}

void page_how_to_be_first(struct page *page, const struct filter *filter)
{
    const struct contest *contest = filter->contest;
    const char *nothing = filter->rank == RANK_GROUP ? "No group stands here yet." : "No run stands here yet.";
    const char *never = page_never(contest, filter->board, filter->rank);
    if (never != NULL) {
        html_add(page->out, "<div class=\"empty\"><p>%s</p></div>\n", never);
        return;
    }
    html_add(page->out, "<div class=\"empty\"><p><strong>%s</strong> Be the first%s</p>", nothing,
             contest->harness || contest->synthetic ? ":" : ".");
    if (contest->harness || contest->synthetic)
        page_command(page, "first", first_commands(page, filter));
    html_add(page->out, "<p><a href=\"/submit\">How to take part</a>, also "
                        "<a href=\"/record\">with a program of your own</a>.</p></div>\n");
}
