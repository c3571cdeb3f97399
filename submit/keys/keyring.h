// SPDX-License-Identifier: Apache-2.0
// Finds keys; ssh-keygen signs with them (openssh.h).
//
// The keyring is a folder, $XDG_CONFIG_HOME/dawn/keys or ~/.config/dawn/keys, of OpenSSH's files: NAME (the secret) and
// NAME.pub (the public key). NAME.pub alone stands for a key whose secret only the agent has. ~/.ssh/id_ed25519 is used
// if the keyring is empty. A secret that others may read is refused, as by ssh.
#pragma once

#include "submit/keys/openssh.h"

enum { KEYRING_NAME = 65, KEYRING_PATH = 1024, KEYRING_MOST = 256 };

struct keyring_key {
    char name[KEYRING_NAME];  // in the keyring; "" for a key from elsewhere
    char path[KEYRING_PATH];  // of the secret, even if it is missing (see `file`); with ".pub", of the public key; "": in no file
    bool file;                // the secret's file is there
    struct sshkey key;
};
struct keyring_names {
    int count;
    char name[KEYRING_MOST][KEYRING_NAME];  // sorted
};

int keyring_folder(char into[KEYRING_PATH]) MUST_CHECK;
int keyring_names(struct keyring_names *) MUST_CHECK;  // empty if there is no folder
// Finds a key. `wanted`: a name in the keyring, the path of a private key or of its .pub file, or a
// fingerprint "SHA256:..." of a key in the keyring, in ~/.ssh or in the agent. NULL: $DAWN_KEY, else the one key in the
// keyring, else ~/.ssh/id_ed25519.
int keyring_find(const char *wanted, struct keyring_key *) MUST_CHECK;
int keyring_find_ssh(struct keyring_key *) MUST_CHECK;  // ~/.ssh/id_ed25519; ERR_MISSING if it does not exist

int keyring_new(const char *name) MUST_CHECK;  // makes a key in the keyring; never overwrites one. The folder gets mode 0700

struct signer {
    struct sshkey key;
    char path[KEYRING_PATH];  // of the secret; "": only the agent has it
    int wait_ms;              // for ssh-keygen, which then prompts nobody; 0: no limit
    char last[SSHSIG_MAX];    // the last signature: the same bytes are not signed again, because a person may have to confirm
};
int keyring_open(const struct keyring_key *, struct signer *) MUST_CHECK;
int keyring_choose(const char *wanted, struct signer *) MUST_CHECK;  // keyring_find, then keyring_open
int signer_sign(struct signer *, const char *namespace_, const void *message, size_t count, char into[SSHSIG_MAX]) MUST_CHECK;
