// SPDX-License-Identifier: Apache-2.0
// A measurement of dawn bench: the page of its statement, and its settings as rows of a machine's page. Nothing is ranked: a
// step's throughput says nothing about what the model learns, and nobody but its author saw it.
#include <stdio.h>
#include <string.h>

#include "scoreboard/pages/run/page_run.h"
#include "scoreboard/rank/ranking.h"

static const char *task_of(const json_t *bench)
{
    return page_task_title(canonical_text(bench, "task"));
}

static double seconds_of(const json_t *one, const char *member)
{
    return (double)canonical_int(one, member) * 1e-9;
}

static void rate_cell(struct page *page, const json_t *bench, const json_t *one)
{
    double rate = (double)canonical_int(one, "batch") / seconds_of(one, "step_ns");
    html_add(page->out, "<td class=\"value\"><b>%.*f</b> <bdi>%s</bdi>/s", rate < 100 ? 2 : rate < 10000 ? 1 : 0, rate,
             canonical_text(bench, "samples"));
    if (canonical_int(one, "accepted") < canonical_int(one, "repeats")) html_add(page->out, "<small>not steady</small>");
    html_add(page->out, "</td>");
}

static void arithmetic_cell(struct page *page, const json_t *one)
{
    char figure[TEXT_FIGURE];
    double flops = (double)canonical_int(one, "flops");
    if (flops > 0) html_add(page->out, "<td>%s</td>", text_si(figure, flops / seconds_of(one, "step_ns"), "FLOP/s"));
    else html_add(page->out, "<td>-</td>");
}

static void type_cell(struct page *page, const json_t *one)
{
    html_add(page->out, "<td><bdi>%s</bdi>", canonical_text(one, "precision"));
    if (canonical_int(one, "fusion") == 0) html_add(page->out, "<small>not fused</small>");
    html_add(page->out, "</td>");
}

// ---- the page of a machine

int bench_rows(struct page *page, const struct stored *stored)
{
    struct statement s;
    if (statement_read(stored->payload, stored->payload_count, &s) < 0)
        return fail(ERR_DATABASE, "the statement %.64s differs from the accepted one", stored->digest);
    const json_t *settings = canonical_at(s.json, "settings");
    for (size_t i = 0; i < json_array_size(settings); i++) {
        const json_t *one = json_array_get(settings, i);
        html_add(page->out, "<tr><th scope=\"row\"><a href=\"/runs/%lld\">%s, <bdi>%s</bdi></a><small><bdi>%s</bdi>%s</small>"
                            "</th>",
                 (long long)stored->sequence, task_of(s.json), canonical_text(s.json, "model"), canonical_text(one, "size"),
                 canonical_int(s.json, "noise") != 0 ? ", noise" : "");
        html_add(page->out, "<td>%lld</td>", (long long)canonical_int(one, "batch"));
        type_cell(page, one);
        rate_cell(page, s.json, one);
        arithmetic_cell(page, one);
        html_add(page->out, "<td class=\"hardware\"><bdi>%s</bdi></td><td><bdi>%.12s</bdi></td><td class=\"who\">",
                 ranking_hardware(s.json, &page->arena),
                 *canonical_text(s.json, "software.commit") ? canonical_text(s.json, "software.commit") : "not known");
        page_person_link(page, stored->handle);
        html_add(page->out, "</td><td>");
        page_moment(page->out, canonical_int(s.json, "measured_ms"));
        html_add(page->out, "</td></tr>\n");
    }
    statement_free(&s);
    return 0;
}

// ---- the page of a statement

static void setting_row(struct page *page, const json_t *bench, const json_t *one)
{
    char figure[TEXT_FIGURE];
    html_add(page->out, "<tr><th scope=\"row\">%lld</th><td><bdi>%s</bdi></td>", (long long)canonical_int(one, "batch"),
             canonical_text(one, "size"));
    type_cell(page, one);
    rate_cell(page, bench, one);
    html_add(page->out, "<td>%.4g ms<small>%.4g to %.4g</small></td>", 1e3 * seconds_of(one, "step_ns"),
             1e3 * seconds_of(one, "step_low_ns"), 1e3 * seconds_of(one, "step_high_ns"));
    arithmetic_cell(page, one);
    html_add(page->out, "<td>%s</td>", text_size(figure, (double)canonical_int(one, "memory_bytes")));
    if (canonical_at(one, "energy_uj") != NULL)
        html_add(page->out, "<td>%.4g J</td>",
                 (double)canonical_int(one, "energy_uj") * 1e-6 / (double)canonical_int(one, "batch"));
    else html_add(page->out, "<td>-</td>");
    html_add(page->out, "<td>%lld of %lld", (long long)canonical_int(one, "accepted"), (long long)canonical_int(one, "repeats"));
    if (canonical_int(one, "whole") == 0) html_add(page->out, "<small>time limit</small>");
    html_add(page->out, "</td>");
    if (canonical_at(one, "others_micro") != NULL)
        html_add(page->out, "<td>%.2f</td></tr>\n", (double)canonical_int(one, "others_micro") * 1e-6);
    else html_add(page->out, "<td>-</td></tr>\n");
}

static void settings_table(struct page *page, const json_t *bench)
{
    const json_t *settings = canonical_at(bench, "settings");
    page_open_table(page, "small", "Steps of one batch, timed as docs/measuring.md says; the median of the repeats");
    html_add(page->out, "<thead><tr><th scope=\"col\">Batch</th><th scope=\"col\">Sample</th><th scope=\"col\">Type</th><th "
                        "scope=\"col\">Throughput</th><th scope=\"col\">Step</th><th scope=\"col\">Arithmetic</th><th "
                        "scope=\"col\">Memory by plan</th><th scope=\"col\">Energy a sample</th><th scope=\"col\">Steady</th><th "
                        "scope=\"col\">Processors used by others</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(settings); i++) setting_row(page, bench, json_array_get(settings, i));
    html_add(page->out, "</tbody></table></div>\n");
}

static void fact(struct page *page, const char *label, const char *words)
{
    if (*words != 0) html_add(page->out, "<div><dt>%s</dt><dd><bdi>%s</bdi></dd></div>", label, words);
}

static void facts(struct page *page, const struct shown *shown)
{
    const char *hardware = ranking_hardware(shown->statement.json, &page->arena);
    char word[RANKING_MACHINE];
    html_add(page->out, "<dl class=\"facts\"><div><dt>Author</dt><dd>");
    page_person_link(page, shown->stored.handle);
    html_add(page->out, "</dd></div><div><dt>Machine</dt><dd>");
    if (shown->stored.withdrawn > 0) html_add(page->out, "<bdi>%s</bdi></dd></div>", hardware);  // it may have no page now
    else html_add(page->out, "<a href=\"/machines/%s\"><bdi>%s</bdi></a></dd></div>", ranking_machine(hardware, word), hardware);
    html_add(page->out, "<div><dt>Measured</dt><dd>");
    page_moment(page->out, shown_int(shown, "measured_ms"));
    html_add(page->out, "</dd></div><div><dt>Accepted</dt><dd>");
    page_moment(page->out, shown->stored.accepted_ms);
    html_add(page->out, "</dd></div>");
    fact(page, "Task", task_of(shown->statement.json));
    fact(page, "Model", shown_text(shown, "model"));
    fact(page, "Recipe", shown_text(shown, "recipe"));
    fact(page, "Data", arena_text(&page->arena, "%s%s", shown_text(shown, "data"),
                                  shown_int(shown, "noise") != 0 ? ", its shape filled with noise" : ""));
    html_add(page->out, "</dl>\n");
}

static void flags(struct page *page, const struct findings *findings)
{
    int count = findings == NULL ? 0 : findings->count < FINDINGS_MAX ? findings->count : FINDINGS_MAX;
    html_add(page->out, "<section aria-labelledby=\"checks\"><h2 id=\"checks\">Checks</h2>");
    if (count == 0) html_add(page->out, "<p>No check raised a flag.</p>");
    else html_add(page->out, "<ul class=\"flags\">");
    for (int i = 0; i < count; i++)
        html_add(page->out, "<li><strong>Flag: %s.</strong> <bdi>%s</bdi></li>", check_code(findings->at[i].check),
                 findings->at[i].text);
    if (count > 0) html_add(page->out, "</ul>");
    html_add(page->out, "<p class=\"quiet\">The checks compare the figures with each other, and the arithmetic with the peak of "
                        "the stated hardware.</p></section>\n");
}

void bench_page(struct page *page, const struct shown *shown)
{
    const struct stored *stored = &shown->stored;
    const char *title = arena_text(&page->arena, "Measurement of %s, %s (statement %lld)", task_of(shown->statement.json),
                                   shown_text(shown, "model"), (long long)stored->sequence);
    page_begin(page, title, "Throughput measured on a machine",
               (const struct crumb[]){{"Machines", "/machines"},
                                      {arena_text(&page->arena, "statement %lld", (long long)stored->sequence), NULL}});
    html_add(page->out, "<h1><bdi>%s</bdi></h1>\n", title);
    if (stored->withdrawn > 0)
        html_add(page->out, "<p class=\"note warn\"><strong>Withdrawn</strong> by its author with <a href=\"/runs/%lld\">"
                            "statement %lld</a>: <q><bdi>%s</bdi></q></p>\n",
                 (long long)stored->withdrawn, (long long)stored->withdrawn, stored->withdrawn_reason);
    page_note(page->out, "warn", "Self-measured.",
              "Nobody but its author saw this measurement. It is on no board: throughput is not the time to an accuracy.");
    facts(page, shown);
    settings_table(page, shown->statement.json);
    run_machine(page, shown);
    flags(page, stored->findings);
    run_verify(page, shown);
}
