// SPDX-License-Identifier: Apache-2.0
// A person: keys, entries and statements of a handle. Also the log of all accepted statements.
#include <string.h>

#include "scoreboard/pages/page.h"

enum { LOG_PAGE = 100 };

static void state_cell(struct page *page, const struct stored *one)
{
    html_add(page->out, "<td role=\"cell\" class=\"trust\">");
    if (one->withdrawn > 0)
        html_add(page->out, "withdrawn");
    else if (one->type != STATEMENT_RUN)
        html_add(page->out, "-");
    else if (one->superseded > 0)
        html_add(page->out, "superseded");
    else if (*one->status != 0)
        html_add(page->out, "%s", one->status);
    else
        page_badge(page->out, one->trust);
    html_add(page->out, "</td>");
}

static void statements(struct page *page, const struct stored *at, int count, bool who, const char *caption)
{
    page_table(page, "small cards", caption,
               who ? "stem:Number|date:Accepted|type:Statement|name:Author|trust:State|rest:SHA-256"
                   : "stem:Number|date:Accepted|type:Statement|trust:State|rest:SHA-256");
    for (int i = 0; i < count; i++) {
        html_add(page->out, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\" class=\"stem\"><a href=\"/runs/%lld\">%lld</a>"
                            "</th><td role=\"cell\" class=\"date\">", (long long)at[i].sequence, (long long)at[i].sequence);
        page_moment(page->out, at[i].accepted_ms);
        html_add(page->out, "</td><td role=\"cell\" class=\"type\">%s</td>", statement_type_name(at[i].type));
        if (who) {
            html_add(page->out, "<td role=\"cell\" class=\"name\">");
            page_person_link(page, at[i].handle);
            html_add(page->out, "</td>");
        }
        state_cell(page, &at[i]);
        html_add(page->out, "<td role=\"cell\" class=\"rest\"><span class=\"digest\">%.16s</span></td></tr>\n", at[i].digest);
    }
    html_add(page->out, "</tbody></table></div>\n");
}

static void statement_link(struct page *page, int64_t sequence)
{
    html_add(page->out, "<a href=\"/runs/%lld\">statement %lld</a>", (long long)sequence, (long long)sequence);
}

static void one_key(struct page *page, const struct person *person, const struct person_key *key)
{
    bool counts = key->revoked_sequence == 0 && key->replaced_sequence == 0;
    html_add(page->out, "<li><p><span class=\"digest\">%s</span></p><p>%s ", key->id,
             counts ? "In use since" : "No longer in use; introduced by");
    statement_link(page, key->since_sequence);
    for (int i = 0; key->replaced_sequence > 0 && i < person->key_count; i++) {
        if (person->keys[i].since_sequence != key->replaced_sequence) continue;
        html_add(page->out, "; replaced by <span class=\"digest\">%s</span> (", person->keys[i].id);
        statement_link(page, key->replaced_sequence);
        html_add(page->out, ")");
    }
    if (key->revoked_sequence > 0) {
        html_add(page->out, "; <strong>revoked</strong> (");
        statement_link(page, key->revoked_sequence);
        html_add(page->out, ")");
        if (key->revoked_reason != NULL && *key->revoked_reason)
            html_add(page->out, ": <q><bdi>%s</bdi></q>", key->revoked_reason);
    }
    html_add(
        page->out,
        "</p><pre class=\"wrap\" tabindex=\"0\" role=\"region\" aria-label=\"Public key\"><code>%s</code></pre></li>\n",
        key->line);
}

// Shows how many announced runs a person did not report, so that nobody can report only the best of many.
static int announced(struct page *page, const char *handle)
{
    struct ticket_counts c;
    TRY(store_tickets_by(page->reader, handle, &c));
    if (c.announced == 0) return 0;
    html_add(page->out, "<p class=\"note %s\"><strong>Announced with a ticket:</strong> ",
             c.failed + c.withdrawn + c.missing > 0 ? "warn" : "info");
    page_count(page->out, c.announced, "run", "runs");
    html_add(page->out, ": %lld finished, %lld failed, %lld withdrawn, %lld not submitted yet, %lld missing (not submitted "
             "within 30 days).</p>\n", (long long)c.finished, (long long)c.failed, (long long)c.withdrawn, (long long)c.open,
             (long long)c.missing);
    return 0;
}

// Shows how many drawn runs were taken back before anybody repeated them, because a forger tries again until none is drawn.
static int drawn_runs(struct page *page, const char *handle)
{
    struct drawn_counts c;
    TRY(store_drawn_by(page->reader, handle, &c));
    if (c.drawn == 0) return 0;
    html_add(page->out, "<p class=\"note %s\"><strong>Drawn by the log:</strong> ",
             c.differs + c.withdrawn > 0 ? "warn" : "info");
    page_count(page->out, c.drawn, "run", "runs");
    html_add(page->out, ": %lld trained again by the operator with the same figures, %lld with others, %lld not repeated yet, "
             "%lld withdrawn before anybody repeated them.</p>\n", (long long)c.equal, (long long)c.differs,
             (long long)c.waits, (long long)c.withdrawn);
    return 0;
}

// A checked row comes before one that is not.
static bool is_better(const struct entry *a, const struct entry *b)
{
    const bool checked = a->trust >= TRUST_CHECKED;
    return checked != (b->trust >= TRUST_CHECKED) ? checked : a->value < b->value;
}

// Keeps of each board the best row.
static void keep_best_rows(struct entries *entries)
{
    int kept = 0;
    for (int i = 0; i < entries->count; i++) {
        const struct entry *one = &entries->at[i];
        int n = 0;
        while (n < kept && (strcmp(entries->at[n].contest, one->contest) != 0 || entries->at[n].board != one->board ||
                            entries->at[n].order != one->order))
            n++;
        if (n == kept || is_better(one, &entries->at[n])) entries->at[n] = *one;
        kept += n == kept;
    }
    entries->count = kept;
}

PAGE(page_person)
{
    struct person person;
    struct entries entries;
    int64_t before;
    TRY(page_read_number(page, "before", "a person's page", &before));
    if (before < 0) before = INT64_MAX;
    TRY(store_person_before(page->reader, page->request->word[0], before, &page->arena, &person));
    TRY(store_entries_by(page->reader, person.handle, &page->arena, &entries));
    page_begin(page, person.handle, "A person on these boards", (const struct crumb[]){{0}});
    html_add(page->out,
             "<h1><bdi>%s</bdi></h1><p class=\"lead\">A handle belongs to the first person who signed with it. A "
             "signature does not show who that is.</p>\n",
             person.handle);
    const bool all = entries.total == entries.count;
    keep_best_rows(&entries);
    if (entries.count > 0)
        page_rows(page, &entries, ROWS_PLACES, all ? "The best on each board" : "The best on each board, of the newest entries");
    TRY(announced(page, person.handle));
    TRY(drawn_runs(page, person.handle));
    html_add(page->out, "<h2>Keys</h2><ul class=\"keys\">\n");
    for (int i = 0; i < person.key_count; i++) one_key(page, &person, &person.keys[i]);
    html_add(page->out, "</ul><h2>Statements</h2>\n");
    statements(page, person.statements, person.statement_count, false, "Newest first");
    if (person.next > 0)
        html_add(page->out, "<nav class=\"pages\" aria-label=\"Pages\"><ul><li><a class=\"button plain\" "
                 "href=\"/people/%s?before=%lld\">Earlier</a></li></ul></nav>\n", person.handle, (long long)person.next);
    page_end(page);
    return 0;
}

// ---- the log ----------------------------------------------------------------------------------------------------------
PAGE(page_log)
{
    struct totals totals;
    struct stored *log;
    struct checkpoint head;
    int64_t after;
    int count;
    TRY(page_read_number(page, "after", "the log", &after));
    TRY(store_totals(page->reader, &totals));
    if (after < 0) after = totals.statements > LOG_PAGE ? totals.statements - LOG_PAGE : 0;
    TRY(store_log(page->reader, after, LOG_PAGE, &page->arena, &log, &count));
    TRY(page_tree_read(page, &head));
    page_begin(page, "Log", "Every accepted statement, in order", (const struct crumb[]){{0}});
    html_add(page->out,
             "<h1>Log</h1><p class=\"lead\">Every statement this board accepted, in order. Nothing is ever "
             "removed; a withdrawal is a statement of its own.</p><p>");
    page_count(page->out, totals.statements, "statement", "statements");
    html_add(page->out, ": ");
    page_count(page->out, totals.runs, "run", "runs");
    html_add(page->out, " alone or in ");
    page_count(page->out, totals.groups, "group", "groups");
    html_add(page->out, ", by ");
    page_count(page->out, totals.people, "person", "people");
    html_add(page->out, ".</p>\n");
    for (int i = 0; i < count / 2; i++) {
        struct stored one = log[i];
        log[i] = log[count - 1 - i], log[count - 1 - i] = one;
    }
    if (count > 0)
        statements(page, log, count, true, "Newest first");
    else
        html_add(page->out, "<p class=\"empty\">Nothing%s yet.</p>", after > 0 ? " after this" : "");
    html_add(page->out, "<nav class=\"pages\" aria-label=\"Pages\"><ul>");
    if (after > 0)
        html_add(page->out, "<li><a class=\"button plain\" href=\"/log?after=%lld\">Earlier</a></li>",
                 (long long)(after > LOG_PAGE ? after - LOG_PAGE : 0));
    if (count > 0 && log[0].sequence < totals.statements)
        html_add(page->out, "<li><a class=\"button plain\" href=\"/log?after=%lld\">Later</a></li>",
                 (long long)log[0].sequence);
    html_add(page->out, "<li><a href=\"/api/v1/statements\">JSON</a></li></ul></nav>\n");
    page_tree(page, &head);
    page_end(page);
    return 0;
}
