// SPDX-License-Identifier: Apache-2.0
// The front page: who leads every task, news, how to take part.
// Workload: most visits begin here. Cost: one to three passes over the training times of each task.
#include <stdio.h>

#include "scoreboard/pages/page.h"

enum { HOME_NEWEST = 8 };

static void take_part(struct page *page)
{
    html_add(page->out, "<section aria-labelledby=\"part\"><h2 id=\"part\">Take part</h2><p>Train a model, check what "
                        "would be published, sign it with your SSH key (or one from <code>dawn keys new</code>), and send "
                        "it. A board ranks it within a second.</p>");
    page_command(page, "part-commands",
                 "dawn train cifar10 --data synthetic         # no download; goes to the demonstration board\n"
                 "dawn submit --dry-run --handle YOUR-NAME    # runs every check, shows what would be published\n"
                 "dawn submit --server http://THIS-SITE --handle YOUR-NAME");
    html_add(page->out, "<p><a class=\"button\" href=\"/submit\">How to submit</a> <a class=\"button plain\" "
                        "href=\"/rules\">The rules</a></p></section>\n");
}

// Who leads a task in training time: by an official group, else by a single run, else by an entry of DAWNBench's archive. Each of
// `records` was the best when it was accepted, and the last one leads.
static int find_leader(struct page *page, struct filter *filter, struct entries *records)
{
    static const struct {
        enum rank rank;
        enum trust least;
    } order[] = {{RANK_GROUP, TRUST_CHECKED}, {RANK_CLASSIC, TRUST_CHECKED}, {RANK_CLASSIC, TRUST_IMPORTED}};
    const struct contest *contest = filter->contest;
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        *filter = filter_plain(contest, BOARD_TRAINING_TIME, order[i].rank);
        filter->trust = order[i].least;
        if (order[i].least == TRUST_IMPORTED) snprintf(filter->source, sizeof filter->source, "dawnbench");
        TRY(store_history(page->reader, filter, &page->arena, records));
        if (records->count > 0) return 0;
    }
    return 0;
}

static void task_row(struct page *page, const struct filter *filter, const struct entries *records)
{
    const struct contest *contest = filter->contest;
    const struct entry *leader = records->count > 0 ? &records->at[records->count - 1] : NULL;
    bool grey = leader == NULL || leader->trust < TRUST_CHECKED || contest->synthetic;
    html_add(page->out, "<tr role=\"row\" class=\"%s\"><th scope=\"row\" role=\"rowheader\"><a href=\"/boards/%s\">%s</a><small>",
             grey ? "unchecked" : "", contest->name, contest->title);
    if (contest->synthetic) html_add(page->out, "drawn images, no results");
    else page_score(page->out, contest, (double)contest->target_micro[0] / 1e6);
    html_add(page->out, "%s%s</small></th>", contest->synthetic ? "" : " ", contest->synthetic ? "" : contest->metric_title);
    if (leader == NULL) {
        html_add(page->out, "<td role=\"cell\" class=\"none\" colspan=\"6\">No checked entry yet: <a href=\"/boards/%s/%s\">be "
                            "the first</a></td></tr>\n",
                 contest->name, board_word(filter->board));
        return;
    }
    page_row_value(page, leader);
    page_row_names(page, leader);
    html_add(page->out, "<td role=\"cell\" class=\"date\">");
    page_day(page->out, leader->date);
    html_add(page->out, "</td><td role=\"cell\" class=\"spark\"><a href=\"%s\">",
             page_view_address(&page->arena, VIEW_HISTORY, filter));
    page_history_spark(page, records);
    html_add(page->out, "</a></td></tr>\n");
}

PAGE(page_home)
{
    int count;
    const struct contest *contests = contest_table(&count);
    struct filter leaders[CONTESTS_MAX];
    struct entries records[CONTESTS_MAX], newest, *rows;
    struct totals totals;
    if (page->request->query != NULL && *page->request->query != 0) return fail(ERR_INPUT, "the front page takes no query");
    for (int i = 0; i < count; i++) {
        leaders[i].contest = &contests[i];
        TRY(find_leader(page, &leaders[i], &records[i]));
    }
    TRY(store_newest(page->reader, NULL, TRUST_CHECKED, HOME_NEWEST, &page->arena, &newest));
    TRY(page_uploads_read(page, &newest, &rows));
    TRY(store_totals(page->reader, &totals));

    page_begin(page, "Boards",
               "Time and cost to train a model to a fixed accuracy, and how fast it answers: open, signed, verifiable.",
               NULL);
    html_add(page->out, "<h1>How fast can a model be trained?</h1><p class=\"lead\">Each task has a target. The time to it "
                        "counts, from the first byte read. Every run is signed, and anyone can verify it.</p>\n");
    page_table(page, "small cards leaders",
                    "The best training time of each task; grey: an imported entry, or a demonstration",
               "row:Task and target|value:Time|model:Model and machine|who:Who leads|trust:Trust|date:When|"
               "spark:Record over time");
    for (int empty = 0; empty < 2; empty++)  // tasks that somebody leads come first
        for (int i = 0; i < count; i++)
            if ((records[i].count == 0) == empty) task_row(page, &leaders[i], &records[i]);
    html_add(page->out, "</tbody></table></div>\n<p class=\"quiet\">");
    page_count(page->out, totals.runs, "signed run", "signed runs");
    html_add(page->out, " by ");
    page_count(page->out, totals.people, "person", "people");
    html_add(page->out, ", and ");
    page_count(page->out, totals.imports, "imported entry", "imported entries");
    html_add(page->out, ".</p>\n<section aria-labelledby=\"new\"><h2 id=\"new\">New on the boards</h2>");
    if (newest.count > 0)
        page_uploads(page, &newest, rows, "The newest uploads to all boards except the demonstration");
    else
        html_add(page->out, "<p class=\"quiet\">Nothing yet.</p>");
    page_search(page, "");
    html_add(page->out, "</section>\n");
    take_part(page);
    page_end(page);
    return 0;
}
