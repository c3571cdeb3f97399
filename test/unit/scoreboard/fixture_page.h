// SPDX-License-Identifier: Apache-2.0
// Pages as a handler writes them, for statements that tests signed.
#pragma once

#include "scoreboard/http/server.h"
#include "test/unit/scoreboard/fixture_board.h"

static struct answer answer;

static inline int ask_page(handler *run, struct request request)
{
    request.store = store, request.reader = reader;
    text_free(&answer.body);
    answer = (struct answer){0};
    return run(&request, &answer);
}

static inline void assert_shows(const char *page, const char *what)
{
    if (strstr(page, what) == NULL) fail_msg("no \"%s\" in:\n%s", what, page);
}

static inline void assert_hides(const char *page, const char *what)
{
    const char *at = strstr(page, what);
    if (at != NULL) fail_msg("\"%s\" is in the page: %.200s", what, at);
}

static inline int end(void **state)
{
    text_free(&answer.body);
    return tear_down(state);
}
