// SPDX-License-Identifier: Apache-2.0
// Entries as tables. On narrow screens a row becomes a card (the stylesheet does it, from data-label), so the roles of a
// table are written out: some browsers drop them when the display changes. Workload: at most 200 rows per page.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scoreboard/pages/page.h"

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

static const char *entry_name(struct arena *arena, const struct entry *entry)
{
    const char *source = entry->source;
    if (source[0] == '#') return arena_text(arena, "Run %s", source + 1);
    if (strncmp(source, "group ", 6) == 0) return arena_text(arena, "Group %.8s", source + 6);
    return source;
}

static void author_cell(struct page *page, const struct entry *entry)
{
    if (entry->sequence > 0)
        page_person_link(page, entry->author);
    else
        html_add(page->out, "<span class=\"clamp\"><bdi>%s</bdi></span>", *entry->author ? entry->author : "not named");
    if (*entry->team) html_add(page->out, "<small><bdi>%s</bdi></small>", entry->team);
}

// The trust of a row: its level, a mark if the program scored itself or an objection was upheld, and the draw of the log.
static void trust_cell(struct page *page, const struct entry *entry)
{
    page_badge(page->out, entry->trust);
    if (entry->self) html_add(page->out, "<small>self-evaluated</small>");
    if (entry->upheld > 0) html_add(page->out, "<small>objection upheld</small>");
    if (entry->differs > 0) html_add(page->out, "<small>differs when repeated</small>");
    if (entry->waits_ms > 0) {
        char moment[TEXT_FIGURE];
        html_add(page->out, "<small>drawn, not repeated since %.10s</small>", text_moment(moment, entry->waits_ms));
    }
    if (entry->repeated_micro > 0)
        html_add(page->out, "<small>%.6g epoch%s repeated</small>", (double)entry->repeated_micro * 1e-6,
                 entry->repeated_micro == 1000000 ? "" : "s");
}

static void model_cell(struct page *page, const struct entry *entry)
{
    html_add(page->out, "<a class=\"clamp\" href=\"%s\"><bdi>%s</bdi></a>", page_entry_address(&page->arena, entry),
             *entry->model ? entry->model : entry_name(&page->arena, entry));
    if (strcmp(entry->division, "open") == 0) html_add(page->out, "<small>open</small>");
}

// One line: a group's mean with half of its 95% interval, which is even on both sides; else how far it is from the best.
static void value_cell(struct page *page, const struct entry *entry, double best)
{
    html_add(page->out, "<strong>");
    page_figure(page->out, entry->board, entry->value);
    html_add(page->out, "</strong>");
    if (entry->runs > 1) {
        html_add(page->out, " <small class=\"span\" title=\"95%% interval of the mean of %d runs%s\">\xc2\xb1 ", entry->runs,
                 entry->p >= 0 && entry->p < 0.01 ? "; p < 0.01" : "");
        page_figure(page->out, entry->board, entry->high - entry->value);
        html_add(page->out, "</small>");
    } else if (best > 0 && isfinite(entry->value / best) && entry->value / best >= 1.005) {
        html_add(page->out, " <small class=\"span\">%.*f\xc3\x97</small>", entry->value / best < 10 ? 2 : 0, entry->value / best);
    }
}

static void cost_cell(struct page *page, const struct entry *entry)
{
    bool item = entry->board == BOARD_INFERENCE_LATENCY || entry->board == BOARD_INFERENCE_COST;
    if (entry->cost < 0)
        html_add(page->out, "<span class=\"quiet\">-</span>");
    else
        page_figure(page->out, item ? BOARD_INFERENCE_COST : BOARD_TRAINING_COST, entry->cost);
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
enum { PLACE, VALUE, MODEL, AUTHOR, HARDWARE, FRAMEWORK, SCORE, COST, ENERGY, TRUST_LEVEL, DATE, PICK, COLUMNS };
static const struct column columns[COLUMNS] = {
    [PLACE] = {SORTS, "Place", "place"},
    [VALUE] = {SORT_VALUE, "Value", "value"},
    [MODEL] = {SORT_MODEL, "Model", "model"},
    [AUTHOR] = {SORT_AUTHOR, "Author", "who"},
    [HARDWARE] = {SORT_HARDWARE, "Hardware", "hardware"},
    [FRAMEWORK] = {SORT_FRAMEWORK, "Framework", "framework"},
    [SCORE] = {SORT_SCORE, "Score", "number"},
    [COST] = {SORT_COST, "Cost", "number"},
    [ENERGY] = {SORT_ENERGY, "Energy", "number energy"},
    [TRUST_LEVEL] = {SORT_TRUST, "Trust", "trust"},
    [DATE] = {SORT_DATE, "Date", "date"},
    [PICK] = {SORTS, "Compare", "pick"},
};

static const char *label_of(const struct filter *filter, int column)
{
    if (column == VALUE) return page_figure_name(filter->board);
    if (column == COST && filter->board == BOARD_INFERENCE_LATENCY) return page_figure_name(BOARD_INFERENCE_COST);
    if (column == SCORE) return filter->contest->metric_title;
    return columns[column].label;
}

const char *page_sort_name(const struct filter *filter, enum sort sort)
{
    if (sort == SORT_PROOF) return "Proof, then value";
    for (int i = 0; i < COLUMNS; i++)
        if (columns[i].sort == sort) return label_of(filter, i);
    return "Cost";
}

// An archive entry cannot be compared with others: it has no statement.
static bool can_pick(const struct entry *entry)
{
    return entry->sequence > 0;
}

// A cost board needs no second cost. A column in which nothing is known is left out, and so is the box of a single row, which
// cannot be compared.
static void choose_columns(const struct filter *filter, const struct entries *entries, bool shown[COLUMNS])
{
    int picks = 0, energies = 0, costs = 0;
    for (int i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->at[i];
        picks += can_pick(entry), energies += entry->energy >= 0, costs += entry->cost >= 0;
    }
    for (int i = 0; i < COLUMNS; i++) shown[i] = true;
    shown[COST] = costs > 0 && filter->board != BOARD_TRAINING_COST && filter->board != BOARD_INFERENCE_COST;
    shown[ENERGY] = energies > 0;
    shown[PICK] = picks > 1;
}

// Both directions; the stylesheet shows the one in use, so that a column keeps its width.
#define SORT_MARK                                                                                                      \
    "<svg class=\"arrow\" viewBox=\"0 0 8 12\" width=\"9\" height=\"13\" aria-hidden=\"true\"><path class=\"up\" "          \
    "d=\"M.5 5L4 .5 7.5 5z\"/><path class=\"down\" d=\"M.5 7L4 11.5 7.5 7z\"/></svg>"

// Without a repeated run, the board's own order is by value.
static enum sort order_seen(const struct filter *filter, const struct entries *entries)
{
    const bool proven = entries->count > 0 && entries->at[0].trust >= TRUST_REPRODUCED;
    return filter->sort == SORT_PROOF && !proven ? SORT_VALUE : filter->sort;
}

static void board_head(struct page *page, const struct filter *filter, enum sort seen, const bool shown[COLUMNS])
{
    html_add(page->out, "<thead role=\"rowgroup\"><tr role=\"row\">");
    for (int i = 0; i < COLUMNS; i++) {
        if (!shown[i]) continue;
        const char *label = label_of(filter, i);
        bool here = columns[i].sort == seen;
        html_add(page->out, "<th scope=\"col\" role=\"columnheader\" class=\"%s\"", columns[i].class);
        if (here) html_add(page->out, " aria-sort=\"%s\"", filter->descending ? "descending" : "ascending");
        if (columns[i].sort == SORTS) {
            html_add(page->out, "><span class=\"%s\">%s</span></th>", i == PICK ? "hidden" : "seen", label);
            continue;
        }
        struct filter other = *filter;
        other.sort = here ? filter->sort : columns[i].sort, other.descending = here && !filter->descending, other.cursor[0] = 0;
        const char *last = strrchr(label, ' ');  // the last word keeps the mark
        last = last != NULL ? last + 1 : label;
        html_add(page->out, "><a href=\"%s\" data-sort=\"%d\">%.*s<span class=\"span\">%s\xc2\xa0" SORT_MARK "</span></a></th>",
                 page_view_address(&page->arena, VIEW_BOARD, &other), i, (int)(last - label), label, last);
    }
    html_add(page->out, "</tr></thead>\n");
}

static void pick_cell(struct page *page, const struct entry *entry)
{
    bool group = entry->order == RANK_GROUP;
    const char *id = arena_text(&page->arena, "%lld", (long long)entry->sequence);
    html_add(page->out,
             "<input type=\"checkbox\" id=\"pick-%s\" name=\"%s\" value=\"%s\"> <label for=\"pick-%s\">compare<span "
             "class=\"hidden\"> %s %.8s</span></label>",
             id, group ? "group" : "run", group ? entry->group : id, id, group ? "group" : "run", group ? entry->group : id);
}

static void board_cell(struct page *page, const struct filter *filter, const struct entry *entry, int column, double best)
{
    struct text *out = page->out;
    html_add(out, "<td role=\"cell\" class=\"%s%s\"><div data-label=\"%s\">", columns[column].class,
             columns[column].sort == filter->sort ? " sorted" : "", label_of(filter, column));
    switch (column) {
    case PLACE: html_add(out, "%lld", (long long)entry->rank); break;
    case VALUE: value_cell(page, entry, best); break;
    case AUTHOR: author_cell(page, entry); break;
    case MODEL: model_cell(page, entry); break;
    case HARDWARE: words_cell(page, entry->hardware); break;
    case FRAMEWORK: words_cell(page, entry->framework); break;
    case SCORE: page_score(out, filter->contest, entry->accuracy); break;
    case COST: cost_cell(page, entry); break;
    case ENERGY: page_energy(out, entry->energy); break;
    case TRUST_LEVEL:
        trust_cell(page, entry);
        if (entry->flags > 0)
            html_add(out, "<small>%lld flag%s</small>", (long long)entry->flags, entry->flags == 1 ? "" : "s");
        break;
    case PICK:
        if (can_pick(entry)) pick_cell(page, entry);
        break;
    default: page_day(out, entry->date);
    }
    html_add(out, "</div></td>");
}

static void board_caption(struct page *page, const struct filter *filter, const struct entries *entries)
{
    char sorted[24];
    snprintf(sorted, sizeof sorted, "%s", page_sort_name(filter, filter->sort));
    if (filter->sort != SORT_SCORE) sorted[0] = (char)tolower((unsigned char)sorted[0]);
    html_add(page->out, "<caption>%s, %s: <b>%lld</b> %s, sorted by %s%s%s</caption>\n",
             filter->contest->title, filter->rank == RANK_GROUP ? "groups" : "single runs", (long long)entries->total,
             entries->total == 1 ? "entry" : "entries", sorted, filter->descending ? ", descending" : "",
             filter->trust < TRUST_CHECKED       ? "; places are among all entries of the board"
             : filter_narrowing(filter) > 0 ? "; places are among all checked entries of the board"
                                            : "");
}

void page_board_table(struct page *page, const struct filter *filter, const struct entries *entries, double best)
{
    bool shown[COLUMNS];
    struct filter seen = *filter;
    seen.sort = order_seen(filter, entries);
    choose_columns(filter, entries, shown);
    if (page_is_copy(page)) shown[PICK] = false;
    if (shown[PICK]) html_add(page->out, "<form method=\"get\" action=\"/compare\">");
    html_add(page->out, "<table class=\"board cards%s\" role=\"table\">", shown[ENERGY] ? " with-energy" : "");
    board_caption(page, &seen, entries);
    board_head(page, filter, seen.sort, shown);
    html_add(page->out, "<tbody role=\"rowgroup\">\n");
    for (int i = 0; i < entries->count; i++) {
        bool checked = entries->at[i].trust >= TRUST_CHECKED;
        html_add(page->out, "<tr role=\"row\" class=\"%s\">",
                 !checked ? "unchecked" : entries->at[i].rank == 1 ? "first" : "later");
        for (int c = 0; c < COLUMNS; c++)
            if (shown[c]) board_cell(page, &seen, &entries->at[i], c, best);
        html_add(page->out, "</tr>\n");
    }
    html_add(page->out, "</tbody></table>\n");
    if (shown[PICK])
        html_add(page->out, "<p class=\"compare\"><button type=\"submit\">Compare</button> <span class=\"picked\">two to "
                            "four of the selected entries</span></p></form>\n");
}

// ---- small tables -----------------------------------------------------------------------------------------------------
static void board_link(struct page *page, const struct entry *entry)
{
    struct filter filter = filter_plain(contest_find(entry->contest), entry->board, entry->order);
    if (entry->trust < TRUST_CHECKED) filter.trust = TRUST_IMPORTED;
    html_add(page->out, "<a href=\"%s\">%s: %s</a><small>%s, ", page_view_address(&page->arena, VIEW_BOARD, &filter),
             page_task_title(entry->contest), board_title(entry->board), entry->order == RANK_GROUP ? "group" : "single run");
    page_day(page->out, entry->date);
    html_add(page->out, "</small>");
}

void page_row_value(struct page *page, const struct entry *entry)
{
    html_add(page->out, "<td role=\"cell\" class=\"value\"><a href=\"%s\">", page_entry_address(&page->arena, entry));
    page_value(page->out, entry->board, entry->value);
    html_add(page->out, "</a>");
    if (entry->runs > 1) html_add(page->out, "<small>mean of %d runs</small>", entry->runs);
    html_add(page->out, "</td>");
}

void page_row_names(struct page *page, const struct entry *entry)
{
    html_add(page->out, "<td role=\"cell\" class=\"model\"><span class=\"clamp\"><bdi>%s</bdi></span>", entry->model);
    if (*entry->hardware) html_add(page->out, "<small class=\"clamp\"><bdi>%s</bdi></small>", entry->hardware);
    html_add(page->out, "</td><td role=\"cell\" class=\"who\">");
    author_cell(page, entry);
    html_add(page->out, "</td><td role=\"cell\" class=\"trust\">");
    trust_cell(page, entry);
    html_add(page->out, "</td>");
}

static void place_row(struct page *page, const struct entry *entry)
{
    struct text *out = page->out;
    html_add(out, "<th scope=\"row\" role=\"rowheader\">");
    board_link(page, entry);
    html_add(out, "</th><td role=\"cell\" class=\"place\">%lld%s</td>", (long long)entry->rank,
             entry->trust < TRUST_CHECKED ? " of all entries" : "");
    page_row_value(page, entry);
    html_add(out, "<td role=\"cell\" class=\"trust\">");
    trust_cell(page, entry);
    html_add(out, "</td>");
}

static void small_row(struct page *page, const struct entry *entry, enum rows rows)
{
    html_add(page->out, "<tr role=\"row\">");
    if (rows == ROWS_PLACES) {
        place_row(page, entry);
    } else {
        html_add(page->out, "<td role=\"cell\" class=\"place\">%lld</td>", (long long)entry->rank);
        page_row_value(page, entry);
        page_row_names(page, entry);
    }
    html_add(page->out, "</tr>\n");
}

// The results of an upload: its row on each board.
static void upload_results(struct page *page, const struct entries *rows)
{
    html_add(page->out, "<td role=\"cell\" class=\"results\">");
    for (int i = 0; i < rows->count; i++) {
        html_add(page->out, "<span>%s <b>", board_title(rows->at[i].board));
        page_value(page->out, rows->at[i].board, rows->at[i].value);
        html_add(page->out, "</b></span> ");
    }
    html_add(page->out, "</td>");
}

int page_uploads_read(struct page *page, const struct entries *uploads, struct entries **rows)
{
    *rows = arena_alloc(&page->arena, (size_t)(uploads->count + 1) * sizeof **rows);
    for (int i = 0; i < uploads->count; i++)
        TRY(store_entries_of(page->reader, uploads->at[i].source, &page->arena, &(*rows)[i]));
    return 0;
}

void page_uploads(struct page *page, const struct entries *uploads, const struct entries *rows, const char *caption)
{
    page_table(page, "small cards", caption, "row:Model|results:Results|who:Author|date:Date|trust:Trust");
    for (int i = 0; i < uploads->count; i++) {
        const struct entry *entry = &uploads->at[i];
        html_add(page->out, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\"><a class=\"clamp\" "
                            "href=\"%s\"><bdi>%s</bdi></a><small>%s%s</small></th>", page_entry_address(&page->arena, entry),
                 *entry->model ? entry->model : entry_name(&page->arena, entry), page_task_title(entry->contest),
                 entry->order == RANK_GROUP ? arena_text(&page->arena, ", group of %d runs", entry->runs) : "");
        upload_results(page, &rows[i]);
        html_add(page->out, "<td role=\"cell\" class=\"who\">");
        author_cell(page, entry);
        html_add(page->out, "</td><td role=\"cell\" class=\"date\">");
        page_day(page->out, entry->date);
        html_add(page->out, "</td><td role=\"cell\" class=\"trust\">");
        trust_cell(page, entry);
        html_add(page->out, "</td></tr>\n");
    }
    html_add(page->out, "</tbody></table></div>\n");
}

void page_cell(struct page *page, const char *label)
{
    html_add(page->out, "<td role=\"cell\" data-label=\"%s\">", label);
}

void page_row_name(struct page *page)
{
    html_add(page->out, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">");
}

void page_rows(struct page *page, const struct entries *entries, enum rows rows, const char *caption)
{
    if (rows == ROWS_PLACES) page_table(page, "small cards", caption, "row:Board|place:Place|value:Value|trust:Trust");
    else
        page_table(page, "small cards", caption,
                   arena_text(&page->arena, "place:Place|value:%s|model:Model and hardware|who:Author|trust:Trust",
                              page_figure_name(entries->at[0].board)));
    for (int i = 0; i < entries->count; i++) small_row(page, &entries->at[i], rows);
    html_add(page->out, "</tbody></table></div>\n");
}

// A sentence that says why a board always stays empty; NULL if it can have entries.
static const char *why_always_empty(const struct contest *contest, enum board board)
{
    if (!contest->synthetic || (board != BOARD_INFERENCE_LATENCY && board != BOARD_INFERENCE_COST)) return NULL;
    return "A latency on data that the program drew itself never counts, so this board stays empty.";
}

// With a price, so that the run is on the cost boards, too. People fill in FOLDER, PRICE and YOUR-NAME.
static const char *first_commands(struct page *page, const struct filter *filter)
{
    struct text text = {0};
    const struct contest *contest = filter->contest;
    bool group = filter->rank == RANK_GROUP;
    if (contest->synthetic)
        text_add(&text, "dawn train cifar10 --data synthetic");
    else if (contest->fetch != NULL)
        text_add(&text, "dawn data fetch %s\ndawn train %s", contest->fetch, contest->name);
    else
        text_add(&text, "dawn train %s --data FOLDER", contest->name);
    text_add(&text, "%s --cost-per-hour PRICE   # of this machine, in USD\n", group ? " --runs 5" : "");
    if (filter->board == BOARD_INFERENCE_LATENCY || filter->board == BOARD_INFERENCE_COST)
        text_add(&text, "dawn infer %s --latency --cost-per-hour PRICE%s\n", contest->name,
                 group ? " --run 1   # then --run 2, and so on to the last" : "");
    text_add(&text, "dawn submit --server http://THIS-SITE --handle YOUR-NAME");
    const char *commands = arena_text(&page->arena, "%s", text.at);
    text_free(&text);
    return commands;
}

void page_unchecked(struct page *page, enum view view, const struct filter *filter, int64_t below)
{
    struct filter all = *filter;
    if (below == 0) return;
    all.trust = TRUST_IMPORTED;
    all.cursor[0] = 0;
    html_add(page->out, "<p class=\"quiet\"><a href=\"%s\">Show %lld more %s</a>: self-evaluated, imported, "
                        "or flagged by a check.</p>\n", page_view_address(&page->arena, view, &all), (long long)below,
             below == 1 ? "entry" : "entries");
}

void page_how_to_be_first(struct page *page, const struct filter *filter)
{
    const struct contest *contest = filter->contest;
    const char *nothing = filter->rank == RANK_GROUP ? "No checked group yet." : "No checked run yet.";
    const char *never = why_always_empty(contest, filter->board);
    if (never != NULL) {
        html_add(page->out, "<div class=\"empty\"><p>%s</p></div>\n", never);
        return;
    }
    html_add(page->out, "<div class=\"empty\"><p><strong>%s</strong> Be the first%s</p>", nothing,
             contest->models != NULL || contest->synthetic ? ":" : ".");
    if (contest->models != NULL || contest->synthetic)
        page_command(page, "first", first_commands(page, filter));
    html_add(page->out, "<p><a href=\"/submit\">How to take part</a>, also "
                        "<a href=\"/record\">with your own program</a>.</p></div>\n");
}
