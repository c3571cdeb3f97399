// SPDX-License-Identifier: Apache-2.0
// A scaling of dawn bench over processes. A statement has the measured figures: processes, batch, time of a step. Throughput,
// speedup and efficiency are worked out here, so they cannot contradict it. Cost: the parsing of each statement.
#include <stdio.h>

#include "scoreboard/pages/run/page_run.h"
#include "scoreboard/rank/ranking.h"

static double rate_of(const json_t *row)
{
    return (double)canonical_int(row, "processes") * (double)canonical_int(row, "batch") /
           ((double)canonical_int(row, "step_ns") * 1e-9);
}

// Against the first row, which may itself have several processes: then these count as they are.
static double speedup_of(const json_t *row, const json_t *first)
{
    return rate_of(row) / rate_of(first) * (double)canonical_int(first, "processes");
}

static void figures(struct page *page, const json_t *bench, const json_t *row, const json_t *first)
{
    const double rate = rate_of(row), speedup = speedup_of(row, first);
    page_cell(page, "Processes");
    html_add(page->out, "%lld", (long long)canonical_int(row, "processes"));
    if (canonical_int(row, "machines") > 1)
        html_add(page->out, "<small>on %lld machines</small>", (long long)canonical_int(row, "machines"));
    html_add(page->out, "</td>");
    page_cell(page, "Batch of each");
    html_add(page->out, "%lld<small><bdi>%s</bdi></small></td>", (long long)canonical_int(row, "batch"),
             canonical_text(row, "precision"));
    page_cell(page, "Step");
    html_add(page->out, "%.4g ms</td>", (double)canonical_int(row, "step_ns") * 1e-6);
    page_cell(page, "Throughput");
    html_add(page->out, "<b>%.*f</b> <bdi>%s</bdi>/s</td>", rate < 100 ? 2 : rate < 10000 ? 1 : 0, rate,
             canonical_text(bench, "samples"));
    page_cell(page, "Speedup");
    html_add(page->out, "%.2f</td>", speedup);
    page_cell(page, "Efficiency");
    html_add(page->out, "%.1f%%</td>", 100 * speedup / (double)canonical_int(row, "processes"));
}

void scaling_table(struct page *page)
{
    page_table(page, "small cards labelled", "A step over growing numbers of processes, the newest measurement first. "
                    "Speedup and efficiency are relative to the first row of a measurement",
               "row:Task and model|:Processes|:Batch of each|:Step|:Throughput|:Speedup|:Efficiency|:Each on|:Author|"
               ":Measured");
}

int scaling_rows(struct page *page, const struct stored *stored)
{
    struct statement s;
    if (statement_read(stored->payload, stored->payload_count, &s) < 0)
        return fail(ERR_DATABASE, "the statement %.64s differs from the accepted one", stored->digest);
    const json_t *rows = canonical_at(s.json, "scaling"), *first = json_array_get(rows, 0);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        page_row_name(page);
        html_add(page->out, "<a href=\"/runs/%lld\">%s, <bdi>%s</bdi></a><small><bdi>%s</bdi>%s</small></th>",
                 (long long)stored->sequence, page_task_title(canonical_text(s.json, "task")), canonical_text(s.json, "model"),
                 canonical_text(row, "size"), canonical_int(s.json, "noise") != 0 ? ", noise" : "");
        figures(page, s.json, row, first);
        page_cell(page, "Each on");
        html_add(page->out, "<bdi>%s</bdi></td>", ranking_hardware(s.json, &page->arena));
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

// ---- the page of its statement

static void number_label(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%g", value);
}

static void picture(struct page *page, const json_t *rows)
{
    const json_t *first = json_array_get(rows, 0);
    const int count = (int)json_array_size(rows);
    struct chart_point *at = arena_alloc(&page->arena, (size_t)count * sizeof *at), ideal[2] = {{0}};
    for (int i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, (size_t)i);
        const double processes = (double)canonical_int(row, "processes"), speedup = speedup_of(row, first);
        at[i] = (struct chart_point){.x = processes, .y = speedup,
                                     .what = arena_text(&page->arena, "%.0f processes: speedup %.2f", processes, speedup)};
    }
    ideal[0].x = ideal[0].y = at[0].x;
    ideal[1].x = ideal[1].y = at[count - 1].x;
    const struct chart_series series[] = {{.label = "measured", .at = at, .count = count, .marks = true},
                                          {.label = "ideal", .at = ideal, .count = 2, .look = 1}};
    const struct chart chart = {.id = "c-scaling",
                                .title = "Speedup over the number of processes",
                                .about = arena_text(&page->arena, "%d points, from %.2f to %.2f; the table has their figures.",
                                                    count, at[0].y, at[count - 1].y),
                                .x = {"processes", CHART_WHOLE, number_label},
                                .y = {"speedup", CHART_LINEAR, number_label},
                                .series = series,
                                .series_count = 2};
    chart_draw(page->out, &chart);
}

void scaling_body(struct page *page, const json_t *bench)
{
    const json_t *rows = canonical_at(bench, "scaling");
    if (json_array_size(rows) > 1) picture(page, rows);
    page_table(page, "small cards labelled", "Steps timed as docs/scaling.md says; the median of the repeats. Added up: "
                    "bytes of gradients that a step adds up over the processes",
               "row:Sample|:Processes|:Batch of each|:Step|:Throughput|:Speedup|:Efficiency|:Added up");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char figure[TEXT_FIGURE];
        page_row_name(page);
        html_add(page->out, "<bdi>%s</bdi></th>", canonical_text(row, "size"));
        figures(page, bench, row, json_array_get(rows, 0));
        page_cell(page, "Added up");
        html_add(page->out, "%s</td></tr>\n", text_size(figure, (double)canonical_int(row, "gradient_bytes")));
    }
    html_add(page->out, "</tbody></table></div>\n");
}
