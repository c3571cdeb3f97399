// SPDX-License-Identifier: Apache-2.0
// The binary form beneath OpenSSH's keys, signatures and agent (RFC 4251): 32-bit numbers, most significant byte first,
// and strings with their length before them; and the text form around it, base64 between two marks.
#pragma once

#include "runtime/common/base/error.h"

// Reading. After the first mistake every number is 0, every string is empty, and sshwire_done() is false.
struct sshwire {
    const unsigned char *at, *end;
    bool bad;
};
struct sshwire sshwire_over(const void *bytes, size_t count);
uint32_t sshwire_u32(struct sshwire *);
struct sshwire sshwire_string(struct sshwire *);       // a reader of the string; bad if the outer one is
size_t sshwire_left(const struct sshwire *);
bool sshwire_is(struct sshwire *, const char *word);   // reads a string; true if it is this word
bool sshwire_done(const struct sshwire *);             // no mistake, and no bytes are left
// "ssh-ed25519" and 32 bytes; or the type of hardware keys (FIDO), 32 bytes and the application that they sign for, which is ""
// otherwise. Nothing behind them. ERR_INPUT names another type of key.
enum { SSHWIRE_APPLICATION = 64 };
int sshwire_key(struct sshwire blob, unsigned char at[32], char application[SSHWIRE_APPLICATION]) MUST_CHECK;
const char *sshwire_type(const char *application);

// Writing. The caller provides enough bytes; too few are a BUG.
struct sshwire_out {
    unsigned char *at;
    size_t count, capacity;
};
void sshwire_put(struct sshwire_out *, const void *bytes, size_t count);
void sshwire_put_u32(struct sshwire_out *, uint32_t);
void sshwire_put_string(struct sshwire_out *, const void *bytes, size_t count);
void sshwire_put_word(struct sshwire_out *, const char *word);
enum { SSHWIRE_KEY = 160 };  // the public key's blob at most
void sshwire_put_key(struct sshwire_out *, const unsigned char at[32], const char *application);

// "-----BEGIN WHAT-----", lines of 70 base64 digits, "-----END WHAT-----", each with a line end, then a NUL.
void sshwire_armour(const char *what, const void *bytes, size_t count, char *into, size_t capacity);
// The reverse. Lines may have any length and may end with "\r\n". Base64 must have its one exact form. ERR_INPUT names the fault.
int sshwire_unarmour(const char *what, const char *text, size_t text_count, unsigned char *into, size_t capacity,
                     size_t *count) MUST_CHECK;
