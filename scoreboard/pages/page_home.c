// SPDX-License-Identifier: Apache-2.0
// The front page: an introduction, the records of every task, news, how to take part.
// Workload: most visits begin here. Cost: eight queries a task, each for one row.
#include "scoreboard/pages/page.h"

enum { HOME_NEWEST = 8 };

static void totals_line(struct page *page, const struct totals *totals)
{
    const struct {
        int64_t count;
        const char *one, *many;
    } parts[] = {{totals->runs, "signed run", "signed runs"},
                 {totals->groups, "group", "groups"},
                 {totals->people, "person", "people"},
                 {totals->imports, "entry of DAWNBench's archive", "entries of DAWNBench's archive"}};
    html_add(page->out, "<ul class=\"totals\">");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        html_add(page->out, "<li>");
        page_count(page->out, parts[i].count, parts[i].one, parts[i].many);
        html_add(page->out, "</li>");
    }
    html_add(page->out, "</ul>");
}

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

static bool any_best(struct entry *best[BOARDS][RANKS])
{
    for (int i = 0; i < BOARDS * RANKS; i++)
        if (best[i / RANKS][i % RANKS] != NULL) return true;
    return false;
}

static void empty_contest(struct page *page, const struct contest *contest)
{
    html_add(page->out, "<p>No records yet: <a href=\"/submit\">be the first</a>.</p><ul class=\"links\">");
    for (int i = 0; i < BOARDS; i++)
        html_add(page->out, "<li><a href=\"/boards/%s/%s\">%s</a></li>", contest->name, board_word((enum board)i),
                 board_title((enum board)i));
    html_add(page->out, "</ul>\n");
}

static int show_home(struct page *page)
{
    int count;
    const struct contest *contests = contest_table(&count);
    struct entry *best[CONTESTS_MAX][BOARDS][RANKS];
    BUG_IF(count > CONTESTS_MAX);
    enum trust least;
    TRY(page_read_trust(page, &least));
    for (int i = 0; i < count; i++) TRY(page_find_bests(page, &contests[i], least, best[i]));
    struct entries newest, *rows;
    struct totals totals;
    TRY(store_newest(page->reader, NULL, least, HOME_NEWEST, &page->arena, &newest));
    TRY(page_uploads_read(page, &newest, &rows));
    TRY(store_totals(page->reader, &totals));

    page_begin(page, "Boards",
               "Time and cost to train a model to a fixed accuracy, and how fast it answers: open, signed, verifiable.",
               NULL);
    html_add(page->out, "<section class=\"hero\"><h1>How long until it has learned?</h1><p class=\"lead\">These boards "
                        "rank the time and the cost of training a model to a stated accuracy, and the speed of the trained "
                        "model. Every run is signed, shows its whole curve, and can be verified by anyone. Runs that DAWN's "
                        "harness evaluated and a program checked come first. Self-evaluated entries and those of DAWNBench's "
                        "archive are one click away, marked.</p>");
    totals_line(page, &totals);
    html_add(page->out, "</section>\n");
    page_trust_tabs(page, least);
    if (least < TRUST_CHECKED)
        page_note(page->out, "info", "All entries.",
                  "Only their authors measured some of these figures. Each row says how far it was checked.");
    html_add(page->out, "<div class=\"contests\">\n");
    for (int i = 0; i < count; i++) {
        bool any = any_best(best[i]);
        html_add(page->out,
                 "<section class=\"contest%s%s\" aria-labelledby=\"task-%s\"><h2 id=\"task-%s\"><a "
                 "href=\"/boards/%s\">%s</a></h2><p>%s</p>\n",
                 contests[i].synthetic ? " demo" : "", any ? "" : " none", contests[i].name, contests[i].name, contests[i].name,
                 contests[i].title, contests[i].about);
        page_demo_note(page, &contests[i]);
        if (any)
            page_bests(page, &contests[i], least, best[i]);
        else
            empty_contest(page, &contests[i]);
        html_add(page->out, "</section>\n");
    }
    html_add(page->out, "</div>\n<section aria-labelledby=\"new\"><h2 id=\"new\">New on the boards</h2>");
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

int page_home(const struct request *request, struct answer *answer)
{
    return page_make(request, answer, show_home);
}
