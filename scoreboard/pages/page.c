// SPDX-License-Identifier: Apache-2.0
// The frame of every page and its small figures. Invariant: a page says what board it belongs to, can be left by keyboard,
// and carries nothing that the content security policy forbids. Workload: every page. Cost: some kilobytes of text.
#include "scoreboard/pages/page.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "runtime/common/base/build.h"

int page_make(const struct request *request, struct answer *answer, page_show *show)
{
    struct page page = {.request = request, .reader = request->reader, .out = &answer->body};
    int rc = show(&page);
    arena_free(&page.arena);
    return rc;
}

static const struct crumb places[] = {
    {"Boards", "/"}, {"Rules", "/rules"}, {"Take part", "/submit"}, {"Trust", "/trust"}, {"Log", "/log"},
};

static bool is_here(const struct page *page, const char *address)
{
    if (page->request == NULL) return false;
    const char *path = page->request->path;
    bool here = strcmp(path, address) == 0, elsewhere = false;
    for (size_t i = 1; i < sizeof places / sizeof places[0]; i++) elsewhere |= strcmp(path, places[i].address) == 0;
    return here || (strcmp(address, "/") == 0 && !elsewhere);
}

static void header(struct page *page)
{
    html_add(page->out,
             "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header class=\"top\"><div class=\"width\">"
             "<a class=\"brand\" href=\"/\"><svg class=\"sun\" viewBox=\"0 0 32 24\" width=\"36\" height=\"27\" "
             "aria-hidden=\"true\">"
             "<path class=\"disc\" d=\"M8 20a8 8 0 0 1 16 0z\"/>"
             "<path class=\"rays\" d=\"M1 20h30M16 3v5M5.5 7.5l3.2 3.8M26.5 7.5l-3.2 3.8\"/></svg>"
             "<span>DAWN</span> <span class=\"quiet\">scoreboard</span></a><nav aria-label=\"Site\"><ul>");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (!is_here(page, places[i].address))
            html_add(page->out, "<li><a href=\"%s\">%s</a></li>", places[i].address, places[i].label);
        else
            html_add(page->out, "<li><a href=\"%s\" aria-current=\"%s\">%s</a></li>", places[i].address,
                     strcmp(page->request->path, places[i].address) == 0 ? "page" : "true", places[i].label);
    html_add(page->out, "</ul></nav></div></header>\n");
}

static void breadcrumbs(struct page *page, const char *title, const struct crumb *crumbs)
{
    if (crumbs == NULL) return;
    html_add(page->out, "<nav class=\"crumbs\" aria-label=\"Breadcrumbs\"><ol><li><a href=\"/\">Boards</a></li>");
    for (; crumbs->label != NULL && crumbs->address != NULL; crumbs++)
        html_add(page->out, "<li><a href=\"%s\"><bdi>%s</bdi></a></li>", crumbs->address, crumbs->label);
    html_add(page->out, "<li aria-current=\"page\"><bdi>%s</bdi></li></ol></nav>\n",
             crumbs->label != NULL ? crumbs->label : title);
}

void page_begin(struct page *page, const char *title, const char *about, const struct crumb *crumbs)
{
    html_add(
        page->out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>%s - DAWN scoreboard</title>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"description\" content=\"%s\">\n"
        "<link rel=\"stylesheet\" href=\"/style.css\">\n<link rel=\"icon\" href=\"/favicon.svg\" "
        "type=\"image/svg+xml\">\n"
        "<link rel=\"alternate\" type=\"application/atom+xml\" title=\"News of all boards\" href=\"/feed.atom\">\n"
        "<script src=\"/script.js\" defer></script>\n</head>\n<body data-address=\"%s\">\n",
        title, about, page_is_copy(page) ? "" : page_address(page));
    header(page);
    html_add(page->out, "<div class=\"width\">\n");
    breadcrumbs(page, title, crumbs);
    html_add(page->out, "<main id=\"main\" tabindex=\"-1\">\n");
}

void page_end(struct page *page)
{
    html_add(page->out, "</main>\n</div>\n<footer><div class=\"width\"><p>");
    if (page->request != NULL && page->request->store != NULL) {
        char id[SSHKEY_ID];
        html_add(page->out, "Board <b>%s</b>, whose receipts are signed with <span class=\"digest\">%s</span>. ",
                 store_origin(page->request->store), sshkey_id(store_key(page->request->store), id));
    }
    if (page_is_copy(page)) {
        html_add(page->out, "A copy of ");
        page_moment(page->out, page->request->settings->copy_ms);
        html_add(page->out, ". ");
    }
    html_add(page->out,
             "A signature proves who said something, not that it is true.</p><p>DAWN %s. <a href=\"/rules\">Rules</a> <a "
             "href=\"/people\">People</a> <a href=\"/machines\">Machines</a> <a "
             "href=\"/competitions\">Competitions</a> <a href=\"/prices\">Prices</a> <a "
             "href=\"/search\">Search</a> <a href=\"/api.html\">API</a> <a href=\"/feed.atom\">Atom</a></p></div></footer>\n"
             "</body>\n</html>\n",
             build_version());
}

void page_problem(enum problem problem, const char *detail, struct answer *answer)
{
    struct page page = {.out = &answer->body};
    answer->status = problem_status(problem);
    answer->type = "text/html; charset=utf-8";
    answer->body.length = 0;
    page_begin(&page, problem_title(problem), "Something went wrong", NULL);
    html_add(page.out, "<p class=\"over\">%d</p><h1>%s</h1>", problem_status(problem), problem_title(problem));
    if (detail != NULL && *detail != 0)  // messages begin with a small letter and have no full stop
        html_add(page.out, "<p class=\"lead\"><bdi>%s</bdi></p>",
                 arena_text(&page.arena, "%c%s.", toupper((unsigned char)*detail), detail + 1));
    if (problem == PROBLEM_NOT_FOUND) page_search(&page, "");
    html_add(page.out, "<p><a class=\"button\" href=\"/\">All boards</a> <a class=\"button plain\" "
                       "href=\"/people\">People</a></p>");
    page_end(&page);
    arena_free(&page.arena);
}

// ---- small things -----------------------------------------------------------------------------------------------------
void page_badge(struct text *out, enum trust trust)
{
    static const char *const shapes[TRUSTS] = {
        [TRUST_IMPORTED] = "<circle class=\"dashed\" cx=\"8\" cy=\"8\" r=\"6\"/>",
        [TRUST_SIGNED] =
            "<circle class=\"open\" cx=\"8\" cy=\"8\" r=\"6\"/><path class=\"full\" d=\"M8 2a6 6 0 0 0 0 12z\"/>",
        [TRUST_CHECKED] = "<circle class=\"full\" cx=\"8\" cy=\"8\" r=\"7\"/><path class=\"tick-mark\" d=\"M4.5 "
                          "8.3l2.4 2.4 4.6-5\"/>",
        [TRUST_WITNESSED] = "<path class=\"open\" d=\"M1 8q7-10 14 0q-7 10-14 0z\"/><circle class=\"full\" cx=\"8\" "
                            "cy=\"8\" r=\"2.6\"/>",
        [TRUST_AUDITED] = "<path class=\"full\" d=\"M8 0l6.5 2.5v5q0 5.5-6.5 8.5q-6.5-3-6.5-8.5v-5z\"/><path "
                          "class=\"tick-mark\" d=\"M4.5 8l2.4 2.4 4.6-5\"/>",
        [TRUST_REPRODUCED] = "<circle class=\"open\" cx=\"5.5\" cy=\"8\" r=\"4.5\"/><circle class=\"full\" cx=\"10.5\" "
                             "cy=\"8\" r=\"4.5\"/>",
    };
    html_add(
        out,
        "<span class=\"badge trust-%s\"><svg viewBox=\"0 0 16 16\" width=\"16\" height=\"16\" aria-hidden=\"true\">",
        trust_word(trust));
    text_bytes(out, shapes[trust], strlen(shapes[trust]));  // a literal of this file
    html_add(out, "</svg>%s</span>", trust_title(trust));
}

void page_moment(struct text *out, int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm day;
    char machine[40], people[40];
    if (unix_ms <= 0 || gmtime_r(&seconds, &day) == NULL) {
        html_add(out, "not known");
        return;
    }
    strftime(machine, sizeof machine, "%Y-%m-%dT%H:%M:%SZ", &day);
    strftime(people, sizeof people, "%Y-%m-%d %H:%M", &day);
    html_add(out, "<time datetime=\"%s\">%s UTC</time>", machine, people);
}

void page_day(struct text *out, const char *date)
{
    if (date == NULL || strlen(date) != 10)
        html_add(out, "%s", date);
    else
        html_add(out, "<time datetime=\"%s\">%s</time>", date, date);
}

void page_value(struct text *out, enum board board, double value)
{
    char words[BOARD_VALUE];
    html_add(out, "%s", board_value(board, value, words));
}

void page_figure(struct text *out, enum board board, double value)
{
    bool item = board == BOARD_INFERENCE_COST;
    page_value(out, item ? BOARD_TRAINING_COST : board, item ? value * 10000 : value);
}

const char *page_figure_name(enum board board)
{
    static const char *const names[BOARDS] = {"Time", "Cost", "Latency", "Cost of 10,000"};
    return names[board];
}

static const struct run_metric share = {.name = "", .unit = "%", .items = 1};  // without a contest

char *page_score_text(const struct contest *contest, double score, char into[TEXT_FIGURE])
{
    const struct run_metric *metric = contest != NULL ? &contest->board : &share;
    bool wild = metric->items > 0 && !(score >= 0 && score <= 1);  // no count of items
    return run_metric_value_text(metric, wild ? NAN : score, into);
}

void page_score(struct text *out, const struct contest *contest, double score)
{
    char words[TEXT_FIGURE];
    html_add(out, "%s", page_score_text(contest, score, words));
}

void page_span(struct text *out, int64_t ns)
{
    page_value(out, BOARD_TRAINING_TIME, (double)ns / 1e9);
}

const char *page_span_text(struct page *page, int64_t ns)
{
    char words[BOARD_VALUE];
    return arena_text(&page->arena, "%s", board_value(BOARD_TRAINING_TIME, (double)ns / 1e9, words));
}

void page_money(struct text *out, double usd)
{
    if (usd < 0)
        html_add(out, "<span class=\"quiet\">not known</span>");
    else
        page_value(out, BOARD_TRAINING_COST, usd);
}

void page_energy(struct text *out, double joules)
{
    char words[TEXT_FIGURE];
    if (joules < 0)
        html_add(out, "<span class=\"quiet\">-</span>");
    else
        html_add(out, "%s", text_si(words, joules, "J"));
}

void page_count(struct text *out, int64_t count, const char *one, const char *many)
{
    html_add(out, "<b>%lld</b> %s", (long long)count, count == 1 ? one : many);
}

void page_person_link(struct page *page, const char *handle)
{
    if (*handle == 0)
        html_add(page->out, "this server");
    else
        html_add(page->out, "<a href=\"/people/%s\"><bdi>%s</bdi></a>", html_part(&page->arena, handle), handle);
}

const char *page_address(const struct page *page)
{
    const struct server_settings *settings = page->request != NULL ? page->request->settings : NULL;
    return settings != NULL && settings->url != NULL ? settings->url : "http://THIS-SITE";
}

bool page_is_copy(const struct page *page)
{
    return page->request != NULL && page->request->settings != NULL && page->request->settings->copy_ms != 0;
}

void page_no_server(struct page *page, const char *what)
{
    html_add(page->out, "<p class=\"quiet\">%s the board's server; this is a copy of its pages.</p>\n", what);
}

int page_read_number(const struct page *page, const char *name, const char *what, int64_t *number)
{
    const char *query = page->request->query;
    const size_t length = strlen(name);
    *number = -1;
    if (query == NULL || *query == 0) return 0;
    if (strncmp(query, name, length) != 0 || query[length] != '=' || text_to_int(query + length + 1, 0, INT64_MAX, number) < 0)
        return fail(ERR_INPUT, "%s takes %s=NUMBER", what, name);
    return 0;
}

void page_search(struct page *page, const char *words)
{
    if (page_is_copy(page)) {
        page_no_server(page, "Search needs");
        return;
    }
    html_add(page->out,
             "<form class=\"inline search\" role=\"search\" method=\"get\" action=\"/search\"><div class=\"field\"><label "
             "for=\"search\">Search</label> <input id=\"search\" name=\"q\" type=\"search\" value=\"%s\" "
             "maxlength=\"100\" placeholder=\"person, model, machine, number\" autocomplete=\"off\"></div><button "
             "type=\"submit\">Search</button></form>\n",
             words);
}

void page_command(struct page *page, const char *id, const char *commands)
{
    static const char placeholder[] = "http://THIS-SITE";
    struct text words = {0};
    for (const char *at = commands, *next; *at != 0; at = next) {
        next = strstr(at, placeholder);
        text_bytes(&words, at, next != NULL ? (size_t)(next - at) : strlen(at));
        if (next == NULL) break;
        text_add(&words, "%s", page_address(page));
        next += sizeof placeholder - 1;
    }
    commands = arena_text(&page->arena, "%s", words.at);
    text_free(&words);
    html_add(page->out,
             "<div class=\"command\"><pre id=\"%s\" tabindex=\"0\" role=\"region\" "
             "aria-label=\"Commands\"><code>%s</code></pre></div>",
             id, commands);
}

void page_note(struct text *out, const char *kind, const char *title, const char *sentence)
{
    html_add(out, "<p class=\"note %s\"><strong>%s</strong> <bdi>%s</bdi></p>\n", kind, title, sentence);
}

void page_demo_note(struct page *page, const struct contest *contest)
{
    if (contest != NULL && contest->synthetic)
        page_note(page->out, "demo", "Demonstration, no results.",
                  "These runs trained on data that the program drew itself (synthetic). They show how the boards work and say "
                  "nothing about the rank of a machine or a model.");
}

void page_table(struct page *page, const char *class, const char *caption, const char *heads)
{
    int n = ++page->tables;
    html_add(page->out,
             "<div class=\"scroll\" role=\"region\" aria-labelledby=\"table-%d\" tabindex=\"0\"><table class=\"%s\" "
             "role=\"table\"><caption id=\"table-%d\">%s</caption><thead role=\"rowgroup\"><tr role=\"row\">",
             n, class, n, caption);
    for (const char *at = heads; *at != 0;) {
        const int name = (int)strcspn(at, ":"), label = (int)strcspn(at + name + 1, "|");
        html_add(page->out, "<th scope=\"col\" role=\"columnheader\" class=\"%.*s\">%.*s</th>", name, at, label, at + name + 1);
        at += name + 1 + label;
        at += *at == '|';
    }
    if (*heads != 0) html_add(page->out, "</tr></thead><tbody role=\"rowgroup\">\n");
}

void page_tab(struct page *page, const char *address, const char *label, bool here)
{
    if (here)
        html_add(page->out, "<li><a href=\"%s\" aria-current=\"page\">%s</a></li>", address, label);
    else
        html_add(page->out, "<li><a href=\"%s\">%s</a></li>", address, label);
}

const char *page_view_address(struct arena *arena, enum view view, const struct filter *filter)
{
    static const char *const tails[] = {[VIEW_BOARD] = "", [VIEW_HISTORY] = "/history", [VIEW_CSV] = ".csv", [VIEW_JSON] = ""};
    struct text query = {0};
    // A board's bare address shows its groups, if it has any.
    if (view == VIEW_BOARD && filter->rank == RANK_CLASSIC) text_add(&query, "rank=%s", rank_word(RANK_CLASSIC));
    struct text rest = {0};
    filter_write(filter, &rest);
    if (rest.length > 0) text_add(&query, "%s%s", query.length > 0 ? "&" : "", rest.at);
    text_free(&rest);
    const char *mark = query.length > 0 ? "?" : "", *words = query.length > 0 ? query.at : "", *address;
    if (view == VIEW_PARETO)
        address = arena_text(arena, "/boards/%s/pareto%s%s", filter->contest->name, mark, words);
    else
        address = arena_text(arena, "%s/boards/%s/%s%s%s%s", view == VIEW_JSON ? "/api/v1" : "", filter->contest->name,
                             board_word(filter->board), tails[view], mark, words);
    text_free(&query);
    return address;
}

void page_rank_tabs(struct page *page, enum view view, const struct filter *here)
{
    struct filter other = *here;
    other.cursor[0] = 0;
    html_add(page->out, "<div class=\"choices\"><nav class=\"tabs ranks\" aria-label=\"Single runs or groups\"><ul>");
    for (int i = RANKS - 1; i >= 0; i--) {
        other.rank = (enum rank)i;
        page_tab(page, page_view_address(&page->arena, view, &other), i == RANK_GROUP ? "Groups" : "Single runs",
                 here->rank == other.rank);
    }
    html_add(page->out, "</ul></nav>\n<nav class=\"tabs ranks\" aria-label=\"Checked entries or all\"><ul>");
    other = *here;
    other.cursor[0] = 0;
    other.trust = TRUST_CHECKED;
    page_tab(page, page_view_address(&page->arena, view, &other), "Checked", here->trust == TRUST_CHECKED);
    other.trust = TRUST_IMPORTED;
    page_tab(page, page_view_address(&page->arena, view, &other), "All entries", here->trust == TRUST_IMPORTED);
    html_add(page->out, "</ul></nav></div>\n");
}

const char *page_task_title(const char *name)
{
    const struct contest *contest = contest_find(name);
    return contest != NULL ? contest->title : name;
}
