// SPDX-License-Identifier: Apache-2.0
// What a network answers: for each task that can show it, the newest run with weights looks at test samples again. A part that
// is not there (weights, data) is a sentence in the page, never a failure of the report.
//
// Cost: an inference of LIMIT_NS at most, one sample at a time; then the page shows those that were looked at.
#include "tasks/tools/report/report_inside.h"

#include <stdlib.h>
#include <string.h>

#include "data/folder.h"
#include "runtime/common/base/file.h"
#include "runtime/common/cli/program.h"
#include "runtime/common/draw/html.h"
#include "submit/format/score/curve.h"
#include "tasks/common/step/player.h"
#include "tasks/common/train/resume.h"
#include "tasks/tools/choose.h"
#include "tasks/tools/infer/infer.h"
#include "tasks/tools/infer/infer_run.h"

enum { KEPT_SHOWN = 6, KEPT_BYTES = 4 << 20 };
static const int64_t LIMIT_NS = 20000000000;

static void keep_picture(struct exhibit *e, const char *caption, const void *bytes, size_t count)
{
    report_put_picture(caption, bytes, count, e->context);
}

static int look_again(const struct infer_run *from, const struct task *task, struct exhibit *e)
{
    struct choose choice = {.data = from->data};
    struct chosen chosen;
    struct infer_figures figures;
    TRY(choose(&choice, task->name, &chosen));
    const struct infer_options o = {
        .task = task, .data_name = chosen.data_name, .data_folder = from->folder ? from->folder : chosen.data_folder,
        .files = {.weights = from->weights}, .precision = (enum recipe_precision)chosen.recipe.precision, .singles = true,
        .exhibit = e, .limit_ns = LIMIT_NS};
    return infer_measure(&o, &figures);
}

// The first game of a match.
static int show_game(const struct infer_run *from, const struct task *task, struct text *into)
{
    struct choose choice = {.data = from->data};
    struct chosen chosen;
    struct match match = {.games = 1};
    const struct infer_playing playing = {.match = &match};
    struct infer_figures figures;
    TRY(choose(&choice, task->name, &chosen));
    const struct infer_options o = {.task = task, .data_name = chosen.data_name, .data_folder = chosen.data_folder,
                                    .files = {.weights = from->weights}, .precision = PRECISION_F32, .threads = 1,
                                    .playing = &playing};
    const int rc = infer_measure(&o, &figures);
    if (rc == 0) html_add(into, "<p>A game against %s:</p>\n<pre>%s</pre>\n", task->player->opponent, match.first.at);
    text_free(&match.first);
    return rc;
}

static int add_kept(const char *folder, const char *name, struct text *pictures)
{
    char *bytes;
    size_t count;
    struct text path = {0}, caption = {0};
    text_add(&path, "%s/%s", folder, name);
    text_add(&caption, "in the training, after step %lld", strtoll(name, NULL, 10));
    int rc = file_read(path.at, KEPT_BYTES, &bytes, &count);
    if (rc == 0) {
        report_put_picture(caption.at, bytes, count, pictures);
        free(bytes);
    }
    text_free(&path);
    text_free(&caption);
    return rc;
}

// What the training kept: the first, the last, and some between. A folder that is gone shows nothing.
static void show_kept(const struct results *r, int64_t run, struct text *pictures)
{
    struct folder kept;
    char *folder = resume_file(r, run, "pictures");
    if (folder_list(folder, FOLDER_BY_NUMBERS, &kept) == 0) {
        const int shown = kept.count < KEPT_SHOWN ? kept.count : KEPT_SHOWN;
        for (int i = 0; i < shown; i++) {
            int at = shown > 1 ? i * (kept.count - 1) / (shown - 1) : 0;
            if (add_kept(folder, kept.entry[at]->d_name, pictures) < 0) break;
        }
        folder_end(&kept);
    }
    free(folder);
}

static int show_run(struct results *r, const struct task *task, struct text *into)
{
    struct infer_run from;
    struct text pictures = {0}, html = {0};
    char score[TEXT_FIGURE];
    struct exhibit e = {.name = task->name, .html = &html, .picture = keep_picture, .context = &pictures};
    int rc = infer_run_newest(r, task, &from);
    program_status("%s: the network answers test samples again", task->name);
    if (rc == 0) rc = look_again(&from, task, &e);
    if (rc == 0 && task->player) rc = show_game(&from, task, &html);
    if (rc == 0) {
        const struct run_metric board = curve_board(from.record);
        html_add(into, "<p>Run %lld, whose score is %s.</p>\n", (long long)from.run,
                 run_metric_text(&board, curve_last(from.record, &board), score));
        text_bytes(into, html.at, html.length);
        if (task->judge->keeps) show_kept(r, from.run, &pictures);
        html_add(into, "<div class=\"pictures\">\n");
        text_bytes(into, pictures.at ? pictures.at : "", pictures.length);
        html_add(into, "</div>\n");
    }
    program_status_end();
    infer_run_free(&from);
    text_free(&pictures);
    text_free(&html);
    return rc;
}

void report_answers(struct results *r, const struct report_data *d, struct text *into)
{
    for (int i = 0; task_at(i); i++) {
        const struct task *task = task_at(i);
        bool has = false;
        for (size_t k = 0; k < json_array_size(d->runs) && !has; k++)
            has = !strcmp(record_text(json_array_get(d->runs, k), "task"), task->name);
        if (!has || !task->judge || !task->judge->exhibit) continue;
        html_add(into, "<h3>%s</h3>\n", task->title);
        if (show_run(r, task, into) < 0)
            html_add(into, "<p>This part needs the weights and the data of a run of %s: %s.</p>\n", task->name, error_text());
    }
}
