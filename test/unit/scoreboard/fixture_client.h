// SPDX-License-Identifier: Apache-2.0
// A scoreboard of its own for each test, asked over a socket.
#pragma once

#include "test/unit/must.h"

#include <strings.h>

#include <sodium.h>

#include "test/unit/fixture_server.h"

static struct fixture_server board;
static struct sshkey_secret ada;

SETUP(set_up)
{
    if (sodium_init() < 0) return -1;
    sshkey_new(&ada, "ada");
    board = (struct fixture_server){0};
    fixture_start(&board, &(struct server_settings){.threads = 2, .connections = 512, .read_seconds = 2});
    return 0;
}

SETUP(tear_down)
{
    fixture_remove(&board);
    return 0;
}

// Without an answer, or with another one, the test ends with it.
#define assert_status(reply, wanted)                                                                                   \
    do {                                                                                                               \
        if ((reply)->status != (wanted))                                                                               \
            fail_msg("status %d, not %d: %s", (reply)->status, wanted, (reply)->body.at ? (reply)->body.at : "no answer"); \
    } while (0)

static inline int status_of(const char *request)
{
    struct reply reply;
    fixture_ask(board.port, request, strlen(request), &reply);
    const int status = reply.status;
    reply_free(&reply);
    return status;
}
