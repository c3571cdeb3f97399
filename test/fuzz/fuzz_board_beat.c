// SPDX-License-Identifier: Apache-2.0
// Any bytes as a beat: an accepted one is written back unchanged. The same bytes as the hashes and the moments of stamps: a
// judgement says either yes or why not.
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/score/ticket.h"

enum { STAMPS = 16 };

static void try_beat(const char *bytes, size_t count)
{
    struct ticket_beat beat;
    char again[TICKET_BEAT_BYTES + 1];
    if (ticket_read_beat(bytes, count, &beat) < 0) {
        BUG_IF(error_text()[0] == 0);
        return;
    }
    ticket_write_beat(&beat, again);
    BUG_IF(count != TICKET_BEAT_BYTES || memcmp(again, bytes, count) != 0);
}

static void try_judgement(const char *text, const unsigned char *bytes, size_t count)
{
    static const char *const names[] = {"a", "b", "c", "d", ""};
    struct ticket_stamp stamps[STAMPS];
    struct ticket_judged judged;
    int64_t issued = 0;
    int used = 0;
    json_t *run = json_loadb(text, count, JSON_REJECT_DUPLICATES, NULL);
    json_t *own = json_pack("{s:s, s:s, s:s, s:[{s:s, s:I}, {s:s, s:I}], s:[{s:I}], s:{s:I}}", "chain_root", "a",
                            "chain_end", "d", "evaluated_by", "harness", "points", "hash", "b", "t_ns",
                            (json_int_t)1000000000, "hash", "c", "t_ns", (json_int_t)900000000000, "segments", "end_ns",
                            (json_int_t)901000000000, "reached", "t_ns", (json_int_t)900000000000);
    for (size_t at = 0; at + 9 <= count && used < STAMPS; at += 9) {
        int64_t ms;
        memcpy(&ms, bytes + at + 1, sizeof ms);
        stamps[used++] = (struct ticket_stamp){names[bytes[at] % 5], ms & (((int64_t)1 << 43) - 1)};
    }
    if (count >= sizeof issued) memcpy(&issued, bytes + count - sizeof issued, sizeof issued);
    issued &= ((int64_t)1 << 43) - 1;
    ticket_judge(own, issued, stamps, used, &judged);
    BUG_IF(judged.witnessed != (judged.why[0] == 0));
    BUG_IF(judged.witnessed && judged.decide_count < 1);
    if (run != NULL) ticket_judge(run, issued, stamps, used, &judged);
    json_decref(own);
    json_decref(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *text = zalloc(count + 1);
    if (count > 0) memcpy(text, bytes, count);
    try_beat(text, count);
    try_judgement(text, bytes, count);
    free(text);
    return 0;
}
