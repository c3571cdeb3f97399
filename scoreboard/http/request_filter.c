// SPDX-License-Identifier: Apache-2.0
// Reads the board and the filter of a request from path and query, for pages and for the API.
#include "scoreboard/http/server.h"

#include <string.h>

int request_contest(const struct request *request, const struct contest **contest)
{
    *contest = contest_find(request->word[0]);
    if (*contest == NULL) return fail(ERR_MISSING, "there is no task \"%.60s\" here", request->word[0]);
    return 0;
}

int request_filter(const struct request *request, struct filter *filter)
{
    memset(filter, 0, sizeof *filter);
    TRY(request_contest(request, &filter->contest));
    if (!board_find(request->word[1], &filter->board))
        return fail(ERR_MISSING, "there is no board \"%.60s\"", request->word[1]);
    return filter_read(request->query, filter);
}

int request_cursor(const struct request *request, const char *name, const char **cursor)
{
    const char *query = request->query;
    const size_t length = strlen(name);
    *cursor = NULL;
    if (query == NULL || *query == 0) return 0;
    if (strncmp(query, name, length) != 0 || query[length] != '=' || strchr(query, '&') != NULL)
        return fail(ERR_INPUT, "this list takes %s=CURSOR alone", name);
    if (query[length + 1] != 0) *cursor = query + length + 1;
    return 0;
}
