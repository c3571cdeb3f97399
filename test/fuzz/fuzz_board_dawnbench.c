// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of DAWNBench's files: a JSON text, and after a NUL its TSV; without one it is an inference. The first
// byte picks the contest. An accepted entry is read again from its stored form and must be the same.
#include <math.h>
#include <string.h>

#include "scoreboard/dawnbench/dawnbench_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

static bool same(double a, double b)
{
    return a == b;  // and neither is NaN
}

static void compare(const struct dawnbench_entry *a, const struct dawnbench_entry *b)
{
    BUG_IF(strcmp(a->json, b->json) != 0 || strcmp(a->tsv, b->tsv) != 0);
    BUG_IF(strcmp(a->author, b->author) != 0 || strcmp(a->hardware, b->hardware) != 0 || strcmp(a->date, b->date) != 0);
    BUG_IF(!same(a->latency_ms, b->latency_ms) || !same(a->cost_per_item, b->cost_per_item) || !same(a->score, b->score));
    BUG_IF(!same(a->cost_per_hour, b->cost_per_hour) || a->point_count != b->point_count || a->devices != b->devices);
    for (int t = 0; t < CONTEST_TARGETS; t++)
        BUG_IF(!same(a->seconds[t], b->seconds[t]) || !same(a->accuracy[t], b->accuracy[t]) || a->seconds[t] == 0);
}

static void check(const struct dawnbench_entry *e)
{
    const char *const shown[] = {e->author, e->framework, e->model, e->hardware, e->code_url, e->quirks.at};
    struct text again = {0};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        json_t *valid = json_string(shown[i]);
        BUG_IF(valid == NULL);  // UTF-8
        json_decref(valid);
        again.length = 0;
        BUG_IF(dawnbench_drop_mail(shown[i], strlen(shown[i]), &again));
    }
    text_free(&again);
    for (int i = 0; i < e->point_count; i++)
        BUG_IF(!isfinite(e->points[i].hours) || e->points[i].hours < 0 || !isfinite(e->points[i].epoch) ||
               e->points[i].score < 0 || e->points[i].score > 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    static const char *const tasks[] = {"cifar10", "imagenet", "squad"};
    if (count < 1) return 0;
    const struct contest *contest = contest_find(tasks[*bytes % 3]);
    const char *json = (const char *)bytes + 1, *nul = memchr(json, 0, count - 1);
    size_t json_count = nul != NULL ? (size_t)(nul - json) : count - 1, tsv_count = count - 1 - json_count - (nul != NULL);
    struct dawnbench_entry *e, *again;
    if (dawnbench_read(contest, nul != NULL, "stem", json, json_count, nul != NULL ? nul + 1 : NULL, tsv_count, &e) < 0) {
        BUG_IF(e != NULL || error_text()[0] == '\0');
        return 0;
    }
    check(e);
    const char *tsv = nul != NULL ? e->tsv : NULL;
    int rc = dawnbench_read(contest, nul != NULL, "stem", e->json, strlen(e->json), tsv, strlen(e->tsv), &again);
    BUG_IF(rc < 0);
    compare(e, again);
    dawnbench_free(again);
    dawnbench_free(e);
    return 0;
}
