// SPDX-License-Identifier: Apache-2.0
// Competitions: the list, and each with its phase, its dates, its rules and who committed. The page of a competition depends on
// the clock, so it is never cached. Workload: some competitions a year. Cost: a query, and one per contender.
#include "runtime/common/base/clock.h"
#include "scoreboard/pages/page.h"

static void what_is_ranked(struct page *page, const struct competition *c)
{
    if (c->contest == NULL) html_add(page->out, "<bdi>%s, %s</bdi>: no board of this server", c->task, c->ranked_by);
    if (c->contest == NULL) return;
    html_add(page->out, "<a href=\"/boards/%s/%s\">%s, %s</a>, %s", c->contest->name, board_word(c->board), c->contest->title,
             board_title(c->board), c->rank == RANK_GROUP ? "groups" : "single runs");
    if (c->closed) html_add(page->out, ", closed division");
}

// To the second, unlike page_moment: a deadline is exact.
static void deadline(struct page *page, int64_t ms)
{
    char words[TEXT_FIGURE];
    html_add(page->out, "%s", text_moment(words, ms));
}

// ---- the list
static void list_table(struct page *page, const struct competition_stored *list, int count)
{
    page_table(page, "small cards labelled", "Newest first; times are UTC",
               "row:Competition|:Ranked by|:Commitments until|:Runs until|:Committed");
    for (int i = 0; i < count; i++) {
        const struct competition *c = &list[i].about;
        page_row_name(page);
        html_add(page->out, "<a href=\"/competitions/%s\"><bdi>%s</bdi></a>%s</th>", html_part(&page->arena, c->name), c->title,
                 list[i].cancelled != 0 ? " (cancelled)" : "");
        page_cell(page, "Ranked by");
        what_is_ranked(page, c);
        html_add(page->out, "</td>");
        page_cell(page, "Commitments until");
        deadline(page, c->commits_until_ms);
        html_add(page->out, "</td>");
        page_cell(page, "Runs until");
        deadline(page, c->reveals_until_ms);
        html_add(page->out, "</td>");
        page_cell(page, "Committed");
        html_add(page->out, "%lld</td></tr>\n", (long long)list[i].contenders);
    }
    html_add(page->out, "</tbody></table></div>\n");
}

PAGE(page_competitions)
{
    struct competition_stored *list;
    int count;
    TRY(store_competitions(page->reader, &page->arena, &list, &count));
    page_begin(page, "Competitions", "Competitions on these boards", (const struct crumb[]){{0}});
    html_add(page->out, "<h1>Competitions</h1><p class=\"lead\">Participants first commit to runs that nobody has seen, and "
                        "publish them after the deadline. Nobody can wait for the figures of others.</p>\n");
    if (count > 0) list_table(page, list, count);
    else html_add(page->out, "<p class=\"empty\">None yet. The <a href=\"/\">boards</a> are always open.</p>\n");
    html_add(page->out, "<p class=\"links\"><a href=\"/rules\">Rules</a> <a href=\"/api/v1/competitions\">JSON</a></p>\n");
    page_end(page);
    return 0;
}

// ---- one
static void dates(struct page *page, const struct competition_stored *c)
{
    const struct {
        const char *label;
        int64_t ms;
    } moments[] = {{"Begins", c->about.begins_ms},
                   {"Commitments until", c->about.commits_until_ms},
                   {"Runs from then until", c->about.reveals_until_ms},
                   {"Announced", c->accepted_ms}};
    html_add(page->out, "<dl class=\"facts\"><div><dt>Ranked by</dt><dd>");
    what_is_ranked(page, &c->about);
    if (c->about.contest != NULL) {
        html_add(page->out, ", target ");
        page_score(page->out, c->about.contest, (double)c->about.target_micro / 1e6);
    }
    html_add(page->out, "</dd></div><div><dt>Places</dt><dd>");
    page_badge(page->out, c->about.least);
    html_add(page->out, " or better</dd></div>");
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        html_add(page->out, "<div><dt>%s</dt><dd>", moments[i].label);
        deadline(page, moments[i].ms);
        html_add(page->out, "</dd></div>");
    }
    html_add(page->out, "<div><dt>Statement</dt><dd><a href=\"/runs/%lld\">%lld</a>, signed by this board</dd></div></dl>\n",
             (long long)c->sequence, (long long)c->sequence);
}

// The phase, and how long it lasts. A static copy shows the phase of the moment at which it was made.
static void phase(struct page *page, const struct competition *c)
{
    static const char *const phases[][2] = {[COMPETITION_AHEAD] = {"Not open yet.", "Opens in"},
                                            [COMPETITION_COMMITS] = {"Open for commitments.", "Time left:"},
                                            [COMPETITION_REVEALS] = {"Runs are being published.", "Time left:"},
                                            [COMPETITION_OVER] = {"Over.", ""}};
    const int64_t ends[] = {c->begins_ms, c->commits_until_ms, c->reveals_until_ms};
    const int64_t now = page_is_copy(page) ? page->request->settings->copy_ms : clock_unix_ms();
    const enum competition_phase here = competition_phase(c, now);
    html_add(page->out, "<p class=\"note %s\"><strong>%s</strong> %s ", here == COMPETITION_OVER ? "info" : "good",
             phases[here][0], phases[here][1]);
    const int64_t minutes = here != COMPETITION_OVER ? (ends[here] - now) / 60000 : 0, days = minutes / 1440;
    if (days > 1) html_add(page->out, "%lld days", (long long)days);
    else if (here != COMPETITION_OVER) html_add(page->out, "%lld h %lld min", (long long)minutes / 60, (long long)minutes % 60);
    html_add(page->out, "</p>\n");
}

// The first three, from the moment that somebody has a place.
static void podium(struct page *page, const struct competition *c, const struct contender *list, int count)
{
    if (count == 0 || list[0].place == 0) return;
    html_add(page->out, "<dl class=\"headline\">");
    for (int i = 0; i < count && i < 3 && list[i].place > 0; i++) {
        html_add(page->out, "<div><dt>%d. ", i + 1);
        page_person_link(page, list[i].handle);
        html_add(page->out, "<small><bdi>%s</bdi>, <bdi>%s</bdi></small></dt><dd>", list[i].entry.model, list[i].entry.hardware);
        page_figure(page->out, c->board, list[i].entry.value);
        html_add(page->out, "</dd></div>");
    }
    html_add(page->out, "</dl>\n");
}

static void contender_row(struct page *page, const struct competition *c, const struct contender *one)
{
    page_row_name(page);
    if (one->place > 0) html_add(page->out, "%lld. ", (long long)one->place);
    page_person_link(page, one->handle);
    if (one->listed && *one->entry.team != 0) html_add(page->out, "<small><bdi>%s</bdi></small>", one->entry.team);
    html_add(page->out, "</th>");
    page_cell(page, page_figure_name(c->board));
    if (one->listed) {
        html_add(page->out, "<a href=\"%s\">", page_entry_address(&page->arena, &one->entry));
        page_figure(page->out, c->board, one->entry.value);
        html_add(page->out, "</a>");
    } else if (one->run > 0) {
        html_add(page->out, "<a href=\"/runs/%lld\">run %lld</a>", (long long)one->run, (long long)one->run);
    } else {
        html_add(page->out, "-");
    }
    html_add(page->out, "</td>");
    page_cell(page, "Model and hardware");
    if (one->listed)
        html_add(page->out, "<bdi>%s</bdi><small><bdi>%s</bdi></small>", one->entry.model, one->entry.hardware);
    else html_add(page->out, "-");
    html_add(page->out, "</td>");
    page_cell(page, "Trust");
    if (one->listed) page_badge(page->out, one->entry.trust);
    else html_add(page->out, "-");
    html_add(page->out, "</td>");
    page_cell(page, "Committed");
    html_add(page->out, "<a href=\"/runs/%lld\">", (long long)one->sequence);
    page_moment(page->out, one->accepted_ms);
    html_add(page->out, "</a></td>");
    page_cell(page, "Runs sent");
    html_add(page->out, "%d of %d</td>", one->revealed, one->runs);
    page_cell(page, "Remarks");
    html_add(page->out, "%s", competition_mark(c, one));
    if (one->undecided > 0)
        html_add(page->out, "<small>%d objection%s not decided</small>", one->undecided, one->undecided == 1 ? "" : "s");
    html_add(page->out, "</td></tr>\n");
}

static void contenders(struct page *page, const struct competition_stored *c, const struct contender *list, int count)
{
    html_add(page->out, "<h2>Entries</h2><p>");
    page_count(page->out, c->contenders, "person has committed", "people have committed");
    html_add(page->out, "; <b>%lld</b> of them sent all runs. The order may change until the last moment above. A "
                        "commitment whose runs were never sent stays in this list, and so does a withdrawn entry. A team below "
                        "a handle is the word of the author.</p>\n",
             (long long)c->entered);
    if (count == 0) return;
    page_table(page, "small cards labelled", "Those with a place first; equal figures in the order of the commitments",
               arena_text(&page->arena, "row:Place and author|:%s|:Model and hardware|:Trust|:Committed|:Runs sent|:Remarks",
                          page_figure_name(c->about.board)));
    for (int i = 0; i < count; i++) contender_row(page, &c->about, &list[i]);
    html_add(page->out, "</tbody></table></div>\n");
    if (c->contenders > count) html_add(page->out, "<p class=\"quiet\">The first %d are shown.</p>\n", count);
}

static void cancelled_note(struct page *page, const struct competition_stored *c)
{
    struct stored decision;
    struct statement said = {0};
    if (c->cancelled == 0 || store_audit_of(page->reader, c->digest, &page->arena, &decision) < 0) return;
    if (statement_read(decision.payload, decision.payload_count, &said) < 0) return;
    html_add(page->out, "<p class=\"note warn\"><strong>Cancelled</strong> by <bdi>%s</bdi>, ", canonical_text(said.json, "by"));
    page_moment(page->out, decision.accepted_ms);
    html_add(page->out, " (<a href=\"/runs/%lld\">statement %lld</a>): <q><bdi>%s</bdi></q> It takes nothing more.</p>\n",
             (long long)decision.sequence, (long long)decision.sequence, canonical_text(said.json, "reason"));
    statement_free(&said);
}

static void how_to_enter(struct page *page, const struct competition *c)
{
    const char *what = c->rank == RANK_GROUP ? "--group GROUP" : "--run RUN";
    html_add(page->out, "<h2>How to enter</h2><p>Before the first deadline this commits to a run of your record that is on no "
                        "board yet. After it, the same command without <code>%s</code> publishes the runs of your "
                        "commitment.</p>",
             what);
    page_command(page, "enter", arena_text(&page->arena, "dawn submit --server http://THIS-SITE --competition %s %s", c->name,
                                           what));
    html_add(page->out, "<p class=\"links\"><a href=\"/rules#competitions\">Rules of competitions</a> <a "
                        "href=\"/api/v1/competitions/%s\">JSON</a></p>\n", html_part(&page->arena, c->name));
}

static int show_one(struct page *page)
{
    struct competition_stored c;
    struct contender *list;
    int count;
    TRY(store_competition(page->reader, page->request->word[0], &page->arena, &c));
    TRY(store_contenders(page->reader, &c, &page->arena, &list, &count));
    page_begin(page, c.about.title, "A competition", (const struct crumb[]){{"Competitions", "/competitions"}, {0}});
    html_add(page->out, "<h1><bdi>%s</bdi></h1>\n", c.about.title);
    cancelled_note(page, &c);
    if (c.cancelled == 0) phase(page, &c.about);
    if (c.about.contest != NULL) page_demo_note(page, c.about.contest);
    podium(page, &c.about, list, count);
    html_add(page->out, "<p><bdi>%s</bdi></p>\n", c.about.rules);
    if (*c.about.url != 0) {
        html_add(page->out, "<p>");
        html_link(page->out, c.about.url, c.about.url);
        html_add(page->out, "</p>\n");
    }
    dates(page, &c);
    contenders(page, &c, list, count);
    if (c.about.contest != NULL) how_to_enter(page, &c.about);
    page_end(page);
    return 0;
}

int page_competition(const struct request *request, struct answer *answer)
{
    answer->live = true;
    return page_make(request, answer, show_one);
}
