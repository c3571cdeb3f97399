// SPDX-License-Identifier: Apache-2.0
// OpenSSH's programs make the keys and sign with them, so private keys, passphrases, agents and hardware keys are their business.
// Every error is one sentence; ERR_MISSING if OpenSSH is not installed.
#pragma once

#include "submit/format/ssh/sshsig.h"

enum { OPENSSH_KEYS = 64 };
struct openssh_keys {
    int count;
    struct sshkey key[OPENSSH_KEYS];
};
// The keys of the ssh-agent that a board accepts; none without an agent. Keys beyond OPENSSH_KEYS are ignored.
void openssh_list(struct openssh_keys *);
bool openssh_lists(const struct openssh_keys *, const struct sshkey *);

// Makes a new key without a passphrase: the files PATH and PATH.pub.
int openssh_new(const char *path, const char *comment) MUST_CHECK;
// The public key of a private key file that is not encrypted.
int openssh_public(const char *path, struct sshkey *) MUST_CHECK;

// Signs a message: the ssh-agent does if it holds the key, else the private key file `path` (NULL: there is none). Without a time
// limit (`wait_ms` 0) a person may be asked for a passphrase, a PIN or a touch. The signature is checked with the key.
struct openssh_signing {
    const struct sshkey *key;
    const char *path, *namespace_;
    const void *message;
    size_t count;
    int wait_ms;
};
int openssh_sign(const struct openssh_signing *, char into[SSHSIG_MAX]) MUST_CHECK;
