// SPDX-License-Identifier: Apache-2.0
// Keys for tests: made from a seed, so that every signature is known beforehand. Also runs OpenSSH's own programs, to compare.
#pragma once

#include <sodium.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"
#include "submit/format/ssh/sshkey.h"
#include "test/unit/fixture_folder.h"

static inline void secret_of(unsigned char seed, const char *comment, struct sshkey_secret *secret)
{
    const unsigned char bytes[32] = {seed};
    memset(secret, 0, sizeof *secret);
    crypto_sign_seed_keypair(secret->key.at, secret->secret, bytes);
    snprintf(secret->key.comment, sizeof secret->key.comment, "%s", comment);
}

// Runs a shell command in the folder, quietly; its exit status.
static inline int shell(const char *command)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "cd '%s' && { %s ; } >said 2>&1 </dev/null", folder, command);
    return system(whole);
}

static inline char *contents(const char *name)
{
    char *bytes;
    size_t count;
    if (file_read(in(name), 1 << 20, &bytes, &count) < 0) BUG(error_text());
    return bytes;
}

static inline void put(const char *name, const char *text, const char *mode)
{
    char command[256];
    if (file_write(in(name), text, strlen(text)) < 0) BUG(error_text());
    snprintf(command, sizeof command, "chmod %s '%s'", mode, name);
    BUG_IF(shell(command) != 0);
}
