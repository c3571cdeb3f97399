// SPDX-License-Identifier: Apache-2.0
// Shared by all pages: frame, breadcrumbs, small figures, rows of entries. Pages work without script and without inline
// style; strangers' text is put into <bdi>.
#pragma once

#include "runtime/common/draw/chart.h"
#include "runtime/common/draw/html.h"
#include "scoreboard/pages/pages.h"

struct page {
    const struct request *request;  // NULL on a page about a problem
    struct reader *reader;
    struct text *out;               // the answer's body
    struct arena arena;             // lives as long as the request
    int tables;                     // number of tables so far, for their names
};
// A handler's body. It reads everything before it writes, so that a failure leaves no partial page. page_make lends it an arena.
typedef int page_show(struct page *);
int page_make(const struct request *, struct answer *, page_show *) MUST_CHECK;
// The handler of a route, and the head of its body.
#define PAGE(handler)                                                                                                  \
    static page_show handler##_show;                                                                                   \
    int handler(const struct request *request, struct answer *answer)                                                  \
    {                                                                                                                  \
        return page_make(request, answer, handler##_show);                                                             \
    }                                                                                                                  \
    static int handler##_show(struct page *page)

// Parent pages, outermost first; then the page itself: by a label without address, else by its title. `crumbs` may be NULL.
struct crumb {
    const char *label, *address;
};
void page_begin(struct page *, const char *title, const char *about, const struct crumb *crumbs);
void page_end(struct page *);

// Small things.
void page_badge(struct text *, enum trust);             // word and shape
void page_moment(struct text *, int64_t unix_ms);       // date and time, UTC
void page_day(struct text *, const char *date);
void page_value(struct text *, enum board, double value);
void page_figure(struct text *, enum board, double value);  // under the header page_figure_name: without "per 10,000"
const char *page_figure_name(enum board);               // "Time", "Cost of 10,000"
void page_score(struct text *, const struct contest *, double score);  // "94.02%", "0.7612" for F1; NAN: "-"
char *page_score_text(const struct contest *, double score, char into[TEXT_FIGURE]);
void page_span(struct text *, int64_t ns);               // as board_value shows a time
const char *page_span_text(struct page *, int64_t ns);
void page_money(struct text *, double usd);             // "not known" when negative
void page_energy(struct text *, double joules);         // "26.1 kJ"; "-" when negative
// "<b>1</b> group", "<b>12</b> groups".
void page_count(struct text *, int64_t count, const char *one, const char *many);
void page_person_link(struct page *, const char *handle);  // "": the server, which revokes keys
// Commands that can be copied, with a button where script runs. "http://THIS-SITE" in them becomes page_address().
void page_command(struct page *, const char *id, const char *commands);
const char *page_address(const struct page *);  // "https://board.example"; "http://THIS-SITE" where no server runs
void page_search(struct page *, const char *words);  // a field and a button
bool page_is_copy(const struct page *);  // of a static copy, where nothing can be filled in
void page_no_server(struct page *, const char *what);  // "Filters need the board's server: ..."
// A query of one number at most, such as before=12; -1: none.
int page_read_number(const struct page *, const char *name, const char *what, int64_t *number) MUST_CHECK;
void page_note(struct text *, const char *kind, const char *title, const char *sentence);  // kind: "demo", "warn", "info"
void page_demo_note(struct page *, const struct contest *);  // on all pages of the demonstration
const char *page_task_title(const char *name);          // "CIFAR10" for "cifar10"; the name itself if there is none

// Begins a small table in a scrolling region; the caption names both. `heads`: "class:Label|class:Label"; "": the row of its
// head follows. "</tbody></table></div>" ends it.
void page_table(struct page *, const char *class, const char *caption, const char *heads);

// An entry of a bar of tabs; `here`: it is the one shown.
void page_tab(struct page *, const char *address, const char *label, bool here);
// Views of a board: table, history, time against cost, files. Every address has the filter's whole query.
enum view { VIEW_BOARD, VIEW_HISTORY, VIEW_PARETO, VIEW_CSV, VIEW_JSON };
const char *page_view_address(struct arena *, enum view, const struct filter *);
void page_rank_tabs(struct page *, enum view, const struct filter *here);  // single runs or groups; checked ones or all

// ---- page_history.c: pictures of a board, nothing where there is no entry
void page_history_chart(struct page *, const struct filter *, const struct entries *, enum chart_size);
void page_history_spark(struct page *, const struct entries *);  // the same as a small picture without axes
// The fastest `most` entries of training time that have a cost; `without`: those that have none.
int page_pareto_read(struct page *, struct filter, int most, struct entry **rows, int *count, int *without) MUST_CHECK;
void page_pareto_chart(struct page *, const struct entry *rows, int count, bool *front, enum chart_size);

// ---- page_tree.c: the head of the log's tree, and how to check it
int page_tree_read(struct page *, struct checkpoint *) MUST_CHECK;
void page_tree(struct page *, const struct checkpoint *);

// ---- page_rows.c: entries of boards
const char *page_entry_address(struct arena *, const struct entry *);  // of the run, group or import
enum rows {
    ROWS_BEST,    // of one board: place, value, author, model, trust
    ROWS_PLACES,  // of several boards: board with the date, place, value, trust
};
void page_rows(struct page *, const struct entries *, enum rows, const char *caption);
// Uploads, one per line: model, its result on every board, author, date, trust. `rows`: one list per upload.
int page_uploads_read(struct page *, const struct entries *uploads, struct entries **rows) MUST_CHECK;
void page_uploads(struct page *, const struct entries *uploads, const struct entries *rows, const char *caption);
// Cells of other small tables of entries: a value that leads to its entry; model with hardware, author, trust.
void page_row_value(struct page *, const struct entry *);
void page_row_names(struct page *, const struct entry *);
// Open a cell, and the cell that names the row, of a table "small cards labelled". On narrow screens its rows become blocks of
// labelled figures.
void page_cell(struct page *, const char *label);
void page_row_name(struct page *);
const char *page_sort_name(const struct filter *, enum sort);  // the header of the column a board is sorted by
// A board's table: every column, sorted as the filter says. `best`: of the whole board, for comparison; 0: not known.
void page_board_table(struct page *, const struct filter *, const struct entries *, double best);
void page_how_to_be_first(struct page *, const struct filter *);  // of an empty board
// "12 more entries are self-evaluated, imported or flagged", with a link to them; nothing if `below` is 0.
void page_unchecked(struct page *, enum view, const struct filter *, int64_t below);
