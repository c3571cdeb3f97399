// SPDX-License-Identifier: Apache-2.0
// Tickets on pages: whether the run of a ticket was reported, and whether the clock of a run agreed with the board's.
// Cost: a few indexed queries; of a run with a ticket also its stamps.
#include "scoreboard/pages/run/page_run.h"

#include <string.h>

// Seconds from the ticket to the last stamp, as text.
static const char *watched(struct page *page, const struct ticket_stored *t)
{
    const int64_t last = t->stamp_count > 0 ? t->stamps[t->stamp_count - 1].ms : t->issued_ms;
    return page_span_text(page, (last - t->issued_ms) * 1000000);
}

static void judgement(struct page *page, const struct shown *shown, const struct ticket_stored *t)
{
    struct ticket_judged judged;
    ticket_judge(shown->statement.json, t->issued_ms, t->stamps, t->stamp_count, &judged);
    if (t->vouched != 0) {
        html_add(page->out, "; the board got %d states of its chain within %s, and its clock agrees within %s (a twentieth "
                 "of the claimed time, at most 2 s): <a href=\"/runs/%lld\">statement %lld</a>",
                 t->stamp_count, watched(page, t), page_span_text(page, judged.late_ms * 1000000), (long long)t->vouched,
                 (long long)t->vouched);
        return;
    }
    if (!judged.witnessed) html_add(page->out, "; not witnessed: %s", judged.why);
}

int ticket_facts(struct page *page, const struct shown *shown)
{
    const char *digest = shown_text(shown, "ticket.statement");
    struct ticket_stored t;
    if (*digest == 0) return 0;
    int rc = store_ticket(page->reader, digest, &page->arena, &t);
    if (rc == ERR_MISSING) {
        html_add(page->out, "<div><dt>Ticket</dt><dd>of another board</dd></div>");
        return 0;
    }
    TRY(rc);
    html_add(page->out, "<div><dt>Ticket</dt><dd><a href=\"/runs/%lld\">Statement %lld</a>, issued ", (long long)t.sequence,
             (long long)t.sequence);
    page_moment(page->out, t.issued_ms);
    judgement(page, shown, &t);
    html_add(page->out, "</dd></div>");
    return 0;
}

int ticket_state(struct page *page, const struct shown *shown)
{
    struct ticket_stored t;
    TRY(store_ticket(page->reader, shown->stored.digest, &page->arena, &t));
    html_add(page->out, "<div><dt>Its run</dt><dd>");
    if (t.run != 0) html_add(page->out, "<a href=\"/runs/%lld\">run %lld</a>", (long long)t.run, (long long)t.run);
    else html_add(page->out, "%s", t.failed ? "not reported within 30 days: it counts as failed" : "not reported yet");
    html_add(page->out, "</dd></div>");
    return 0;
}
