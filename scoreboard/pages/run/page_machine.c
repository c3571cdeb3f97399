// SPDX-License-Identifier: Apache-2.0
// Machines: a list of them by model, and for each its uploads on boards and its measured throughput. Rows are in the order of
// time and never ranked. A page has a bounded number of them. Cost: store_machine.c, and the payloads of the shown measurements.
#include <string.h>

#include "scoreboard/pages/run/page_run.h"

enum { MACHINES_PER_PAGE = 100, UPLOADS_MOST = 100 };

static void machine_row(struct page *page, const struct machine_line *one)
{
    page_row_name(page);
    html_add(page->out, "<a href=\"/machines/%s\"><bdi>%s</bdi></a></th>", one->word, one->name);
    page_cell(page, "Uploads on boards");
    html_add(page->out, "%lld</td>", (long long)one->entries);
    page_cell(page, "Measurements");
    html_add(page->out, "%lld</td>", (long long)one->benches);
    page_cell(page, "Newest");
    page_moment(page->out, one->newest_ms);
    html_add(page->out, "</td></tr>\n");
}

static void other_pages(struct page *page, const char *before, const struct machines *shown)
{
    if (before == NULL && shown->next == NULL) return;
    html_add(page->out, "<nav class=\"pages\" aria-label=\"Pages\"><ul>");
    if (before != NULL) html_add(page->out, "<li><a class=\"button plain\" href=\"/machines\">First page</a></li>");
    if (shown->next != NULL)
        html_add(page->out, "<li><a class=\"button plain\" href=\"/machines?before=%s\">Earlier</a></li>", shown->next);
    html_add(page->out, "</ul></nav>\n");
}

PAGE(page_machines)
{
    struct machines all;
    const char *before;
    TRY(request_cursor(page->request, "before", &before));
    TRY(store_machines(page->reader, before, MACHINES_PER_PAGE, &page->arena, &all));
    page_begin(page, "Machines", "Runs and measurements by machine", (const struct crumb[]){{0}});
    html_add(page->out, "<h1>Machines</h1><p class=\"lead\">By the model of the GPU, or of the processor if it computed. Each "
                        "page has the machine's uploads on all boards, at every level of trust, and the throughput that "
                        "people measured on it with <code>dawn bench</code>. Authors state the names, and nobody "
                        "confirms them.</p>\n");
    page_command(page, "machine-commands",
                 "dawn bench cifar10 --batch 64,128,256,512\n"
                 "dawn submit --bench all --server http://THIS-SITE --handle YOUR-NAME");
    if (all.count > 0) {
        page_table(page, "small cards labelled", "The last to change first",
                   "row:Machine|:Uploads on boards|:Measurements|:Newest");
        for (int i = 0; i < all.count; i++) machine_row(page, &all.at[i]);
        html_add(page->out, "</tbody></table></div>\n");
    } else {
        html_add(page->out, "<p class=\"empty\">Nothing%s. <a href=\"/submit\">How to take part</a>.</p>",
                 before != NULL ? " more" : " yet");
    }
    other_pages(page, before, &all);
    page_end(page);
    return 0;
}

// ---- one machine

static void bench_table(struct page *page)
{
    page_table(page, "small cards labelled", "Training steps of one batch, the newest measurement first",
               "row:Task and model|:Batch|:Type|:Throughput|:Arithmetic|:In use|:Version|:Author|:Measured");
}

// The rows of one kind of measurement, below the head of their table if there are any.
static int rows_of(struct page *page, const struct benches *list, int (*rows)(struct page *, const struct stored *),
                   void (*head)(struct page *))
{
    struct text written = {0}, *out = page->out;
    int rc = 0;
    page->out = &written;
    for (int i = 0; i < list->count && rc == 0; i++) rc = rows(page, &list->at[i]);
    page->out = out;
    if (rc == 0 && written.length > 0) {
        head(page);
        text_bytes(page->out, written.at, written.length);
        html_add(page->out, "</tbody></table></div>\n");
    }
    text_free(&written);
    return rc;
}

static int measurements(struct page *page, const struct machine_line *machine, const struct benches *list)
{
    html_add(page->out, "<section aria-labelledby=\"measured\"><h2 id=\"measured\">Throughput</h2>\n");
    if (machine->benches == 0) {
        html_add(page->out, "<p>Nobody has submitted a measurement of this machine: <code>dawn bench TASK</code>, then "
                            "<code>dawn submit --bench all</code>.</p></section>\n");
        return 0;
    }
    page_note(page->out, "warn", "Self-measured.",
              "Nobody but their authors saw these measurements. They are on no board: throughput is not the time to an "
              "accuracy.");
    TRY(rows_of(page, list, bench_rows, bench_table));
    TRY(rows_of(page, list, scaling_rows, scaling_table));
    if (list->next > 0)
        html_add(page->out, "<nav class=\"pages\" aria-label=\"Pages\"><ul><li><a class=\"button plain\" "
                 "href=\"/machines/%s?before=%lld\">Older measurements</a></li></ul></nav>\n", machine->word,
                 (long long)list->next);
    html_add(page->out, "</section>\n");
    return 0;
}

PAGE(page_machine)
{
    struct machine_line machine;
    struct entries uploads, *rows;
    struct benches list;
    int64_t before;
    const char *word = page->request->word[0];
    TRY(page_read_number(page, "before", "a machine's page", &before));
    if (before < 0) before = INT64_MAX;
    TRY(store_machine(page->reader, word, UPLOADS_MOST, &page->arena, &machine, &uploads));
    TRY(page_uploads_read(page, &uploads, &rows));
    TRY(store_benches(page->reader, word, before, &page->arena, &list));
    page_begin(page, machine.name, "A machine: its uploads on boards, and its measured throughput",
               (const struct crumb[]){{"Machines", "/machines"}, {0}});
    html_add(page->out, "<h1><bdi>%s</bdi></h1><p>", machine.name);
    page_count(page->out, machine.entries, "upload on boards", "uploads on boards");
    html_add(page->out, ", ");
    page_count(page->out, machine.benches, "measurement", "measurements");
    html_add(page->out, ". <a href=\"/api/v1/machines/%s\">JSON</a></p>\n", machine.word);
    page_note(page->out, "info", "A name is a claim.",
              "Authors state their machine, and nobody confirms it. This page lists every upload with this name.");
    TRY(measurements(page, &machine, &list));
    const char *caption = uploads.total > uploads.count ? "On the boards: the newest 100 uploads, at every level of trust"
                                                        : "On the boards, the newest first, at every level of trust";
    if (uploads.count > 0) {
        html_add(page->out, "<section aria-labelledby=\"uploads\"><h2 id=\"uploads\">Uploads</h2>\n");
        page_uploads(page, &uploads, rows, caption);
        html_add(page->out, "</section>\n");
    }
    page_end(page);
    return 0;
}
