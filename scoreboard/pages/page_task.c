// SPDX-License-Identifier: Apache-2.0
// A task: its description, and the best three of each of its boards. Cost: eight queries for three rows each.
#include <string.h>

#include "scoreboard/pages/page.h"

enum { TASK_BEST = 3 };

static void about(struct page *page, const struct contest *contest)
{
    html_add(page->out, "<h1>%s</h1><p class=\"lead\">%s</p>", contest->title, contest->about);
    page_demo_note(page, contest);
    html_add(page->out,
             "<dl "
             "class=\"facts\"><div><dt>Counts</dt><dd>%s</dd></div><div><dt>Over</dt><dd>%s</dd></div><div><dt>Target</"
             "dt><dd>at least ",
             contest->metric_title, contest->test_name);
    for (int i = 0; i < CONTEST_TARGETS && contest->target_micro[i] > 0; i++) {
        if (i > 0) html_add(page->out, " (also as a filter: ");
        page_score(page->out, contest, (double)contest->target_micro[i] / 1e6);
        if (i > 0) html_add(page->out, ")");
    }
    html_add(page->out,
             "</dd></div></dl>\n<p class=\"links\"><a href=\"/boards/%s/pareto\">Time against cost</a> "
             "<a href=\"/boards/%s/feed.atom\">Atom feed</a> <a href=\"/rules\">Rules</a></p>\n",
             contest->name, contest->name);
}

static void best_of(struct page *page, const struct filter *all, const struct entries *found)
{
    const enum board board = all->board;
    const enum rank rank = all->rank;
    const char *name = rank == RANK_GROUP ? "Official groups" : "Single runs";
    html_add(page->out, "<div><h3>%s</h3><p class=\"quiet\">%s</p>", name, board_counts(board, rank));
    page_rows(page, found, ROWS_BEST,
              arena_text(&page->arena, "%s: %s, the best %d", board_title(board), name, found->count));
    html_add(page->out,
             "<p class=\"links\"><a href=\"%s\">All %lld</a> <a href=\"%s\">History of the record</a></p></div>\n",
             page_view_address(&page->arena, VIEW_BOARD, all), (long long)found->total,
             page_view_address(&page->arena, VIEW_HISTORY, all));
}

// An empty rank is one line and leaves its half to the other.
static void board(struct page *page, const struct contest *contest, enum board board, enum trust least,
                  struct entries found[RANKS])
{
    struct filter all = filter_plain(contest, board, RANK_CLASSIC);
    all.trust = least;
    html_add(
        page->out,
        "<section aria-labelledby=\"%s\"><h2 id=\"%s\"><a href=\"/boards/%s/%s\">%s</a></h2><div class=\"pair\">\n",
        board_word(board), board_word(board), contest->name, board_word(board), board_title(board));
    for (int i = RANKS - 1; i >= 0; i--) {
        all.rank = (enum rank)i;
        if (found[i].count > 0) best_of(page, &all, &found[i]);
    }
    html_add(page->out, "</div>\n");
    bool group = found[RANK_GROUP].count > 0, single = found[RANK_CLASSIC].count > 0;
    if (!group || !single)
        html_add(page->out, "<p class=\"empty\">%s <a href=\"/submit\">Be the first</a>.</p>",
                 group    ? "No single run yet."
                 : single ? "No official group yet."
                          : "Nothing yet.");
    all.rank = RANK_CLASSIC;
    page_unchecked(page, VIEW_BOARD, &all, found[RANK_CLASSIC].below);
    html_add(page->out, "</section>\n");
}

// The level of trust that the page asks for: checked, or with ?trust=imported any. And its tabs.
static int read_trust(const struct page *page, enum trust *least)
{
    const char *query = page->request->query;
    *least = TRUST_CHECKED;
    if (query == NULL || *query == 0 || strcmp(query, "trust=checked") == 0) return 0;
    if (strcmp(query, "trust=imported") != 0) return fail(ERR_INPUT, "this page takes trust=imported and nothing else");
    *least = TRUST_IMPORTED;
    return 0;
}

static void show_trust_tabs(struct page *page, enum trust least)
{
    const char *path = page->request->path;
    html_add(page->out, "<nav class=\"tabs ranks\" aria-label=\"Checked entries or all\"><ul>");
    page_tab(page, path, "Checked", least == TRUST_CHECKED);
    page_tab(page, arena_text(&page->arena, "%s?trust=%s", path, trust_word(TRUST_IMPORTED)), "All entries",
             least == TRUST_IMPORTED);
    html_add(page->out, "</ul></nav>\n");
}

static int read_best(struct page *page, const struct contest *contest, enum trust least, struct entries found[BOARDS][RANKS],
                     int *count)
{
    *count = 0;
    for (int i = 0; i < BOARDS * RANKS; i++) {
        struct entries *of = &found[i / RANKS][i % RANKS];
        struct filter filter = filter_plain(contest, (enum board)(i / RANKS), (enum rank)(i % RANKS));
        filter.trust = least;
        filter.limit = TASK_BEST;
        TRY(store_entries(page->reader, &filter, &page->arena, of));
        *count += of->count;
    }
    return 0;
}

PAGE(page_task)
{
    const struct contest *contest;
    struct entries found[BOARDS][RANKS];
    const char *query = page->request->query;
    enum trust least;
    int count;
    TRY(request_contest(page->request, &contest));
    TRY(read_trust(page, &least));
    TRY(read_best(page, contest, least, found, &count));
    if (count == 0 && (query == NULL || *query == 0)) {  // as the front page: the archive, until something is checked
        least = TRUST_IMPORTED;
        TRY(read_best(page, contest, least, found, &count));
    }
    page_begin(page, contest->title, contest->about, (const struct crumb[]){{0}});
    about(page, contest);
    show_trust_tabs(page, least);
    for (int b = 0; b < BOARDS; b++) board(page, contest, (enum board)b, least, found[b]);
    page_end(page);
    return 0;
}
