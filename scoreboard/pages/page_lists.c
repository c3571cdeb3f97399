// SPDX-License-Identifier: Apache-2.0
// Pages with lists: people, results of a search, prices of machines, addresses of the API.
// Cost: a query or two; a search reads every row of every board.
#include <stdlib.h>
#include <string.h>

#include "scoreboard/pages/page.h"
#include "submit/format/score/price.h"

enum { PEOPLE_MOST = 1000, FOUND_MOST = 40 };

// ---- people -----------------------------------------------------------------------------------------------------------
static void people_table(struct page *page, const struct people *people)
{
    page_table(page, "small", "The last to submit first", "row:Handle|:Runs|:Newest run");
    for (int i = 0; i < people->count; i++) {
        const struct person_line *one = &people->at[i];
        html_add(page->out, "<tr><th scope=\"row\">");
        page_person_link(page, one->handle);
        html_add(page->out, "</th><td>%lld</td><td><a href=\"/runs/%lld\">Run %lld</a></td></tr>\n", (long long)one->runs,
                 (long long)one->newest, (long long)one->newest);
    }
    html_add(page->out, "</tbody></table></div>\n");
}

PAGE(page_people)
{
    struct people people;
    struct totals totals;
    TRY(store_people(page->reader, "", PEOPLE_MOST, &page->arena, &people));
    TRY(store_totals(page->reader, &totals));
    page_begin(page, "People", "Everybody who submitted a run", (const struct crumb[]){{0}});
    html_add(page->out, "<h1>People</h1><p class=\"lead\">A handle belongs to the first person who signed with it. Authors of "
                        "imported entries have no handle here.</p>\n");
    page_search(page, "");
    if (people.count > 0)
        people_table(page, &people);
    else
        html_add(page->out, "<p class=\"empty\">Nobody yet. <a href=\"/submit\">How to take part</a>.</p>");
    if (totals.people > people.count)
        html_add(page->out, "<p class=\"quiet\">%d of %lld people; the search finds the others.</p>", people.count,
                 (long long)totals.people);
    page_end(page);
    return 0;
}

// ---- search -----------------------------------------------------------------------------------------------------------
// q=TEXT, read by the parser of filters: no entry can hold text that it refuses.
static int read_search(const char *query, struct filter *filter)
{
    struct text words = {0};
    if (query != NULL && *query != 0 && (strncmp(query, "q=", 2) != 0 || strchr(query, '&') != NULL))
        return fail(ERR_INPUT, "the search takes q=TEXT and nothing else");
    text_add(&words, "model_part=%s", query != NULL && *query != 0 ? query + 2 : "");
    int rc = filter_read(words.at, filter);
    text_free(&words);
    return rc < 0 ? fail(rc, "the text to search for holds characters that cannot be shown, or is too long") : 0;
}

// The statement of a number or a digest, if there is one.
static bool is_statement(struct page *page, const char *words)
{
    struct stored stored;
    bool number = *words >= '1' && *words <= '9' && words[strspn(words, "0123456789")] == 0;
    bool digest = strlen(words) == DIGEST_HEX - 1 && words[strspn(words, "0123456789abcdef")] == 0;
    return (number || digest) && store_statement(page->reader, words, &page->arena, &stored) == 0;
}

PAGE(page_find)
{
    struct filter filter = {0};
    struct entries found = {0}, *rows = NULL;
    struct people people = {0};
    TRY(read_search(page->request->query, &filter));
    const char *words = filter.model[0] == '~' ? filter.model + 1 : filter.model;
    if (*words != 0) {
        TRY(store_search(page->reader, words, FOUND_MOST, &page->arena, &found));
        TRY(store_people(page->reader, words, FOUND_MOST, &page->arena, &people));
        TRY(page_uploads_read(page, &found, &rows));
    }
    bool number = is_statement(page, words);
    page_begin(page, "Search", "Entries and people by a part of their names", (const struct crumb[]){{0}});
    html_add(page->out, "<h1>Search</h1>\n");
    page_search(page, words);
    if (number)
        html_add(page->out, "<p><a href=\"/runs/%s\">Statement <bdi>%.16s</bdi></a></p>\n", words, words);
    if (people.count > 0) people_table(page, &people);
    if (found.count > 0)
        page_uploads(page, &found, rows, arena_text(&page->arena, "%lld %s, newest first, at every level of trust%s",
                                                    (long long)found.total, found.total == 1 ? "entry" : "entries",
                                                    found.total > found.count ? "; the first 40 are shown" : ""));
    if (*words != 0 && !number && people.count == 0 && found.count == 0)
        html_add(page->out, "<p class=\"empty\">No entry and no person has \"<bdi>%s</bdi>\" in a name. Each "
                            "<a href=\"/\">board</a> has filters of its own.</p>\n", words);
    page_end(page);
    return 0;
}

// ---- prices -----------------------------------------------------------------------------------------------------------
static int price_row(void *to, const struct price *price)
{
    struct page *page = to;
    html_add(page->out, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\" class=\"stem\">%s</th><td role=\"cell\" "
                        "class=\"number\">", price->instance);
    page_money(page->out, (double)price->micro_per_hour / COST_USD);
    html_add(page->out, "</td><td role=\"cell\" class=\"words\">%s</td><td role=\"cell\" class=\"date\">", price->what);
    page_day(page->out, price->date);
    html_add(page->out, "</td><td role=\"cell\" class=\"words\">%s</td></tr>\n", price->source);
    return 0;
}

PAGE(page_prices)
{
    page_begin(page, "Prices", "The prices of machines that are known by name", (const struct crumb[]){{0}});
    html_add(page->out, "<h1>Prices</h1><p class=\"lead\">The prices per hour of the machines that <code>--instance "
                        "NAME</code> knows. A price is left out where sources disagree. For any other machine give the price "
                        "yourself with "
                        "<code>--cost-per-hour USD</code>; the run then says that it is yours.</p>\n");
    page_command(page, "price-command", "dawn train cifar10 --instance c7i.xlarge");
    page_table(page, "small cards", "On-demand prices in US dollars per hour",
               "stem:Instance|number:Per hour|words:Machine|date:As of|words:Source");
    TRY(price_table(price_row, page));
    html_add(page->out, "</tbody></table></div>\n");
    page_end(page);
    return 0;
}

// ---- the API ----------------------------------------------------------------------------------------------------------
static void api_table(struct page *page, const struct route *routes)
{
    page_table(page, "small cards", "Every address of the API", "method:Method|stem:Address|words:What it is");
    for (; routes->method != NULL; routes++) {
        if (strncmp(routes->pattern, "/api/", 5) != 0 && strncmp(routes->pattern, "/log/", 5) != 0) continue;
        html_add(page->out, "<tr role=\"row\"><td role=\"cell\" class=\"method\">%s</td><th scope=\"row\" role=\"rowheader\" "
                            "class=\"stem\">", routes->method);
        if (strchr(routes->pattern, '{') == NULL && strcmp(routes->method, "GET") == 0)
            html_add(page->out, "<a href=\"%s\"><code>%s</code></a>", routes->pattern, routes->pattern);
        else
            html_add(page->out, "<code>%s</code>", routes->pattern);
        html_add(page->out, "</th><td role=\"cell\" class=\"words\">%s</td></tr>\n", routes->what);
    }
    html_add(page->out, "</tbody></table></div>\n");
}

static void filter_table(struct page *page)
{
    page_table(page, "small cards", "Keys that filter and order a board, on its page, as CSV and as JSON",
               "stem:Key|words:Values|words:What it does");
    for (int i = 0; i < filter_keys(); i++) {
        struct filter_key key;
        filter_key(i, &key);
        html_add(page->out, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\" class=\"stem\"><code>%s</code></th><td "
                            "role=\"cell\" class=\"words\">", key.name);
        for (int w = 0; w < key.word_count; w++) html_add(page->out, "%s%s", w > 0 ? ", " : "", key.words[w]);
        if (key.words == NULL) html_add(page->out, "%s", key.high > 0 ? "a whole number" : "text");
        html_add(page->out, "</td><td role=\"cell\" class=\"words\">%s</td></tr>\n", key.what);
    }
    html_add(page->out, "</tbody></table></div>\n");
}

PAGE(page_api)
{
    const struct server_settings *settings = page->request->settings;
    page_begin(page, "API", "The boards for programs: addresses, filters, examples", (const struct crumb[]){{0}});
    html_add(page->out, "<h1>API</h1><p class=\"lead\">Everything on these pages is also there for programs, without a key. "
                        "Every GET may be read from any site and answers If-None-Match; every refusal is a problem (RFC 9457) "
                        "with a "
                        "stable code. <a href=\"/api/v1/openapi.json\">OpenAPI 3.0</a> describes each answer.</p>\n");
    page_command(page, "api-commands",
                 "curl -fsS http://THIS-SITE/api/v1/tasks\n"
                 "curl -fsS 'http://THIS-SITE/api/v1/boards/cifar10/training-time?rank=group&limit=10'\n"
                 "curl -fsS 'http://THIS-SITE/boards/cifar10/training-time.csv?trust=imported' -o board.csv\n"
                 "curl -fsS http://THIS-SITE/feed.atom");
    html_add(page->out, "<p>CSV comes in parts of at most 200 rows; the header Link (rel=\"next\") names the next one.</p>\n");
    html_add(page->out, "<h2>Addresses</h2>\n");
    if (settings != NULL && settings->routes != NULL) api_table(page, settings->routes);
    html_add(page->out, "<h2>Filters</h2>\n");
    filter_table(page);
    html_add(page->out, "<p class=\"links\"><a href=\"/statements\">The form of statements</a> <a href=\"/submit\">How to take "
                        "part</a></p>\n");
    page_end(page);
    return 0;
}
