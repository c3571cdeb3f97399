// SPDX-License-Identifier: Apache-2.0
// Signatures in OpenSSH's SSHSIG format, over SHA-512, of Ed25519 keys, plain or in hardware (FIDO). People sign
// with their SSH keys, and anyone can verify with "ssh-keygen -Y verify", without DAWN.
#pragma once

#include "submit/format/ssh/sshkey.h"

enum { SSHSIG_MAX = 2048 };
// The armoured text, as ssh-keygen -Y sign writes it.
char *sshsig_sign(const char *namespace_, const void *message, size_t count, const struct sshkey_secret *, char into[SSHSIG_MAX]);
// Checks everything: armour, magic, version, key type, namespace, reserved field, hash, lengths, the signature itself.
// `key` gets the signer's key. The caller decides if it may sign.
int sshsig_verify(const char *armoured, size_t armoured_count, const char *namespace_, const void *message, size_t count,
                  struct sshkey *key) MUST_CHECK;
