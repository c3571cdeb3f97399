// SPDX-License-Identifier: Apache-2.0
// News as Atom (RFC 4287), one entry per upload. The ids of entries are tag addresses (RFC 4151), which stay when a server moves,
// and name the upload, which stays when boards are rebuilt. `updated` is the acceptance, because an amendment changes no word
// of an entry here. The feed has all entries, each with the marks of its row. Workload: readers that ask every hour. Cost: one
// query for the newest uploads, and one for the rows of each.
#include <string.h>
#include <time.h>

#include "scoreboard/pages/page.h"

enum { ATOM_ENTRIES = 50 };

static void moment(struct text *out, int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm day;
    char words[40] = "1970-01-01T00:00:00Z";
    if (gmtime_r(&seconds, &day) != NULL) strftime(words, sizeof words, "%Y-%m-%dT%H:%M:%SZ", &day);
    html_add(out, "%s", words);
}

// "", " (imported)", " (self-evaluated)", " (flagged)": why it is not "checked".
static const char *mark_of(const struct entry *entry)
{
    if (entry->self) return " (self-evaluated)";
    if (entry->trust == TRUST_IMPORTED) return " (imported)";
    return entry->trust == TRUST_SIGNED ? " (flagged)" : "";
}

static void places(struct page *page, const struct entries *rows)
{
    char value[BOARD_VALUE];
    for (int i = 0; i < rows->count; i++) {
        const struct entry *row = &rows->at[i];
        html_add(page->out, "%s (%s): %s, place %lld%s. ", board_title(row->board),
                 row->order == RANK_GROUP ? "groups" : "single runs", board_value(row->board, row->value, value),
                 (long long)row->rank, row->trust < TRUST_CHECKED ? " of all entries" : "");
    }
}

static void one(struct page *page, const struct entry *entry, const struct entries *rows, const char *origin)
{
    struct text *out = page->out;
    char value[BOARD_VALUE];
    const char *upload = *entry->group != 0 ? arena_text(&page->arena, "group %s", entry->group) : entry->source;
    html_add(out,
             "<entry><title>%s, %s: %s by %s%s</title><id>tag:%s,2026:%s/%s</id><link rel=\"alternate\" "
             "href=\"%s%s\"/><updated>",
             page_task_title(entry->contest), board_title(entry->board), board_value(entry->board, entry->value, value),
             *entry->author ? entry->author : "not named", mark_of(entry), origin, entry->contest,
             html_part(&page->arena, upload), page_address(page), page_entry_address(&page->arena, entry));
    moment(out, entry->accepted_ms);
    html_add(out, "</updated><author><name>%s</name></author><category term=\"%s\"/>",
             *entry->author ? entry->author : "not named", trust_word(entry->trust));
    if (entry->self) html_add(out, "<category term=\"self-evaluated\"/>");
    html_add(out, "<content type=\"text\">");
    places(page, rows);
    html_add(out, "%s on %s, %s. Trust: %s, %s.</content></entry>\n", entry->model,
             *entry->hardware ? entry->hardware : "hardware not named",
             *entry->framework ? entry->framework : "framework not named", trust_title(entry->trust), trust_what(entry->trust));
}

static int write_atom(struct page *page, const struct contest *contest)
{
    struct entries newest, *rows;
    struct totals totals;
    TRY(store_newest(page->reader, contest, TRUST_IMPORTED, ATOM_ENTRIES, &page->arena, &newest));
    rows = arena_alloc(&page->arena, (size_t)(newest.count + 1) * sizeof *rows);
    for (int i = 0; i < newest.count; i++)
        TRY(store_entries_of(page->reader, newest.at[i].source, &page->arena, &rows[i]));
    TRY(store_totals(page->reader, &totals));
    const char *origin = page->request->store != NULL ? store_origin(page->request->store) : "dawn";
    const char *name = contest != NULL ? contest->title : "all boards", *site = page_address(page);
    const char *self = contest != NULL ? arena_text(&page->arena, "/boards/%s/feed.atom", contest->name) : "/feed.atom";
    html_add(
        page->out,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>DAWN "
        "scoreboard %s: %s%s</title>"
        "<id>tag:%s,2026:feed/%s</id><link rel=\"self\" href=\"%s%s\"/><link rel=\"alternate\" href=\"%s%s%s\"/><updated>",
        origin, name, contest != NULL && contest->synthetic ? " (demonstration, no results)" : "", origin,
        contest != NULL ? contest->name : "all", site, self, site, contest != NULL ? "/boards/" : "/",
        contest != NULL ? contest->name : "");
    moment(page->out, newest.count > 0 ? newest.at[0].accepted_ms : totals.newest_ms);
    html_add(page->out, "</updated>\n");
    for (int i = 0; i < newest.count; i++) one(page, &newest.at[i], &rows[i], origin);
    html_add(page->out, "</feed>\n");
    return 0;
}

static int show_all(struct page *page)
{
    return write_atom(page, NULL);
}

static int show_task(struct page *page)
{
    const struct contest *contest;
    TRY(request_contest(page->request, &contest));
    return write_atom(page, contest);
}

int page_atom(const struct request *request, struct answer *answer)
{
    answer->type = "application/atom+xml; charset=utf-8";
    return page_make(request, answer, show_all);
}

int page_atom_task(const struct request *request, struct answer *answer)
{
    answer->type = "application/atom+xml; charset=utf-8";
    return page_make(request, answer, show_task);
}
