// SPDX-License-Identifier: Apache-2.0
// The agent's protocol (draft-ietf-sshm-ssh-agent): a length, a byte for the type, the rest. Every wait has a time limit and
// every answer a size limit. Workload: two requests per signature. Cost: the agent's, or that of the person who confirms.
#include "submit/keys/agent.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "submit/format/ssh/sshwire.h"

enum { FAILURE = 5, LIST = 11, LISTED = 12, SIGN = 13, SIGNED = 14 };  // numbers of the protocol
enum { LIST_WAIT_MS = 5000, SIGN_WAIT_MS = 60000 };

struct talk {
    int fd;
    int64_t end_ns;
};

static int wait_for(const struct talk *talk, short what)
{
    for (;;) {
        const int64_t left_ms = (talk->end_ns - clock_ns()) / 1000000;
        struct pollfd event = {.fd = talk->fd, .events = what};
        int n = left_ms <= 0 ? 0 : poll(&event, 1, (int)left_ms);
        if (n > 0) return 0;
        if (n == 0) return fail(ERR_IO, "the ssh-agent does not answer in time");
        if (errno != EINTR) return fail_errno(ERR_IO, errno, "cannot wait for the ssh-agent");
    }
}

static bool is_transient(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static int send_all(const struct talk *talk, const unsigned char *at, size_t count)
{
    while (count > 0) {
        ssize_t n = send(talk->fd, at, count, MSG_NOSIGNAL);
        if (n < 0 && !is_transient()) return fail_errno(ERR_IO, errno, "cannot write to the ssh-agent");
        if (n < 0) TRY(wait_for(talk, POLLOUT));
        if (n > 0) at += n, count -= (size_t)n;
    }
    return 0;
}

static int receive_all(const struct talk *talk, unsigned char *at, size_t count)
{
    while (count > 0) {
        ssize_t n = recv(talk->fd, at, count, 0);
        if (n == 0) return fail(ERR_IO, "the ssh-agent closed the connection without an answer");
        if (n < 0 && !is_transient()) return fail_errno(ERR_IO, errno, "cannot read from the ssh-agent");
        if (n < 0) TRY(wait_for(talk, POLLIN));
        if (n > 0) at += n, count -= (size_t)n;
    }
    return 0;
}

static int ask_on(const struct talk *talk, const void *question, size_t count, unsigned char **answer, size_t *answer_count)
{
    unsigned char head[4];
    struct sshwire_out out = {head, 0, sizeof head};
    sshwire_put_u32(&out, (uint32_t)count);
    TRY(send_all(talk, head, sizeof head));
    TRY(send_all(talk, question, count));
    TRY(receive_all(talk, head, sizeof head));
    struct sshwire length = sshwire_over(head, sizeof head);
    *answer_count = sshwire_u32(&length);
    if (*answer_count > AGENT_REPLY_MAX)
        return fail(ERR_INPUT, "the ssh-agent's answer claims %zu bytes; at most %d are accepted",
                    *answer_count, AGENT_REPLY_MAX);
    *answer = zalloc(*answer_count);
    int rc = receive_all(talk, *answer, *answer_count);
    if (rc == 0) return 0;
    free(*answer);
    *answer = NULL;
    return rc;
}

int agent_ask(const char *socket_path, const void *question, size_t count, int wait_ms, unsigned char **answer,
              size_t *answer_count)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    *answer = NULL;
    *answer_count = 0;
    BUG_IF(count < 1 || count > AGENT_REPLY_MAX);
    if (strlen(socket_path) >= sizeof name.sun_path)
        return fail(ERR_MISSING, "SSH_AUTH_SOCK is longer than the %zu bytes of a socket's name", sizeof name.sun_path - 1);
    strcpy(name.sun_path, socket_path);
    struct talk talk = {.end_ns = clock_ns() + (int64_t)wait_ms * 1000000};
    talk.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (talk.fd < 0) return fail_errno(ERR_IO, errno, "cannot open a socket");
    int rc = 0;
    if (connect(talk.fd, (struct sockaddr *)&name, sizeof name) != 0)
        rc = fail_errno(ERR_MISSING, errno, "cannot reach the ssh-agent at %s", socket_path);
    if (rc == 0) rc = ask_on(&talk, question, count, answer, answer_count);
    close(talk.fd);
    return rc;
}

static int ask(const struct sshwire_out *question, int wait_ms, unsigned char **answer, size_t *answer_count)
{
    const char *path = getenv("SSH_AUTH_SOCK");
    if (path == NULL || *path == 0) return fail(ERR_MISSING, "there is no ssh-agent: SSH_AUTH_SOCK is not set");
    return agent_ask(path, question->at, question->count, wait_ms, answer, answer_count);
}

static int check_kind(struct sshwire *wire, unsigned char wanted, const char *refused)
{
    if (sshwire_left(wire) < 1) return fail(ERR_INPUT, "the ssh-agent's answer is empty");
    const unsigned char kind = *wire->at++;
    if (kind == FAILURE) return fail(ERR_IO, "%s", refused);
    if (kind != wanted) return fail(ERR_INPUT, "the ssh-agent's answer is of kind %d, not %d", kind, wanted);
    return 0;
}

int agent_read_keys(const unsigned char *answer, size_t count, struct agent_keys *keys)
{
    struct sshwire wire = sshwire_over(answer, count);
    memset(keys, 0, sizeof *keys);
    TRY(check_kind(&wire, LISTED, "the ssh-agent does not list its keys"));
    const uint32_t listed = sshwire_u32(&wire);
    for (uint32_t i = 0; i < listed && !wire.bad; i++) {
        struct sshwire blob = sshwire_string(&wire), comment = sshwire_string(&wire);
        struct sshkey key = {0};
        if (wire.bad || keys->count == AGENT_KEYS || sshwire_key(blob, key.at) < 0) continue;  // other types are skipped
        sshkey_set_comment(&key, (const char *)comment.at, sshwire_left(&comment));
        keys->key[keys->count++] = key;
    }
    if (sshwire_done(&wire)) return 0;
    memset(keys, 0, sizeof *keys);
    return fail(ERR_INPUT, "the ssh-agent's list of keys is damaged");
}

int agent_read_signature(const unsigned char *answer, size_t count, unsigned char signature[64])
{
    struct sshwire wire = sshwire_over(answer, count);
    TRY(check_kind(&wire, SIGNED, "the ssh-agent does not sign: it no longer holds the key, or refuses"));
    struct sshwire inner = sshwire_string(&wire);
    const bool type = sshwire_is(&inner, "ssh-ed25519");
    struct sshwire bytes = sshwire_string(&inner);
    if (!type || !sshwire_done(&wire) || !sshwire_done(&inner) || sshwire_left(&bytes) != 64)
        return fail(ERR_INPUT, "the ssh-agent's signature is not an Ed25519 signature");
    memcpy(signature, bytes.at, 64);
    return 0;
}

int agent_list(struct agent_keys *keys)
{
    unsigned char kind = LIST, *answer;
    const struct sshwire_out question = {&kind, 1, 1};
    size_t count;
    memset(keys, 0, sizeof *keys);
    TRY(ask(&question, LIST_WAIT_MS, &answer, &count));
    int rc = agent_read_keys(answer, count, keys);
    free(answer);
    return rc;
}

bool agent_holds(const struct sshkey *key)
{
    struct agent_keys keys;
    if (agent_list(&keys) < 0) return false;
    for (int i = 0; i < keys.count; i++)
        if (memcmp(keys.key[i].at, key->at, sizeof key->at) == 0) return true;
    return false;
}

int agent_sign(const struct sshkey *key, const void *message, size_t count, int wait_ms, unsigned char signature[64])
{
    const unsigned char kind = SIGN;
    unsigned char blob[SSHWIRE_KEY], *answer;
    struct sshwire_out key_out = {blob, 0, sizeof blob}, question = {.room = 128 + count};
    size_t answer_count;
    BUG_IF(count > AGENT_MESSAGE_MAX);
    sshwire_put_key(&key_out, key->at);
    question.at = zalloc(question.room);
    sshwire_put(&question, &kind, 1);
    sshwire_put_string(&question, blob, key_out.count);
    sshwire_put_string(&question, message, count);
    sshwire_put_u32(&question, 0);  // flags: none for Ed25519
    int rc = ask(&question, wait_ms > 0 ? wait_ms : SIGN_WAIT_MS, &answer, &answer_count);
    free(question.at);
    TRY(rc);
    rc = agent_read_signature(answer, answer_count, signature);
    free(answer);
    TRY(rc);
    if (crypto_sign_verify_detached(signature, message, count, key->at) != 0)
        return fail(ERR_INPUT, "the ssh-agent's signature does not fit the key");
    return 0;
}
