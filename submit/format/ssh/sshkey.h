// SPDX-License-Identifier: Apache-2.0
// Ed25519 keys in OpenSSH's formats, hardware keys (FIDO) included: the public line, the fingerprint, the private key file of a
// server. The bytes come from outside: pure parsers with limits.
#pragma once

#include "submit/format/ssh/sshwire.h"

enum { SSHKEY_COMMENT = 128, SSHKEY_TEXT = 384, SSHKEY_ID = 51 };
struct sshkey {
    unsigned char at[32];                   // the public key
    char application[SSHWIRE_APPLICATION];  // of a key in hardware; "": another key
    char comment[SSHKEY_COMMENT];           // plain printable text; "": none
};
struct sshkey_secret {
    struct sshkey key;
    unsigned char secret[64];  // libsodium's form: seed, then public key
};

bool sshkey_same(const struct sshkey *, const struct sshkey *);  // the same key; comments may differ
// "SHA256:" and 43 base64 digits, as ssh-keygen -l prints it. It is the key's name everywhere.
char *sshkey_id(const struct sshkey *, char into[SSHKEY_ID]);
bool sshkey_is_id(const char *text);
// Makes the plain text of `key->comment`: other bytes become "?", blanks at the ends are dropped, long text is cut.
void sshkey_set_comment(struct sshkey *, const char *at, size_t count);
// "ssh-ed25519 AAAA... comment", or with the type of hardware keys, without a line end.
char *sshkey_line(const struct sshkey *, char into[SSHKEY_TEXT]);
int sshkey_read_line(const char *line, size_t count, struct sshkey *) MUST_CHECK;  // a .pub file's bytes, or one line of it

// "-----BEGIN OPENSSH PRIVATE KEY-----", not encrypted: the key of a server. People's keys are read by ssh-keygen alone.
int sshkey_read_secret(const char *bytes, size_t count, struct sshkey_secret *) MUST_CHECK;
// The file, NUL-terminated; free() ends it after sshkey_wipe.
char *sshkey_write_secret(const struct sshkey_secret *);
void sshkey_new(struct sshkey_secret *, const char *comment);
void sshkey_wipe(void *at, size_t count);
