// SPDX-License-Identifier: Apache-2.0
// Pages of text: rules and other documents of the repository (document.py makes their HTML), and the meaning of trust.
#include <string.h>

#include "runtime/common/base/embed.h"
#include "scoreboard/pages/page.h"

// The documents' example of a board is this one.
static void add_document(struct page *page, const char *html)
{
    static const char example[] = "https://board.example";
    for (const char *next; (next = strstr(html, example)) != NULL; html = next + sizeof example - 1) {
        text_bytes(page->out, html, (size_t)(next - html));
        html_add(page->out, "%s", page_address(page));
    }
    text_add(page->out, "%s", html);
}

// Links to the sections of a document that was written from `html` on.
static void contents(struct page *page, const char *html)
{
    static const char head[] = "<h2 id=\"";
    html = copy_text(html);  // the links are written behind it
    html_add(page->out, "<nav class=\"contents\" aria-label=\"Contents\"><ul>\n");
    for (const char *at = html; (at = strstr(at, head)) != NULL;) {
        at += sizeof head - 1;
        const int id = (int)strcspn(at, "\""), words = (int)strcspn(at + id + 2, "<");
        html_add(page->out, "<li><a href=\"#%.*s\">", id, at);
        text_bytes(page->out, at + id + 2, (size_t)words);  // escaped already
        html_add(page->out, "</a></li>\n");
    }
    html_add(page->out, "</ul></nav>\n");
    free((char *)html);
}

static int document(struct page *page, const char *path, const char *title, const char *about)
{
    const struct embedded *file = embedded_find(path);
    if (file == NULL) return fail(ERR_MISSING, "this build lacks the file %s", path);
    page_begin(page, title, about, (const struct crumb[]){{0}});
    html_add(page->out, "<div class=\"with-contents\"><article class=\"prose\">\n");
    size_t before = page->out->length;
    add_document(page, file->at);
    html_add(page->out, "</article>\n");
    contents(page, page->out->at + before);
    html_add(page->out, "</div>\n");
    page_end(page);
    return 0;
}

#define DOCUMENT(handler, ...) PAGE(handler) { return document(page, __VA_ARGS__); }
DOCUMENT(page_rules, "rules.html", "Rules", "What is measured, and how the program enforces it")
DOCUMENT(page_submit, "submit.html", "Take part", "How to submit a run")
DOCUMENT(page_record, "record.html", "Another framework", "How any training program can take part")
DOCUMENT(page_statements, "statements.html", "Statements", "The format of signed statements")
DOCUMENT(page_threats, "threats.html", "Threats", "Which attacks are stopped, which become visible, and which remain")

static void draw_section(struct page *page, const struct draw_rules *rules)
{
    const long long number = (long long)rules->sequence;
    html_add(page->out, "<h2>Drawn and repeated</h2><p>");
    if (number == 0) {
        html_add(page->out, "This board has no rules of a draw: it draws no runs, and no person's repetition raises a run to "
                            "<strong>reproduced</strong>.</p>");
        return;
    }
    html_add(page->out, "The log draws %.4g%% of new runs, by each %dth statement %.4g%% of all runs, and the best of each board "
                        "of training (<a href=\"/runs/%lld\">statement %lld</a>). The operator trains them again. Besides, ",
             (double)rules->share_micro * 1e-4, DRAW_AGAIN, (double)rules->again_micro * 1e-4, number, number);
    page_count(page->out, rules->key_count, "listed key", "listed keys");
    html_add(page->out, " may repeat any run. A board shows first what was repeated or audited. <a href=\"/rules#the-draw\">The "
                        "draw</a></p>");
}

PAGE(page_trust)
{
    struct draw_rules rules;
    TRY(store_draw_rules(page->reader, &page->arena, &rules));
    page_begin(page, "Trust", "What the levels of trust mean, and what they do not", (const struct crumb[]){{0}});
    html_add(page->out, "<article class=\"prose\"><h1>What trust means here</h1><p class=\"lead\">A signature proves "
                        "who said it, not that it is true. Every row therefore shows how far it has been checked, by a "
                        "word and a shape. Boards show checked and better entries first; <strong>All entries</strong> "
                        "shows the others too.</p>");
    page_table(page, "small", "Levels, lowest first", ":Level|:What it means");
    for (int i = 0; i < TRUSTS; i++) {
        html_add(page->out, "<tr><th scope=\"row\">");
        page_badge(page->out, (enum trust)i);
        html_add(page->out, "</th><td>%s</td></tr>\n", trust_what((enum trust)i));
    }
    html_add(page->out, "</tbody></table></div>\n<h2>What is proved</h2><ul><li>Who: the statement was signed with the "
                        "key shown and has not changed since. Anyone can verify this with OpenSSH alone; each run's page "
                        "has the commands.</li><li>When: this server accepted it at the time and the place in the "
                        "<a href=\"/log\">log</a> that its signed receipt states.</li><li>Consistency: the hash of each "
                        "point covers the point before it, the clocks are sums of the segments, the cost follows from time "
                        "and price, and the arithmetic does not exceed the peak of the stated hardware.</li></ul>"
                        "<h2>What is not proved</h2><ul><li>That the run took place. A person who knows all the rules can "
                        "invent consistent figures.</li><li>That the stated hardware was used.</li><li>The identity of the "
                        "person behind a handle.</li></ul>"
                        "<p>The strongest check is to repeat the run: the same recipe, seed and device give the same "
                        "curve, and <code>dawn replay</code> compares them. If the operator or a person whom the operator lists "
                        "has done so, the run is marked as reproduced. A key costs nothing, so other people's repetitions are "
                        "shown and raise nothing.</p>");
    draw_section(page, &rules);
    html_add(page->out, "<h2>Checked and audited</h2><p>A program runs all checks within milliseconds of an upload. Nobody "
                        "has looked at a checked run. <strong>Audited</strong> is a person's decision: a signed statement in "
                        "the log names the person, the date and the reason. It may overrule a flag. A self-evaluated run is "
                        "never audited.</p><h2>Flags</h2><p>A flag is a figure that is possible but unusual. "
                        "The run's page shows it, and a flagged run "
                        "is never called checked. A run whose program reported its own score "
                        "(<strong>self-evaluated</strong>) is not either.</p>"
                        "<h2>Synthetic data</h2><p>Runs on data that the program drew itself appear only on the "
                        "demonstration board, where they are marked. They are not results.</p></article>\n");
    page_end(page);
    return 0;
}
