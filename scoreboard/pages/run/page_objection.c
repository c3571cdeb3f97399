// SPDX-License-Identifier: Apache-2.0
// Objections on the page of a run: what others say is wrong with it, and the operator's decision with its date. Both stay.
#include "scoreboard/pages/run/page_run.h"

static void one_objection(struct page *page, const struct objection *o)
{
    html_add(page->out, "<li><p>");
    page_person_link(page, o->handle);
    html_add(page->out, ", ");
    page_moment(page->out, o->accepted_ms);
    html_add(page->out, " (<a href=\"/runs/%lld\">statement %lld</a>): <q><bdi>%s</bdi></q>", (long long)o->sequence,
             (long long)o->sequence, o->reason);
    if (*o->url != 0) {
        html_add(page->out, " ");
        html_link(page->out, o->url, "Evidence");
    }
    html_add(page->out, "</p><p>");
    if (o->decision == 0) {
        html_add(page->out, "<strong>Not decided yet.</strong></p></li>\n");
        return;
    }
    html_add(page->out, "<strong>%s</strong> by <bdi>%s</bdi>, ", o->upheld ? "Upheld" : "Dismissed", o->by);
    page_moment(page->out, o->decided_ms);
    html_add(page->out, " (<a href=\"/runs/%lld\">statement %lld</a>): <q><bdi>%s</bdi></q></p></li>\n", (long long)o->decision,
             (long long)o->decision, o->why);
}

void objection_notes(struct page *page, const struct objections *list)
{
    for (int i = 0; i < list->count; i++)
        if (list->at[i].upheld)
            html_add(page->out, "<p class=\"note warn\"><strong>An objection was upheld</strong> with <a href=\"/runs/%lld\">"
                     "statement %lld</a>. It counts as a flag. <a href=\"#objections\">What was decided</a></p>\n",
                     (long long)list->at[i].decision, (long long)list->at[i].decision);
}

void run_objections(struct page *page, const struct shown *shown, const struct objections *list, int64_t skipped)
{
    const long long run = (long long)shown->stored.sequence, next = (long long)(skipped + list->count);
    html_add(page->out, "<section aria-labelledby=\"objections\"><h2 id=\"objections\">Objections</h2>");
    if (list->total == 0) html_add(page->out, "<p>Nobody has objected to this run.</p>\n");
    if (list->count > 0) html_add(page->out, "<ul>\n");
    for (int i = 0; i < list->count; i++) one_objection(page, &list->at[i]);
    if (list->count > 0)
        html_add(page->out, "</ul><p>An objection is the word of its author. An objection that the operator upheld counts as "
                            "a flag. Objections are never deleted.</p>\n");
    if (list->total > list->count)
        html_add(page->out, "<p class=\"quiet\">%d of %lld are shown; objections of people without a finished run come last."
                 "</p>\n", list->count, (long long)list->total);
    if (next < list->total && list->count > 0 && !page_is_copy(page))
        html_add(page->out, "<p><a href=\"/runs/%lld?objections=%lld#objections\">Further objections</a></p>\n", run, next);
    if (!page_is_copy(page)) {
        html_add(page->out, "<details><summary>Object to this run</summary><p>Anybody who has a run or a measurement here "
                            "that still counts may object once, with their key:</p>");
        page_command(page, "object", arena_text(&page->arena, "dawn object http://THIS-SITE/runs/%lld --reason TEXT", run));
        html_add(page->out, "</details>\n");
    }
    html_add(page->out, "</section>\n");
}
