// SPDX-License-Identifier: Apache-2.0
// A client of ssh-agent, for keys whose secret is encrypted on disk or not on disk. It makes two requests over the socket
// $SSH_AUTH_SOCK: list the Ed25519 keys, and sign.
#ifndef DAWN_KEYS_AGENT_H
#define DAWN_KEYS_AGENT_H

#include "submit/format/ssh/sshkey.h"

enum { AGENT_KEYS = 64, AGENT_REPLY_MAX = 256 * 1024, AGENT_MESSAGE_MAX = 16 * 1024 };
struct agent_keys {
    int count;  // keys beyond AGENT_KEYS are ignored
    struct sshkey key[AGENT_KEYS];
};
// ERR_MISSING without an agent.
int agent_list(struct agent_keys *) MUST_CHECK;
bool agent_holds(const struct sshkey *);  // false without an agent
// A signature of `message`, checked with the key: any other answer is an error. The agent may ask a
// person to confirm, so this waits `wait_ms` (0: a minute).
int agent_sign(const struct sshkey *, const void *message, size_t count, int wait_ms, unsigned char signature[64]) MUST_CHECK;

// The parts, for tests: one request and its answer (free() ends it) without their lengths, then the pure parsers.
int agent_ask(const char *socket_path, const void *question, size_t count, int wait_ms, unsigned char **answer,
              size_t *answer_count) MUST_CHECK;
int agent_read_keys(const unsigned char *answer, size_t count, struct agent_keys *) MUST_CHECK;
int agent_read_signature(const unsigned char *answer, size_t count, unsigned char signature[64]) MUST_CHECK;

#endif
