// SPDX-License-Identifier: Apache-2.0
// Tickets: a scoreboard bounds the clock of a run from outside (docs/decisions/tickets.md). A ticket is a statement that
// announces a run, with its receipt. Its proof is the SHA-256 of the receipt's signature: nobody knows it before the board signs.
// The root of the run's chain holds the proof, and the run's seed follows from it, so neither was there before the ticket. While
// the run goes on, beats bring the hashes of its chain, and the board stamps each with its own time. Pure functions.
#pragma once

#include <jansson.h>

#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"

void ticket_proof(const char *receipt_signature, char hex[DIGEST_HEX]);
void ticket_lock(const char *secret, char hex[DIGEST_HEX]);  // the holder of the secret may send beats
int64_t ticket_seed(const char *proof);                       // 0 to 2^48 - 1, of 64 hex digits
// The first member in which a run differs from what its ticket announced; NULL: none.
const char *ticket_differs(const json_t *run, const json_t *ticket);

// A beat: {"hash":"<64 hex digits>","secret":"<64 hex digits>"}, canonical JSON. The parser is pure and fuzzed.
enum { TICKET_BEAT_BYTES = 151 };
struct ticket_beat {
    char hash[DIGEST_HEX], secret[DIGEST_HEX];
};
int ticket_read_beat(const char *bytes, size_t count, struct ticket_beat *) MUST_CHECK;
void ticket_write_beat(const struct ticket_beat *, char into[TICKET_BEAT_BYTES + 1]);

// The board got this state of a chain at this moment of its own clock for the first time.
struct ticket_stamp {
    const char *hash;  // the root, the hash of a point, or the end
    int64_t ms;
};
// A ticket may be issued this long after a run began. A state may come to the board by a twentieth of the claimed clock late, and
// by 2 s at most: a run of 3 s that could come 2 s late could claim 1 s.
enum { TICKET_BEGIN_MS = 60000, TICKET_LATE_MS = 2000, TICKET_LATE_PART = 20, TICKET_STAMPS = 4200, TICKET_DECIDE = 3 };
int64_t ticket_late_ms(int64_t claimed_ms);
struct ticket_judged {
    bool witnessed;
    char why[200];                             // why not, without a full stop; "" if it is
    struct ticket_stamp decide[TICKET_DECIDE];  // of the crossing of the target, of the last point, of the end
    int decide_count;
    int64_t late_ms;                           // allowed to the state that the rank depends on: the crossing, or the last point
};
// Compares the clock of a run with the stamps of its board, which issued the ticket at that moment. The texts of `decide` are
// those of the stamps.
void ticket_judge(const json_t *run, int64_t issued_ms, const struct ticket_stamp *, int count, struct ticket_judged *);
