// SPDX-License-Identifier: Apache-2.0
// What pages say of the draw: on the page of a run that was drawn, and of the statement with the rules.
#include "scoreboard/pages/run/page_run.h"

static void statement_link(struct page *page, int64_t sequence)
{
    html_add(page->out, "<a href=\"/runs/%lld\">statement %lld</a>", (long long)sequence, (long long)sequence);
}

void drawn_note(struct page *page, const struct drawn *d)
{
    static const char *const whys[] = {"The log drew this run", "The log drew this run among all",
                                       "This run was the best of a board, so it was drawn"};
    html_add(page->out, "<p>%s: ", whys[d->why]);
    page_moment(page->out, d->since_ms);
    html_add(page->out, ", ");
    statement_link(page, d->checkpoint);
    if (d->waits)
        html_add(page->out, ". <strong>Nobody whose repetition counts has repeated it since.</strong>");
    else if (d->verdict == DRAWN_OPEN)
        html_add(page->out, ".");
    else {
        html_add(page->out, ". The operator trained it again for %.6g epoch%s on <bdi>%s</bdi>: <strong>",
                 (double)d->epoch_micro * 1e-6, d->epoch_micro == 1000000 ? "" : "s",
                 *d->hardware ? d->hardware : "a machine without a name");
        if (d->verdict == DRAWN_EQUAL) html_add(page->out, "equal to the last bit");
        else html_add(page->out, "it differs");
        html_add(page->out, "</strong>, %lld of %lld points are the same (", (long long)d->equal, (long long)d->points);
        page_moment(page->out, d->audited_ms);
        html_add(page->out, ", <bdi>%s</bdi>, ", d->by);
        statement_link(page, d->audit);
        html_add(page->out, ").");
        if (d->verdict == DRAWN_EQUAL && d->follows > 0)
            html_add(page->out, " <a href=\"/runs/%lld\">Run %lld</a> of another person begins with these figures and is older, "
                     "so this raises nothing.", (long long)d->follows, (long long)d->follows);
    }
    html_add(page->out, " <a href=\"/rules#the-draw\">The draw</a></p>");
}

// Rows of facts.
void drawn_rules(struct page *page, const struct shown *shown)
{
    const json_t *draw = shown->statement.json, *keys = canonical_at(draw, "keys");
    html_add(page->out, "<div><dt>Drawn of new runs</dt><dd>%.4g%%</dd></div>",
             (double)canonical_int(draw, "share_micro") * 1e-4);
    html_add(page->out, "<div><dt>Drawn of all runs by each %dth statement</dt><dd>%.4g%%</dd></div>", DRAW_AGAIN,
             (double)canonical_int(draw, "again_micro") * 1e-4);
    html_add(page->out, "<div><dt>Keys whose repetitions count</dt><dd>");
    if (json_array_size(keys) == 0) html_add(page->out, "<span class=\"quiet\">none</span>");
    for (size_t i = 0; i < json_array_size(keys); i++)
        html_add(page->out, "%s<span class=\"digest\">%s</span>", i > 0 ? "<br>" : "",
                 canonical_text(json_array_get(keys, i), "key"));
    html_add(page->out, "</dd></div>");
}
