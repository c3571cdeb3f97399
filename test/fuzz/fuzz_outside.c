// SPDX-License-Identifier: Apache-2.0
// Any bytes as the output of a program; the first byte chooses the split. The lines do not depend on the split; an accepted line
// has figures within their bounds, and a refused line has a sentence.
#include "tasks/tools/outside/outside.h"

#include <string.h>

static uint64_t seen[2];  // of the same bytes, cut in two ways
static int which;

static void mix(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) seen[which] = (seen[which] ^ at[i]) * 0x100000001b3;
}

static void check_about(const struct outside_about *a)
{
    BUG_IF(strlen(a->model) >= sizeof a->model || strlen(a->framework) >= sizeof a->framework);
    BUG_IF(strlen(a->precision) > 16 || (*a->weights && strlen(a->weights) != 64));
    BUG_IF(a->views > 4096 || a->input_size > 65536);
}

static int take(void *context, const char *line, size_t count, int64_t number)
{
    const int64_t items = *(const int64_t *)context;
    const struct contest counts = {.board = {.unit = "%", .items = items}, .items = items};
    struct outside_line said;
    BUG_IF(count == 0 || count > OUTSIDE_LINE || number < 1);
    mix(line, count);
    mix(&number, sizeof number);
    int rc = outside_read(line, count, &counts, &said);
    if (rc < 0) {
        BUG_IF(rc != ERR_INPUT || said.kind != OUTSIDE_NOTHING || !*error_text());
        return 0;
    }
    const struct outside_epoch *e = &said.epoch;
    BUG_IF(e->k > items || e->k < -1 || e->epoch < -1 || e->samples < -1);
    BUG_IF(said.kind == OUTSIDE_EPOCH && e->epoch < 1 && !e->from_zero && memmem(line, count, ":::MLLOG", 8) == NULL);
    BUG_IF(said.kind == OUTSIDE_SEGMENT && (said.segment <= SEGMENT_PROCESS || said.segment >= SEGMENT_END));
    if (said.kind == OUTSIDE_ABOUT) check_about(&said.about);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    if (count < 2) return 0;
    int64_t items = bytes[0] & 1 ? 10000 : 1000000;
    size_t step = (size_t)bytes[1] + 1;
    const char *text = (const char *)bytes + 2;
    count -= 2;
    for (which = 0; which < 2; which++) {
        struct outside_stream s = {0};
        seen[which] = 0xcbf29ce484222325;
        for (size_t at = 0; at < count; at += which ? step : count) {
            size_t here = which && at + step < count ? step : count - at;
            BUG_IF(outside_feed(&s, text + at, here, take, &items) < 0);
        }
        BUG_IF(outside_finish(&s, take, &items) < 0);
        outside_free(&s);
    }
    BUG_IF(seen[0] != seen[1]);
    return 0;
}
