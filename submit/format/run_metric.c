// SPDX-License-Identifier: Apache-2.0
#include "submit/format/run_metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MILLION = 1000000, DECIMALS = 10000 };

int64_t run_metric_scale(const struct run_metric *m)
{
    return m->items > 0 ? m->items : MILLION;
}

bool run_metric_meets(const struct run_metric *m, int64_t score, int64_t target_micro)
{
    if (score == RUN_SCORE_NONE) return false;
    __int128 reached = (__int128)score * MILLION, wanted = (__int128)target_micro * run_metric_scale(m);
    return m->lower_is_better ? reached <= wanted : reached >= wanted;
}

double run_metric_value(const struct run_metric *m, int64_t score)
{
    return (double)score / (double)run_metric_scale(m);
}

static bool is_percent(const struct run_metric *m)
{
    return strcmp(m->unit, "%") == 0;
}

double run_metric_shown(const struct run_metric *m, double value)
{
    return is_percent(m) ? 100 * value : value;
}

// "BLEU" in "bleu", "FD" in "fd-lenet84"; no unit is in every name.
static bool is_in_name(const struct run_metric *m)
{
    size_t length = strlen(m->unit);
    return length == 0 || (strncasecmp(m->unit, m->name, length) == 0 && strchr("-", m->name[length]) != NULL);
}

// `parts`: ten-thousandths of the value. Percent have two decimals of their own, other units four, or two from 10 on, rounded
// up or down as the parts were.
static char *write_parts(const struct run_metric *m, __int128 parts, bool up, char into[TEXT_FIGURE])
{
    int unit = is_percent(m) ? 100 : DECIMALS, decimals = is_percent(m) ? 2 : 4;
    __int128 size = parts < 0 ? -parts : parts;
    if (unit == DECIMALS && size >= 10 * DECIMALS) {
        size = (size + (up == (parts > 0) ? 99 : 0)) / 100;
        unit = 100, decimals = 2;
    }
    char figure[48];
    snprintf(figure, sizeof figure, "%s%lld.%0*lld", parts < 0 ? "-" : "", (long long)(size / unit), decimals,
             (long long)(size % unit));
    size_t length = strnlen(figure, TEXT_FIGURE - 1), left = TEXT_FIGURE - 1 - length;
    memcpy(into, figure, length);
    into[length] = 0;
    if (is_in_name(m)) return into;
    if (strlen(m->unit) + 1 > left) return into;  // the unit would be cut inside a letter
    if (!is_percent(m)) into[length++] = ' ';
    return memcpy(into + length, m->unit, strlen(m->unit) + 1), into;
}

char *run_metric_text(const struct run_metric *m, int64_t score, char into[TEXT_FIGURE])
{
    if (score == RUN_SCORE_NONE) return strcpy(into, "-");
    __int128 scaled = (__int128)score * DECIMALS, scale = run_metric_scale(m), parts = scaled / scale;
    if (scaled % scale != 0 && m->lower_is_better == (score > 0)) parts += m->lower_is_better ? 1 : -1;
    return write_parts(m, parts, m->lower_is_better, into);
}

char *run_metric_value_text(const struct run_metric *m, double value, char into[TEXT_FIGURE])
{
    const double slack = 1e-7;  // a division may end below a whole figure
    double parts = value * DECIMALS;
    if (!(fabs(parts) < 1e15)) return strcpy(into, "-");
    return write_parts(m, (__int128)(m->lower_is_better ? ceil(parts - slack) : floor(parts + slack)), m->lower_is_better, into);
}

char *run_metric_spread_text(const struct run_metric *m, double sigma, int runs, char into[TEXT_FIGURE])
{
    const double slack = 1e-7;  // a root may end above a whole figure
    double parts = ceil(sigma * DECIMALS - slack);
    if (runs < 2 || !(parts < 1e15)) return strcpy(into, "-");
    return write_parts(m, (__int128)parts, true, into);
}
