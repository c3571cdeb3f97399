// SPDX-License-Identifier: Apache-2.0
// Reads addresses with libcurl's own parser, so the compared address is the address of the connection.
#include "submit/client/client_origin.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/common/base/arena.h"

enum { ADDRESS_MAX = 1000 };

static CURLU *parsed(const char *address)
{
    CURLU *url = curl_url();
    if (url != NULL && curl_url_set(url, CURLUPART_URL, address, 0) == CURLUE_OK) return url;
    curl_url_cleanup(url);
    return NULL;
}

// Returns a part as a new string, "" if the address lacks it. Default ports are filled in.
static char *part_of(CURLU *url, CURLUPart part)
{
    char *text = NULL;
    if (curl_url_get(url, part, &text, part == CURLUPART_PORT ? CURLU_DEFAULT_PORT : 0) != CURLUE_OK) return copy_text("");
    char *copy = copy_text(text);
    curl_free(text);
    return copy;
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
    char *x = part_of(a, part), *y = part_of(b, part);
    bool same = *x != 0 && strcasecmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

bool origin_same(const char *a, const char *b)
{
    CURLU *x = parsed(a), *y = parsed(b);
    bool same = x != NULL && y != NULL && same_part(x, y, CURLUPART_SCHEME) && same_part(x, y, CURLUPART_HOST) &&
                same_part(x, y, CURLUPART_PORT);
    curl_url_cleanup(x);
    curl_url_cleanup(y);
    return same;
}

static bool is_this_machine(const char *host)
{
    struct in_addr four;
    if (inet_pton(AF_INET, host, &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
    return strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0;
}

static int check_parts(const char *address, CURLU *url)
{
    char *scheme = part_of(url, CURLUPART_SCHEME), *host = part_of(url, CURLUPART_HOST), *user = part_of(url, CURLUPART_USER),
         *password = part_of(url, CURLUPART_PASSWORD), *query = part_of(url, CURLUPART_QUERY),
         *rest = part_of(url, CURLUPART_FRAGMENT);
    int rc = 0;
    if (*user || *password || *query || *rest)
        rc = fail(ERR_USAGE, "the address of a scoreboard must have no user, no \"?\" and no \"#\"; got %.200s", address);
    else if (strcasecmp(scheme, "http") == 0 && !is_this_machine(host))
        rc = fail(ERR_USAGE, "http://%.200s is refused: only https proves who answers (http is for this machine alone)",
                  host);
    else if (strcasecmp(scheme, "http") != 0 && strcasecmp(scheme, "https") != 0)
        rc = fail(ERR_USAGE, "the address of a scoreboard begins with https://, not \"%.200s\"", address);
    char *const all[] = {scheme, host, user, password, query, rest};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return rc;
}

int origin_address(const char *address, char **clean)
{
    *clean = NULL;
    if (strlen(address) > ADDRESS_MAX)
        return fail(ERR_USAGE, "the address of the scoreboard is longer than %d bytes", ADDRESS_MAX);
    CURLU *url = strstr(address, "://") != NULL ? parsed(address) : NULL;
    if (url == NULL)
        return fail(ERR_USAGE, "\"%.200s\" is not the address of a scoreboard, such as https://board.example", address);
    int rc = check_parts(address, url);
    curl_url_cleanup(url);
    TRY(rc);
    *clean = copy_text(address);
    for (size_t n = strlen(*clean); n > 0 && (*clean)[n - 1] == '/'; n--) (*clean)[n - 1] = '\0';
    return 0;
}
