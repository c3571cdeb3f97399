// SPDX-License-Identifier: Apache-2.0
// Machines: a list of them by model, and for each its uploads on boards and its measured throughput. Rows are in the order of
// time and never ranked. Cost: a pass over all rows of all boards, and the payloads of the newest measurements.
#include <string.h>

#include "scoreboard/pages/run/page_run.h"

enum { UPLOADS_MOST = 100, STATEMENTS_MOST = 50, ROWS_MOST = 400 };

static void machine_row(struct page *page, const struct machine_line *one)
{
    html_add(page->out, "<tr><th scope=\"row\"><a href=\"/machines/%s\"><bdi>%s</bdi></a></th><td class=\"place\">%lld</td><td "
                        "class=\"place\">%lld</td><td>", one->word, one->name, (long long)one->entries, (long long)one->benches);
    page_moment(page->out, one->newest_ms);
    html_add(page->out, "</td></tr>\n");
}

static int show_machines(struct page *page)
{
    struct machines all;
    TRY(store_machines(page->reader, &page->arena, &all));
    page_begin(page, "Machines", "What was trained and measured on which machine", (const struct crumb[]){{0}});
    html_add(page->out, "<h1>Machines</h1><p class=\"lead\">By the model of the GPU, or of the processor if it computed. Each "
                        "page has the machine's uploads on all boards, at every level of trust, and the throughput that "
                        "people measured on it with <code>dawn bench</code>.</p>\n");
    page_command(page, "machine-commands",
                 "dawn bench cifar10 --batch 64,128,256,512\n"
                 "dawn submit --bench all --server http://THIS-SITE --handle YOUR-NAME");
    if (all.count > 0) {
        page_open_table(page, "small", "The last to change first");
        html_add(page->out, "<thead><tr><th scope=\"col\">Machine</th><th scope=\"col\">Uploads on boards</th><th "
                            "scope=\"col\">Measurements</th><th scope=\"col\">Newest</th></tr></thead><tbody>\n");
        for (int i = 0; i < all.count; i++) machine_row(page, &all.at[i]);
        html_add(page->out, "</tbody></table></div>\n");
    } else {
        html_add(page->out, "<p class=\"empty\">Nothing yet. <a href=\"/submit\">How to take part</a>.</p>");
    }
    page_end(page);
    return 0;
}

// ---- one machine

static int measurements(struct page *page, const struct stored *list, int count)
{
    int rows = 0, shown = 0;
    html_add(page->out, "<section aria-labelledby=\"measured\"><h2 id=\"measured\">Throughput</h2>\n");
    if (count == 0) {
        html_add(page->out, "<p>Nobody has submitted a measurement of this machine: <code>dawn bench TASK</code>, then "
                            "<code>dawn submit --bench all</code>.</p></section>\n");
        return 0;
    }
    page_note(page->out, "warn", "Self-measured.",
              "Nobody but their authors saw these measurements. They are on no board: throughput is not the time to an "
              "accuracy.");
    page_open_table(page, "small", "Training steps of one batch, the newest measurement first");
    html_add(page->out, "<thead><tr><th scope=\"col\">Task and model</th><th scope=\"col\">Batch</th><th scope=\"col\">Type</th>"
                        "<th scope=\"col\">Throughput</th><th scope=\"col\">Arithmetic</th><th scope=\"col\">In use</th>"
                        "<th scope=\"col\">Version</th><th scope=\"col\">Author</th><th scope=\"col\">Measured</th></tr></thead>"
                        "<tbody>\n");
    for (; shown < count && shown < STATEMENTS_MOST && rows < ROWS_MOST; shown++) {
        int added = bench_rows(page, &list[shown], ROWS_MOST - rows);
        if (added < 0) return added;
        rows += added;
    }
    html_add(page->out, "</tbody></table></div>\n");
    if (shown < count) html_add(page->out, "<p class=\"quiet\">Older measurements are in the <a href=\"/log\">log</a>.</p>\n");
    html_add(page->out, "</section>\n");
    return 0;
}

static int show_machine(struct page *page)
{
    struct machine_line machine;
    struct entries uploads, *rows;
    struct stored *list;
    int count;
    const char *word = page->request->word[0];
    TRY(store_machine(page->reader, word, UPLOADS_MOST, &page->arena, &machine, &uploads));
    TRY(page_uploads_read(page, &uploads, &rows));
    TRY(store_benches(page->reader, word, STATEMENTS_MOST + 1, &page->arena, &list, &count));
    page_begin(page, machine.name, "A machine: its uploads on boards, and its measured throughput",
               (const struct crumb[]){{"Machines", "/machines"}, {0}});
    html_add(page->out, "<h1><bdi>%s</bdi></h1><p>", machine.name);
    page_count(page->out, machine.entries, "upload on boards", "uploads on boards");
    html_add(page->out, ", ");
    page_count(page->out, machine.benches, "measurement", "measurements");
    html_add(page->out, ". <a href=\"/api/v1/machines/%s\">JSON</a></p>\n", machine.word);
    TRY(measurements(page, list, count));
    const char *caption = uploads.total > uploads.count ? "On the boards: the newest 100 uploads, at every level of trust"
                                                        : "On the boards, the newest first, at every level of trust";
    if (uploads.count > 0) page_uploads(page, &uploads, rows, caption);
    page_end(page);
    return 0;
}

int page_machines(const struct request *request, struct answer *answer)
{
    return page_make(request, answer, show_machines);
}

int page_machine(const struct request *request, struct answer *answer)
{
    return page_make(request, answer, show_machine);
}
