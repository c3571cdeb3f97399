// SPDX-License-Identifier: Apache-2.0
// Signatures in OpenSSH's SSHSIG format, Ed25519 and SHA-512 only. People sign with their SSH keys, and anyone can verify with
// "ssh-keygen -Y verify", without DAWN.
#ifndef DAWN_FORMAT_SSHSIG_H
#define DAWN_FORMAT_SSHSIG_H

#include "submit/format/ssh/sshkey.h"

enum { SSHSIG_MAX = 2048, SSHSIG_SIGNED = 256 };
// Builds the bytes that Ed25519 signs: "SSHSIG", the namespace, SHA-512 of the message. Returns their length.
size_t sshsig_signed(const char *namespace_, const void *message, size_t count, unsigned char into[SSHSIG_SIGNED]);
// The armoured text, as ssh-keygen -Y sign writes it, from a signature over sshsig_signed() (an agent's, or our own).
char *sshsig_armour(const char *namespace_, const struct sshkey *, const unsigned char signature[64], char into[SSHSIG_MAX]);
char *sshsig_sign(const char *namespace_, const void *message, size_t count, const struct sshkey_secret *, char into[SSHSIG_MAX]);
// Checks everything: armour, magic, version, key type, namespace, reserved field, hash, lengths, the signature itself.
// `key` gets the signer's key. The caller decides if it may sign.
int sshsig_verify(const char *armoured, size_t armoured_count, const char *namespace_, const void *message, size_t count,
                  struct sshkey *key) MUST_CHECK;

#endif
