// SPDX-License-Identifier: Apache-2.0
#include "data/progress_bar.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/program.h"

enum { BAR_WIDTH = 20 };

// Leaves parts out from the right until the line fits `capacity` columns. A figure is never cut.
static void text_of_figures(const struct progress_bar *p, int64_t have, int64_t total, int capacity, char into[120])
{
    double seconds = (double)(clock_ns() - p->first_ns) * 1e-9;
    double rate = seconds > 0.05 ? (double)(have - p->first) / seconds : 0;
    char done[TEXT_FIGURE], all[TEXT_FIGURE], speed[TEXT_FIGURE], left[TEXT_FIGURE];
    if (p->bytes) {
        text_size(done, (double)have), text_size(all, (double)total), text_size(speed, rate);
    } else {
        text_count(done, have), text_count(all, total), text_count(speed, (int64_t)rate);
    }
    if (rate > 0 && have < total) text_span(left, (double)(total - have) / rate);
    else *left = 0;
    for (int parts = 3; parts > 0; parts--) {
        int length = snprintf(into, 120, "%s of %s", done, all);
        if (rate > 0 && parts > 1) length += snprintf(into + length, 120 - (size_t)length, ", %s/s", speed);
        if (*left && parts > 2) length += snprintf(into + length, 120 - (size_t)length, ", %s left", left);
        if (length <= capacity) return;
    }
}

void progress_bar_show(void *context, int64_t have, int64_t total)
{
    struct progress_bar *p = context;
    if (p->first_ns == 0) p->first_ns = clock_ns(), p->first = have;
    char figures[120];
    if (p->terminal) {
        char filled[BAR_WIDTH + 1];
        int full = total > 0 ? (int)(have * BAR_WIDTH / total) : BAR_WIDTH;
        int capacity = program_columns(STDERR_FILENO) - 2 - (int)strlen(p->what);
        for (int i = 0; i < BAR_WIDTH; i++) filled[i] = i < full ? '#' : '.';
        filled[BAR_WIDTH] = '\0';
        text_of_figures(p, have, total, capacity, figures);
        bool fits = (int)strlen(figures) + BAR_WIDTH + 3 <= capacity;
        if (fits) fprintf(stderr, "\r%s [%s] %s\033[K", p->what, filled, figures);
        else fprintf(stderr, "\r%s %s\033[K", p->what, figures);
        p->open = true;
        return;
    }
    text_of_figures(p, have, total, TEXT_WIDTH, figures);
    int tenths = total > 0 ? (int)(have * 10 / total) : 10;
    if (tenths <= p->tenths) return;
    p->tenths = tenths;
    fprintf(stderr, "%s: %d%%, %s\n", p->what, tenths * 10, figures);
}

void progress_bar_end(struct progress_bar *p)
{
    if (p->open) fputc('\n', stderr);
    p->open = false;
}

void progress_bar_erase(struct progress_bar *p)
{
    if (p->open) fputs("\r\033[K", stderr);
    p->open = false;
}

void progress_bar_note(void *context, const char *sentence)
{
    progress_bar_end(context);
    fprintf(stderr, "%s\n", sentence);
}

struct progress_bar progress_bar_start(const char *what, bool bytes)
{
    return (struct progress_bar){.what = what, .bytes = bytes, .terminal = program_draws(STDERR_FILENO)};
}
