// SPDX-License-Identifier: Apache-2.0
// A board: what it counts, a filter, the table, links. All its state is in the address. Workload: the most visited page.
// Cost: a query for the rows, one for the facets, one for the best.
#include <stdio.h>

#include "scoreboard/pages/page_form.h"

// Entries of the chart of time against cost on a board, whose own page has more; rows of a board that begins with them.
enum { PICTURE_MOST = 120, FEW_ROWS = 10 };

static void show_tabs(struct page *page, const struct filter *filter)
{
    struct filter other = *filter;
    other.cursor[0] = 0;
    html_add(page->out, "<nav class=\"tabs\" aria-label=\"Boards of %s\"><ul>", filter->contest->title);
    for (int i = 0; i < BOARDS; i++) {
        other.board = (enum board)i;
        if (!board_has_energy(other.board)) {  // there is no row with an energy
            other.energy_max = 0;
            if (other.sort == SORT_ENERGY) other.sort = SORT_PROOF;
        } else {
            other.energy_max = filter->energy_max, other.sort = filter->sort;
        }
        page_tab(page, page_view_address(&page->arena, VIEW_BOARD, &other), board_title(other.board),
                 other.board == filter->board);
    }
    html_add(page->out, "</ul></nav>\n");
    page_rank_tabs(page, VIEW_BOARD, filter);
}

// Time against cost exists for training only.
static void show_links(struct page *page, const struct filter *filter)
{
    struct filter plain = *filter;
    plain.cursor[0] = 0;
    html_add(page->out, "<p class=\"links\"><a href=\"%s\">History of the record</a> ",
             page_view_address(&page->arena, VIEW_HISTORY, &plain));
    if (filter->board == BOARD_TRAINING_TIME || filter->board == BOARD_TRAINING_COST)
        html_add(page->out, "<a href=\"%s\">Time against cost</a> ", page_view_address(&page->arena, VIEW_PARETO, &plain));
    html_add(page->out, "<a href=\"%s\">CSV</a> <a href=\"%s\">JSON</a> <a href=\"/boards/%s/feed.atom\">Atom</a></p>\n",
             page_view_address(&page->arena, VIEW_CSV, &plain), page_view_address(&page->arena, VIEW_JSON, &plain),
             filter->contest->name);
}

// The record over the years, and time against cost, for what the table shows. Not on later pages of it.
struct pictures {
    struct entries history;
    struct entry *rows;
    int count, without;
};

static int read_pictures(struct page *page, const struct filter *filter, struct pictures *p)
{
    bool training = filter->board == BOARD_TRAINING_TIME || filter->board == BOARD_TRAINING_COST;
    *p = (struct pictures){0};
    if (filter->cursor[0] != 0) return 0;
    TRY(store_history(page->reader, filter, &page->arena, &p->history));
    return training ? page_pareto_read(page, *filter, PICTURE_MOST, &p->rows, &p->count, &p->without) : 0;
}

static void show_pictures(struct page *page, const struct filter *filter, const struct pictures *p)
{
    bool *front = arena_alloc(&page->arena, (size_t)(p->count + 1) * sizeof *front);
    if (p->history.count < 2 && p->count < 2) return;  // one point is no progress, and no choice
    html_add(page->out, "<section class=\"pictures\" aria-label=\"Charts\">\n");
    enum chart_size size = p->history.count > 1 && p->count > 1 ? CHART_HALF : CHART_ACROSS;
    if (p->history.count > 1) page_history_chart(page, filter, &p->history, size);
    if (p->count > 1) page_pareto_chart(page, p->rows, p->count, front, size);
    html_add(page->out, "</section>\n");
}

static void show_paging(struct page *page, const struct filter *filter, const struct entries *entries)
{
    if (entries->next == NULL && filter->cursor[0] == 0) return;
    html_add(page->out, "<nav class=\"pages\" aria-label=\"Pages\"><ul><li>%lld to %lld of %lld</li>",
             (long long)entries->before + 1, (long long)entries->before + entries->count, (long long)entries->total);
    struct filter other = *filter;
    if (filter->cursor[0] != 0) {
        other.cursor[0] = 0;
        html_add(page->out, "<li><a class=\"button plain\" href=\"%s\" data-page=\"first\">First page</a></li>",
                 page_view_address(&page->arena, VIEW_BOARD, &other));
    }
    if (entries->next != NULL) {
        snprintf(other.cursor, sizeof other.cursor, "%s", entries->next);
        html_add(page->out, "<li><a class=\"button\" href=\"%s\" rel=\"next\" data-page=\"next\">Next page</a></li>",
                 page_view_address(&page->arena, VIEW_BOARD, &other));
    }
    html_add(page->out, "</ul></nav>\n");
}

// The best of the whole board: taken from this page if it is there, else queried.
static int find_best(struct page *page, const struct filter *filter, const struct entries *entries, double *best)
{
    for (int i = 0; i < entries->count; i++) {
        if (entries->at[i].rank != 1) continue;
        *best = entries->at[i].value;
        return 0;
    }
    struct filter first = filter_plain(filter->contest, filter->board, filter->rank);
    first.trust = filter->trust;
    first.limit = 1;
    first.target_micro = filter->target_micro;
    struct entries found;
    TRY(store_entries(page->reader, &first, &page->arena, &found));
    *best = found.count > 0 ? found.at[0].value : 0;
    return 0;
}

// The bare address of a board shows the official groups, if there are any.
static int choose_rank(struct page *page, struct filter *filter)
{
    struct filter groups = filter_plain(filter->contest, filter->board, RANK_GROUP);
    struct entries found;
    const char *query = page->request->query;
    if (query != NULL && *query != 0) return 0;
    groups.limit = 1;
    TRY(store_entries(page->reader, &groups, &page->arena, &found));
    if (found.count > 0) filter->rank = RANK_GROUP;
    return 0;
}

PAGE(page_board)
{
    struct filter filter;
    struct entries entries;
    struct facets facets = {0};
    struct pictures pictures;
    double best = 0;
    TRY(request_filter(page->request, &filter));
    TRY(choose_rank(page, &filter));
    TRY(store_entries(page->reader, &filter, &page->arena, &entries));
    TRY(store_facets(page->reader, &filter, &page->arena, &facets));
    TRY(find_best(page, &filter, &entries, &best));
    TRY(read_pictures(page, &filter, &pictures));

    const char *title = board_title(filter.board);
    page_begin(
        page, arena_text(&page->arena, "%s, %s", filter.contest->title, title), board_counts(filter.board, filter.rank),
        (const struct crumb[]){{filter.contest->title, arena_text(&page->arena, "/boards/%s", filter.contest->name)},
                               {title, NULL}});
    html_add(page->out, "<h1>%s: %s</h1>", filter.contest->title, title);
    page_demo_note(page, filter.contest);
    show_tabs(page, &filter);
    html_add(page->out, "<p class=\"lead\">%s Lower is better.</p>\n", board_counts(filter.board, filter.rank));
    show_links(page, &filter);
    int active = filter_narrowing(&filter);
    html_add(page->out, "<div class=\"with-pictures\">\n");
    if (entries.total > FEW_ROWS) show_pictures(page, &filter, &pictures);
    html_add(page->out, "<div class=\"entries\">\n");
    if (entries.total > 0 || active > 0) page_form(page, &filter, &facets);
    html_add(page->out, "<section id=\"board\" aria-label=\"Entries\">\n");
    page_form_chips(page, VIEW_BOARD, &filter);
    if (entries.count > 0)
        page_board_table(page, &filter, &entries, best);
    else if (active > 0)
        page_form_nothing(page, VIEW_BOARD, &filter);
    else
        page_how_to_be_first(page, &filter);
    page_unchecked(page, VIEW_BOARD, &filter, entries.below);
    show_paging(page, &filter, &entries);
    html_add(page->out, "</section>\n</div>\n");
    if (entries.total <= FEW_ROWS) show_pictures(page, &filter, &pictures);
    html_add(page->out, "</div>\n");
    page_end(page);
    return 0;
}
