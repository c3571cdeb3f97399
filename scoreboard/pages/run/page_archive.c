// SPDX-License-Identifier: Apache-2.0
// An entry of DAWNBench's archive or of a published history: its own bytes, and the irregularities in them.
#include <math.h>
#include <string.h>

#include "scoreboard/dawnbench/dawnbench.h"
#include "scoreboard/pages/run/page_run.h"

static const struct contest *contest_titled(const char *title)
{
    int count;
    const struct contest *table = contest_table(&count);
    for (int i = 0; i < count; i++)
        if (strcmp(table[i].title, title) == 0) return &table[i];
    return NULL;
}

static void facts(struct page *page, const struct dawnbench_entry *entry)
{
    const char *rows[][2] = {{"Author", entry->author},
                             {"Model", entry->model},
                             {"Hardware", entry->hardware},
                             {"Framework", entry->framework},
                             {"Note", entry->note}};
    html_add(page->out, "<dl class=\"facts\">");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (*rows[i][1]) html_add(page->out, "<div><dt>%s</dt><dd><bdi>%s</bdi></dd></div>", rows[i][0], rows[i][1]);
    html_add(page->out, "<div><dt>Date</dt><dd>");
    page_day(page->out, entry->date);
    html_add(page->out, "</dd></div>");
    if (*entry->code_url) {
        html_add(page->out, "<div><dt>Code</dt><dd>");
        html_link(page->out, entry->code_url, entry->code_url);
        html_add(page->out, "</dd></div>");
    }
    if (entry->cost_per_hour >= 0)
        html_add(page->out, "<div><dt>Price</dt><dd>$%.4g per hour</dd></div>", entry->cost_per_hour);
    if (entry->latency_ms >= 0)
        html_add(page->out, "<div><dt>Latency</dt><dd>%.4g ms per item</dd></div>", entry->latency_ms);
    if (entry->score >= 0) {
        html_add(page->out, "<div><dt>Score</dt><dd>");
        page_score(page->out, entry->contest, entry->score);
        html_add(page->out, "</dd></div>");
    }
    html_add(page->out, "</dl>\n");
}

static void curve_table(struct page *page, const struct dawnbench_entry *entry)
{
    html_add(page->out, "<details><summary>The curve as a table</summary>");
    page_table(page, "small", "As in the file", arena_text(&page->arena, ":Epoch|:Hours|:%s", entry->contest->metric_title));
    for (int i = 0; i < entry->point_count; i++)
        html_add(page->out, "<tr><th scope=\"row\">%.6g</th><td>%.6g</td><td>%.6g</td></tr>\n", entry->points[i].epoch,
                 entry->points[i].hours, entry->points[i].score);
    html_add(page->out, "</tbody></table></div></details>\n");
}

static void curve(struct page *page, const struct dawnbench_entry *entry)
{
    if (entry->point_count == 0) return;
    struct chart_point *at = arena_alloc(&page->arena, (size_t)entry->point_count * sizeof *at);
    for (int i = 0; i < entry->point_count; i++) {
        at[i] = (struct chart_point){.x = entry->points[i].hours * 3600, .y = entry->points[i].score};
        if (entry->point_count <= 200)
            at[i].what = arena_text(&page->arena, "epoch %.4g: %.4g after %s", entry->points[i].epoch, at[i].y,
                                    page_span_text(page, (int64_t)(fmin(fmax(at[i].x, 0), 1e9) * 1e9)));
    }
    struct chart_series series = {
        .label = "score", .at = at, .count = entry->point_count, .marks = entry->point_count <= 80};
    struct chart_level target = {shown_score(entry->contest, (double)entry->contest->target_micro[0] / 1e6), "target"};
    struct chart chart = {.id = "c-curve",
                          .title = "Score over time, as in the file",
                          .about = arena_text(&page->arena, "%d rows.", entry->point_count),
                          .x = {"time (classic)", CHART_SECONDS, NULL},
                          .y = shown_axis(entry->contest),
                          .series = &series,
                          .series_count = 1,
                          .levels = &target,
                          .level_count = 1};
    html_add(page->out, "<h2>Curve</h2>");
    chart_draw(page->out, &chart);
    curve_table(page, entry);
}

static void bytes(struct page *page, const char *title, const char *text)
{
    if (*text == 0) return;
    html_add(page->out,
             "<details><summary>%s</summary><pre class=\"wrap\" tabindex=\"0\" role=\"region\" "
             "aria-label=\"%s\"><code>%s</code></pre></details>\n",
             title, title, text);
}

static void quirks(struct page *page, const char *lines)
{
    html_add(page->out, "<h2>Irregularities in the source files</h2>");
    if (*lines == 0) {
        html_add(page->out, "<p>None: the files follow the format.</p>");
        return;
    }
    html_add(page->out, "<ul>");
    while (*lines) {
        int length = (int)strcspn(lines, "\n");
        if (length > 0) html_add(page->out, "<li><bdi>%.*s</bdi></li>", length, lines);
        lines += length + (lines[length] == '\n');
    }
    html_add(page->out, "</ul>\n");
}

static void write_page(struct page *page, const struct imported *imported, const struct contest *contest,
                       const struct dawnbench_entry *entry, const struct entries *places)
{
    const char *title = *entry->model ? entry->model : imported->stem;
    const char *of = entry->history ? "a published history" : "DAWNBench's archive";
    page_begin(page, title, arena_text(&page->arena, "An entry of %s", of),
               (const struct crumb[]){{contest->title, arena_text(&page->arena, "/boards/%s", contest->name)}, {0}});
    html_add(page->out, "<p class=\"over\">%s, %s: <bdi>%s</bdi></p><h1><bdi>%s</bdi></h1>\n", contest->title, of,
             imported->source, title);
    html_add(page->out, "<p>");
    page_badge(page->out, TRUST_IMPORTED);
    html_add(page->out, ": %s.</p>\n", trust_what(TRUST_IMPORTED));
    facts(page, entry);
    if (places->count > 0)
        page_rows(page, places, ROWS_PLACES, "On the boards");
    else
        page_note(page->out, "info", "On no board.",
                  "It misses the target, or has neither a time, a latency nor a cost.");
    if (entry->history) {
        html_add(page->out, "<h2>The row</h2><p>As its publisher timed it; the clock may be another one than this board's.</p>");
        bytes(page, "As imported", imported->tsv);
        page_end(page);
        return;
    }
    curve(page, entry);
    quirks(page, imported->quirks);
    html_add(page->out, "<h2>The files</h2><p>The original files, without e-mail addresses.</p>");
    bytes(page, "The JSON file", imported->json);
    bytes(page, "The TSV file", imported->tsv);
    page_end(page);
}

PAGE(page_archive)
{
    const char *const *word = page->request->word;
    const struct contest *contest = contest_titled(word[0]);
    struct imported imported;
    struct entries places;
    struct dawnbench_entry *entry;
    const char *source = arena_text(&page->arena, "%s/%s/%s", word[0], word[1], word[2]);
    if (contest == NULL) return fail(ERR_MISSING, "there is no task \"%.60s\" in the archive", word[0]);
    TRY(store_imported(page->reader, source, &page->arena, &imported));
    TRY(store_entries_of(page->reader, source, &page->arena, &places));
    TRY(imported_read(&imported, contest, &entry));
    write_page(page, &imported, contest, entry, &places);
    dawnbench_free(entry);
    return 0;
}
