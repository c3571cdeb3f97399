// SPDX-License-Identifier: Apache-2.0
// Checkpoints: a log's name, size and root as a signed note (c2sp.org/signed-note, tlog-checkpoint), which witnesses may have
// cosigned (tlog-cosignature). Notes come from outside: a pure parser with limits.
#pragma once

#include "runtime/common/base/text.h"
#include "submit/format/ssh/sshkey.h"
#include "submit/log/tree.h"

enum {
    NOTE_MOST = 64 << 10,     // bytes
    NOTE_NAME = 128,          // of a log or a witness
    NOTE_SIGNATURES = 64,
    NOTE_SIGNATURE = 93,      // base64 of a key's number and an Ed25519 signature, with its NUL
    NOTE_KEY = NOTE_NAME + 64,
};
struct checkpoint {
    char origin[NOTE_NAME];  // the log's name
    int64_t size;            // leaves
    struct tree_hash root;
};
struct note {
    struct checkpoint checkpoint;
    size_t text_count;  // bytes that are signed
    int count;
    struct note_signature {
        char name[NOTE_NAME];      // "" if it is longer: no known key has such a name
        unsigned char bytes[76];   // the key's number (4 bytes), then the signature
        size_t byte_count;         // bytes that do not fit are dropped: only unknown kinds are longer
    } signatures[NOTE_SIGNATURES];
};
// ERR_INPUT names the fault. No signature has been checked then.
int note_read(const char *bytes, size_t count, struct note *) MUST_CHECK;
// That the log's own key signed what note_read read out of `bytes`.
int note_check(const char *bytes, const struct note *, const struct sshkey *) MUST_CHECK;

// The name of a board's log, "board.example/log": in a key's name there is no "+".
char *note_origin(const char *board, char into[NOTE_NAME]);
// Signs a checkpoint; note_write makes the note of the signature. Ed25519 is deterministic: the same bytes every time.
char *note_sign(const struct checkpoint *, const struct sshkey_secret *, char into[NOTE_SIGNATURE]);
void note_write(const struct checkpoint *, const char *signature, struct text *);
// "board.example/log+1a2b3c4d+AQ...": the key as other programs for such logs take it.
char *note_key(const char *origin, const struct sshkey *, char into[NOTE_KEY]);

// A witness, from its key "NAME+1a2b3c4d+BA...".
struct note_witness {
    char name[NOTE_NAME];
    unsigned char number[4], key[32];
};
int note_read_witness(const char *text, struct note_witness *) MUST_CHECK;
// Whether the witness cosigned the note, and when. ERR_MISSING: it did not; ERR_INPUT: its signature does not hold.
int note_cosigned(const char *bytes, const struct note *, const struct note_witness *, int64_t *unix_seconds) MUST_CHECK;
// Signature `i` is a cosignature by its form; its time is not checked yet.
bool note_is_cosignature(const struct note *, int i, int64_t *unix_seconds);
