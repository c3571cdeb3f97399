// SPDX-License-Identifier: Apache-2.0
// What all pages share: frame, breadcrumbs, small figures, rows of entries. Pages work without script and without
// inline style; text of strangers stands in <bdi>.
#ifndef DAWN_SCOREBOARD_PAGE_H
#define DAWN_SCOREBOARD_PAGE_H

#include "scoreboard/html.h"
#include "scoreboard/server.h"

struct page {
    const struct request *request;  // NULL on a page about a problem
    struct reader *reader;
    struct text *out;               // the answer's body
    struct arena arena;             // lives as long as the request
};
// A handler's body: gathers first, writes then, so that a failure leaves no half page. page_make lends it an arena.
typedef int page_show(struct page *);
int page_make(const struct request *, struct answer *, page_show *) MUST_CHECK;

// Ways up, outermost first; then the page itself: by a label without address, else by its title. `crumbs` may be NULL.
struct crumb {
    const char *label, *address;
};
void page_begin(struct page *, const char *title, const char *about, const struct crumb *crumbs);
void page_end(struct page *);
// The whole answer for what went wrong: status and a page that says so. `detail` may be NULL.
void page_problem(enum problem, const char *detail, struct answer *);

// Small things.
void page_badge(struct text *, enum trust);             // word and shape
void page_moment(struct text *, int64_t unix_ms);       // date and time, UTC
void page_day(struct text *, const char *date);
void page_value(struct text *, enum board, double value);
void page_score(struct text *, const struct contest *, double share);  // "94.02%", "0.7612" for F1
char *page_score_text(const struct contest *, double share, char into[TEXT_FIGURE]);
void page_span(struct text *, int64_t ns);               // as board_value shows a time
void page_money(struct text *, double usd);             // "not known" when negative
// "<b>1</b> group", "<b>12</b> groups".
void page_count(struct text *, int64_t count, const char *one, const char *many);
void page_person_link(struct page *, const char *handle);
void page_digest(struct text *, const char *hex);       // the whole, in a form that breaks on narrow screens
void page_command(struct page *, const char *id, const char *commands);  // with a copy button for those with script
void page_note(struct text *, const char *kind, const char *title, const char *sentence);  // kind: "demo", "warn", "info"
void page_demo_note(struct page *, const struct contest *);  // on everything of the demonstration
const char *page_task_title(const char *name);          // "CIFAR10" for "cifar10"; the name itself where there is none

// An entry of a bar of tabs; `here`: it is the one shown.
void page_tab(struct page *, const char *address, const char *label, bool here);
void page_rank_tabs(struct page *, const char *address, enum rank here);  // single runs or groups

// ---- page_rows.c: entries of boards
const char *page_entry_address(struct arena *, const struct entry *);  // of the run, group or import
const char *page_entry_name(struct arena *, const struct entry *);     // "run 12", "group 4f2a...", "resnet in the archive"
enum rows {
    ROWS_BEST,    // of one board: place, value, who, what, trust
    ROWS_PLACES,  // of several: board, place, value, date
    ROWS_NEWEST,  // of several: board, value, who, date
};
void page_rows(struct page *, const struct entries *, enum rows, const char *caption);
// A board's table: every column, sorted as the filter says. `best`: of the whole board, for comparison; 0: not known.
void page_board_table(struct page *, const struct filter *, const struct entries *, double best);
// "/boards/cifar10/training-time?..." with a filter's query. Less escaping is needed nowhere: it goes through %s.
const char *page_board_address(struct arena *, const char *tail, const struct filter *);
// Why nothing can ever stand on a board, as a sentence; NULL where something can.
const char *page_never(const struct contest *, enum board, enum rank);
void page_how_to_be_first(struct page *, const struct filter *);  // of an empty board
void page_bests(struct page *, const struct contest *, struct entry *best[BOARDS][RANKS]);
int page_find_bests(struct page *, const struct contest *, struct entry *best[BOARDS][RANKS]) MUST_CHECK;

// The contest and board a path names; ERR_MISSING with a sentence.
int page_contest(const struct request *, const struct contest **) MUST_CHECK;
int page_filter(const struct request *, struct filter *) MUST_CHECK;  // contest, board and query

#endif
