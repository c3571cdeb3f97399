// SPDX-License-Identifier: Apache-2.0
// A measurement of dawn bench: the page of its statement, and its settings as rows of a machine's page. Nothing is ranked: a
// step's throughput says nothing about what the model learns, and nobody but its author saw it.
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
    page_cell(page, "Throughput");
    html_add(page->out, "<b>%.*f</b> <bdi>%s</bdi>/s", rate < 100 ? 2 : rate < 10000 ? 1 : 0, rate,
             canonical_text(bench, "samples"));
    if (canonical_int(one, "accepted") < canonical_int(one, "repeats")) html_add(page->out, "<small>not steady</small>");
    html_add(page->out, "</td>");
}

static void arithmetic_cell(struct page *page, const json_t *one)
{
    char figure[TEXT_FIGURE];
    double flops = (double)canonical_int(one, "flops");
    page_cell(page, "Arithmetic");
    html_add(page->out, "%s</td>", flops > 0 ? text_si(figure, flops / seconds_of(one, "step_ns"), "FLOP/s") : "-");
}

static void type_cell(struct page *page, const json_t *one)
{
    page_cell(page, "Type");
    html_add(page->out, "<bdi>%s</bdi>", canonical_text(one, "precision"));
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
        page_row_name(page);
        html_add(page->out, "<a href=\"/runs/%lld\">%s, <bdi>%s</bdi></a><small><bdi>%s</bdi>%s</small></th>",
                 (long long)stored->sequence, task_of(s.json), canonical_text(s.json, "model"), canonical_text(one, "size"),
                 canonical_int(s.json, "noise") != 0 ? ", noise" : "");
        page_cell(page, "Batch");
        html_add(page->out, "%lld</td>", (long long)canonical_int(one, "batch"));
        type_cell(page, one);
        rate_cell(page, s.json, one);
        arithmetic_cell(page, one);
        page_cell(page, "In use");
        html_add(page->out, "<bdi>%s</bdi></td>", ranking_hardware(s.json, &page->arena));
        page_cell(page, "Version");
        html_add(page->out, "<bdi>%.12s</bdi></td>",
                 *canonical_text(s.json, "software.commit") ? canonical_text(s.json, "software.commit") : "not known");
        page_cell(page, "Author");
        page_person_link(page, stored->handle);
        html_add(page->out, "</td>");
        page_cell(page, "Measured");
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
    page_row_name(page);
    html_add(page->out, "%lld</th>", (long long)canonical_int(one, "batch"));
    page_cell(page, "Sample");
    html_add(page->out, "<bdi>%s</bdi></td>", canonical_text(one, "size"));
    type_cell(page, one);
    rate_cell(page, bench, one);
    page_cell(page, "Step");
    html_add(page->out, "%.4g ms<small>%.4g to %.4g</small></td>", 1e3 * seconds_of(one, "step_ns"),
             1e3 * seconds_of(one, "step_low_ns"), 1e3 * seconds_of(one, "step_high_ns"));
    arithmetic_cell(page, one);
    page_cell(page, "Memory by plan");
    html_add(page->out, "%s</td>", text_size(figure, (double)canonical_int(one, "memory_bytes")));
    page_cell(page, "Energy per sample");
    if (canonical_at(one, "energy_uj") != NULL)
        html_add(page->out, "%.4g J</td>",
                 (double)canonical_int(one, "energy_uj") * 1e-6 / (double)canonical_int(one, "batch"));
    else html_add(page->out, "-</td>");
    page_cell(page, "Steady");
    html_add(page->out, "%lld of %lld", (long long)canonical_int(one, "accepted"), (long long)canonical_int(one, "repeats"));
    if (canonical_int(one, "whole") == 0) html_add(page->out, "<small>time limit</small>");
    html_add(page->out, "</td>");
    page_cell(page, "Used by others");
    if (canonical_at(one, "others_micro") != NULL)
        html_add(page->out, "%.2f</td></tr>\n", (double)canonical_int(one, "others_micro") * 1e-6);
    else html_add(page->out, "-</td></tr>\n");
}

static void settings_table(struct page *page, const json_t *bench)
{
    const json_t *settings = canonical_at(bench, "settings");
    page_table(page, "small cards labelled",
                    "Steps of one batch, timed as docs/measuring.md says; the median of the repeats. Used by others: processors "
                    "that other programs used meanwhile",
               "row:Batch|:Sample|:Type|:Throughput|:Step|:Arithmetic|:Memory by plan|:Energy per sample|:Steady|"
               ":Used by others");
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
    const char *title = arena_text(&page->arena, "%s of %s, %s (statement %lld)",
                                   canonical_at(shown->statement.json, "scaling") != NULL ? "Scaling" : "Measurement",
                                   task_of(shown->statement.json), shown_text(shown, "model"), (long long)stored->sequence);
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
    if (canonical_at(shown->statement.json, "scaling") != NULL) scaling_body(page, shown->statement.json);
    else settings_table(page, shown->statement.json);
    run_machine(page, shown);
    flags(page, stored->findings);
    run_verify(page, shown);
}
