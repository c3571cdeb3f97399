// SPDX-License-Identifier: Apache-2.0
#include "submit/results/machine/others.h"

#include "runtime/common/base/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 8, STAT_ROOM = 1 << 16 };  // user nice system idle iowait irq softirq steal; the cpu lines come first
static const double SHARE = 0.05;           // share of the processors from which other programs are mentioned
static const double ALIKE = 1.5;            // tries of one peak that differ more are doubted

// Reads the columns of a line "cpu  123 4 ..."; false if there are fewer than COLUMNS.
static bool read_columns(const char *at, int64_t column[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        char *end;
        while (*at == ' ') at++;
        if (*at < '0' || *at > '9') return false;
        column[i] = strtoll(at, &end, 10);
        at = end;
    }
    return true;
}

int others_parse(const char *stat, int64_t *busy_ticks, int *processors)
{
    int64_t column[COLUMNS];
    if (strncmp(stat, "cpu ", 4) != 0 || !read_columns(stat + 4, column))
        return fail(ERR_INPUT, "/proc/stat does not begin with the times of the processors");
    *busy_ticks = 0;
    for (int i = 0; i < COLUMNS; i++)
        if (i != 3 && i != 4) *busy_ticks += column[i];  // without idle time and disk waits
    *processors = 0;
    for (const char *line = strchr(stat, '\n'); line && !strncmp(line + 1, "cpu", 3); line = strchr(line + 1, '\n'))
        ++*processors;
    return 0;
}

static int64_t read_busy(int *processors)
{
    static _Thread_local char stat[STAT_ROOM];
    int64_t ticks;
    int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    size_t have = 0;
    for (ssize_t n; have < sizeof stat - 1 && (n = read(fd, stat + have, sizeof stat - 1 - have)) > 0;) have += (size_t)n;
    close(fd);
    stat[have] = 0;
    return others_parse(stat, &ticks, processors) < 0 || *processors < 1 ? -1 : ticks;
}

void others_begin(struct others *o)
{
    *o = (struct others){.wall_ns = clock_ns(), .own_ns = clock_cpu_ns()};
    o->busy_ticks = read_busy(&o->processors);
}

struct others_share others_judge(int64_t wall_ns, int64_t own_ns, int64_t busy_ns, int64_t tick_ns, int processors)
{
    double wall = wall_ns > 0 ? (double)wall_ns : 1;
    struct others_share s = {.own = (double)own_ns / wall, .others = -1, .processors = processors};
    if (busy_ns < 0) return s;
    s.others = busy_ns > own_ns ? (double)(busy_ns - own_ns) / wall : 0;
    double resolution = 2 * (double)tick_ns * processors / wall;  // a tick at each end
    s.disturbed = s.others > SHARE * processors && s.others > resolution;
    return s;
}

struct others_share others_end(const struct others *o)
{
    int processors = o->processors;
    int64_t own = clock_cpu_ns() - o->own_ns, wall = clock_ns() - o->wall_ns, busy = read_busy(&processors);
    long rate = sysconf(_SC_CLK_TCK);
    int64_t tick = 1000000000 / (rate > 0 ? rate : 100);
    bool known = o->busy_ticks >= 0 && busy >= o->busy_ticks;
    return others_judge(wall, own, known ? (busy - o->busy_ticks) * tick : -1, tick, processors);
}

char *others_text(const struct others_share *s, const char *consequence, char into[OTHERS_TEXT])
{
    if (s->others < 0 || !s->disturbed) return NULL;
    snprintf(into, OTHERS_TEXT, "other programs used %.2f of %d processors: %s", s->others, s->processors, consequence);
    return into;
}

char *others_doubt(const struct others_share *s, double spread, char into[OTHERS_TEXT])
{
    if (others_text(s, "these peaks are too low", into)) return into;
    if (!(spread > ALIKE)) return NULL;
    snprintf(into, OTHERS_TEXT, "two tries of the same peak differ by a factor of %.1f: these peaks may be too low", spread);
    return into;
}
