// SPDX-License-Identifier: Apache-2.0
// ssh-agent's client: for keys whose secret is encrypted on disk, or on no disk at all. Two questions, over the socket
// that $SSH_AUTH_SOCK names: which Ed25519 keys are there, and a signature, please.
#ifndef DAWN_SUBMIT_AGENT_H
#define DAWN_SUBMIT_AGENT_H

#include "submit/format/sshkey.h"

enum { AGENT_KEYS = 64, AGENT_REPLY_MAX = 256 * 1024, AGENT_MESSAGE_MAX = 16 * 1024 };
struct agent_keys {
    int count;  // more than AGENT_KEYS are not looked at
    struct sshkey key[AGENT_KEYS];
};
// ERR_MISSING where there is no agent.
int agent_list(struct agent_keys *) MUST_CHECK;
bool agent_holds(const struct sshkey *);  // false also where there is no agent
// A signature of `message`, checked with the key: an agent that answers something else is an error. People may be asked
// to confirm, so it waits up to a minute.
int agent_sign(const struct sshkey *, const void *message, size_t count, unsigned char signature[64]) MUST_CHECK;

// The parts, for the tests. One question and its answer (free() ends it), without their lengths; then the pure parsers.
int agent_ask(const char *socket_path, const void *question, size_t count, int wait_ms, unsigned char **answer,
              size_t *answer_count) MUST_CHECK;
int agent_read_keys(const unsigned char *answer, size_t count, struct agent_keys *) MUST_CHECK;
int agent_read_signature(const unsigned char *answer, size_t count, unsigned char signature[64]) MUST_CHECK;

#endif
